//! `queuecast explain` where Slurm does not answer. With a real cluster it is tested end to end.

mod common;

use common::{Site, said};

#[test]
fn a_missing_slurm_conf_is_an_error_and_not_the_end_of_the_process() {
    let site = Site::empty();
    let said = said(site.command(&["explain", "12"]).env("SLURM_CONF", site.path().join("slurm.conf")));
    assert_eq!((said.status, said.output.as_str()), (4, ""));
    assert!(said.error.starts_with("queuecast: ") && said.error.contains("slurm.conf"), "{}", said.error);
}

#[test]
fn what_is_no_job_number_is_wrong_usage() {
    let said = said(&mut Site::empty().command(&["explain", "job"]));
    assert_eq!(said.status, 2);
    assert!(said.error.contains("1234_5"), "{}", said.error);
}
