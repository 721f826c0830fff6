//! What rules ask about waits, answered by the snapshot in force where there is one.

use crate::fields::DirectFields;
use crate::snapshot::Current;
use crate::state::Located;
use job_types::options::UserOptions;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::site::{Partition, Site};
use predictor_core::decisions::{Bounds, Submission};
use predictor_core::forecasts::forecast::{Claimed, JobShape, Moment, WaitForecast, WaitForecaster};
use site_rules::submission::Forecasts;
use std::cell::OnceCell;
use std::sync::Arc;

/// Forecasts for a job as it is submitted, whatever rules write into it.
pub(super) struct SnapshotForecasts<'a> {
    located: Option<&'a Located>,
    fields: &'a DirectFields<'a>,
    now: UnixTime,
    /// The snapshot, taken once for all rules.
    current: OnceCell<Option<Arc<Current>>>,
    submission: OnceCell<Submission<'a>>,
}

impl<'a> SnapshotForecasts<'a> {
    pub(super) fn new(located: Option<&'a Located>, fields: &'a DirectFields<'a>, now: UnixTime) -> SnapshotForecasts<'a> {
        SnapshotForecasts { located, fields, now, current: OnceCell::new(), submission: OnceCell::new() }
    }

    fn current(&self) -> Option<&Current> {
        self.current.get_or_init(|| self.located?.usable(self.now).ok()).as_deref()
    }

    /// What `answer` makes of the forecast in a partition; `None` where there is none.
    fn in_partition<T>(&self, current: &Current, partition: &Partition<'_>, answer: impl Fn(&WaitForecast<'_>) -> Option<T>) -> Option<T> {
        let submission = self.submission.get_or_init(|| submission_reader::submission(self.fields, UserOptions::default()));
        let snapshot = &current.snapshot;
        let size = submission.size(partition);
        let limit = Bounds::of(submission, partition, snapshot).limit();
        if !partition.could_run(size, limit) {
            return None;
        }
        let association = snapshot.association(submission.user, submission.account, submission.qos);
        let shape = JobShape { user: submission.user, association, partition: partition.index, size, limit };
        let claimed = Claimed { ..current.claims.of(submission.user, partition.index) };
        let moment = Moment { now: self.now, at: self.now, claimed }.at(submission.begin.unwrap_or(self.now));
        answer(&snapshot.wait(&shape, Some(&moment))?)
    }
}

impl Forecasts for SnapshotForecasts<'_> {
    fn wait(&self, partition: &str, quantile: f64) -> Option<Seconds> {
        let current = self.current()?;
        let partition = current.snapshot.partition(partition)?;
        // Beyond the percentiles that are kept there is no bound.
        (0.0..=1.0).contains(&quantile).then(|| self.in_partition(current, &partition, |forecast| forecast.bound(quantile)))?
    }

    fn soonest_partition(&self) -> Option<&str> {
        let current = self.current()?;
        let partitions = current.snapshot.partitions();
        let with_waits = partitions.filter_map(|partition| {
            let wait = self.in_partition(current, &partition, |forecast| Some(forecast.median))?;
            Some((wait, partition.name))
        });
        with_waits.min_by_key(|(wait, _)| *wait).map(|(_, name)| name)
    }
}
