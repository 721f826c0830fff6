//! The site's own rules on a real cluster: what a submission or a modification comes to, as an
//! ordinary user, as an operator and as root, and that nothing lets them lapse.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests

use end_to_end::{Cluster, Job, Options, PATIENCE, Submitted, now};
use job_types::number::{JobId, UserId};
use job_types::time::{Seconds, UnixTime};
use rules_compiler::site_tables::{PartitionRow, SiteTables};
use rules_compiler::{Source, compile_with, in_force};
use site_rules::data::{OwnedValue, SiteData, SiteJob, SiteUser, encode};
use site_rules::field::{FieldNumber, Name};
use std::process::Output;

/// An ordinary user, and one who is an operator by what the plugin is told.
const USER: &str = "games";
const OPERATOR: &str = "man";

const RULES: &str = r#"
[rules]
help = "https://hpc.example.org/queuecast"

[[rule]]
name = "of-main"
when = 'job.?name.orValue("") == "not in main" && "main" in job.partitions'
reject = { code = "E_MAIN", message = "it may run in {job.partitions}" }

[[rule]]
name = "writes"
when = 'job.?name.orValue("") == "written"'
set = { environment = { QC_SITE = "a=b", QC_ASKED = "rule" }, mail_type = ["END"], spread_job = true }
clear = ["environment[QC_GONE]", "deadline"]

[[rule]]
name = "route"
when = '!has(job.partition)'
route = [{ partition = "short", when = 'has(job.time_limit) && job.time_limit <= limit("30")' }, { partition = "main" }]

[[rule]]
name = "limits"
default = { time_limit = "40" }
cap = { time_limit = "1:00:00" }
append = { features = "ssd" }
set = { comment = { cel = '"of " + user.?name.orValue("nobody known")' } }
warn = "jobs here have an hour at the most"

[[rule]]
name = "observed"
mode = "observe"
when = 'job.?name.orValue("") == "observed"'
set = { comment = "was observed" }
reject = "never"

[[rule]]
name = "nodes"
bypass = ["operators"]
when = 'has(job.min_nodes) && job.min_nodes > 4'

[rule.reject]
code = "E_NODES"
error = "ESLURM_INVALID_NODE_COUNT"
message = "{job.min_nodes} nodes are too many"

[[rule]]
name = "express"
when = 'job.?qos.orValue("") == "express" || job.?account.orValue("") == "special"'
reject = { code = "E_EXPRESS", message = '{job.?qos.orValue(job.?account.orValue("none"))} is closed' }

[[rule]]
name = "components"
when = 'job.is_batch && job.?name.orValue("") == "parts" && has(job.min_nodes) && job.min_nodes > 2'
reject = "E_COMPONENT"

[[rule]]
name = "fixed"
on = ["modify"]
bypass = ["operators"]
on_error = "pass"
when = 'has(job.comment) && has(current.time_limit)'
reject = "E_FIXED"

[[rule]]
name = "no-longer"
on = ["modify"]
bypass = ["operators"]
when = 'has(job.time_limit) && has(current.time_limit) && job.time_limit > current.time_limit'
reject = { code = "E_LONGER", message = "a time limit is not made longer", error = "ESLURM_INVALID_TIME_LIMIT" }

[[rule]]
name = "at-most"
on = ["modify"]
cap = { time_limit = "2:00:00" }
"#;

/// Rules that ask for the job as it is, and one that always says something.
const OF_CURRENT: &str = r#"
[[rule]]
name = "only-lower"
on = ["modify"]
when = 'has(job.time_limit) && job.time_limit > current.?time_limit.orValue(limit("0"))'
reject = { message = "longer", error = "ESLURM_INVALID_TIME_LIMIT" }

[[rule]]
name = "gpu"
on = ["modify"]
when = 'job.?partition.orValue("") == "gpu" && job.gpus == 0 && current.gpus == 0'
reject = { message = "without GPUs", error = "ESLURM_INVALID_GRES" }

[[rule]]
name = "told"
warn = "said by the rule told"

[[rule]]
name = "too-large"
when = 'job.?min_nodes.orValue(0) > 4'
reject = "too many nodes"
"#;

fn put_rules(cluster: &Cluster, rules: &str) {
    let read_file = |_: &str| Err("there are no files".to_owned());
    let source = Source { name: "rules.toml".to_owned(), text: rules.to_owned(), is_configuration: false, read_file: &read_file };
    // As queuecastd reads it of slurmctld.
    let main = PartitionRow { is_default: true, ..PartitionRow::default() };
    let tables = SiteTables { partitions: [("main".to_owned(), main)].into(), ..SiteTables::default() };
    let compiled = compile_with(&[source], Some(&tables));
    let rules = compiled.rules.unwrap_or_else(|| panic!("{:?}", compiled.problems));
    in_force::put(&cluster.state_directory(), &rules).unwrap();
}

