//! What holds of every run of jobs that bid and can be suspended.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use simulator::engine::JobIndex;
use simulator::engine::preemptive::{
    Bid, Cycle, Desk, Factors, GivenBids, Job, Milliseconds, Overlap, PriceRule, Record, Retention, Rules, SchedulerName, Slowdown,
    Standing, Submission, Users, simulate,
};
use strum::IntoEnumIterator;

const NODES: u32 = 8;

fn workload() -> impl Strategy<Value = Vec<Job>> {
    let one = (0..40_u64, 1..60_u64, prop_oneof![3 => 1..3_u32, 1 => 1..=NODES], any::<bool>());
    proptest::collection::vec(one, 1..60).prop_map(|drawn| {
        let mut now = 0;
        let job = |(after, run_time, nodes, is_io_bound)| {
            now += after / 4;
            Job { submit: Milliseconds(now), run_time: Milliseconds(run_time), nodes, user: 0, is_io_bound }
        };
        drawn.into_iter().map(job).collect()
    })
}

fn bids() -> impl Strategy<Value = Vec<Bid>> {
    proptest::collection::vec((0..20_u32).prop_map(|credits| Bid::new(f64::from(credits)).unwrap()), 60)
}

fn rules() -> impl Strategy<Value = Rules> {
    let scheduler = proptest::sample::select(SchedulerName::iter().collect::<Vec<_>>());
    let overlap = prop_oneof![Just(Overlap::Share), Just(Overlap::Wait)];
    let price = prop_oneof![Just(PriceRule::Uniform), Just(PriceRule::Externality)];
    let retention = prop_oneof![
        2 => Just(Retention::default()),
        1 => (0..20_u64, 0..3_u32).prop_map(|(least, fifths)| Retention {
            least_run_time: Milliseconds(least),
            margin: f64::from(fifths) / 5.0,
        }),
    ];
    let slowdown = prop_oneof![Just(Slowdown::One), Just(Slowdown::ByKind(Factors { large_from: 4, ..Factors::default() }))];
    (scheduler, overlap, price, retention, slowdown).prop_map(|(scheduler, overlap, price, retention, slowdown)| Rules {
        scheduler,
        overlap,
        price,
        retention,
        slowdown,
    })
}

fn run(jobs: &[Job], bids: &[Bid], rules: &Rules) -> (Vec<Record>, Vec<Cycle>) {
    let mut cycles = Vec::new();
    let records = simulate(jobs, NODES, rules, &mut GivenBids(bids), &mut |cycle: &Cycle| cycles.push(*cycle));
    (records, cycles)
}

/// First starts and ends.
fn times(records: &[Record]) -> Vec<(Option<Milliseconds>, Option<Milliseconds>)> {
    records.iter().map(|record| (record.first_start, record.end)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn an_auction_of_equal_bids_is_strict_order_job_by_job(jobs in workload(), credits in 0..3_u32, wait: bool) {
        let bids = vec![Bid::new(f64::from(credits)).unwrap(); jobs.len()];
        let overlap = if wait { Overlap::Wait } else { Overlap::Share };
        let of = |scheduler| run(&jobs, &bids, &Rules { scheduler, overlap, ..Rules::default() }).0;
        let auction = of(SchedulerName::Vickrey);
        prop_assert_eq!(times(&auction), times(&of(SchedulerName::Fifo)));
        prop_assert!(auction.iter().all(|record| record.suspensions == 0));
    }

    #[test]
    fn every_job_is_done_and_none_in_less_than_its_run_time(jobs in workload(), bids in bids(), rules in rules()) {
        let (records, cycles) = run(&jobs, &bids, &rules);
        for (job, record) in jobs.iter().zip(&records) {
            prop_assert_eq!(record.standing, Standing::Done);
            let ran = record.end.unwrap() - record.first_start.unwrap() - record.suspended;
            prop_assert!(ran >= job.run_time && record.first_start.unwrap() >= job.submit);
            let is_alone = rules.scheduler == SchedulerName::Fifo
                || (rules.overlap == Overlap::Wait && rules.scheduler != SchedulerName::Glunix);
            if is_alone || (job.is_io_bound && rules.slowdown != Slowdown::One) {
                prop_assert_eq!(ran, job.run_time);
            }
            if rules.scheduler == SchedulerName::Glunix {
                prop_assert_eq!(record.first_start, record.submitted);
            }
        }
        let last = cycles.last().unwrap();
        prop_assert_eq!((last.running, last.suspended, last.queued, last.busy_nodes, last.running_nodes), (0, 0, 0, 0, 0));
    }

    #[test]
    fn nodes_are_those_of_one_job_where_they_are_not_shared(jobs in workload(), bids in bids(), rules in rules()) {
        let scheduler = if rules.scheduler == SchedulerName::Glunix { SchedulerName::Vickrey } else { rules.scheduler };
        let (_, cycles) = run(&jobs, &bids, &Rules { overlap: Overlap::Wait, scheduler, ..rules });
        for cycle in &cycles {
            prop_assert_eq!(u64::from(cycle.busy_nodes), cycle.running_nodes);
            prop_assert!(cycle.busy_nodes <= NODES);
        }
    }

    #[test]
    fn nobody_pays_more_than_the_own_bid_and_all_that_is_paid_is_revenue(jobs in workload(), bids in bids(), rules in rules()) {
        let (records, cycles) = run(&jobs, &bids, &rules);
        for (job, record) in jobs.iter().zip(&records) {
            let ran = record.end.unwrap() - record.first_start.unwrap() - record.suspended;
            let most = record.bid.credits_per_node_minute() * ran.minutes() * f64::from(job.nodes);
            prop_assert!(record.paid <= most + 1e-9);
        }
        let revenue: f64 = cycles.windows(2).map(|two| two[0].revenue_per_minute * (two[1].at - two[0].at).minutes()).sum();
        let paid: f64 = records.iter().map(|record| record.paid).sum();
        prop_assert!((revenue - paid).abs() < 1e-6, "{} {}", revenue, paid);
    }

    #[test]
    fn the_same_input_gives_the_same_records(jobs in workload(), bids in bids(), rules in rules()) {
        prop_assert_eq!(run(&jobs, &bids, &rules), run(&jobs, &bids, &rules));
    }

    /// Users who withdraw, put off, leave out and bid again change nothing of what holds.
    #[test]
    fn whatever_users_do_every_job_ends_as_they_want(jobs in workload(), rules in rules(), seed: u64) {
        let mut users = Whims { jobs: jobs.len() as u64, drawn: seed, next: Milliseconds(3), delays: 0 };
        let mut last = None;
        let records = simulate(&jobs, NODES, &rules, &mut users, &mut |cycle: &Cycle| last = Some(*cycle));
        for record in &records {
            match record.standing {
                Standing::Done | Standing::Withdrawn => prop_assert!(record.end >= record.submitted && record.submitted.is_some()),
                Standing::Skipped => prop_assert_eq!(record, &Record { standing: Standing::Skipped, ..Record::default() }),
                other => prop_assert!(false, "{:?}", other),
            }
        }
        let last: Cycle = last.unwrap();
        prop_assert_eq!((last.running, last.suspended, last.queued, last.busy_nodes, last.running_nodes), (0, 0, 0, 0, 0));
    }
}

/// Users who do as it takes them.
struct Whims {
    jobs: u64,
    drawn: u64,
    next: Milliseconds,
    delays: u32,
}

impl Whims {
    fn draw(&mut self, below: u64) -> u64 {
        self.drawn = self.drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.drawn >> 33) % below
    }

    fn bid(&mut self) -> Bid {
        Bid::nearest(self.draw(20) as f64)
    }
}

