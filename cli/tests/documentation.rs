//! Manual pages and completions are made from the definitions of the command lines, and are whole.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use common::{Site, said};

/// A directory with everything that `queuecast documentation` makes.
fn made() -> Site {
    let site = Site::empty();
    let said = said(&mut site.command(&["documentation", site.path().to_str().unwrap()]));
    assert_eq!(said.status, 0, "{}", said.error);
    site
}

/// The commands below one, by what its help lists; `parents` are `[]` for `queuecast` itself.
fn below(site: &Site, parents: &[&str]) -> Vec<String> {
    let help = said(&mut site.command(&[parents, &["--help"]].concat())).output;
    let listed = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap_or_default();
    let names =
        listed.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// Every command, as the words behind `queuecast`.
fn commands(site: &Site) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    for name in below(site, &[]) {
        all.push(vec![name.clone()]);
        all.extend(below(site, &[&name]).into_iter().map(|sub| vec![name.clone(), sub]));
    }
    all
}

fn page(site: &Site, section: u8, name: &str) -> String {
    let path = site.path().join(format!("man{section}/{name}.{section}"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A page's text without the escapes of roff.
fn plain(page: &str) -> String {
    ["\\fB", "\\fI", "\\fR", "\\&", "\\\\"]
        .iter()
        .fold(page.replace("\\-", "-"), |text, escape| text.replace(escape, ""))
        .replace("\\*(Aq", "'")
}

fn section<'a>(page: &'a str, name: &str) -> &'a str {
    let heading = if name.contains(' ') { format!(".SH \"{name}\"\n") } else { format!(".SH {name}\n") };
    let text = page.split(&heading).nth(1).unwrap_or_else(|| panic!("no section {name} in {page}"));
    text.split("\n.SH ").next().unwrap_or(text).trim()
}

/// The long options that a help lists.
fn options(help: &str) -> BTreeSet<String> {
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    lines.flat_map(|line| line.split([' ', ',', '='])).filter(|word| word.starts_with("--")).map(str::to_owned).collect()
}

#[test]
fn every_command_has_a_page_with_its_options_exit_statuses_and_examples() {
    let site = made();
    let commands = commands(&site);
    assert!(commands.len() >= 12, "{commands:?}");
    for command in &commands {
        let name = [&["queuecast".to_owned()], command.as_slice()].concat().join("-");
        let page = page(&site, 1, &name);
        for heading in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO"] {
            assert!(section(&page, heading).len() > 5, "{name}: {heading}");
        }
        assert!(section(&page, "EXIT STATUS").contains("2 "), "{name}: {}", section(&page, "EXIT STATUS"));
        let words: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
        let help = said(&mut site.command(&words)).output;
        let text = plain(&page);
        for option in options(&help) {
            assert!(text.contains(&option), "{name}(1) lacks {option}");
        }
        for also in plain(section(&page, "SEE ALSO")).split(", ").filter(|also| also.starts_with("queuecast")) {
            let (name, number) = also.trim_end_matches(')').split_once('(').unwrap();
            assert!(site.path().join(format!("man{number}/{name}.{number}")).is_file(), "{name} is in no section {number}");
        }
    }
    let pages = fs::read_dir(site.path().join("man1")).unwrap().count();
    assert_eq!(pages, commands.len(), "a page of a hidden command, or of none");
    for (name, holds) in
        [("queuecast-status", "kill switch"), ("queuecast-predict", "--mold-sizes"), ("queuecast-explain", "reservation_kept")]
    {
        assert!(plain(&page(&site, 1, name)).contains(holds), "{name}");
    }
}

#[test]
fn the_daemon_and_its_configuration_have_pages() {
    let site = made();
    let daemon = plain(&page(&site, 8, "queuecastd"));
    for (heading, holds) in [
        ("OPTIONS", "--check"),
        ("OPTIONS", "--once"),
        ("CONFIGURATION", "$QUEUECAST_CONF"),
        ("FILES", "snapshot"),
        ("SIGNALS", "SIGHUP"),
        ("EXIT STATUS", "2  wrong usage"),
        ("EXAMPLES", "systemctl reload queuecastd"),
    ] {
        assert!(section(&daemon, heading).contains(holds), "{heading}: {}", section(&daemon, heading));
    }
    let settings = plain(&page(&site, 5, "queuecast.toml"));
    let example = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../etc/queuecast.toml")).unwrap();
    let shown: Vec<&str> =
        example.lines().filter_map(|line| line.strip_prefix('#')).filter(|line| line.contains(" = ") && !line.starts_with(' ')).collect();
    assert!(shown.len() >= 18, "{shown:?}");
    for line in shown {
        assert!(settings.contains(line), "queuecast.toml(5) lacks {line}");
    }
    for prose in example.lines().filter_map(|line| line.strip_prefix("# ")) {
        assert!(settings.to_lowercase().contains(&prose.trim_end_matches('.').to_lowercase()), "queuecast.toml(5) lacks {prose:?}");
    }
    assert!(section(&settings, "EXAMPLES").contains("[policy.partition.batch]"));
}

