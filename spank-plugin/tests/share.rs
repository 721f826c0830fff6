//! What share of a node's CPUs a job gets, and where it is set.
#![allow(clippy::unwrap_used, reason = "a test ends there")]

#[path = "../src/share/directory.rs"]
#[allow(dead_code, unreachable_pub)]
mod directory;
#[path = "../src/share/place.rs"]
#[allow(dead_code, unreachable_pub)]
mod place;
#[path = "../src/share/processes.rs"]
#[allow(dead_code, unreachable_pub)]
mod processes;
#[path = "../src/share/signal.rs"]
#[allow(dead_code, unreachable_pub)]
mod signal;
#[path = "../src/share/weight.rs"]
#[allow(dead_code, unreachable_pub)]
mod weight;
#[path = "../src/share/work.rs"]
#[allow(dead_code, unreachable_pub)]
mod work;

use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, SystemTime};

use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, fork, geteuid};
use place::Place;
use processes::{Process, Times, Usage, below, progress};
use proptest::prelude::*;
use signal::Signal;
use weight::{Weight, share};
use work::Work;

/// Version 1, each controller by itself but for `cpu` and `cpuacct`.
const MOUNTS_1: &str = "\
30 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
31 30 0:29 / /sys/fs/cgroup/freezer rw,relatime shared:3 - cgroup cgroup rw,freezer
32 30 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:4 master:1 - cgroup cgroup rw,cpu,cpuacct
41 30 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";

const MOUNTS_2: &str = "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

fn one_cpu(share: f64) -> Weight {
    Weight::of(Some(share), 1, 1)
}

#[test]
fn a_share_is_the_remaining_run_time_over_the_time_until_the_deadline() {
    assert_eq!(share(1_000.0, 0.0, 2_000.0), Some(0.5));
    assert_eq!(share(1_000.0, 400.0, 2_000.0), Some(0.3));
    // What its user's estimate would not fit into is all that there is.
    assert_eq!(share(1_000.0, 0.0, 500.0), Some(1.0));
}

#[test]
fn a_job_that_has_outlived_its_estimate_is_taken_to_have_a_tenth_of_it_left() {
    assert_eq!(share(1_000.0, 1_500.0, 400.0), Some(0.25));
    assert_eq!(share(1_000.0, 950.0, 400.0), Some(0.25));
}

#[test]
fn after_its_deadline_a_job_weighs_what_any_other_does() {
    for left in [0.0, -1.0, f64::NAN] {
        assert_eq!(share(1_000.0, 0.0, left), None);
    }
    for cpus in [1, 4] {
        let weight = Weight::of(None, cpus, 4);
        assert_eq!((weight.version_2(), weight.version_1(), weight.nice()), (100, 1_024, 0));
    }
}

#[test]
fn weights_are_in_the_proportion_of_the_shares() {
    assert_eq!((one_cpu(0.5).version_2(), one_cpu(0.25).version_2()), (500, 250));
    assert_eq!((one_cpu(0.5).version_1(), one_cpu(0.25).version_1()), (5_120, 2_560));
    // 1.25 to the power of 3 is 1.95.
    assert_eq!((one_cpu(0.5).nice(), one_cpu(0.25).nice()), (3, 6));
    assert_eq!((one_cpu(1.0).nice(), one_cpu(0.1).nice()), (0, 10), "a whole CPU is what a process weighs by itself");
    // 1.25 to the power of 20.6 is 100, which is more than there is.
    assert_eq!(one_cpu(0.01).nice(), 19);
}

#[test]
fn a_job_of_many_cpus_weighs_as_much_on_each_as_one_of_a_single_cpu() {
    let (one, sixteen) = (Weight::of(Some(0.5), 1, 64), Weight::of(Some(0.5), 16, 64));
    assert_eq!((one.version_2(), sixteen.version_2()), (78, 1_250));
    assert_eq!(one.nice(), sixteen.nice());
    assert_eq!(Weight::of(Some(1.0), 64, 64).version_2(), 10_000);
}

