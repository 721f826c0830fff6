//! A machine of eight processors, computed by hand.
//!
//! Two jobs run: 4 processors until 100 and 2 until 40. Four wait: W1 asks for 6 processors for 50
//! s, W2 for 2 for 30 s, W3 for 4 for 20 s, W4 for 8 for 10 s. W1 can't start before 100 and has a
//! lock from then to 150. Without anything else W2 starts at 0, W3 at 40 when two processors more
//! are free, W1 at 100 and W4 at 150: the jobs end at 100, 40, 150, 30, 60 and 160.
//!
//! A reservation of 4 processors for 30 s is asked for, from 0 to 230, and slots lie 50 s apart.

use job_types::time::{Seconds, UnixTime};

use super::*;
use crate::resources::Resources;

fn cpus(count: i64) -> Resources {
    Resources::of_cpus(count)
}

fn waiting(asks: i64, estimate: i64) -> Waiting {
    Waiting { estimate: Seconds(estimate), runs: Seconds(estimate), asks: cpus(asks) }
}

fn granted(start: i64, end: i64, takes: i64) -> Granted {
    Granted { slot: slot(start, end), takes: cpus(takes) }
}

fn slot(start: i64, end: i64) -> Slot {
    Slot { start: UnixTime(start), end: UnixTime(end) }
}

fn workload() -> Workload {
    let running = |until, holds| Running { until: UnixTime(until), ends: UnixTime(until), holds: cpus(holds) };
    Workload {
        now: UnixTime(0),
        offers: cpus(8),
        running: vec![running(100, 4), running(40, 2)],
        waiting: vec![waiting(6, 50), waiting(2, 30), waiting(4, 20), waiting(8, 10)],
        ..Workload::default()
    }
}

fn request(preference: Preference) -> Request {
    Request {
        submitted: UnixTime(0),
        duration: Seconds(30),
        earliest_start: UnixTime(0),
        latest_end: UnixTime(230),
        takes: cpus(4),
        preference,
    }
}

const PROBING: Probing = Probing { slots: 5, gap: Seconds(50) };

/// A resource manager that stands still.
struct Manager {
    workload: Workload,
    cycle: Cycle,
}

impl Manager {
    fn of(workload: Workload) -> Self {
        let cycle = Cycle::of_heads(workload.now, workload.profile(), workload.waiting.iter().copied());
        Self { workload, cycle }
    }
}

impl ResourceManager for Manager {
    fn state(&self) -> (&Workload, &Cycle) {
        (&self.workload, &self.cycle)
    }

    fn reserve(&mut self, request: &Request, slot: Slot) -> Result<(), Conflict> {
        let granted = Granted { slot, takes: request.takes };
        if !self.cycle.has_room_for(&granted) {
            return Err(Conflict);
        }
        self.cycle.grant(&granted);
        Ok(())
    }
}

struct OneSite<R>(ClusterService<R>, Manager);

impl<R: Ranking> Site for OneSite<R> {
    fn probe(&self, request: &Request) -> Probed {
        self.0.probe(&self.1, request)
    }

    fn reserve(&mut self, request: &Request, slot: Slot) -> Result<(), Conflict> {
        self.1.reserve(request, slot)
    }
}

fn site<R>(ranking: R) -> OneSite<R> {
    OneSite(ClusterService { ranking, probing: PROBING }, Manager::of(workload()))
}

fn rated(ranking: impl Ranking) -> Vec<(i64, f64)> {
    let slots = site(ranking).probe(&request(Preference::Earliest)).slots;
    slots.iter().map(|rated| (rated.slot.start.0, rated.availability)).collect()
}

/// The start that is granted, and how many slots were tried in vain.
fn placed(ranking: impl Ranking, preference: Preference) -> (Option<i64>, usize) {
    let answer = GridService.place(&request(preference), &mut [site(ranking)]);
    (answer.granted.map(|(_, rated)| rated.slot.start.0), answer.in_vain)
}

