//! The built plugin, called through its C entry points as slurmctld calls it.
#![allow(unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::running::Running;
use common::{Description, Plugin, now, publish, read, snapshot_bytes, text};
use job_types::options::{IfRefused, Mode};
use job_types::policy::{Policy, When};
use job_types::record::Record;
use job_types::time::Seconds;
use made_up_site::enforcing;
use object::{Object, ObjectSection, ObjectSymbol};
use parking_lot::MutexGuard;
use predictor_core::decisions::counters::Counter;
use slurm_sys::bindings;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

const REFUSED: c_int = bindings::ESLURM_RESERVATION_NOT_USABLE as c_int;

/// The plugin over a fresh snapshot and not switched off, and the turn with it.
fn running() -> (MutexGuard<'static, ()>, &'static Running) {
    let (turn, running) = Running::turn();
    let _ = std::fs::remove_file(running.site.path().join("off"));
    running.site.publish(enforcing());
    (turn, running)
}

fn molded() -> Description {
    Description::batch(16, 64).with_control(&["QUEUECAST_AUTO_MOLD=1"])
}

#[test]
fn slurmctld_finds_the_symbols_that_it_looks_for() {
    let (_turn, running) = running();
    assert_eq!(running.plugin.string("plugin_type"), "job_submit/queuecast");
    assert_eq!(running.plugin.number("plugin_version"), bindings::SLURM_VERSION_NUMBER);
    assert!(!running.plugin.string("plugin_name").is_empty());
}

#[test]
fn the_plugin_exports_its_entry_points_only_and_does_not_link_libslurm() {
    let bytes = std::fs::read(Plugin::path()).unwrap();
    let file = object::File::parse(bytes.as_slice()).unwrap();
    let exported = file.dynamic_symbols().filter(|symbol| symbol.is_definition() && symbol.is_global());
    let mut names: Vec<&str> = exported.map(|symbol| symbol.name().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["fini", "init", "job_modify", "job_submit", "plugin_name", "plugin_type", "plugin_version"]);
    // The libraries that it needs are named in this table.
    let strings = file.section_by_name(".dynstr").unwrap().data().unwrap();
    let needs = |library: &str| strings.windows(library.len()).any(|text| text == library.as_bytes());
    assert!(needs("libc.so") && !needs("libslurm"));
}

#[test]
fn loading_has_no_effect_before_init() {
    let (_turn, _running) = running();
    let count = |path: &str| std::fs::read_dir(path).unwrap().count();
    let before = (count("/proc/self/fd"), count("/proc/self/task"));
    let copy = tempfile::tempdir().unwrap();
    let path = copy.path().join("job_submit_queuecast.so");
    std::fs::copy(Plugin::path(), &path).unwrap();
    // SAFETY: loading the plugin runs no code of it, which is what is tested.
    let library = unsafe { libloading::os::unix::Library::new(&path) }.unwrap();
    assert_eq!((count("/proc/self/fd"), count("/proc/self/task")), before);
    drop(library);
}

#[test]
fn a_job_is_molded_with_its_tasks_and_environment() {
    let (_turn, running) = running();
    let mut job = molded();
    let (answer, said) = running.plugin.submit(&mut job);
    assert_eq!(answer, 0, "{said:?}");
    assert_eq!((job.0.min_nodes, job.0.max_nodes, job.0.num_tasks, job.0.min_cpus), (4, 4, 16, 16));
    assert_eq!(job.0.time_limit, 120);
    assert_eq!((job.variable("SLURM_NTASKS").as_deref(), job.variable("SLURM_NPROCS").as_deref()), (Some("16"), Some("16")));
    assert_eq!(job.variable("HOME").as_deref(), Some("/root"));
    assert!(said.unwrap().starts_with("queuecast: 4 nodes instead of 16, 16 tasks, time limit 2 h: forecast to be done in about"));
    let record = Record::parse(&read(job.0.admin_comment).unwrap()).unwrap();
    assert_eq!((record.asked.nodes, record.written.unwrap().nodes, record.mode), (16, Some(4), Mode::Enforce));
}