#[test]
fn in_slurms_cgroups_the_one_of_the_job_is_found() {
    let daemon = "0::/system.slice/slurmstepd.scope/job_7/step_0/slurm\n";
    let task = "0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_1\n";
    let job = PathBuf::from("/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7");
    assert_eq!(Place::find(MOUNTS_2, daemon, task, 7, "own"), Place::Version2(job));
    // The latest releases name the job by something else than its number.
    let daemon = "0::/system.slice/n1_slurmstepd.scope/s0A5B/step_batch/slurm\n";
    let task = "0::/system.slice/n1_slurmstepd.scope/s0A5B/step_batch/user/task_0\n";
    let job = PathBuf::from("/sys/fs/cgroup/system.slice/n1_slurmstepd.scope/s0A5B");
    assert_eq!(Place::find(MOUNTS_2, daemon, task, 7, "own"), Place::Version2(job));
    let task = "4:cpu,cpuacct:/slurm/uid_1000/job_7/step_0/task_0\n3:freezer:/slurm/uid_1000/job_7/step_0\n0::/\n";
    let user = PathBuf::from("/sys/fs/cgroup/cpu,cpuacct/slurm/uid_1000");
    assert_eq!(Place::find(MOUNTS_1, "4:cpu,cpuacct:/\n", task, 7, "own"), Place::Version1 { job: user.join("job_7"), user: Some(user) });
}

#[test]
fn where_slurm_makes_none_an_own_one_of_version_1_is_beside_slurmstepds_processes() {
    let daemon = "4:cpu,cpuacct:/system.slice/slurmd.service\n0::/system.slice/slurmd.service\n";
    let own = PathBuf::from("/sys/fs/cgroup/cpu,cpuacct/system.slice/slurmd.service/own");
    assert_eq!(Place::find(MOUNTS_1, daemon, daemon, 7, "own"), Place::Own(own.clone()));
    let moved = "4:cpu,cpuacct:/system.slice/slurmd.service/own\n0::/\n";
    assert_eq!(Place::find(MOUNTS_1, daemon, moved, 7, "own"), Place::Own(own));
    // Another job's, inside which this slurmd runs, is not this job's.
    let outer = "4:cpu,cpuacct:/slurm/uid_0/job_70/step_0\n";
    assert!(matches!(Place::find(MOUNTS_1, outer, outer, 7, "own"), Place::Own(_)));
}

#[test]
fn without_cgroups_of_slurms_or_of_version_1_it_is_nice() {
    let service = "0::/system.slice/slurmd.service\n";
    assert_eq!(Place::find(MOUNTS_2, service, service, 7, "own"), Place::Nice("Slurm makes no cgroups on this node"));
    for text in ["", "nonsense", "1 2 3 - cgroup2"] {
        assert!(matches!(Place::find(text, text, text, 7, "own"), Place::Nice(_)), "{text}");
    }
}

#[test]
fn a_user_to_whom_the_tree_is_delegated_can_not_give_a_cgroup_out_for_the_jobs() {
    let daemon = "0::/system.slice/slurmstepd.scope/job_7/step_0/slurm\n";
    let task = "0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_1/step_0/inside\n";
    let job = PathBuf::from("/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7");
    assert_eq!(Place::find(MOUNTS_2, daemon, task, 7, "own"), Place::Version2(job));
    // slurmd in a step of another Slurm's job, and in a container whose tree is delegated to it.
    let outer = "/system.slice/slurmstepd.scope/job_70/step_0/user/task_0";
    for above in [outer, "/user.slice/user-5.slice/slurmd"] {
        let daemon = format!("0::{above}/slurmstepd.scope/job_7/step_1/slurm\n");
        let task = format!("0::{above}/slurmstepd.scope/job_7/step_1/user/task_0\n");
        let job = PathBuf::from(format!("/sys/fs/cgroup{above}/slurmstepd.scope/job_7"));
        assert_eq!(Place::find(MOUNTS_2, &daemon, &task, 7, "own"), Place::Version2(job));
    }
}

/// A process that does nothing, in a cgroup of version 2.
struct Inside(Child);

impl Inside {
    fn of(cgroup: &Path) -> Inside {
        let process = Command::new("sleep").arg("1000").spawn().unwrap();
        fs::write(cgroup.join("cgroup.procs"), process.id().to_string()).unwrap();
        Inside(process)
    }

