//! What depends on what: upkeep depends on decisions and these on forecasts, storage depends on the
//! domain, and never the other way round.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms that know nothing of how anything is stored.
const DOMAIN: [&str; 3] = ["forecasts", "decisions", "../../upkeep/src"];

/// The sources below a file or directory.
fn sources(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    fs::read_dir(path).unwrap().flat_map(|entry| sources(&entry.unwrap().path())).collect()
}

fn lines_that_name(parts: &[&str], modules: &[&str]) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    for source in parts.iter().flat_map(|part| sources(&root.join(part))) {
        for (number, line) in (1..).zip(fs::read_to_string(&source).unwrap().lines()) {
            let names = |module: &&str| line.contains(&format!("{module}::"));
            if !line.trim_start().starts_with("//") && modules.iter().any(names) {
                found.push(format!("{}:{number}: {line}", source.display()));
            }
        }
    }
    found
}

#[test]
fn the_domain_names_neither_the_snapshot_nor_the_learner() {
    assert_eq!(lines_that_name(&DOMAIN, &["snapshot", "snapshot_writer", "learning"]), Vec::<String>::new());
}

#[test]
fn forecasts_know_nothing_of_decisions() {
    assert_eq!(lines_that_name(&["forecasts"], &["decisions"]), Vec::<String>::new());
}

#[test]
fn what_learns_does_not_name_the_snapshot() {
    assert_eq!(lines_that_name(&["../../learning/src"], &["snapshot", "snapshot_writer"]), Vec::<String>::new());
}

#[test]
fn what_is_stored_is_found_by_this_check() {
    assert!(!lines_that_name(&["snapshot"], &["forecasts"]).is_empty());
}
