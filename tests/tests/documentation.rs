//! The documentation is true: its commands work and print what it quotes, its links lead somewhere.
//!
//! docs/install.md is run by `ci/test-packages`.

// What the tests share is outside of them, and fails as they do.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fmt::Write;
use std::net::TcpListener;
use std::time::Duration;

use end_to_end::documentation::{Block, Page, Reader, SUBSTITUTIONS};
use end_to_end::{Cluster, Daemon, LARGE_WAIT, Options, project, wait_for};
use job_types::options::OPTIONS;
use made_up_site::enforcing;
use slurm_conf::Configuration;
use upkeep::{AdmissionState, AdmissionWanted, ReservationState};

/// Pages of what users do. They are read on a cluster with a known past, under a policy that
/// enforces.
const USERS: [&str; 4] = ["README.md", "docs/users.md", "docs/nodes-at-a-time.md", "docs/options.md"];

/// A site that gives firm slots to everybody.
const FIRM_SLOTS: &str = "[policy]\nmode = \"enforce\"\n[[firm]]\nahead = \"2d\"\n";

/// Pages of what administrators do, with the configuration that each begins with, and whether most
/// of the cluster is busy for two hours. They are read on a cluster with a history in slurmdbd and
/// with the daemon.
const ADMINISTRATORS: [(&str, &str, bool); 17] = [
    ("docs/assess.md", "", false),
    ("docs/first-week.md", "", false),
    ("docs/one-policy.md", "", true),
    ("docs/guard.md", "[policy]\nmode = \"enforce\"\n", true),
    ("docs/nodes-tonight.md", FIRM_SLOTS, true),
    ("docs/api.md", FIRM_SLOTS, true),
    ("docs/settings.md", "", true),
    ("docs/metrics.md", "", true),
    ("docs/troubleshooting.md", "[policy]\nmode = \"enforce\"\n", true),
    ("docs/simulation.md", "", true),
    ("docs/own-past.md", "", true),
    ("docs/deadlines.md", "", true),
    ("docs/security.md", "", true),
    ("docs/high-availability.md", "", true),
    ("docs/upgrading.md", "", true),
    ("docs/questions.md", "", true),
    // Last: what it puts in force is among the metrics that are looked at afterwards.
    ("docs/rules.md", "", true),
];

/// Pages without commands.
const WITHOUT_COMMANDS: [&str; 14] = [
    "docs/README.md",
    "docs/constants.md",
    "docs/design.md",
    "docs/economy.md",
    "docs/forecasts.md",
    "docs/from-lua.md",
    "docs/how-it-works.md",
    "docs/limits.md",
    "docs/measurements.md",
    "docs/molding.md",
    "docs/placement.md",
    "docs/reservations.md",
    "docs/rule-fields.md",
    "docs/rules-cookbook.md",
];

/// The page whose commands `ci/test-packages` runs.
const INSTALLATION: &str = "docs/install.md";

/// Metrics that need more of a past than the cluster has on which the pages are read: the guard
/// says nothing of a few hundred jobs.
const NOT_SERVED: [(&str, &str); 1] = [("queuecast_guard_response_change_ratios", "gauge")];

/// The reader's user.
const GAMES: u32 = 5;

/// How long the daemon may take to read the history and publish it, on a machine that is busy.
const SOON: Duration = Duration::from_secs(180);

