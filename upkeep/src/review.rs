//! What becomes of a reservation after it was given: its begin and its padding follow the queue.
//!
//! Nurmi, Wolski and Brevik (2008) decide once, when a job is submitted. A job that waits in Slurm
//! may still be changed, so that its reservation is looked at again until it runs: with a newer
//! forecast it becomes eligible earlier where the promise needs that, and later where it can.

use job_types::options::{EarlyStart, IfMissed};
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::{Begins, Reservable, STEP, TrajectoryPoint, WORTH_A_CHANGE, latest_point};
use predictor_core::forecasts::forecast::WaitForecaster;

/// How often a job may be put off, as far as the probability that is lost by it counts.
const CHANCES: f64 = 8.0;

/// The same where more is spared than forecasts tell. Where this is as well, because much is asked
/// after promises that were missed, no job is put off.
const FEWEST_CHANCES: f64 = 4.0;

/// The highest probability that forecasts tell: that of their last percentile.
const HIGHEST_TOLD: f64 = 0.99;

/// How far a job with a reservation has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// It is not eligible before `begin`.
    Deferred {
        /// When it becomes eligible.
        begin: UnixTime,
    },
    /// It is eligible and waits for nodes.
    Waiting,
    /// It has its nodes.
    Started {
        /// Since when.
        at: UnixTime,
    },
}

/// A reservation that was given, as the job's record and slurmctld have it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GivenReservation {
    /// The reserved time.
    pub(crate) at: UnixTime,
    /// The probability that was promised or asked for, 0 to 1.
    pub(crate) wanted: f64,
    /// The user's own time limit at the job's size, without padding.
    pub(crate) own_limit: Seconds,
    /// The time limit that the job has at present.
    pub(crate) limit: Seconds,
    /// What it does when it starts early.
    pub(crate) early_start: EarlyStart,
    /// What becomes of it when it has not started by then.
    pub(crate) if_missed: IfMissed,
    /// How far it has come.
    pub(crate) progress: Progress,
}

/// What is to change in a job; what is `None` stays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Revision {
    /// Another time at which it becomes eligible.
    pub begin: Option<UnixTime>,
    /// Another time limit, in whole minutes.
    pub limit: Option<Seconds>,
    /// The probability that is forecast with it; `None` where none was asked for.
    pub probability: Option<f64>,
}

/// What is to be done about a reservation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Review {
    /// Nothing.
    Keep,
    /// The job is changed.
    Change(Revision),
    /// The job is cancelled: its time has passed, and its user wants no later start.
    Cancel,
}

impl GivenReservation {
    /// The limit of a job that has its nodes, or could get them, from a moment on: it then ends at
    /// the reserved time plus the user's own limit. In whole minutes, never under the user's own.
    #[must_use]
    pub(crate) fn limit_from(&self, moment: UnixTime) -> Seconds {
        let padding = match self.early_start {
            EarlyStart::Wait => (self.at - moment).max(Seconds::ZERO),
            EarlyStart::Run => Seconds::ZERO,
        };
        (self.own_limit + padding).rounded_up_to_minutes()
    }
}

/// Looks at a reservation again at the present of `job` (its [`Reservable::now`]; its shape is that
/// without padding). The next look is `next_review` later.
///
/// A job that is not eligible becomes so at the latest point of the present trajectory that reaches
/// the wanted probability, or at the most probable point. It is moved forward as soon as it is
/// known to need that by much, and otherwise, and back, only when there is no later look before: a
/// later forecast knows more. A job that waits sheds the padding that it has outlived, because a
/// shorter limit is backfilled sooner. A job that runs gets the limit with which it ends at the
/// reserved time plus the user's own limit, so that no node is held longer than was asked.
#[must_use]
pub(crate) fn review<F: WaitForecaster>(given: &GivenReservation, job: &Reservable<'_, F>, next_review: Seconds) -> Review {
    let now = job.now.now;
    match given.progress {
        Progress::Deferred { begin } => review_begin(given, job, begin, next_review),
        Progress::Waiting if now > given.at && given.if_missed == IfMissed::Cancel => Review::Cancel,
        Progress::Waiting => {
            let limit = given.limit_from(now);
            let least = Seconds((WORTH_A_CHANGE * (given.limit - given.own_limit).0 as f64) as i64).max(Seconds::MINUTE);
            // The last of the padding goes at once.
            let is_worth_it = given.limit - limit >= least || (now >= given.at && limit < given.limit);
            if is_worth_it { Review::Change(Revision { begin: None, limit: Some(limit), probability: None }) } else { Review::Keep }
        }
        Progress::Started { at } => {
            let limit = given.limit_from(at);
            if limit < given.limit { Review::Change(Revision { begin: None, limit: Some(limit), probability: None }) } else { Review::Keep }
        }
    }
}

