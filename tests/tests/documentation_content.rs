//! What the documentation lists is what the programs have: every setting with its range and
//! default, every message.

// What the tests share is outside of them, and fails as they do.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use end_to_end::documentation::sources::{Literal, literals, says};
use end_to_end::documentation::{Page, code_of};
use slurm_conf::Configuration;

fn parse(text: &str) -> Result<Configuration, String> {
    Configuration::parse(text, Path::new("queuecast.toml")).map_err(|error| error.to_string())
}

/// The line that begins a table, with two brackets where there may be several of its name.
fn heading(table: &str) -> String {
    match table {
        "" => String::new(),
        "firm" => format!("[[{table}]]\n"),
        _ => format!("[{table}]\n"),
    }
}

/// The keys of a table, by what the parser says that it knows.
fn known_keys(table: &str) -> BTreeSet<String> {
    let heading = heading(table);
    let complaint = parse(&format!("{heading}no_such_key = 1")).unwrap_err();
    let listed = complaint.split("expected").nth(1).unwrap_or_else(|| panic!("{complaint}"));
    // The line that is quoted behind them stands in parentheses.
    let listed = listed.split(" (in ").next().unwrap_or(listed);
    listed.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The documented settings: by table, the key with its values and its default.
fn documented() -> BTreeMap<String, Vec<[String; 3]>> {
    let mut tables: BTreeMap<String, Vec<[String; 3]>> = BTreeMap::new();
    for (heading, cells) in Page::read("docs/settings.md").rows().into_iter().filter(|(_, cells)| cells.len() == 5) {
        let table = heading.trim_matches(['`', '[', ']']).to_owned();
        let table = if table == "At the top" { String::new() } else { table };
        let [key, values, default] = [0, 1, 2].map(|place| cells[place].clone());
        tables.entry(table).or_default().push([key.trim_matches('`').to_owned(), values, default.trim_matches('`').to_owned()]);
    }
    tables
}

#[test]
fn the_settings_are_those_of_the_configuration() {
    let documented = documented();
    let tables: BTreeSet<String> = documented.keys().filter(|table| !table.is_empty()).cloned().collect();
    let mut top = known_keys("");
    top.retain(|key| !tables.contains(key));
    // The keys of `clusters` are names of clusters, and no table of the page has them.
    assert!(top.remove("clusters"));
    // The site's own rules have a page of their own, docs/rules.md.
    for key in ["rule", "rules", "tables", "test"] {
        assert!(top.remove(key), "{key}");
    }
    assert_eq!(top, documented[""].iter().map(|[key, ..]| key.clone()).collect());
    for table in tables {
        let mut known = known_keys(&table);
        // `[policy.partition.NAME]` has a section of its own.
        known.remove("partition");
        assert_eq!(known, documented[&table].iter().map(|[key, ..]| key.clone()).collect(), "[{table}]");
    }
}

/// A file that sets one key.
fn file(table: &str, key: &str, value: &str) -> String {
    // The two ages of snapshots bound each other.
    let beside = match (table, key) {
        ("snapshot", "interval") => "maximum_age = \"7d\"\n",
        ("snapshot", "maximum_age") => "interval = \"1s\"\n",
        _ => "",
    };
    format!("{}{beside}{key} = {value}", heading(table))
}

#[test]
fn defaults_in_the_page_are_the_code_s() {
    for (table, settings) in documented() {
        let without_keys = parse(&heading(&table));
        for [key, _, default] in settings {
            // What is left out of a [[firm]] table is about all, or no limit, which no value says.
            if table == "firm" && ["all", "no limit"].contains(&default.as_str()) {
                continue;
            }
            let text = format!("{}{key} = {default}", heading(&table));
            assert_eq!(parse(&text), without_keys, "{text}");
        }
    }
}

#[test]
fn ranges_in_the_page_are_the_code_s() {
    let mut ranges = 0;
    for (table, settings) in documented() {
        for [key, values, _] in settings {
            let ends: Vec<&str> = values.split('`').skip(1).step_by(2).collect();
            if values.starts_with('`') && ends.iter().all(|word| word.starts_with('"')) {
                let complaint = parse(&file(&table, &key, "\"no such word\"")).unwrap_err();
                let known = complaint.split("expected").nth(1).unwrap_or_default().split(" (in ").next().unwrap_or_default();
                let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
                assert_eq!(ends.iter().map(|word| word.trim_matches('"')).collect::<Vec<_>>(), known, "{table}.{key}");
                continue;
            }
            let Some([least, most]) = ends.get(..2).filter(|_| values.contains(" to ")) else { continue };
            let quote = |value: String| if values.starts_with("duration") { format!("{value:?}") } else { value };
            let [below, beyond] = outside(least, most);
            for (value, is_allowed) in
                [(Some((*least).to_owned()), true), (Some((*most).to_owned()), true), (below, false), (beyond, false)]
            {
                let Some(value) = value else { continue };
                let outcome = parse(&file(&table, &key, &quote(value.clone())));
                assert_eq!(outcome.is_ok(), is_allowed, "{table}.{key} = {value}: {outcome:?}");
            }
            ranges += 1;
        }
    }
    assert_eq!(ranges, 26, "durations, numbers and fractions");
}

/// The nearest values below and beyond a range.
fn outside(least: &str, most: &str) -> [Option<String>; 2] {
    let unit = least.trim_start_matches(|character: char| character.is_ascii_digit() || character == '.');
    if !unit.is_empty() {
        let seconds = |text: &str| slurm_conf::duration::parse(text).unwrap();
        return [Some(format!("{}s", seconds(least) - 1)), Some(format!("{}s", seconds(most) + 1))];
    }
    if least.contains('.') || most.contains('.') {
        let [least, most] = [least, most].map(|text| text.parse::<f64>().unwrap());
        return [Some(format!("{:.4}", least - 0.0001)), Some(format!("{:.4}", most + 0.0001))];
    }
    let [least, most] = [least, most].map(|text| text.parse::<i64>().unwrap());
    [Some((least - 1).to_string()), Some((most + 1).to_string())]
}

/// A message of the page, as it is printed, with `...` for what differs.
struct Message {
    heading: String,
    text: String,
    is_slurms: bool,
}

fn messages() -> Vec<Message> {
    let sections = ["Troubleshooting by message", "No message, but nothing happens", "Forecasts that are off"];
    let rows = Page::read("docs/troubleshooting.md").rows();
    let rows = rows.into_iter().filter(|(heading, _)| !sections.contains(&heading.as_str()));
    let all = rows.flat_map(|(heading, cells)| {
        let is_slurms = cells[0].contains("(Slurm's)");
        code_of(&cells[0]).into_iter().map(move |text| Message { heading: heading.clone(), text, is_slurms })
    });
    all.collect()
}

/// A message without what stands in front of it wherever it is printed.
fn without_speaker(text: &str) -> &str {
    ["job_submit/queuecast: ", "queuecast: "].iter().find_map(|speaker| text.strip_prefix(speaker)).unwrap_or(text)
}

const SOURCES: [&str; 17] = [
    "job-types/src",
    "slurm-sys/build.rs",
    "submit-filter/src",
    "spank-plugin/src",
    "predictor-core/src",
    "forecast-report/src",
    "upkeep/src",
    "slurm-conf/src",
    "slurm-sys/src",
    "sidecar/src",
    "command-parts/src",
    "research/src",
    "cli/src",
    "simulator/src",
    "site-rules/src/refusal_log.rs",
    "site-rules/compiler/src/command_line.rs",
    "site-rules/compiler/src/command_line",
];

#[test]
fn every_message_that_is_explained_is_one_of_ours() {
    let literals = literals(&SOURCES);
    assert!(literals.len() > 1_000, "{}", literals.len());
    let messages = messages();
    assert!(messages.len() > 120, "{}", messages.len());
    let is_said = |text: &str| literals.iter().any(|literal| says(&literal.text, text));
    // The key and the list of known ones come from the parser of TOML.
    let of_the_parser = ["unknown field ..., expected ..."];
    let strange: Vec<String> = messages
        .iter()
        .filter(|message| !message.is_slurms && !of_the_parser.contains(&message.text.as_str()))
        .filter(|message| !is_said(&message.text) && !is_said(without_speaker(&message.text)))
        .map(|message| format!("{}: {}", message.heading, message.text))
        .collect();
    assert!(strange.is_empty(), "no source says:\n{}", strange.join("\n"));
}

#[test]
fn messages_of_slurm_s_are_in_the_slurm_that_is_installed() {
    let programs = [String::from("/usr/sbin/slurmctld")].into_iter().chain(libraries());
    let texts: String = programs.map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()).collect();
    assert!(texts.len() > 1_000_000, "Slurm is not installed: ci/packages");
    let mut checked = 0;
    for message in messages().into_iter().filter(|message| message.is_slurms && message.heading != "The SPANK plugin") {
        for part in message.text.split("...").map(|part| part.trim_matches([' ', '(', ')', ':'])).filter(|part| part.len() > 5) {
            assert!(texts.contains(part), "this Slurm does not say {part:?}");
            checked += 1;
        }
    }
    assert!(checked >= 5, "{checked}");
}

