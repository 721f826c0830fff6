//! Tests that stand beside rules: what they give, what they expect, and what they have reached.

#![allow(clippy::unwrap_used, clippy::panic)]

use rules_compiler::rule_test::coverage::Coverage;
use rules_compiler::rule_test::run;
use rules_compiler::{Compiled, Source, compile};
use site_rules::rules::RuleNumber;

fn compiled(text: &str) -> Compiled {
    let read_file = |_: &str| Err("no such file".to_owned());
    compile(&[Source { name: "rules.toml".to_owned(), text: text.to_owned(), is_configuration: false, read_file: &read_file }])
}

const RULES: &str = r#"
[[rule]]
name = "route"
when = '!has(job.partition)'
route = [{ partition = "gpu", when = 'job.gpus > 0' }, { partition = "batch" }]

[[rule]]
name = "limit"
default = { time_limit = "1:00:00" }
cap = { time_limit = "2-00:00:00" }

[[rule]]
name = "gpus"
when = 'has(job.partition) && job.partition == "gpu" && job.gpus == 0'
reject = { code = "E_GPU", message = "no GPUs", error = "ESLURM_INVALID_GRES" }

[[rule]]
name = "told"
bypass = ["operators"]
when = 'has(user.groups) && "staff" in user.groups && now.getHours() < 6'
warn = "early, {job.gpus}"

[[rule]]
name = "longer"
on = ["modify"]
when = 'has(job.time_limit) && has(current.time_limit) && job.time_limit > current.time_limit'
reject = { code = "E_LONGER", message = "no" }
"#;

/// What is different in the only test of some rules.
fn differences(test: &str) -> Vec<String> {
    let compiled = compiled(&format!("{RULES}\n[[test]]\n{test}"));
    let problems: Vec<String> = compiled.problems.iter().map(ToString::to_string).collect();
    let set = compiled.rules.unwrap_or_else(|| panic!("{test}: {problems:#?}"));
    assert_eq!(compiled.tests.len(), 1, "{test}");
    let outcome = run(&set, &compiled.tests[0]);
    outcome.differences.into_iter().map(|difference| format!("{}; {}", difference.expected, difference.got)).collect()
}

#[test]
fn a_test_that_is_as_expected_has_no_differences() {
    for test in [
        "command = \"sbatch --gres=gpu:2 job.sh\"\nexpect = { partition = \"gpu\", gpus = 2, time_limit = \"1:00:00\", warn = false }",
        "command = \"sbatch -p x -q Express --wrap true\"\nexpect = { qos = \"EXPRESS\" }",
        "fields = { partition = \"x\", comment = \"\" }\nexpect = { absent = [\"comment\"] }",
        "command = \"sbatch -t 5-0 --wrap true\"\nexpect = { partition = \"batch\", time_limit = \"2-0\", rules = [\"route\", \"limit\"] }",
        "fields = { partition = \"gpu\" }\nexpect = { reject = \"E_GPU\", error = \"ESLURM_INVALID_GRES\", rules = [\"limit\", \"gpus\"] }",
        "fields = { partition = \"gpu\" }\nexpect = { reject = \"no GPUs\" }",
        "fields = { partition = \"x\", time_limit = \"60\" }\nexpect = { nothing = true, unchanged = [\"partition\"], absent = [\"qos\"] }",
        "fields = { partition = \"x\", tres_per_node = \"gres/gpu:a100:2\" }\nexpect = { accept = true, gpu_types = [\"a100\"] }",
        "command = \"sbatch job.sh\"\nscript = '''#!/bin/sh\n#SBATCH -p x --mem=4G\n'''\nexpect = { partition = \"x\", memory_per_node = \"4G\" }",
        "fields = { partition = \"x\" }\ngroups = [\"staff\"]\nat = \"2026-01-05T05:00:00Z\"\nexpect = { warn = \"early\" }",
        "fields = { partition = \"x\" }\ngroups = [\"staff\"]\nat = \"2026-01-05T05:00:00Z\"\noperator = true\nexpect = { warn = false }",
        "kind = \"modify\"\nfields = { time_limit = \"2:00:00\" }\ncurrent = { time_limit = \"1:00:00\" }\nexpect = { reject = \"E_LONGER\" }",
        "kind = \"modify\"\nfields = { time_limit = \"2:00:00\" }\ncurrent = \"sbatch -t 180 job.sh\"\nexpect = { nothing = true }",
    ] {
        assert_eq!(differences(test), [""; 0], "{test}");
    }
}

#[test]
fn what_is_not_as_expected_is_said_with_what_there_is() {
    for (test, expected) in [
        ("command = \"sbatch -G2 job.sh\"\nexpect = { partition = \"batch\" }", "partition = \"batch\"; partition = \"gpu\""),
        ("command = \"sbatch job.sh\"\nexpect = { qos = \"long\" }", "qos = \"long\"; no qos"),
        ("command = \"sbatch -p gpu job.sh\"\nexpect = { partition = \"gpu\" }", "it is accepted; it is refused: E_GPU: no GPUs"),
        ("command = \"sbatch job.sh\"\nexpect = { reject = \"E_GPU\" }", "it is refused with E_GPU; it is accepted"),
        ("command = \"sbatch job.sh\"\nexpect = { reject = true }", "it is refused; it is accepted"),
        ("command = \"sbatch job.sh\"\nexpect = { rules = [\"limit\"] }", "rules [\"limit\"]; rules [\"route\", \"limit\"]"),
        ("command = \"sbatch job.sh\"\nexpect = { warn = \"early\" }", "a warning that has \"early\"; no warning"),
        ("command = \"sbatch -t9 job.sh\"\nexpect = { nothing = true }", "rules do nothing; partition = \"batch\""),
        ("command = \"sbatch job.sh\"\nexpect = { absent = [\"partition\"] }", "no partition; partition = \"batch\""),
        ("command = \"sbatch job.sh\"\nexpect = { unchanged = [\"partition\"] }", "partition as it was; partition = \"batch\""),
        (
            "command = \"sbatch -p gpu job.sh\"\nexpect = { reject = \"E_GPU\", error = \"ESLURM_INVALID_QOS\" }",
            "it is refused with Slurm's error ESLURM_INVALID_QOS; ESLURM_INVALID_GRES",
        ),
    ] {
        assert_eq!(differences(test), [expected], "{test}");
    }
}

