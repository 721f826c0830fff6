//! By hand: ten jobs on one node, and six on four.

mod work;

use market::{Bid, Milliseconds, Overlap};

use super::{Cycle, Desk, GivenBids, Job, JobIndex, Record, Rules, SchedulerName, Standing, Submission, Users, simulate};

fn minutes(minutes: u64) -> Milliseconds {
    Milliseconds(minutes * Milliseconds::MINUTE.0)
}

fn bid(credits: f64) -> Bid {
    Bid::new(credits).unwrap()
}

fn job(submit: u64, nodes: u32, run_time: u64) -> Job {
    Job { submit: minutes(submit), run_time: minutes(run_time), nodes, user: 0, is_io_bound: false }
}

fn delay_minutes(job: &Job, record: &Record) -> f64 {
    (record.end.unwrap() - job.submit - job.run_time).minutes()
}

/// The example of the thesis (7.2.2.1).
#[test]
fn ten_jobs_of_a_hundred_minutes_wait_one_after_another_or_all_for_the_last() {
    let jobs = [job(0, 1, 100); 10];
    let delays = |scheduler| -> Vec<f64> {
        let rules = Rules { scheduler, ..Rules::default() };
        let records = simulate(&jobs, 1, &rules, &mut GivenBids(&[]), &mut ());
        jobs.iter().zip(&records).map(|(job, record)| delay_minutes(job, record)).collect()
    };
    let one_after_another: Vec<f64> = (0..10).map(|job| f64::from(job) * 100.0).collect();
    for scheduler in [SchedulerName::Fifo, SchedulerName::Vickrey, SchedulerName::VickreyBackfill] {
        assert_eq!(delays(scheduler), one_after_another, "{scheduler}");
        assert_eq!(delays(scheduler).iter().sum::<f64>(), 4_500.0);
    }
    assert_eq!(delays(SchedulerName::Glunix), [900.0; 10]);
    assert_eq!(delays(SchedulerName::Glunix).iter().sum::<f64>(), 9_000.0);
}

/// Users who bid what is given, and change it or withdraw jobs when it is time.
struct Script {
    bids: Vec<f64>,
    /// When, which job, and what it bids then; nothing to withdraw it.
    then: Vec<(u64, JobIndex, Option<f64>)>,
}

impl Users for Script {
    fn submission(&mut self, index: JobIndex, _job: &Job, _desk: &mut Desk<'_>) -> Submission {
        Submission::Submits(bid(self.bids[index as usize]))
    }

    fn time(&mut self, desk: &mut Desk<'_>) {
        let (at, job, wish) = self.then.remove(0);
        assert_eq!(desk.now(), minutes(at));
        match wish {
            Some(credits) => desk.rebid(job, bid(credits)),
            None => desk.withdraw(job),
        }
    }

    fn wakes_at(&self) -> Option<Milliseconds> {
        self.then.first().map(|(at, ..)| minutes(*at))
    }
}

const A: usize = 0;
const B: usize = 1;
const C: usize = 2;
const D: usize = 3;
const E: usize = 4;
const F: usize = 5;

/// Six jobs on four nodes. B bids 5 from minute 13 on and 0.5 from 15 on; F is withdrawn at 14.
fn six_jobs(overlap: Overlap) -> (Vec<Record>, Vec<(f64, f64, f64)>) {
    let jobs = [job(0, 2, 10), job(0, 2, 20), job(4, 2, 4), job(6, 1, 6), job(11, 3, 6), job(12, 1, 3)];
    let then = vec![(13, B as u32, Some(5.0)), (14, F as u32, None), (15, B as u32, Some(0.5))];
    let mut users = Script { bids: vec![3.0, 2.0, 5.0, 1.0, 4.0, 1.5], then };
    let mut cycles = Vec::new();
    let mut note = |cycle: &Cycle| cycles.push((cycle.at.minutes(), cycle.price.credits_per_node_minute(), cycle.revenue_per_minute));
    let rules = Rules { overlap, ..Rules::default() };
    let records = simulate(&jobs, 4, &rules, &mut users, &mut note);
    (records, cycles)
}

