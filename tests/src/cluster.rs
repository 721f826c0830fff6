//! A private cluster, and the commands that are run on it.

use crate::place::Place;
use crate::{built, find_built, project};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// How a cluster is made; `ci/cluster --help` has the meaning of each.
#[derive(Clone, Debug, Default)]
pub struct Options {
    arguments: Vec<String>,
    plugins: bool,
    configuration: Option<String>,
    slurm_user: Option<String>,
    directory_in: Option<PathBuf>,
    kept_in: Option<PathBuf>,
    any_caller: bool,
}

impl Options {
    /// A cluster without our plugins.
    #[must_use]
    pub fn plain() -> Options {
        Options::default()
    }

    /// A cluster with both plugins, and `queuecast.toml` with `configuration` behind its state
    /// directory.
    #[must_use]
    pub fn with_plugins(configuration: &str) -> Options {
        Options { plugins: true, configuration: Some(configuration.to_owned()), ..Options::default() }
    }

    /// Lets slurmctld run as this user (`SlurmUser`), to whom the state directories belong.
    #[must_use]
    pub fn slurm_user(mut self, name: &str) -> Options {
        self.slurm_user = Some(name.to_owned());
        self.option("conf-line", &format!("SlurmUser={name}"))
    }

    /// Makes the cluster's directory in `parent` instead of the directory of temporary files.
    #[must_use]
    pub fn directory_in(mut self, parent: &Path) -> Options {
        self.directory_in = Some(parent.to_owned());
        self
    }

    /// Makes the cluster in this directory, where it stays, stopped, when it is dropped. A cluster
    /// that is there already comes back with its slurmdbd and without its jobs.
    #[must_use]
    pub fn kept_in(mut self, directory: &Path) -> Options {
        self.kept_in = Some(directory.to_owned());
        self
    }

    /// Lets other users than root bring the cluster up. It then runs jobs of that user only.
    #[must_use]
    pub fn any_caller(mut self) -> Options {
        self.any_caller = true;
        self
    }

    /// Adds one option of `ci/cluster up`.
    #[must_use]
    pub fn option(mut self, name: &str, value: &str) -> Options {
        self.arguments.extend([format!("--{name}"), value.to_owned()]);
        self
    }
}

/// A private cluster that runs.
#[derive(Debug)]
pub struct Cluster {
    place: Place,
}

impl Cluster {
    /// Makes and starts a cluster.
    ///
    /// # Panics
    /// Where it does not come up (the message has what `ci/cluster` said), and for other users than
    /// root, whose cluster could run no one else's jobs, unless [`Options::any_caller`] allows
    /// that.
    #[must_use]
    pub fn up(options: &Options) -> Cluster {
        let user = std::fs::metadata("/proc/self").map(|own| own.uid());
        let is_root = user.is_ok_and(|user| user == 0);
        assert!(is_root || options.any_caller, "cluster tests need root; without --ignored or --include-ignored they are not run");
        let place = match &options.kept_in {
            Some(directory) => Place::kept(directory),
            None => Place::scratch(&options.directory_in.clone().unwrap_or_else(std::env::temp_dir)),
        };
        let cluster = Cluster { place: place.expect("a directory for the cluster") };
        if options.plugins {
            let plugins = cluster.path("plugins");
            checked(&mut install_plugins(&plugins));
        }
        let mut up = cluster.command("up");
        up.args(&options.arguments);
        if options.plugins {
            let spank = cluster.path("plugins/spank_queuecast.so");
            up.args(["--job-submit-plugin", "queuecast", "--plugstack-line"]).arg(format!("optional {}", spank.display()));
        }
        if let Some(configuration) = &options.configuration {
            std::fs::create_dir_all(cluster.path("etc")).expect("the directory is ours");
            cluster.configure(configuration);
        }
        if let Some(user) = &options.slurm_user {
            for directory in [cluster.path("state"), cluster.state_directory()] {
                std::fs::create_dir_all(&directory).expect("the directory is ours");
                checked(Command::new("chown").arg(user).arg(&directory));
            }
        }
        checked(&mut up);
        cluster
    }

    /// A path in the cluster's directory.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// The directory that the daemon and the filter share.
    #[must_use]
    pub fn state_directory(&self) -> PathBuf {
        self.path("queuecast")
    }

    /// Writes `queuecast.toml`: the state directory, and `configuration` behind it.
    ///
    /// # Panics
    /// Where it can't be written.
    pub fn configure(&self, configuration: &str) {
        let state = self.state_directory();
        std::fs::create_dir_all(&state).expect("the directory is ours");
        let text = format!("state_directory = \"{}\"\n{configuration}", state.display());
        std::fs::write(self.path("etc/queuecast.toml"), text).expect("the directory is ours");
    }

