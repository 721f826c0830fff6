//! Molding: at which of several sizes a job is forecast to be done first (end-to-end paper, IV.A
//! and VI.C).

use super::choice::limit_at;
use super::gain::gain;
use super::planned;
use super::submission::{Submission, Tie};
use super::{Context, LIMIT_ROUNDING, Limit};
use crate::forecast::{Forecaster, RunTimeForecast, RunTimeRange, WaitForecast, point};
use job_types::record::WaitSource;
use job_types::size::{Size, Unit};
use job_types::time::{Seconds, UnixTime};
use std::fmt;

/// Most sizes that are compared for one job; of more, those nearest to the size as written.
const MOST_CANDIDATES: usize = 64;

/// Fewest past jobs of the user at a size that they did not name for it to be tried: with fewer
/// there is no relevant history (III.C begins with ten).
const FEWEST_PAST_JOBS: u32 = 10;

/// A size with what is forecast for it.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Nodes or CPUs, in the unit of the submission.
    pub count: u32,
    /// Nodes and CPUs.
    pub size: Size,
    /// Tasks, where the submission gives them.
    pub tasks: Option<u32>,
    /// Its time limit; `None` is unlimited.
    pub limit: Option<Seconds>,
    /// Forecast of the wait: the median, and the bound that holds with 95 %.
    pub wait: Option<(Seconds, Option<Seconds>)>,
    /// Jobs on which the forecast of the wait rests; 0 where none was needed.
    pub wait_jobs: u32,
    /// Who forecast the wait; `None` where nobody could or none was needed.
    pub wait_source: Option<WaitSource>,
    /// Point forecast of the run time.
    pub run_time: Seconds,
    /// Shortest and longest forecast run time.
    pub run_time_range: (Seconds, Seconds),
    /// Past jobs of the user on which the forecast of the run time rests; 0 where it is the time
    /// limit.
    pub run_time_jobs: u32,
    /// Gain of its response-time ranges (IV.A), between 0 and 1.
    pub score: f64,
    /// Probability of being done by the submission's deadline, where it has one.
    pub deadline_probability: Option<f64>,
}

impl Candidate {
    /// Point forecast of the response: wait and run time.
    #[must_use]
    pub fn response(&self) -> Seconds {
        self.wait.map_or(Seconds::ZERO, |(median, _)| median) + self.run_time
    }
}

/// Why a job is not molded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NotMolded {
    /// It is tied to its size.
    Tied(Tie),
    /// There is no past of the user's at the size as written, and no list of sizes.
    NoHistory {
        /// The size.
        count: u32,
        /// Its unit.
        unit: Unit,
    },
    /// There are no past waits in the partition.
    NoWaits,
    /// No other size is allowed or can be made of its tasks.
    NoOtherSize,
    /// Every other size that could be made of it is forbidden, the nearest by this.
    Forbidden(Limit),
    /// The size as written is forecast to finish first.
    AlreadyBest,
    /// The site molds none in this partition.
    NotOffered,
    /// A better size could not be reserved, the one as written can.
    NotReservable,
}

impl fmt::Display for NotMolded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotMolded::Tied(tie) => write!(f, "{tie}"),
            NotMolded::NoHistory { count, unit } => write!(
                f,
                "you have no past jobs on {count} {} here to compare with; --mold-sizes=LIST names sizes to try",
                unit.word(*count)
            ),
            NotMolded::NoWaits => f.write_str("no past waits are known for this partition"),
            NotMolded::NoOtherSize => f.write_str("no other size that you have run or named fits its tasks and limits"),
            NotMolded::Forbidden(limit) => write!(f, "other sizes are forbidden by {limit}"),
            NotMolded::AlreadyBest => f.write_str("its size is the one forecast to finish first"),
            NotMolded::NotOffered => f.write_str("this partition molds no jobs"),
            NotMolded::NotReservable => f.write_str("only its own size can be had at the reserved time"),
        }
    }
}

/// What a forecast at a size assumes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assumption {
    /// Time from now until the job is eligible, or starts where `starts_then`.
    pub(super) delay: Seconds,
    /// Whether the job starts at that time without a wait (a virtual reservation).
    pub(super) starts_then: bool,
}

