//! The reservations that were given in a replay, and when each is looked at again, as the daemon
//! does on a cluster.

use std::collections::{BTreeMap, BTreeSet};

use job_types::number::JobId;
use job_types::record::Record as PromiseRecord;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::site::Site;
use predictor_core::forecasts::forecast::WaitForecaster;
use upkeep::{QueuedJob, Step, upkeep};

use super::parts::Reviewed;
use crate::engine::{Job, JobIndex, Record, Revised};

/// What part of the time until a job becomes eligible passes before it is looked at again. The
/// daemon looks at every interval; what is decided late is decided by nearly the same forecasts.
const LOOKS: i64 = 4;

/// A job with a reservation.
#[derive(Debug, Clone)]
struct Given {
    /// The job as slurmctld would have it now, with its record.
    job: QueuedJob,
    /// The reserved time.
    at: UnixTime,
    /// When it is looked at next.
    look: Option<UnixTime>,
}

impl Given {
    /// When the job becomes eligible, if it is not yet.
    fn deferred_until(&self, now: UnixTime) -> Option<UnixTime> {
        self.job.eligible.filter(|begin| self.job.started.is_none() && *begin > now)
    }
}

/// The reservations that were given and have not begun to run for good.
#[derive(Clone, Debug, Default)]
pub(super) struct GivenReservations {
    reviewed: Reviewed,
    /// How often a look is possible at most.
    interval: Seconds,
    given: BTreeMap<JobIndex, Given>,
    looks: BTreeSet<(UnixTime, JobIndex)>,
}

impl GivenReservations {
    /// Before any was given.
    pub(super) fn new(reviewed: Reviewed, interval: Seconds) -> Self {
        Self { reviewed, interval: interval.max(Seconds(1)), ..Self::default() }
    }

    /// A job is given a reservation for `at`. `asked` is the job as it was asked for, in its
    /// partition, and `record` is what the submit filter writes into it.
    pub(super) fn add(&mut self, index: JobIndex, asked: &Job, at: UnixTime, record: PromiseRecord, now: UnixTime) {
        let job = QueuedJob::as_recorded(JobId(index), asked.user, record);
        self.given.insert(index, Given { job, at, look: None });
        self.look_later(index, now);
    }

    /// A job has started; what is to change in it is looked at when the daemon would see it.
    pub(super) fn started(&mut self, index: JobIndex, record: &Record) {
        if let Some(given) = self.given.get_mut(&index) {
            given.job.started = Some(record.start);
            self.look_at(index, record.start + self.interval);
        }
    }

    /// A job has ended.
    pub(super) fn ended(&mut self, index: JobIndex) {
        if let Some(look) = self.given.remove(&index).and_then(|given| given.look) {
            self.looks.remove(&(look, index));
        }
    }

    /// When the next look is due.
    pub(super) fn wakes_at(&self) -> Option<UnixTime> {
        self.looks.first().map(|(at, _)| *at)
    }

    /// The looks that are due, which are done with.
    pub(super) fn due(&mut self, now: UnixTime) -> Vec<JobIndex> {
        let later = self.looks.split_off(&(now + Seconds(1), 0));
        std::mem::replace(&mut self.looks, later).into_iter().map(|(_, index)| index).collect()
    }

    /// Whether a look at the job needs forecasts.
    pub(super) fn needs_forecasts(&self, index: JobIndex, now: UnixTime) -> bool {
        self.reviewed.begin && self.given.get(&index).is_some_and(|given| given.deferred_until(now).is_some())
    }

    /// Looks at a job again, by what was published, and changes it as the daemon would.
    pub(super) fn look<S: Site + WaitForecaster>(&mut self, index: JobIndex, site: &S, now: UnixTime) -> Option<Revised> {
        if !self.needs_forecasts(index, now) && !self.reviewed.limit {
            return None;
        }
        let next = self.look_later(index, now);
        let given = self.given.get_mut(&index)?;
        let is_running = given.job.started.is_some();
        let found = upkeep(&given.job, site, now, next.map_or(self.interval, |next| next - now));
        let (wanted, _) = found.wanted?;
        let mut revised = Revised { job: index, eligible: None, estimate: None };
        // What the replay changes is changed at once.
        for step in wanted.steps(&given.job, now, Seconds::ZERO) {
            match step {
                Step::Update { begin, limit, record, .. } => {
                    given.job.eligible = begin.or(given.job.eligible);
                    given.job.limit = limit.or(given.job.limit);
                    given.job.record = *record;
                    revised.eligible = begin.or(revised.eligible);
                    revised.estimate = limit.or(revised.estimate);
                }
                // No user of a replay asks that a missed reservation ends the job.
                Step::Cancel => {}
            }
        }
        if is_running {
            self.given.remove(&index);
        } else if revised.eligible.is_some() {
            self.look_later(index, now);
        }
        Some(revised)
    }

    /// Plans the next look at a job that does not run, and returns when it is.
    fn look_later(&mut self, index: JobIndex, now: UnixTime) -> Option<UnixTime> {
        let given = self.given.get(&index)?;
        if given.job.started.is_some() {
            return None;
        }
        let until = match given.deferred_until(now) {
            Some(begin) if self.reviewed.begin => begin,
            _ if !self.reviewed.limit => return None,
            Some(begin) => return self.look_at(index, begin + Seconds(1)),
            None if now > given.at => return None,
            None => given.at + Seconds(1),
        };
        let part = Seconds((until - now).0 / LOOKS).max(self.interval);
        // The last look before it becomes eligible is a whole interval before, and the next as it
        // does.
        let at = if now + part > until { until.max(now) + Seconds(1) } else { now + part };
        self.look_at(index, at)
    }

    fn look_at(&mut self, index: JobIndex, at: UnixTime) -> Option<UnixTime> {
        if let Some(before) = self.given.get_mut(&index)?.look.replace(at) {
            self.looks.remove(&(before, index));
        }
        self.looks.insert((at, index));
        Some(at)
    }
}
