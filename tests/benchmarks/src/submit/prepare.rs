//! What is the same for all rows: the past, the running jobs and the queues.

use std::collections::BTreeMap;
use std::fs;
use std::process::Output;
use std::time::Duration;

use anyhow::{Context, bail};
use end_to_end::with_imported;

use super::{Benchmark, CPUS_OF_A_NODE, Extent, LIMIT_MINUTES, NODES, PATIENCE, RUNNING_CPUS, TASKS, past};
use crate::private_cluster::PrivateCluster;

/// The name of the held jobs that make up a queue.
const QUEUED: &str = "queued";

/// How long the first snapshot of queuecastd may take.
const FIRST_SNAPSHOT: Duration = Duration::from_secs(120);

/// What queuecast is set to, with whose jobs are molded. Any gain is enough: without a plan a job
/// is done half a minute sooner by past waits and run times. The port for metrics may be that of a
/// daemon that the machine has already.
pub(super) fn configuration(mold: &str) -> String {
    let policy = format!("[policy]\nmode = \"enforce\"\nmold = \"{mold}\"\nmin_gain = 0.0\nmin_gain_time = \"0s\"\n");
    format!("{policy}[metrics]\nlisten = \"off\"\n")
}

impl PrivateCluster {
    /// Submits a job with these arguments of sbatch from the directory of jobs.
    pub(super) fn submit_with(&self, arguments: &[&str]) -> anyhow::Result<Output> {
        let mut sbatch = self.cluster.prepare("sbatch");
        self.submit(sbatch.args(arguments).current_dir(self.jobs()))
    }

    /// Submits a job of the size that is measured, with these options.
    pub(super) fn submit_one(&self, options: &[&str]) -> anyhow::Result<()> {
        let tasks = format!("--ntasks={TASKS}");
        let limit = format!("--time={LIMIT_MINUTES}");
        self.submit_with(&[&["--quiet"][..], options, &[&*tasks, &*limit, "job.sh"]].concat())?;
        Ok(())
    }

    /// Starts slurmctld afresh from the state with so many held jobs, without a plugin.
    pub(super) fn restore_state(&self, queued: usize) -> anyhow::Result<()> {
        self.start_from_state(queued)?;
        self.await_allocation()?;
        self.require_waiting(queued)
    }

    /// Waits until the running jobs hold all nodes, which slurmctld learns anew when it starts.
    fn await_allocation(&self) -> anyhow::Result<()> {
        let filled = self.wait(PATIENCE, || {
            let states = self.ask("sinfo", &["--noheader", "--format=%t"])?;
            let mut states = states.split_whitespace().peekable();
            Ok((states.peek().is_some() && states.all(|state| state == "alloc")).then_some(()))
        })?;
        filled.with_context(|| format!("the running jobs do not fill the nodes: {}", self.output_of("sinfo")))
    }

    /// What a command prints, for a message.
    fn output_of(&self, program: &str) -> String {
        String::from_utf8_lossy(&self.cluster.run(program, &[]).stdout).trim_end().to_owned()
    }

    fn fill_nodes(&self) -> anyhow::Result<()> {
        let tasks = format!("--ntasks={RUNNING_CPUS}");
        // Each job is on two nodes, where none of the past jobs ran: so the plan goes by its time
        // limit.
        let tasks_of_a_node = format!("--ntasks-per-node={}", RUNNING_CPUS / 2);
        let mut limit_minutes = 1_440_u32;
        for _ in 0..NODES * CPUS_OF_A_NODE / RUNNING_CPUS {
            let limit = format!("--time={limit_minutes}");
            self.submit_with(&["--quiet", "--nodes=2", &tasks, &tasks_of_a_node, &limit, "--output=/dev/null", "sleep.sh"])?;
            limit_minutes = limit_minutes * 9 / 8;
        }
        self.await_allocation()
    }

    fn fill_queue(&self, queued: usize) -> anyhow::Result<()> {
        let name = format!("--job-name={QUEUED}");
        (0..queued).try_for_each(|_| self.submit_one(&["--hold", &name]))
    }

    /// Puts the past jobs into slurmdbd, as jobs of this user.
    fn import_past(&self, user: &str) -> anyhow::Result<()> {
        let log = self.jobs().join("bench.swf");
        fs::write(&log, past::log())?;
        let map_user = format!("1:{user}");
        let _ = self.cluster.import(&[&log.display().to_string(), "--map-user", &map_user]);
        Ok(())
    }
}

impl<'a> Benchmark<'a> {
    /// Fills slurmdbd, the nodes and a state of slurmctld for each queue, and starts queuecastd,
    /// which is paused when it has read all of that.
    pub(super) fn prepare(site: &'a PrivateCluster, extent: Extent, user: String) -> anyhow::Result<Benchmark<'a>> {
        site.write_script("sleep.sh", "exec sleep 86400")?;
        site.cluster.configure(&configuration("asked"));
        site.import_past(&user)?;
        site.fill_nodes()?;
        let [first, others @ ..] = &extent.queues[..] else { bail!("there is no queue to measure behind") };
        site.fill_queue(*first)?;
        site.save_state(*first)?;
        for queued in others {
            site.restore_state(*first)?;
            // The first number need not be the least.
            site.cancel(&user, QUEUED)?;
            site.fill_queue(*queued)?;
            site.save_state(*queued)?;
        }
        site.cluster.daemon("start", "slurmctld");
        site.ask("queuecastd", &["--once"])?;
        let mut forecaster = site.start_forecaster();
        forecaster.await_snapshot(FIRST_SNAPSHOT)?;
        forecaster.pause();
        Ok(Benchmark { site, forecaster, extent, user, series: BTreeMap::new() })
    }

    /// Writes the configuration by which these jobs are molded.
    pub(super) fn configure(&self, mold: &str) {
        self.site.cluster.configure(&with_imported(&configuration(mold)));
    }
}
