//! What has to hold of schedules, whatever the workload.
#![allow(clippy::unwrap_used)] // helpers of tests

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use job_types::number::UserId;
use job_types::time::{Seconds, UnixTime};
use proptest::collection::vec;
use proptest::prelude::*;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use simulator::engine::backfill::{Candidates, Conservative, Easy, InOrder};
use simulator::engine::estimates::{LastTwo, Requested};
use simulator::engine::order::{FirstCome, ShortestFirst};
use simulator::engine::policy::AsSubmitted;
use simulator::engine::{Backfill, Block, Cluster, Estimates, Event, Job, JobIndex, Machine, Order, Record, Scheduler, simulate};

const PROCESSORS: u32 = 8;

/// Jobs in bursts, with estimates up to twice what they run, or exact.
fn workload(exact: bool) -> impl Strategy<Value = Vec<Job>> {
    let job = (0_i64..30, 1..=PROCESSORS, 1_i64..60, 0_i64..60, 0_u32..4);
    vec(job, 1..80).prop_map(move |jobs| {
        let mut submit = UnixTime(0);
        let job = |(gap, processors, run_time, beyond, user): (i64, u32, i64, i64, u32)| {
            let run_time = Seconds(run_time);
            // Half of the jobs come together with the one before.
            submit = submit + Seconds((gap - 15).max(0));
            let estimate = if exact { run_time } else { run_time + Seconds(beyond) };
            Job { submit, processors, run_time, estimate, user: UserId(user), ..Job::default() }
        };
        jobs.into_iter().map(job).collect()
    })
}

fn scheduler(order: impl Order + 'static, backfill: impl Backfill + 'static, estimates: impl Estimates + 'static) -> Scheduler {
    Scheduler { order: Box::new(order), backfill: Box::new(backfill), estimates: Box::new(estimates) }
}

fn run(jobs: &[Job], machine: &Machine, mut scheduler: Scheduler) -> Vec<Record> {
    simulate(jobs, machine, &mut scheduler, &mut AsSubmitted).unwrap()
}

/// Returns one scheduler of each kind, with its name.
fn schedulers() -> Vec<(&'static str, Scheduler)> {
    vec![
        ("first come, first served", scheduler(FirstCome, InOrder, Requested)),
        ("easy", scheduler(FirstCome, Easy::default(), Requested)),
        ("easy, shortest first", scheduler(ShortestFirst, Easy::default(), Requested)),
        ("easy++", scheduler(FirstCome, Easy::new(Candidates::ShortestFirst), LastTwo::default())),
        ("conservative", scheduler(FirstCome, Conservative::new(), Requested)),
        ("conservative, shortest first", scheduler(ShortestFirst, Conservative::new(), Requested)),
        ("conservative with predictions", scheduler(FirstCome, Conservative::new(), LastTwo::default())),
    ]
}

/// The most processors in use at any moment, blocks included.
fn most_in_use(records: &[Record], blocks: &[Block]) -> i64 {
    let mut changes: Vec<(UnixTime, i64)> = Vec::new();
    let mut held = |start, end, processors: u32| changes.extend([(start, i64::from(processors)), (end, -i64::from(processors))]);
    records.iter().for_each(|record| held(record.start, record.end, record.processors));
    blocks.iter().for_each(|block| held(block.start, block.end, block.processors));
    // Of the changes at one moment, ends come before starts.
    changes.sort_unstable();
    let mut in_use = 0;
    changes
        .iter()
        .map(|(_, change)| {
            in_use += change;
            in_use
        })
        .max()
        .unwrap_or(0)
}