fn review_begin<F: WaitForecaster>(given: &GivenReservation, job: &Reservable<'_, F>, begin: UnixTime, next_review: Seconds) -> Review {
    let now = job.now.now;
    let ahead = given.at - now;
    if begin <= now || ahead <= Seconds::ZERO {
        return Review::Keep;
    }
    let asked = job.level_to_ask(ahead, given.wanted);
    let mut point = match latest_point(job, ahead, asked, Begins::BeforeReserved) {
        Ok(point) | Err(Some(point)) => point,
        // Nothing is known, and what was promised stays.
        Err(None) => return Review::Keep,
    };
    if point.begin > begin {
        // Each time that a job is put off, something may come in between that cannot be made up
        // for: what is lost of the probability adds up.
        let spared_of = |chances: f64| 1.0 - (1.0 - asked) / chances;
        let spared = spared_of(CHANCES).min(HIGHEST_TOLD.max(spared_of(FEWEST_CHANCES)));
        match latest_point(job, ahead, spared, Begins::BeforeReserved) {
            Ok(later) if later.begin > begin => point = later,
            _ => return Review::Keep,
        }
    }
    let TrajectoryPoint { begin: wanted, padded_limit, .. } = point;
    let probability = job.probability_to_tell(ahead, given.wanted, point.probability);
    // Half a step is what rounding makes of one and the same point.
    let is_other = (begin - wanted).0.abs() > STEP.0 / 2;
    let is_last_look = begin.min(wanted) - now <= next_review + STEP;
    let is_much_earlier = (begin - wanted).0 as f64 > WORTH_A_CHANGE * (begin - now).0 as f64;
    if !is_other || !(is_last_look || is_much_earlier) {
        return Review::Keep;
    }
    let limit = if given.early_start == EarlyStart::Run { given.limit_from(wanted) } else { padded_limit };
    let limit = (limit != given.limit).then_some(limit);
    Review::Change(Revision { begin: Some(wanted), limit, probability: Some(probability) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::number::{PartitionIndex, UserId};
    use job_types::record::WaitSource;
    use job_types::size::Size;
    use predictor_core::forecasts::forecast::{Association, JobShape, Moment, PERCENTILES, WaitForecast};

    const NOW: UnixTime = UnixTime(1_000_000);
    const HOUR: Seconds = Seconds(3_600);

    /// Every wait is at most so many seconds for each percent.
    struct Waits([u32; PERCENTILES]);

    impl Waits {
        fn of(seconds_a_percent: u32) -> Waits {
            Waits(std::array::from_fn(|place| seconds_a_percent * (place as u32 + 1)))
        }
    }

    impl WaitForecaster for Waits {
        fn wait(&self, _job: &JobShape, _moment: Option<&Moment>) -> Option<WaitForecast<'_>> {
            Some(WaitForecast { source: WaitSource::Qbets, class: None, jobs: 100, median: Seconds::ZERO, bounds: &self.0 })
        }

        fn association(&self, _user: UserId, _account: Option<&str>, _qos: Option<&str>) -> Association {
            Association::default()
        }
    }

    fn given(progress: Progress) -> GivenReservation {
        GivenReservation {
            at: NOW + Seconds(4 * 3_600),
            wanted: 0.9,
            own_limit: HOUR,
            limit: Seconds(3 * 3_600),
            early_start: EarlyStart::Wait,
            if_missed: IfMissed::Run,
            progress,
        }
    }

    /// The review at a moment, where each percent of the wait's distribution is so many seconds.
    fn reviewed(given: &GivenReservation, now: UnixTime, seconds_a_percent: u32) -> Review {
        let shape = JobShape {
            user: UserId(1),
            association: Association::default(),
            partition: PartitionIndex(0),
            size: Size { nodes: 1, cpus: 1 },
            limit: Some(given.own_limit),
        };
        let forecasts = &Waits::of(seconds_a_percent);
        review(given, &Reservable { forecasts, shape, now: Moment::present(now), longest_limit: None }, Seconds(60))
    }

    fn limit(limit: i64) -> Review {
        Review::Change(Revision { begin: None, limit: Some(Seconds(limit)), probability: None })
    }

    #[test]
    fn a_deferred_job_begins_earlier_as_soon_as_its_promise_needs_that() {
        // 90 percent are two hours now: it is to begin two hours before its time and not one.
        let given = given(Progress::Deferred { begin: NOW + Seconds(3 * 3_600) });
        let Review::Change(revision) = reviewed(&given, NOW, 80) else { panic!("it is kept") };
        assert_eq!((revision.begin, revision.limit), (Some(NOW + Seconds(2 * 3_600)), None));
        assert!(revision.probability.unwrap() >= 0.9);
    }

    #[test]
    fn a_deferred_job_begins_later_only_when_it_would_become_eligible_before_the_next_look() {
        let far = given(Progress::Deferred { begin: NOW + HOUR });
        assert_eq!(reviewed(&far, NOW, 40), Review::Keep);
        let near = GivenReservation { wanted: 0.5, ..given(Progress::Deferred { begin: NOW + Seconds(60) }) };
        let Review::Change(revision) = reviewed(&near, NOW, 40) else { panic!("it is kept") };
        // It is put off to where an eighth of the risk is spent: 94 percents of 40 s before.
        assert_eq!((revision.begin, revision.limit), (Some(near.at - Seconds(3_780)), Some(Seconds(7_380))));
        // Of a promise of 0.95 to the highest that is told: 99 percents.
        let Review::Change(revision) = reviewed(&GivenReservation { wanted: 0.95, ..near }, NOW, 40) else { panic!("it is kept") };
        assert_eq!(revision.begin, Some(near.at - Seconds(3_960)));
        // Beside a promise of 0.97 no point leaves three quarters of the risk.
        assert_eq!(reviewed(&GivenReservation { wanted: 0.97, ..near }, NOW, 40), Review::Keep);
    }

    #[test]
    fn what_can_no_longer_be_had_is_tried_for_at_the_most_probable_point() {
        let given = given(Progress::Deferred { begin: NOW + Seconds(3 * 3_600) });
        let Review::Change(revision) = reviewed(&given, NOW, 400) else { panic!("it is kept") };
        // In four hours there is room for 36 percents of 400 s.
        assert_eq!((revision.begin, revision.probability), (Some(NOW), Some(0.36)));
    }

    #[test]
    fn a_waiting_job_sheds_the_padding_that_it_has_outlived_and_never_its_users_limit() {
        let given = given(Progress::Waiting);
        assert_eq!(reviewed(&given, given.at - HOUR, 40), limit(2 * 3_600));
        assert_eq!(reviewed(&given, given.at - HOUR - Seconds(3_000), 40), Review::Keep, "ten minutes are not worth a change");
        for late in [0, 30, 3_600] {
            assert_eq!(reviewed(&given, given.at + Seconds(late), 40), limit(3_600));
        }
    }

    #[test]
    fn a_job_that_starts_ends_by_its_time_and_its_users_limit() {
        let at = given(Progress::Waiting).at;
        assert_eq!(reviewed(&given(Progress::Started { at: at - HOUR }), at - Seconds(1_800), 40), limit(2 * 3_600));
        assert_eq!(reviewed(&given(Progress::Started { at: at + HOUR }), at + Seconds(4_000), 40), limit(3_600));
        let runs_early = GivenReservation { early_start: EarlyStart::Run, ..given(Progress::Started { at: at - HOUR }) };
        assert_eq!(reviewed(&runs_early, at - HOUR, 40), limit(3_600));
    }

    #[test]
    fn a_job_is_cancelled_only_after_its_time_and_only_where_its_user_wants_that() {
        let cancels = GivenReservation { if_missed: IfMissed::Cancel, ..given(Progress::Waiting) };
        assert_eq!(reviewed(&cancels, cancels.at + Seconds(1), 40), Review::Cancel);
        assert_ne!(reviewed(&cancels, cancels.at, 40), Review::Cancel);
        assert_ne!(reviewed(&given(Progress::Waiting), cancels.at + Seconds(1), 40), Review::Cancel);
    }
}