/// Puts a file into the state directory by a rename.
fn put(cluster: &Cluster, name: &str, bytes: &[u8]) {
    let path = cluster.state_directory().join(name);
    let new = path.with_extension("new");
    std::fs::write(&new, bytes).unwrap();
    std::fs::rename(new, path).unwrap();
}

/// What the daemon would tell of the users, and of a job that has a time limit.
fn put_data(cluster: &Cluster, job: &Job<'_>, minutes: i64) {
    let number = |user: &str| UserId(cluster.output("id", &["-u", user]).parse().unwrap());
    let limit = (FieldNumber::from(Name::TimeLimit), OwnedValue::Duration(Seconds(minutes * 60)));
    let data = SiteData {
        written_at: UnixTime(now()),
        operators: vec![number(OPERATOR)],
        users: vec![SiteUser { id: number(USER), name: USER.to_owned(), groups: Vec::new() }],
        jobs: vec![SiteJob { number: JobId(job.id.parse().unwrap()), task: None, read_at: UnixTime(now()), fields: vec![limit] }],
        ..SiteData::default()
    };
    put(cluster, "rules-data", &encode(&data).bytes);
}

/// Names, variables and components in each form in which Slurm takes them.
fn no_spelling_passes_a_rule(cluster: &Cluster, known: &Job<'_>) {
    // What Slurm compares without regard to case, and what it doesn't.
    let _ = cluster.output("sacctmgr", &["--immediate", "--quiet", "add", "qos", "gold"]);
    let gold = cluster.submit(&["-n1", "--qos=GOLD", "--hold"], "true").job();
    assert_eq!(gold.field("QOS"), "gold");
    for arguments in [["-n1", "--qos=express"], ["-n1", "--qos=EXPRESS"], ["-n1", "-ASpecial"]] {
        assert!(submit(cluster, USER, &arguments).refusal().contains("E_EXPRESS"), "{arguments:?}");
    }
    assert!(submit(cluster, USER, &["-n1", "-pSHORT"]).refusal().contains("nvalid partition"));
    let update = |name: &str, change: &str| {
        let arguments = ["update".to_owned(), format!("JobId={name}"), change.to_owned()];
        let output = cluster.prepare_for(USER, "scontrol").args(arguments).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (is_changed, said) = update(&known.id, "Comment=new");
    assert!(!is_changed && cluster.log("slurmctld").contains("is refused by the rule fixed: E_FIXED"), "{said}");
    // Each is the same job for slurmctld, which tells what is none.
    for name in [format!(" {}", known.id), format!("+{}", known.id), format!("0{}", known.id)] {
        let (is_changed, said) = update(&name, "Comment=new");
        assert!(!is_changed, "{name:?}: {said}");
    }
    let shown = cluster.output("scontrol", &["show", "job", &known.id]);
    assert!(!shown.contains("Comment=new"), "{shown}");

    // The longest that Slurm takes is judged, and what is longer is refused by Slurm.
    let long = |length: usize| submit(cluster, USER, &["-N5", &format!("--comment={}", "c".repeat(length))]).refusal();
    assert!(long(1024).contains("E_NODES"));
    let said = long(1025);
    assert!(!said.contains("E_NODES") && said.contains("athname"), "{said}");

    // A heterogeneous job's second component is of a batch job as well.
    let parts = |second: &str| submit(cluster, USER, &["-Jparts", "-N1", ":", "-Jparts", second]);
    assert!(parts("-N3").refusal().contains("E_COMPONENT"));
    parts("-N2").job().cancel();
}

/// Submits a held job.
fn submit<'c>(cluster: &'c Cluster, user: &str, arguments: &[&str]) -> Submitted<'c> {
    cluster.submit_for(user, &[&["--hold"], arguments].concat(), "true")
}

