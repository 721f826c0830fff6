//! The daemon's plan of a queue, held against the one that a replay makes of the same queue.

use std::collections::HashSet;
use std::sync::Arc;

use job_types::number::{JobId, PartitionIndex, UserId};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use predictor_core::forecasts::forecast::{RunTimeForecast, RunTimeRange};
use proptest::prelude::*;
use queue_plan::{Assumption, MOST_STEPS, Pass, plan};
use simulator::engine::backfill::Easy;
use simulator::engine::estimates::Requested;
use simulator::engine::order::FirstCome;
use simulator::engine::{Cluster as Machines, Job, JobIndex, Machine, Policy, Scheduler, Submitted, simulate};
use simulator::experiment::{Expected, queue_of, state_of};
use slurm_sys::client::JobState;
use slurm_sys::client::controller::{Node, NodeState, Partition, QueuedJob};

use super::Question;
use crate::known::cluster::{Cluster, Queue};
use crate::known::made_up::{self, main_partition, node};
use crate::known::names::PartitionIndices;

/// A job of a made-up workload.
#[derive(Clone, Debug)]
struct MadeUp {
    /// How long after the job before it is submitted.
    gap: i64,
    processors: u32,
    run_time: i64,
    /// How long its user thinks that it runs, and how much longer than that its limit is.
    expected: i64,
    spare: i64,
    /// How long after its submission it becomes eligible.
    delay: i64,
    /// How long after that it was promised its nodes, until when it waits on them; 0 is no promise.
    hold: i64,
}

impl MadeUp {
    fn limit(&self) -> i64 {
        self.run_time.max(self.expected) + self.spare + self.hold
    }
}

/// Compares both plans as jobs are submitted.
struct Compared<'a> {
    jobs: &'a [MadeUp],
    /// At which submissions: at each, at every second one, and so on.
    every: u32,
    /// How many plans had jobs that run, wait, wait on their nodes, and become eligible later.
    with: [usize; 4],
    /// The most points of a free profile, before it is rounded and after.
    most_steps: [usize; 2],
}

