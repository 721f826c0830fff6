//! Molding: at which of several sizes a job is forecast to be done first (Hariharan et al. 2020,
//! IV.A and VI.C).

mod candidate;
mod planned;
mod result;
mod sizes;

pub use candidate::Candidate;
pub use result::NotMolded;

use super::choice::limit_at;
use super::gain::gain;
use super::others::Scales;
use super::{DerivedInputs, LIMIT_ROUNDING, LeastGain};
use crate::forecasts::forecast::{Forecaster, RunTimeForecast, RunTimeQuestion, RunTimeRange};
use candidate::{Draft, NoDraft, forecast};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use result::Forbidden;
use sizes::{candidate_counts, resize};

pub(super) use candidate::Assumption;
pub(super) use result::Molding;

/// Fewest past jobs of the user at a size that they did not name for it to be tried: with fewer
/// there is no relevant history (III.C begins with ten).
const FEWEST_PAST_JOBS: u32 = 10;

/// Forecasts the submission at `count`; `None` where it can't be made of its tasks, or exceeds what
/// is allowed.
pub(super) fn candidate<F>(context: &DerivedInputs<'_, F>, count: u32, assumption: &Assumption) -> Option<(Candidate, Vec<RunTimeRange>)>
where
    F: Forecaster,
{
    forecast(context, vec![draft(context, count, assumption).ok()?], assumption).pop()
}

fn draft<F>(context: &DerivedInputs<'_, F>, count: u32, assumption: &Assumption) -> Result<Draft, NoDraft>
where
    F: Forecaster,
{
    let submission = context.submission;
    let (original, unit) = (context.size, submission.unit());
    let original_count = original.count(unit);
    let (size, tasks) = resize(submission, original, unit, count).ok_or(NoDraft::Impossible)?;
    let is_original = count == original_count;
    // A job of another size is forecast from what its user has run there alone: what others run
    // says nothing of how this program runs at that size. Where the user names sizes of which
    // nothing is known, the one as written is not to look faster for what others run there.
    let as_written = || context.past_at(size, context.limit).filter(|past| past.jobs > 0 || submission.asked.mold_sizes.is_none());
    let past = if is_original { as_written() } else { past_at_whichever_limit(context, count) };
    let limit = if is_original { context.limit } else { molded_limit(context, size, past)? };
    let fits_deadline = submission
        .deadline
        .is_none_or(|deadline| limit.is_none_or(|limit| context.now + assumption.delay + limit + LIMIT_ROUNDING <= deadline));
    if !is_original {
        context.bounds.admit(size, limit.map(Seconds::rounded_up_to_minutes)).map_err(NoDraft::Forbidden)?;
        if !fits_deadline {
            return Err(NoDraft::Impossible);
        }
    }
    // Without past runs, a job of another size is taken to need the whole time limit, and with
    // fewer CPUs proportionally more.
    let fallback = || {
        let scale = (f64::from(context.size.cpus) / f64::from(size.cpus.max(1))).max(1.0);
        let seconds = context.limit.or(limit).map_or(0.0, |limit| limit.0 as f64 * scale);
        let seconds = Seconds(seconds as i64).clamped_u32();
        vec![RunTimeRange::new(seconds, seconds, 1.0)]
    };
    let ranges = past.map_or_else(fallback, |past| past.within(limit));
    Ok(Draft { count, size, tasks, limit, ranges, run_time_jobs: past.map_or(0, |past| past.jobs) })
}

/// What is known of the run times of the user's own jobs at a size, whatever their limit.
fn past_at_whichever_limit<'a, F: Forecaster>(context: &DerivedInputs<'a, F>, count: u32) -> Option<RunTimeForecast<'a>> {
    let (submission, partition) = (context.submission, context.partition.index);
    let asked = RunTimeQuestion { user: submission.user, partition, unit: submission.unit(), count, limit: None };
    context.forecasts.run_time(&asked).filter(|past| past.jobs > 0)
}

/// A size other than the one as written that a job could be submitted at.
#[derive(Debug)]
pub(super) struct OtherSize {
    pub(super) count: u32,
    pub(super) size: Size,
    pub(super) tasks: Option<u32>,
    /// Time limits that are allowed there, `Some(None)` being unlimited: the one that molding would
    /// give, and the least that would have been enough for all that the user has run there.
    pub(super) limits: [Option<Option<Seconds>>; 2],
}

