//! A Lua script beside the plugin, before and after it in `JobSubmitPlugins`.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests

use end_to_end::{Cluster, LARGE_WAIT, Options, built, skipped};
use job_types::number::UserId;
use job_types::record::Record;
use job_types::time::UnixTime;
use made_up_site::enforcing;
use rules_compiler::command_line::{self, Setting};
use rules_compiler::{Source, compile, in_force};
use site_rules::field::{FIELDS, FieldNumber, Fields, Name};
use site_rules::resources;
use std::collections::BTreeMap;
use std::path::Path;

/// Sets a limit where none is given, notes how many nodes it saw, and says so.
const SCRIPT: &str = r#"
function slurm_job_submit(job_desc, part_list, submit_uid)
   if job_desc.time_limit == slurm.NO_VAL then job_desc.time_limit = 10 end
   job_desc.comment = "nodes seen: " .. job_desc.min_nodes
   slurm.log_user("the site's script was here")
   return slurm.SUCCESS
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
   return slurm.SUCCESS
end
"#;

#[test]
fn a_lua_script_before_and_after_the_plugin_works_as_the_plugin_does() {
    if skipped() {
        return;
    }
    let script = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(script.path(), SCRIPT).unwrap();
    let record = tempfile::NamedTempFile::new().unwrap();
    let options = Options::with_plugins("")
        .option("lua-script", script.path().to_str().unwrap())
        .option("gpu-nodes", "2")
        .option("environment", &format!("QUEUECAST_FIELDS_INTO={}", record.path().display()));
    let cluster = Cluster::up(&options);
    for (order, seen, limit) in [
        // The plugin decides about what the script has made of the job: its ten minutes become
        // forty on a quarter of the nodes.
        ("lua,queuecast", "8", "00:40:00"),
        // The script sees what the plugin has made of the job. Without a limit that is an hour, the
        // partition's default, by four.
        ("queuecast,lua", "2", "04:00:00"),
    ] {
        cluster.reconfigure(&["--job-submit-plugin", order]);
        cluster.publish(enforcing(), &LARGE_WAIT, &[]);
        let job = cluster.submit(&["-N8", "--exclusive", "--hold", "--auto-mold"], "true").job();
        assert!(job.said.contains("the site's script was here"), "{order}: {}", job.said);
        // What a script says takes the place of what was said before it
        // (src/plugins/job_submit/lua/job_submit_lua.c).
        assert_eq!(job.said.contains("queuecast: 2 nodes instead of 8"), order.ends_with("queuecast"), "{order}: {}", job.said);
        assert_eq!((job.field("NumNodes").as_str(), job.field("TimeLimit").as_str()), ("2-2", limit), "{order}: {}", job.said);
        let shown = cluster.output("scontrol", &["show", "job", &job.id]);
        assert!(shown.contains(&format!("Comment=nodes seen: {seen}")), "{order}: {shown}");
        assert_eq!(Record::parse(&job.field("AdminComment")).unwrap().written.unwrap().nodes, Some(2), "{order}");
        // Where nothing is asked, the script alone has its way.
        let plain = cluster.submit(&["-N8", "--exclusive", "--hold"], "true").job();
        assert_eq!((plain.field("NumNodes").as_str(), plain.field("TimeLimit").as_str()), ("8-8", "00:10:00"), "{order}");
        if order.starts_with("lua") {
            rules_are_held_against_the_script(&cluster);
        }
    }
    what_rules_read_of_a_job_is_what_its_command_line_says(&cluster, record.path());
}

