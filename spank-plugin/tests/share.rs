//! What share of a node's CPUs a job gets, and where it is set.
#![allow(clippy::unwrap_used, reason = "a test ends there")]

#[path = "../src/share/place.rs"]
#[allow(dead_code, unreachable_pub)]
mod place;
#[path = "../src/share/processes.rs"]
#[allow(dead_code, unreachable_pub)]
mod processes;
#[path = "../src/share/weight.rs"]
#[allow(dead_code, unreachable_pub)]
mod weight;
#[path = "../src/share/work.rs"]
#[allow(dead_code, unreachable_pub)]
mod work;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use place::Place;
use processes::{Process, Times, below, progress};
use proptest::prelude::*;
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
    let weight = Weight::of(None, 4, 4);
    assert_eq!((weight.version_2(), weight.version_1()), (100, 1_024));
}

#[test]
fn weights_are_in_the_proportion_of_the_shares() {
    assert_eq!((one_cpu(0.5).version_2(), one_cpu(0.25).version_2()), (500, 250));
    assert_eq!((one_cpu(0.5).version_1(), one_cpu(0.25).version_1()), (5_120, 2_560));
    // 1.25 to the power of 3 is 1.95.
    assert_eq!((one_cpu(0.5).nice(), one_cpu(0.25).nice()), (-7, -4));
    assert_eq!(one_cpu(0.1).nice(), 0, "a tenth of a CPU is what a process weighs by itself");
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
    assert_eq!(Process::parse(stat), Some(Process { id: 41, parent: 7, group: 41, is_stopped: false }));
    assert!(Process::parse("42 (sh) T 41 42 42 0").unwrap().is_stopped);
    for text in ["", "42", "42 (sh", "42 (sh)", "x (sh) S 1 1"] {
        assert_eq!(Process::parse(text), None, "{text}");
    }
}

#[test]
fn the_processes_of_a_step_are_all_that_come_from_its_slurmstepd() {
    let process = |id, parent| Process { id, parent, group: id, is_stopped: false };
    // 5 is a grandchild with the smallest number; 1 and 7 come from elsewhere, and 8 is its own
    // parent, which no kernel says.
    let all = [process(5, 40), process(40, 30), process(41, 30), process(1, 0), process(7, 1), process(8, 8)];
    let mut found: Vec<u32> = below(30, &all).iter().map(|process| process.id).collect();
    found.sort_unstable();
    assert_eq!(found, [5, 40, 41]);
}

#[test]
fn what_waits_for_a_cpu_makes_no_progress() {
    let times = |run_ns, waited_ns| Times { run_ns, waited_ns };
    let earlier = BTreeMap::from([(1, times(100, 50)), (2, times(10, 10))]);
    let later = BTreeMap::from([(1, times(130, 80)), (3, times(30, 30))]);
    assert_eq!(progress(&earlier, &later), Some(0.5));
    assert_eq!(progress(&later, &later), None, "nothing ran and nothing waited");
}

#[test]
fn this_process_is_seen_to_run() {
    let own = std::process::id();
    assert!(processes::all().iter().any(|process| process.id == own));
    let before = Times::of(own);
    let begin = std::time::Instant::now();
    while begin.elapsed() < Duration::from_millis(50) {}
    assert!(Times::of(own).run_ns > before.run_ns);
}

#[test]
fn one_step_at_a_time_renews_and_the_next_goes_on_from_what_it_has_done() {
    let directory = tempfile::tempdir().unwrap();
    let mut first = Work::take(directory.path(), "job", 30.0).unwrap();
    assert!(Work::take(directory.path(), "job", 30.0).is_none());
    first.add(12.5);
    first.add(-3.0);
    assert_eq!(work::done(directory.path(), "job"), Some(42.5));
    drop(first);
    assert!((Work::take(directory.path(), "job", 0.0).unwrap().done_s - 42.5).abs() < 1e-9);
    fs::write(directory.path().join("other"), "nonsense").unwrap();
    assert!((Work::take(directory.path(), "other", 3.0).unwrap().done_s - 3.0).abs() < 1e-9);
}

#[test]
fn files_of_jobs_that_have_ended_are_removed_and_others_are_not() {
    let directory = tempfile::tempdir().unwrap();
    let held = Work::take(directory.path(), "held", 0.0).unwrap();
    drop(Work::take(directory.path(), "ended", 0.0).unwrap());
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
        prop_assert!((-20..=19).contains(&weight.nice()));
    }
}
