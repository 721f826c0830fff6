//! The attributes by which jobs are compared.

use job_types::number::UserId;
use learning::run_times::ArrivingJob;
use std::collections::HashMap;

/// Attributes that are the same or not.
pub(super) const NOMINAL: usize = 3;
/// Attributes that are numbers.
pub(super) const NUMERIC: usize = 10;

/// A job and the state of the resource when it arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Attributes {
    /// User, account, partition.
    pub(super) nominal: [u32; NOMINAL],
    /// CPUs, limit, hour of the day, day of the week; running jobs, their CPUs and the user's part
    /// of these; waiting jobs, their CPUs and the CPU seconds that they asked for. Numbers that
    /// span several orders of magnitude are taken as logarithms.
    pub(super) numeric: [f32; NUMERIC],
}

/// The jobs that run and those that wait.
#[derive(Clone, Debug, Default)]
pub(super) struct ResourceState {
    /// CPUs of each waiting job, and the CPU seconds that it asked for.
    waiting: HashMap<u32, (f64, f64)>,
    waiting_cpus: f64,
    waiting_work: f64,
    running_jobs: f64,
    running_cpus: f64,
    users_cpus: HashMap<UserId, f64>,
}

impl ResourceState {
    pub(super) fn arrives(&mut self, job: &ArrivingJob) {
        let cpus = f64::from(job.submitted.size.cpus);
        let work = cpus * job.submitted.limit.map_or(0.0, |limit| limit.0 as f64);
        if self.waiting.insert(job.id, (cpus, work)).is_none() {
            self.waiting_cpus += cpus;
            self.waiting_work += work;
        }
    }

    fn leaves_queue(&mut self, job: &ArrivingJob) {
        if let Some((cpus, work)) = self.waiting.remove(&job.id) {
            self.waiting_cpus = (self.waiting_cpus - cpus).max(0.0);
            self.waiting_work = (self.waiting_work - work).max(0.0);
        }
    }

    pub(super) fn starts(&mut self, job: &ArrivingJob) {
        self.leaves_queue(job);
        self.running_jobs += 1.0;
        self.running_cpus += f64::from(job.occupied_cpus);
        *self.users_cpus.entry(job.submitted.user).or_default() += f64::from(job.occupied_cpus);
    }

    /// `ran` is false for a job that is cancelled before it starts.
    pub(super) fn ends(&mut self, job: &ArrivingJob, ran: bool) {
        self.leaves_queue(job);
        if ran {
            self.running_jobs = (self.running_jobs - 1.0).max(0.0);
            self.running_cpus = (self.running_cpus - f64::from(job.occupied_cpus)).max(0.0);
            if let Some(cpus) = self.users_cpus.get_mut(&job.submitted.user) {
                *cpus = (*cpus - f64::from(job.occupied_cpus)).max(0.0);
            }
        }
    }

    /// The attributes of a job that arrives now, and does not yet wait.
    pub(super) fn attributes(&self, job: &ArrivingJob) -> Attributes {
        let logarithm = |number: f64| number.ln_1p() as f32;
        Attributes {
            nominal: [job.submitted.user.0, job.submitted.account.0, u32::from(job.submitted.partition.0)],
            numeric: [
                logarithm(f64::from(job.submitted.size.cpus)),
                logarithm(job.submitted.limit.map_or(0.0, |limit| limit.0.max(0) as f64)),
                job.submitted.eligible.0.rem_euclid(86_400) as f32 / 3_600.0,
                job.submitted.eligible.0.div_euclid(86_400).rem_euclid(7) as f32,
                logarithm(self.running_jobs),
                logarithm(self.running_cpus),
                logarithm(self.users_cpus.get(&job.submitted.user).copied().unwrap_or(0.0)),
                logarithm(self.waiting.len() as f64),
                logarithm(self.waiting_cpus),
                logarithm(self.waiting_work),
            ],
        }
    }
}
