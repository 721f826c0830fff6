//! Commands that ask slurmctld or slurmdbd, where Slurm is not configured. With a real cluster they
//! are tested end to end.

mod common;

use common::{Site, said};

#[test]
fn without_a_slurm_conf_they_say_so() {
    let site = Site::empty();
    for command in [&["reservations"][..], &["report", "reservations"], &["report", "deadlines"], &["filter", "scan"]] {
        let said = said(site.command(command).env("SLURM_CONF", site.path().join("slurm.conf")));
        assert_eq!((said.status, said.output.as_str()), (4, ""), "{command:?}");
        assert!(said.error.starts_with("queuecast: ") && said.error.contains("slurm.conf"), "{}", said.error);
    }
}

#[test]
fn times_that_are_none_or_still_to_come_are_wrong_usage() {
    let site = Site::empty();
    for (since, named) in [("soon", "--since"), ("now+1hour", "still to come")] {
        let said = said(&mut site.command(&["report", "reservations", "--since", since]));
        assert!(said.status == 2 && said.error.contains(named), "{}", said.error);
    }
}
