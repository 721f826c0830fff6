//! Which slots of a window are tried, and in which order.

use axum::http::StatusCode;
use daemon_api::{Preferred, Probe, Reserve, Slot};
use job_types::time::{Seconds, UnixTime};
use upkeep::FirmSlot;

use crate::api::{Own, Prober, Ranked, Refused};

/// By how much all jobs together have to be delayed less for a slot to move
/// (`queue_plan::placement::Moving`).
const LEAST_GAIN: Seconds = Seconds(600);

/// Why there is nothing to try.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NotRanked {
    /// Not for now: there is no plan, or too many others ask.
    Later,
    /// Not at all, for this reason.
    Never(String),
}

/// Ranks the window of a slot from `first_start` on. `name` is that of its reservation.
pub(super) fn rank(prober: &Prober, slot: &FirmSlot, name: &str, first_start: UnixTime) -> Result<Ranked, NotRanked> {
    let probe = Probe {
        partition: Some(slot.partition.clone()).filter(|partition| !partition.is_empty()),
        account: slot.account.clone(),
        qos: slot.qos.clone(),
        nodes: slot.nodes,
        cpus: None,
        limit_s: Some(slot.limit.0),
        earliest: first_start.0,
        latest: slot.latest.0,
        prefer: slot.near.map_or(Preferred::Earliest, |near| Preferred::Nearest(near.0)),
    };
    // What is left of a window may be shorter than the notice once a slot was lost.
    let notice = slot.asked_notice.filter(|_| slot.moved == 0);
    let wanted = Reserve { probe, notice_s: notice.map(|notice| notice.0), together: None };
    let own = Own {
        id: Some(slot.id),
        // The plan may have it though it was given back since.
        reservation: Some(name),
        start: slot.reserved.map(|times| times.start),
        job: slot.job.map(|job| job.id),
    };
    prober.rank(slot.user, wanted, own).map_err(NotRanked::of)
}

impl NotRanked {
    fn of(Refused(status, refusal): Refused) -> Self {
        if status == StatusCode::BAD_REQUEST {
            let key = refusal.key.map(|key| format!("{key}: ")).unwrap_or_default();
            NotRanked::Never(refusal.allowed.map_or_else(|| refusal.error.clone(), |allowed| format!("{key}{allowed}")))
        } else {
            NotRanked::Later
        }
    }
}

/// The starts that are tried, the best first: those that are to be had and allowed.
pub(super) fn in_order(ranked: &Ranked, near: Option<UnixTime>) -> Vec<UnixTime> {
    let mut slots: Vec<&Slot> = ranked.answer.slots.iter().filter(|slot| slot.allowed && slot.availability > 0.0).collect();
    let distance = |slot: &Slot| near.map_or(0, |near| (slot.start - near.0).abs());
    slots.sort_by(|one, other| {
        let by_rank = other.availability.total_cmp(&one.availability);
        by_rank.then(distance(one).cmp(&distance(other))).then(one.start.cmp(&other.start))
    });
    slots.into_iter().map(|slot| UnixTime(slot.start)).collect()
}

/// Why none of the slots is to be had, of which slurmctld has refused so many that the plan had.
pub(super) fn why_none(ranked: &Ranked, taken: u32) -> String {
    if taken > 0 {
        return format!("slurmctld lacks nodes at all {taken} times at which the plan of the queue has them: ask again with the next plan");
    }
    // What the site says is told before what is in the way of one slot.
    let reasons = || ranked.answer.slots.iter().filter_map(|slot| slot.why_not.as_deref().map(|why| (slot.availability > 0.0, why)));
    let reason = reasons().find(|(is_free, _)| *is_free).or_else(|| reasons().next());
    let of = ranked.answer.slots.len();
    reason.map_or_else(|| "no slot is to be had in the window".to_owned(), |(_, why)| format!("none of {of} slots is to be had: {why}"))
}