#[test]
fn a_reservation_is_padded_and_the_node_is_told_to_hold() {
    let (_turn, running) = running();
    let at = now().0 + 20_000;
    let mut job = Description::batch(4, 16).with_control(&[&format!("QUEUECAST_RESERVE_AT={at}"), "QUEUECAST_SUCCESS_PROBABILITY=0.9"]);
    job.0.time_min = 30;
    let (answer, said) = running.plugin.submit(&mut job);
    assert_eq!(answer, 0, "{said:?}");
    let padding = at - job.0.begin_time;
    // So far ahead the past counts for most, and no longer limit is taken to wait less.
    assert!(padding > 0 && padding < 7_200, "{padding}");
    assert_eq!(i64::from(job.0.time_limit), 60 + Seconds(padding).minutes_rounded_up());
    assert_eq!(i64::from(job.0.time_min), 30 + Seconds(padding).minutes_rounded_up());
    assert_eq!(job.variable("QUEUECAST_HOLD_UNTIL"), Some(at.to_string()));
    assert_eq!(job.0.env_size, 4);
}

#[test]
fn a_reservation_that_cant_be_kept_is_refused_with_a_reason() {
    let (_turn, running) = running();
    let mut job = Description::batch(16, 64).with_control(&[&format!("QUEUECAST_RESERVE_AT={}", now().0 + 60)]);
    let (answer, said) = running.plugin.submit(&mut job);
    assert_eq!(answer, REFUSED);
    assert!(said.unwrap().contains("no reservation: it would be kept with probability"));
    assert_eq!(job.0.begin_time, 0);
}

#[test]
fn a_job_with_a_window_begins_with_it_and_carries_what_is_asked_for() {
    let (_turn, running) = running();
    let (earliest, latest) = (now().0 + 3_600, now().0 + 50_000);
    let window = format!("QUEUECAST_RESERVE_WINDOW={earliest},{latest}");
    let mut job = Description::batch(16, 64).with_control(&[&window, "QUEUECAST_RESERVE_NOTICE=1800", "QUEUECAST_IF_REFUSED=cancel"]);
    let (answer, said) = running.plugin.submit(&mut job);
    assert_eq!(answer, 0, "{said:?}");
    let said = said.unwrap();
    assert!(said.starts_with("queuecast: asked for 16 nodes for 1 h between ") && said.contains("see `queuecast reservations`"), "{said}");
    assert_eq!((job.0.begin_time, job.0.time_limit, job.0.min_nodes, job.0.priority), (earliest, 60, 16, bindings::NO_VAL));
    assert!(job.0.reservation.is_null());
    let record = Record::parse(&read(job.0.admin_comment).unwrap()).unwrap();
    let written = record.written.clone().unwrap();
    assert_eq!((written.window, written.notice_s, written.begin), (Some((earliest, latest)), Some(1_800), Some(earliest)));
    assert_eq!((written.if_refused, written.hold_until, written.limit_s), (IfRefused::Cancel, None, None));
    assert!(record.affiliation.is_some());
}

#[test]
fn a_window_that_no_slot_can_lie_in_is_refused_and_nothing_is_written() {
    let (_turn, running) = running();
    let window = format!("QUEUECAST_RESERVE_WINDOW={},{}", now().0 + 3_600, now().0 + 5_400);
    let mut tasks_alone = Description::batch(16, 64).with_control(&[&window]);
    (tasks_alone.0.min_nodes, tasks_alone.0.max_nodes) = (bindings::NO_VAL, bindings::NO_VAL);
    for (mut job, words) in [
        (Description::batch(16, 64).with_control(&[&window]), "no firm slot: what is left of the window is 30 min too short"),
        (tasks_alone, "no firm slot: a firm slot has whole nodes, and the job does not say how many; give --nodes"),
        (Description::batch(65, 64).with_control(&[&window]), "no firm slot: the job does not keep to the size of the partition"),
        (Description::batch(16, 64).with_control(&["QUEUECAST_RESERVE_WINDOW=18:00,06:00"]), "--reserve-window cannot be"),
    ] {
        let (answer, said) = running.plugin.submit(&mut job);
        let said = said.unwrap();
        // A variable that can't be read asks for nothing.
        assert_eq!(answer, if words.starts_with("--") { 0 } else { REFUSED }, "{said}");
        assert!(said.contains(words), "{said}");
        assert_eq!((job.0.begin_time, job.0.admin_comment.is_null()), (0, true));
    }
}

