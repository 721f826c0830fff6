//! What leans on what in the workspace: `docs/design.md` says it, and a plugin carries nothing that
//! it does not run.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// What learns, evaluates, serves, writes snapshots or looks after jobs, none of which a plugin
/// does.
const NOT_IN_PLUGINS: [&str; 22] = [
    "antlr4rust",
    "axum",
    "cel",
    "command-parts",
    "forecast-report",
    "forust-ml",
    "learning",
    "market",
    "nalgebra",
    "published-methods",
    "queue-plan",
    "rand",
    "rand_chacha",
    "rayon",
    "research",
    "rules-compiler",
    "sidecar",
    "simulator",
    "snapshot-writer",
    "statrs",
    "tokio",
    "upkeep",
];

/// The page that says what leans on what.
const DESIGN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/design.md");

/// What `cargo tree` prints of dependencies that are no tests' or builds' own.
fn tree(arguments: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--offline", "--locked", "--edges", "normal", "--format", "{p}"])
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The name in a line such as `serde v1.0.229`.
fn name(line: &str) -> &str {
    line.split(' ').next().unwrap_or_default()
}

#[test]
fn a_plugin_depends_on_nothing_that_it_does_not_run() {
    // On the nodes nothing is forecast or decided.
    for (plugin, further) in [("submit-filter", &[][..]), ("spank-plugin", &["predictor-core"])] {
        let tree = tree(&["--package", plugin, "--prefix", "none"]);
        let is_barred = |name: &&str| NOT_IN_PLUGINS.contains(name) || further.contains(name);
        let carried: Vec<&str> = tree.lines().map(name).filter(is_barred).collect();
        assert!(tree.lines().count() > 10 && carried.is_empty(), "{plugin} carries {carried:?}");
    }
}

#[test]
fn what_researchers_run_knows_neither_slurm_nor_the_commands_of_others() {
    let tree = tree(&["--package", "research", "--prefix", "none"]);
    let barred: Vec<&str> = tree.lines().map(name).filter(|name| ["cli", "slurm-sys", "site-rules"].contains(name)).collect();
    assert!(tree.lines().count() > 10 && barred.is_empty(), "{barred:?}");
}

#[test]
fn the_command_line_carries_no_server() {
    // It asks the daemon by hyper's client.
    let tree = tree(&["--package", "cli", "--prefix", "none", "--edges", "normal,features"]);
    let is_server = |line: &&str| name(line) == "axum" || line.starts_with("hyper feature \"server\"");
    let servers: Vec<&str> = tree.lines().filter(is_server).collect();
    assert!(tree.contains("hyper feature \"client\"") && servers.is_empty(), "{servers:?}");
}

/// The crates of the workspace, each with those that it names as dependencies.
fn depends_on() -> BTreeMap<String, BTreeSet<String>> {
    let tree = tree(&["--workspace", "--depth", "1", "--prefix", "depth", "--no-dedupe"]);
    let ours = |line: &str| line.contains(" (/").then(|| name(line).to_owned());
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut of = String::new();
    for line in tree.lines() {
        if let Some(crate_name) = line.strip_prefix('0').and_then(ours) {
            found.entry(crate_name.clone()).or_default();
            of = crate_name;
        } else if let Some(crate_name) = line.strip_prefix('1').and_then(ours) {
            found.entry(of.clone()).or_default().insert(crate_name);
        }
    }
    found
}

/// Those arrows that do not follow from others: where `a` leans on `b` and `b` on `c`, that `a`
/// leans on `c` is not drawn.
fn without_what_follows(leans_on: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<(String, String)> {
    fn reaches(from: &str, to: &str, leans_on: &BTreeMap<String, BTreeSet<String>>) -> bool {
        leans_on.get(from).is_some_and(|direct| direct.iter().any(|next| next == to || reaches(next, to, leans_on)))
    }
    let arrows = leans_on.iter().flat_map(|(from, direct)| direct.iter().map(move |to| (from, direct, to)));
    arrows
        .filter(|(_, direct, to)| !direct.iter().any(|other| other != *to && reaches(other, to, leans_on)))
        .map(|(from, _, to)| (from.clone(), to.clone()))
        .collect()
}

/// The arrows of the picture in `docs/design.md`.
fn drawn() -> BTreeSet<(String, String)> {
    let text = std::fs::read_to_string(DESIGN).unwrap();
    let (_, picture) = text.split_once("```mermaid\ngraph TD\n").unwrap();
    let arrow = |line: &str| line.trim().split_once(" --> ").map(|(from, to)| (from.to_owned(), to.to_owned()));
    picture.lines().map_while(arrow).collect()
}

/// The table of parts in `docs/design.md`: the first column's crate, and those of the last.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let text = std::fs::read_to_string(DESIGN).unwrap();
    let (_, table) = text.split_once("| crate | what it holds | leans on |\n|---|---|---|\n").unwrap();
    let in_code = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<BTreeSet<_>>();
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches(['|', ' ']).split(" | ").collect();
        (in_code(cells[0]).pop_first().unwrap(), in_code(cells[cells.len() - 1]))
    };
    table.lines().take_while(|line| line.starts_with('|')).map(row).collect()
}

/// What leans on what, by the names of the folders.
fn actual() -> BTreeMap<String, BTreeSet<String>> {
    let mut actual = depends_on();
    // The tests' own crate has another name than its folder; a test of panics has a crate that no
    // other knows.
    let of_tests = actual.remove("end-to-end").unwrap();
    actual.insert("tests".to_owned(), of_tests);
    for leans_on in actual.values_mut() {
        if leans_on.remove("end-to-end") {
            leans_on.insert("tests".to_owned());
        }
    }
    actual.remove("panicking-filter").unwrap();
    actual
}

#[test]
fn the_crates_lean_on_each_other_as_the_table_of_parts_says() {
    assert_eq!(actual(), documented());
}

#[test]
fn the_picture_shows_all_arrows_that_do_not_follow_from_others() {
    assert_eq!(without_what_follows(&actual()), drawn());
}
