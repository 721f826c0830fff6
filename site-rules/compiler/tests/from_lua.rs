//! The page that leads from a Lua script to rules: its pieces are those of the whole script and of
//! the whole file of rules, and the tests of these pass and reach all of them.

#![allow(clippy::unwrap_used, clippy::panic)]

use rules_compiler::files::compile_files;
use rules_compiler::rule_test::coverage::Coverage;
use rules_compiler::rule_test::run;
use site_rules::rules::RuleNumber;
use std::path::{Path, PathBuf};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn text(name: &str) -> String {
    std::fs::read_to_string(docs().join(name)).unwrap()
}

/// The blocks of the page in a language.
fn blocks(language: &str) -> Vec<String> {
    let page = text("from-lua.md");
    let opening = format!("```{language}\n");
    page.split(&opening).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_rules_pass_their_tests_which_reach_all_of_them() {
    let file = docs().join("from-lua/rules.toml");
    let compiled = compile_files(std::slice::from_ref(&file), Path::new("queuecast.toml"));
    assert_eq!(compiled.problems, []);
    let rules = compiled.rules.unwrap();
    let mut coverage = Coverage::default();
    for test in &compiled.tests {
        let outcome = run(&rules, test);
        assert!(outcome.differences.is_empty(), "line {}: {:#?}", test.line, outcome.differences);
        coverage.note(&outcome.trace);
    }
    for (number, rule) in (0..).map(RuleNumber).zip(&rules.rules) {
        assert!(coverage.matched(number) > 0, "{}", rule.name);
        for action in coverage.actions(&rules, number) {
            assert!(action.taken > 0, "{}: {}", rule.name, action.described);
        }
    }
}

#[test]
fn the_pieces_of_the_page_are_those_of_the_script_and_of_the_rules() {
    let (script, rules) = (text("from-lua/job_submit.lua"), text("from-lua/rules.toml"));
    assert!((140..=160).contains(&script.lines().count()));
    // A piece of several parts has each of them from the file.
    let pieces = |blocks: &[String]| -> Vec<String> {
        blocks.iter().flat_map(|block| block.split("\n\n")).map(|piece| piece.trim_end().to_owned()).collect()
    };
    let of_script = pieces(&blocks("lua"));
    for piece in &of_script {
        assert!(script.contains(piece), "no piece of job_submit.lua:\n{piece}");
    }
    let of_rules = pieces(&blocks("toml"));
    for piece in &of_rules {
        assert!(rules.contains(piece), "no piece of rules.toml:\n{piece}");
    }
    for policy in 1..=10 {
        assert!(of_script.iter().any(|piece| piece.contains(&format!("  -- {policy}. "))), "policy {policy}");
    }
    for rule in rules.split("\n\n").filter_map(|piece| piece.find("[[rule]]").and_then(|at| piece.get(at..))) {
        assert!(of_rules.iter().any(|piece| piece == rule.trim_end()), "the page lacks the rule\n{rule}");
    }
}
