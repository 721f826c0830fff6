//! A reader who does what a page says, on a private cluster.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Output;
use std::time::{Duration, Instant};

use super::page::{Block, Page, Shown, words_of};
use crate::{Cluster, built, with_imported};

/// What is run in the place of what is shown, and why. `CLUSTER` and `STATE` stand for the
/// cluster's directory and its state directory, `JOB` for the job that was submitted last, and
/// `SLOT` for the firm slot that was reserved last without one.
#[derive(Debug)]
pub struct Substitution {
    /// The command as the page shows it.
    pub shown: &'static str,
    /// What is run; `None`: nothing.
    pub run: Option<&'static str>,
    /// Why something else is run.
    pub because: &'static str,
}

/// Why commands ask about a past that is not the cluster's own.
const IN_ANOTHER_CLUSTER: &str = "the past was imported into a cluster of its own";

/// All that differs between what the pages show and what is run. Whatever is not here is run as it
/// stands.
pub const SUBSTITUTIONS: [Substitution; 12] = [
    Substitution { shown: "ci/demo", run: None, because: "continuous integration runs it by itself, and it takes minutes" },
    Substitution { shown: "ci/test", run: None, because: "this test is run by it" },
    Substitution {
        shown: "curl -s http://127.0.0.1:9487/metrics",
        run: Some("metrics"),
        because: "the port is another one, and the shell reads the page",
    },
    Substitution {
        shown: "systemctl reload queuecastd",
        run: Some("reload"),
        because: "systemd does not run here: SIGHUP, as the unit sends it, and then until it is taken up",
    },
    Substitution {
        shown: "journalctl -u queuecastd --since today",
        run: Some("cat CLUSTER/log/queuecastd.log"),
        because: "systemd does not run here",
    },
    Substitution {
        shown: "sacct --allusers --allocations --duplicates",
        run: Some("sacct --clusters=past --allusers --allocations --duplicates"),
        because: IN_ANOTHER_CLUSTER,
    },
    Substitution { shown: "export-swf --", run: Some("export-swf --cluster past --"), because: IN_ANOTHER_CLUSTER },
    Substitution { shown: "--slurmdbd", run: Some("--slurmdbd --cluster past"), because: IN_ANOTHER_CLUSTER },
    Substitution { shown: "/etc/slurm/", run: Some("CLUSTER/etc/"), because: "the cluster is a private one" },
    Substitution { shown: "/var/spool/queuecast", run: Some("STATE"), because: "the cluster is a private one" },
    Substitution { shown: "1234", run: Some("JOB"), because: "a job has the number that it gets" },
    Substitution { shown: "cancel 17", run: Some("cancel SLOT"), because: "a firm slot has the number that it gets" },
];

/// The user who types what stands behind `$`: one of the accounts of every Debian, known to the
/// cluster.
const USER: (&str, u32, u32) = ("games", 5, 60);

/// How long to wait for an output that is as quoted: records reach slurmdbd, and forecasts the
/// snapshot, some seconds later.
const PATIENCE: Duration = Duration::from_secs(180);

/// Commands that only look, and can be run again until they show what is quoted.
const LOOKS: [&str; 11] = [
    "queuecast ",
    "metrics",
    "sacct ",
    "squeue ",
    "for job in ",
    "scontrol show",
    "scontrol ping",
    "cat ",
    "ls ",
    "sbatch --help",
    "queuecastd --check",
];

/// What a command prints that says no, and so fails.
const SAYS_NO: [&str; 3] = ["error:", "queuecast: job ", "leaves all jobs alone"];

/// A reader of pages on a cluster.
#[derive(Debug)]
pub struct Reader<'a> {
    cluster: &'a Cluster,
    port: u16,
    last_job: String,
    last_slot: String,
    directory: PathBuf,
    programs: PathBuf,
    /// Which substitutions were needed, by what they replace.
    pub substituted: BTreeSet<&'static str>,
    /// How many commands were run.
    pub commands: usize,
}

