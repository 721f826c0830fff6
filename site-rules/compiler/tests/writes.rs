//! What rules write, in the forms in which rules say it, and what is said of those that can't.

#![allow(clippy::unwrap_used, clippy::panic)]

use rules_compiler::rule_test::run;
use rules_compiler::{Compiled, Source, compile};

fn compiled(text: &str) -> Compiled {
    let read_file = |_: &str| Err("no such file".to_owned());
    compile(&[Source { name: "rules.toml".to_owned(), text: text.to_owned(), is_configuration: false, read_file: &read_file }])
}

fn differences(text: &str) -> Vec<String> {
    let compiled = compiled(text);
    assert_eq!(compiled.problems, []);
    let rules = compiled.rules.unwrap();
    // What is put in force is checked again when it is read.
    site_rules::file::decode(&site_rules::file::encode(&rules).unwrap()).unwrap();
    let of = |test| run(&rules, test).differences.into_iter().map(|difference| format!("{}: {}", difference.expected, difference.got));
    compiled.tests.iter().flat_map(of).collect()
}

#[test]
fn variables_of_the_environment_are_written_one_by_one_and_read_by_the_rules_behind() {
    let text = r#"
[[rule]]
name = "threads"
default = { environment = { OMP_NUM_THREADS = { cel = 'string(job.?cpus_per_task.orValue(1))' } } }
set = { environment = { SITE = "a=b" } }
clear = ["environment[SSH_TTY]"]

[[rule]]
name = "seen"
when = '"SITE" in job.environment && job.environment["SITE"] == "a=b" && !("SSH_TTY" in job.environment)'
set = { comment = { cel = 'job.environment[?"OMP_NUM_THREADS"].orValue("none")' } }

[[test]]
command = "sbatch -c4 job.sh"
environment = { SSH_TTY = "/dev/pts/1" }
expect = { environment = { OMP_NUM_THREADS = "4", SITE = "a=b" }, absent = ["environment[SSH_TTY]"], comment = "4" }

[[test]]
command = "sbatch job.sh"
environment = { OMP_NUM_THREADS = "2" }
expect = { environment = { OMP_NUM_THREADS = "2" }, comment = "2" }
"#;
    assert_eq!(differences(text), Vec::<String>::new());
}

#[test]
fn lists_of_words_flags_and_what_is_for_each_gpu_are_written() {
    let text = r#"
[[rule]]
name = "all"
set = { mail_type = ["END", "FAIL"], spread_job = true, mem_per_tres = "gpu:16G", cpus_per_tres = "gpu:8", clusters = ["a", "b"], container = "/bundle" }
clear = ["mail_user", "deadline"]

[[rule]]
name = "seen"
when = '"FAIL" in job.mail_type && job.spread_job && has(job.mem_per_gpu) && job.mem_per_gpu == bytes("16G")'
set = { comment = "seen" }

[[test]]
command = "sbatch --gres=gpu:1 --mail-user=ann --deadline=now+2days job.sh"
expect = { mail_type = ["END", "FAIL"], spread_job = true, cpus_per_gpu = 8, absent = ["mail_user", "deadline"], clusters = "a,b", comment = "seen" }

[[test]]
command = "sbatch --mail-type=END,FAIL job.sh"
expect = { unchanged = ["mail_type"] }
"#;
    assert_eq!(differences(text), Vec::<String>::new());
}