    fn cgroup(&self) -> String {
        fs::read_to_string(format!("/proc/{}/cgroup", self.0.id())).unwrap()
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

/// Directories that were made one below the other, and are removed in the end.
struct Tree(Vec<PathBuf>);

impl Tree {
    fn make(&mut self, directory: &Path) {
        fs::create_dir(directory).unwrap();
        self.0.push(directory.to_path_buf());
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        for directory in self.0.iter().rev() {
            let _ = fs::remove_dir(directory);
        }
    }
}

#[test]
fn in_a_delegated_tree_of_the_kernels_version_2_it_is_the_jobs_cgroup_or_an_error() {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let Some(mount) = mounts.lines().find(|line| line.contains(" - cgroup2 ")).filter(|_| geteuid().is_root()) else {
        println!("left out: not root, or this machine mounts no cgroups of version 2");
        return;
    };
    let delegated = Path::new(mount.split(' ').nth(4).unwrap()).join(format!("queuecast-test-{}", std::process::id()));
    let mut tree = Tree(Vec::new());
    let step = delegated.join("slurmstepd.scope/job_7/step_0");
    let (daemon, task) = (step.join("slurm"), step.join("user/task_0"));
    let directories: Vec<&Path> = task.ancestors().take_while(|directory| directory.starts_with(&delegated)).collect();
    directories.iter().rev().for_each(|directory| tree.make(directory));
    tree.make(&daemon);
    // The job's user has a tree of its own in which a cgroup is named as a step is.
    chown(&task, Some(65_534), None).unwrap();
    let own = task.join("step_0");
    tree.make(&own);
    let (daemon, task) = (Inside::of(&daemon), Inside::of(&own));
    let place = Place::find(mount, &daemon.cgroup(), &task.cgroup(), 7, "own");
    let job = delegated.join("slurmstepd.scope/job_7");
    assert_eq!(place, Place::Version2(job.clone()));
    let outcome = place.set(true, one_cpu(0.5), &[], &[]);
    let has_controller = fs::read_to_string(job.join("cgroup.controllers")).unwrap().split_whitespace().any(|name| name == "cpu");
    if has_controller {
        outcome.unwrap();
        assert_eq!(fs::read_to_string(job.join("cpu.weight")).unwrap().trim(), "500");
    } else {
        // The controller was not delegated, or belongs to version 1: the job is told, and has nice.
        assert!(outcome.is_err());
        println!("the controller cpu is not in this tree");
    }
}

#[test]
fn a_cgroup_outside_of_what_slurmstepd_sees_is_none() {
    let outside = "0::/../../step_0/user\n";
    assert!(matches!(Place::find(MOUNTS_2, "0::/\n", outside, 7, "own"), Place::Nice(_)));
    let outside = "4:cpu,cpuacct:/../job_7/step_0\n";
    assert!(matches!(Place::find(MOUNTS_1, "4:cpu,cpuacct:/\n", outside, 7, "own"), Place::Nice(_)));
}

#[test]
fn a_mount_of_a_part_of_the_hierarchy_is_followed() {
    let mounts = "32 30 0:30 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";
    let daemon = "1:cpu:/docker/abc/slurmd\n";
    assert_eq!(Place::find(mounts, daemon, daemon, 7, "own"), Place::Own(PathBuf::from("/sys/fs/cgroup/cpu/slurmd/own")));
}

#[test]
fn in_version_1_a_user_has_the_shares_of_all_of_the_users_jobs() {
    let directory = tempfile::tempdir().unwrap();
    let user = directory.path().join("uid_5");
    for (job, shares) in [("job_1", "1024"), ("job_2", "0")] {
        fs::create_dir_all(user.join(job)).unwrap();
        fs::write(user.join(job).join("cpu.shares"), shares).unwrap();
    }
    fs::write(user.join("cpu.shares"), "").unwrap();
    let place = Place::Version1 { job: user.join("job_2"), user: Some(user.clone()) };
    place.set(true, one_cpu(0.5), &[], &[]).unwrap();
    assert_eq!(fs::read_to_string(user.join("job_2/cpu.shares")).unwrap(), "5120");
    assert_eq!(fs::read_to_string(user.join("cpu.shares")).unwrap(), "6144");
}

#[test]
fn in_version_2_only_the_step_that_renews_writes_the_jobs_weight() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("cpu.weight");
    fs::write(&file, "").unwrap();
    let place = Place::Version2(directory.path().to_path_buf());
    place.set(false, one_cpu(0.5), &[], &[]).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "");
    place.set(true, one_cpu(0.5), &[], &[]).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "500");
}

#[test]
fn an_own_cgroup_that_another_user_has_made_is_not_used() {
    let directory = tempfile::tempdir().unwrap();
    let own = directory.path().join("queuecast_7_0_1");
    fs::create_dir(&own).unwrap();
    for name in ["cpu.shares", "cgroup.procs"] {
        fs::write(own.join(name), "").unwrap();
    }
    let place = Place::Own(own.clone());
    place.set(true, one_cpu(0.5), &[], &[]).unwrap();
    assert_eq!(fs::read_to_string(own.join("cpu.shares")).unwrap(), "5120");
    if geteuid().is_root() {
        chown(&own, Some(65_534), None).unwrap();
        assert!(place.set(true, one_cpu(0.1), &[], &[]).is_err());
        assert_eq!(fs::read_to_string(own.join("cpu.shares")).unwrap(), "5120");
    }
}

