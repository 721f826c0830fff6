//! The jobs of a run as schedulers move them, with the record of each.

use market::{Bid, Milliseconds};

use super::execution::Execution;
use super::{Job, JobIndex, Record, Slowdown, Standing};

/// What a job pays at present, and since when its standing is as it is.
#[derive(Debug, Clone, Copy, Default)]
struct Account {
    pays: Bid,
    pays_since: Milliseconds,
    suspended_at: Milliseconds,
}

/// How many jobs stand how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) queued: u32,
    pub(super) running: u32,
    pub(super) suspended: u32,
    /// The nodes of all that run, each as often as jobs run on it.
    pub(super) running_nodes: u64,
}

/// The jobs of a run.
pub(super) struct Floor<'a> {
    pub(super) jobs: &'a [Job],
    pub(super) records: Vec<Record>,
    pub(super) execution: Execution<'a>,
    pub(super) counts: Counts,
    accounts: Vec<Account>,
}

impl<'a> Floor<'a> {
    pub(super) fn new(jobs: &'a [Job], nodes: u32, slowdown: Slowdown) -> Self {
        Self {
            jobs,
            records: vec![Record::default(); jobs.len()],
            execution: Execution::new(jobs, nodes, slowdown),
            counts: Counts::default(),
            accounts: vec![Account::default(); jobs.len()],
        }
    }

    /// How many nodes a job runs on.
    pub(super) fn nodes(&self, job: JobIndex) -> u32 {
        self.jobs[job as usize].nodes
    }

    pub(super) fn standing(&self, job: JobIndex) -> Standing {
        self.records.get(job as usize).map_or(Standing::Ineligible, |record| record.standing)
    }

    /// How many jobs want to run, or run.
    pub(super) fn present(&self) -> u32 {
        self.counts.queued + self.counts.running + self.counts.suspended
    }

    /// A job will never be submitted, or never run.
    pub(super) fn turn_away(&mut self, job: JobIndex, standing: Standing) {
        self.records[job as usize].standing = standing;
    }

    pub(super) fn submit(&mut self, job: JobIndex, bid: Bid, now: Milliseconds) {
        let record = &mut self.records[job as usize];
        record.standing = Standing::Queued;
        record.submitted = Some(now);
        record.bid = bid;
        self.counts.queued += 1;
    }

    pub(super) fn rebid(&mut self, job: JobIndex, bid: Bid) {
        self.records[job as usize].bid = bid;
    }

    /// A job runs for the first time, on these nodes; none are named where nodes are only counted.
    pub(super) fn start(&mut self, job: JobIndex, on: &[u32], now: Milliseconds) {
        let record = &mut self.records[job as usize];
        record.standing = Standing::Running;
        record.first_start = Some(now);
        self.counts.queued -= 1;
        self.runs(job);
        self.execution.start(job, on, now);
    }

    pub(super) fn resume(&mut self, job: JobIndex, now: Milliseconds) {
        let record = &mut self.records[job as usize];
        record.standing = Standing::Running;
        record.suspended = record.suspended + (now - self.accounts[job as usize].suspended_at);
        self.counts.suspended -= 1;
        self.runs(job);
        self.execution.resume(job, now);
    }

    pub(super) fn suspend(&mut self, job: JobIndex, now: Milliseconds) {
        self.pays(job, Bid::ZERO, now);
        let record = &mut self.records[job as usize];
        record.standing = Standing::Suspended;
        record.suspensions += 1;
        self.accounts[job as usize].suspended_at = now;
        self.counts.suspended += 1;
        self.runs_no_more(job);
        self.execution.stop(job, now);
    }

    /// A job is done, or is withdrawn.
    pub(super) fn end(&mut self, job: JobIndex, standing: Standing, now: Milliseconds) {
        let before = self.standing(job);
        match before {
            Standing::Running => {
                self.pays(job, Bid::ZERO, now);
                self.runs_no_more(job);
                self.execution.stop(job, now);
            }
            Standing::Suspended => {
                let record = &mut self.records[job as usize];
                record.suspended = record.suspended + (now - self.accounts[job as usize].suspended_at);
                self.counts.suspended -= 1;
            }
            _ => self.counts.queued -= 1,
        }
        self.execution.forget(job);
        let record = &mut self.records[job as usize];
        record.standing = standing;
        record.end = Some(now);
    }

    /// From now on a job pays so much per node and minute.
    pub(super) fn pays(&mut self, job: JobIndex, pays: Bid, now: Milliseconds) {
        let account = &mut self.accounts[job as usize];
        if account.pays > Bid::ZERO {
            let node_minutes = (now - account.pays_since).minutes() * f64::from(self.jobs[job as usize].nodes);
            self.records[job as usize].paid += account.pays.credits_per_node_minute() * node_minutes;
        }
        account.pays = pays;
        account.pays_since = now;
    }

    fn runs(&mut self, job: JobIndex) {
        self.counts.running += 1;
        self.counts.running_nodes += u64::from(self.nodes(job));
    }

    fn runs_no_more(&mut self, job: JobIndex) {
        self.counts.running -= 1;
        self.counts.running_nodes -= u64::from(self.nodes(job));
    }
}
