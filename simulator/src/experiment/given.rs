//! The reservations that were given in a replay, and when each is looked at again, as the daemon
//! does on a cluster.

use std::collections::{BTreeMap, BTreeSet};

use job_types::number::PartitionIndex;
use job_types::options::{EarlyStart, IfMissed};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::{Reservable, TrajectoryPoint};
use predictor_core::forecasts::forecast::{JobShape, Moment, WaitForecaster};
use upkeep::{GivenReservation, Progress, Review, review};

use super::parts::Reviewed;
use crate::engine::{Job, JobIndex, Record, Revised};

/// What part of the time until a job becomes eligible passes before it is looked at again. The
/// daemon looks at every interval; what is decided late is decided by nearly the same forecasts.
const LOOKS: i64 = 4;

/// A job with a reservation, in its partition.
#[derive(Debug, Clone, Copy)]
struct Given {
    job: Job,
    reservation: GivenReservation,
    /// When it is looked at next.
    look: Option<UnixTime>,
}

/// The reservations that were given and have not begun to run for good.
#[derive(Debug, Default)]
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

    /// A job, in its partition and as it was asked for, is given a reservation.
    pub(super) fn add(&mut self, index: JobIndex, job: &Job, at: UnixTime, wanted: f64, point: &TrajectoryPoint, now: UnixTime) {
        let reservation = GivenReservation {
            at,
            wanted,
            own_limit: job.estimate,
            limit: point.padded_limit,
            early_start: EarlyStart::Wait,
            if_missed: IfMissed::Run,
            progress: Progress::Deferred { begin: point.begin },
        };
        self.given.insert(index, Given { job: *job, reservation, look: None });
        self.look_later(index, now);
    }

    /// A job has started; what is to change in it is looked at when the daemon would see it.
    pub(super) fn started(&mut self, index: JobIndex, record: &Record) {
        if let Some(given) = self.given.get_mut(&index) {
            given.reservation.progress = Progress::Started { at: record.start };
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
        let progress = self.given.get(&index).map(|given| given.reservation.progress);
        self.reviewed.begin && matches!(progress, Some(Progress::Deferred { begin }) if begin > now)
    }

    /// Looks at a job again, by what was published.
    pub(super) fn look<F: WaitForecaster>(
        &mut self,
        index: JobIndex,
        forecasts: &F,
        longest_limit: Option<Seconds>,
        now: UnixTime,
    ) -> Option<Revised> {
        let reviewed = self.reviewed;
        let needs_forecasts = self.needs_forecasts(index, now);
        let Given { job, reservation, .. } = self.given.get_mut(&index)?;
        if matches!(reservation.progress, Progress::Deferred { begin } if begin <= now) {
            reservation.progress = Progress::Waiting;
        }
        let is_running = matches!(reservation.progress, Progress::Started { .. });
        if !needs_forecasts && !reviewed.limit {
            return None;
        }
        let (account, qos) = (job.group.to_string(), job.qos_name());
        let user = job.user;
        let shape = JobShape {
            user,
            association: forecasts.association(user, Some(&account), Some(qos.as_str()).filter(|qos| !qos.is_empty())),
            partition: PartitionIndex(job.queue as u16),
            size: Size { nodes: job.processors, cpus: job.processors },
            limit: Some(reservation.own_limit),
        };
        let reservable = Reservable { forecasts, shape, now: Moment::present(now), longest_limit };
        let next = self.look_later(index, now);
        let Given { reservation, .. } = self.given.get_mut(&index)?;
        let Review::Change(revision) = review(reservation, &reservable, next.map_or(self.interval, |next| next - now)) else { return None };
        if let Some(begin) = revision.begin {
            reservation.progress = Progress::Deferred { begin };
        }
        if let Some(limit) = revision.limit {
            reservation.limit = limit;
        }
        if revision.begin.is_some() {
            self.look_later(index, now);
        }
        if is_running {
            self.given.remove(&index);
        }
        Some(Revised { job: index, eligible: revision.begin, estimate: revision.limit })
    }

    /// Plans the next look at a job that does not run, and returns when it is.
    fn look_later(&mut self, index: JobIndex, now: UnixTime) -> Option<UnixTime> {
        let Given { reservation, .. } = self.given.get(&index)?;
        let until = match reservation.progress {
            Progress::Deferred { begin } if self.reviewed.begin => begin,
            Progress::Deferred { .. } | Progress::Waiting if !self.reviewed.limit => return None,
            Progress::Deferred { begin } => return self.look_at(index, begin + Seconds(1)),
            Progress::Waiting if now > reservation.at => return None,
            Progress::Waiting => reservation.at + Seconds(1),
            Progress::Started { .. } => return None,
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