#[test]
fn a_cgroup_without_the_controller_asks_for_it_one_above_and_fails_where_it_is_not_given() {
    let directory = tempfile::tempdir().unwrap();
    let job = directory.path().join("job_1");
    fs::create_dir(&job).unwrap();
    assert!(Place::Version2(job.clone()).set(true, one_cpu(0.5), &[], &[]).is_err());
    assert_eq!(fs::read_to_string(directory.path().join("cgroup.subtree_control")).unwrap(), "+cpu");
    assert!(!job.join("cpu.weight").exists(), "a file of the kernel's is never made");
}

#[test]
fn a_processs_name_may_hold_anything() {
    let stat = "41 (a) R 1 (b) T) S 7 41 41 0 -1 4194304\n";
    assert_eq!(Process::parse(stat), Some(Process { id: 41, parent: 7, group: 41, is_stopped: false, ticks: 0 }));
    // The process's own ticks as user and in the kernel, 12 and 3, and those of children that it
    // waited for.
    let stat = "43 (sh) S 7 43 43 0 -1 4194304 300 200 10 20 12 3 400 50 20 0 1 0 9999 1000 200";
    assert_eq!(Process::parse(stat).unwrap().ticks, 465);
    assert!(Process::parse("42 (sh) T 41 42 42 0").unwrap().is_stopped);
    for text in ["", "42", "42 (sh", "42 (sh)", "x (sh) S 1 1"] {
        assert_eq!(Process::parse(text), None, "{text}");
    }
}

#[test]
fn the_processes_of_a_step_are_all_that_come_from_its_slurmstepd() {
    let process = |id, parent| Process { id, parent, group: id, is_stopped: false, ticks: 0 };
    // 5 is a grandchild with the smallest number; 1 and 7 come from elsewhere, and 8 is its own
    // parent, which no kernel says.
    let all = [process(5, 40), process(40, 30), process(41, 30), process(1, 0), process(7, 1), process(8, 8)];
    let mut found: Vec<u32> = below(30, &all).iter().map(|process| process.id).collect();
    found.sort_unstable();
    assert_eq!(found, [5, 40, 41]);
}

const SECOND: Duration = Duration::from_secs(1);

/// Threads that have each run and waited so many milliseconds, and as many in processes that have
/// ended.
fn usage(threads: &[(u64, u64)], ended_ms: u64) -> Usage {
    let milliseconds = 1_000_000;
    let times = |&(run, waited): &(u64, u64)| Times { run_ns: run * milliseconds, waited_ns: waited * milliseconds };
    let used_ms = ended_ms + threads.iter().map(|(run, _)| run).sum::<u64>();
    Usage { threads: (1..).zip(threads.iter().map(times)).collect(), used_ns: used_ms * milliseconds }
}

/// Which part of a second was progress in which threads have run and waited so.
fn progress_of(threads: &[(u64, u64)], ended_ms: u64, cpus: u32) -> f64 {
    progress(&Usage::default(), &usage(threads, ended_ms), SECOND, cpus).unwrap()
}

#[test]
fn what_waits_for_a_cpu_makes_no_progress() {
    let earlier = usage(&[(100, 50), (10, 10)], 0);
    let later = usage(&[(600, 550), (10, 10), (20, 20)], 0);
    assert_eq!(progress(&earlier, &later, SECOND, 1), Some(0.52), "it ran for 0.52 of the second");
    assert_eq!(progress(&later, &later, SECOND, 1), None, "nothing ran and nothing waited");
    // One thread of a job with four CPUs that lost half of its time to others.
    assert!((progress_of(&[(500, 500)], 0, 4) - 0.5).abs() < 1e-9);
}

#[test]
fn threads_of_a_job_that_wait_for_each_other_lose_it_nothing() {
    // Sixteen on one CPU and on four, that the job has to itself.
    assert!((progress_of(&[(62, 938); 16], 0, 1) - 0.992).abs() < 1e-9);
    assert!((progress_of(&[(250, 750); 16], 0, 4) - 1.0).abs() < 1e-9);
    // Of a CPU that others have for half of the time, half is lost.
    assert!((progress_of(&[(31, 969); 16], 0, 1) - 0.496).abs() < 1e-9);
    // A storm of ten threads in a hundredth of the second, of which the last waits longest.
    let storm: Vec<(u64, u64)> = (0..10).map(|before| (1, before)).collect();
    assert!((progress_of(&storm, 0, 1) - 1.0).abs() < 1e-9);
}

