//! Jobs set their own share of a node's CPUs, on a real cluster.
//!
//! In most tests slurmctld runs a job_submit.lua that takes a record for the job's `admin_comment`
//! from its comment, and leaves the variable for the node, as the submit filter does of a job that
//! it has admitted; in the last all parts are those that are installed. A forged variable is left
//! by the same script: the client's plugin removes what users have in their environment, and with
//! `--export=ALL,NAME=VALUE` Slurm 26.05 refuses to start jobs of users who have no login shell.

#![allow(clippy::expect_used, clippy::panic)] // helpers of tests

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;

use end_to_end::{Cluster, Job, Options, PATIENCE, QUICK, built, now, wait_for};
use predictor_core::decisions::site::Site;

const SOON: Duration = Duration::from_secs(90);

/// The seconds until jobs that are submitted now all run with their shares, also on a machine that
/// is busy.
const UNTIL_ALL_RUN_S: i64 = 30;

/// How long what they have of a CPU is measured.
const MEASURED_S: i64 = 15;

/// The `cpu.shares` that the kernel gives to a cgroup.
const OF_A_NEW_CGROUP: i64 = 1_024;

const JOB_SUBMIT: &str = r#"
function slurm_job_submit(job_desc, part_list, submit_uid)
   local comment = job_desc.comment or ""
   if string.find(comment, "queuecast", 1, true) then
      job_desc.admin_comment = comment
   end
   if string.find(comment, "version", 1, true) then
      job_desc.environment["QUEUECAST_SHARE"] = "1"
   end
   return slurm.SUCCESS
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
   return slurm.SUCCESS
end
"#;

/// The numbers of the jobs of one of the clusters that run at once on this machine begin here. All
/// of them have their cgroups and files in the same directories, by the numbers of the jobs.
fn first_job(cluster: u32) -> String {
    format!("FirstJobId={}", 10_000 * cluster + 1)
}

/// A node of one CPU that two jobs share, on the cluster of that number.
fn cluster(number: u32, argument: &str) -> Cluster {
    let script = tempfile::Builder::new().suffix(".lua").tempfile().expect("a script");
    fs::write(script.path(), JOB_SUBMIT).expect("a script");
    let plugin = built().join("libspank_queuecast.so");
    let options = Options::plain()
        .option("nodes", "1")
        .option("cpus", "1")
        .option("conf-line", &first_job(number))
        .option("partition", "shared OverSubscribe=FORCE:2")
        .option("job-submit-plugin", "lua")
        .option("lua-script", &script.path().display().to_string())
        .option("plugstack-line", &format!("optional {} {argument}", plugin.display()));
    Cluster::up(&options)
}

/// Submits a job that is admitted with a deadline in 2,000 s and is expected to run so long, as an
/// ordinary user.
fn admitted<'a>(cluster: &'a Cluster, expected_s: i64, arguments: &[&str], command_line: &str) -> Job<'a> {
    admitted_by(cluster, ("games", &[]), expected_s, arguments, command_line)
}

/// Submits a job like `admitted`, as this user with these variables in the environment.
fn admitted_by<'a>(
    cluster: &'a Cluster,
    (user, variables): (&str, &[(&str, &str)]),
    expected_s: i64,
    arguments: &[&str],
    command_line: &str,
) -> Job<'a> {
    let (at, deadline) = (now(), now() + 2_000);
    let record = format!(
        r#"{{"queuecast":{{"version":1,"generation":1,"at":{at},"mode":"enforce","asked":{{"nodes":1,"cpus":1}},"written":{{"own_limit_s":{expected_s},"admitted_by":"libra","deadline":{deadline}}}}}}}"#
    );
    let arguments = [&["-t40", "-n1", "--comment", &record], arguments].concat();
    cluster.submit_for_with(user, variables, &arguments, command_line).job()
}

/// Keeps the first processor busy from a moment on while shares are measured, prints the ticks that
/// it had of it, and then runs `last`.
fn busy(from: i64, last: &str) -> String {
    busy_on(0, from, last)
}