fn plan(placed: Placed) -> (Vec<Option<i64>>, i64, i64) {
    let plan = ExecutionPlan::of(&workload(), placed);
    (plan.starts.iter().map(|start| start.map(|start| start.0)).collect(), plan.makespan.0, plan.completions.0)
}

#[test]
fn slots_are_spread_evenly_over_the_window_with_both_ends() {
    let starts = |slots, gap, latest_end, now| {
        let request = Request { latest_end: UnixTime(latest_end), ..request(Preference::Earliest) };
        let slots = Probing { slots, gap: Seconds(gap) }.slots(&request, UnixTime(now));
        assert!(slots.iter().all(|slot| slot.duration() == Seconds(30)));
        slots.iter().map(|slot| slot.start.0).collect::<Vec<_>>()
    };
    assert_eq!(starts(5, 50, 230, 0), [0, 50, 100, 150, 200]);
    assert_eq!(starts(4, 50, 230, 0), [0, 66, 133, 200], "at most so many");
    assert_eq!(starts(5, 70, 230, 0), [0, 100, 200], "none nearer to another than the gap");
    assert_eq!((starts(1, 1, 230, 0), starts(5, 50, 30, 0)), (vec![0], vec![0]));
    assert_eq!(starts(5, 50, 230, 100), [100, 150, 200], "none in the past");
    assert!(starts(5, 50, 230, 201).is_empty(), "the window has passed");
}

#[test]
fn the_head_has_a_lock_that_others_start_beside() {
    let mut cycle = Manager::of(workload()).cycle;
    assert_eq!((cycle.started(), cycle.lock()), (0, Some(granted(100, 150, 6))));
    assert_eq!(cycle.backfill([waiting(2, 41), waiting(2, 30), waiting(1, 5)]), [0], "then all are taken");
    // Two processors are free beside the lock, and no more.
    let mut cycle = Manager::of(workload()).cycle;
    assert_eq!(cycle.backfill([waiting(2, 200)]), [0]);
    let beside_three = Workload { running: vec![Running { until: UnixTime(100), ends: UnixTime(100), holds: cpus(5) }], ..workload() };
    let mut cycle = Manager::of(beside_three).cycle;
    assert_eq!(cycle.backfill([waiting(3, 101), waiting(3, 100)]), [1], "the first would delay the head");
}

#[test]
fn heads_start_while_they_fit_and_not_into_a_reservation() {
    let alone = Workload { running: Vec::new(), granted: vec![granted(45, 60, 4)], ..workload() };
    let cycle = Manager::of(alone).cycle;
    assert_eq!((cycle.started(), cycle.lock()), (0, Some(granted(60, 110, 6))), "W1 would run into the reservation");
    let short = Workload { waiting: vec![waiting(6, 45), waiting(2, 60), waiting(1, 1)], running: Vec::new(), ..workload() };
    assert_eq!(Manager::of(short).cycle.started(), 2);
}

#[test]
fn plans_are_what_a_hand_finds() {
    assert_eq!(plan(Placed::Nothing), (vec![Some(100), Some(0), Some(40), Some(150)], 160, 540));
    // W3 starts when the placeholder has ended.
    assert_eq!(plan(Placed::Reservation(granted(50, 80, 4))), (vec![Some(100), Some(0), Some(80), Some(150)], 160, 580));
    // W4 does.
    assert_eq!(plan(Placed::Reservation(granted(150, 180, 4))), (vec![Some(100), Some(0), Some(40), Some(180)], 190, 570));
    let job = ExecutionPlan::of(&workload(), Placed::Job(waiting(4, 30)));
    assert_eq!((job.placed_job, job.makespan, job.completions), (Some(slot(60, 90)), Seconds(160), Seconds(540)));
    // Who asks for more than there is never starts, and keeps nobody.
    let too_large = Workload { waiting: vec![waiting(9, 1), waiting(2, 30)], ..workload() };
    let starts = ExecutionPlan::of(&too_large, Placed::Nothing).starts;
    assert_eq!(starts, [None, Some(Seconds(0))]);
}

