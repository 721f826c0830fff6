//! The jobs that wait.

use std::fs::{self, Permissions};
use std::ops::RangeInclusive;
use std::os::unix::fs::PermissionsExt;

use anyhow::{Context, ensure};
use nix::unistd::Uid;

use crate::private_cluster::{PrivateCluster, own_name};

/// The arrays that the jobs that wait are tasks of.
const ARRAYS: u64 = 20;

/// The users who submit them, where root can submit for others.
const USERS: [&str; 5] = ["root", "games", "man", "mail", "news"];

impl PrivateCluster {
    /// Submits so many jobs that wait for some of so many nodes, in each of the partitions, and
    /// makes a record of slurmctld's of each: of an array whose tasks have not been touched there
    /// is one for all.
    ///
    /// # Errors
    ///
    /// Where slurmctld does not take them, or has another number of records afterwards.
    pub(crate) fn submit_waiting_jobs(&self, jobs: u64, nodes: u64, partitions: &[&str]) -> anyhow::Result<()> {
        let script = self.cluster.path("jobs/job.sh");
        fs::write(&script, "#!/bin/sh\ntrue\n")?;
        fs::set_permissions(&script, Permissions::from_mode(0o755))?;
        // A regular user's cluster is that user's alone.
        let own = own_name()?;
        let users = if Uid::effective().is_root() { &USERS[..] } else { &[own.as_str()] };
        for array in 0..ARRAYS {
            self.submit_array(array, (jobs, nodes), partitions, users)?;
        }
        // squeue of 26.05 tells records of one array in one line.
        let known = self.ask("scontrol", &["--oneliner", "show", "jobs"])?;
        let records = known.lines().filter(|job| job.contains(" JobState=PENDING ")).count() as u64;
        ensure!(records == jobs, "slurmctld has {records} records of jobs that wait instead of {jobs}");
        Ok(())
    }

    fn submit_array(&self, array: u64, (jobs, most_nodes): (u64, u64), partitions: &[&str], users: &[&str]) -> anyhow::Result<()> {
        let last_task = jobs / ARRAYS - 1;
        let nodes = 1_u64 << (array % if most_nodes < 64 { 5 } else { 7 });
        let minutes = 30 * (1 + array % 9);
        let mut sbatch = self.cluster.prepare("sbatch");
        sbatch.current_dir(self.cluster.path("jobs"));
        let place = array as usize;
        sbatch.args(["--parsable", "--uid", users[place % users.len()], "--partition", partitions[place % partitions.len()]]);
        sbatch.args([format!("--array=0-{last_task}"), format!("--nodes={nodes}"), format!("--time={minutes}")]);
        let job = self.printed(sbatch.args(["--output=/dev/null", "job.sh"])).context("an array was not submitted")?;
        let job = job.trim();
        // What is changed of a task is its own.
        self.ask("scontrol", &["update", &format!("JobId={job}_[1-{last_task}]"), "Nice=1"])
            .with_context(|| format!("the tasks of array {job} could not be made jobs of their own"))?;
        Ok(())
    }
}

/// Reads how many jobs wait: as many tasks of each array.
pub(crate) fn jobs_that_wait(text: &str) -> Result<u64, String> {
    let jobs = whole_number(text, 40..=200_000)?;
    if jobs % ARRAYS != 0 {
        return Err(format!("it is not a multiple of {ARRAYS}"));
    }
    Ok(jobs)
}

/// Reads a whole number of a range.
pub(crate) fn whole_number(text: &str, range: RangeInclusive<u64>) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| format!("it is not a whole number from {} to {}", range.start(), range.end()))
}