/// Slurm's own library, wherever the distribution has it.
fn libraries() -> Vec<String> {
    let found = |directory: &str| std::fs::read_dir(directory).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let directories = found("/usr/lib").chain([std::path::PathBuf::from("/usr/lib64")]).filter(|path| path.is_dir());
    let names = directories.flat_map(|path| [path.join("slurm-wlm/libslurmfull.so"), path.join("slurm/libslurmfull.so")]);
    names.filter(|path| path.is_file()).map(|path| path.display().to_string()).collect()
}

#[test]
fn every_line_for_users_is_explained() {
    // Where the lines are made that users read, and the reasons in them.
    let lines = literals(&[
        "submit-filter/src/filter.rs",
        "submit-filter/src/ruling.rs",
        "submit-filter/src/ruling",
        "submit-filter/src/rules.rs",
        "submit-filter/src/rules",
        "predictor-core/src/decisions/line.rs",
        "predictor-core/src/decisions/admission",
        "predictor-core/src/decisions/bounds.rs",
        "predictor-core/src/decisions/firm/asked.rs",
        "job-types/src/window.rs",
        "predictor-core/src/decisions/molding.rs",
        "predictor-core/src/decisions/reservation",
        "upkeep/src",
        "job-types/src/record.rs",
        "predictor-core/src/decisions/deferral.rs",
        "predictor-core/src/decisions/submission.rs",
        "job-types/src/options/mold_sizes.rs",
        "spank-plugin/src/given.rs",
        "spank-plugin/src/hold.rs",
        "spank-plugin/src/node.rs",
        "spank-plugin/src/submission.rs",
    ]);
    unexplained(&lines);
}