/// EASY as its rules say it, without any of the engine's shortcuts.
fn easy_by_the_rules(jobs: &[Job], processors: u32) -> Vec<UnixTime> {
    // Expected end, end, job; in the order of the starts.
    let running: RefCell<Vec<(UnixTime, UnixTime, usize)>> = RefCell::default();
    let free_at = |at: UnixTime| {
        let running = running.borrow();
        i64::from(processors)
            - running.iter().filter(|(expected, ..)| *expected > at).map(|&(.., job)| i64::from(jobs[job].processors)).sum::<i64>()
    };
    let mut starts = vec![UnixTime(0); jobs.len()];
    let (mut waiting, mut next): (Vec<usize>, usize) = (Vec::new(), 0);
    loop {
        let submission = jobs.get(next).map(|job| job.submit);
        let end = running.borrow().iter().enumerate().map(|(place, &(_, end, _))| (end, place)).min();
        let now = match (submission, end) {
            (None, None) => return starts,
            (Some(submission), end) if end.is_none_or(|(end, _)| submission <= end) => {
                waiting.push(next);
                next += 1;
                submission
            }
            (_, Some((end, place))) => {
                running.borrow_mut().remove(place);
                end
            }
            _ => unreachable!("one of both is there"),
        };
        let size = |job: usize| i64::from(jobs[job].processors);
        let mut start = |job: usize| {
            starts[job] = now;
            running.borrow_mut().push((now + jobs[job].estimate, now + jobs[job].run_time, job));
        };
        while let Some(&head) = waiting.first().filter(|&&head| size(head) <= free_at(now)) {
            start(head);
            waiting.remove(0);
        }
        let Some(&head) = waiting.first() else { continue };
        for candidate in waiting.split_off(1) {
            let mut moments: Vec<UnixTime> = running.borrow().iter().map(|(expected, ..)| (*expected).max(now)).collect();
            moments.sort_unstable();
            let reserved = moments.into_iter().find(|&at| free_at(at) >= size(head)).unwrap();
            let ends_before = now + jobs[candidate].estimate <= reserved;
            if size(candidate) <= free_at(now) && (ends_before || size(candidate) <= free_at(reserved) - size(head)) {
                start(candidate);
            } else {
                waiting.push(candidate);
            }
        }
    }
}

/// A scheduler whose queue is looked at after each pass.
struct Watched<B, F> {
    backfill: B,
    look: F,
}

impl<B: Backfill, F: FnMut(&B, &Cluster) + Send> Backfill for Watched<B, F> {
    fn pass(&mut self, event: Event, cluster: &mut Cluster) {
        self.backfill.pass(event, cluster);
        (self.look)(&self.backfill, cluster);
    }

    fn wakes_at(&self) -> Option<UnixTime> {
        self.backfill.wakes_at()
    }
}