#[test]
fn a_default_window_leaves_a_job_alone_that_can_have_no_slot() {
    let (_turn, running) = running();
    let before = running.site.counter(Counter::NothingAsked);
    let window = format!("QUEUECAST_RESERVE_WINDOW={},{},default", now().0 + 3_600, now().0 + 5_400);
    let mut job = Description::batch(16, 64).with_control(&[&window]);
    assert_eq!(running.plugin.submit(&mut job), (0, None));
    assert_eq!((job.0.begin_time, job.0.admin_comment.is_null()), (0, true));
    assert_eq!(running.site.counter(Counter::NothingAsked), before + 1);
}

#[test]
fn a_job_that_asks_for_nothing_is_not_touched() {
    let (_turn, running) = running();
    let before = running.site.counter(Counter::NothingAsked);
    let mut job = Description::batch(16, 64);
    assert_eq!(running.plugin.submit(&mut job), (0, None));
    assert_eq!((job.0.min_nodes, job.0.num_tasks, job.0.time_limit), (16, 64, 60));
    assert!(job.0.admin_comment.is_null());
    assert_eq!(running.site.counter(Counter::NothingAsked), before + 1);
}

#[test]
fn a_transparent_policy_molds_without_being_asked() {
    let (_turn, running) = running();
    running.site.publish(Policy { mold: When::Always, ..enforcing() });
    let mut job = Description::batch(16, 64);
    running.plugin.submit(&mut job);
    assert_eq!(job.0.min_nodes, 4);
    let mut left = Description::batch(16, 64).with_control(&["QUEUECAST_MODE=off"]);
    assert_eq!(running.plugin.submit(&mut left), (0, None));
    assert_eq!(left.0.min_nodes, 16);
}

#[test]
fn a_deadline_is_forecast_and_told() {
    let (_turn, running) = running();
    let mut job = Description::batch(4, 16);
    job.0.deadline = now().0 + 7_200;
    let (answer, said) = running.plugin.submit(&mut job);
    assert_eq!(answer, 0);
    assert!(said.unwrap().contains("done by the deadline in 2 h with probability 0.9"));
    let record = Record::parse(&read(job.0.admin_comment).unwrap()).unwrap();
    assert!(record.forecast.unwrap().deadline_probability.unwrap() > 0.9);
}

#[test]
fn observe_records_and_advise_tells_and_neither_changes() {
    let (_turn, running) = running();
    for (mode, beginning) in
        [(Mode::Observe, "queuecast: this partition is only observed"), (Mode::Advise, "queuecast: advice, nothing was changed: 4 nodes")]
    {
        running.site.publish(Policy { mode, ..enforcing() });
        let mut job = molded();
        let (answer, said) = running.plugin.submit(&mut job);
        assert_eq!((answer, job.0.min_nodes, job.0.time_limit), (0, 16, 60));
        assert!(said.as_ref().unwrap().starts_with(beginning), "{said:?}");
        assert_eq!(Record::parse(&read(job.0.admin_comment).unwrap()).unwrap().mode, mode);
    }
}

#[test]
fn somebody_elses_comment_stays() {
    let (_turn, running) = running();
    let mut job = molded();
    job.0.admin_comment = text("approved by the board");
    running.plugin.submit(&mut job);
    let comment = read(job.0.admin_comment).unwrap();
    assert!(comment.ends_with(" approved by the board") && Record::parse(&comment).is_some());
}

#[test]
fn the_kill_switch_works_at_the_next_submission() {
    let (_turn, running) = running();
    let before = running.site.counter(Counter::Off);
    std::fs::write(running.site.path().join("off"), "").unwrap();
    let mut job = molded();
    let (answer, said) = running.plugin.submit(&mut job);
    assert_eq!((answer, job.0.min_nodes), (0, 16));
    assert!(said.unwrap().contains("switched off"));
    assert_eq!(running.site.counter(Counter::Off), before + 1);
    std::fs::remove_file(running.site.path().join("off")).unwrap();
    let mut job = molded();
    running.plugin.submit(&mut job);
    assert_eq!(job.0.min_nodes, 4);
}

#[test]
fn options_that_cant_be_read_leave_the_job() {
    let (_turn, running) = running();
    for forged in ["QUEUECAST_MOLD_SIZES=0-0-0", "QUEUECAST_RESERVE_AT=soon", "QUEUECAST_SUCCESS_PROBABILITY=NaN", "QUEUECAST_MODE=root"] {
        let mut job = Description::batch(16, 64).with_control(&["QUEUECAST_AUTO_MOLD=1", forged]);
        let (answer, said) = running.plugin.submit(&mut job);
        assert_eq!((answer, job.0.min_nodes), (0, 16), "{forged}");
        assert!(said.unwrap().contains("left as it is"), "{forged}");
    }
}