/// Keeps a processor busy, as `busy` does with the first one.
fn busy_on(processor: usize, from: i64, last: &str) -> String {
    let until = from + MEASURED_S;
    let ticks = "stat=($(</proc/$$/stat)); echo $((stat[13] + stat[14]))";
    let script =
        format!("while ((EPOCHSECONDS < {from})); do :; done; {ticks}; while ((EPOCHSECONDS < {until})); do :; done; {ticks}; {last}");
    format!("exec taskset -c {processor} bash -c '{script}'")
}

/// How many ticks it had.
fn ticks(job: &Job<'_>) -> f64 {
    let printed = job.printed();
    let numbers: Vec<f64> = printed.lines().filter_map(|line| line.parse().ok()).collect();
    assert_eq!(numbers.len(), 2, "{printed}");
    numbers[1] - numbers[0]
}

/// Two jobs of which one needs as many of the 2,000 s until its deadline as `expected_s` says and
/// the other half of that: returns the proportion of what they had of that processor while it was
/// measured, and what the first said.
fn two_to_one(cluster: &Cluster, processor: usize, expected_s: i64) -> (f64, String) {
    let begin = now() + UNTIL_ALL_RUN_S;
    let [more, less] =
        [expected_s, expected_s / 2].map(|expected_s| admitted(cluster, expected_s, &[], &busy_on(processor, begin, "exit")));
    for job in [&more, &less] {
        assert_eq!(job.end(PATIENCE), "COMPLETED", "{}", job.printed());
    }
    let (had, other) = (ticks(&more), ticks(&less));
    println!("{had} and {other} ticks, {:.3} to 1", had / other);
    (had / other, more.printed())
}

/// The cgroups of our own of a job, by the kernel's controller `cpu` of version 1.
fn cgroups(job: &Job<'_>) -> Vec<PathBuf> {
    let prefix = format!("queuecast_{}_0_{}", job.id, start(job));
    let entries = fs::read_dir("/sys/fs/cgroup/cpu").into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    entries.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy() == prefix)).collect()
}

/// A job's cgroup with its `cpu.shares`, once they are set: between the two there is a moment in
/// which the cgroup weighs what the kernel gives to each new one.
fn cgroup_with_share(job: &Job<'_>) -> (PathBuf, i64) {
    wait_for("a cgroup whose share is set", SOON, || {
        let group = cgroups(job).pop()?;
        let shares = fs::read_to_string(group.join("cpu.shares")).ok()?.trim().parse().ok()?;
        (shares != OF_A_NEW_CGROUP).then_some((group, shares))
    })
}

/// When the job began, in Unix seconds.
fn start(job: &Job<'_>) -> i64 {
    let time: jiff::civil::DateTime = job.field("StartTime").parse().expect("it has begun");
    time.to_zoned(jiff::tz::TimeZone::system()).expect("a moment").timestamp().as_second()
}

