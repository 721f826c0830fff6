//! The what-if method.

use job_types::time::Seconds;

use super::execution_plan::{ExecutionPlan, Placed};
use super::outcome::Outcome;
use super::ranking::{Probe, Ranking, Rated};
use super::slot::Slot;
use super::workload::Waiting;

/// Puts a placeholder into the schedule for each slot, plans the jobs beside it, and takes a slot
/// to be the better, the sooner they end (section 4.2, equations 2 to 4).
///
/// The start that the reservation would have as a job is one more slot, if it lies inside the
/// window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WhatIf {
    /// The weight of the makespan, from 0 to 1; the rest is that of the mean completion time.
    pub makespan_weight: f64,
}

impl Default for WhatIf {
    /// Both metrics weigh the same; the publication does not say what it used.
    fn default() -> Self {
        Self { makespan_weight: 0.5 }
    }
}

impl Ranking for WhatIf {
    fn rate(&self, probe: &Probe<'_>) -> Vec<Rated> {
        let request = probe.request;
        let plan = |placed| ExecutionPlan::of(probe.workload, placed);
        let as_job = plan(Placed::Job(Waiting { estimate: request.duration, runs: request.duration, asks: request.takes }));
        let fits = |slot: &Slot| probe.cycle.has_room_for(&probe.placeholder(*slot));
        let slots: Vec<_> = probe.slots().into_iter().filter(fits).collect();
        let plans: Vec<_> = slots.iter().map(|slot| (*slot, plan(Placed::Reservation(probe.placeholder(*slot))).outcome())).collect();
        let start = as_job.placed_job.filter(|slot| request.may_start(slot.start) && fits(slot) && !slots.contains(slot));
        self.rated(plans, as_job.outcome(), start)
    }
}

impl WhatIf {
    /// Rates slots by what the jobs come to in the plan of each (equation 4). `as_job` is that of
    /// the plan with the reservation as a job at the end of the queue, and `start` the slot that it
    /// has there, where this is one more.
    #[must_use]
    pub fn rated(&self, mut plans: Vec<(Slot, Outcome)>, as_job: Outcome, start: Option<Slot>) -> Vec<Rated> {
        let best_makespan = plans.iter().map(|(_, outcome)| outcome.makespan).chain([as_job.makespan]).min();
        let best_completions = plans.iter().map(|(_, outcome)| outcome.completions).chain([as_job.completions]).min();
        plans.extend(start.map(|slot| (slot, as_job)));
        // The mean is the sum over the number of jobs, which is that of all plans.
        let rate = |(slot, outcome): (Slot, Outcome)| {
            let makespan = ratio(best_makespan, outcome.makespan);
            let completions = ratio(best_completions, outcome.completions);
            Rated { slot, availability: self.makespan_weight * makespan + (1.0 - self.makespan_weight) * completions }
        };
        plans.into_iter().map(rate).collect()
    }
}

/// The best over this one; 1 where there is no job that could be delayed.
fn ratio(best: Option<Seconds>, this: Seconds) -> f64 {
    if this.0 == 0 { 1.0 } else { best.map_or(1.0, |best| best.0 as f64 / this.0 as f64) }
}
