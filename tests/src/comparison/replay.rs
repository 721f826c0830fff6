//! Replays the same submissions in the engine.

use super::{Happened, NODES, Site};
use job_types::number::UserId;
use job_types::time::{Seconds, UnixTime};
use simulator::engine::backfill::{Candidates, Easy, InOrder, Slurm};
use simulator::engine::estimates::Requested;
use simulator::engine::order::{FirstCome, Multifactor};
use simulator::engine::policy::AsSubmitted;
use simulator::engine::{Backfill, Job, Machine, Order, Record, Scheduler, simulate};

/// Which scheduler of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Replay {
    /// Slurm's order, and its schedulers with named nodes.
    Slurm,
    /// Slurm's order, and its schedulers with plans that count nodes.
    #[strum(serialize = "slurm, by counting")]
    SlurmByCounting,
    /// EASY backfilling, first come first served.
    Easy,
    /// First come, first served, without backfilling.
    #[strum(serialize = "fcfs")]
    FirstCome,
}

impl Replay {
    /// All of them.
    pub const ALL: [Replay; 4] = [Replay::Slurm, Replay::SlurmByCounting, Replay::Easy, Replay::FirstCome];

    /// Returns the name of the replay in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    fn scheduler(self, site: &Site) -> Scheduler {
        let slurm = || {
            let slurm = Slurm::new(site.parameters.clone());
            if site.has_epilog { slurm.with_epilog() } else { slurm }
        };
        let (order, backfill): (Box<dyn Order>, Box<dyn Backfill>) = match self {
            Replay::Slurm => (Box::new(multifactor(site)), Box::new(slurm().with_nodes(1))),
            Replay::SlurmByCounting => (Box::new(multifactor(site)), Box::new(slurm())),
            Replay::Easy => (Box::new(FirstCome), Box::new(Easy::new(Candidates::InOrder))),
            Replay::FirstCome => (Box::new(FirstCome), Box::new(InOrder)),
        };
        Scheduler { order, backfill, estimates: Box::new(Requested) }
    }
}

/// Start times under a scheduler of the engine, in seconds since the site's epoch and in the order
/// of `happened`. Jobs hold their nodes for as long as they did on the cluster.
///
/// # Panics
/// Where a job is larger than the cluster.
#[must_use]
pub fn replay(site: &Site, happened: &[Happened], which: Replay) -> Vec<i64> {
    let jobs: Vec<Job> = happened.iter().map(job).collect();
    let records =
        simulate(&jobs, &Machine::new(NODES), &mut which.scheduler(site), &mut AsSubmitted).expect("the jobs ran on as many nodes");
    records.iter().map(|record| record.start.0).collect()
}

/// Priorities at submission by the model where everything starts and ends as it did, in the order
/// of `happened`.
#[must_use]
pub fn submission_priorities(site: &Site, happened: &[Happened]) -> Vec<i64> {
    let mut order = multifactor(site);
    let mut events: Vec<(i64, u8, usize)> = Vec::new();
    for (place, job) in happened.iter().enumerate() {
        events.extend([(job.end_seconds, 0, place), (job.submit_seconds, 1, place), (job.start_seconds, 2, place)]);
    }
    events.sort_unstable();
    let mut priorities = vec![0; happened.len()];
    for (at, what, place) in events {
        let (job, record) = (job(&happened[place]), record(&happened[place]));
        match what {
            0 => order.ended(&job, &record),
            1 => priorities[place] = -order.key(&job, job.estimate, UnixTime(at)),
            _ => order.started(&job, &record),
        }
    }
    priorities
}

fn multifactor(site: &Site) -> Multifactor {
    Multifactor::new(site.priorities.clone(), site.associations.clone(), NODES, UnixTime(site.booted_seconds))
}

fn job(happened: &Happened) -> Job {
    Job {
        submit: UnixTime(happened.submit_seconds),
        run_time: Seconds((happened.released_seconds - happened.start_seconds).max(1)),
        estimate: Seconds(happened.limit_seconds),
        processors: happened.nodes,
        number: happened.id,
        user: UserId(happened.user),
        group: happened.account,
        queue: happened.qos,
        partition: happened.partition,
        ..Job::default()
    }
}

fn record(happened: &Happened) -> Record {
    Record {
        submit: UnixTime(happened.submit_seconds),
        eligible: UnixTime(happened.submit_seconds),
        start: UnixTime(happened.start_seconds),
        end: UnixTime(happened.end_seconds),
        estimate: Seconds(happened.limit_seconds),
        processors: happened.nodes,
        ..Record::default()
    }
}