/// Whether this machine has the controller where an own cgroup can be made; says so where not.
fn has_version_1() -> bool {
    let has = Path::new("/sys/fs/cgroup/cpu/cpu.shares").exists() || Path::new("/sys/fs/cgroup/cpu/tasks").exists();
    if !has {
        println!("left out: this machine does not mount the controller cpu of version 1");
    }
    has
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn two_busy_jobs_on_one_processor_get_it_in_the_proportion_of_their_shares() {
    if !has_version_1() {
        return;
    }
    let cluster = cluster(1, "");
    let (proportion, said) = two_to_one(&cluster, 0, 1_000);
    assert!((1.8..=2.2).contains(&proportion), "{proportion}");
    assert!(!said.contains("queuecast"), "{said}");
    it_ends_with_the_step(&cluster);
    a_forged_variable_gives_nothing(&cluster);
    steps_and_suspension(&cluster);
    a_launch_that_takes_long(&cluster);
    a_hostile_neighbour(&cluster);
    a_delegated_tree(&cluster);
    slurmctld_may_be_away(&cluster);
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn without_cgroups_it_is_nice_and_the_job_is_told() {
    let cluster = cluster(2, "share_by=nice");
    // Beside the weights of the other tests' jobs on the first processor there would be few ticks,
    // and with less than a whole CPU few as well beside whatever the machine does.
    let last = std::thread::available_parallelism().map_or(0, |processors| processors.get() - 1);
    let (proportion, said) = two_to_one(&cluster, last, 2_000);
    assert!((1.8..=2.2).contains(&proportion), "{proportion}");
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("the share of the job's CPUs is set by nice")).collect();
    assert_eq!(lines.len(), 1, "{said}");
}

/// A job that is cancelled, or requeued, leaves no cgroup behind, and a requeued one gets a new
/// one.
fn it_ends_with_the_step(cluster: &Cluster) {
    let job = admitted(cluster, 1_000, &["--requeue"], "exec sleep 300");
    let _ = job.wait(&["RUNNING"], SOON);
    let (first, shares) = cgroup_with_share(&job);
    assert!((4_900..=5_300).contains(&shares), "{shares}");
    // The name tells the two runs apart by the second in which they began.
    let began = start(&job);
    wait_for("the next second", SOON, || (now() > began + 1).then_some(()));
    let _ = cluster.output("scontrol", &["requeue", &job.id]);
    wait_for("the cgroup to be removed", SOON, || (!first.exists()).then_some(()));
    // slurmd launches nothing of a job with a credential of the second in which it killed the job.
    let killed = now();
    wait_for("the next second", SOON, || (now() > killed + 1).then_some(()));
    // slurmctld puts a requeued job off, and takes no other begin before the job is pending again.
    wait_for("the job to run again", Duration::from_secs(180), || {
        let _ = cluster.run("scontrol", &["update", &format!("JobId={}", job.id), "StartTime=now"]);
        (job.field("JobState") == "RUNNING").then_some(())
    });
    let second = wait_for("another cgroup", SOON, || cgroups(&job).pop());
    assert_ne!(first, second);
    job.cancel();
    assert_eq!(job.end(SOON), "CANCELLED");
    wait_for("the second to be removed", SOON, || (!second.exists()).then_some(()));
}

/// A job whose user sets the variable, and writes a record where users may, has neither cgroup nor
/// nice.
fn a_forged_variable_gives_nothing(cluster: &Cluster) {
    let record = r#"--comment={"queue-cast":{"version":1,"mode":"enforce","written":{"admitted_by":"libra","deadline":9999999999}}}"#;
    let tells = "sleep 4; echo $QUEUECAST_SHARE; nice; grep :cpu: /proc/self/cgroup";
    let job = cluster.submit_for("games", &["-t2", "-n1", record], tells).job();
    assert_eq!(job.end(SOON), "COMPLETED");
    let printed = job.printed();
    let own_nice = cluster.output("nice", &[]);
    let lines: Vec<&str> = printed.lines().take(2).collect();
    assert_eq!(lines, ["1", own_nice.as_str()], "{printed}");
    assert!(!printed.contains("queuecast"), "{printed}");
}

/// The steps of a job are in the cgroup of their job; while it is suspended nothing is done of it.
fn steps_and_suspension(cluster: &Cluster) {
    // The step begins before it is moved into the cgroup, which it tells once it is there.
    let tells = r#"srun sh -c 'until grep ":cpu:.*queuecast_" /proc/self/cgroup; do sleep 0.2; done; sleep 1000'"#;
    let job = admitted(cluster, 1_000, &[], tells);
    let _ = job.wait(&["RUNNING"], SOON);
    let name = format!("queuecast_{}_0_{}", job.id, start(&job));
    wait_for("the step to tell that it is in its job's cgroup", SOON, || job.printed().contains(&format!("/{name}")).then_some(()));
    let file = Path::new("/run/queuecast").join(name);
    let done = || fs::read_to_string(&file).ok()?.trim().parse::<f64>().ok();
    wait_for("work to be noted", SOON, done);
    // What is done once it was noted so many times more, which is every five seconds.
    let done_after = |times: u32| {
        let written = || fs::metadata(&file).and_then(|file| file.modified()).ok();
        for _ in 0..times {
            let before = written();
            wait_for("work to be noted again", SOON, || (written() != before).then_some(()));
        }
        done().expect("it was noted before")
    };
    let _ = cluster.output("scontrol", &["suspend", &job.id]);
    // slurmd stops the processes some time after slurmctld has answered, and what they have done
    // until then counts.
    let before = done_after(3);
    let suspended = done_after(2) - before;
    assert!(suspended < 0.5, "{suspended} s were done while the job was suspended");
    let _ = cluster.output("scontrol", &["resume", &job.id]);
    let resumed = done_after(3) - before;
    assert!(resumed > 4.0, "only {resumed} s were done after the job was resumed");
    job.cancel();
    let _ = job.end(SOON);
}

/// A job whose slurmctld goes away keeps its share, and its step ends at once.
fn slurmctld_may_be_away(cluster: &Cluster) {
    // It goes on for longer than it takes to renew the share.
    let command_line = "until [ -e away ]; do sleep 0.2; done; sleep 6; touch ended-while-away; grep :cpu: /proc/self/cgroup";
    let job = admitted(cluster, 1_000, &[], command_line);
    let _ = job.wait(&["RUNNING"], SOON);
    let _ = cgroup_with_share(&job);
    cluster.daemon("stop", "slurmctld");
    fs::write(cluster.path("jobs/away"), "").expect("the directory is ours");
    wait_for("the script to end", SOON, || cluster.path("jobs/ended-while-away").exists().then_some(()));
    wait_for("what it printed", SOON, || job.printed().contains("/queuecast_").then_some(()));
    cluster.daemon("start", "slurmctld");
    assert_eq!(job.end(PATIENCE), "COMPLETED");
}

/// The file with what is done of a job, which stays for an hour after its end.
fn noted(job: &Job<'_>) -> PathBuf {
    Path::new("/run/queuecast").join(format!("queuecast_{}_0_{}", job.id, start(job)))
}

/// How often slurmctld was asked about one job, as it counts (sdiag(1)).
fn requests_about_a_job(cluster: &Cluster) -> i64 {
    let counts = cluster.output("sdiag", &[]);
    let line = counts.lines().find(|line| line.trim_start().starts_with("REQUEST_JOB_INFO_SINGLE"));
    line.map_or(0, |line| number_behind(line, "count:"))
}

/// While the tasks of a step are not forked, which takes until somebody reads what the job prints
/// into, nothing asks slurmctld; then the job has its share.
fn a_launch_that_takes_long(cluster: &Cluster) {
    const LAUNCH_S: i64 = 10;
    let fifo = cluster.path("jobs/fifo");
    let _ = cluster.output("mkfifo", &["-m", "666", &fifo.display().to_string()]);
    let job = admitted(cluster, 1_000, &["-o", "fifo"], "exec sleep 300");
    let _ = job.wait(&["RUNNING"], SOON);
    let begin = start(&job);
    let asked = requests_about_a_job(cluster);
    wait_for("ten seconds of the launch", SOON, || (now() > begin + LAUNCH_S).then_some(()));
    assert_eq!(requests_about_a_job(cluster), asked, "a step asked before its tasks were forked");
    assert!(cgroups(&job).is_empty());
    let reader = std::thread::spawn(move || fs::read_to_string(fifo));
    let (_, shares) = cgroup_with_share(&job);
    assert!((4_900..=5_300).contains(&shares), "{shares}");
    job.cancel();
    assert_eq!(job.end(SOON), "CANCELLED");
    // It ends with the last who has the FIFO open.
    reader.join().expect("it reads").expect("text");
}

/// A neighbour on the node, admitted as well, that runs 16 processes on one CPU under a umask of 0
/// and tries what a user could do to root's files.
fn a_hostile_neighbour(cluster: &Cluster) {
    let begin = now() + UNTIL_ALL_RUN_S;
    let until = begin + MEASURED_S;
    let victim = admitted(cluster, 1_000, &[], &busy(begin, "exit"));
    let _ = victim.wait(&["RUNNING"], SOON);
    let _ = cgroup_with_share(&victim);
    let (file, directory) = (noted(&victim), "/run/queuecast");
    let file = file.display();
    let tries = format!(
        "echo umask $(umask), mode $(stat -c %a {directory}); for word in ls \"ln -s /etc/passwd\" mkfifo touch; do $word {directory}/planted && echo done: $word; done; \
         flock --shared --nonblock {file} true && echo done: lock; renice -n -5 $$ && echo done: renice"
    );
    let ticks_of_children = "wait; stat=($(</proc/$$/stat)); echo $((stat[15] + stat[16]))";
    let busy_ones = |until: i64| format!("for one in {{1..16}}; do (while ((EPOCHSECONDS < {until})); do :; done) & done; wait");
    // What the processes have had before the others are measured is printed first.
    let script = format!("{tries}; {}; {ticks_of_children}; {}; {ticks_of_children}", busy_ones(begin), busy_ones(until));
    let path = cluster.path("jobs/hostile.sh");
    fs::write(&path, format!("#!/bin/bash\ntaskset -pc 0 $$ >/dev/null\n{script}\n")).expect("the directory is ours");
    let hostile = admitted_by(cluster, ("news", &[("SLURM_UMASK", "0000")]), 500, &[], "exec bash hostile.sh");
    for job in [&victim, &hostile] {
        assert_eq!(job.end(PATIENCE), "COMPLETED", "{}", job.printed());
    }
    let printed = hostile.printed();
    assert!(printed.starts_with("umask 0000, mode 700\n") && !printed.contains("done: "), "{printed}");
    for job in [&victim, &hostile] {
        let mode = fs::metadata(noted(job)).expect("what is done of it").permissions().mode();
        assert_eq!(mode & 0o7777, 0o600);
    }
    // By their shares the two have the CPU two to one, however many processes there are.
    let (had, other) = (ticks(&victim), ticks(&hostile));
    println!("{had} ticks beside {other} of 16 processes");
    assert!((1.8..=2.2).contains(&(had / other)), "{had} and {other}");
    // It is taken to have done what its processes have run, and not a sixteenth of that.
    let ticks_of_all: f64 = printed.lines().last().and_then(|ticks| ticks.parse().ok()).expect("ticks");
    let done: f64 = fs::read_to_string(noted(&hostile)).expect("what is done").trim().parse().expect("a number");
    println!("{done} s are noted as done, and {ticks_of_all} ticks were used");
    assert!(done > 0.6 * ticks_of_all / 100.0, "{done} s are noted as done, and {ticks_of_all} ticks were used");
}

/// slurmd runs in a tree that is delegated to the job's user: the job's cgroup is made there, a
/// user who leaves it is brought back, and it is removed in the end.
fn a_delegated_tree(cluster: &Cluster) {
    let top = Path::new("/sys/fs/cgroup/cpu");
    let delegated = top.join(format!("queuecast-delegated-{}", std::process::id()));
    let own = delegated.join("own");
    let slurmd = fs::read_to_string(cluster.path("run/n1.process")).expect("the process of slurmd");
    let slurmd = slurmd.split(' ').next().expect("its number");
    let games: u32 = cluster.output("id", &["-u", "games"]).parse().expect("a number");
    for directory in [&delegated, &own] {
        fs::create_dir(directory).expect("a cgroup");
        for name in ["", "cgroup.procs", "tasks"] {
            chown(directory.join(name), Some(games), None).expect("it is ours");
        }
    }
    fs::write(delegated.join("cgroup.procs"), slurmd).expect("slurmd moves");
    let leaves = "until grep \":cpu:.*queuecast_\" /proc/self/cgroup; do sleep 0.2; done; \
                  echo $$ >OWN/cgroup.procs && grep :cpu: /proc/self/cgroup && \
                  until grep \":cpu:.*queuecast_\" /proc/self/cgroup; do sleep 0.2; done; echo is back; exec sleep 300";
    let job = admitted(cluster, 1_000, &[], &leaves.replace("OWN", &own.display().to_string()));
    let _ = job.wait(&["RUNNING"], SOON);
    let group = delegated.join(format!("queuecast_{}_0_{}", job.id, start(&job)));
    wait_for("the job to be brought back", SOON, || job.printed().contains("is back").then_some(()));
    assert!(job.printed().contains("/own\n"), "{}", job.printed());
    let shares: i64 = fs::read_to_string(group.join("cpu.shares")).expect("its cgroup").trim().parse().expect("a number");
    assert!((4_900..=5_300).contains(&shares), "{shares}");
    assert!(cgroups(&job).is_empty(), "a cgroup was made outside of the tree");
    job.cancel();
    assert_eq!(job.end(SOON), "CANCELLED");
    wait_for("its cgroup to be removed", SOON, || (!group.exists()).then_some(()));
    fs::write(top.join("cgroup.procs"), slurmd).expect("slurmd moves back");
    for directory in [&own, &delegated] {
        wait_for("the tree to be empty", SOON, || fs::remove_dir(directory).ok());
    }
}

/// The first whole number in a text behind a mark.
fn number_behind(text: &str, mark: &str) -> i64 {
    let rest = text.split(mark).nth(1).unwrap_or_else(|| panic!("no {mark:?} in {text}"));
    rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().expect("a number")
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn jobs_are_admitted_to_the_nodes_that_libra_chooses_share_them_and_the_next_is_refused() {
    let policy = "[policy]\nmode = \"enforce\"\nadmission = \"libra\"\n[policy.partition.forecast]\nadmission = \"probability\"\n";
    let options = Options::with_plugins(&format!("{QUICK}{policy}"))
        .option("nodes", "2")
        .option("cpus", "1")
        .option("conf-line", &first_job(3))
        .option("partition", "shared OverSubscribe=FORCE:3")
        .option("partition", "forecast OverSubscribe=FORCE:3");
    let cluster = Cluster::up(&options);
    let _daemon = cluster.start_queuecastd();
    let knows = |jobs: usize| {
        cluster.snapshot_with("a snapshot of the nodes", |snapshot| {
            let nodes = snapshot.partition("shared").map(|partition| partition.shared_nodes).unwrap_or_default();
            nodes.len() == 2 && nodes.iter().filter_map(|node| node.load(1)).map(|load| load.jobs as usize).sum::<usize>() == jobs
        })
    };
    knows(0);
    let submit = |limit: &str, deadline: &str, command: &str| {
        cluster.submit_for("games", &["-n1", "-t", limit, &format!("--deadline=now+{deadline}minutes")], command)
    };
    let begin = now() + UNTIL_ALL_RUN_S;
    // They need 0.6, 0.3 and 0.3 of a CPU: the second fits best on the first's node, the third not.
    // They stay there until the others were submitted.
    let stays = busy(begin, "until [ -e submitted ]; do sleep 0.2; done");
    let jobs = ["12", "6", "6"].map(|limit| submit(limit, "20", &stays).job());
    for job in &jobs {
        // A second may have passed, so that it is in 19 min.
        assert!(job.said.contains("queuecast: admitted with the deadline in "), "{}", job.said);
        assert_eq!(job.wait(&["RUNNING"], SOON), "RUNNING");
        assert!(["00:19:00", "00:20:00"].contains(&job.field("TimeLimit").as_str()), "{}", job.field("TimeLimit"));
    }
    assert_eq!(jobs.each_ref().map(|job| job.field("NodeList")), ["n1", "n1", "n2"]);
    assert_eq!(jobs[0].field("Deadline"), "N/A", "Slurm would cancel by it on an estimate");
    // By slurmctld's queue as by what was admitted since it was read, 0.9 of a CPU is nowhere left.
    knows(3);
    let said = submit("18", "20", "true").refusal();
    assert!(said.contains("queuecast: not admitted: of the nodes that it needs, 1, only 0 have the share"), "{said}");
    let minutes = number_behind(&said, "--deadline=now+").to_string();
    let taken = submit("18", &minutes, "true").job();
    assert!(taken.said.contains("queuecast: admitted"), "{}", taken.said);
    assert_eq!(taken.end(PATIENCE), "COMPLETED");
    assert_eq!(taken.field("NodeList"), "n2");
    fs::write(cluster.path("jobs/submitted"), "").expect("the directory is ours");
    for job in &jobs {
        assert_eq!(job.end(PATIENCE), "COMPLETED", "{}", job.printed());
    }
    if has_version_1() {
        // All three are bound to one processor, of which the shares are 0.6, 0.3 and 0.3.
        let had = jobs.each_ref().map(ticks);
        println!("{had:?} ticks for shares of 0.6, 0.3 and 0.3");
        assert!((1.8..=2.2).contains(&(had[0] / had[1])) && (1.8..=2.2).contains(&(had[0] / had[2])), "{had:?}");
    }
    nodes_are_chosen_by_forecast_run_times(&cluster);
}

/// Checks a partition that admits by probability. The jobs of a user of whom nothing is known are
/// admitted to the nodes that need least, each step sets its share, and the daemon publishes what
/// is forecast to remain of them. A refused job is admitted with the deadline that was told.
fn nodes_are_chosen_by_forecast_run_times(cluster: &Cluster) {
    let submit = |limit: &str, deadline: &str, command: &str| {
        cluster.submit_for("games", &["-pforecast", "-n1", "-t", limit, &format!("--deadline=now+{deadline}minutes")], command)
    };
    let knows = |what: &str, jobs: u32| {
        cluster.snapshot_with(what, |snapshot| {
            let nodes = snapshot.partition("forecast").map(|partition| partition.shared_nodes).unwrap_or_default();
            let mut loads = nodes.iter().filter_map(|node| node.load(1));
            nodes.len() == 2 && loads.all(|load| load.jobs == jobs && (load.variance > 0.0) == (jobs > 0))
        })
    };
    knows("a snapshot of idle nodes", 0);
    let jobs = [(); 2].map(|()| submit("20", "60", "echo share $QUEUECAST_SHARE; exec sleep 600").job());
    for job in &jobs {
        let is_told = job.said.contains("queuecast: admitted: done by the deadline in ") && job.said.contains(" with probability ");
        assert!(is_told, "{}", job.said);
        assert_eq!(job.wait(&["RUNNING"], SOON), "RUNNING");
        assert!(["00:59:00", "01:00:00"].contains(&job.field("TimeLimit").as_str()), "{}", job.field("TimeLimit"));
        wait_for("what the job prints", SOON, || job.printed().contains("share 1").then_some(()));
        if has_version_1() {
            // By its estimate, the job needs a third of its CPU, and less by and by.
            let (_, shares) = cgroup_with_share(job);
            assert!((3_000..=3_600).contains(&shares), "{shares}");
        }
    }
    assert_eq!(jobs.each_ref().map(|job| job.field("NodeList")), ["n1", "n2"], "the second needs less");
    knows("a snapshot of what remains of both", 1);
    // An hour at the most, of which two minutes are not likely enough.
    let said = submit("60", "2", "true").refusal();
    assert!(said.contains("queuecast: not admitted: done by the deadline with probability"), "{said}");
    let minutes = number_behind(&said, "--deadline=now+").to_string();
    let taken = submit("60", &minutes, "true").job();
    assert!(taken.said.contains("queuecast: admitted"), "{}", taken.said);
    assert_eq!(taken.end(PATIENCE), "COMPLETED");
    for job in &jobs {
        job.cancel();
        assert_eq!(job.end(SOON), "CANCELLED");
    }
}