#[test]
fn in_plans_jobs_are_scheduled_by_estimates_and_end_when_they_are_expected_to() {
    // The first job ends at 60 in the place of 100, which the scheduler does not know before: W3
    // starts at 40 all the same, the head at 60 when both have ended, and W4 when W1 has, after 25
    // seconds.
    let mut early = workload();
    early.running[0].ends = UnixTime(60);
    early.waiting[0].runs = Seconds(25);
    let plan = ExecutionPlan::of(&early, Placed::Nothing);
    assert_eq!(plan.starts, [Some(60), Some(0), Some(40), Some(85)].map(|start| start.map(Seconds)));
    assert_eq!((plan.makespan, plan.completions), (Seconds(95), Seconds(60 + 40 + 85 + 30 + 60 + 95)));
    // What ends early gives back no more than it had.
    let alone = Workload { running: vec![Running { until: UnixTime(100), ends: UnixTime(10), holds: cpus(8) }], ..workload() };
    let full = Workload { waiting: vec![waiting(8, 5), waiting(8, 5)], ..alone };
    assert_eq!(ExecutionPlan::of(&full, Placed::Nothing).starts, [Some(Seconds(10)), Some(Seconds(15))]);
}

#[test]
fn who_is_known_to_come_waits_behind_all_others() {
    // C1 comes at 35 and starts at once beside the lock of the head. So W3 finds too little at 40,
    // and waits for the head to end; C2 for all others.
    let coming = |at, asks, estimate| Coming { at: UnixTime(at), job: waiting(asks, estimate) };
    let known = Workload { coming: vec![coming(35, 2, 60), coming(120, 4, 40)], ..workload() };
    let plan = ExecutionPlan::of(&known, Placed::Nothing);
    assert_eq!(plan.starts, [100, 0, 150, 170, 35, 180].map(|start| Some(Seconds(start))));
    assert_eq!((plan.makespan, plan.completions), (Seconds(220), Seconds(100 + 40 + 150 + 30 + 170 + 180 + 95 + 220)));
    // What is put in as a job comes before both, and is none of them: C1 starts at 40.
    let with_job = ExecutionPlan::of(&known, Placed::Job(waiting(2, 60)));
    assert_eq!((with_job.placed_job, with_job.starts[4]), (Some(slot(30, 90)), Some(Seconds(40))));
    // A slot is rated by what it does to them as well.
    let later = Workload { running: Vec::new(), waiting: Vec::new(), coming: vec![coming(60, 8, 100)], ..workload() };
    let site = OneSite(ClusterService { ranking: WhatIf::default(), probing: PROBING }, Manager::of(later));
    let slots = site.probe(&request(Preference::Earliest)).slots;
    let best: Vec<i64> = slots.iter().filter(|rated| rated.availability == 1.0).map(|rated| rated.slot.start.0).collect();
    assert_eq!(best, [0, 200], "50 to 80, 100 to 130 and 150 to 180 are in its way");
}

#[test]
fn delays_are_those_of_jobs_that_start_later() {
    let [original, early, late] = [Placed::Nothing, Placed::Reservation(granted(50, 80, 4)), Placed::Reservation(granted(150, 180, 4))]
        .map(|placed| ExecutionPlan::of(&workload(), placed));
    assert_eq!((early.delays(&original), original.delays(&early)), ((1, Seconds(40)), (0, Seconds(0))));
    assert_eq!(late.delays(&early), (1, Seconds(30)), "W3 starts sooner, and that makes up for nothing");
}

