//! Molding by a plan of the queue, where the daemon has published one: [`ScalingModel`] decides.

use super::super::choice::{Offer, ScalingModel, earliest, limit_at, sizes_to_try};
use super::super::others::Scales;
use super::super::{DerivedInputs, LeastGain};
use super::candidate::{Assumption, Candidate, Draft, NoDraft, forecast};
use super::result::{Forbidden, Molding, NotMolded};
use super::sizes::{allowed_counts, candidate_counts, resize};
use crate::forecasts::forecast::{Forecaster, point};
use crate::forecasts::price::Area;
use job_types::time::Seconds;

/// Looks for a better size than the one as written by the plan of its partition. `None` where no
/// plan can say: there is none, it is not complete, or something else than the soonest end is asked
/// for, now.
pub(super) fn best<F>(context: &DerivedInputs<'_, F>, written: &Draft, assumption: &Assumption) -> Option<Molding>
where
    F: Forecaster,
{
    if assumption.delay > Seconds::ZERO || assumption.starts_then || context.submission.deadline.is_some() {
        return None;
    }
    let plan = context.forecasts.queue_plan(context.partition.index)?;
    let terms = ScalingModel::default();
    let run_time = point(&written.ranges).max(Seconds(1));
    let cpus_written = written.size.cpus;
    let claimed = &context.claimed.partition;
    let all = context.partition.cpus;
    // Jobs that were decided about since the plan was made take their CPUs at the same time, as far
    // as there are so many.
    let wait = |cpus: u32, run_time: Seconds| {
        let wanted = (u64::from(cpus) + claimed.cpus).min(u64::from(all.max(cpus)));
        earliest(&plan.steps, context.now, wanted, run_time).map(|start| start - context.now)
    };
    let as_written = Offer { cpus: cpus_written, wait: wait(cpus_written, run_time)? };
    let starts_at_once = as_written.wait == Seconds::ZERO;
    let room = if starts_at_once {
        let free = plan.steps.iter().take_while(|(from, _)| *from <= context.now).last().map_or(0, |(_, free)| u64::from(*free));
        let free = free.saturating_sub(claimed.cpus);
        let waiting_jobs = plan.pending_jobs + if free == 0 { claimed.jobs } else { 0 };
        terms.room_to_grow(cpus_written, run_time, free, u64::from(all), waiting_jobs)
    } else {
        0
    };
    let mut forbidden = Forbidden::default();
    let others = counts(context, written.count).into_iter();
    let drafts: Vec<Draft> = others.filter_map(|count| forbidden.noted(draft(context, written, count))).collect();
    let why = if drafts.is_empty() { forbidden.or(NotMolded::AlreadyBest) } else { NotMolded::AlreadyBest };
    let mut offers: Vec<(Offer, Draft)> = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let cpus = draft.size.cpus;
        // A job that starts at once has nothing to gain from fewer CPUs.
        let is_worth_a_look = if cpus < cpus_written { !starts_at_once } else { cpus > cpus_written && u64::from(cpus) <= room };
        let wait = if is_worth_a_look { wait(cpus, terms.run_time(run_time, cpus_written, cpus)) } else { None };
        offers.extend(wait.map(|wait| (Offer { cpus, wait }, draft)));
    }
    let soonest = soonest(context, &terms, run_time, as_written, offers).unwrap_or(Err(why));
    let written_again = Draft { ranges: written.ranges.clone(), ..*written };
    let (offer, mut draft) = match soonest.and_then(|soonest| worth_it(context, &terms, run_time, as_written, soonest)) {
        Ok(chosen) => chosen,
        Err(why) => {
            let as_written = forecast(context, vec![written_again], assumption).pop().map(|(candidate, _)| candidate);
            return Some(Molding { as_written, better: Err(why), by_plan: true });
        }
    };
    let stretched = |seconds: Seconds| terms.run_time(seconds, cpus_written, offer.cpus).clamped_u32();
    draft.ranges = written.ranges.iter().map(|range| range.with_ends(stretched(range.lower()), stretched(range.upper()))).collect();
    let mut told = forecast(context, vec![written_again, draft], assumption).into_iter().map(|(candidate, _)| candidate);
    let planned = |candidate: Candidate, offer: Offer| {
        let bound = candidate.wait.and_then(|(_, bound)| bound).map(|bound| bound.max(offer.wait));
        let run_time = terms.run_time(run_time, cpus_written, offer.cpus);
        Candidate { wait: Some((offer.wait, bound)), run_time, ..candidate }
    };
    let as_written = told.next().map(|candidate| planned(candidate, as_written));
    let better = told.next().map(|candidate| planned(candidate, offer)).ok_or(NotMolded::NoOtherSize);
    Some(Molding { as_written, better, by_plan: true })
}