#[test]
fn errors_in_tests_have_their_line_and_column() {
    let rule = "[[rule]]\nname = \"r\"\nreject = { code = \"E_GPU\", message = \"m\" }\n[[test]]\n";
    for (test, line, column, message) in [
        ("comand = \"sbatch x\"", 5, 1, "unknown key comand; did you mean command?"),
        (
            "command = \"sbatch --gress=gpu:1 x\"\nexpect = { accept = true }",
            5,
            19,
            "the option --gress is not known; did you mean --gres?",
        ),
        ("command = \"sbatch -t soon x\"\nexpect = { accept = true }", 5, 19, "it takes a time"),
        ("command = \"qsub x\"\nexpect = { accept = true }", 5, 12, "a command line begins with sbatch, salloc or srun"),
        ("fields = { partitoin = \"x\" }\nexpect = { accept = true }", 5, 12, "unknown field partitoin; did you mean partition?"),
        ("fields = { gpus = 2 }\nexpect = { accept = true }", 5, 12, "gpus follows from other fields"),
        ("fields = { time_limit = 60 }\nexpect = { accept = true }", 5, 25, "a duration in quotes"),
        ("fields = { qos = \"x\" }\nexpect = { reject = \"E_GPUS\" }", 6, 21, "no rule refuses with E_GPUS; did you mean E_GPU?"),
        ("fields = { qos = \"x\" }\nexpect = { rejct = \"E_GPU\" }", 6, 12, "unknown field rejct; did you mean reject?"),
        ("fields = { qos = \"x\" }\nexpect = { rules = [\"q\"] }", 6, 21, "there is no rule q"),
        ("fields = { qos = \"x\" }\nexpect = { reject = true, qos = \"x\" }", 6, 10, "what is refused is not changed"),
        ("fields = { qos = \"x\" }\nexpect = {}", 6, 10, "nothing is expected"),
        ("fields = { qos = \"x\" }", 4, 1, "this test expects nothing"),
        ("expect = { accept = true }", 4, 1, "this test submits nothing"),
        ("fields = { qos = \"x\" }\nat = \"noon\"\nexpect = { accept = true }", 6, 6, "is not a time"),
        ("fields = { qos = \"x\" }\ncurrent = {}\nexpect = { accept = true }", 6, 11, "beside kind = \"modify\""),
        ("fields = { het_job_offset = 1 }\nexpect = { accept = true }", 5, 10, "say whether it is a component of a batch job"),
        ("fields = { qos = \"x\" }\nexpect = { comment = \"\" }", 6, 22, "expect absent = [\"comment\"]"),
        ("kind = \"modify\"\ncommand = \"sbatch x\"\nexpect = { accept = true }", 6, 11, "a command submits a job"),
    ] {
        let text = format!("{rule}{test}");
        let problems = compiled(&text).problems;
        let is_it = problems.iter().any(|problem| (problem.line, problem.column) == (line, column) && problem.message.contains(message));
        assert!(is_it, "{test}: {message}: {:#?}", problems.iter().map(ToString::to_string).collect::<Vec<_>>());
    }
}

#[test]
fn coverage_tells_which_rules_and_choices_no_test_has_reached() {
    let text = r#"
        [[rule]]
        name = "route"
        when = '!has(job.partition)'
        route = [{ partition = "gpu", when = 'job.gpus > 0' }, { partition = "batch" }]

        [[rule]]
        name = "limit"
        cap = { time_limit = "1-0" }

        [[rule]]
        name = "name"
        when = 'has(job.name) && job.name == "x"'
        stop = true

        [[test]]
        command = "sbatch -G1 job.sh"
        expect = { partition = "gpu" }
    "#;
    let compiled = compiled(text);
    let rules = compiled.rules.unwrap();
    let mut coverage = Coverage::default();
    for test in &compiled.tests {
        coverage.note(&run(&rules, test).trace);
    }
    let matched: Vec<(usize, usize)> = (0..3).map(RuleNumber).map(|rule| (coverage.matched(rule), coverage.not_matched(rule))).collect();
    assert_eq!(matched, [(1, 0), (1, 0), (0, 1)]);
    let actions = |rule| coverage.actions(&rules, RuleNumber(rule)).into_iter().map(|action| (action.described, action.taken));
    assert_eq!(
        actions(0).collect::<Vec<_>>(),
        [("route partition = \"gpu\"".to_owned(), 1), ("route partition = \"batch\"".to_owned(), 0)]
    );
    assert_eq!(actions(1).collect::<Vec<_>>(), [("cap time_limit".to_owned(), 0)]);
    let lines: Vec<usize> = compiled.origins.iter().map(|origin| origin.line).collect();
    assert_eq!(lines, [2, 7, 11]);
}