#[test]
fn null_is_answered() {
    let (_turn, running) = running();
    assert_eq!(running.plugin.submit_raw(std::ptr::null_mut()).0, 0);
    // SAFETY: no place for a message is what slurmctld never gives, and the plugin must stand.
    assert_eq!(unsafe { running.plugin.submit_symbol()(&raw mut *molded().0, 0, std::ptr::null_mut()) }, 0);
    for control in [vec![], vec!["QUEUECAST_AUTO_MOLD=1", "QUEUECAST_AUTO_DEFER=1"]] {
        let mut unset = Description::unset().with_control(&control);
        assert_eq!(running.plugin.submit(&mut unset).0, 0);
    }
    let mut claims_entries = Description::unset();
    (claims_entries.0.env_size, claims_entries.0.spank_job_env_size) = (50, 50);
    assert_eq!(running.plugin.submit(&mut claims_entries).0, 0);
    (claims_entries.0.env_size, claims_entries.0.spank_job_env_size) = (0, 0);
}

#[test]
fn a_faulty_snapshot_leaves_jobs_and_refuses_promises() {
    let (_turn, running) = running();
    let fresh = |published_at, generation| snapshot_bytes(enforcing(), 400, published_at, generation);
    let mut wrong_version = fresh(now(), 2);
    wrong_version[8] ^= 1;
    let mut wrong_checksum = fresh(now(), 3);
    *wrong_checksum.last_mut().unwrap() ^= 1;
    let whole = fresh(now(), 4);
    let truncated = &whole[..whole.len() / 2];
    let too_old = fresh(now() + Seconds(-601), 5);
    let faults: [(&str, &[u8], Counter); 4] = [
        ("wrong version", &wrong_version, Counter::SnapshotDamaged),
        ("wrong checksum", &wrong_checksum, Counter::SnapshotDamaged),
        ("truncated", truncated, Counter::SnapshotDamaged),
        ("too old", &too_old, Counter::SnapshotTooOld),
    ];
    for (fault, bytes, counter) in faults {
        // The snapshot before is too old as well, or it would go on being used, as it should.
        publish(running.site.path(), &too_old);
        running.plugin.submit(&mut molded());
        publish(running.site.path(), bytes);
        let before = running.site.counter(counter);
        let mut job = molded();
        let (answer, said) = running.plugin.submit(&mut job);
        assert_eq!((answer, job.0.min_nodes), (0, 16), "{fault}");
        assert!(said.unwrap().contains("submitted as you wrote it"), "{fault}");
        let mut promise = Description::batch(4, 16).with_control(&[&format!("QUEUECAST_RESERVE_AT={}", now().0 + 20_000)]);
        let (answer, said) = running.plugin.submit(&mut promise);
        assert_eq!(answer, REFUSED, "{fault}");
        assert!(said.unwrap().contains("no reservation"), "{fault}");
        assert_eq!(running.plugin.submit(&mut Description::batch(16, 64)), (0, None), "{fault}");
        assert_eq!(running.site.counter(counter), before + 2, "{fault}");
    }
}

#[test]
fn a_damaged_snapshot_leaves_the_one_before_in_force() {
    let (_turn, running) = running();
    running.plugin.submit(&mut molded());
    publish(running.site.path(), b"not a snapshot");
    let mut job = molded();
    running.plugin.submit(&mut job);
    assert_eq!(job.0.min_nodes, 4);
    std::fs::remove_file(running.site.path().join("snapshot")).unwrap();
    let mut job = molded();
    running.plugin.submit(&mut job);
    assert_eq!(job.0.min_nodes, 4);
}

#[test]
fn a_snapshot_that_others_could_write_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let (_turn, running) = running();
    publish(running.site.path(), &snapshot_bytes(enforcing(), 400, now() + Seconds(-700), 8));
    running.plugin.submit(&mut molded());
    let new = running.site.path().join("snapshot.new");
    std::fs::write(&new, snapshot_bytes(enforcing(), 400, now(), 9)).unwrap();
    std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o666)).unwrap();
    std::fs::rename(&new, running.site.path().join("snapshot")).unwrap();
    let mut job = molded();
    running.plugin.submit(&mut job);
    assert_eq!(job.0.min_nodes, 16);
}