#[test]
fn every_failure_and_warning_of_the_daemon_is_explained() {
    let all = literals(&["sidecar/src"]);
    // A failure is a sentence; names of keys, metrics and help texts are not meant.
    let is_meant = |literal: &&Literal| {
        let file = literal.file.as_str();
        file.ends_with("failure.rs")
            || file.ends_with("state_directory.rs")
            || file.ends_with("daemon.rs")
            || file.ends_with("learner.rs")
            || file.ends_with("logging.rs")
    };
    let told: Vec<Literal> = all.iter().filter(is_meant).cloned().collect();
    unexplained(&told);
}

#[test]
fn every_reason_for_having_no_snapshot_or_no_slurm_is_explained() {
    unexplained(&literals(&[
        "cli/src/no_snapshot.rs",
        "cli/src/installation.rs",
        "predictor-core/src/snapshot/reader.rs",
        "slurm-sys/src/client/error.rs",
        "slurm-sys/src/accounting/error.rs",
        "slurm-sys/build.rs",
    ]));
}

/// Fails where a text of at least three words is in no message of the page.
fn unexplained(literals: &[Literal]) {
    let messages = messages();
    // Words of the log's debug level, of systemd's status line and of expectations are for
    // developers.
    let for_developers = [
        "still does not answer",
        "took ended jobs",
        "kept what was learnt",
        "the record of an ended job did not reach slurmdbd",
        "snapshot ... from ... ended jobs......",
        "; the configuration file is broken",
        "the training panicked",
        "no reason given",
        "known are ....... to .......",
        "cargo sets OUT_DIR",
        "extern char *slurm_create_reservation(",
        "OUT_DIR is writable",
        "serde passes a reference",
        "a box would allocate where the submit filter reads what a user gave",
    ];
    let is_sentence = |text: &str| text.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count() >= 3;
    // A word or two of the page, such as `started`, stand in many texts that they do not explain.
    let explains = |message: &str, text: &str| message == text || (is_sentence(message) && says(text, message));
    let is_explained = |text: &str| {
        messages
            .iter()
            .any(|message| explains(&message.text, text) || explains(without_speaker(&message.text), text) || says(&message.text, text))
    };
    let missing: Vec<String> = literals
        .iter()
        .filter(|literal| is_sentence(&literal.text) && !for_developers.contains(&literal.text.as_str()))
        .filter(|literal| !is_explained(&literal.text) && !is_explained(without_speaker(&literal.text)))
        .map(|literal| format!("{}: {}", literal.file, literal.text))
        .collect();
    assert!(missing.is_empty(), "docs/troubleshooting.md does not explain:\n{}", missing.join("\n"));
}
