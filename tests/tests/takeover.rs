//! A backup slurmctld that takes over.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use end_to_end::{Cluster, LARGE_WAIT, Options, wait_for};
use made_up_site::enforcing;
use rules_compiler::compile::{Source, compile};
use rules_compiler::in_force;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(180);

/// A second slurmctld of a cluster, on an address and with a state directory of its own.
struct Backup(Child);

impl Backup {
    /// Starts it as if on a machine called `backup`: Slurm tells its controllers apart by the names
    /// of their machines.
    fn start(cluster: &Cluster) -> Backup {
        // The first slurmctld would be ended by a second that names the same file of its process.
        let etc = cluster.path("run/backup-etc");
        assert!(Command::new("cp").arg("-r").args([cluster.path("etc"), etc.clone()]).status().unwrap().success());
        let written = std::fs::read_to_string(etc.join("slurm.conf")).unwrap();
        let own = written.replace("run/slurmctld.pid", "run/backup.pid").replace("log/slurmctld.log", "log/backup.log");
        std::fs::write(etc.join("slurm.conf"), own).unwrap();
        // What a daemon on its machine would have published there.
        let (state, own_state) = (cluster.state_directory(), cluster.path("run/backup-state"));
        assert!(Command::new("cp").arg("-a").args([&state, &own_state]).status().unwrap().success());
        let written = std::fs::read_to_string(etc.join("queuecast.toml")).unwrap();
        let own = written.replace(state.to_str().unwrap(), own_state.to_str().unwrap());
        assert_ne!(own, written);
        std::fs::write(etc.join("queuecast.toml"), own).unwrap();
        let hosts = cluster.path("run/backup-hosts");
        let known = std::fs::read_to_string("/etc/hosts").unwrap_or_default();
        std::fs::write(&hosts, format!("{known}\n127.0.0.2 backup\n")).unwrap();
        // The mounts of its machine are seen nowhere else, inside of a changed root as well.
        let begin = r#"
            . "$1/lib/mount-namespace.sh"
            choose_mount_namespace || exit
            exec unshare --uts "${mount_namespace[@]}" sh -c \
              'mount --bind "$1" /etc/hosts && hostname backup && exec slurmctld -D -f "$2"' sh "$2" "$3"
        "#;
        let ci = concat!(env!("CARGO_MANIFEST_DIR"), "/../ci");
        let mut command = Command::new("bash");
        command.args(["-c", begin, "bash", ci]).args([hosts, etc.join("slurm.conf")]);
        command.env("SLURM_CONF", etc.join("slurm.conf")).current_dir(cluster.path("log"));
        let said = std::fs::File::create(cluster.path("log/backup.out")).unwrap();
        let said_too = said.try_clone().unwrap();
        Backup(command.stdin(Stdio::null()).stdout(said).stderr(said_too).spawn().unwrap())
    }
}

impl Drop for Backup {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Puts a rule in force, as the daemon of that host would.
fn put_rule(cluster: &Cluster) {
    let text = "[[rule]]\nname = \"closed\"\nwhen = 'has(job.name) && job.name == \"closed\"'\nreject = \"it is closed\"\n".to_owned();
    let read_file = |_: &str| Err("there are no files".to_owned());
    let compiled = compile(&[Source { name: "rules.toml".to_owned(), text, is_configuration: false, read_file: &read_file }]);
    in_force::put(&cluster.state_directory(), &compiled.rules.unwrap()).unwrap();
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn the_plugin_works_in_the_slurmctld_that_takes_over_and_in_the_one_that_comes_back() {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let host = host.trim().split('.').next().unwrap();
    let options = Options::with_plugins("")
        .option("conf-line", &format!("SlurmctldHost={host}(127.0.0.1)"))
        .option("conf-line", "SlurmctldHost=backup(127.0.0.2)");
    let cluster = Cluster::up(&options);
    cluster.publish(enforcing(), &LARGE_WAIT, &[]);
    let molded = || cluster.submit(&["-N8", "-t10", "--exclusive", "--hold", "--auto-mold"], "true").job();
    put_rule(&cluster);
    let is_refused = |what: &str| {
        let output = cluster.run("sbatch", &["--hold", "-Jclosed", "-o/dev/null", "--wrap=true"]);
        assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("it is closed"), "{what}: {output:?}");
    };
    is_refused("before");
    let before = molded();
    assert_eq!(before.field("NumNodes"), "2-2", "{}", before.said);

    let _backup = Backup::start(&cluster);
    let is_up = |name: &str| {
        let said = cluster.run("scontrol", &["ping"]);
        String::from_utf8_lossy(&said.stdout).lines().any(|line| line.contains(&format!("at {name} is UP")))
    };
    wait_for("the backup to stand by", SOON, || is_up("backup").then_some(()));
    // The switch of one controller's host is not that of the other.
    let off = cluster.state_directory().join("off");
    std::fs::write(&off, "").unwrap();
    let _ = cluster.output("scontrol", &["takeover", "1"]);
    wait_for("the backup to take over", SOON, || {
        (!is_up(host) && cluster.log("backup").contains("Running as primary controller")).then_some(())
    });
    is_refused("by the one that took over");
    let after = molded();
    assert_eq!(after.field("NumNodes"), "2-2", "{}", after.said);
    assert!(after.said.contains("queuecast: 2 nodes instead of 8"), "{}", after.said);
    assert_eq!(before.field("NumNodes"), "2-2", "what was decided stays");
    std::fs::remove_file(off).unwrap();

    // One that still ends would count as one that runs, and `ci/cluster` would take the answer of
    // the backup for its own.
    let has_ended = |status: &str| status.lines().any(|line| line.starts_with("slurmctld ") && line.contains(" stopped "));
    wait_for("the first to end", SOON, || has_ended(&String::from_utf8_lossy(&cluster.control("status", &[]).stdout)).then_some(()));
    cluster.daemon("start", "slurmctld");
    wait_for("the first to be back", SOON, || is_up(host).then_some(()));
    is_refused("by the one that came back");
    let again = molded();
    assert_eq!(again.field("NumNodes"), "2-2", "{}", again.said);
    assert_eq!(cluster.output("squeue", &["-h", "-o", "%D"]).lines().count(), 3);
}