/// First start, end, time suspended in minutes, suspensions, and credits paid.
fn figures(record: &Record) -> (f64, f64, f64, u32, f64) {
    let (start, end) = (record.first_start.unwrap(), record.end.unwrap());
    (start.minutes(), end.minutes(), record.suspended.minutes(), record.suspensions, record.paid)
}

/// What happens until B bids 0.5, whichever way jobs meet on nodes. Time in minutes, price, and
/// what all pay in a minute.
const UNTIL_15: [(f64, f64, f64); 9] = [
    // A on nodes 0 and 1, B on 2 and 3: all fit.
    (0.0, 0.0, 0.0),
    // C bids more and takes the nodes of B, whose bid is the price: 2 for each of four nodes.
    (4.0, 2.0, 8.0),
    // D waits behind B.
    (6.0, 2.0, 8.0),
    // C is done, and B goes on. D does not fit.
    (8.0, 1.0, 4.0),
    // A is done, and D gets node 0.
    (10.0, 0.0, 0.0),
    // E takes nodes 1, 0 and 2, those with the fewest jobs. B does not fit, and D is behind it.
    (11.0, 2.0, 6.0),
    // F waits behind B.
    (12.0, 2.0, 6.0),
    // B bids 5 and goes on. E does not fit.
    (13.0, 4.0, 8.0),
    // F is withdrawn.
    (14.0, 4.0, 8.0),
];

#[test]
fn a_job_that_returns_to_nodes_of_another_shares_them() {
    let (records, cycles) = six_jobs(Overlap::Share);
    assert_eq!(cycles[..9], UNTIL_15);
    assert_eq!(
        cycles[9..],
        [
            // E and D are before B and meet on node 0, each at half its speed.
            (15.0, 0.5, 2.0),
            // E had 4 minutes left, and D has 1 yet.
            (23.0, 0.0, 0.0),
            (24.0, 0.0, 0.0),
            (34.0, 0.0, 0.0),
        ]
    );
    assert_eq!(figures(&records[A]), (0.0, 10.0, 0.0, 0, 2.0 * 2.0 * 4.0 + 2.0 * 1.0 * 2.0));
    assert_eq!(figures(&records[B]), (0.0, 34.0, 4.0 + 2.0 + 8.0, 3, 2.0 * 1.0 * 2.0 + 2.0 * 4.0 * 2.0));
    assert_eq!(figures(&records[C]), (4.0, 8.0, 0.0, 0, 2.0 * 2.0 * 4.0));
    assert_eq!(figures(&records[D]), (10.0, 24.0, 4.0, 1, 1.0 * 0.5 * 8.0));
    assert_eq!(figures(&records[E]), (11.0, 23.0, 2.0, 1, 3.0 * 2.0 * 2.0 + 3.0 * 0.5 * 8.0));
    let withdrawn =
        Record { standing: Standing::Withdrawn, submitted: Some(minutes(12)), end: Some(minutes(14)), bid: bid(1.5), ..Record::default() };
    assert_eq!(records[F], withdrawn);
    assert_eq!(records[B].bid, bid(0.5));
}

#[test]
fn a_job_that_returns_to_nodes_of_a_higher_bid_waits_for_them() {
    let (records, cycles) = six_jobs(Overlap::Wait);
    assert_eq!(cycles[..9], UNTIL_15);
    assert_eq!(
        cycles[9..],
        [
            // E is before D, which stays suspended although it is counted.
            (15.0, 0.5, 1.5),
            (19.0, 0.0, 0.0),
            (24.0, 0.0, 0.0),
            (30.0, 0.0, 0.0),
        ]
    );
    assert_eq!(figures(&records[A]), (0.0, 10.0, 0.0, 0, 20.0));
    assert_eq!(figures(&records[B]), (0.0, 30.0, 4.0 + 2.0 + 4.0, 3, 20.0));
    assert_eq!(figures(&records[C]), (4.0, 8.0, 0.0, 0, 16.0));
    assert_eq!(figures(&records[D]), (10.0, 24.0, 8.0, 1, 0.0));
    assert_eq!(figures(&records[E]), (11.0, 19.0, 2.0, 1, 3.0 * 2.0 * 2.0 + 3.0 * 0.5 * 4.0));
    assert_eq!(records[F].standing, Standing::Withdrawn);
}