#[test]
fn what_ran_and_has_ended_meanwhile_has_run() {
    // One thread waits behind processes of its own job that end before anybody looks.
    assert!((progress_of(&[(100, 900)], 900, 1) - 1.0).abs() < 1e-9);
    assert!((progress_of(&[(100, 900)], 0, 1) - 0.1).abs() < 1e-9);
}

#[test]
fn this_process_is_seen_to_run() {
    let own = std::process::id();
    let seen = || Usage::of(&processes::all().into_iter().filter(|process| process.id == own).collect::<Vec<_>>());
    let before = seen();
    let run = |usage: &Usage| usage.threads.values().map(|times| times.run_ns).sum::<u64>();
    assert!(!before.threads.is_empty());
    let begin = std::time::Instant::now();
    loop {
        let after = seen();
        // A clock tick is a hundredth of a second.
        if run(&after) > run(&before) && after.used_ns > before.used_ns {
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{before:?} {after:?}");
    }
}

#[test]
#[allow(unsafe_code, reason = "a fork, as slurmstepd's")]
fn a_signal_given_in_another_process_ends_a_wait_of_any_length_and_only_that_does() {
    let signal = std::sync::Arc::new(Signal::new().unwrap());
    let (sender, receiver) = mpsc::channel();
    let for_thread = std::sync::Arc::clone(&signal);
    thread::spawn(move || sender.send(for_thread.wait().is_ok()));
    // Longer than the thread once waited.
    assert!(receiver.recv_timeout(Duration::from_secs(3)).is_err());
    // SAFETY: the child makes two system calls.
    match unsafe { fork() }.unwrap() {
        ForkResult::Child => {
            signal.give();
            // SAFETY: it takes any status.
            unsafe { nix::libc::_exit(0) }
        }
        ForkResult::Parent { child } => {
            waitpid(child, None).unwrap();
        }
    }
    assert_eq!(receiver.recv_timeout(Duration::from_secs(60)), Ok(true));
    assert!(signal.wait().is_ok(), "it stays given");
}

#[test]
fn one_step_at_a_time_renews_and_the_next_goes_on_from_what_it_has_done() {
    let directory = tempfile::tempdir().unwrap();
    let mut first = Work::take(directory.path(), "job", 30.0).unwrap().unwrap();
    assert!(Work::take(directory.path(), "job", 30.0).unwrap().is_none());
    first.add(12.5);
    first.add(-3.0);
    assert_eq!(work::done(directory.path(), "job"), Some(42.5));
    drop(first);
    assert!((Work::take(directory.path(), "job", 0.0).unwrap().unwrap().done_s - 42.5).abs() < 1e-9);
    fs::write(directory.path().join("other"), "nonsense").unwrap();
    assert!((Work::take(directory.path(), "other", 3.0).unwrap().unwrap().done_s - 3.0).abs() < 1e-9);
}

#[test]
fn files_of_jobs_that_have_ended_are_removed_and_others_are_not() {
    let directory = tempfile::tempdir().unwrap();
    let held = Work::take(directory.path(), "held", 0.0).unwrap().unwrap();
    drop(Work::take(directory.path(), "ended", 0.0).unwrap().unwrap());
    work::remove_abandoned(directory.path(), SystemTime::now());
    assert!(directory.path().join("ended").exists(), "it may be between two steps");
    work::remove_abandoned(directory.path(), SystemTime::now() + Duration::from_secs(3_601));
    assert!(!directory.path().join("ended").exists() && directory.path().join("held").exists());
    drop(held);
}

proptest! {
    #[test]
    fn no_record_gives_a_job_more_than_its_cpus_or_less_than_the_kernel_takes(
        expected in any::<f64>(), done in any::<f64>(), left in any::<f64>(), cpus in any::<u32>(), node in any::<u32>(),
    ) {
        let share = share(expected, done, left);
        prop_assert!(share.is_none_or(|share| (0.01..=1.0).contains(&share)), "{:?}", share);
        let weight = Weight::of(share, cpus, node);
        prop_assert!((1..=10_000).contains(&weight.version_2()));
        prop_assert!((2..=262_144).contains(&weight.version_1()));
        prop_assert!((0..=19).contains(&weight.nice()));
    }
}
