//! Two clusters with their daemons, each of which is asked by a command, as ssh would.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Cluster, Daemon, Options, QUICK, built};

/// Set for a command of `queuecast`, it names the hook that the commands of the clusters run.
pub const SCENARIO: &str = "SCENARIO";

/// East and west, under one slurmdbd. `queuecast` of either asks the other, and itself, by a shell
/// command, which can be made to fail.
#[derive(Debug)]
pub struct TwoClusters {
    /// The daemon of east, which can be ended and started again.
    pub east_daemon: Option<Daemon>,
    /// The daemon of west.
    pub west_daemon: Option<Daemon>,
    // The one whose slurmdbd both use stops last.
    /// The cluster whose accounting is that of east.
    pub west: Cluster,
    /// The cluster where users are.
    pub east: Cluster,
}

impl TwoClusters {
    /// Brings both up, with this policy beside quick snapshots.
    ///
    /// # Panics
    /// Where that fails.
    #[must_use]
    pub fn up(policy: &str) -> TwoClusters {
        let configuration = format!("{QUICK}{policy}");
        let east = Cluster::up(&Options::with_plugins(&configuration).option("cluster-name", "east"));
        let accounting = east.directory().to_str().expect("a path in UTF-8");
        let west = Cluster::up(&Options::with_plugins(&configuration).option("cluster-name", "west").option("accounting-of", accounting));
        executable(&east.path("queuecast-for-users"), &fs::read(built().join("queuecast")).expect("the command line"));
        executable(&east.path("to-east"), to(&east, "east", &east).as_bytes());
        executable(&east.path("to-west"), to(&west, "west", &east).as_bytes());
        executable(&east.path("to-north"), b"#!/bin/sh\nexec sleep 60\n");
        let of = |name: &str| format!("[clusters.{name}]\ncommand = \"{}\"\n", east.path(&format!("to-{name}")).display());
        east.configure(&format!("{configuration}{}{}{}", of("east"), of("west"), of("north")));
        west.configure(&format!("{configuration}{}", of("east")));
        let (east_daemon, west_daemon) = (Some(east.start_queuecastd()), Some(west.start_queuecastd()));
        let two = TwoClusters { east_daemon, west_daemon, west, east };
        for cluster in [&two.east, &two.west] {
            cluster.snapshot_with("one with a plan", |snapshot| snapshot.plan().is_some());
        }
        two
    }

    /// A command of `queuecast` on east, for a user without any privilege.
    #[must_use]
    pub fn command(&self, user: &str, arguments: &[&str]) -> Command {
        let mut command = self.east.prepare("setpriv");
        command.args(["--reuid", user, "--regid", user, "--clear-groups"]).arg(self.east.path("queuecast-for-users")).args(arguments);
        command
    }

    /// A file by which tests and the commands of the clusters tell each other something.
    #[must_use]
    pub fn sign(&self, name: &str) -> PathBuf {
        self.east.path("jobs").join(name)
    }

    /// What the parts are known by that a command with that [`SCENARIO`] has asked for, the first
    /// attempt first.
    ///
    /// # Panics
    /// Where it has asked for none.
    #[must_use]
    pub fn tokens(&self, scenario: &str) -> Vec<String> {
        let asked = fs::read_to_string(self.sign(&format!("tokens-{scenario}"))).expect("parts that were asked for");
        let mut tokens: Vec<String> = asked.lines().map(str::to_owned).collect();
        tokens.dedup();
        tokens
    }

    /// Has the commands of both clusters run these lines of a shell first, for a command with that
    /// [`SCENARIO`]. They find in `$cluster` who is asked and in `$verb` what for; `answer` has the
    /// cluster answer, and `$signs` is where [`TwoClusters::sign`] lies.
    ///
    /// # Panics
    /// Where that can't be written.
    pub fn hook(&self, scenario: &str, lines: &str) {
        fs::write(self.sign(&format!("hook-{scenario}")), lines).expect("a writable directory");
    }
}

/// The command that runs `queuecast` on a cluster: what it is given is read by a shell there. A
/// daemon that asks about a part goes by the scenario of who has asked for it, and nobody reaches a
/// cluster from which that is cut off.
fn to(cluster: &Cluster, name: &str, east: &Cluster) -> String {
    let (slurm_conf, signs) = (cluster.path("etc/slurm.conf"), east.path("jobs"));
    let program = east.path("queuecast-for-users");
    format!(
        r#"#!/bin/sh
export SLURM_CONF={}
cluster={name} signs={} verb=other
answer() {{ sh -c "{program} $*"; }}
case " $* " in
  *" reserve "*) verb=reserve ;;
  *" confirm "*) verb=confirm ;;
  *" decision "*) verb=decision ;;
esac
for word in "$@"; do
  # It may stand in quotes, for the shell of the other host.
  token="${{word##*--part-of=}}"
  token="${{token%"'"}}"
  [ "$token" = "${{word%"'"}}" ] || {{
    echo "${SCENARIO}" > "$signs/part-$token"
    echo "$token" >> "$signs/tokens-${SCENARIO}"
  }}
  [ -n "${SCENARIO}" ] || [ ! -e "$signs/part-$word" ] || {SCENARIO}=$(cat "$signs/part-$word")
done
[ ! -e "$signs/cut-${SCENARIO}-$cluster" ] || exit 255
[ ! -e "$signs/hook-${SCENARIO}" ] || . "$signs/hook-${SCENARIO}"
exec sh -c "exec {program} $*"
"#,
        slurm_conf.display(),
        signs.display(),
        program = program.display(),
    )
}

fn executable(path: &Path, content: &[u8]) {
    fs::write(path, content).expect("a directory of ours");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a file of ours");
}
