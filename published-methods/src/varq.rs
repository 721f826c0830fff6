//! VARQ: virtual reservations from the bounds of QBETS alone (Nurmi, Wolski and Brevik 2008).
//!
//! A job that is to have its nodes at a time is submitted before, with its time limit padded by
//! what is left until then. For each moment at which it could be submitted, in steps of 30 s, QBETS
//! says with which probability a job of its size, queue and padded time limit waits no longer than
//! is left: the *probability trajectory* (3.1, figure 3). Of it the job gets either the latest
//! point that reaches the probability that its user asked for, or the most probable one.
//!
//! As published: the steps of 30 s; the probability as a whole percentile, the largest whose bound
//! is no longer than what is left (2.3); the class by the padded limit; limits in seconds. Where
//! the publication is silent: bounds hold with the confidence 0.95, as those of QBETS do (Nurmi,
//! Brevik and Wolski, JSSPP 2007); points whose limit would be longer than a job may have are left
//! out.

use job_types::job::WaitingJob;
use job_types::time::{Seconds, UnixTime};
use learning::waits::qbets::{CONFIDENCE, Classes, Qbets};
use predictor_core::forecasts::forecast::{ClassBounds, PERCENTILES};

/// Width of the steps of the trajectory (Nurmi, Wolski and Brevik 2008, 3.1).
pub const STEP: Seconds = Seconds(30);

/// A point of the probability trajectory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// When the job is to be submitted.
    pub begin: UnixTime,
    /// The job's padded time limit: from `begin` to the reserved time, and what the job asked for
    /// from there.
    pub padded_limit: Seconds,
    /// Probability that the job starts by the reserved time, in percent.
    pub percent: u8,
}

impl Point {
    /// Probability that the job starts by the reserved time, 0 to 1.
    #[must_use]
    pub fn probability(&self) -> f64 {
        f64::from(self.percent) / 100.0
    }
}

/// The point of the trajectory that a job gets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Choice {
    /// The latest point that reaches the wanted probability, at which least is paid for waiting on
    /// the nodes.
    #[default]
    Latest,
    /// The most probable point, and the latest of those that are equally probable.
    MostProbable,
}

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct ReservationRequest<'a> {
    /// The job with its own time limit; when it is eligible does not count.
    pub job: &'a WaitingJob,
    /// Now.
    pub now: UnixTime,
    /// When it is to have its nodes.
    pub reserved: UnixTime,
    /// The longest time limit that it may have; `None` is unlimited.
    pub longest_limit: Option<Seconds>,
}

impl ReservationRequest<'_> {
    fn ahead(&self) -> i64 {
        (self.reserved - self.now).0
    }

    fn own_limit(&self) -> i64 {
        self.job.limit.map_or(0, |limit| limit.0)
    }

    /// The shortest time left at a step of the trajectory that is at least so long.
    fn on_step(&self, at_least: i64) -> i64 {
        self.ahead() - (self.ahead() - at_least.max(1)).div_euclid(STEP.0) * STEP.0
    }

    fn point(&self, left: i64, percent: usize) -> Point {
        Point {
            begin: UnixTime(self.reserved.0 - left),
            padded_limit: Seconds(self.own_limit() + left),
            percent: percent.min(PERCENTILES) as u8,
        }
    }

    /// The least and the most that may be left until the reserved time for the padded job to be of
    /// a class, where there is a step of the trajectory between them.
    fn left_in(&self, class: &ClassBounds) -> Option<(i64, i64)> {
        if class.partition != self.job.partition || !class.cpus.contains(&self.job.size.cpus) {
            return None;
        }
        let least = self.on_step(i64::from(*class.limit_s.start()) - self.own_limit());
        // The last class holds what is longer than a number of 32 bits can say.
        let end = if *class.limit_s.end() == u32::MAX { i64::MAX } else { i64::from(*class.limit_s.end()) };
        let longest = self.longest_limit.map_or(i64::MAX, |longest| longest.0);
        let most = (end.min(longest) - self.own_limit()).min(self.ahead());
        (least <= most).then(|| (least, self.on_step(most - STEP.0 + 1)))
    }
}

/// How many percentiles of the wait are bounded by so many seconds.
fn percent_within(class: &ClassBounds, seconds: i64) -> usize {
    class.bounds_s.partition_point(|bound_s| i64::from(*bound_s) <= seconds)
}

