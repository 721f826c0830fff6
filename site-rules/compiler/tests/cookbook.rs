//! Every recipe of the cookbook compiles, its tests pass, and they show where it does something and
//! where it does nothing.

#![allow(clippy::unwrap_used, clippy::panic)]

use rules_compiler::rule_test::coverage::Coverage;
use rules_compiler::rule_test::{RuleTest, run};
use rules_compiler::trace::Trace;
use rules_compiler::{Source, compile};
use site_rules::field::{FieldNumber, Fields as _, Name};
use site_rules::rules::{RuleNumber, RuleSet};
use site_rules::value::Value;
use std::collections::BTreeMap;

/// A recipe: its rules with their tests, and the files that it names.
#[derive(Default)]
struct Recipe {
    heading: String,
    rules: String,
    files: BTreeMap<String, String>,
}

/// The recipes of the page: what stands under a heading of the third level. A block behind a line
/// that has nothing but the name of a file is that file.
fn recipes() -> Vec<Recipe> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rules-cookbook.md");
    let page = std::fs::read_to_string(path).unwrap();
    let mut recipes: Vec<Recipe> = Vec::new();
    let mut lines = page.lines();
    let mut file = None;
    while let Some(line) = lines.next() {
        if let Some(heading) = line.strip_prefix("### ") {
            recipes.push(Recipe { heading: heading.to_owned(), ..Recipe::default() });
        } else if let Some(name) = line.strip_prefix('`').and_then(|line| line.strip_suffix("`:")) {
            file = Some(name.to_owned());
        } else if line.starts_with("```") {
            let block: String = lines.by_ref().take_while(|line| *line != "```").flat_map(|line| [line, "\n"]).collect();
            let recipe = recipes.last_mut().unwrap();
            match file.take() {
                Some(name) => drop(recipe.files.insert(name, block)),
                None => recipe.rules.push_str(&block),
            }
        }
    }
    recipes
}

/// Whether rules did something: wrote, warned, refused, or ended.
fn does_something(rules: &RuleSet, trace: &Trace) -> bool {
    let stops = trace.matched().any(|rule| rules.rules[usize::from(rule.rule.0)].stops);
    stops || !trace.writes.is_empty() || !trace.warnings.is_empty() || trace.refusal.is_some()
}

#[test]
fn every_recipe_compiles_and_its_tests_show_where_it_does_something_and_where_nothing() {
    let recipes = recipes();
    let mut faults: Vec<String> = Vec::new();
    for Recipe { heading, rules, files } in &recipes {
        let read_file = |name: &str| files.get(name).cloned().ok_or_else(|| "no such file".to_owned());
        let compiled = compile(&[Source { name: heading.clone(), text: rules.clone(), is_configuration: false, read_file: &read_file }]);
        let problems: Vec<String> = compiled.problems.iter().map(ToString::to_string).collect();
        faults.extend(problems);
        let Some(set) = compiled.rules else { continue };
        let mut coverage = Coverage::default();
        let (mut something, mut nothing) = (0, 0);
        for test in &compiled.tests {
            let outcome = run(&set, test);
            for difference in &outcome.differences {
                faults.push(format!("{heading}: {}: {}, and not {}", test.described_as, difference.got, difference.expected));
            }
            coverage.note(&outcome.trace);
            *(if does_something(&set, &outcome.trace) { &mut something } else { &mut nothing }) += 1;
        }
        if something == 0 || nothing == 0 {
            faults.push(format!("{heading}: {something} tests in which it does something, {nothing} in which it does nothing"));
        }
        for (place, rule) in (0..).zip(&set.rules) {
            if coverage.matched(RuleNumber(place)) == 0 {
                faults.push(format!("{heading}: {} matches in no test", rule.name));
            }
            let actions = coverage.actions(&set, RuleNumber(place)).into_iter().filter(|action| action.taken == 0);
            faults.extend(actions.map(|action| format!("{heading}: {} is taken in no test: {}", rule.name, action.described)));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(recipes.len() >= 50, "{}", recipes.len());
}

#[test]
fn all_recipes_together_are_rules_without_a_name_that_stands_twice() {
    let mut names = BTreeMap::new();
    for recipe in recipes() {
        for name in recipe.rules.lines().filter_map(|line| line.strip_prefix("name = \"")) {
            // Names of tests have spaces.
            if let (false, Some(other)) = (name.contains(' '), names.insert(name.to_owned(), recipe.heading.clone())) {
                panic!("{name} is a rule of {other} and of {}", recipe.heading);
            }
        }
    }
}

/// The partition that a test names.
fn partition(test: &RuleTest) -> Option<&str> {
    match test.submission.job.field(FieldNumber::from(Name::Partition)) {
        Some(Value::Text(text)) => Some(text),
        _ => None,
    }
}

/// Whether a test submits a component behind the first one of a heterogeneous job, of a batch job
/// or an interactive one.
fn is_component(test: &RuleTest, is_batch: bool) -> bool {
    let field = |name: Name| test.submission.job.field(FieldNumber::from(name));
    let is_behind = matches!(field(Name::HetJobOffset), Some(Value::Integer(offset)) if offset > 0);
    is_behind && matches!(field(Name::IsBatch), Some(Value::Truth(is_one)) if is_one == is_batch)
}

#[test]
fn every_recipe_about_partitions_holds_for_lists_for_the_default_one_and_for_names_within_names() {
    let mut faults = Vec::new();
    let mut number = 0;
    for Recipe { heading, rules, files } in recipes() {
        let conditions = rules.replace("has(job.partition)", "").replace("job.partitions", "");
        if conditions.contains("job.partition") {
            faults.push(format!("{heading}: job.partition is compared, which a list of partitions and the default one pass"));
        }
        let read_file = |name: &str| files.get(name).cloned().ok_or_else(|| "no such file".to_owned());
        let compiled = compile(&[Source { name: heading.clone(), text: rules.clone(), is_configuration: false, read_file: &read_file }]);
        let (tests, is_interactive) = (&compiled.tests, rules.contains("job.is_batch") || rules.contains("job.is_interactive"));
        for (is_batch, whose) in [(true, "sbatch"), (false, "salloc")] {
            if is_interactive && !tests.iter().any(|test| is_component(test, is_batch)) {
                faults.push(format!("{heading}: no test has a component of a heterogeneous job of {whose}"));
            }
        }
        if !rules.contains("job.partitions") {
            continue;
        }
        number += 1;
        let names: Vec<&str> = tests.iter().filter_map(partition).flat_map(|names| names.split(',')).collect();
        let is_within = |name: &str| names.iter().any(|other| *other != name && name.contains(other));
        if !tests.iter().any(|test| partition(test).is_some_and(|names| names.contains(','))) {
            faults.push(format!("{heading}: no test has a list of partitions"));
        }
        if !tests.iter().any(|test| partition(test).is_none() && test.rows.is_some()) {
            faults.push(format!("{heading}: no test names no partition and says which is the default"));
        }
        if !names.iter().any(|name| is_within(name)) {
            faults.push(format!("{heading}: no test has a partition with the name of another within its own"));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(number >= 20, "{number}");
}