#[test]
fn what_if_rates_by_makespan_and_completion_times() {
    let expected = |weight: f64| {
        let of = |makespan: f64, completions: f64| weight * 160.0 / makespan + (1.0 - weight) * 540.0 / completions;
        // At 0 running jobs are in the way, at 100 the lock of the head; 60 is the start as a job.
        [(50, of(160.0, 580.0)), (150, of(190.0, 570.0)), (200, 1.0), (60, 1.0)]
    };
    for weight in [0.0, 0.25, 0.5, 1.0] {
        let rated = rated(WhatIf { makespan_weight: weight });
        assert_eq!(rated.len(), 4);
        for ((start, availability), (expected_start, expected)) in rated.into_iter().zip(expected(weight)) {
            assert_eq!(start, expected_start);
            assert!((availability - expected).abs() < 1e-12, "{start}: {availability} for {expected}");
        }
    }
    assert_eq!(placed(WhatIf::default(), Preference::Earliest), (Some(60), 0));
    assert_eq!(placed(WhatIf::default(), Preference::Latest), (Some(200), 0));
    assert_eq!(placed(WhatIf { makespan_weight: 1.0 }, Preference::Earliest), (Some(50), 0), "no makespan grows");
}

#[test]
fn what_if_rates_all_alike_where_there_are_no_jobs() {
    let idle = Workload { running: Vec::new(), waiting: Vec::new(), ..workload() };
    let site = OneSite(ClusterService { ranking: WhatIf::default(), probing: PROBING }, Manager::of(idle));
    let slots = site.probe(&request(Preference::Earliest)).slots;
    assert_eq!(slots.len(), 5, "the start as a job is the first of them");
    assert!(slots.iter().all(|rated| rated.availability == 1.0));
}

#[test]
fn the_start_as_a_job_is_no_slot_outside_of_the_window() {
    let late = Request { earliest_start: UnixTime(70), ..request(Preference::Earliest) };
    let starts: Vec<i64> = site(WhatIf::default()).probe(&late).slots.iter().map(|rated| rated.slot.start.0).collect();
    assert_eq!(starts, [70, 200], "slots at 70, 135 and 200, of which the second meets the lock of the head");
}

#[test]
fn load_takes_half_of_what_was_estimated_and_each_reservation_once() {
    let done = |granted: Vec<Granted>| Load::default().done_in(&Workload { granted, ..workload() });
    // 4 x 100 + 2 x 40 + 6 x 50 + 2 x 30 + 4 x 20 + 8 x 10 are 1,000 processor seconds.
    assert_eq!(done(Vec::new()), 62.5);
    assert_eq!(done(vec![granted(63, 100, 8)]), 62.5, "it begins after that");
    // The second begins before only because the first counts; which stands first does not matter.
    let (first, second) = (granted(60, 76, 4), granted(70, 86, 8));
    assert_eq!((done(vec![first, second]), done(vec![second, first]), done(vec![second])), (86.5, 86.5, 62.5));
    assert_eq!(done(vec![granted(-10, 10, 4)]), 67.5, "of one that has begun counts what is left");
    assert_eq!(Load { accuracy: 1.0 }.done_in(&workload()), 125.0);
}

#[test]
fn load_tries_slots_after_the_workload_until_one_is_free() {
    assert_eq!(rated(Load::default()), [(100, 1.0), (150, 1.0), (200, 1.0)]);
    assert_eq!(placed(Load::default(), Preference::Earliest), (Some(150), 1), "at 100 there is the lock of the head");
    assert_eq!(placed(Load::default(), Preference::Latest), (Some(200), 0));
    assert_eq!(placed(Load { accuracy: 4.0 }, Preference::Earliest), (None, 0), "nothing is tried before");
}

#[test]
fn the_earliest_free_slot_may_delay_anybody_or_nobody() {
    assert_eq!(placed(Earliest::default(), Preference::Earliest), (Some(50), 0));
    assert_eq!(placed(Earliest { delays: Delays::Nobody }, Preference::Earliest), (Some(200), 0), "50 delays W3, and 150 W4");
}