impl Users for Whims {
    fn submission(&mut self, _index: JobIndex, _job: &Job, desk: &mut Desk<'_>) -> Submission {
        match self.draw(5) {
            0 if self.delays < 100 => {
                self.delays += 1;
                Submission::Delays(desk.now() + Milliseconds(1 + self.draw(20)))
            }
            1 => Submission::Skips,
            _ => Submission::Submits(self.bid()),
        }
    }

    fn time(&mut self, desk: &mut Desk<'_>) {
        let (job, bid) = (self.draw(self.jobs) as JobIndex, self.bid());
        if self.draw(3) == 0 {
            desk.withdraw(job)
        } else {
            desk.rebid(job, bid)
        }
        self.next = desk.now() + Milliseconds(1 + self.draw(5));
    }

    fn wakes_at(&self) -> Option<Milliseconds> {
        Some(self.next)
    }
}

/// A job on one node beside one on two is slowed down by its factor, and the other by its own.
#[test]
fn a_job_takes_longer_by_its_kind() {
    let job = |nodes, is_io_bound| Job { submit: Milliseconds::ZERO, run_time: Milliseconds(60), nodes, user: 0, is_io_bound };
    let slowdown = Slowdown::ByKind(Factors { large_from: 3, ..Factors::default() });
    let rules = Rules { scheduler: SchedulerName::Glunix, slowdown, ..Rules::default() };
    let ends = |jobs: &[Job], nodes| -> Vec<u64> {
        simulate(jobs, nodes, &rules, &mut GivenBids(&[]), &mut ()).iter().map(|record| record.end.unwrap().0).collect()
    };
    // One beside another: 1 + 1. Two nodes of three have another: 1 + 2, until the others are done.
    assert_eq!(ends(&[job(1, false), job(1, false)], 1), [120, 120]);
    assert_eq!(ends(&[job(2, false), job(1, false), job(1, false)], 2), [140, 120, 120]);
    // Three nodes: 1 + 3. I/O-bound: as if alone, but others are slowed down by it.
    assert_eq!(ends(&[job(3, false), job(1, false)], 3), [150, 120]);
    assert_eq!(ends(&[job(1, true), job(1, false)], 1), [60, 90]);
}

/// A job that needs more than the machine is counted and left out (Geweke 2000, 5.2.3.2).
#[test]
fn a_job_that_never_fits_is_ineligible_and_delays_nobody() {
    let job = |nodes| Job { submit: Milliseconds::ZERO, run_time: Milliseconds(5), nodes, user: 0, is_io_bound: false };
    for scheduler in SchedulerName::iter() {
        let records = simulate(&[job(9), job(0), job(8)], 8, &Rules { scheduler, ..Rules::default() }, &mut GivenBids(&[]), &mut ());
        let standings: Vec<Standing> = records.iter().map(|record| record.standing).collect();
        assert_eq!(standings, [Standing::Ineligible, Standing::Ineligible, Standing::Done], "{scheduler}");
        assert_eq!(records[2].end, Some(Milliseconds(5)));
    }
}
