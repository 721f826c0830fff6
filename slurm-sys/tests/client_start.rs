//! A configuration that libslurm cannot use is an error of ours, not the end of the process.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output};

use slurm_sys::client::{self, ClientError};

/// Runs `initialise_reports` in a process of its own, with this slurm.conf.
fn initialise_with(slurm_conf: &Path) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "initialise_reports", "--ignored", "--nocapture"])
        .env("SLURM_CONF", slurm_conf)
        .output()
        .unwrap()
}

#[test]
#[ignore = "run by the other tests, each time in a process of its own"]
fn initialise_reports() {
    for _again in 0..2 {
        match client::initialise() {
            Ok(()) => println!("outcome: started as {}", client::site().unwrap().cluster),
            Err(ClientError::Configuration { message }) => println!("outcome: {message}"),
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn a_missing_slurm_conf_is_an_error_and_may_be_tried_again() {
    let directory = tempfile::tempdir().unwrap();
    let output = initialise_with(&directory.path().join("slurm.conf"));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(said.matches("outcome:").count(), 2, "{said}");
    assert!(said.contains("slurm.conf"), "{said}");
    assert!(said.contains("No such file"), "{said}");
}

#[test]
fn a_slurm_conf_without_what_it_must_say_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let slurm_conf = directory.path().join("slurm.conf");
    std::fs::write(&slurm_conf, "ClusterName=half\nthis is not a line of slurm.conf\n").unwrap();
    let output = initialise_with(&slurm_conf);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(said.contains("outcome:") && said.contains("fatal"), "{said}");
}

#[test]
fn a_slurm_conf_that_libslurm_takes_tells_of_the_site() {
    let directory = tempfile::tempdir().unwrap();
    let slurm_conf = directory.path().join("slurm.conf");
    std::fs::write(
        &slurm_conf,
        "ClusterName=whole\nSlurmctldHost=localhost\nSlurmUser=root\nNodeName=localhost\nPartitionName=p Nodes=ALL\n",
    )
    .unwrap();
    let output = initialise_with(&slurm_conf);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(said.matches("outcome: started as whole").count(), 2, "{said}");
}
