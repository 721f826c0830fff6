//! slurmctld as a user who is not root, and queuecastd beside it as others than Slurm's user.

#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Command, Output};

use end_to_end::{Cluster, Options, PATIENCE, built, wait_for};

/// Slurm's user.
const SLURM: &str = "games";
/// An operator.
const OPERATOR: &str = "man";
/// Anybody.
const USER: &str = "mail";

const CONFIGURATION: &str = "[snapshot]\ninterval = \"1s\"\n[metrics]\nlisten = \"off\"\n\
    [[rule]]\nname = \"closed\"\nwhen = 'has(job.name) && job.name == \"closed\"'\nreject = \"it is closed\"\n";

fn submit(cluster: &Cluster, name: &str) -> Output {
    let arguments = ["--hold", "-t5", "-o/dev/null", "-J", name, "--wrap=true"];
    cluster.prepare_for(USER, "sbatch").args(arguments).output().unwrap()
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn rules_hold_in_a_slurmctld_that_is_not_root_whatever_it_may_not_read_and_an_operator_runs_no_daemon() {
    let version = String::from_utf8(Command::new("slurmctld").arg("-V").output().unwrap().stdout).unwrap();
    if !version.contains(" 22.05.") {
        // It asks slurmdbd for the trackable resources as it starts, and ends without an answer.
        println!("skipped: of {}, slurmdbd that runs as root refuses a slurmctld of another user", version.trim());
        return;
    }
    let options = Options::with_plugins(CONFIGURATION).slurm_user(SLURM).option("conf-line", "PrivateData=jobs,users,accounts");
    let cluster = Cluster::up(&options);
    let state = cluster.state_directory();
    let permit = |mode: u32| fs::set_permissions(&state, fs::Permissions::from_mode(mode)).unwrap();
    let is_refused = || {
        assert!(submit(&cluster, "open").status.success(), "other jobs are let through");
        !submit(&cluster, "closed").status.success()
    };

    // The daemon runs as root: what it writes for the few is still Slurm's user's to read.
    let daemon = cluster.start_queuecastd();
    wait_for("the rule in slurmctld", PATIENCE, || is_refused().then_some(()));
    cluster.wait_for_snapshot();
    let owner: u32 = cluster.output("id", &["-u", SLURM]).parse().unwrap();
    for name in ["rules", "rules-tables", "snapshot"] {
        let metadata = wait_for(name, PATIENCE, || fs::metadata(state.join(name)).ok());
        assert_eq!((metadata.uid(), metadata.mode() & 0o777), (owner, 0o640), "{name}");
    }
    drop(daemon);

    // Without permission nothing is known of the file, and the rules stay, with their copy.
    permit(0o000);
    (0..3).for_each(|_| assert!(is_refused(), "{}", cluster.log("slurmctld")));
    permit(0o755);
    assert!(is_refused() && state.join("rules-in-force").exists(), "{}", cluster.log("slurmctld"));
    assert!(!cluster.log("slurmctld").contains("the file of rules was removed"));

    // An operator may read and change all jobs, and is not who may decide about them.
    let program = cluster.path("jobs/queuecastd");
    fs::copy(built().join("queuecastd"), &program).unwrap();
    let _ = cluster.output("sacctmgr", &["-i", "modify", "user", OPERATOR, "set", "adminlevel=Operator"]);
    let tried = cluster.prepare_for(OPERATOR, program.to_str().unwrap()).arg("--once").output().unwrap();
    let said = String::from_utf8_lossy(&tried.stderr);
    assert!(tried.status.code() == Some(1) && said.contains("run it as that user"), "{said}");

    // As Slurm's user it goes on where root's has ended.
    let tried = cluster.prepare_for(SLURM, program.to_str().unwrap()).arg("--once").output().unwrap();
    assert!(tried.status.success(), "{}", String::from_utf8_lossy(&tried.stderr));
    assert!(is_refused());
}
