//! What is not there has an exit status of its own, the same in every command.

mod common;

use common::{Site, said};

const DESCRIBED: [&str; 4] = ["-N4", "-t60", "-p", "batch"];

#[test]
fn without_a_snapshot_it_is_3() {
    let site = Site::empty();
    let reserve = [&["reserve", "--at=now+1hour"], &DESCRIBED[..]].concat();
    for command in [&["status"][..], &["queue"], &["queue", "--json"], &[&["predict"], &DESCRIBED[..]].concat(), &reserve] {
        let said = site.run(command);
        assert_eq!(said.status, 3, "{command:?}: {}", said.error);
        assert!(format!("{}{}", said.output, said.error).contains("no snapshot in"), "{command:?}: {}", said.error);
    }
    // Nor with one that cannot be read, or a configuration that says nothing of where it would be.
    site.publish(b"no snapshot");
    assert_eq!(site.run(&["queue"]).status, 3);
    std::fs::write(site.configuration(), "[policy]\nmode = \"enf").unwrap();
    let said = site.run(&["queue"]);
    assert!(said.status == 3 && said.error.contains("queuecast.toml:2"), "{}", said.error);
}

#[test]
fn without_slurm_it_is_4() {
    let site = Site::usable();
    for command in [&["reservations"][..], &["explain", "12"], &["report", "reservations"], &["report", "deadlines"], &["filter", "scan"]] {
        let said = said(site.command(command).env("SLURM_CONF", site.path().join("slurm.conf")));
        assert_eq!((said.status, said.output.as_str()), (4, ""), "{command:?}: {}", said.error);
    }
}

#[test]
fn wrong_usage_is_2_whatever_is_not_there() {
    let site = Site::empty();
    for command in
        [&["queue", "--colour"][..], &["queue", "--partition"], &["explain", "job"], &["reservations", "--json", "--format=text"]]
    {
        let said = site.run(command);
        assert_eq!((said.status, said.output.as_str()), (2, ""), "{command:?}: {}", said.error);
    }
}

#[test]
fn the_help_and_the_options_page_say_the_same() {
    let site = Site::empty();
    let help = said(&mut site.command(&["--help"])).output.split_whitespace().collect::<Vec<_>>().join(" ");
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/options.md")).unwrap();
    for (status, meaning) in
        [(3, "there is no snapshot that can be read"), (4, "slurmctld does not answer"), (5, "slurmdbd does not answer")]
    {
        assert!(help.contains(&format!("{status} {meaning}")), "{help}");
        assert!(page.contains(&format!("| {status} | {meaning}")), "{status} is not on the page");
    }
}