/// The sizes that could be compared with the one as written, the nearest first.
pub(super) fn other_sizes<F>(context: &DerivedInputs<'_, F>) -> Vec<OtherSize>
where
    F: Forecaster,
{
    let submission = context.submission;
    let (original, unit) = (context.size, submission.unit());
    let other = |count: u32| {
        let past = past_at_whichever_limit(context, count);
        let is_known = past.is_some_and(|past| past.jobs >= FEWEST_PAST_JOBS) || submission.asked.mold_sizes.is_some();
        let (size, tasks) = resize(submission, original, unit, count).filter(|_| is_known)?;
        let is_allowed = |limit: &Option<Seconds>| context.bounds.admit(size, limit.map(Seconds::rounded_up_to_minutes)).is_ok();
        let molded = molded_limit(context, size, past).ok();
        let least = longest_run(context, size).map(Some);
        Some(OtherSize { count, size, tasks, limits: [molded, least].map(|limit| limit.filter(is_allowed)) })
    };
    candidate_counts(context, original.count(unit)).into_iter().filter_map(other).collect()
}

/// The longest run time that is forecast for the user's jobs at a size, from their past there and
/// rounded up to more than a minute above it; `None` without a past.
pub(super) fn longest_run<F>(context: &DerivedInputs<'_, F>, size: Size) -> Option<Seconds>
where
    F: Forecaster,
{
    let past = past_at_whichever_limit(context, size.count(context.submission.unit()))?;
    past.ranges.last().map(|last| (last.upper() + Seconds::MINUTE).rounded_up_to_minutes())
}

/// Looks for a better size than the one as written, among at most [`MOST_CANDIDATES`]: by the plan
/// of the queue where there is one, or else by what past waits and run times say.
pub(super) fn best<F>(context: &DerivedInputs<'_, F>, assumption: &Assumption) -> Molding
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
    // Sizes are held against each other by what the user's jobs run there whatever their limit: at
    // another size there may be none with this one.
    if refusal.is_none()
        && let (Some(written), Some(past)) = (drafts.first_mut(), past_at_whichever_limit(context, original_count))
    {
        written.ranges = past.within(written.limit);
    }
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
        // If both reasons hold, the user is told the one that concerns all jobs of the partition.
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
    // If the job has a deadline, its probability of being done by then is compared first.
    let worth = |candidate: &Candidate| (candidate.deadline_probability.unwrap_or(0.0), candidate.score);
    let better = |one: &Candidate, other: &Candidate| {
        let ((probability, score), (other_probability, other_score)) = (worth(one), worth(other));
        probability > other_probability || (probability == other_probability && score > other_score)
    };
    let least = LeastGain::from(&context.policy);
    let mut best: Option<Candidate> = None;
    let mut passed_over: Option<Candidate> = None;
    let scales = Scales::new(context);
    let mut harmful = None;
    for other in others.iter().map(scored).filter(|other| other.wait.is_some() && better(other, &written)) {
        // A size that is taken for its deadline gains no time that could be weighed.
        if submission.deadline.is_none() {
            let gain = written.response() - other.response();
            if let Some(weighed) = scales.forbid(gain, written.area(context.now), other.area(context.now)) {
                harmful.get_or_insert(NotMolded::OthersWait { count: other.count, unit, weighed });
                continue;
            }
        }
        let place = if is_worth_it(&written, &other, assumption, least) { &mut best } else { &mut passed_over };
        if place.as_ref().is_none_or(|best| better(&other, best)) {
            *place = Some(other);
        }
    }
    let too_small = |other: &Candidate| {
        let [written, sooner] = [&written, other].map(|candidate| candidate.response() - assumption.delay);
        (sooner < written).then_some(NotMolded::GainTooSmall { count: other.count, unit, written, other: sooner, least })
    };
    let better = best.ok_or_else(|| passed_over.as_ref().and_then(too_small).or(harmful).unwrap_or(NotMolded::AlreadyBest));
    Molding { as_written: Some(written), better, by_plan: false }
}

/// Whether another size gains so much that the change is worth it: of the response from when the
/// job may begin, which no size changes, or, where there is a deadline, of the probability of being
/// done by then, for which the least part holds as well.
fn is_worth_it(written: &Candidate, other: &Candidate, assumption: &Assumption, least: LeastGain) -> bool {
    let probabilities = written.deadline_probability.zip(other.deadline_probability);
    let is_likelier = probabilities.is_some_and(|(written, other)| other > written && other - written >= least.part);
    let [before, after] = [written, other].map(|candidate| candidate.response() - assumption.delay);
    is_likelier || least.is_reached(before, after)
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
fn molded_limit<F>(context: &DerivedInputs<'_, F>, size: Size, past: Option<RunTimeForecast<'_>>) -> Result<Option<Seconds>, NoDraft> {
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
pub(super) fn deadline_that_holds<F>(context: &DerivedInputs<'_, F>, assumption: &Assumption, probability: f64) -> Option<UnixTime>
where
    F: Forecaster,
{
    let (candidate, ranges) = candidate(context, context.size.count(context.submission.unit()), assumption)?;
    let wait = context.forecasts.wait(&context.shape(candidate.size, candidate.limit), Some(&context.moment(assumption.delay)))?;
    // The bound on the wait at the wanted probability, and after it the longest run time.
    let bound = wait.bound(probability)?;
    Some(context.now + assumption.delay + bound + ranges.last().map_or(Seconds::ZERO, RunTimeRange::upper))
}
