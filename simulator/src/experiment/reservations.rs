//! Virtual reservations held against workload logs (Nurmi, Wolski and Brevik 2008, 4.4).
//!
//! Some of a log's jobs ask for their nodes at a time, each for the next of the times that lie a
//! fixed while apart, counted from the beginning of the log. Each is decided about when it is
//! submitted, by the decision that ships. A job that is given a reservation becomes eligible when
//! that says so, with the padded time limit, and waits on its nodes where it has them early. A job
//! that is refused runs as it was written, without a promise: Nurmi et al. do not say what becomes
//! of those, and so all that was computed in the log is computed in the replay as well.
//!
//! Their own method decides in the place of the one that ships where that is asked for.

mod figures;
mod joint;
mod outcome;
mod own_jobs;
mod varq;

use std::collections::BTreeSet;

use job_types::policy::{Others as OthersRule, Policy};
use job_types::time::{Seconds, UnixTime};
use learning::waits::qbets::Classes;
use predictor_core::decisions::NotReserved;
use published_methods::varq::Choice;

pub use self::figures::{BoundedWait, ReservationFigures, reservation_figures};
pub use self::joint::{Dependence, JOINT_RETRY, JointLog, JointOptions, JointOutcome, JointReservations, joint_reservations};
use self::outcome::GivenReservation;
pub use self::outcome::Reservations;
use self::own_jobs::Process;
pub use self::own_jobs::{OWN_NODES, OWN_RUN_TIMES, RETRY};
use self::varq::VarqDecider;
use super::parts::{Ablations, RequestedFeatures, ReservationWish, Reviewed, Site};
use super::progress::Shown;
use super::shipped::{AskedReservation, Shipped};
use super::{Decider, ExperimentError, ExperimentPolicy, MoldedRunTimes, ReplayOutcome, adopters, easy};
use crate::engine::policy::AsSubmitted;
use crate::engine::{Job, JobIndex, Machine, Record, simulate};
use crate::metrics::Distribution;

/// The method that grants or refuses reservations in a replay.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum ReservationMethod {
    /// The decision that ships.
    #[default]
    Shipped,
    /// VARQ, with QBETS alone (Nurmi, Wolski and Brevik 2008, 3.1), which takes these jobs to wait
    /// alike.
    Varq(Classes),
}

/// Why a reservation is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    Unlikely,
    Crowded,
    BeyondLimit,
    NoWaits,
    OthersWait,
    Other,
}

impl From<&NotReserved> for Refusal {
    fn from(why: &NotReserved) -> Self {
        match why {
            NotReserved::Unlikely { .. } => Self::Unlikely,
            NotReserved::Crowded { .. } => Self::Crowded,
            NotReserved::BeyondLimit { .. } => Self::BeyondLimit,
            NotReserved::NoWaits => Self::NoWaits,
            NotReserved::OthersWait(_) => Self::OthersWait,
            _ => Self::Other,
        }
    }
}

/// What was answered to a job that asked for its nodes at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Answer {
    /// The job.
    job: JobIndex,
    /// The time.
    at: UnixTime,
    /// The probability with which the job has its nodes by then, or why it was refused.
    answer: Result<f64, Refusal>,
}

/// Decides about jobs that ask for their nodes at a time, and keeps what it answered.
trait Answers: Decider {
    /// What was answered, in the order in which it was asked.
    fn answers(&self) -> Vec<Answer>;

    /// The time for which this job was given a reservation; `None` where it was not, or not the
    /// last that asked.
    fn given(&self, job: JobIndex) -> Option<UnixTime>;
}

impl<A: Answers + ?Sized> Answers for Box<A> {
    fn answers(&self) -> Vec<Answer> {
        (**self).answers()
    }

    fn given(&self, job: JobIndex) -> Option<UnixTime> {
        (**self).given(job)
    }
}

impl Answers for Shipped {
    fn answers(&self) -> Vec<Answer> {
        let answer = |asked: &AskedReservation| {
            let answer = asked.answer.as_ref().map(|point| point.probability).map_err(Refusal::from);
            Answer { job: asked.job, at: asked.at, answer }
        };
        self.asked_reservations().iter().map(answer).collect()
    }

    fn given(&self, job: JobIndex) -> Option<UnixTime> {
        self.asked_reservations().last().filter(|asked| asked.job == job && asked.answer.is_ok()).map(|asked| asked.at)
    }
}

