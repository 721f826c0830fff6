//! A cluster of one partition in plain values, for decisions that need no snapshot.

use super::{NOW, USER};
use job_types::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
use job_types::policy::Policy;
use job_types::record::WaitSource;
use job_types::size::Unit;
use job_types::time::{Seconds, UnixTime};
use learning::history::History;
use predictor_core::decisions::limits::Applying;
use predictor_core::decisions::site::{Partition, Site};
use predictor_core::decisions::{Bounds, DecisionInputs, Submission};
use predictor_core::forecasts::forecast::{
    Association, Claimed, FreePlan, JobShape, Moment, PERCENTILES, QueueForecaster, RunTimeForecast, RunTimeForecaster, RunTimeQuestion,
    WaitClass, WaitForecast, WaitForecaster,
};
use predictor_core::forecasts::price::{PriceStep, Prices};
use predictor_core::forecasts::run_time_models::{self, LikeJobs, RunTimeModel};
use snapshot_writer::PartitionState;
use std::collections::BTreeMap;

/// What is forecast of the wait in seconds of a job at a moment.
pub type Wait = Box<dyn Fn(&JobShape, &Moment) -> u32>;

/// A cluster of one partition with a known past.
pub struct Cluster {
    /// The partition as it is now.
    pub partition: PartitionState,
    /// What accounting allows everybody.
    pub limits: Applying,
    /// Waits by the moment; without it the classes of the past say them.
    pub wait: Option<Wait>,
    /// When running jobs are expected to end, ascending.
    pub ends: Vec<UnixTime>,
    /// A plan of the queue, where there is one.
    pub plan: Option<FreePlan<'static>>,
    /// What a CPU costs those who wait; `None` where nobody has worked that out.
    pub prices: Option<Vec<PriceStep>>,
    /// Bounds on the waits of each class.
    pub classes: Vec<(WaitClass, WaitForecast<'static>, [u32; PERCENTILES])>,
    /// Run times by user and size.
    pub run_times: BTreeMap<LikeJobs, RunTimeModel>,
    /// Bounds of 0 to 98 s, and of 10,000 to 10,098 s: what follows short and long forecasts.
    pub rows: [[u32; PERCENTILES]; 2],
}

impl Cluster {
    pub(crate) fn of(partition: PartitionState, history: &History) -> Cluster {
        let classes = history.classes().iter().map(|class| {
            let held = WaitClass {
                first_cpus: *class.cpus.start(),
                last_cpus: *class.cpus.end(),
                first_limit_s: *class.limit_s.start(),
                last_limit_s: *class.limit_s.end(),
            };
            let forecast = WaitForecast {
                source: WaitSource::Qbets,
                class: Some(held),
                jobs: class.jobs as u32,
                median: Seconds(i64::from(class.median_s)),
                bounds: &[0; PERCENTILES],
            };
            (held, forecast, class.bounds_s)
        });
        let row = |first: u32| std::array::from_fn(|percentile| first + percentile as u32);
        Cluster {
            partition,
            limits: Applying::default(),
            wait: None,
            ends: Vec::new(),
            plan: None,
            prices: None,
            classes: classes.collect(),
            run_times: history.run_times().fitted().clone(),
            rows: [row(0), row(10_000)],
        }
    }

    /// A submission as it meets this cluster at [`NOW`], with nothing decided since.
    ///
    /// # Panics
    /// Where the submission names a partition that is not this one.
    #[must_use]
    pub fn situation<'a>(&'a self, submission: &'a Submission<'a>) -> DecisionInputs<'a, Cluster> {
        let (partition, policy) = submission.governed_by(self).unwrap();
        let bounds = Bounds::of(submission, &partition, self);
        DecisionInputs { forecasts: self, partition, policy, submission, bounds, now: NOW, claimed: Claimed::default() }
    }
}

impl Site for Cluster {
    fn partition(&self, name: &str) -> Option<Partition<'_>> {
        self.default_partition().filter(|partition| partition.name == name)
    }

    fn default_partition(&self) -> Option<Partition<'_>> {
        let PartitionState { name, policy, whole_nodes, cpus, nodes, max_time, default_time, slurm_reservations, .. } = &self.partition;
        Some(Partition {
            name,
            policy: *policy,
            cpus: *cpus,
            nodes: *nodes,
            whole_nodes: *whole_nodes,
            max_time: *max_time,
            own_default_time: *default_time,
            slurm_reservations,
            ..Partition::default()
        })
    }

    fn site_policy(&self) -> Policy {
        self.partition.policy
    }

    fn accounting_limits(&self, _user: UserId, _account: Option<&str>, _qos: Option<&str>, _partition: PartitionIndex) -> Applying {
        self.limits
    }
}

impl WaitForecaster for Cluster {
    fn wait(&self, job: &JobShape, moment: Option<&Moment>) -> Option<WaitForecast<'_>> {
        if let Some((wait, moment)) = self.wait.as_ref().zip(moment) {
            let wait_s = wait(job, moment);
            let [short, long] = &self.rows;
            let bounds = if wait_s <= 2_500 { short } else { long };
            return Some(WaitForecast { source: WaitSource::Blended, class: None, jobs: 60, median: Seconds(i64::from(wait_s)), bounds });
        }
        let (_, forecast, bounds) = self.classes.iter().find(|(class, ..)| class.holds(job.size.cpus, job.limit))?;
        Some(WaitForecast { bounds, ..forecast.clone() })
    }

    fn association(&self, user: UserId, _account: Option<&str>, _qos: Option<&str>) -> Association {
        if user == UserId(USER) { Association { account: AccountIndex(1), qos: QosIndex(1) } } else { Association::default() }
    }
}

impl RunTimeForecaster for Cluster {
    fn run_time(&self, asked: &RunTimeQuestion) -> Option<RunTimeForecast<'_>> {
        run_time_models::forecast(asked, |like| self.run_times.get(like).map(RunTimeModel::forecast))
    }

    fn past_sizes(&self, user: UserId, partition: PartitionIndex, unit: Unit) -> impl Iterator<Item = u32> + '_ {
        let of_user = self.run_times.keys().filter(move |like| (like.user, like.partition) == (Some(user), partition));
        of_user.filter_map(move |like| like.size.filter(|(of, _)| *of == unit).map(|(_, count)| count))
    }
}

impl QueueForecaster for Cluster {
    fn queue_plan(&self, _partition: PartitionIndex) -> Option<FreePlan<'_>> {
        self.plan.clone()
    }

    fn prices(&self, _partition: PartitionIndex) -> Option<Prices<'_>> {
        self.prices.as_deref().map(|steps| Prices { at: NOW, steps: steps.into() })
    }

    fn expected_ends(&self, _partition: PartitionIndex) -> impl Iterator<Item = UnixTime> + '_ {
        self.ends.iter().copied()
    }
}