/// The offer that is done soonest of those that the site allows for what they do to others; `None`
/// where none is done sooner than the job as it is written.
fn soonest<F: Forecaster>(
    context: &DerivedInputs<'_, F>,
    terms: &ScalingModel,
    run_time: Seconds,
    as_written: Offer,
    offers: Vec<(Offer, Draft)>,
) -> Option<Result<(Offer, Draft), NotMolded>> {
    let unit = context.submission.unit();
    let response = |offer| terms.response(run_time, as_written.cpus, offer);
    let area = |Offer { cpus, wait }| Area { start: context.now + wait, time: terms.run_time(run_time, as_written.cpus, cpus), cpus };
    let written = (response(as_written), area(as_written));
    let scales = Scales::new(context);
    let forbidden = |offer| scales.forbid(written.0 - response(offer), written.1, area(offer));
    let best = |offers: &[(Offer, Draft)]| {
        let plain: Vec<Offer> = offers.iter().map(|(offer, _)| *offer).collect();
        terms.best(run_time, as_written, &plain)
    };
    let first = best(&offers)?;
    let (offer, draft) = offers.get(first)?;
    let Some(weighed) = forbidden(*offer) else { return offers.into_iter().nth(first).map(Ok) };
    let harmful = NotMolded::OthersWait { count: draft.count, unit, weighed };
    let allowed: Vec<(Offer, Draft)> = offers.into_iter().filter(|(offer, _)| forbidden(*offer).is_none()).collect();
    let place = best(&allowed);
    Some(place.and_then(|place| allowed.into_iter().nth(place)).ok_or(harmful))
}

/// An offer, if it gains so much that the change is worth it.
fn worth_it<F>(
    context: &DerivedInputs<'_, F>,
    terms: &ScalingModel,
    run_time: Seconds,
    as_written: Offer,
    (offer, draft): (Offer, Draft),
) -> Result<(Offer, Draft), NotMolded> {
    let least = LeastGain::from(&context.policy);
    let [written, other] = [as_written, offer].map(|offer| terms.response(run_time, as_written.cpus, offer));
    if least.is_reached(written, other) {
        return Ok((offer, draft));
    }
    Err(NotMolded::GainTooSmall { count: draft.count, unit: context.submission.unit(), written, other, least })
}

/// Sizes to try: those that the user named; or else parts of the size as written and its double
/// where they asked for it, and those that they have run where nobody did.
fn counts<F>(context: &DerivedInputs<'_, F>, written: u32) -> Vec<u32>
where
    F: Forecaster,
{
    let asked = &context.submission.asked;
    if asked.auto_mold && asked.mold_sizes.is_none() {
        allowed_counts(context, written, sizes_to_try(written))
    } else {
        candidate_counts(context, written)
    }
}

/// The submission at `count`, with a limit in proportion and without run times.
fn draft<F>(context: &DerivedInputs<'_, F>, written: &Draft, count: u32) -> Result<Draft, NoDraft>
where
    F: Forecaster,
{
    let unit = context.submission.unit();
    let (size, tasks) = resize(context.submission, context.size, unit, count).ok_or(NoDraft::Impossible)?;
    let limit = context.limit.map(|limit| limit_at(limit, written.size.cpus, size.cpus));
    context.bounds.admit(size, limit.map(Seconds::rounded_up_to_minutes)).map_err(NoDraft::Forbidden)?;
    Ok(Draft { count, size, tasks, limit, ranges: Vec::new(), run_time_jobs: written.run_time_jobs })
}