#[test]
fn snapshots_are_replaced_during_submissions_from_eight_threads() {
    let (_turn, running) = running();
    let versions: Vec<Vec<u8>> = (0..4).map(|n| snapshot_bytes(enforcing(), 400 + n * 100, now(), 100 + n as u64)).collect();
    // Who comes while another thread takes up a snapshot is decided from the one before: not from
    // that of another test.
    running.plugin.submit(&mut molded());
    let (done, molded_jobs) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for version in versions.iter().cycle() {
                publish(running.site.path(), version);
                if done.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let submitters: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    for _ in 0..1_250 {
                        let mut job = molded();
                        assert_eq!(running.plugin.submit(&mut job).0, 0);
                        molded_jobs.fetch_add(usize::from(job.0.min_nodes == 4), Ordering::Relaxed);
                    }
                })
            })
            .collect();
        submitters.into_iter().for_each(|submitter| submitter.join().unwrap());
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(molded_jobs.into_inner(), 10_000);
    assert_eq!(running.site.counter(Counter::Panics), 0);
}

#[test]
fn a_hundred_thousand_calls_do_not_grow_memory() {
    let (_turn, running) = running();
    let resident_kib = || -> i64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let at = now().0 + 20_000;
    let some = |count: usize| {
        for n in 0..count {
            let reserve = format!("QUEUECAST_RESERVE_AT={at}");
            let control = match n % 4 {
                0 => vec![],
                1 => vec!["QUEUECAST_AUTO_MOLD=1", "QUEUECAST_AUTO_DEFER=1"],
                2 => vec!["QUEUECAST_AUTO_MOLD=1", reserve.as_str()],
                _ => vec!["QUEUECAST_MOLD_SIZES=1,,2"],
            };
            running.plugin.submit(&mut Description::batch(16, 64).with_control(&control));
        }
    };
    // Until the tables of what was let through, which have fixed sizes, are full.
    some(25_000);
    let before = resident_kib();
    some(100_000);
    let growth = resident_kib() - before;
    assert!(growth < 1_024, "grew by {growth} KiB");
}

#[test]
fn an_entry_of_a_scrontab_is_left_alone() {
    let (_turn, running) = running();
    let mut entry = molded();
    // What slurmctld puts there is its own; the plugin only looks whether there is something.
    entry.0.crontab_entry = std::ptr::NonNull::<u64>::dangling().as_ptr().cast();
    assert_eq!(running.plugin.submit(&mut entry), (0, None));
    assert_eq!(entry.0.min_nodes, 16);
    assert!(entry.0.admin_comment.is_null());
}

/// The copy of a job that a federation's other cluster sends, after it has decided about the job
/// itself.
fn sibling_copy(job: Description) -> Description {
    let mut job = job;
    // The job's number would be of that cluster too; the field has another place in each release.
    job.0.fed_siblings_viable = 0b11;
    job
}

#[test]
fn the_copy_of_a_job_that_another_cluster_of_the_federation_has_decided_about_is_left_alone() {
    let (_turn, running) = running();
    running.site.publish(Policy { mold: When::Always, defer: When::Always, ..enforcing() });
    let mut copy = sibling_copy(molded());
    assert_eq!(running.plugin.submit(&mut copy), (0, None));
    assert_eq!((copy.0.min_nodes, copy.0.num_tasks, copy.0.time_limit, copy.0.begin_time), (16, 64, 60, 0));
    assert!(copy.0.admin_comment.is_null());
    // It claims nothing either: the job runs on one cluster.
    let mut job = molded();
    running.plugin.submit(&mut job);
    assert_eq!(job.0.min_nodes, 4);
}

#[test]
fn a_reservation_is_kept_by_the_cluster_that_promised_it() {
    let (_turn, running) = running();
    let at = format!("QUEUECAST_RESERVE_AT={}", now().0 + 20_000);
    let reserved = || Description::batch(4, 16).with_control(&[&at, "QUEUECAST_SUCCESS_PROBABILITY=0.9"]);
    // The copy would start elsewhere, as it was written, and at once.
    let mut copy = sibling_copy(reserved());
    assert_eq!(running.plugin.submit(&mut copy), (REFUSED, None));
    let mut chooses = reserved();
    chooses.0.cluster_features = text("large");
    let (answer, said) = running.plugin.submit(&mut chooses);
    assert_eq!((answer, chooses.0.begin_time), (REFUSED, 0));
    assert!(said.unwrap().starts_with("queuecast: no reservation: --cluster-constraint may send the job to another cluster"));
    common::free(&mut chooses.0.cluster_features);
    // Where promises are not given, nothing is refused.
    running.site.publish(Policy { mode: Mode::Advise, ..enforcing() });
    let mut copy = sibling_copy(reserved());
    assert_eq!(running.plugin.submit(&mut copy), (0, None));
}