/// Learns waits as jobs start, and says when to submit jobs that are to have their nodes at a time.
#[derive(Debug, Clone, Default)]
pub struct Varq {
    qbets: Qbets,
    /// The classes with their bounds; empty where a wait was learnt since they were made.
    classes: Vec<ClassBounds>,
}

impl Varq {
    /// Before any job has started.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Before any job has started, with these classes of QBETS.
    #[must_use]
    pub fn with_classes(classes: Classes) -> Self {
        Self { qbets: Qbets::with_classes(classes), classes: Vec::new() }
    }

    /// A job has started after this wait. Jobs are told in the order of their starts.
    pub fn observe(&mut self, job: &WaitingJob, wait: Seconds) {
        self.qbets.observe(job, wait);
        self.classes.clear();
    }

    fn classes(&mut self) -> &[ClassBounds] {
        if self.classes.is_empty() {
            self.classes = self.qbets.classes(CONFIDENCE);
        }
        &self.classes
    }

    /// Whether any wait is known of the job's queue.
    pub fn knows(&mut self, job: &WaitingJob) -> bool {
        self.classes().iter().any(|class| class.partition == job.partition)
    }

    /// The class of a job, numbered within its queue; `None` where nothing is known of the queue.
    pub fn class(&mut self, job: &WaitingJob) -> Option<usize> {
        let limit_s = job.limit.map_or(u32::MAX, Seconds::clamped_u32);
        let is_of = |class: &&ClassBounds| {
            class.partition == job.partition && class.cpus.contains(&job.size.cpus) && class.limit_s.contains(&limit_s)
        };
        self.classes().iter().find(is_of).map(|class| class.class)
    }

    /// The bound on a percentile of the wait of a job as it is, 1 to 99; `None` while too few waits
    /// are known.
    pub fn bound(&mut self, job: &WaitingJob, percent: u8) -> Option<Seconds> {
        self.qbets.bound_of(job, f64::from(percent) / 100.0, CONFIDENCE)
    }

    /// The whole trajectory, from now to the last step before the reserved time (figure 3).
    pub fn trajectory(&mut self, asked: &ReservationRequest<'_>) -> Vec<Point> {
        let longest = asked.longest_limit;
        let cpus = asked.job.size.cpus;
        let classes = self.classes();
        let steps = (0..asked.ahead().max(0)).step_by(STEP.0 as usize);
        let point = |step: i64| {
            let left = asked.ahead() - step;
            let padded = Seconds(asked.own_limit() + left);
            if longest.is_some_and(|longest| padded > longest) {
                return None;
            }
            let is_of = |class: &&ClassBounds| {
                class.partition == asked.job.partition && class.cpus.contains(&cpus) && class.limit_s.contains(&padded.clamped_u32())
            };
            Some(asked.point(left, percent_within(classes.iter().find(is_of)?, left)))
        };
        steps.filter_map(point).collect()
    }