/// Which jobs of a log ask for reservations, and for which.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReservationOptions {
    /// The part of the window's jobs that ask, drawn job by job.
    pub share: f64,
    /// Instead of the log's jobs, jobs of the experimenter's own ask, on nodes of so many
    /// processors (Nurmi, Wolski and Brevik 2008, 4.1).
    pub own_jobs: Option<u32>,
    /// What they ask for.
    pub wish: ReservationWish,
    /// The method that grants or refuses reservations.
    pub method: ReservationMethod,
    /// First job of the window, counted from 1.
    pub from: usize,
    /// Last job of the window; the last there is where there are fewer.
    pub to: usize,
    /// How old the state gets that decisions are made from.
    pub refresh: Seconds,
    /// What follows the queue of a reservation that was given.
    pub reviewed: Reviewed,
    /// What a reservation may do to those who wait.
    pub others: OthersRule,
    /// Seed of all that is random.
    pub seed: u64,
}

impl Default for ReservationOptions {
    /// Lets one job in ten ask for its nodes at the next of the times six hours apart, with
    /// probability 0.95.
    fn default() -> Self {
        let wish = ReservationWish { every: Seconds(6 * 3_600), probability: 0.95, names_probability: true, point: Choice::Latest };
        Self {
            share: 0.1,
            own_jobs: None,
            wish,
            method: ReservationMethod::Shipped,
            from: 10_001,
            to: usize::MAX,
            refresh: Seconds(30),
            reviewed: Reviewed::default(),
            others: OthersRule::Ignore,
            seed: 1,
        }
    }
}

/// Why reservations were refused, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Refusals {
    /// The probability was not to be had.
    pub unlikely: usize,
    /// Too many CPUs were reserved for that time.
    pub crowded: usize,
    /// The padded time limit would have been longer than any of the log's.
    pub beyond_limit: usize,
    /// Nothing was known of waits yet.
    pub no_waits: usize,
    /// Others would have waited longer than was allowed.
    pub others_wait: usize,
    /// Any other reason.
    pub other: usize,
}

impl Refusals {
    fn count(&mut self, why: Refusal) {
        match why {
            Refusal::Unlikely => self.unlikely += 1,
            Refusal::Crowded => self.crowded += 1,
            Refusal::BeyondLimit => self.beyond_limit += 1,
            Refusal::NoWaits => self.no_waits += 1,
            Refusal::OthersWait => self.others_wait += 1,
            Refusal::Other => self.other += 1,
        }
    }

    /// Returns the number of all refusals.
    #[must_use]
    pub fn all(&self) -> usize {
        self.unlikely + self.crowded + self.beyond_limit + self.no_waits + self.others_wait + self.other
    }
}

/// The reservations of one class of jobs.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReservationClass {
    /// What the class is called.
    pub class: String,
    /// What became of them.
    #[serde(flatten)]
    pub found: Reservations,
}

/// What the jobs that asked for nothing met.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Others {
    /// The number of these jobs.
    pub others: usize,
    /// The mean wait of these jobs, in seconds.
    pub others_mean_wait_s: f64,
    /// The mean wait of these jobs if nobody asks for a reservation, in seconds.
    pub others_mean_wait_without_s: f64,
    /// The 95th percentile of the waits of these jobs, in seconds.
    pub others_p95_wait_s: f64,
    /// The 95th percentile of their waits where nobody asks for a reservation.
    pub others_p95_wait_without_s: f64,
}

/// What was found on one log.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReservationOutcome {
    /// All of them.
    #[serde(flatten)]
    pub all: Reservations,
    /// Why the others were refused.
    pub refused: Refusals,
    /// The reservations by the size of the job, in processors. Classes in which nobody asked are
    /// left out.
    pub by_size: Vec<ReservationClass>,
    /// The reservations by the time from the submission to the reserved time. Classes in which
    /// nobody asked are left out.
    pub by_time_ahead: Vec<ReservationClass>,
    /// What the reservations did to the other jobs.
    #[serde(flatten)]
    pub others: Others,
    /// Part of the processor time that jobs had, waits on their processors included.
    pub utilisation: f64,
    /// Part of the processor time that jobs ran.
    pub work_utilisation: f64,
    /// The part of the processor time that jobs ran if nobody asks for a reservation.
    pub utilisation_without: f64,
}

/// Up to which size each class reaches, in processors; the last holds what is larger.
const SIZES: [u32; 4] = [1, 8, 32, 128];