    /// Stops, starts or restarts a daemon: `cluster.daemon("stop", "slurmdbd")`.
    ///
    /// # Panics
    /// Where `ci/cluster` fails.
    pub fn daemon(&self, verb: &str, name: &str) {
        checked(self.command(verb).arg(name));
    }

    /// Ends a daemon with SIGKILL.
    pub fn kill(&self, name: &str) {
        self.daemon("kill", name);
    }

    /// Any command of `ci/cluster` on this cluster.
    ///
    /// # Panics
    /// Where it can't be run.
    #[must_use]
    pub fn control(&self, verb: &str, arguments: &[&str]) -> Output {
        self.command(verb).args(arguments).output().expect("ci/cluster runs")
    }

    /// Changes options of the cluster and restarts its slurmctld.
    ///
    /// # Panics
    /// Where `ci/cluster` fails.
    pub fn reconfigure(&self, options: &[&str]) {
        checked(self.command("configure").args(options));
    }

    /// Runs a command of Slurm's or ours in the cluster's environment; ours are those of this
    /// build.
    #[must_use]
    pub fn run(&self, program: &str, arguments: &[&str]) -> Output {
        self.prepare(program).args(arguments).output().unwrap_or_else(|error| panic!("{program}: {error}"))
    }

    /// What a command prints on standard output.
    ///
    /// # Panics
    /// Where it fails.
    #[must_use]
    pub fn output(&self, program: &str, arguments: &[&str]) -> String {
        let output = self.run(program, arguments);
        assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// A command in the cluster's environment, to be completed by the caller.
    #[must_use]
    pub fn prepare(&self, program: &str) -> Command {
        // Slurm's commands need no build of ours.
        let ours = find_built().map(|built| built.join(program)).filter(|ours| ours.is_file());
        let mut command = Command::new(ours.unwrap_or_else(|| program.into()));
        for (name, _) in std::env::vars().filter(|(name, _)| is_left_out(name)) {
            command.env_remove(name);
        }
        command.env("SLURM_CONF", self.path("etc/slurm.conf")).current_dir(self.path("log"));
        command
    }

    /// A command of Slurm's in the cluster's environment that an ordinary user runs, in the
    /// directory where every user may write.
    #[must_use]
    pub fn prepare_for(&self, user: &str, program: &str) -> Command {
        let plain = self.prepare(program);
        let mut command = Command::new("setpriv");
        command.args(["--reuid", user, "--regid", user, "--init-groups", "--"]).arg(plain.get_program());
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.current_dir(self.path("jobs"));
        command
    }

    /// What the log of a daemon holds by now.
    #[must_use]
    pub fn log(&self, name: &str) -> String {
        std::fs::read(self.path("log").join(format!("{name}.log")))
            .map(|log| String::from_utf8_lossy(&log).into_owned())
            .unwrap_or_default()
    }

    fn command(&self, verb: &str) -> Command {
        let mut command = Command::new(project().join("ci/cluster"));
        command.arg(verb).arg(self.place.path());
        command
    }

    /// Returns the name of the cluster in slurm.conf.
    ///
    /// # Panics
    /// Where it has none.
    #[must_use]
    pub fn name(&self) -> String {
        let configuration = std::fs::read_to_string(self.path("etc/slurm.conf")).expect("slurm.conf");
        configuration.lines().find_map(|line| line.strip_prefix("ClusterName=")).expect("a name").to_owned()
    }

    /// Directory of the cluster.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.place.path()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // If this can't be printed either, a second panic would hide the first.
            let mut output = std::io::stdout();
            for name in ["slurmctld", "slurmdbd", "queuecastd", "n1"] {
                let log = self.log(name);
                let lines: Vec<&str> = log.lines().collect();
                let _ = writeln!(output, "--- end of {name}.log\n{}", lines[lines.len().saturating_sub(30)..].join("\n"));
            }
        }
        let _ = self.command("down").output();
    }
}

/// The command that puts the plugins of this build into a directory.
#[must_use]
pub fn install_plugins(directory: &Path) -> Command {
    let mut command = Command::new(project().join("ci/install-plugins"));
    command.arg(directory).arg("--from").arg(built());
    command
}

/// Whether a variable of the caller's environment stays out of commands on the cluster, because it
/// would change submissions or `queuecastd`: the shell of whoever runs the tests may have set it,
/// or the job of another cluster or the service manager that they run under.
fn is_left_out(name: &str) -> bool {
    ["QUEUECAST_", "SBATCH_", "SLURM"].iter().any(|begin| name.starts_with(begin)) || ["NOTIFY_SOCKET", "WATCHDOG_USEC"].contains(&name)
}

/// Runs a command of the project's.
fn checked(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?} failed\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