impl Compared<'_> {
    fn expected(&self, job: JobIndex) -> Expected {
        let job = &self.jobs[job as usize];
        Expected { run_time: Seconds(job.expected), limit: Seconds(job.limit()) }
    }

    /// The machines and their queue as the daemon would read them from slurmctld: a node for each
    /// processor.
    fn as_read(&self, machines: &Machines) -> Cluster {
        let now = machines.now();
        let processors = machines.machine().processors;
        let described = |job: JobIndex, processors: u32, state| QueuedJob {
            user_id: UserId(job),
            nodes: processors,
            cpus: processors,
            time_limit_seconds: Some(self.jobs[job as usize].limit()),
            ..made_up::job(job, state, 1)
        };
        let mut first = 0;
        let running = machines.running().by_expected_end().map(|(_, processors, job)| {
            let record = machines.record(job);
            let last = first + processors as usize - 1;
            let node_ranges = vec![(first, last)];
            first = last + 1;
            let made_up = &self.jobs[job as usize];
            let until = record.submit.0 + made_up.delay + made_up.hold;
            let asked = format!(r#""asked":{{"nodes":{processors},"cpus":{processors}}}"#);
            let written = format!(r#""written":{{"hold_until":{until}}}"#);
            let comment = format!(r#"{{"queuecast":{{"version":1,"generation":7,"at":1,"mode":"enforce",{asked},{written}}}}}"#);
            let admin_comment = (made_up.hold > 0).then_some(comment);
            QueuedJob { started: Some(record.start.0), node_ranges, admin_comment, ..described(job, processors, JobState::Running) }
        });
        let mut jobs: Vec<QueuedJob> = running.collect();
        // The queue is read from the machines and not by `queue_of`, which is what is tested.
        let waiting = machines.waiting().iter().map(|entry| (now, entry.job, entry.processors));
        let deferred = machines.deferred().map(|(eligible, job)| (eligible, job, machines.job(job).processors));
        let pending = (0..).zip(waiting.chain(deferred)).map(|(place, (eligible, job, processors))| QueuedJob {
            priority: 1_000_000 - place,
            eligible: Some(eligible.0),
            ..described(job, processors, JobState::Pending)
        });
        jobs.extend(pending);
        let last = processors as usize - 1;
        let nodes: Vec<Node> = (0..=last).map(|index| Node { cpus: 1, ..node(index, NodeState::Busy) }).collect();
        let partition = Partition {
            total_cpus: processors,
            total_nodes: processors,
            max_time_seconds: None,
            node_ranges: vec![(0, last)],
            ..main_partition()
        };
        Cluster {
            read_at: now,
            cpus: processors,
            partitions: vec![partition],
            queue: Queue::new(&nodes, Vec::new(), &jobs, &mut HashSet::new()),
            ..made_up::cluster(&[], Vec::new())
        }
    }

    /// Asserts that both plans have the same starts and the same free processors.
    fn compare(&mut self, machines: &Machines) {
        let cluster = self.as_read(machines);
        let indices: PartitionIndices = [(Arc::from("main"), PartitionIndex(0))].into();
        let ranges: Vec<[RunTimeRange; 1]> =
            self.jobs.iter().map(|job| [RunTimeRange::new(job.expected as u32, job.expected as u32, 1.0)]).collect();
        let run_times = |user: UserId, _: PartitionIndex, _: Size, _: Option<Seconds>| {
            Some(RunTimeForecast { jobs: 1, longest_limit: None, ranges: ranges.get(user.0 as usize)? })
        };
        let question = Question::new(&cluster, &indices, false, run_times, &[]);
        let daemons = plan(&question.state);
        let starts =
            daemons.pending.iter().map(|planned| (question.state.pending[planned.index].id, planned.start.map(|start| start.expected)));
        let free = daemons.partitions[0].free.iter().map(|(at, free)| (*at, free.cpus));

        let queue = queue_of(machines);
        let state = state_of(machines, &queue, |job| self.expected(job));
        let replays = Pass::of_state(&state, Assumption::Expected);
        let replayed = replays.starts.iter().map(|(place, start)| (JobId(queue[*place].job), *start));
        assert_eq!(starts.collect::<Vec<_>>(), replayed.collect::<Vec<_>>(), "starts at {:?}", machines.now());
        let replayed: Vec<(UnixTime, i64)> = replays.published_free(0).into_iter().map(|(at, free)| (at, free.cpus)).collect();
        assert_eq!(free.collect::<Vec<_>>(), replayed, "free processors at {:?}", machines.now());

        let now = machines.now();
        let waits_on_nodes = |job: JobIndex| machines.record(job).start + machines.record(job).held > now;
        let has = [
            machines.running().by_expected_end().next().is_some(),
            !machines.waiting().is_empty(),
            machines.running().by_expected_end().any(|(.., job)| waits_on_nodes(job)),
            machines.deferred().next().is_some(),
        ];
        self.with.iter_mut().zip(has).for_each(|(with, has)| *with += usize::from(has));
        let steps = [replays.free(0).len(), replayed.len()];
        self.most_steps.iter_mut().zip(steps).for_each(|(most, steps)| *most = steps.max(*most));
    }
}

impl Policy for Compared<'_> {
    fn submit(&mut self, index: JobIndex, job: &Job, cluster: &Machines) -> Submitted {
        if index.is_multiple_of(self.every) {
            self.compare(cluster);
        }
        let MadeUp { delay, hold, .. } = self.jobs[index as usize];
        let eligible = job.submit + Seconds(delay);
        Submitted { job: *job, eligible, hold_until: (hold > 0).then_some(eligible + Seconds(hold)) }
    }
}

/// Runs a workload and compares both plans at every so many submissions.
fn compared(jobs: &[MadeUp], processors: u32, every: u32) -> Compared<'_> {
    let mut submit = UnixTime(0);
    let workload = jobs.iter().map(|job| {
        submit = submit + Seconds(job.gap);
        Job {
            submit,
            processors: job.processors.min(processors),
            run_time: Seconds(job.run_time),
            estimate: Seconds(job.limit()),
            ..Job::default()
        }
    });
    let workload: Vec<Job> = workload.collect();
    let mut scheduler = Scheduler { order: Box::new(FirstCome), backfill: Box::new(Easy::default()), estimates: Box::new(Requested) };
    let mut policy = Compared { jobs, every, with: [0; 4], most_steps: [0; 2] };
    simulate(&workload, &Machine::new(processors), &mut scheduler, &mut policy).unwrap();
    policy
}

fn made_up_job() -> impl Strategy<Value = MadeUp> {
    let delay = prop_oneof![2 => Just(0), 1 => 1i64..5_000];
    let hold = prop_oneof![3 => Just(0), 1 => 1i64..3_000];
    let numbers = (0i64..900, 1u32..24, 1i64..4_000, 1i64..4_000, 0i64..2_000, delay, hold);
    numbers.prop_map(|(gap, processors, run_time, expected, spare, delay, hold)| MadeUp {
        gap,
        processors,
        run_time,
        expected,
        spare,
        delay,
        hold,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_replay_plans_its_queue_as_the_daemon_does(jobs in prop::collection::vec(made_up_job(), 1..60), processors in 1u32..32) {
        compared(&jobs, processors, 1);
    }
}

#[test]
fn a_replay_rounds_long_plans_and_places_deferred_jobs_as_the_daemon_does() {
    // Far more jobs than the machine has room for, so that the plan reaches far.
    let jobs: Vec<MadeUp> = (0..900)
        .map(|place| MadeUp {
            gap: place % 3,
            processors: 1 + (place * 7 % 5) as u32,
            run_time: 50 + place * 37 % 4_000,
            expected: 30 + place * 53 % 4_000,
            spare: place * 11 % 500,
            delay: if place % 4 == 0 { 100 + place } else { 0 },
            hold: if place < 8 { 5_000 } else { 0 },
        })
        .collect();
    let compared = compared(&jobs, 8, 9);
    assert!(compared.with.iter().all(|plans| *plans > 50), "running, waiting, on their nodes, later: {:?}", compared.with);
    let [before, after] = compared.most_steps;
    assert!(before > MOST_STEPS && after <= MOST_STEPS, "{before} points, rounded {after}");
}