#[test]
fn a_component_of_a_heterogeneous_job_is_left_as_written() {
    let (_turn, running) = running();
    for offset in [0, 1] {
        let mut component = Description::batch(16, 64).with_control(&["QUEUECAST_AUTO_MOLD=1", "QUEUECAST_AUTO_DEFER=1"]);
        component.0.het_job_offset = offset;
        let (answer, said) = running.plugin.submit(&mut component);
        assert!(answer == 0 && said.as_ref().unwrap().contains("it is part of a heterogeneous job"), "{said:?}");
        assert_eq!((component.0.min_nodes, component.0.num_tasks, component.0.time_limit, component.0.begin_time), (16, 64, 60, 0));
        let mut reserved = Description::batch(4, 16).with_control(&[&format!("QUEUECAST_RESERVE_AT={}", now().0 + 20_000)]);
        reserved.0.het_job_offset = offset;
        let (answer, said) = running.plugin.submit(&mut reserved);
        assert_eq!(answer, REFUSED);
        assert!(said.unwrap().contains("a heterogeneous job can't be reserved"));
    }
}

#[test]
fn a_change_of_a_job_is_let_through() {
    let (_turn, running) = running();
    let before = running.site.counter(Counter::Modifications);
    type Modify = unsafe extern "C" fn(*mut bindings::job_desc_msg_t, *mut std::ffi::c_void, u32, *mut *mut std::ffi::c_char) -> c_int;
    // SAFETY: the plugin is loaded from this path already; the symbol has this signature.
    let library = unsafe { libloading::os::unix::Library::new(Plugin::path()) }.unwrap();
    // SAFETY: as above.
    let modify = unsafe { library.get::<Modify>(b"job_modify") }.unwrap();
    let mut job = molded();
    let mut message = std::ptr::null_mut();
    // SAFETY: as slurmctld calls it; the job record is opaque and not used.
    assert_eq!(unsafe { modify(&raw mut *job.0, std::ptr::null_mut(), 0, &raw mut message) }, 0);
    assert!(message.is_null() && job.0.admin_comment.is_null());
    assert_eq!((job.0.min_nodes, job.0.time_limit), (16, 60));
    assert_eq!(running.site.counter(Counter::Modifications), before + 1);
}

mod hostile {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::{TestCaseError, TestRunner};

    /// Text without NUL, as C can hold it.
    fn any_text() -> impl Strategy<Value = String> {
        prop_oneof![
            "[^\0]{0,40}",
            "QUEUECAST_(AUTO_MOLD|MOLD_SIZES|RESERVE_AT|SUCCESS_PROBABILITY|EARLY_START|AUTO_DEFER|MAX_DEFER|MODE|X)=[-0-9,.einfaNxwrtousvb]{0,30}",
            "QUEUECAST_RESERVE_WINDOW=[0-9]{1,20},[0-9]{1,20}(,default)?",
            "QUEUECAST_(RESERVE_NOTICE|IF_REFUSED)=([0-9]{1,20}|run|cancel)",
            "(SLURM_NTASKS|SLURM_NPROCS|QUEUECAST_HOLD_UNTIL)=[^\0]{0,20}",
        ]
    }

    /// All that the plugin may write into a job description.
    #[derive(Debug, PartialEq)]
    struct Written {
        min_nodes: u32,
        max_nodes: u32,
        num_tasks: u32,
        min_cpus: u32,
        time_limit: u32,
        time_min: u32,
        begin_time: i64,
        environment: Vec<Option<String>>,
        admin_comment: Option<String>,
    }

    impl From<&Description> for Written {
        fn from(job: &Description) -> Self {
            // SAFETY: the list has `env_size` entries, each NULL or a string.
            let environment = (0..job.0.env_size as usize).map(|index| read(unsafe { *job.0.environment.add(index) })).collect();
            Written {
                min_nodes: job.0.min_nodes,
                max_nodes: job.0.max_nodes,
                num_tasks: job.0.num_tasks,
                min_cpus: job.0.min_cpus,
                time_limit: job.0.time_limit,
                time_min: job.0.time_min,
                begin_time: job.0.begin_time,
                environment,
                admin_comment: read(job.0.admin_comment),
            }
        }
    }

