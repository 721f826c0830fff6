//! What a reservation does to those who wait.

use job_types::time::{Seconds, UnixTime};

use super::super::outcome::Outcome;
use crate::pass::Pass;
use crate::schedule::Taken;
use crate::state::State;

/// What a reservation does to those who wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Harm {
    /// How many jobs start later for it. An array is one job, of which at least one task does.
    pub delayed_jobs: usize,
    /// By how long all of these together, with each task of an array.
    pub total_delay: Seconds,
    /// By how long the job or task that is delayed most.
    pub most_delay: Seconds,
    /// For how many node-seconds nodes stand idle before the reservation that jobs would have used
    /// without it.
    pub idle_node_seconds: i64,
}

impl Harm {
    /// The difference between the plan without a reservation and the one with it, which begins at
    /// `start`. Tasks of an array are alike, so that the first to start in one plan is compared
    /// with the first in the other, and so on. One that has a start in one of the plans alone is
    /// left out: it is as far behind as a plan reaches.
    pub(super) fn of(state: &State, partition: u16, original: &Pass<'_>, with: &Pass<'_>, start: UnixTime) -> Self {
        let mut harm = Self::default();
        for position in 0..original.starts.len() {
            let mut is_delayed = false;
            for (before, after) in original.tasks_at(position).iter().zip(with.tasks_at(position)) {
                let later = after.start - before.start;
                if later > Seconds::ZERO {
                    is_delayed = true;
                    harm.total_delay = Seconds(harm.total_delay.0.saturating_add(later.0));
                    harm.most_delay = harm.most_delay.max(later);
                }
            }
            harm.delayed_jobs += usize::from(is_delayed);
        }
        let unused = used_before(original, start).saturating_sub(used_before(with, start)).max(0);
        harm.idle_node_seconds = unused / cpus_per_node(state, partition);
        harm
    }
}

/// CPU-seconds that the waiting jobs use before a moment: of whole nodes all CPUs, although
/// slurmctld tells fewer of a job that waits for them.
fn used_before(pass: &Pass<'_>, moment: UnixTime) -> i64 {
    let used = |task: &Taken| (task.end.min(moment) - task.start).max(Seconds::ZERO).0.saturating_mul(task.resources.cpus);
    pass.tasks().iter().map(used).fold(0, i64::saturating_add)
}

/// CPUs of a node of a partition on average, at least one.
fn cpus_per_node(state: &State, partition: u16) -> i64 {
    let nodes = state.partitions.get(usize::from(partition)).map_or(&[][..], |partition| &partition.nodes);
    let cpus = nodes.iter().filter_map(|node| state.nodes.get(*node as usize)).map(|node| i64::from(node.offers.size().cpus));
    (cpus.sum::<i64>() / (nodes.len().max(1) as i64)).max(1)
}

/// What the jobs that run and wait come to in a plan, with each task of an array.
pub(super) fn outcome(state: &State, pass: &Pass<'_>) -> Outcome {
    let running = state.running.iter().map(|job| job.remaining.expected);
    let waiting = pass.tasks().iter().map(|task| task.end - state.now);
    let none = Outcome { makespan: Seconds::ZERO, completions: Seconds::ZERO };
    running
        .chain(waiting)
        .fold(none, |all, end| Outcome { makespan: all.makespan.max(end), completions: Seconds(all.completions.0.saturating_add(end.0)) })
}