/// Up to which time ahead each class reaches; the last holds what is longer.
const TIMES_AHEAD: [Seconds; 4] = [Seconds(1_800), Seconds(2 * 3_600), Seconds(4 * 3_600), Seconds(6 * 3_600)];

/// Replays `jobs` with some of them asking for reservations, and without. `progress` is told how
/// many of the jobs have been submitted, of how many.
///
/// # Errors
///
/// [`ExperimentError`] where the window lies behind the last job, a job is larger than the machine,
/// or the log says nothing of time limits, which reservations are made of.
pub fn reservations(
    jobs: &[Job],
    processors: u32,
    options: &ReservationOptions,
    progress: &dyn Fn(usize, usize),
) -> Result<ReservationOutcome, ExperimentError> {
    let (found, first) = (jobs.len(), options.from.saturating_sub(1));
    let end = options.to.min(found);
    if first >= end {
        return Err(ExperimentError::TooFewJobs { found, wanted: options.from });
    }
    let jobs = jobs.get(..end).unwrap_or_default();
    if jobs.iter().all(|job| job.estimate == job.run_time) {
        return Err(ExperimentError::NoTimeLimits);
    }
    let machine = Machine::new(processors);
    let without = simulate(jobs, &machine, &mut easy(), &mut AsSubmitted)?;
    let (replayed, asks) = match options.own_jobs {
        Some(node) => own_jobs::beside(jobs, first, options.wish, node, processors, options.seed),
        None => {
            let adopts = adopters(jobs.len(), options.share, options.seed).into_iter().enumerate();
            (jobs.to_vec(), adopts.map(|(place, adopts)| place >= first && adopts).collect())
        }
    };
    let longest = jobs.iter().map(|job| job.estimate).max();
    let site = Site { processors, longest_limit: longest, refresh: options.refresh };
    let wishes = RequestedFeatures { molding: false, reservation: Some(options.wish), ..RequestedFeatures::default() };
    let site_policy = Policy { others: options.others, ..Policy::default() };
    let parts = Ablations { reviewed: options.reviewed, site: site_policy, ..Ablations::default() };
    let decider: Box<dyn Answers> = match options.method {
        ReservationMethod::Shipped => Box::new(Shipped::new(&replayed, &site, wishes, parts, options.seed)),
        ReservationMethod::Varq(classes) => Box::new(VarqDecider::new(options.wish, classes, options.reviewed.begin, longest)),
    };
    let decider = if options.own_jobs.is_some() { Box::new(Process::new(decider)) } else { decider };
    // No job is molded, so that no job runs at another size.
    let run_times = MoldedRunTimes::Computation(Vec::new());
    let window = first as JobIndex..replayed.len() as JobIndex;
    let policy = ExperimentPolicy::new(decider, run_times, window, asks.clone(), None);
    let mut policy = Shown::new(policy, replayed.len(), progress);
    let records = simulate(&replayed, &machine, &mut easy(), &mut policy)?;
    let answers = policy.policy().decider().answers().into_iter();
    let asked: Vec<(Answer, Record)> = answers.filter_map(|asked| Some((asked, *records.get(asked.job as usize)?))).collect();
    let mut refused = Refusals::default();
    asked.iter().filter_map(|(asked, _)| asked.answer.err()).for_each(|why| refused.count(why));
    // Of the experimenter's own jobs, only those ran that were given a reservation.
    let given: BTreeSet<JobIndex> = asked.iter().filter(|(asked, _)| asked.answer.is_ok()).map(|(asked, _)| asked.job).collect();
    let has_run = |place: usize| options.own_jobs.is_none() || asks.get(place) != Some(&true) || given.contains(&(place as JobIndex));
    let (ran, is_other): (Vec<Record>, Vec<bool>) =
        records.iter().zip(&asks).enumerate().filter(|(place, _)| has_run(*place)).map(|(_, (record, asks))| (*record, !asks)).unzip();
    let others = |records: &[Record], is_other: &[bool]| {
        let others = records.iter().zip(is_other).skip(first).filter(|(_, is_other)| **is_other);
        Distribution::of(others.map(|(record, _)| record.wait().0 as f64))
    };
    let with = others(&ran, &is_other);
    // If the experimenter's own jobs ask, all jobs of the log are others.
    let is_other_of_log = if options.own_jobs.is_some() { vec![true; jobs.len()] } else { is_other.clone() };
    let before = others(&without, &is_other_of_log);
    let outcome = |records: &[Record]| ReplayOutcome::of(records, first..records.len(), processors);
    // What is left of each job without its wait on the nodes.
    let work: Vec<Record> = ran.iter().map(|record| Record { start: record.start + record.held, held: Seconds::ZERO, ..*record }).collect();
    Ok(ReservationOutcome {
        all: outcome_of(&asked),
        refused,
        by_size: classes(&asked, &SIZES, |(_, record)| record.processors, |processors| processors.to_string()),
        by_time_ahead: classes(&asked, &TIMES_AHEAD, |(asked, record)| asked.at - record.submit, in_hours),
        others: Others {
            others: is_other_of_log.iter().skip(first).filter(|is_other| **is_other).count(),
            others_mean_wait_s: with.mean,
            others_mean_wait_without_s: before.mean,
            others_p95_wait_s: with.p95,
            others_p95_wait_without_s: before.p95,
        },
        utilisation: outcome(&ran).utilisation,
        work_utilisation: outcome(&work).utilisation,
        utilisation_without: outcome(&without).utilisation,
    })
}