    impl Written {
        fn size(&self) -> [u32; 4] {
            [self.min_nodes, self.max_nodes, self.num_tasks, self.min_cpus]
        }
    }

    fn any_number() -> impl Strategy<Value = u32> {
        prop_oneof![Just(0xffff_fffe_u32), Just(0xffff_ffff), Just(0), 1u32..300, any::<u32>()]
    }

    fn any_small() -> impl Strategy<Value = u16> {
        prop_oneof![Just(0xfffe_u16), Just(0xffff), Just(0), 1u16..64, any::<u16>()]
    }

    fn any_time() -> impl Strategy<Value = i64> {
        prop_oneof![Just(0i64), Just(0xffff_fffe), any::<i64>(), (-100_000i64..1_000_000).prop_map(|ahead| now().0 + ahead)]
    }

    /// An ordinary job of 16 nodes in which some values are replaced by any.
    #[derive(Debug)]
    struct Hostile {
        numbers: [Option<u32>; 8],
        small: [Option<u16>; 3],
        begin: i64,
        deadline: i64,
        control: Vec<String>,
        environment: Option<Vec<String>>,
        strings: Vec<Option<String>>,
    }

    fn any_job() -> impl Strategy<Value = Hostile> {
        let rarely = |strategy| prop::option::weighted(0.15, strategy);
        let at = prop_oneof![any_time(), (5_000i64..200_000).prop_map(|ahead| now().0 + ahead)];
        let ours = (any::<[bool; 4]>(), at, prop::option::weighted(0.15, 1i64..200_000)).prop_map(|(asks, at, window)| {
            if let Some(window) = window {
                return vec![format!("QUEUECAST_RESERVE_WINDOW={at},{}", at.saturating_add(window))];
            }
            let at = format!("QUEUECAST_RESERVE_AT={at}");
            let ours = ["QUEUECAST_AUTO_MOLD=1", "QUEUECAST_AUTO_DEFER=1", at.as_str(), "QUEUECAST_SUCCESS_PROBABILITY=0.2"];
            ours.into_iter().zip(asks).filter(|(_, asks)| *asks).map(|(option, _)| option.to_owned()).collect::<Vec<_>>()
        });
        let texts = || prop::collection::vec(any_text(), 0..6);
        let more = prop_oneof![2 => Just(Vec::new()), 1 => texts()];
        (
            prop::array::uniform8(prop::option::weighted(0.15, any_number())),
            prop::array::uniform3(prop::option::weighted(0.15, any_small())),
            (prop_oneof![3 => Just(0), 1 => any_time()], prop_oneof![3 => Just(0), 1 => any_time()]),
            (ours, more),
            prop::option::weighted(0.3, texts()),
            prop::collection::vec(rarely("[^\0]{0,60}|batch|batch,other|a\\*2"), 7),
        )
            .prop_map(|(numbers, small, (begin, deadline), (mut control, more), environment, strings)| {
                control.extend(more);
                Hostile { numbers, small, begin, deadline, control, environment, strings }
            })
    }

