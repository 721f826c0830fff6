//! The pages about rules are true: their examples compile, and their fields are those that there
//! are.

#![allow(clippy::unwrap_used, clippy::panic)]

use rules_compiler::rule_test::run;
use rules_compiler::{Source, compile};
use site_rules::field::FIELDS;
use site_rules::submission::Surrounding;
use site_rules::value::Kind;

fn page(name: &str) -> String {
    let path = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_examples_of_rules_compile_and_their_tests_pass() {
    let page = page("rules.md");
    let read_file = |path: &str| match path {
        "accounts.csv" => Ok("account,nodes,longest,memory\nphysics,8,1-0,64G\n".to_owned()),
        _ => Err("no such file".to_owned()),
    };
    let mut examples = 0;
    for block in page.split("```toml\n").skip(1) {
        let text = block.split("```").next().unwrap().to_owned();
        let compiled = compile(&[Source { name: "rules.md".to_owned(), text, is_configuration: true, read_file: &read_file }]);
        assert_eq!(compiled.problems, []);
        for test in &compiled.tests {
            let differences = run(compiled.rules.as_ref().unwrap(), test).differences;
            let differences: Vec<_> = differences.iter().map(|one| format!("{}, and not {}", one.got, one.expected)).collect();
            assert!(differences.is_empty(), "{}: {differences:?}", test.described_as);
        }
        examples += 1;
    }
    assert!(examples >= 2);
}

#[test]
fn all_names_that_expressions_can_use_are_on_the_page() {
    let page = page("rules.md");
    for (_, field) in Surrounding::ALL {
        assert!(page.contains(&format!("`{}`", field.name)), "{}", field.name);
    }
}

/// The rows of the page of fields.
fn rows() -> String {
    let row = |field: &site_rules::field::Field| {
        let since = field.since.map_or_else(String::new, |(year, month)| format!(" From Slurm {year}.{month:02} on."));
        let words = if field.words.is_empty() { String::new() } else { format!(" One of {}.", field.words.join(", ")) };
        let absent = if field.may_be_absent { "yes" } else { "no" };
        // A list or a truth that is always there is emptied or made false by `set`.
        let (set, cleared) = match (field.is_writable, field.may_be_absent || field.kind == Kind::Variables) {
            (true, true) => ("yes", "yes"),
            (true, false) => ("yes", "no"),
            (false, _) => ("no", "no"),
        };
        let reason = match (field.is_writable, field.why_not) {
            (true, _) => String::new(),
            (false, Some(reason)) => format!(" Not written: {reason}."),
            (false, None) => " Not written: it follows from other fields.".to_owned(),
        };
        format!("| `{}` | `{}` | {absent} | {set} | {cleared} | {}{words}{since}{reason} |\n", field.name, field.kind, field.meaning)
    };
    FIELDS.iter().map(row).collect()
}

#[test]
fn the_fields_are_those_of_the_code() {
    let heading = "| field | type | may be absent | set | cleared | what it is |\n|---|---|---|---|---|---|\n";
    let page = page("rule-fields.md");
    let (_, table) = page.split_once(heading).unwrap();
    assert!(table.trim_end() == rows().trim_end(), "the table should be:\n{heading}{}", rows());
}

#[test]
fn what_the_page_says_of_looking_a_value_up_compiles() {
    let page = page("rules.md");
    for when in ["name in tables.owners && tables.owners[name] == \"physics\"", "tables.owners[?\"gpu\"].orValue(\"\")"] {
        assert!(page.replace('\n', " ").contains(&format!("`{when}`")), "{when}");
        let when = when.replace("name", "job.name");
        let when = if when.contains("==") { format!("has(job.name) && {when}") } else { format!("{when} == \"x\"") };
        let text = format!("[tables.owners.rows]\ngpu = \"physics\"\n[[rule]]\nname = \"r\"\nwhen = '{when}'\nreject = \"no\"\n");
        let read_file = |_: &str| Err("no such file".to_owned());
        let compiled = compile(&[Source { name: "rules.md".to_owned(), text, is_configuration: false, read_file: &read_file }]);
        assert_eq!(compiled.problems, []);
    }
}