/// What became of reservations that were asked for, each with the record of the job that asked.
fn outcome_of<'a>(asked: impl IntoIterator<Item = &'a (Answer, Record)>) -> Reservations {
    let mut requested = 0;
    let given = asked.into_iter().inspect(|_| requested += 1);
    let given = given.filter_map(|(asked, record)| Some(GivenReservation::of(asked.at, asked.answer.ok()?, [record])));
    let given: Vec<GivenReservation> = given.collect();
    Reservations::of(requested, &given)
}

fn in_hours(time: Seconds) -> String {
    format!("{} h", time.0 as f64 / 3_600.0)
}

/// The reservations by classes, which reach up to `ends` (ascending), with one for what is above.
fn classes<T: PartialOrd + Copy>(
    asked: &[(Answer, Record)],
    ends: &[T],
    of: impl Fn(&(Answer, Record)) -> T,
    name: impl Fn(T) -> String,
) -> Vec<ReservationClass> {
    let above = [None].into_iter().chain(ends.iter().copied().map(Some));
    let up_to = ends.iter().copied().map(Some).chain([None]);
    let class = |(above, up_to): (Option<T>, Option<T>)| {
        let is_here = |value: T| above.is_none_or(|above| value > above) && up_to.is_none_or(|up_to| value <= up_to);
        let names = [above.map(|above| format!("above {}", name(above))), up_to.map(|up_to| format!("up to {}", name(up_to)))];
        let class = names.into_iter().flatten().collect::<Vec<_>>().join(", ");
        ReservationClass { class, found: outcome_of(asked.iter().filter(|asked| is_here(of(asked)))) }
    };
    above.zip(up_to).map(class).filter(|class| class.found.requested > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::jobs;
    use super::*;

    #[test]
    fn reservations_by_hand() {
        let asked = |answer| Answer { job: 0, at: UnixTime(3_600), answer };
        let asked_later = |answer| Answer { at: UnixTime(3_600 + 86_400), ..asked(answer) };
        let record = |start, end, held, processors| Record {
            start: UnixTime(start),
            end: UnixTime(end),
            held: Seconds(held),
            processors,
            ..Record::default()
        };
        // Two hours early on one processor; on the dot; and a second late on three.
        let reservations = [
            (asked(Ok(0.9)), record(-3_600, 7_200, 7_200, 1)),
            (asked(Ok(0.6)), record(3_600, 7_200, 0, 2)),
            (asked_later(Ok(0.6)), record(3_601 + 86_400, 7_201 + 86_400, 0, 3)),
            (asked(Err(Refusal::NoWaits)), record(0, 3_600, 0, 1)),
        ];
        let found = outcome_of(&reservations);
        assert_eq!((found.requested, found.accepted, found.kept), (4, 3, 2));
        assert_eq!((found.required_processor_hours, found.used_processor_hours, found.cost_ratio), (6.0, 8.0, Some(8.0 / 6.0)));
        assert!((found.mean_predicted.unwrap() - 0.7).abs() < 1e-12);
        // Two thirds are kept: the first time is above that by two thirds, the other as far below.
        assert!((found.kept_standard_error.unwrap() - (2.0_f64 * 2.0 * (4.0 / 9.0)).sqrt() / 3.0).abs() < 1e-12);
        assert_eq!(outcome_of(&[]), Reservations::default());
    }

    #[test]
    fn where_nobody_asks_nothing_changes() {
        let options = ReservationOptions { share: 0.0, from: 301, ..ReservationOptions::default() };
        let found = reservations(&jobs(), 64, &options, &|_, _| {}).unwrap();
        assert_eq!((found.all, found.refused), (Reservations::default(), Refusals::default()));
        assert_eq!(
            (found.others.others_mean_wait_s, found.utilisation),
            (found.others.others_mean_wait_without_s, found.utilisation_without)
        );
    }

    #[test]
    fn who_is_given_a_reservation_pays_for_what_it_waits_on_the_nodes() {
        let wish = ReservationWish { every: Seconds(6 * 3_600), probability: 0.5, names_probability: true, point: Choice::Latest };
        let options = ReservationOptions { share: 0.3, wish, from: 301, ..ReservationOptions::default() };
        let found = reservations(&jobs(), 64, &options, &|_, _| {}).unwrap();
        let all = found.all;
        assert!(all.accepted > 20 && all.accepted + found.refused.all() == all.requested, "{found:?}");
        assert!(all.mean_predicted.unwrap() >= 0.5 && all.cost_ratio.unwrap() > 1.0, "{found:?}");
        assert!(found.work_utilisation < found.utilisation, "{found:?}");
        let accepted = |classes: &[ReservationClass]| classes.iter().map(|class| class.found.accepted).sum::<usize>();
        assert_eq!((accepted(&found.by_size), accepted(&found.by_time_ahead)), (all.accepted, all.accepted));
    }

    #[test]
    fn what_others_would_wait_longer_for_is_refused_where_the_site_asks() {
        let found = |others| {
            let wish = ReservationWish { every: Seconds(6 * 3_600), probability: 0.5, names_probability: true, point: Choice::Latest };
            let options = ReservationOptions { share: 1.0, wish, others, from: 301, ..ReservationOptions::default() };
            reservations(&jobs(), 64, &options, &|_, _| {}).unwrap()
        };
        let (ignored, weighed) = (found(OthersRule::Ignore), found(OthersRule::NotWorse));
        assert!(ignored.refused.others_wait == 0 && weighed.refused.others_wait > 0, "{weighed:?}");
        assert!(weighed.all.accepted > 0 && weighed.all.accepted < ignored.all.accepted, "{weighed:?} {ignored:?}");
    }

    #[test]
    fn the_latest_point_is_given_or_the_most_probable() {
        for method in [ReservationMethod::Shipped, ReservationMethod::Varq(Classes::Found), ReservationMethod::Varq(Classes::BySize)] {
            let found = |point| {
                let wish = ReservationWish { every: Seconds(6 * 3_600), probability: 0.5, names_probability: true, point };
                let options = ReservationOptions { share: 0.3, wish, method, from: 301, ..ReservationOptions::default() };
                reservations(&jobs(), 64, &options, &|_, _| {}).unwrap().all
            };
            let (latest, most_probable) = (found(Choice::Latest), found(Choice::MostProbable));
            assert!(latest.accepted > 20 && most_probable.accepted > 20, "{latest:?} {most_probable:?}");
            assert!(most_probable.mean_predicted > latest.mean_predicted, "{latest:?} {most_probable:?}");
        }
    }

    #[test]
    fn jobs_of_the_experimenters_own_ask_one_after_the_other_and_the_logs_do_not() {
        let wish = ReservationWish { every: Seconds(6 * 3_600), probability: 0.5, names_probability: true, point: Choice::Latest };
        let log = jobs();
        for method in [ReservationMethod::Shipped, ReservationMethod::Varq(Classes::Found), ReservationMethod::Varq(Classes::BySize)] {
            let options = ReservationOptions { own_jobs: Some(1), wish, method, from: 301, ..ReservationOptions::default() };
            let found = reservations(&log, 64, &options, &|_, _| {}).unwrap();
            let times = (log[899].submit - log[300].submit).0 / wish.every.0;
            assert!(found.all.accepted > 10 && found.all.accepted as i64 <= times + 1, "{found:?}");
            assert_eq!((found.others.others, found.all.accepted + found.refused.all()), (600, found.all.requested));
            assert!(found.utilisation > found.utilisation_without && found.utilisation < 1.0, "{found:?}");
        }
    }

    #[test]
    fn a_log_without_time_limits_is_refused() {
        let jobs: Vec<Job> = jobs().into_iter().map(|job| Job { estimate: job.run_time, ..job }).collect();
        let options = ReservationOptions { from: 301, ..ReservationOptions::default() };
        assert_eq!(reservations(&jobs, 64, &options, &|_, _| {}), Err(ExperimentError::NoTimeLimits));
    }
}
