//! Jobs with deadlines or reserved times where there was never a snapshot: the plugin goes by the
//! configuration as it was when slurmctld started, and by the snapshot from the first one on.
#![allow(unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Description, Plugin, Site, now, text};
use job_types::policy::{Admission, Policy};
use made_up_site::enforcing;
use slurm_sys::bindings;
use std::ffi::c_int;

const NOT_ADMITTED: c_int = bindings::ESLURM_INVALID_TIME_LIMIT as c_int;

const CONFIGURATION: &str = r#"
[policy]
mode = "enforce"
admission = "edf"
[policy.partition.strict]
admission_without_forecast = "refuse"
[policy.partition.free]
admission = "off"
admission_without_forecast = "refuse"
[policy.partition.advised]
mode = "advise"
admission_without_forecast = "refuse"
"#;

/// A job of an hour that is to be done within two, in these partitions.
fn job(partitions: Option<&str>) -> Description {
    let mut job = Description::batch(4, 16);
    common::free(&mut job.0.partition);
    job.0.partition = partitions.map_or(std::ptr::null_mut(), text);
    job.0.deadline = now().0 + 7_200;
    job
}

#[test]
fn the_configuration_says_whether_deadlines_and_promises_pass_until_there_is_a_snapshot() {
    let site = Site::configured(CONFIGURATION);
    let plugin = Plugin::open();
    assert_eq!(plugin.call("init"), 0);
    let submitted = |partitions| {
        let mut job = job(partitions);
        let deadline = job.0.deadline;
        let (answer, said) = plugin.submit(&mut job);
        assert_eq!(job.0.deadline, deadline, "{partitions:?}");
        (answer, said.unwrap_or_default())
    };
    let refused = "queuecast: not admitted: there is no forecast yet; submit without --deadline, or try again later";
    let passed = "queuecast: the deadline is left to Slurm: there is no forecast yet";
    for (partitions, answer, said) in [
        (Some("strict"), NOT_ADMITTED, refused),
        (Some("other"), 0, passed),
        // Which partition is the default is not known: the site's own rule holds.
        (None, 0, passed),
        (Some("free"), 0, ""),
        (Some("advised"), 0, ""),
        // Of several, what all allow.
        (Some("strict,free"), 0, ""),
        (Some("strict,advised"), 0, ""),
        (Some("strict,strict"), NOT_ADMITTED, refused),
    ] {
        assert_eq!(submitted(partitions), (answer, said.to_owned()), "{partitions:?}");
    }
    let reserved = |partitions| {
        let control = format!("QUEUECAST_RESERVE_AT={}", now().0 + 20_000);
        let mut job = job(Some(partitions)).with_control(&[&control]);
        job.0.deadline = 0;
        let (answer, said) = plugin.submit(&mut job);
        assert!(job.0.admin_comment.is_null() && job.0.begin_time == 0, "{partitions}");
        (answer, said.unwrap_or_default())
    };
    let refused = "queuecast: no reservation: there is no forecast yet; submit without --reserve-at, or try again later";
    assert_eq!(reserved("strict"), (bindings::ESLURM_RESERVATION_NOT_USABLE as c_int, refused.to_owned()));
    // A partition that only advises gives no promises, and so refuses none.
    assert_eq!(reserved("advised"), (0, "queuecast: the job was submitted as you wrote it: there is no forecast yet".to_owned()));
    let mut without_deadline = Description::batch(4, 16);
    assert_eq!(plugin.submit(&mut without_deadline), (0, None));

    site.publish(Policy { admission: Admission::Edf, ..enforcing() });
    let mut admitted = job(Some("batch"));
    assert_eq!((plugin.submit(&mut admitted).0, admitted.0.deadline), (0, 0));
    // Of a partition that the snapshot does not have, the configuration goes on to speak.
    assert_eq!(submitted(Some("strict")).0, NOT_ADMITTED);
    plugin.call("fini");
}