/// Rules that are only observed say where the script has not done what they would do.
fn rules_are_held_against_the_script(cluster: &Cluster) {
    let rules = r#"
        [rules]
        mode = "observe"
        [[rule]]
        name = "same-limit"
        cap = { time_limit = "10" }
        [[rule]]
        name = "shorter-limit"
        cap = { time_limit = "5" }
        "#;
    let read_file = |_: &str| Err("there are no files".to_owned());
    let source = Source { name: "rules.toml".to_owned(), text: rules.to_owned(), is_configuration: false, read_file: &read_file };
    let rules = compile(&[source]).rules.unwrap();
    in_force::put(&cluster.state_directory(), &rules).unwrap();
    let job = cluster.submit(&["-N1", "--hold"], "true").job();
    assert_eq!(job.field("TimeLimit"), "00:10:00");
    let log = cluster.log("slurmctld");
    assert!(log.contains("rule shorter-limit is observed; of a job of user 0 it would have written time_limit: 00:05:00, it is 00:10:00"));
    assert!(!log.contains("rule same-limit is observed"));
    in_force::remove(&cluster.state_directory()).unwrap();
}

/// The command lines that are held against what the real sbatch makes of them.
const COMMAND_LINES: &[&str] = &[
    "sbatch --wrap true",
    "sbatch -p main -A main -t 90 --time-min=30 --wrap true",
    "sbatch -p absent,main --qos=absent -J name --comment='two words' --wrap true",
    "sbatch -N2 --wrap true",
    "sbatch -N2-4 -n8 -c2 --wrap true",
    "sbatch -N4 -n2 --wrap true",
    "sbatch -N2 --ntasks-per-node=4 --wrap true",
    "sbatch -n7 --ntasks-per-node=2 --wrap true",
    "sbatch -n4 --mem-per-cpu=2G --tmp=10G --mincpus=2 --wrap true",
    "sbatch --mem=1536M --exclusive --wrap true",
    "sbatch --mem=0 --exclusive=user --no-requeue --wrap true",
    "sbatch --gres=gpu:v100:1 --wrap true",
    "sbatch --gres=gpu:2 -N2 --wrap true",
    "sbatch -G2 --cpus-per-gpu=2 --mem-per-gpu=1G --wrap true",
    "sbatch --gpus-per-node=v100:1 -N1 --wrap true",
    "sbatch --gpus-per-task=1 -n2 --wrap true",
    "sbatch -n2 --ntasks-per-gpu=1 --wrap true",
    "sbatch -a 0-9%2 -H --nice=50 --requeue --open-mode=append --wrap true",
    "sbatch -d singleton -C absent -L absent:2 --begin=2035-01-01 --deadline=2036-01-01 --wrap true",
    "sbatch -w n[1-2] -x n3 --contiguous -O -s --wrap true",
    "sbatch --mail-type=END,FAIL --mail-user=somebody --signal=B:USR1@120 --switches=1@10 --wrap true",
    "sbatch -t UNLIMITED -B 1:2:1 -N1 -m block:cyclic --profile=task --wckey=absent --wrap true",
    "sbatch --reservation=absent --spread-job --kill-on-invalid-dep=yes --wait-all-nodes=1 -k -S1 --wrap true",
    "sbatch -D /tmp -o out -e /tmp/err -i /dev/zero --network=x --acctg-freq=30 --wrap true",
];

/// Scripts with variables before `sbatch` and options behind it, held against the same.
const SCRIPTS: &[(&str, &str, &str)] = &[
    ("#!/bin/sh\n#SBATCH -p main -N2-4 # a note\n#SBATCH --comment='two # words' -J a\\#b\ntrue\n#SBATCH -n 9\n", "", "-t 20"),
    ("#!/bin/sh\n#SBATCH -p absent --exclusive --mem=1G\n", "SBATCH_PARTITION=main SBATCH_EXCLUSIVE=user SBATCH_MEM_PER_CPU=1G", ""),
    ("#!/bin/sh\n\n#SLURM -n 2\n #SBATCH -n 3\n#SBATCH-c 2\n", "SBATCH_TIMELIMIT=1:00:00 SBATCH_REQ_SWITCH=1 SBATCH_WAIT4SWITCH=5", "-c 1"),
    ("#!/bin/sh\n#SBATCH -N\n#SBATCH 3 --no-requeue\n#SBATCH --gres=gpu:1 -O\n", "SBATCH_GRES=gpu:v100:1 SBATCH_OVERCOMMIT=no", "-n3"),
    ("#!/bin/sh\n#SBATCH --comment \"\" -n 4\n#SBATCH --comment=\"it's \\\"so\\\"\"\n", "", ""),
];

