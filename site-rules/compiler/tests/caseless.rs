//! Names of accounts, qualities of service and keys of accounting: Slurm compares them without
//! regard to case, and so do rules, whatever a name goes through before it is compared.

#![allow(clippy::unwrap_used, clippy::panic)]

use rules_compiler::problem::Severity;
use rules_compiler::rule_test::run;
use rules_compiler::site_tables::{Limits, PartitionRow, SiteTables, UserRow};
use rules_compiler::{Compiled, Source, compile_with};

/// Rows of a site whose names have capital letters, as slurm.conf may have them.
fn site() -> SiteTables {
    let list = |name: &str| Some(vec![name.to_owned()]);
    let gpu = PartitionRow {
        is_default: true,
        allow_accounts: list("Physics"),
        deny_qos: list("Express"),
        qos: Some("Part".to_owned()),
        ..PartitionRow::default()
    };
    let ann = UserRow { default_account: Some("Physics".to_owned()), is_operator: false };
    let limits = Limits { max_nodes: Some(4), default_qos: Some("Normal".to_owned()), ..Limits::default() };
    SiteTables {
        partitions: [("gpu".to_owned(), gpu)].into(),
        users: [("ann".to_owned(), ann)].into(),
        qos: [("Express".to_owned(), limits.clone())].into(),
        associations: [("Physics/Ann".to_owned(), limits)].into(),
    }
}

