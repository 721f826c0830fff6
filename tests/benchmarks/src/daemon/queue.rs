//! The jobs that wait.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use anyhow::{Context, ensure};
use nix::unistd::Uid;

use super::site::PARTITIONS;
use super::size::{ARRAYS, Size};
use crate::private_cluster::{PrivateCluster, own_name};

/// The users who submit them, where root can submit for others.
const USERS: [&str; 5] = ["root", "games", "man", "mail", "news"];

impl PrivateCluster {
    /// Submits the jobs that wait, and makes a record of slurmctld's of each: of an array whose
    /// tasks have not been touched there is one for all.
    ///
    /// # Errors
    ///
    /// Where slurmctld does not take them, or has another number of records afterwards.
    pub(super) fn submit_queue(&self, size: &Size) -> anyhow::Result<()> {
        let script = self.cluster.path("jobs/job.sh");
        fs::write(&script, "#!/bin/sh\ntrue\n")?;
        fs::set_permissions(&script, Permissions::from_mode(0o755))?;
        // A regular user's cluster is that user's alone.
        let own = own_name()?;
        let users = if Uid::effective().is_root() { &USERS[..] } else { &[own.as_str()] };
        for array in 0..ARRAYS {
            self.submit_array(array, size, users)?;
        }
        let records = self.ask("squeue", &["--noheader", "--states=PENDING"])?.lines().count() as u64;
        let pending = size.pending;
        ensure!(records == pending, "slurmctld has {records} records of jobs that wait instead of {pending}");
        Ok(())
    }

    fn submit_array(&self, array: u64, size: &Size, users: &[&str]) -> anyhow::Result<()> {
        let last_task = size.pending / ARRAYS - 1;
        let nodes = 1_u64 << (array % if size.nodes < 64 { 5 } else { 7 });
        let minutes = 30 * (1 + array % 9);
        let mut sbatch = self.cluster.prepare("sbatch");
        sbatch.current_dir(self.cluster.path("jobs"));
        let place = array as usize;
        sbatch.args(["--parsable", "--uid", users[place % users.len()], "--partition", PARTITIONS[place % PARTITIONS.len()]]);
        sbatch.args([format!("--array=0-{last_task}"), format!("--nodes={nodes}"), format!("--time={minutes}")]);
        let job = self.printed(sbatch.args(["--output=/dev/null", "job.sh"])).context("an array was not submitted")?;
        let job = job.trim();
        // What is changed of a task is its own.
        self.ask("scontrol", &["update", &format!("JobId={job}_[1-{last_task}]"), "Nice=1"])
            .with_context(|| format!("the tasks of array {job} could not be made jobs of their own"))?;
        Ok(())
    }
}