    /// The point of the trajectory that the job gets where it reaches the wanted probability.
    ///
    /// It is what a walk back through [`Varq::trajectory`] finds. Within a class the probability
    /// grows with the time that is left, so that one look at each class is enough.
    ///
    /// # Errors
    ///
    /// Where no point reaches it: the highest probability of the trajectory, 0 where it has none.
    pub fn point(&mut self, asked: &ReservationRequest<'_>, wanted: f64, choice: Choice) -> Result<Point, f64> {
        let mut latest: Option<Point> = None;
        let mut most_probable: Option<Point> = None;
        for class in self.classes() {
            let Some((least, most)) = asked.left_in(class) else { continue };
            // The shortest time left at which so many percentiles are bounded by it.
            let reaches = |percent: usize| {
                let bound_s = percent.checked_sub(1).map_or(Some(0), |place| class.bounds_s.get(place).copied())?;
                let left = asked.on_step(i64::from(bound_s).max(least));
                (left <= most).then(|| asked.point(left, percent_within(class, left)))
            };
            let in_time = (wanted * 100.0 - 1e-9).ceil().max(0.0) as usize;
            if let Some(point) = reaches(in_time)
                && latest.is_none_or(|latest| point.begin > latest.begin)
            {
                latest = Some(point);
            }
            if let Some(point) = reaches(percent_within(class, most))
                && most_probable.is_none_or(|best| (point.percent, point.begin) > (best.percent, best.begin))
            {
                most_probable = Some(point);
            }
        }
        let best = most_probable.map_or(0.0, |point| point.probability());
        let found = match choice {
            Choice::Latest => latest,
            Choice::MostProbable => most_probable.filter(|point| f64::from(point.percent) >= wanted * 100.0 - 1e-9),
        };
        found.ok_or(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
    use job_types::size::Size;
    use proptest::prelude::*;
    use std::sync::LazyLock;

    fn job(cpus: u32, limit_s: i64) -> WaitingJob {
        WaitingJob {
            user: UserId(1),
            account: AccountIndex(0),
            partition: PartitionIndex(0),
            qos: QosIndex(0),
            size: Size { nodes: cpus, cpus },
            limit: Some(Seconds(limit_s)),
            eligible: UnixTime(0),
        }
    }

    /// Jobs of up to an hour wait 0 to 1,000 s, longer ones ten times as long.
    fn two_classes() -> Varq {
        let mut varq = Varq::new();
        for index in 0..2_000 {
            let (limit_s, factor) = if index % 2 == 0 { (1_800, 1) } else { (40_000, 10) };
            varq.observe(&job(4, limit_s), Seconds(index * 7_919 % 1_000 * factor));
        }
        varq
    }

    fn asked(job: &WaitingJob, ahead: i64) -> ReservationRequest<'_> {
        ReservationRequest { job, now: UnixTime(1_000), reserved: UnixTime(1_000 + ahead), longest_limit: None }
    }

    #[test]
    fn the_trajectory_has_a_point_every_thirty_seconds_and_pads_by_what_is_left() {
        let job = job(4, 600);
        let trajectory = two_classes().trajectory(&asked(&job, 3_605));
        assert_eq!(trajectory.len(), 121);
        assert_eq!((trajectory[0].begin, trajectory[0].padded_limit), (UnixTime(1_000), Seconds(4_205)));
        assert_eq!((trajectory[120].begin, trajectory[120].padded_limit), (UnixTime(4_600), Seconds(605)));
    }

    #[test]
    fn the_latest_point_lies_as_long_before_the_time_as_the_bound_is() {
        let (mut varq, job) = (two_classes(), job(4, 600));
        let point = varq.point(&asked(&job, 21_600), 0.5, Choice::Latest).unwrap();
        let bound = varq.bound(&job, 50).unwrap().0;
        let left = 22_600 - point.begin.0;
        assert!(left >= bound && left < bound + STEP.0, "{left} {bound}");
        assert_eq!(point.padded_limit, Seconds(600 + left));
    }

    #[test]
    fn what_no_point_reaches_is_answered_with_the_best_there_is() {
        let (mut varq, job) = (two_classes(), job(4, 600));
        let asked = asked(&job, 300);
        let best = varq.point(&asked, 0.9, Choice::Latest).unwrap_err();
        assert!((0.2..0.35).contains(&best), "{best}");
        assert_eq!(varq.point(&asked, best, Choice::MostProbable).unwrap().probability(), best);
        assert_eq!(Varq::new().point(&asked, 0.5, Choice::Latest), Err(0.0));
        assert!(!Varq::new().knows(&job) && varq.knows(&job));
        assert_eq!((Varq::new().class(&job), varq.class(&job).is_some()), (None, true));
    }

    static TWO_CLASSES: LazyLock<Varq> = LazyLock::new(two_classes);

    proptest! {
        #[test]
        fn one_look_at_each_class_finds_what_a_walk_through_the_trajectory_finds(
            limit_s in 1i64..50_000, ahead in 1i64..100_000, longest in prop::option::of(1i64..90_000), percent in 1u8..100,
        ) {
            let (mut varq, job) = (TWO_CLASSES.clone(), job(4, limit_s));
            let asked = ReservationRequest { longest_limit: longest.map(Seconds), ..asked(&job, ahead) };
            let trajectory = varq.trajectory(&asked);
            let wanted = f64::from(percent) / 100.0;
            let walked = trajectory.iter().rev().find(|point| point.percent >= percent);
            prop_assert_eq!(varq.point(&asked, wanted, Choice::Latest).ok(), walked.copied());
            let best = trajectory.iter().max_by_key(|point| (point.percent, point.begin));
            prop_assert_eq!(varq.point(&asked, 0.0, Choice::MostProbable).ok(), best.copied());
        }
    }
}