/// A port below those that clusters and the kernel give out, so that no other program has it before
/// the daemon listens.
fn free_port() -> u16 {
    let first = 2_048 + u16::try_from(std::process::id() % 4_096).unwrap();
    (first..10_240).find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap()
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn what_the_pages_for_users_type_works_and_what_they_quote_is_printed() {
    let cluster = Cluster::up(&Options::with_plugins(""));
    let mut reader = Reader::new(&cluster, 0);
    reader.script("job.sh", "#!/bin/sh\n#SBATCH -N8 -n16 -t10 --exclusive\nsrun true\n");
    // No daemon runs that would take up what the jobs before have reserved.
    let publish = || cluster.publish_later_for(GAMES, enforcing(), &LARGE_WAIT);
    for name in USERS {
        reader.read_after(&Page::read(name), publish);
    }
    assert!(reader.commands >= 20, "only {} commands were found", reader.commands);
    the_options_are_those_of_sbatch(&cluster);
}

/// A log of 400 jobs of four users on 8 nodes of 4 CPUs, half of them on 8 nodes for five minutes
/// or more, half on 2 for ten or more, one every two and a half hours. The fourth user's jobs of
/// the first half are on 6 nodes, for all of the two hours that they may run: so is root's that
/// keeps the nodes busy.
fn log() -> String {
    let mut log = "; MaxNodes: 8\n; MaxProcs: 32\n".to_owned();
    for n in 1..=400 {
        let (user, is_large) = (n / 2 % 4 + 1, n % 2 == 1);
        let (processors, wait, run) = if is_large { (32, 600 + n % 7 * 60, 300 + n % 5 * 30) } else { (8, 0, 600 + n % 5 * 60) };
        let (processors, run, limit) = if is_large && user == 4 { (24, 7_200, 7_200) } else { (processors, run, 3_600) };
        let _ = writeln!(log, "{n} {} {wait} {run} {processors} -1 -1 {processors} {limit} -1 1 {user} 1 -1 1 -1 -1 -1", n * 9_000);
    }
    log
}

fn site() -> Cluster {
    let options = Options::with_plugins("")
        .option("partition", "batch MaxTime=7-00:00:00 DefaultTime=60")
        .option("partition", "short MaxTime=2:00:00")
        .option("conf-line", "PriorityType=priority/multifactor");
    let cluster = Cluster::up(&options);
    std::fs::write(cluster.path("log/past.swf"), log()).unwrap();
    let said = cluster.import(&["past.swf", "--map-user", "1:games", "--map-user", "4:root", "--partition", "batch"]);
    assert!(said.contains("imported 400 jobs"), "{said}");
    cluster
}

fn daemon(cluster: &Cluster) -> Daemon {
    let daemon = cluster.start_queuecastd();
    wait_for("a snapshot with the history", SOON, || {
        String::from_utf8(cluster.run("queuecast", &["status"]).stdout).unwrap().contains("400 ended jobs").then_some(())
    });
    daemon
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn what_the_pages_for_administrators_type_works_and_what_they_quote_is_printed() {
    let cluster = site();
    let mut reader = Reader::new(&cluster, free_port());
    reader.script("job.sh", "#!/bin/sh\n#SBATCH --nodes=8 --ntasks=16 --time=60 --exclusive\nsrun true\n");
    reader.configure("");
    let _daemon = daemon(&cluster);
    let mut is_busy = false;
    for (name, configuration, wants_busy) in ADMINISTRATORS {
        reader.configure(configuration);
        reader.reload();
        let _ = cluster.run("scancel", &["--state=PENDING", "--user=games"]);
        if wants_busy && !is_busy {
            let _ = cluster.output("sbatch", &["-pbatch", "-N6", "-t120", "--exclusive", "-o/dev/null", "--wrap=sleep 7000"]);
            let seen = || cluster.output("queuecast", &["status", "--format", "json"]).contains("\"running_cpus\":24");
            wait_for("six busy nodes in the snapshot", SOON, || seen().then_some(()));
            is_busy = true;
        }
        reader.read(&Page::read(name));
        if configuration == FIRM_SLOTS {
            give_slots_back(&cluster);
        }
    }
    assert!(reader.commands >= 45, "only {} commands were found", reader.commands);
    let mut needed = reader.substituted.clone();
    needed.extend(["ci/demo", "ci/test"]);
    assert_eq!(needed, SUBSTITUTIONS.iter().map(|substitution| substitution.shown).collect(), "a substitution that no page needs");
    the_metrics_are_those_that_are_served(&reader);
}

/// Gives back the slots that a page has left: the next ones speak of all nodes.
fn give_slots_back(cluster: &Cluster) {
    let listed = cluster.output("queuecast", &["reservations", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let is_open = |one: &&serde_json::Value| {
        let state = one["state"].as_str().unwrap();
        one["kind"] == "firm" && ["asked", "movable", "fixed", "attached", "running"].contains(&state)
    };
    for slot in listed["reservations"].as_array().unwrap().iter().filter(is_open) {
        let _ = cluster.output("queuecast", &["reservations", "cancel", &slot["id"].to_string()]);
    }
    let reserved = || cluster.run("scontrol", &["-o", "show", "reservations"]);
    let are_gone = || (!String::from_utf8_lossy(&reserved().stdout).contains("queuecast-")).then_some(());
    wait_for("the slots to be given back", SOON, are_gone);
}

/// What docs/options.md says is what `sbatch --help` says.
fn the_options_are_those_of_sbatch(cluster: &Cluster) {
    let help = cluster.output("sbatch", &["--help"]);
    let ours = help.split("Options provided by plugins:").nth(1).unwrap_or_else(|| panic!("no options of plugins in {help}"));
    // Up to the heading of the next part.
    let ours = ours.split("options:").next().unwrap_or(ours);
    let names: BTreeSet<&str> = ours
        .lines()
        .map(str::trim_start)
        .filter_map(|line| line.strip_prefix("--"))
        .filter_map(|line| line.split(['=', ' ']).next())
        .collect();
    let page = Page::read("docs/options.md");
    let rows = page.rows();
    let documented: BTreeSet<&str> = rows
        .iter()
        .filter(|(heading, _)| heading.contains("sbatch"))
        .filter_map(|(_, cells)| cells[0].strip_prefix("`--")?.split(['=', '`']).next())
        .collect();
    assert_eq!(documented, names);
}

/// What docs/metrics.md lists is what the daemon serves, with type and labels; and it names no
/// other metric anywhere.
fn the_metrics_are_those_that_are_served(reader: &Reader<'_>) {
    // All of them are there once slurmctld has called the filter, a submission has met rules, and
    // the learner has scored.
    let served = wait_for("counts of rules among the metrics", SOON, || {
        Some(reader.metrics()).filter(|served| served.contains("# TYPE queuecast_rule_events counter"))
    });
    let mut families: BTreeSet<(&str, &str)> = served.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' ')).collect();
    assert!(families.len() >= 20, "{served}");
    families.extend(NOT_SERVED);
    let page = Page::read("docs/metrics.md");
    let rows = page.rows();
    let documented: BTreeSet<(&str, &str)> =
        rows.iter().filter(|(_, cells)| cells.len() == 5).map(|(_, cells)| (cells[0].trim_matches('`'), cells[1].as_str())).collect();
    assert_eq!(documented, families);
    let labels = |name: &str| -> BTreeSet<String> {
        let samples = served.lines().filter(|line| line.starts_with(name) && line[name.len()..].starts_with(['{', '_']));
        let inside = samples.filter_map(|line| Some(line.split_once('{')?.1.split_once('}')?.0.to_owned()));
        inside
            .flat_map(|labels| labels.split(',').filter_map(|label| Some(label.split_once('=')?.0.to_owned())).collect::<Vec<_>>())
            .filter(|label| label != "le")
            .collect()
    };
    for (_, cells) in rows.iter().filter(|(_, cells)| cells.len() == 5) {
        let name = cells[0].trim_matches('`');
        for label in labels(name) {
            assert!(cells[3].contains(&format!("`{label}`")), "{name} has the label {label}: {cells:?}");
        }
    }
    let events: BTreeSet<&str> = predictor_core::decisions::counters::COUNTERS.iter().map(|(_, name, _)| *name).collect();
    let explained = |part: &str| -> BTreeSet<&str> {
        let of_part = rows.iter().filter(|(heading, cells)| heading.contains(part) && cells.len() == 2);
        of_part.flat_map(|(_, cells)| cells[0].split(", ")).map(|name| name.trim_matches('`')).collect()
    };
    assert_eq!(explained("What the submit filter did"), events);
    let states = ReservationState::ALL.iter().map(|state| state.name());
    let outcomes = served.lines().filter_map(|line| line.strip_prefix("queuecast_changes_total{outcome=\"")?.split_once('"'));
    let states_and_outcomes: BTreeSet<&str> = states.chain(outcomes.map(|(outcome, _)| outcome)).collect();
    assert!(states_and_outcomes.contains("made"), "{served}");
    assert_eq!(explained("Changes after the submission"), states_and_outcomes);
    let states = AdmissionState::ALL.iter().map(|state| state.name());
    let of_deadlines: BTreeSet<&str> = states.chain(AdmissionWanted::NAMES.iter().copied()).collect();
    assert_eq!(explained("Admitted jobs until they are done"), of_deadlines);
    for page in Page::all() {
        for (at, _) in page.text.match_indices("queuecast_") {
            let name: String =
                page.text[at..].chars().take_while(|character| character.is_ascii_lowercase() || *character == '_').collect();
            let family = ["_total", "_sum", "_count", "_bucket"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(&name);
            let is_prefix = families.iter().any(|(known, _)| known.starts_with(family));
            let is_plugin = page.text[..at].ends_with("submit_")
                || page.text[..at].ends_with("spank_")
                || page.text[at..].starts_with("queuecast_plugins");
            assert!(is_prefix || is_plugin, "{}: there is no metric {name}", page.name);
        }
    }
}

#[test]
fn each_option_is_on_its_page_with_its_twin_and_what_it_does() {
    let page = Page::read("docs/options.md");
    let rows = page.rows();
    let own: Vec<_> = rows.iter().filter(|(heading, cells)| heading.contains("sbatch") && cells.len() == 5).collect();
    assert_eq!(own.len(), OPTIONS.len());
    for (option, (_, cells)) in OPTIONS.iter().zip(own) {
        let written =
            option.placeholder.map_or_else(|| format!("`--{}`", option.name), |placeholder| format!("`--{}={placeholder}`", option.name));
        assert_eq!((&cells[0], cells[1].as_str()), (&written, format!("`{}`", option.variable).as_str()));
        assert!(cells[4].starts_with(option.help), "{written}: {}", cells[4]);
        let needs = option.needs.map(|needed| format!("Needs `--{}`", needed.option().name));
        assert_eq!(cells[4].contains("Needs"), needs.is_some(), "{written}");
        assert!(needs.is_none_or(|needs| cells[4].ends_with(&needs)), "{written}: {}", cells[4]);
    }
}

#[test]
fn every_page_is_read_and_every_block_has_a_kind() {
    let mut pages = BTreeSet::new();
    for page in Page::all() {
        let blocks = page.blocks();
        let commands = blocks.iter().any(|block| matches!(block, Block::Console(_)));
        let name = page.name.as_str();
        let is_read = USERS.contains(&name) || ADMINISTRATORS.iter().any(|(read, ..)| *read == name);
        assert_eq!(commands, is_read, "{name}: a page with commands is in a list of those that are read, and one without is not");
        assert!(is_read || WITHOUT_COMMANDS.contains(&name) || name == INSTALLATION, "{name} is in no list");
        for block in blocks {
            let Block::Other { language, text } = block else { continue };
            let is_installed = name == INSTALLATION && language.starts_with("sh");
            let allowed = ["toml", "yaml", "bash", "ini", "csv", "lua", "text", "mermaid"].contains(&language.as_str()) || is_installed;
            assert!(allowed, "{name}: a block of {language:?}; commands stand in ```console");
            if language == "toml" {
                Configuration::parse(&text, std::path::Path::new(name)).unwrap_or_else(|error| panic!("{error}"));
            }
        }
        pages.insert(page.name);
    }
    let listed = USERS.into_iter().chain(ADMINISTRATORS.map(|(name, ..)| name)).chain(WITHOUT_COMMANDS);
    let missing: Vec<&str> = listed.filter(|name| !pages.contains(*name)).collect();
    assert!(missing.is_empty(), "no such pages: {missing:?}");
    let run = std::fs::read_to_string(project().join(".ci/run")).unwrap();
    assert!(run.contains("ci/demo") && run.contains("ci/test"), "what is not run here is run by continuous integration");
}

#[test]
fn links_lead_to_pages_and_headings_that_are_there() {
    let pages = Page::all();
    for page in &pages {
        let directory = project().join(&page.name).parent().unwrap().to_owned();
        for link in page.links().into_iter().filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let path = if file.is_empty() { project().join(&page.name) } else { directory.join(file) };
            assert!(path.exists(), "{}: {link} leads nowhere", page.name);
            if !anchor.is_empty() {
                let text = std::fs::read_to_string(&path).unwrap();
                let anchors = Page { name: file.to_owned(), text }.anchors();
                assert!(anchors.iter().any(|known| known == anchor), "{}: {link}: there is no such heading", page.name);
            }
        }
    }
}