/// What only the machine knows, or what the releases of Slurm do differently: what sbatch sends of
/// the environment, the numbers of sessions and groups, and how tasks are bound.
const NOT_COMPARED: &[Name] =
    &[Name::AllocNode, Name::AllocSid, Name::EnvSize, Name::GroupId, Name::SubmitLine, Name::SpankJobEnv, Name::TresBind, Name::Bitflags];

/// Refused or not, each command line is seen by the plugin, which records it.
fn what_rules_read_of_a_job_is_what_its_command_line_says(cluster: &Cluster, record: &Path) {
    let plugin = cluster.path("plugins/job_submit_queuecast.so");
    let new = plugin.with_extension("new");
    std::fs::copy(built().join("libjob_submit_panicking.so"), &new).unwrap();
    std::fs::rename(&new, &plugin).unwrap();
    cluster.reconfigure(&["--job-submit-plugin", "queuecast"]);
    let setting = Setting {
        now: UnixTime(end_to_end::now()),
        zone: jiff::tz::TimeZone::system(),
        user: UserId(0),
        directory: cluster.path("log").display().to_string(),
        environment: BTreeMap::new(),
    };
    let scripts = tempfile::tempdir().unwrap();
    let in_script = SCRIPTS.iter().enumerate().map(|(number, (text, variables, options))| {
        let path = scripts.path().join(format!("{number}.sh"));
        std::fs::write(&path, text).unwrap();
        format!("{variables} sbatch {options} {}", path.display())
    });
    let mut different = Vec::new();
    for line in COMMAND_LINES.iter().map(|line| (*line).to_owned()).chain(in_script) {
        let (variables, command) = line.split_at(line.find("sbatch").unwrap());
        let variables = variables.split_whitespace().filter_map(|variable| variable.split_once('='));
        let environment = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let setting = Setting { environment, ..setting.clone() };
        std::fs::write(record, "").unwrap();
        let sent = cluster.run("sh", &["-c", &line]);
        let recorded = std::fs::read_to_string(record).unwrap();
        assert!(!recorded.is_empty(), "{line} was not seen: {}", String::from_utf8_lossy(&sent.stderr));
        let seen: BTreeMap<&str, &str> = recorded.lines().filter_map(|line| line.split_once('=')).collect();
        let job = command_line::parse(command, &setting, |path| std::fs::read_to_string(path).ok())
            .unwrap_or_else(|error| panic!("{line}: {error}"));
        // What some releases count themselves, and others leave to slurmctld; what follows from it
        // is the same.
        let is_counted = |name: &Name| match name {
            Name::NumTasks | Name::MinNodes => line.contains("--ntasks-per-node"),
            Name::MinCpus => line.contains("--cpus-per-gpu"),
            _ => false,
        };
        let is_compared = |name: &Name| !NOT_COMPARED.contains(name) && !is_counted(name);
        for (field, name) in FIELDS.iter().zip(Name::ALL).filter(|(_, name)| is_compared(name)) {
            let read = job.field(FieldNumber::from(*name)).map(|value| value.to_string().escape_debug().to_string());
            let seen = seen.get(field.name).map(|value| (*value).to_owned());
            if comparable(*name, read.as_deref()) != comparable(*name, seen.as_deref()) {
                different.push(format!("{} of {line}: read as {read:?}, seen as {seen:?}", field.name));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// What is compared of a value.
fn comparable(name: Name, value: Option<&str>) -> Option<String> {
    let text = value?;
    // sbatch writes the prefix of its release, and since 23.11 the CPUs of a task as well.
    if matches!(name, Name::TresPerJob | Name::TresPerNode | Name::TresPerSocket | Name::TresPerTask | Name::CpusPerTres | Name::MemPerTres)
    {
        let generic: Vec<String> =
            resources::all(text).filter(|resource| resource.kind != "cpu").map(|resource| format!("{resource:?}")).collect();
        return (!generic.is_empty()).then(|| generic.join(","));
    }
    Some(text.to_owned())
}