const TABLES: &str = "
[tables.owners.rows]
gpu = { owner = \"Physics\", accounts = [\"Chemistry\", \"Physics\"] }
";

fn compiled(text: &str) -> Compiled {
    let read_file = |_: &str| Err("no such file".to_owned());
    let source = Source { name: "rules.toml".to_owned(), text: text.to_owned(), is_configuration: false, read_file: &read_file };
    compile_with(&[source], Some(&site()))
}

fn rule(when: &str) -> String {
    format!("{TABLES}\n[[rule]]\nname = \"r\"\nwhen = '''{when}'''\nreject = \"refused\"\n")
}

/// Whether a rule with this condition refuses a job of QOS `EXPRESS` and account `PHYSICS`.
fn refuses(when: &str) -> bool {
    let test = "[[test]]\ncommand = \"sbatch -p gpu -q EXPRESS -A PHYSICS job.sh\"\nuser = \"ann\"\nexpect = { reject = \"refused\" }\n";
    let compiled = compiled(&format!("{}{test}", rule(when)));
    assert_eq!(compiled.problems, [], "{when}");
    let rules = compiled.rules.unwrap();
    compiled.tests.iter().all(|test| run(&rules, test).differences.is_empty())
}

#[test]
fn names_are_compared_without_regard_to_case_whatever_they_go_through() {
    for when in [
        "job.?qos.orValue('') == 'Express'",
        "job.?qos.orValue('').trim() == 'Express'",
        "job.?qos.orValue('None') == 'None' || job.?qos.orValue('') == 'EXPRESS'",
        "!(job.?wckey.orValue('None') != 'None')",
        "has(job.qos) && job.qos.split(',').exists(q, q == 'Express')",
        "has(job.qos) && job.qos.split(',')[0] == 'Express'",
        "has(job.qos) && 'Express' in job.qos.split(',')",
        "has(job.qos) && 'Express' in job.qos.split(',').filter(q, q != 'Other')",
        "has(job.qos) && 'Express' in job.qos.split(',').map(q, q.trim())",
        "has(job.qos) && job.qos.split(',').map(q, q.trim()).join('+').startsWith('Express')",
        "cel.bind(q, job.?qos.orValue(''), q == 'Express')",
        "cel.bind(q, job.?qos.orValue(''), q.trim()) == 'Express'",
        "cel.bind(q, job.?qos.orValue(''), cel.bind(p, q, p + '')) in ['Express']",
        "job.?qos.orValue('').substring(0, 4) == 'Expr'",
        "job.?qos.orValue('').indexOf('Press') == 2",
        "job.?qos.orValue('').replace('EX', 'im') == 'Impress'",
        "job.?qos.orValue('').contains('Press') && job.?qos.orValue('').endsWith('SS')",
        "['Express'].exists(x, x == job.?qos.orValue(''))",
        "job.?qos.orValue('') in [job.?comment.orValue('-'), 'Express']",
        "job.?account.orValue('') == tables.owners[?'gpu'].owner.orValue('')",
        "job.partitions.all(p, job.?account.orValue('') == tables.owners[?p].owner.orValue('') || job.?account.orValue('') == 'No')",
        "has(job.account) && 'gpu' in tables.owners && job.account in tables.owners['gpu'].accounts",
        "job.?qos.orValue('').matches('^ex[a-z]+$')",
        "job.?qos.orValue('').matches('(?i)^EX')",
        "job.?account.orValue('') + '/x' == 'Physics/X'",
        // Tables of the daemon.
        "has(job.account) && has(tables.partitions['gpu'].allow_accounts) && job.account in tables.partitions['gpu'].allow_accounts",
        "has(tables.partitions['gpu'].allow_accounts) && 'PHYSICS' in tables.partitions['gpu'].allow_accounts",
        "has(job.qos) && has(tables.partitions['gpu'].deny_qos) && job.qos in tables.partitions['gpu'].deny_qos",
        "tables.partitions['gpu'].?qos.orValue('') == 'PART'",
        "tables.users['ann'].?default_account.orValue('') == 'Physics'",
        "has(job.qos) && job.qos in tables.qos && tables.qos[?'EXPRESS'].max_nodes.orValue(0) == 4",
        "has(job.account) && job.account + '/Ann' in tables.associations && 'PHYSICS/Ann' in tables.associations",
    ] {
        assert!(refuses(when), "{when}");
    }
}

#[test]
fn several_qualities_of_service_are_asked_for_one_by_one_also_after_a_rule_has_written_them() {
    let text = r#"
[[rule]]
name = "more"
when = 'job.?account.orValue("") == "Physics"'
set = { qos = "Long,Express" }

[[rule]]
name = "seen"
on = ["submit", "modify"]
when = '"EXPRESS" in job.qos_names'
warn = "{job.qos_names} of {asked.qos_names}, {size(job.qos_names)}"

[[test]]
command = "sbatch -q Normal,Express job.sh"
expect = { warn = "normal, express of normal, express, 2", qos_names = ["normal", "express"] }

[[test]]
command = "sbatch -q normal -A physics job.sh"
expect = { qos = "long,express", warn = "long, express of normal, 2" }

[[test]]
command = "sbatch -q expressly job.sh"
expect = { nothing = true }

[[test]]
command = "sbatch job.sh"
expect = { nothing = true, qos_names = [] }

[[test]]
kind = "modify"
fields = { qos = "normal,express" }
expect = { warn = "normal, express" }
"#;
    let compiled = compiled(text);
    assert_eq!(compiled.problems, []);
    let rules = compiled.rules.unwrap();
    for test in &compiled.tests {
        let outcome = run(&rules, test);
        assert!(outcome.differences.is_empty(), "{outcome:?}");
    }
}

#[test]
fn what_is_no_such_name_keeps_its_letters() {
    for when in [
        "job.?qos.orValue('').upperAscii() == 'EXPRESS'",
        "job.?account.orValue('') + '/' + 'Ann' != 'physics/ann'",
        "job.?partition.orValue('') != 'GPU'",
        "cel.bind(p, job.?partition.orValue(''), cel.bind(q, job.?qos.orValue(''), p != 'GPU' && q == 'Express'))",
    ] {
        assert!(refuses(when), "{when}");
    }
    let shown = "[[rule]]\nname = \"r\"\nreject = \"{job.?account.orValue('') + ' is a Bad one'}\"\n\
                 [[test]]\ncommand = \"sbatch -A Physics job.sh\"\nexpect = { reject = \"physics is a Bad one\" }\n";
    let compiled = compiled(shown);
    assert_eq!(compiled.problems, []);
    assert!(run(&compiled.rules.unwrap(), &compiled.tests[0]).differences.is_empty());
}

#[test]
fn capitals_of_a_pattern_for_such_a_name_are_an_error() {
    for when in [
        "job.?qos.orValue('').matches('^Express$')",
        "has(job.account) && job.account.split('-').exists(a, a.matches('[A-Z]+'))",
        "cel.bind(a, job.?account.orValue(''), a.trim().matches('x|Y'))",
    ] {
        let problems = compiled(&rule(when)).problems;
        let [problem] = problems.as_slice() else { panic!("{when}: {problems:?}") };
        assert!(problem.severity == Severity::Error && problem.message.contains("in small letters"), "{problem}");
    }
    assert_eq!(compiled(&rule("job.?partition.orValue('').matches('^GPU')")).problems, []);
}

#[test]
fn keys_with_capitals_in_a_table_that_is_asked_for_such_a_name_are_told() {
    let table = "[tables.projects.rows]\nchem = 1\nPhysics = 2\n";
    let problems = |when: &str| {
        let text = format!("{table}[[rule]]\nname = \"r\"\nwhen = '''{when}'''\nreject = \"no\"\n");
        compiled(&text).problems.into_iter().map(|problem| (problem.severity, problem.message)).collect::<Vec<_>>()
    };
    for when in [
        "has(job.account) && job.account in tables.projects && tables.projects[job.account] > 1",
        "has(job.account) && job.account.split('-').exists(a, a.trim() in tables.projects)",
        "cel.bind(a, job.?account.orValue(''), tables.projects[?a].orValue(0) > 1)",
    ] {
        let problems = problems(when);
        let [(Severity::Warning, message)] = problems.as_slice() else { panic!("{when}: {problems:?}") };
        assert!(message.contains("\"Physics\" of tables.projects"), "{message}");
    }
    assert_eq!(problems("job.?partition.orValue('') in tables.projects"), []);
    assert_eq!(problems("has(job.account) && tables.projects.exists(k, k == job.account)"), [], "which finds it");
}

#[test]
fn an_element_can_not_take_the_name_of_the_site() {
    let problems = compiled(&rule("job.partitions.exists(site, site == 'gpu')")).problems;
    assert!(problems[0].message.contains("site is a name of its own"), "{problems:?}");
}

#[test]
fn all_rows_are_there_where_only_the_keys_of_a_table_of_the_daemon_are_asked_for() {
    for when in ["tables.partitions.exists(p, p == 'gpu')", "size(tables.qos) == 1"] {
        assert!(refuses(when), "{when}");
        assert!(compiled(&rule(when)).asks_for_site_tables, "{when}");
    }
    let default = compiled(&rule("'gpu' in asked.partitions"));
    assert!(default.asks_for_default_partition && default.rules.unwrap().program.default_partition.as_deref() == Some("gpu"));
}
