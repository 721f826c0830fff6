//! What a reservation does to those who wait.

use job_types::time::{Seconds, UnixTime};

use super::super::outcome::Outcome;
use crate::pass::Pass;
use crate::state::State;

/// What a reservation does to those who wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Harm {
    /// How many jobs start later for it.
    pub delayed_jobs: usize,
    /// By how long all of these together.
    pub total_delay: Seconds,
    /// By how long the one that is delayed most.
    pub most_delay: Seconds,
    /// For how many node-seconds nodes stand idle before the reservation that jobs would have used
    /// without it.
    pub idle_node_seconds: i64,
}

impl Harm {
    /// The difference between the plan without a reservation and the one with it, which begins at
    /// `start`. One that has a start in one of them alone is left out: it is as far behind as a
    /// plan reaches.
    pub(super) fn of(state: &State, partition: u16, original: &Pass<'_>, with: &Pass<'_>, start: UnixTime) -> Self {
        let mut harm = Self::default();
        for ((_, before), (_, after)) in original.starts.iter().zip(&with.starts) {
            let (Ok(before), Ok(after)) = (before, after) else { continue };
            let later = *after - *before;
            if later > Seconds::ZERO {
                harm.delayed_jobs += 1;
                harm.total_delay = Seconds(harm.total_delay.0.saturating_add(later.0));
                harm.most_delay = harm.most_delay.max(later);
            }
        }
        let unused = used_before(state, original, start).saturating_sub(used_before(state, with, start)).max(0);
        harm.idle_node_seconds = unused / cpus_per_node(state, partition);
        harm
    }
}

/// CPU-seconds of the waiting jobs before a moment.
fn used_before(state: &State, pass: &Pass<'_>, moment: UnixTime) -> i64 {
    let used = |(index, start): &(usize, Result<UnixTime, _>)| {
        let (job, start) = (state.pending.get(*index)?, start.ok()?);
        let runs = (moment - start).min(job.run_time.expected).max(Seconds::ZERO);
        Some(runs.0.saturating_mul(job.asks.size().cpus.into()))
    };
    pass.starts.iter().filter_map(used).fold(0, i64::saturating_add)
}

/// CPUs of a node of a partition on average, at least one.
fn cpus_per_node(state: &State, partition: u16) -> i64 {
    let nodes = state.partitions.get(usize::from(partition)).map_or(&[][..], |partition| &partition.nodes);
    let cpus = nodes.iter().filter_map(|node| state.nodes.get(*node as usize)).map(|node| i64::from(node.offers.size().cpus));
    (cpus.sum::<i64>() / (nodes.len().max(1) as i64)).max(1)
}

/// What the jobs that run and wait come to in a plan.
pub(super) fn outcome(state: &State, pass: &Pass<'_>) -> Outcome {
    let running = state.running.iter().map(|job| job.remaining.expected);
    let waiting = pass.starts.iter().filter_map(|(index, start)| {
        let job = state.pending.get(*index)?;
        Some((*start).ok()? + job.run_time.expected - state.now)
    });
    let none = Outcome { makespan: Seconds::ZERO, completions: Seconds::ZERO };
    running
        .chain(waiting)
        .fold(none, |all, end| Outcome { makespan: all.makespan.max(end), completions: Seconds(all.completions.0.saturating_add(end.0)) })
}