/// Runs a program on a file; whether it is content, what it prints and what it complains about.
/// `None` with a line on why where there is no such program.
fn checked(program: &str, arguments: &[&str], file: &Path) -> Option<(bool, String, String)> {
    match Command::new(program).args(arguments).arg(file).env("MANWIDTH", "100").output() {
        Ok(output) => {
            let [printed, complaint] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            Some((output.status.success(), printed, complaint))
        }
        Err(error) => {
            println!("{} not checked with {program}: {error}", file.display());
            None
        }
    }
}

#[test]
fn pages_are_read_by_man_without_a_warning() {
    let site = made();
    for section in ["man1", "man5", "man8"] {
        for entry in fs::read_dir(site.path().join(section)).unwrap() {
            let path = entry.unwrap().path();
            // The warnings that man takes where none is named; those that concern only the filling
            // of lines are not among them.
            if let Some((done, printed, complaint)) = checked("man", &["--warnings", "--local-file"], &path) {
                assert!(done && printed.contains("EXAMPLES") && complaint.is_empty(), "{}: {complaint}", path.display());
            }
        }
    }
}

#[test]
fn completions_are_scripts_of_their_shells() {
    let site = made();
    for program in ["queuecast", "queuecastd"] {
        for (shell, file) in [("bash", format!("{program}.bash")), ("zsh", format!("_{program}")), ("fish", format!("{program}.fish"))] {
            let path = site.path().join("completions").join(file);
            assert!(fs::metadata(&path).unwrap().len() > 200, "{}", path.display());
            let flag = if shell == "fish" { "--no-execute" } else { "-n" };
            if let Some((done, _, complaint)) = checked(shell, &[flag], &path) {
                assert!(done && complaint.is_empty(), "{shell}: {complaint}");
            }
        }
    }
}

#[test]
fn bash_completes_commands_and_options() {
    let site = made();
    let complete = |program: &str, words: &[&str]| {
        let script = format!(
            ". {dir}/completions/{program}.bash; COMP_WORDS=({program} {words}); COMP_CWORD={last}; _{program} {program} '{current}' '{before}'; \
             echo \"${{COMPREPLY[*]}}\"",
            dir = site.path().display(),
            words = words.join(" "),
            last = words.len(),
            current = words.last().unwrap(),
            before = words.len().checked_sub(2).map_or(program, |place| words[place]),
        );
        let output = Command::new("bash").args(["--norc", "-c", &script]).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(complete("queuecast", &["sta"]), "status");
    assert_eq!(complete("queuecast", &["predict", "--reserve-a"]), "--reserve-at");
    assert_eq!(complete("queuecast", &["evaluate", "run"]), "runtimes");
    assert_eq!(complete("queuecastd", &["--ch"]), "--check");
}

#[test]
fn the_page_of_options_names_every_command_and_all_pages_only_such_as_there_are() {
    let site = made();
    let names: BTreeSet<String> = below(&site, &[]).into_iter().collect();
    let docs = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs"));
    let options_page = fs::read_to_string(docs.join("options.md")).unwrap();
    for name in &names {
        assert!(options_page.contains(&format!("| `queuecast {name}` |")), "docs/options.md lacks `queuecast {name}`");
        assert!(options_page.contains(&format!("`queuecast-{name}(1)`")), "docs/options.md lacks the page of {name}");
    }
    let readme = docs.join("../README.md");
    let pages =
        fs::read_dir(docs).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    for path in pages.chain([readme]) {
        let text = fs::read_to_string(&path).unwrap();
        for named in text.split("`queuecast ").skip(1).filter_map(|rest| rest.split(['`', ' ']).next()) {
            // A message that begins with the program's name goes on with a verb.
            let is_verb = named == "is";
            assert!(
                is_verb || named.starts_with('-') || named == "..." || names.contains(named),
                "{}: there is no `queuecast {named}`",
                path.display()
            );
        }
    }
}
