//! The state of the machine and its queue.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use job_types::record::hold_on_nodes;
use job_types::time::{Seconds, UnixTime};

use super::waiting::Queue;
use super::{Event, Job, JobIndex, Machine, Record, Running, Waiting};
use queue_plan::{Profile, Resources};

/// A start time that is not known yet.
pub(super) const NOT_STARTED: UnixTime = UnixTime(i64::MIN);

/// The state of the machine and its queue: what a scheduler decides from, and where it starts jobs.
#[derive(Debug)]
pub struct Cluster {
    pub(super) now: UnixTime,
    pub(super) machine: Machine,
    /// The jobs as the policy passed them on.
    pub(super) jobs: Vec<Job>,
    pub(super) records: Vec<Record>,
    /// Processors that no running job has.
    free: i64,
    running: Running,
    pub(super) queue: Queue,
    /// Jobs that the policy holds back, by the time at which they become eligible.
    pub(super) deferred: BTreeSet<(UnixTime, JobIndex)>,
    /// Ends of the running jobs, which only the engine knows; those of one moment in the order in
    /// which they started.
    ends: BinaryHeap<Reverse<(UnixTime, u32, JobIndex)>>,
    /// How many jobs have started.
    starts: u32,
    /// When each job is expected to end, once it runs.
    expected_ends: Vec<UnixTime>,
    /// Until when jobs wait on their nodes if they start before, of those that were promised nodes
    /// at a time.
    hold_until: HashMap<JobIndex, UnixTime>,
    /// How often the expectations of running jobs were corrected, of those where they were.
    corrections: HashMap<JobIndex, usize>,
}

impl Cluster {
    pub(super) fn new(jobs: &[Job], machine: &Machine) -> Self {
        let record = |job: &Job| Record {
            submit: job.submit,
            eligible: job.submit,
            start: NOT_STARTED,
            end: NOT_STARTED,
            estimate: job.estimate,
            processors: job.processors,
            held: Seconds::ZERO,
        };
        Self {
            now: jobs.first().map_or(UnixTime::default(), |job| job.submit),
            machine: machine.clone(),
            records: jobs.iter().map(record).collect(),
            jobs: jobs.to_vec(),
            free: i64::from(machine.processors),
            running: Running::default(),
            queue: Queue::default(),
            deferred: BTreeSet::new(),
            ends: BinaryHeap::new(),
            starts: 0,
            expected_ends: vec![NOT_STARTED; jobs.len()],
            hold_until: HashMap::new(),
            corrections: HashMap::new(),
        }
    }

    /// The time, on the clock of the workload.
    #[must_use]
    pub fn now(&self) -> UnixTime {
        self.now
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// A job, as the policy passed it on. Its run time is not for a scheduler to look at before it
    /// has ended.
    #[must_use]
    pub fn job(&self, index: JobIndex) -> &Job {
        &self.jobs[index as usize]
    }

    /// What is known of a job that has ended, or is known of it so far.
    #[must_use]
    pub fn record(&self, index: JobIndex) -> &Record {
        &self.records[index as usize]
    }

    /// The running jobs.
    #[must_use]
    pub fn running(&self) -> &Running {
        &self.running
    }

    /// The queue, in order. During a pass, jobs that it started stay where they are.
    #[must_use]
    pub fn waiting(&self) -> &[Waiting] {
        self.queue.entries()
    }

    /// The jobs that were submitted and become eligible later, in the order of the times at which
    /// they do.
    pub fn deferred(&self) -> impl Iterator<Item = (UnixTime, JobIndex)> + '_ {
        self.deferred.iter().copied()
    }

    /// Processors on which a job could start now: those that are free, with those of jobs that end
    /// at this very instant as expected.
    #[must_use]
    pub fn free(&self) -> i64 {
        self.free + self.ending_now() - self.blocked_now()
    }

    /// Processors of jobs whose end, expected for now, is at this instant but still to come.
    #[must_use]
    pub fn ending_now(&self) -> i64 {
        if self.running.soonest_end().is_none_or(|end| end > self.now) {
            return 0;
        }
        let due = self.running.by_expected_end().take_while(|&(expected, ..)| expected <= self.now);
        due.filter(|&(_, _, job)| self.records[job as usize].end <= self.now).map(|(_, processors, _)| i64::from(processors)).sum()
    }

    fn blocked_now(&self) -> i64 {
        let under_way = self.machine.blocks.iter().filter(|block| block.start <= self.now && self.now < block.end);
        under_way.map(|block| i64::from(block.processors)).sum()
    }