#[test]
fn of_equals_the_preferred_slot_comes_first() {
    let order = |preference: Preference| {
        let mut slots = [150, 60, 200].map(|start| Rated { slot: slot(start, start + 30), availability: 1.0 });
        slots[0].availability = 0.9;
        slots.sort_by(|one, other| one.compare(other, preference));
        slots.map(|rated| rated.slot.start.0)
    };
    assert_eq!(order(Preference::Earliest), [60, 200, 150]);
    assert_eq!(order(Preference::Latest), [200, 60, 150], "a better slot comes first all the same");
    assert_eq!(order(Preference::Nearest(UnixTime(131))), [200, 60, 150]);
    assert_eq!(order(Preference::Nearest(UnixTime(130))), [60, 200, 150], "of two as near the earlier");
}

#[test]
fn a_slot_that_is_lost_is_dropped_and_all_are_asked_again() {
    /// A site of which each slot is lost to somebody else.
    struct Racing(OneSite<WhatIf>, std::cell::Cell<usize>);
    impl Site for Racing {
        fn probe(&self, request: &Request) -> Probed {
            self.1.set(self.1.get() + 1);
            self.0.probe(request)
        }
        fn reserve(&mut self, _: &Request, _: Slot) -> Result<(), Conflict> {
            Err(Conflict)
        }
    }
    let mut sites = [Racing(site(WhatIf::default()), 0.into())];
    let answer = GridService.place(&request(Preference::Earliest), &mut sites);
    assert_eq!(answer, Answer { granted: None, in_vain: 4 });
    assert_eq!(sites[0].1.get(), 5);
}

#[test]
fn no_more_slots_are_tried_than_is_said() {
    /// A grid with a new slot at each probe, which is lost.
    struct Endless(u32);
    impl Grid for Endless {
        type Slot = u32;
        type Reserved = ();
        fn probe(&mut self) -> Vec<u32> {
            self.0 += 1;
            vec![self.0]
        }
        fn compare(&self, one: &u32, other: &u32) -> std::cmp::Ordering {
            one.cmp(other)
        }
        fn is_dropped(&self, slot: &u32, dropped: &u32) -> bool {
            slot == dropped
        }
        fn reserve(&mut self, _: &u32) -> Result<(), Conflict> {
            Err(Conflict)
        }
    }
    let mut endless = Endless(0);
    assert_eq!((GridService.choose(&mut endless, 3), endless.0), ((None, 3), 3));
}

#[test]
fn the_best_slot_of_all_clusters_is_reserved() {
    let free = Workload { running: Vec::new(), waiting: Vec::new(), ..workload() };
    let mut sites = [site(WhatIf::default()), OneSite(ClusterService { ranking: WhatIf::default(), probing: PROBING }, Manager::of(free))];
    let answer = GridService.place(&request(Preference::Earliest), &mut sites);
    assert_eq!(answer.granted.map(|(place, rated)| (place, rated.slot.start.0)), Some((1, 0)));
    // Of equal ones that of the first cluster.
    let answer = GridService.place(&request(Preference::Latest), &mut sites);
    assert_eq!(answer.granted.map(|(place, rated)| (place, rated.slot.start.0)), Some((0, 200)));
}

#[test]
fn a_slot_moves_to_where_jobs_end_soonest_if_that_is_worth_it() {
    let standing = Manager::of(workload());
    let better = |present: i64, moving: Moving| {
        let present = slot(present, present + 30);
        let better = moving.better((&standing.workload, &standing.cycle), &request(Preference::Earliest), present, PROBING);
        better.map(|slot| slot.start.0)
    };
    let least = |least| Moving { least: Seconds(least), ..Moving::default() };
    assert_eq!((better(50, least(40)), better(50, least(41))), (Some(200), None), "W3 ends 40 s sooner");
    assert_eq!(better(200, least(1)), None, "it delays nobody");
    assert_eq!(better(50, Moving { notice: Seconds(201), ..least(40) }), None, "200 is too soon");
}

#[test]
fn a_slot_is_movable_until_shortly_before_its_start() {
    let moving = Moving { notice: Seconds(60), ..Moving::default() };
    let is_movable = |now| moving.is_movable(slot(100, 130), UnixTime(now));
    assert!(is_movable(39) && !is_movable(40) && !is_movable(100));
}