/// The starts to which a slot that begins at `present` moves, the best first: those that spare all
/// jobs together enough, and leave its user the notice.
pub(super) fn better(ranked: &Ranked, slot: &FirmSlot, present: UnixTime, now: UnixTime) -> Vec<UnixTime> {
    let Some(delay) = ranked.present_delay else { return Vec::new() };
    let delays = |start: &UnixTime| ranked.answer.slots.iter().find(|slot| slot.start == start.0)?.total_delay_s;
    let spares = |start: &UnixTime| delays(start).is_some_and(|other| delay.0 - other >= LEAST_GAIN.0);
    let mut starts = in_order(ranked, slot.near);
    starts.retain(|start| *start != present && *start >= now + slot.notice && spares(start));
    starts.sort_by_key(|start| delays(start));
    starts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::firm::made_up;
    use daemon_api::{Answer, Refusal};
    use std::time::Duration;

    const NOW: UnixTime = UnixTime(1_774_618_200);

    /// A slot that begins so many seconds from now, with its availability and delay; a negative
    /// delay is one that is not allowed.
    fn slot((start, availability, delay): (i64, f64, i64)) -> Slot {
        Slot {
            start: NOW.0 + start,
            end: NOW.0 + start + 3_600,
            availability,
            delayed_jobs: Some(1),
            total_delay_s: Some(delay.abs()),
            most_delay_s: Some(delay.abs()),
            idle_node_s: Some(0),
            charged_node_s: 7_440,
            allowed: delay >= 0 && availability > 0.0,
            why_not: (delay < 0).then(|| format!("it delays a job by {} s", -delay)).or((availability <= 0.0).then(|| "taken".to_owned())),
        }
    }

    fn ranked(slots: &[(i64, f64, i64)], present_delay: Option<i64>) -> Ranked {
        let probe = Probe::read(br#"{"nodes": 2, "earliest": 5, "latest": 6}"#).unwrap();
        let answer = Answer {
            generation: 1,
            planned_at: NOW.0,
            request: probe,
            ordinary_start: None,
            slots: slots.iter().copied().map(slot).collect(),
            best: None,
            notes: Vec::new(),
        };
        Ranked { answer, notice: Seconds(600), idle: Seconds(600), nearest: None, present_delay: present_delay.map(Seconds) }
    }

    fn after(starts: Vec<UnixTime>) -> Vec<i64> {
        starts.into_iter().map(|start| (start - NOW).0).collect()
    }

    #[test]
    fn the_best_slot_is_tried_first_and_of_equals_the_preferred() {
        let ranked = ranked(&[(0, 0.5, 10), (100, 0.9, 10), (200, 0.9, 10), (300, 1.0, -10), (400, 0.0, 0)], None);
        assert_eq!(after(in_order(&ranked, None)), [100, 200, 0]);
        assert_eq!(after(in_order(&ranked, Some(NOW + Seconds(1_000)))), [200, 100, 0]);
    }

    #[test]
    fn where_none_is_to_be_had_the_sites_reason_is_told_before_what_is_in_the_way() {
        assert_eq!(why_none(&ranked(&[(0, 0.0, 0), (100, 0.9, -70)], None), 0), "none of 2 slots is to be had: it delays a job by 70 s");
        assert_eq!(why_none(&ranked(&[(0, 0.0, 0)], None), 0), "none of 1 slots is to be had: taken");
        assert_eq!(why_none(&ranked(&[], None), 0), "no slot is to be had in the window");
        assert!(why_none(&ranked(&[(0, 0.0, 0), (100, 0.9, 70)], None), 1).starts_with("slurmctld lacks nodes at all 1 times"));
    }

    #[test]
    fn a_slot_moves_only_to_where_all_jobs_are_spared_enough_and_the_notice_is_left() {
        let slots = [(599, 1.0, 0), (600, 0.9, 400), (2_000, 0.95, 100), (3_000, 0.99, 401), (4_000, 0.4, 1_000)];
        let present = NOW + Seconds(4_000);
        let moved = |delay| after(better(&ranked(&slots, delay), &made_up::slot(), present, NOW));
        assert_eq!(moved(Some(1_000)), [2_000, 600]);
        assert_eq!(moved(Some(699)), [] as [i64; 0]);
        assert_eq!(moved(None), [] as [i64; 0]);
    }

    #[test]
    fn what_is_wrong_for_good_is_told_from_what_may_do_later() {
        let wrong = Refused(StatusCode::BAD_REQUEST, Refusal::of_key("nodes", "at most 4 in partition batch"));
        assert_eq!(NotRanked::of(wrong), NotRanked::Never("nodes: at most 4 in partition batch".to_owned()));
        let later = Refused::for_now(StatusCode::SERVICE_UNAVAILABLE, "no plan", Duration::from_secs(1));
        assert_eq!(NotRanked::of(later), NotRanked::Later);
    }
}