fn problem(rule: &str) -> String {
    let compiled = compiled(&format!("[tables.a.rows]\nx = {{ t = \"y\", u = 1 }}\n[[rule]]\nname = \"r\"\n{rule}\n"));
    compiled.problems.first().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn what_can_not_be_written_says_why() {
    for (rule, message) in [
        ("set = { user_id = 0 }", "user_id can be read, and not written: slurmctld has checked before who the job is of"),
        ("set = { gpus = 1 }", "gpus can be read, and not written: it follows from other fields"),
        ("set = { script = \"x\" }", "the script stays as its user wrote it"),
        ("set = { mail_type = [\"SOMETIMES\"] }", "mail_type has words of BEGIN, "),
        ("set = { environment = \"A=1\" }", "variables and their values, as in"),
        ("set = { environment = { \"A B\" = \"1\" } }", "the name of a variable has letters"),
        ("cap = { environment = { A = \"1\" } }", "cap can't be used with environment"),
        ("clear = [\"environment\"]", "under clear"),
        ("clear = [\"environment[A B]\"]", "a variable is named as in"),
        ("set = { mem_per_tres = \"gpu\" }", "has no amount of memory, as in gpu:16G"),
    ] {
        let found = problem(rule);
        assert!(found.contains(message), "{rule}: {found}");
    }
}

#[test]
fn names_of_lua_lead_to_those_of_rules() {
    for (rule, message) in [
        ("when = 'has(job.gres)'\nreject = \"no\"", "unknown field job.gres; rules have it as job.tres_per_node"),
        ("when = 'has(job.user_name)'\nreject = \"no\"", "unknown field job.user_name; rules have it as user.name"),
        ("when = 'has(job.min_mem_per_node)'\nreject = \"no\"", "rules have it as job.memory_per_node"),
        ("when = 'submit_uid == 0'\nreject = \"no\"", "unknown name submit_uid; rules have it as user.uid"),
        ("when = 'job_desc.partition == \"a\"'\nreject = \"no\"", "unknown name job_desc; rules have it as job"),
        ("set = { ntasks_per_gpu = 1 }", "unknown field ntasks_per_gpu; rules have it as job.ntasks_per_tres"),
    ] {
        let found = problem(rule);
        assert!(found.contains(message), "{rule}: {found}");
    }
}

#[test]
fn a_text_that_is_an_expression_is_warned_of_and_one_that_only_looks_a_bit_like_it_is_not() {
    for text in ["tables.a[\"x\"].t", "job.partition", "user.name", "job.name + \"-x\""] {
        let found = problem(&format!("set = {{ partition = '{text}' }}"));
        assert!(found.contains("warning: this is the text itself; for its value write { cel = "), "{text}: {found}");
    }
    for text in ["gpu", "job.sh", "tables.txt", "/home/user.name", "a job. And more"] {
        assert_eq!(problem(&format!("set = {{ comment = '{text}' }}")), "", "{text}");
    }
}

#[test]
fn a_row_s_value_is_tested_by_a_question_mark_before_its_column_or_before_its_key() {
    for when in [
        "tables.users[\"ann\"].?default_account.orValue(\"\") == \"physics\"",
        "tables.users[?\"ann\"].?default_account.orValue(\"\") == \"physics\"",
        "tables.users[?\"ann\"].default_account.hasValue()",
        "tables.a[?\"x\"].?u.orValue(0) > 4",
    ] {
        assert_eq!(problem(&format!("when = '{when}'\nreject = \"no\"")), "", "{when}");
    }
}

#[test]
fn a_key_that_stands_twice_and_an_error_that_slurm_does_not_have_are_named() {
    assert!(problem("name = \"other\"").contains("the key name stands here twice"), "{}", problem("name = \"other\""));
    assert_eq!(problem("reject = { message = \"no\", error = \"ESLURM_IN_STANDBY_MODE\" }"), "");
    assert!(problem("reject = { message = \"no\", error = \"ESLURM_NOT_SUPORTED\" }").contains("did you mean ESLURM_NOT_SUPPORTED?"));
}

#[test]
fn append_puts_between_parts_what_the_page_says() {
    let text = r#"
[[rule]]
name = "all"
append = { features = "b", prefer = "d", comment = "new", licenses = "y:2", exc_nodes = "n2" }

[[test]]
command = "sbatch -C a --prefer=c --comment=old -L x:1 -x n1 job.sh"
expect = { features = "a&b", prefer = "c&d", comment = "old; new", licenses = "x:1,y:2", exc_nodes = "n1,n2" }
"#;
    assert_eq!(differences(text), Vec::<String>::new());
}
