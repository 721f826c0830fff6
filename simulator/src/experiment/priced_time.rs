//! What the time of a simulated machine costs those who wait, as the daemon publishes it.

use std::collections::VecDeque;

use job_types::policy::Others;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::Weighed;
use predictor_core::forecasts::price::{Area, PriceStep, Prices};
use queue_plan::{Assumption, Change, PRICED_EVERY, Pass, PendingJob, REPEATED};

use super::expected_run_times::ExpectedRunTimes;
use super::queue_state::pending_job;
use crate::engine::{Cluster, Job, JobIndex};

/// The submissions of the last day, and the prices that follow.
#[derive(Debug, Default)]
pub(super) struct PricedTime {
    /// When a job became eligible, which, and its processors; in the order of submission.
    submitted: VecDeque<(UnixTime, JobIndex, u32)>,
    published: Option<(UnixTime, Vec<PriceStep>)>,
    pub(super) agreement: Agreement,
}

/// How often prices and whole plans allow the same.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Agreement {
    /// How many changes were held against whole plans.
    pub changes: u64,
    /// How many of them prices and whole plans both allow or both forbid, by `sum` and by
    /// `not worse`.
    pub agreed: [u64; 2],
    /// How many of them whole plans allow.
    pub allowed: [u64; 2],
    /// How many of them prices allow.
    pub allowed_by_price: [u64; 2],
}

impl Agreement {
    fn add(&mut self, by_plan: Weighed, by_price: Weighed) {
        self.changes += 1;
        for (place, rule) in [Others::Sum, Others::NotWorse].into_iter().enumerate() {
            let [plan, price] = [by_plan, by_price].map(|weighed| weighed.is_allowed(rule));
            self.agreed[place] += u64::from(plan == price);
            self.allowed[place] += u64::from(plan);
            self.allowed_by_price[place] += u64::from(price);
        }
    }
}

impl PricedTime {
    /// Before anything was submitted; `None` where nobody asks for prices.
    pub(super) fn of(others: Others) -> Option<Self> {
        (others != Others::Ignore).then(Self::default)
    }

    /// A job was submitted that becomes eligible at a moment.
    pub(super) fn submitted(&mut self, index: JobIndex, processors: u32, eligible: UnixTime) {
        self.submitted.push_back((eligible, index, processors));
    }

    /// Publishes prices anew where those that were published are old.
    pub(super) fn renew(&mut self, run_times: &ExpectedRunTimes, cluster: &Cluster) {
        let now = cluster.now();
        if self.published.as_ref().is_some_and(|(at, _)| now - *at < PRICED_EVERY) {
            return;
        }
        while self.submitted.front().is_some_and(|(at, ..)| *at <= now - REPEATED) {
            self.submitted.pop_front();
        }
        let state = run_times.with_coming(cluster, self.submitted.iter().copied());
        self.published = Some((now, Pass::of_state(&state, Assumption::Expected).prices(0)));
    }

    /// Holds what the prices say of a job on half of its processors, for twice as long, against a
    /// whole plan of the queue with each.
    pub(super) fn hold_against_plan(&mut self, run_times: &ExpectedRunTimes, cluster: &Cluster, job: &Job, run_time: Seconds) {
        let Some(prices) = self.prices() else { return };
        let now = cluster.now();
        let half = (job.processors.div_ceil(2), run_time + run_time);
        if half.0 == job.processors {
            return;
        }
        let state = run_times.with_coming(cluster, self.submitted.iter().copied());
        let pass = Pass::of_state(&state, Assumption::Expected);
        let placed = |(processors, time): (u32, Seconds)| {
            // Behind all that wait and before those that come.
            let submitted = PendingJob { priority: 1, ..pending_job(now, processors, time) };
            let effect = pass.effect(Change::Submitted(&submitted));
            let start = effect.start?.ok()?;
            Some((start + time, effect.waited(), prices.of(Area { start, time, cpus: processors })))
        };
        let (Some(written), Some(other)) = (placed((job.processors, run_time)), placed(half)) else { return };
        let gain = written.0 - other.0;
        if gain <= Seconds::ZERO {
            return;
        }
        let by_plan = Weighed { gain, waited_s: (other.1 - written.1) as f64 };
        let by_price = Weighed { gain, waited_s: other.2 - written.2 };
        self.agreement.add(by_plan, by_price);
    }

    /// The prices that were published.
    pub(super) fn prices(&self) -> Option<Prices<'_>> {
        let (at, steps) = self.published.as_ref()?;
        Some(Prices { at: *at, steps: steps.as_slice().into() })
    }
}