    /// Free processors over time, as expected: running jobs until their expected ends, and blocks.
    #[must_use]
    pub fn profile(&self) -> Profile {
        let mut profile = Profile::new(self.now, Resources::of_cpus(self.machine.processors.into()));
        for (end, processors, job) in self.running.by_expected_end() {
            let ends_now = end <= self.now && self.records[job as usize].end <= self.now;
            if !ends_now {
                profile.take(self.now, end.max(self.now + Seconds(1)), Resources::of_cpus(processors.into()));
            }
        }
        for block in self.machine.blocks.iter().filter(|block| block.end > self.now) {
            profile.take(block.start.max(self.now), block.end, Resources::of_cpus(block.processors.into()));
        }
        profile
    }

    /// Starts the job at a position of the queue. The caller sees to it that it fits.
    ///
    /// A job that was promised nodes for later has them from now on and waits there, as it does on
    /// a cluster; of that the scheduler knows nothing.
    pub fn start(&mut self, position: usize) {
        let Some(entry) = self.queue.mark_started(position) else { return };
        let place = entry.job as usize;
        let held = self.hold(entry.job);
        let end = self.now + held + self.jobs[place].run_time;
        let expected_end = self.now + entry.expected;
        self.records[place].start = self.now;
        self.records[place].end = end;
        self.records[place].held = held;
        self.free -= i64::from(entry.processors);
        self.ends.push(Reverse((end, self.starts, entry.job)));
        self.starts += 1;
        self.expected_ends[place] = expected_end;
        self.running.insert(expected_end, entry.processors, entry.job);
    }

    /// The job waits on its nodes until then if it starts before.
    pub(super) fn hold_until(&mut self, job: JobIndex, until: UnixTime) {
        self.hold_until.insert(job, until);
    }

    /// How long a job that starts now waits on its nodes.
    fn hold(&mut self, job: JobIndex) -> Seconds {
        if self.hold_until.is_empty() {
            return Seconds::ZERO;
        }
        let Some(until) = self.hold_until.remove(&job) else { return Seconds::ZERO };
        hold_on_nodes(until, self.now, Some(self.jobs[job as usize].estimate))
    }

    /// When the next running job ends.
    pub(super) fn next_end(&self) -> Option<UnixTime> {
        self.ends.peek().map(|&Reverse((end, ..))| end)
    }

    /// Ends the next running job.
    pub(super) fn end_next(&mut self) -> Option<Event> {
        let Reverse((_, _, job)) = self.ends.pop()?;
        let expected_end = self.expected_ends[job as usize];
        self.running.remove(expected_end, job);
        if !self.corrections.is_empty() {
            self.corrections.remove(&job);
        }
        self.free += i64::from(self.jobs[job as usize].processors);
        Some(Event::Ended { job, expected_end })
    }

    /// The running job that is expected to have ended by now, how long it was expected to run, and
    /// how often that was corrected.
    pub(super) fn outlived(&self) -> Option<(JobIndex, Seconds, usize)> {
        let (expected_end, _, job) = self.running.by_expected_end().next()?;
        let expected = expected_end - self.records[job as usize].start;
        (expected_end <= self.now).then(|| (job, expected, self.corrections.get(&job).copied().unwrap_or(0)))
    }

    /// Another time limit lets a job that waits or runs be expected to run so long in all. It keeps
    /// its place in the queue. Returns whether there is such a job.
    pub(super) fn revise(&mut self, job: JobIndex, run_time: Seconds) -> bool {
        if self.expected_ends[job as usize] == NOT_STARTED {
            let waiting = self.queue.entries_mut().iter_mut().find(|entry| entry.job == job);
            return waiting.map(|entry| entry.expected = run_time).is_some();
        }
        let is_running = self.records[job as usize].end > self.now;
        if is_running {
            self.expect_end(job, run_time);
        }
        is_running
    }

    /// Expects a running job to run so long in all, because it has outlived what was expected.
    pub(super) fn expect(&mut self, job: JobIndex, run_time: Seconds) -> Event {
        let before = self.expect_end(job, run_time);
        *self.corrections.entry(job).or_default() += 1;
        Event::Corrected { job, expected_end: before }
    }

    /// Returns when the running job was expected to end before.
    fn expect_end(&mut self, job: JobIndex, run_time: Seconds) -> UnixTime {
        let place = job as usize;
        let before = self.expected_ends[place];
        let after = (self.records[place].start + run_time).max(self.now + Seconds(1));
        self.running.remove(before, job);
        self.running.insert(after, self.jobs[place].processors, job);
        self.expected_ends[place] = after;
        before
    }
}
