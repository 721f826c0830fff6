//! Submissions and what becomes of them.

use crate::{Cluster, PATIENCE, wait_for};
use job_types::number::UserId;
use job_types::record::{Record, SealKey};
use std::process::{Command, Output};
use std::time::Duration;

/// A job of a cluster.
#[derive(Debug)]
pub struct Job<'a> {
    cluster: &'a Cluster,
    /// The job's number, as Slurm prints it.
    pub id: String,
    /// What sbatch said on standard error.
    pub said: String,
    /// The directory of the cluster that has what the job prints.
    prints_into: &'static str,
}

/// What became of a submission.
#[derive(Debug)]
pub enum Submitted<'a> {
    /// The submission was accepted.
    Job(Job<'a>),
    /// It was refused; what sbatch said.
    Refused(String),
}

impl Cluster {
    /// A record as the submit filter would write it into a job of a user that is submitted now, by
    /// the key that the filter or the daemon has made.
    ///
    /// # Panics
    /// Where there is no key, or the text is no record.
    #[must_use]
    pub fn sealed(&self, record: &str, user: u32) -> String {
        let path = self.state_directory().join("record-key");
        let read = || std::fs::read(&path).ok().and_then(|bytes| bytes.try_into().ok());
        let key = SealKey::new(wait_for("the key of records", PATIENCE, read));
        let sealed = Record::parse(record).and_then(|record| record.sealed(&key, UserId(user), None));
        sealed.unwrap_or_else(|| panic!("{record} is no record that can be sealed"))
    }

    /// Submits a script with `arguments`.
    #[must_use]
    pub fn submit(&self, arguments: &[&str], script: &str) -> Submitted<'_> {
        self.submit_as(None, arguments, script)
    }

    /// Submits a command line as an ordinary user.
    ///
    /// # Panics
    /// Where sbatch can't be run.
    #[must_use]
    pub fn submit_for(&self, user: &str, arguments: &[&str], command_line: &str) -> Submitted<'_> {
        self.submit_for_with(user, &[], arguments, command_line)
    }

    /// Submits a command line as an ordinary user with `variables` in the environment of sbatch.
    ///
    /// # Panics
    /// Where sbatch can't be run.
    #[must_use]
    pub fn submit_for_with(&self, user: &str, variables: &[(&str, &str)], arguments: &[&str], command_line: &str) -> Submitted<'_> {
        let mut sbatch = self.prepare_for(user, "sbatch");
        sbatch.envs(variables.iter().copied());
        let printed = self.path("jobs/job-%j.out");
        sbatch.args(["--parsable", "--output"]).arg(printed).args(arguments).args(["--wrap", command_line]);
        self.submitted(&mut sbatch, "jobs")
    }

    /// Submits a script with `arguments` and `variables` in the environment of sbatch.
    ///
    /// # Panics
    /// Where sbatch can't be run.
    #[must_use]
    pub fn submit_as(&self, variables: Option<&[(&str, &str)]>, arguments: &[&str], script: &str) -> Submitted<'_> {
        let path = tempfile::Builder::new().prefix("job-").suffix(".sh").tempfile_in(self.path("log")).expect("a script");
        std::fs::write(path.path(), format!("#!/bin/bash\n{script}\n")).expect("a script");
        let mut sbatch = self.prepare("sbatch");
        sbatch.args(["--parsable", "--output", "job-%j.out"]).args(arguments).arg(path.path());
        sbatch.envs(variables.unwrap_or_default().iter().copied());
        self.submitted(&mut sbatch, "log")
    }

    fn submitted(&self, sbatch: &mut Command, prints_into: &'static str) -> Submitted<'_> {
        let Output { status, stdout, stderr } = sbatch.output().expect("sbatch runs");
        let said = String::from_utf8_lossy(&stderr).into_owned();
        if !status.success() {
            return Submitted::Refused(said);
        }
        let id = String::from_utf8_lossy(&stdout).trim().split(';').next().unwrap_or_default().to_owned();
        Submitted::Job(Job { cluster: self, id, said, prints_into })
    }
}

impl<'a> Submitted<'a> {
    /// The job.
    ///
    /// # Panics
    /// Where the submission was refused.
    #[must_use]
    pub fn job(self) -> Job<'a> {
        match self {
            Submitted::Job(job) => job,
            Submitted::Refused(said) => panic!("refused: {said}"),
        }
    }

    /// What sbatch said of the refusal.
    ///
    /// # Panics
    /// Where the submission was taken.
    #[must_use]
    pub fn refusal(self) -> String {
        match self {
            Submitted::Refused(said) => said,
            Submitted::Job(job) => panic!("job {} was taken: {}", job.id, job.said),
        }
    }
}

impl Job<'_> {
    /// A field of `scontrol show job`, such as `TimeLimit`; empty where it is not shown.
    #[must_use]
    pub fn field(&self, name: &str) -> String {
        let shown = self.cluster.output("scontrol", &["show", "job", "--oneliner", &self.id]);
        let begins = format!("{name}=");
        // A comment may hold blanks, and is last but for what follows it in every version.
        if name == "AdminComment" {
            return shown.split_once(&begins).map(|(_, rest)| rest.split(" StdErr=").next().unwrap_or(rest).to_owned()).unwrap_or_default();
        }
        shown.split_whitespace().find_map(|field| field.strip_prefix(&begins)).unwrap_or_default().to_owned()
    }

    /// Waits until the job is in one of the states, and returns it.
    #[must_use]
    pub fn wait(&self, states: &[&str], timeout: Duration) -> String {
        wait_for(&format!("job {} to be {states:?}", self.id), timeout, || {
            let state = self.field("JobState");
            states.contains(&state.as_str()).then_some(state)
        })
    }

    /// Waits until the job has ended, and returns its state.
    #[must_use]
    pub fn end(&self, timeout: Duration) -> String {
        self.wait(&["COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "DEADLINE", "BOOT_FAIL"], timeout)
    }

    /// What the job has printed.
    #[must_use]
    pub fn printed(&self) -> String {
        std::fs::read_to_string(self.cluster.path(self.prints_into).join(format!("job-{}.out", self.id))).unwrap_or_default()
    }

    /// What `queuecast explain` says of the job.
    #[must_use]
    pub fn explained(&self) -> String {
        self.cluster.output("queuecast", &["explain", &self.id])
    }

    /// Cancels the job.
    pub fn cancel(&self) {
        let _ = self.cluster.run("scancel", &[&self.id]);
    }
}