    #[test]
    fn any_values_are_left_or_become_a_job_that_the_partition_can_run() {
        let (_turn, running) = running();
        let counted = || [Counter::Molded, Counter::Reserved, Counter::Refused].map(|counter| running.site.counter(counter));
        let before = counted();
        let mut runner = TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3_000) });
        runner.run(&any_job(), |job| submitted(running, job)).unwrap();
        // Of the jobs that are left alone nothing can be learnt.
        assert!(counted().iter().zip(before).all(|(after, before)| after - before >= 20), "{before:?} {:?}", counted());
    }

    fn submitted(running: &Running, hostile: Hostile) -> Result<(), TestCaseError> {
        let Hostile { numbers, small, begin, deadline, control, environment, strings } = hostile;
        // A queue that was read anew now and then, so that what was promised before is promised no
        // more.
        static CASES: AtomicU64 = AtomicU64::new(0);
        let case = CASES.fetch_add(1, Ordering::Relaxed);
        if case.is_multiple_of(20) {
            publish(running.site.path(), &snapshot_bytes(enforcing(), 400, now() + Seconds(20), 100_000 + case));
        }
        let mut job = Description::batch(16, 64);
        let control: Vec<&str> = control.iter().map(String::as_str).collect();
        job.control(&control);
        if let Some(environment) = &environment {
            job.free_environment();
            job.environment(&environment.iter().map(String::as_str).collect::<Vec<_>>());
        }
        let mut set = [&mut job.0.script, &mut job.0.partition, &mut job.0.admin_comment, &mut job.0.array_inx];
        for (field, string) in set.iter_mut().zip(&strings) {
            if let Some(string) = string {
                common::free(field);
                **field = text(string);
            }
        }
        let mut others = [4, 5].map(|index: usize| strings[index].as_deref().map_or(std::ptr::null_mut(), text));
        [job.0.features, job.0.licenses] = others;
        job.0.req_nodes = strings[6].as_deref().map_or(std::ptr::null_mut(), text);
        let fields = [
            &mut job.0.min_nodes,
            &mut job.0.max_nodes,
            &mut job.0.num_tasks,
            &mut job.0.min_cpus,
            &mut job.0.max_cpus,
            &mut job.0.time_limit,
            &mut job.0.time_min,
            &mut job.0.user_id,
        ];
        for (field, number) in fields.into_iter().zip(numbers) {
            *field = number.unwrap_or(*field);
        }
        for (field, number) in [&mut job.0.cpus_per_task, &mut job.0.ntasks_per_node, &mut job.0.shared].into_iter().zip(small) {
            *field = number.unwrap_or(*field);
        }
        (job.0.begin_time, job.0.deadline) = (begin, deadline);
        let before = Written::from(&job);
        let panics = running.site.counter(Counter::Panics);
        let (answer, said) = running.plugin.submit(&mut job);
        let after = Written::from(&job);
        prop_assert_eq!(running.site.counter(Counter::Panics), panics, "a panic was caught");
        prop_assert!([0, REFUSED, libc::EAGAIN].contains(&answer));
        let holds = |prefix: &str| control.iter().any(|entry| entry.starts_with(prefix));
        if !holds("QUEUECAST_") && !(1..).contains(&deadline) {
            prop_assert_eq!((answer, said), (0, None), "nothing was asked");
            prop_assert_eq!(&after, &before);
        }
        if answer == REFUSED {
            prop_assert!(holds("QUEUECAST_RESERVE_AT=") || holds("QUEUECAST_RESERVE_WINDOW="));
            prop_assert_eq!(&after, &before);
        }
        // Another size is one that the partition of 64 nodes of 4 CPUs has.
        if after.size() != before.size() {
            prop_assert!(holds("QUEUECAST_AUTO_MOLD="), "{before:?} {after:?}");
            let nodes = (after.min_nodes, after.max_nodes);
            let fits = nodes.0 == nodes.1 && (1..=64).contains(&nodes.0);
            prop_assert!(fits || nodes == (before.min_nodes, before.max_nodes), "{before:?} {after:?}");
            prop_assert!(after.num_tasks <= before.num_tasks.max(256), "{before:?} {after:?}");
        }
        // Another limit is one that the partition, of at most two days, allows, and none is cut
        // below what its user asked for.
        if after.time_limit != before.time_limit {
            prop_assert!(holds("QUEUECAST_AUTO_MOLD=") || holds("QUEUECAST_RESERVE_AT="), "{before:?} {after:?}");
            prop_assert!((1..=2 * 24 * 60).contains(&after.time_limit), "{before:?} {after:?}");
        }
        if after.time_min != before.time_min {
            prop_assert!(after.time_min <= after.time_limit || before.time_min > before.time_limit, "{before:?} {after:?}");
        }
        if after.begin_time != before.begin_time {
            prop_assert!(holds("QUEUECAST_AUTO_DEFER=") || holds("QUEUECAST_RESERVE_"), "{before:?} {after:?}");
            prop_assert!(after.begin_time >= now().0 - 60);
            let limited = (1..0xffff_fffe).contains(&after.time_limit);
            let ends = after.begin_time + i64::from(after.time_limit) * 60;
            prop_assert!(deadline <= 0 || deadline == 0xffff_fffe || (limited && ends <= deadline), "{after:?}, deadline {deadline}");
        }
        if after.environment != before.environment {
            prop_assert!(after.size() != before.size() || after.begin_time != before.begin_time, "{before:?} {after:?}");
        }
        for string in &mut others {
            common::free(string);
        }
        Ok(())
    }
}