fn change(cluster: &Cluster, user: &str, job: &Job<'_>, limit: &str) -> Output {
    let arguments = ["update".to_owned(), format!("JobId={}", job.id), format!("TimeLimit={limit}")];
    cluster.prepare_for(user, "scontrol").args(arguments).output().unwrap()
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn the_sites_own_rules_hold_for_submissions_and_modifications_whatever_becomes_of_files() {
    let options = Options::with_plugins("")
        .option("partition", "main")
        .option("partition", "short MaxTime=60")
        .option("node-attributes", "Features=ssd,fast");
    let cluster = Cluster::up(&options);
    put_rules(&cluster, RULES);

    // What rules write.
    let short = submit(&cluster, USER, &["-n1", "-t10"]).job();
    assert!(short.said.contains("jobs here have an hour at the most"), "{}", short.said);
    assert_eq!([short.field("Partition"), short.field("TimeLimit"), short.field("Features")], ["short", "00:10:00", "ssd"]);
    let shown = cluster.output("scontrol", &["show", "job", &short.id]);
    assert!(shown.contains("Comment=of nobody known"), "{shown}");
    let job = submit(&cluster, USER, &["-n1", "-C", "fast"]).job();
    assert_eq!([job.field("Partition"), job.field("TimeLimit"), job.field("Features")], ["main", "00:40:00", "fast&ssd"]);
    let capped = submit(&cluster, USER, &["-n1", "-p", "main", "-t", "5:00:00"]).job();
    assert_eq!(capped.field("TimeLimit"), "01:00:00");
    let unlimited = submit(&cluster, USER, &["-n1", "-p", "main", "-t", "UNLIMITED"]).job();
    assert_eq!(unlimited.field("TimeLimit"), "01:00:00");

    // All partitions that a job may run in: those of a list, and the default one where none is
    // named.
    let in_main = |arguments: &[&str]| submit(&cluster, USER, &[&["-n1", "-Jnot in main"], arguments].concat());
    assert!(in_main(&[]).refusal().contains("E_MAIN: it may run in main (see"));
    assert!(in_main(&["-p", "short,main"]).refusal().contains("E_MAIN: it may run in short, main (see"));
    assert_eq!(in_main(&["-p", "short"]).job().field("Partition"), "short");

    // Fields in bits and lists, and variables of the environment, as the job gets them.
    let variables = [("QC_ASKED", "user"), ("QC_GONE", "user"), ("QC_KEPT", "user")];
    let script = "echo \"$QC_SITE $QC_ASKED ${QC_GONE-gone} $QC_KEPT\"";
    let written = cluster.submit_as(Some(&variables), &["-n1", "-t5", "-Jwritten", "--deadline=now+1day"], script).job();
    assert_eq!(written.end(PATIENCE), "COMPLETED");
    assert_eq!(written.printed().trim(), "a=b rule gone user");
    assert_eq!(written.field("Deadline"), "N/A");

    // What they refuse, and to whom.
    let refused = || {
        let said = submit(&cluster, USER, &["-N5"]).refusal();
        assert!(said.contains("sbatch: error: E_NODES: 5 nodes are too many (see https://hpc.example.org/queuecast#E_NODES)"), "{said}");
        assert!(said.contains("Node count specification invalid"), "{said}");
    };
    refused();
    assert!(submit(&cluster, OPERATOR, &["-N5"]).refusal().contains("E_NODES"), "nobody is known to be an operator");
    put_data(&cluster, &job, 40);
    let of_operator = submit(&cluster, OPERATOR, &["-N5"]).job();
    let of_root = cluster.submit(&["-N5", "--hold"], "true").job();
    assert_eq!([of_operator.field("NumNodes"), of_root.field("NumNodes")], ["5-5", "5-5"]);
    refused();
    let known = submit(&cluster, USER, &["-n1"]).job();
    let shown = cluster.output("scontrol", &["show", "job", &known.id]);
    assert!(shown.contains(&format!("Comment=of {USER}")), "{shown}");

    // Modifications, beside the job as it is.
    let longer = change(&cluster, USER, &job, "50");
    let said = String::from_utf8_lossy(&longer.stderr) + String::from_utf8_lossy(&longer.stdout);
    // Not all releases hand the message itself on.
    assert!(!longer.status.success() && said.contains("Requested time limit is invalid"), "{said}");
    assert!(cluster.log("slurmctld").contains("is refused by the rule no-longer: E_LONGER: a time limit is not made longer"), "{said}");
    assert_eq!(job.field("TimeLimit"), "00:40:00");
    assert!(change(&cluster, USER, &job, "30").status.success());
    assert_eq!(job.field("TimeLimit"), "00:30:00");
    assert!(change(&cluster, "root", &job, "5:00:00").status.success());
    assert_eq!(job.field("TimeLimit"), "02:00:00");
    no_spelling_passes_a_rule(&cluster, &job);

    // Only observed, and switched off by the switch of rules alone.
    let observed = submit(&cluster, USER, &["-n1", "-J", "observed"]).job();
    let shown = cluster.output("scontrol", &["show", "job", &observed.id]);
    assert!(shown.contains(&format!("Comment=of {USER}")), "{shown}");
    let log = cluster.log("slurmctld");
    assert!(log.contains("job_submit/queuecast: rule observed is observed;") && log.contains("written comment: was observed"), "{log}");
    put(&cluster, "off", b"");
    refused();
    put(&cluster, "rules-off", b"");
    assert_eq!(submit(&cluster, USER, &["-N5"]).job().field("NumNodes"), "5-5");
    std::fs::remove_file(cluster.state_directory().join("rules-off")).unwrap();
    refused();

    // Neither a damaged file nor a broken configuration lets them lapse, and no restart does.
    put(&cluster, "rules", b"damaged");
    refused();
    cluster.configure("[policy\n");
    cluster.daemon("restart", "slurmctld");
    refused();
    let log = cluster.log("slurmctld");
    assert!(log.contains("the new rules are not used, and those before stay in force"), "{log}");
    assert!(log.contains("the rules are not used, and those that were in force last are"), "{log}");
    assert!(log.contains("jobs are left as they are, but for the site's own rules:"), "{log}");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn quick_changes_pass_no_rule_and_refusals_are_in_the_log_and_what_sbatch_repeats_is_told_twice_at_most() {
    let options = Options::with_plugins("")
        .option("partition", "main")
        .option("partition", "gpu")
        .option("gpu-nodes", "2")
        .option("conf-line", "MaxJobCount=4");
    let cluster = Cluster::up(&options);
    // What the daemon had read before there was any job.
    let read_at = UnixTime(now());
    put(&cluster, "rules-data", &encode(&SiteData { written_at: read_at, counted_before: read_at, ..SiteData::default() }).bytes);
    put_rules(&cluster, OF_CURRENT);

    // Right after the submission, which no daemon has read.
    let job = submit(&cluster, USER, &["-N1", "-t60", "-p", "main", "--gres=gpu:2"]).job();
    let update = |change: &str| {
        let output = cluster.prepare_for(USER, "scontrol").args(["update", &format!("JobId={}", job.id), change]).output().unwrap();
        (output.status.success(), (String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout)).into_owned())
    };
    let is_refused = |change: &str, why: &str| {
        let (is_changed, said) = update(change);
        assert!(!is_changed && said.contains(why), "{change}: {said}");
    };
    let (is_changed, said) = update("TimeLimit=10");
    assert!(is_changed, "{said}");
    is_refused("TimeLimit=60", "Requested time limit is invalid");
    assert_eq!(job.field("TimeLimit"), "00:10:00");
    let (is_changed, said) = update("Gres=gpu:0");
    assert!(is_changed, "{said}");
    is_refused("Partition=gpu", "Invalid generic resource");
    assert_eq!(job.field("Partition"), "main");
    let of_root = cluster.submit(&["--hold", "-N1", "-p", "main"], "true").job();

    // What is refused is in the log, with whose it was.
    let refusal = submit(&cluster, USER, &["-N5", "-p", "main"]).refusal();
    assert!(refusal.contains("too many nodes"), "{refusal}");
    let number = cluster.output("id", &["-u", USER]);
    let line = format!("job_submit/queuecast: a submission by user {number} is refused by the rule too-large: too many nodes");
    assert!(cluster.log("slurmctld").contains(&line), "{line}");

    // The third job fills the table of jobs; what sbatch repeats by itself is told
    // once, and once more as it could be another job.
    let third = submit(&cluster, USER, &["-N1", "-p", "main"]).job();
    let repeated =
        cluster.prepare_for(USER, "timeout").args(["9", "sbatch", "--hold", "-N1", "-p", "main", "--wrap", "true"]).output().unwrap();
    let said = String::from_utf8_lossy(&repeated.stderr).into_owned();
    let told = said.matches("said by the rule told").count();
    // The sbatch of 26.05 does not repeat it.
    if cluster.output("sbatch", &["--version"]).contains(" 26.") {
        assert_eq!(told, 1, "{said}");
    } else {
        let repetitions = cluster.log("slurmctld").matches("MaxJobCount").count();
        assert!(said.contains("sleeping and retrying") && repetitions >= 3, "{repetitions}: {said}");
        assert!((1..=2).contains(&told), "told {told} times in {repetitions} attempts: {said}");
    }
    [job, of_root, third].iter().for_each(Job::cancel);
}