type Promises = Arc<Mutex<HashMap<JobIndex, UnixTime>>>;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_more_processors_are_in_use_than_there_are(jobs in workload(false)) {
        for (name, scheduler) in schedulers() {
            let records = run(&jobs, &Machine::new(PROCESSORS), scheduler);
            prop_assert!(most_in_use(&records, &[]) <= i64::from(PROCESSORS), "{name}");
        }
    }

    #[test]
    fn no_job_starts_before_its_submission_and_work_is_conserved(jobs in workload(false)) {
        for (name, scheduler) in schedulers() {
            let records = run(&jobs, &Machine::new(PROCESSORS), scheduler);
            for (job, record) in jobs.iter().zip(&records) {
                prop_assert!(record.start >= job.submit, "{name}");
                prop_assert_eq!((record.run_time(), record.processors), (job.run_time, job.processors), "{}", name);
            }
        }
    }

    #[test]
    fn nobody_waits_beside_an_idle_machine(jobs in workload(false)) {
        for (name, scheduler) in schedulers() {
            let records = run(&jobs, &Machine::new(PROCESSORS), scheduler);
            for waited in records.iter().filter(|record| record.wait() > Seconds::ZERO) {
                let just_before = waited.start - Seconds(1);
                let runs = |record: &&Record| record.start <= just_before && just_before < record.end;
                prop_assert!(records.iter().any(|record| runs(&record)), "{name}");
            }
        }
    }

    #[test]
    fn first_come_first_served_never_overtakes(jobs in workload(false)) {
        let records = run(&jobs, &Machine::new(PROCESSORS), scheduler(FirstCome, InOrder, Requested));
        prop_assert!(records.is_sorted_by_key(|record| record.start));
    }

    #[test]
    fn easy_is_what_its_rules_say(jobs in workload(false)) {
        let records = run(&jobs, &Machine::new(PROCESSORS), scheduler(FirstCome, Easy::default(), Requested));
        let starts: Vec<UnixTime> = records.iter().map(|record| record.start).collect();
        prop_assert_eq!(starts, easy_by_the_rules(&jobs, PROCESSORS));
    }

    #[test]
    fn easy_never_delays_the_head_beyond_its_first_reservation_when_estimates_are_exact(jobs in workload(true)) {
        let promises = Promises::default();
        let noted = Arc::clone(&promises);
        let look = move |_: &Easy, cluster: &Cluster| {
            let started = |job: JobIndex| cluster.record(job).start >= UnixTime(0);
            let Some(head) = cluster.waiting().iter().find(|entry| !started(entry.job)) else { return };
            let mut free = cluster.free() - cluster.ending_now();
            let mut ends = cluster.running().by_expected_end();
            let at = ends.find_map(|(end, processors, _)| { free += i64::from(processors); (free >= i64::from(head.processors)).then_some(end) });
            noted.lock().unwrap().entry(head.job).or_insert(at.unwrap_or(UnixTime(i64::MAX)));
        };
        let records = run(&jobs, &Machine::new(PROCESSORS), scheduler(FirstCome, Watched { backfill: Easy::default(), look }, Requested));
        for (&job, &promise) in promises.lock().unwrap().iter() {
            prop_assert!(records[job as usize].start <= promise);
        }
    }

    #[test]
    fn conservative_never_delays_a_job_beyond_its_first_promise(jobs in workload(false), shortest in any::<bool>()) {
        let promises = Promises::default();
        let noted = Arc::clone(&promises);
        let look = move |backfill: &Conservative, cluster: &Cluster| {
            for entry in cluster.waiting() {
                if let Some(at) = backfill.promised(entry.job) {
                    noted.lock().unwrap().entry(entry.job).or_insert(at);
                }
            }
        };
        let watched = Watched { backfill: Conservative::new(), look };
        let scheduler = if shortest { scheduler(ShortestFirst, watched, Requested) } else { scheduler(FirstCome, watched, Requested) };
        let records = run(&jobs, &Machine::new(PROCESSORS), scheduler);
        for (&job, &promise) in promises.lock().unwrap().iter() {
            prop_assert!(records[job as usize].start <= promise);
        }
    }

    #[test]
    fn a_block_is_left_free(jobs in workload(false), start in 0_i64..300, long in 1_i64..100, processors in 1..=PROCESSORS) {
        let block = Block { start: UnixTime(start), end: UnixTime(start + long), processors };
        let machine = Machine { processors: PROCESSORS, blocks: vec![block] };
        for backfill in [Box::new(InOrder) as Box<dyn Backfill>, Box::new(Easy::default()), Box::new(Conservative::new())] {
            let scheduler = Scheduler { order: Box::new(FirstCome), backfill, estimates: Box::new(Requested) };
            let records = run(&jobs, &machine, scheduler);
            prop_assert!(most_in_use(&records, &[block]) <= i64::from(PROCESSORS));
            prop_assert!(records.iter().zip(&jobs).all(|(record, job)| record.run_time() == job.run_time));
        }
    }

    #[test]
    fn a_block_of_nothing_changes_nothing(jobs in workload(false)) {
        let nothing = Machine { processors: PROCESSORS, blocks: vec![Block { start: UnixTime(10), end: UnixTime(50), processors: 0 }] };
        for candidates in [Candidates::InOrder, Candidates::ShortestFirst] {
            let easy = || scheduler(FirstCome, Easy::new(candidates), Requested);
            prop_assert_eq!(run(&jobs, &nothing, easy()), run(&jobs, &Machine::new(PROCESSORS), easy()));
        }
    }

    #[test]
    fn runs_side_by_side_give_what_each_gives_alone(workloads in vec(workload(false), 1..6)) {
        let alone = |jobs: &Vec<Job>| run(jobs, &Machine::new(PROCESSORS), scheduler(FirstCome, Easy::default(), LastTwo::default()));
        let one_after_the_other: Vec<Vec<Record>> = workloads.iter().map(alone).collect();
        let side_by_side: Vec<Vec<Record>> = workloads.par_iter().map(alone).collect();
        prop_assert_eq!(one_after_the_other, side_by_side);
    }
}
