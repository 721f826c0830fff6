//! Partitions in rules: all that a job may run in, the site's default one, what slurm.conf says of
//! them, and columns of tables that are lists.

#![allow(clippy::unwrap_used, clippy::panic)]

use rules_compiler::rule_test::run;
use rules_compiler::site_tables::{PartitionRow, SiteTables};
use rules_compiler::{Compiled, Source, compile_with};

fn compiled(text: &str, rows: Option<&SiteTables>) -> Compiled {
    let read_file = |path: &str| match path {
        "types.csv" => Ok("partition,types\ngpu,\"a100,h100\"\nviz,l40s\n".to_owned()),
        _ => Err("no such file".to_owned()),
    };
    compile_with(&[Source { name: "rules.toml".to_owned(), text: text.to_owned(), is_configuration: false, read_file: &read_file }], rows)
}

/// What the tests in a text find otherwise than they expect.
fn differences(text: &str, rows: Option<&SiteTables>) -> Vec<String> {
    let compiled = compiled(text, rows);
    assert_eq!(compiled.problems, []);
    let rules = compiled.rules.unwrap();
    let of = |test| run(&rules, test).differences.into_iter().map(|difference| format!("{}: {}", difference.expected, difference.got));
    compiled.tests.iter().flat_map(of).collect()
}

fn site() -> SiteTables {
    let gpu = PartitionRow { is_default: true, tres: Some("cpu=64,gres/gpu=8".to_owned()), ..PartitionRow::default() };
    SiteTables { partitions: [("gpu".to_owned(), gpu), ("batch".to_owned(), PartitionRow::default())].into(), ..SiteTables::default() }
}

const DEFAULT: &str = r#"
[[rule]]
name = "gpu"
on = ["submit", "modify"]
when = '"gpu" in job.partitions'
reject = "of {job.partitions}, and the default is {site.?default_partition.orValue(\"none\")}"

[[test]]
command = "sbatch job.sh"
expect = { reject = "of gpu, and the default is gpu" }

[[test]]
command = "sbatch -p batch,gpu job.sh"
expect = { reject = "of batch, gpu" }

[[test]]
command = "sbatch -p batch job.sh"
expect = { nothing = true, partitions = ["batch"] }

[[test]]
kind = "modify"
fields = { time_limit = "10" }
expect = { nothing = true, absent = ["partition"] }

[[test]]
command = "sbatch job.sh"
tables = { partitions = { batch = { is_default = true }, gpu = {} } }
expect = { nothing = true, partitions = ["batch"] }
"#;

#[test]
fn a_submission_that_names_no_partition_is_one_to_the_sites_default_partition() {
    let rules = compiled(DEFAULT, None);
    assert!(rules.asks_for_default_partition && !rules.asks_for_site_tables);
    assert_eq!(differences(DEFAULT, Some(&site())), Vec::<String>::new());
    // If no default partition is known, a job without -p is in none.
    assert_eq!(differences(DEFAULT, None).len(), 1);
}

#[test]
fn the_partitions_that_were_asked_for_are_the_default_one_as_well_where_none_is_named() {
    let text = DEFAULT.replace("job.partitions", "asked.partitions");
    assert!(compiled(&text, None).asks_for_default_partition);
    assert_eq!(differences(&text, Some(&site())), Vec::<String>::new());
}

#[test]
fn rules_that_do_not_ask_for_partitions_are_the_same_whatever_the_default_one_is() {
    let compiled = compiled("[[rule]]\nname = \"r\"\nwhen = 'has(job.partition)'\nreject = \"no\"\n", Some(&site()));
    assert!(!compiled.asks_for_default_partition && compiled.rules.unwrap().program.default_partition.is_none());
}

#[test]
fn columns_that_are_lists_are_looked_into_whether_of_toml_or_of_a_file() {
    let rule = r#"
[[rule]]
name = "types"
when = 'job.partitions.exists(partition, partition in tables.types && !job.gpu_types.all(type, type in tables.types[partition].types))'
reject = "not {job.gpu_types}"

[[test]]
command = "sbatch -p gpu --gres=gpu:a10:1 job.sh"
expect = { reject = "not a10" }

[[test]]
command = "sbatch -p gpu --gres=gpu:h100:1 job.sh"
expect = { nothing = true }

[[test]]
command = "sbatch -p gpu,viz --gres=gpu:h100:1 job.sh"
expect = { reject = "not h100" }
"#;
    for table in [
        "[tables.types.rows]\ngpu = { types = [\"a100\", \"h100\"] }\nviz = { types = [\"l40s\"] }\n",
        "[tables.types]\nkinds = { types = \"list\" }\n[tables.types.rows]\ngpu = { types = \"a100, h100\" }\nviz = { types = \"l40s\" }\n",
        "[tables.types]\nfile = \"types.csv\"\nkinds = { types = \"list\" }\n",
    ] {
        assert_eq!(differences(&format!("{table}{rule}"), None), Vec::<String>::new(), "{table}");
    }
    let mixed = compiled("[tables.types.rows]\ngpu = { types = [\"a100\"] }\nviz = { types = \"l40s\" }\n", None);
    assert!(mixed.problems[0].message.contains("types of \"viz\" is of type string, not list(string)"), "{:?}", mixed.problems);
}

#[test]
fn a_test_gives_rows_of_each_table_that_the_daemon_makes() {
    let text = r#"
[[rule]]
name = "all"
when = '''
  has(job.partition) && has(tables.partitions[job.partition].tres) &&
  tables.partitions[job.partition].tres.exists(r, r.kind == "gpu" && r.count > 4) &&
  has(job.qos) && has(tables.qos[job.qos].max_memory) && tables.qos[job.qos].max_memory == bytes("64G") &&
  has(user.name) && tables.users[?user.name].default_account.orValue("") == "physics" &&
  has(tables.associations["physics/ann"].max_wall)'''
reject = "E"

[[test]]
command = "sbatch -p gpu -q high job.sh"
user = "ann"
expect = { reject = true }

[test.tables]
partitions = { gpu = { tres = "cpu=64,gres/gpu=8" } }
qos = { high = { max_memory = "64G" } }
users = { ann = { default_account = "physics" } }
associations = { "physics/ann" = { max_wall = "1-0" } }

[[test]]
command = "sbatch -p gpu -q high job.sh"
user = "ann"
expect = { nothing = true }
"#;
    assert_eq!(differences(text, Some(&site())), Vec::<String>::new());
    let wrong = |row: &str| {
        let text = format!("[[test]]\ncommand = \"sbatch job.sh\"\ntables = {{ {row} }}\nexpect = {{ accept = true }}\n");
        compiled(&text, None).problems.first().map(|problem| problem.message.clone()).unwrap_or_default()
    };
    assert!(wrong("partitions = { a = { max_tim = \"1\" } }").contains("tables.partitions has no column max_tim; did you mean max_time?"));
    assert!(wrong("partition = { a = {} }").contains("unknown key partition; did you mean partitions?"));
    assert!(wrong("qos = { a = { max_wall = 3 } }").contains("a duration in quotes"));
    let two = wrong("partitions = { a = { is_default = true }, b = { is_default = true }, c = { is_default = false } }");
    assert_eq!(two, "a is the default partition already, and there is one");
}
