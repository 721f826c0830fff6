//! What could be had in the place of a deadline that can't be kept: the earliest one that can, a
//! size or a time limit with which this one can.
//!
//! Each is found by asking the rule about the job changed so, and nothing is proposed that the rule
//! did not admit. This is done for jobs that are refused, and for no others.

use super::judged_behind;
use crate::decisions::molding::{self, Assumption, OtherSize};
use crate::decisions::{DerivedInputs, FixedSizeReason, Submission, TimeLimit};
use crate::forecasts::forecast::Forecaster;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};

/// How long a proposal stays possible, because whoever reads it needs time to type. A deadline is
/// proposed so much later than the rule demands, and a size or a time limit is tried against a
/// deadline so much earlier.
pub(super) const TIME_TO_TAKE: Seconds = Seconds(120);

/// Most other sizes that are tried, the nearest first.
const MOST_SIZES: usize = 8;

/// The changes that would each, by itself, have the job admitted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Alternatives {
    /// The earliest deadline that can be kept, of those that were tried.
    pub deadline: Option<UnixTime>,
    /// A size at which this deadline can be kept.
    pub size: Option<AlternativeSize>,
    /// The longest time limit with which this deadline can be kept.
    pub limit: Option<Seconds>,
}

/// A size at which a deadline can be kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlternativeSize {
    /// The number of nodes or CPUs, in the unit of the submission.
    pub count: u32,
    /// The number of tasks at this size, where the submission gives tasks.
    pub tasks: Option<u32>,
    /// The time limit that goes with this size, where that is not the one as written.
    pub limit: Option<Seconds>,
}

/// A job that the rule is asked about in the place of the submission.
#[derive(Clone, Copy, Debug)]
pub(super) struct OtherJob {
    pub(super) size: Size,
    pub(super) limit: Option<Seconds>,
    pub(super) deadline: UnixTime,
}

/// What could be had in the place of this deadline, where `admits` asks the rule.
pub(super) fn alternatives<F>(context: &DerivedInputs<'_, F>, deadline: UnixTime, admits: impl FnMut(&OtherJob) -> bool) -> Alternatives
where
    F: Forecaster,
{
    let earlier = deadline - TIME_TO_TAKE;
    let mut search = Search { context, admits };
    Alternatives {
        deadline: search.earliest_deadline(deadline).map(|deadline| deadline + TIME_TO_TAKE),
        limit: search.limit_that_keeps(earlier),
        size: search.size_that_keeps(earlier),
    }
}

/// Whether the rule admits the job as it would be decided about so.
pub(super) fn admits<F>(context: &DerivedInputs<'_, F>, asked: &OtherJob) -> bool
where
    F: Forecaster,
{
    let OtherJob { size, limit, deadline } = *asked;
    let written = limit.map_or(TimeLimit::Unlimited, TimeLimit::Limited);
    let submission = Submission { deadline: Some(deadline), limit: written, ..context.submission.clone() };
    let changed = DerivedInputs { submission: &submission, size, limit, ..*context };
    let assumption = Assumption { delay: changed.delay_as_written(), starts_then: false };
    let candidate = molding::candidate(&changed, size.count(submission.unit()), &assumption).map(|(candidate, _)| candidate);
    matches!(judged_behind(&changed, candidate.as_ref(), deadline), Some(Ok(_)))
}

/// Looks for what the rule admits.
struct Search<'a, 'b, F, A> {
    context: &'a DerivedInputs<'b, F>,
    admits: A,
}

impl<F, A> Search<'_, '_, F, A>
where
    F: Forecaster,
    A: FnMut(&OtherJob) -> bool,
{
    /// Doubles the time until the deadline until it is enough, and then halves the step between
    /// what is enough and what is not, down to a minute or a 64th.
    fn earliest_deadline(&mut self, deadline: UnixTime) -> Option<UnixTime> {
        let DerivedInputs { now, size, limit, .. } = *self.context;
        let mut is_enough = |ahead: i64| (self.admits)(&OtherJob { size, limit, deadline: now + Seconds(ahead) });
        let farthest = (super::FARTHEST_DEADLINE - TIME_TO_TAKE).0;
        let mut too_little = (deadline - now).0.clamp(60, farthest);
        let mut enough = too_little;
        loop {
            if enough == farthest {
                return None;
            }
            enough = enough.saturating_mul(2).min(farthest);
            if is_enough(enough) {
                break;
            }
            too_little = enough;
        }
        while enough - too_little > (enough / 64).max(60) {
            let middle = i64::midpoint(too_little, enough);
            if is_enough(middle) {
                enough = middle;
            } else {
                too_little = middle;
            }
        }
        // The deadline that is proposed is later by the time to take it, and has to do as well.
        is_enough(enough + TIME_TO_TAKE.0).then_some(now + Seconds(enough))
    }

    /// The nearest size that does, with the time limit that it would have there, or else with one
    /// that all of the user's jobs of that size have kept to.
    fn size_that_keeps(&mut self, deadline: UnixTime) -> Option<AlternativeSize> {
        let context = self.context;
        if !matches!(context.submission.tie, None | Some(FixedSizeReason::Interactive)) {
            return None;
        }
        let keeps = |other: &OtherSize| {
            let mut limits = other.limits.iter().flatten();
            let limit = *limits.find(|limit| (self.admits)(&OtherJob { size: other.size, limit: **limit, deadline }))?;
            let other_limit = limit.filter(|limit| context.limit != Some(*limit));
            Some(AlternativeSize { count: other.count, tasks: other.tasks, limit: other_limit })
        };
        molding::other_sizes(context).iter().take(MOST_SIZES).find_map(keeps)
    }

    /// The longest in whole minutes, no shorter than the user's jobs of this size have needed so
    /// far.
    fn limit_that_keeps(&mut self, deadline: UnixTime) -> Option<Seconds> {
        let context = self.context;
        let needed = molding::longest_run(context, context.size).unwrap_or(Seconds::MINUTE);
        let needed = needed.max(context.submission.shortest_limit.unwrap_or(Seconds::MINUTE));
        let mut enough = needed.minutes_rounded_up();
        let mut too_long = context.limit.unwrap_or(deadline - context.now).minutes_rounded_up();
        let mut keeps = |minutes: i64| (self.admits)(&OtherJob { size: context.size, limit: Some(Seconds(minutes * 60)), deadline });
        if enough >= too_long || !keeps(enough) {
            return None;
        }
        while too_long - enough > (enough / 64).max(1) {
            let middle = i64::midpoint(enough, too_long);
            if keeps(middle) {
                enough = middle;
            } else {
                too_long = middle;
            }
        }
        Some(Seconds(enough * 60))
    }
}