/// A size as it would be written, before its wait is forecast.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) count: u32,
    pub(super) size: Size,
    pub(super) tasks: Option<u32>,
    pub(super) limit: Option<Seconds>,
    /// Run times, and the past jobs that they rest on.
    pub(super) ranges: Vec<RunTimeRange>,
    pub(super) run_time_jobs: u32,
}

/// Why a size is not among those that are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NoDraft {
    /// It can't be made of the job's tasks, or does not fit before the deadline.
    Impossible,
    /// Something forbids it.
    Forbidden(Limit),
}

/// Forecasts the submission at `count`; `None` where it can't be made of its tasks, or exceeds what
/// is allowed.
pub(super) fn candidate<F>(context: &Context<'_, F>, count: u32, assumption: &Assumption) -> Option<(Candidate, Vec<RunTimeRange>)>
where
    F: Forecaster,
{
    forecast(context, vec![draft(context, count, assumption).ok()?], assumption).pop()
}

fn draft<F>(context: &Context<'_, F>, count: u32, assumption: &Assumption) -> Result<Draft, NoDraft>
where
    F: Forecaster,
{
    let submission = context.submission;
    let (original, unit) = (context.size, submission.unit());
    let original_count = original.count(unit);
    let (size, tasks) = resize(submission, original, unit, count).ok_or(NoDraft::Impossible)?;
    let past = context.forecasts.run_time(submission.user, context.partition.index, unit, count);
    let known: Option<RunTimeForecast<'_>> = past.filter(|past| !past.ranges.is_empty());
    let limit = if count == original_count { context.limit } else { molded_limit(context, size, past)? };
    let fits_deadline = submission
        .deadline
        .is_none_or(|deadline| limit.is_none_or(|limit| context.now + assumption.delay + limit + LIMIT_ROUNDING <= deadline));
    if count != original_count {
        context.bounds.admit(size, limit.map(Seconds::rounded_up_to_minutes)).map_err(NoDraft::Forbidden)?;
        if !fits_deadline {
            return Err(NoDraft::Impossible);
        }
    }
    // Without a past of its own, a size is taken to need the whole time limit, and more in
    // proportion where it has fewer CPUs.
    let fallback = || {
        let scale = (f64::from(context.size.cpus) / f64::from(size.cpus.max(1))).max(1.0);
        let seconds = context.limit.or(limit).map_or(0.0, |limit| limit.0 as f64 * scale);
        let seconds = Seconds(seconds as i64).clamped_u32();
        vec![RunTimeRange::new(seconds, seconds, 1.0)]
    };
    let ranges = known.map_or_else(fallback, |past| past.within(limit));
    Ok(Draft { count, size, tasks, limit, ranges, run_time_jobs: past.map_or(0, |past| past.jobs) })
}

/// Forecasts sizes, all their waits at once.
pub(super) fn forecast<F>(context: &Context<'_, F>, drafts: Vec<Draft>, assumption: &Assumption) -> Vec<(Candidate, Vec<RunTimeRange>)>
where
    F: Forecaster,
{
    let moment = context.moment(assumption.delay);
    // A job that starts at a reserved time does not wait.
    let asked: Vec<_> =
        drafts.iter().filter(|_| !assumption.starts_then).map(|draft| (context.shape(draft.size, draft.limit), Some(moment))).collect();
    let mut waits = context.forecasts.waits(&asked).into_iter();
    let candidates = drafts.into_iter().map(|draft| {
        let wait = waits.next().flatten();
        let Draft { count, size, tasks, limit, ranges, run_time_jobs } = draft;
        let waited = match (&wait, assumption.starts_then) {
            (_, true) => Some((assumption.delay, Some(assumption.delay))),
            (Some(wait), false) => Some((assumption.delay + wait.median, wait.bound(0.95).map(|bound| assumption.delay + bound))),
            (None, false) => None,
        };
        let deadline = context.submission.deadline;
        let candidate = Candidate {
            count,
            size,
            tasks,
            limit,
            wait: waited,
            wait_jobs: wait.as_ref().map_or(0, |wait| wait.jobs),
            wait_source: wait.as_ref().map(|wait| wait.source),
            run_time: point(&ranges),
            run_time_range: (
                ranges.first().map_or(Seconds::ZERO, RunTimeRange::lower),
                ranges.last().map_or(Seconds::ZERO, RunTimeRange::upper),
            ),
            run_time_jobs,
            score: 0.0,
            deadline_probability: deadline.map(|deadline| probability_done(wait.as_ref(), &ranges, deadline - context.now, assumption)),
        };
        (candidate, ranges)
    });
    candidates.collect()
}

/// Probability of being done within `time_left`: over the run-time ranges, each taken at its longer
/// end, that of starting early enough.
fn probability_done(wait: Option<&WaitForecast<'_>>, ranges: &[RunTimeRange], time_left: Seconds, assumption: &Assumption) -> f64 {
    let probability: f64 = ranges
        .iter()
        .map(|range| {
            let latest_start = time_left - assumption.delay - range.upper();
            let in_time = if assumption.starts_then {
                f64::from(u8::from(latest_start >= Seconds::ZERO))
            } else {
                wait.map_or(0.0, |wait| wait.probability_within(latest_start))
            };
            range.probability() * in_time
        })
        .sum();
    probability.clamp(0.0, 1.0)
}

/// The result of molding.
#[derive(Debug)]
pub(super) struct Molding {
    /// What is forecast at the size as written; `None` where that can't be said.
    pub(super) as_written: Option<Candidate>,
    /// The best other size, if one is better.
    pub(super) better: Result<Candidate, NotMolded>,
    /// Whether a plan of the queue says so.
    pub(super) by_plan: bool,
}

/// Looks for a better size than the one as written, among at most [`MOST_CANDIDATES`]: by the plan
/// of the queue where there is one, or else by what past waits and run times say.
pub(super) fn best<F>(context: &Context<'_, F>, assumption: &Assumption) -> Molding
where
    F: Forecaster,
{
    let submission = context.submission;
    let unit = submission.unit();
    let original_count = context.size.count(unit);
    let mut drafts: Vec<Draft> = draft(context, original_count, assumption).into_iter().collect();
    let mut forbidden = Forbidden::default();
    let refusal = match (submission.tie, drafts.first()) {
        (Some(tie), _) => Some(NotMolded::Tied(tie)),
        (None, None) => Some(NotMolded::NoOtherSize),
        (None, Some(written)) if written.run_time_jobs == 0 && submission.asked.mold_sizes.is_none() => {
            Some(NotMolded::NoHistory { count: original_count, unit })
        }
        _ => None,
    };
    if refusal.is_none()
        && let Some(molding) = drafts.first().and_then(|written| planned::best(context, written, assumption))
    {
        return molding;
    }
    if refusal.is_none() {
        let is_known = |draft: &Draft| draft.run_time_jobs >= FEWEST_PAST_JOBS || submission.asked.mold_sizes.is_some();
        let others =
            candidate_counts(context, original_count).into_iter().filter_map(|count| forbidden.noted(draft(context, count, assumption)));
        drafts.extend(others.filter(is_known));
    }
    let forecasts = forecast(context, drafts, assumption);
    let (original, others) = match forecasts.split_first() {
        Some((original, others)) => (Some(original), others),
        None => (None, [].as_slice()),
    };
    let refuse = |why| Molding { as_written: original.map(|(candidate, _)| candidate.clone()), better: Err(why), by_plan: false };
    let Some(written) = original else { return refuse(refusal.unwrap_or(NotMolded::NoOtherSize)) };
    if let Some(why) = refusal {
        // Of the two reasons the wider one is told.
        let no_waits = written.0.wait.is_none() && matches!(why, NotMolded::NoHistory { .. });
        return refuse(if no_waits { NotMolded::NoWaits } else { why });
    }
    if written.0.wait.is_none() {
        return refuse(NotMolded::NoWaits);
    }
    if others.is_empty() {
        return refuse(forbidden.or(NotMolded::NoOtherSize));
    }
    let longest = std::iter::once(written).chain(others).map(|(candidate, ranges)| longest_response(candidate, ranges)).max();
    let longest = longest.unwrap_or(Seconds(1)).max(Seconds(1));
    let scored = |(candidate, ranges): &(Candidate, Vec<RunTimeRange>)| {
        let offset = candidate.response() - candidate.run_time;
        Candidate { score: gain(ranges, offset, longest), ..candidate.clone() }
    };
    let written = scored(written);
    // Where there is a deadline, being done by it comes first.
    let worth = |candidate: &Candidate| (candidate.deadline_probability.unwrap_or(0.0), candidate.score);
    let better = |one: &Candidate, other: &Candidate| {
        let ((probability, score), (other_probability, other_score)) = (worth(one), worth(other));
        probability > other_probability || (probability == other_probability && score > other_score)
    };
    let mut best = written.clone();
    for other in others.iter().map(scored) {
        if other.wait.is_some() && better(&other, &best) {
            best = other;
        }
    }
    let better = if best.count == original_count { Err(NotMolded::AlreadyBest) } else { Ok(best) };
    Molding { as_written: Some(written), better, by_plan: false }
}

/// The first reason for which a size was left out: sizes come with the nearest first.
#[derive(Debug, Default)]
pub(super) struct Forbidden(Option<Limit>);

impl Forbidden {
    /// The size, if nothing forbids it.
    pub(super) fn noted(&mut self, draft: Result<Draft, NoDraft>) -> Option<Draft> {
        if let Err(NoDraft::Forbidden(limit)) = draft {
            self.0.get_or_insert(limit);
        }
        draft.ok()
    }

    /// Why no other size is taken, where no size was left.
    pub(super) fn or(&self, why: NotMolded) -> NotMolded {
        self.0.map_or(why, NotMolded::Forbidden)
    }
}

/// Sizes to try besides the one as written: the user's own past sizes and those of `--mold-sizes`,
/// within what the submission allows.
pub(super) fn candidate_counts<F>(context: &Context<'_, F>, original: u32) -> Vec<u32>
where
    F: Forecaster,
{
    let submission = context.submission;
    let named = submission.asked.mold_sizes.as_ref();
    let past = context.forecasts.past_sizes(submission.user, context.partition.index, submission.unit());
    let listed = named.into_iter().flat_map(|sizes| sizes.candidates().iter().copied());
    // Of a range, whose every size can't be tried, the powers of two that lie in it.
    let powers = (0..32u32).map(|power| 1u32 << power).filter(|_| named.is_some());
    allowed_counts(context, original, past.chain(listed).chain(powers))
}

/// Of these sizes those that the submission and the partition allow, once each, the nearest in
/// proportion first, at most [`MOST_CANDIDATES`].
pub(super) fn allowed_counts<F>(context: &Context<'_, F>, original: u32, counts: impl Iterator<Item = u32>) -> Vec<u32> {
    let submission = context.submission;
    let named = submission.asked.mold_sizes.as_ref();
    let most = match submission.unit() {
        Unit::Nodes => context.partition.nodes,
        Unit::Cpus => context.partition.cpus,
    };
    let allowed = |count: &u32| {
        *count != original
            && (1..=most).contains(count)
            && named.is_none_or(|sizes| sizes.contains(*count))
            && submission.nodes.is_none_or(|nodes| nodes.least == nodes.most || (nodes.least..=nodes.most).contains(count))
    };
    let mut counts: Vec<u32> = counts.filter(allowed).collect();
    // Nearest in proportion first: of two, the one whose larger count is the smaller multiple of
    // its smaller one.
    let proportion = |count: u32| (u64::from(count.max(original)), u64::from(count.min(original).max(1)));
    counts.sort_by(|one, other| {
        let ((larger, smaller), (other_larger, other_smaller)) = (proportion(*one), proportion(*other));
        (larger * other_smaller).cmp(&(other_larger * smaller)).then(one.cmp(other))
    });
    counts.dedup();
    counts.truncate(MOST_CANDIDATES);
    counts
}

/// The submission's size and tasks at another count; `None` where its tasks do not divide.
pub(super) fn resize(submission: &Submission<'_>, original: Size, unit: Unit, count: u32) -> Option<(Size, Option<u32>)> {
    let original_count = original.count(unit);
    let scaled = |number: u32| {
        let product = u64::from(number) * u64::from(count);
        let whole = product.is_multiple_of(u64::from(original_count.max(1)));
        whole.then(|| u32::try_from(product / u64::from(original_count.max(1))).ok()).flatten().filter(|number| *number > 0)
    };
    let tasks = match submission.tasks {
        Some(tasks) => Some(scaled(tasks)?),
        None => None,
    };
    let cpus = scaled(original.cpus).unwrap_or_else(|| {
        let exact = f64::from(original.cpus) * f64::from(count) / f64::from(original_count.max(1));
        exact.ceil().max(1.0) as u32
    });
    Some(match unit {
        Unit::Nodes => (Size { nodes: count, cpus: cpus.max(count) }, tasks),
        Unit::Cpus => {
            let nodes = u64::from(original.nodes) * u64::from(count);
            let nodes = u32::try_from(nodes.div_ceil(u64::from(original_count.max(1)))).unwrap_or(u32::MAX).max(1);
            (Size { nodes, cpus }, tasks)
        }
    })
}

/// The time limit at another size (VI.C): the original one for a larger size; for a smaller one the
/// least of the user's longest limit at that size and the partition's longest that exceeds the
/// original.
///
/// That alone gives a job of ten minutes the partition's seven days where its user never asked for
/// more, and no backfilling with it. So a third value is among those of which the least is taken:
/// the original limit in proportion to the CPUs, which is enough for every job that does not run
/// faster on fewer CPUs for the same work. Where not even that is allowed, a size is taken only if
/// the user's jobs there have always ended within what is.
fn molded_limit<F>(context: &Context<'_, F>, size: Size, past: Option<RunTimeForecast<'_>>) -> Result<Option<Seconds>, NoDraft> {
    let Some(original) = context.limit else { return Ok(None) };
    if size.cpus >= context.size.cpus {
        return Ok(Some(original));
    }
    let longest = context.bounds.longest_limit(size);
    let within = |limit: Seconds| longest.map_or(limit, |longest| limit.min(longest.value));
    let proportional = limit_at(original, context.size.cpus, size.cpus);
    if let Some(longest) = longest.filter(|longest| longest.value < proportional) {
        let longest_run = past.and_then(|past| past.ranges.last()).map(RunTimeRange::upper);
        if longest_run.is_none_or(|run| run > longest.value) {
            return Err(NoDraft::Forbidden(longest.by));
        }
    }
    let longest_past_limit = past.and_then(|past| past.longest_limit);
    let by_rule = [longest_past_limit, longest.map(|longest| longest.value), Some(proportional)].into_iter().flatten().map(within);
    Ok(Some(by_rule.filter(|limit| *limit > original).min().unwrap_or(original)))
}

fn longest_response(candidate: &Candidate, ranges: &[RunTimeRange]) -> Seconds {
    let wait = candidate.response() - candidate.run_time;
    wait + ranges.last().map_or(Seconds::ZERO, RunTimeRange::upper)
}

/// A moment by which the size as written is forecast to be done with the wanted probability, for a
/// deadline that it misses.
pub(super) fn deadline_that_holds<F>(context: &Context<'_, F>, assumption: &Assumption, probability: f64) -> Option<UnixTime>
where
    F: Forecaster,
{
    let (candidate, ranges) = candidate(context, context.size.count(context.submission.unit()), assumption)?;
    let wait = context.forecasts.wait(&context.shape(candidate.size, candidate.limit), Some(&context.moment(assumption.delay)))?;
    // The bound on the wait at the wanted probability, and after it the longest run time.
    let bound = wait.bound(probability)?;
    Some(context.now + assumption.delay + bound + ranges.last().map_or(Seconds::ZERO, RunTimeRange::upper))
}