impl<'a> Reader<'a> {
    /// A reader on a cluster whose daemon serves its metrics on a port.
    ///
    /// # Panics
    /// Where the cluster's directory can't be written.
    #[must_use]
    pub fn new(cluster: &'a Cluster, port: u16) -> Reader<'a> {
        let programs = cluster.path("jobs/bin");
        fs::create_dir_all(&programs).expect("the directory is ours");
        for name in ["queuecast", "queuecastd"] {
            // Other users need not reach the directory of the build.
            let (from, to) = (built().join(name), programs.join(name));
            if fs::hard_link(&from, &to).is_err() {
                fs::copy(&from, &to).expect("a copy of the program");
            }
        }
        let directory = cluster.path("jobs/reader");
        fs::create_dir_all(&directory).expect("the directory is ours");
        chown(&directory, Some(USER.1), Some(USER.2)).expect("root gives its directory away");
        Reader {
            cluster,
            port,
            last_job: "0".to_owned(),
            last_slot: "0".to_owned(),
            directory,
            programs,
            substituted: BTreeSet::new(),
            commands: 0,
        }
    }

    /// Writes a script for the reader to submit.
    ///
    /// # Panics
    /// Where it can't be written.
    pub fn script(&self, name: &str, text: &str) {
        fs::write(self.directory.join(name), text).expect("the directory is ours");
    }

    /// Does what a page says, from its beginning to its end.
    ///
    /// # Panics
    /// Where a command fails, or does not print what is quoted.
    pub fn read(&mut self, page: &Page) {
        self.read_after(page, || {});
    }

    /// Does what a page says, and calls `before` before each command.
    ///
    /// # Panics
    /// Where a command fails, or does not print what is quoted.
    pub fn read_after(&mut self, page: &Page, before: impl Fn()) {
        for block in page.blocks() {
            match block {
                Block::Console(shown) => {
                    for shown in shown {
                        before();
                        self.follow(page, &shown);
                    }
                }
                Block::Other { language, text } => {
                    if let Some(written) = text.strip_prefix("# /etc/slurm/queuecast.toml\n").filter(|_| language == "toml") {
                        self.configure(written);
                    }
                }
            }
        }
    }

    /// Writes the configuration that a page shows, with what a private cluster needs.
    pub fn configure(&self, text: &str) {
        let cluster = format!("[snapshot]\ninterval = \"1s\"\n[metrics]\nlisten = \"127.0.0.1:{}\"\n", self.port);
        self.cluster.configure(&with_imported(&(cluster + text)));
    }

    /// Has the daemon take the configuration up.
    ///
    /// # Panics
    /// Where it does not.
    pub fn reload(&self) {
        let output = self.shell("reload", true);
        assert!(output.status.success(), "{}", printed(&output));
    }

    /// What the daemon serves as metrics.
    #[must_use]
    pub fn metrics(&self) -> String {
        printed(&self.shell("metrics", false))
    }

    fn follow(&mut self, page: &Page, shown: &Shown) {
        let Some(command) = self.substitute(&shown.command) else { return };
        self.commands += 1;
        let quoted: Vec<String> = shown.quoted.iter().filter_map(|line| self.substitute(line)).collect();
        let says_no = quoted.iter().any(|line| SAYS_NO.iter().any(|no| line.contains(no)));
        let begin = Instant::now();
        loop {
            let output = self.shell(&command, shown.as_root);
            let printed = printed(&output);
            let missing = quoted.iter().find(|line| !is_printed(line, &printed));
            if output.status.success() != says_no && missing.is_none() {
                if let Some(number) = printed.split("Submitted batch job ").nth(1).and_then(|rest| rest.split_whitespace().next()) {
                    number.clone_into(&mut self.last_job);
                }
                let number_of_slot = |line: &str| line.strip_prefix("number ")?.trim().parse::<u64>().ok();
                if let Some(number) = printed.lines().find_map(number_of_slot) {
                    self.last_slot = number.to_string();
                }
                return;
            }
            let may_come = LOOKS.iter().any(|look| command.starts_with(look)) && begin.elapsed() < PATIENCE;
            let what = missing.map_or_else(|| format!("{}", output.status), |line| format!("no line like {line:?}"));
            assert!(may_come, "{}: {}\n  run as: {command}\n  {what}\n{printed}", page.name, shown.command);
            std::thread::sleep(Duration::from_secs(1));
        }
    }

    /// What is run for what is shown; `None`: nothing.
    fn substitute(&mut self, shown: &str) -> Option<String> {
        let mut text = shown.to_owned();
        for substitution in SUBSTITUTIONS.iter().filter(|substitution| shown.contains(substitution.shown)) {
            self.substituted.insert(substitution.shown);
            let state = self.cluster.state_directory();
            let run = substitution.run?.replace("CLUSTER", &self.cluster.directory().to_string_lossy());
            let run = run.replace("STATE", &state.to_string_lossy()).replace("JOB", &self.last_job).replace("SLOT", &self.last_slot);
            text = text.replace(substitution.shown, &run);
        }
        Some(text)
    }

    /// Runs a line of a shell, as root or as [`USER`], in the reader's directory.
    fn shell(&self, line: &str, as_root: bool) -> Output {
        let mut command = self.cluster.prepare("bash");
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.programs.display()));
        command.args(["--norc", "-c", &format!("{}\n{line}", self.functions())]).current_dir(&self.directory);
        if !as_root {
            let (name, user, group) = USER;
            command.uid(user).gid(group).env("USER", name).env("HOME", &self.directory);
        }
        command.output().expect("bash")
    }

    /// Functions of the shell that the substitutions call.
    fn functions(&self) -> String {
        let (state, port) = (self.cluster.state_directory(), self.port);
        format!(
            r#"metrics() {{
  exec 3<>/dev/tcp/127.0.0.1/{port} && printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3 && cat <&3
}}
loaded() {{ queuecast status --format json | grep -o '"loaded_at":[0-9]*' | cut -d : -f 2; }}
reload() {{
  local before
  before=$(loaded)
  while (($(date +%s) <= before)); do sleep 0.2; done
  kill -s HUP "$(cat {state}/lock)"
  for ((try = 0; try < 900; try++)); do
    if (($(loaded) > before)); then return 0; fi
    sleep 0.2
  done
  echo "queuecastd does not take the configuration up" >&2
  return 1
}}"#,
            state = state.display()
        )
    }
}

fn printed(output: &Output) -> String {
    [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat()
}

/// Whether one line of an output has all words of the line that is quoted.
fn is_printed(quoted: &str, printed: &str) -> bool {
    let has_all = |line: &str| words_of(quoted).all(|word| words_of(line).any(|printed| printed == word));
    words_of(quoted).next().is_none() || printed.lines().any(has_all)
}
