//! Slurm's multifactor priority.
//!
//! A job's priority is the sum of its factors, each between 0 and 1, times their weights, plus the
//! site factor (src/plugins/priority/multifactor/priority_multifactor.c, `_get_priority_internal`):
//! age, fair share, size, partition, QOS. It is calculated when the job is submitted and then every
//! `PriorityCalcPeriod` for all waiting jobs, and is a whole number. Equal priorities go by
//! submission.

mod associations;
mod fair_share;
mod settings;
mod usage;

use std::collections::BTreeMap;

use job_types::time::{Seconds, UnixTime};

use self::usage::Usage;
use super::{Job, Order, Record, Waiting};
use crate::engine::JobIndex;

pub use self::associations::{AssociationIndex, Associations};
pub use self::settings::{FairShare, PrioritySettings, SettingsError};

/// Slurm's multifactor priority.
pub struct Multifactor {
    settings: PrioritySettings,
    machine_processors: u32,
    usage: Usage,
    /// When priorities are calculated next.
    next_calculation: UnixTime,
    /// The last calculation, until the waiting jobs have their priorities of it.
    calculated_at: Option<UnixTime>,
    /// The fair-share factor of each association, as of the last calculation. Empty until factors
    /// are needed.
    fair_shares: Vec<f64>,
    /// The latest job that got a key: its key and the time, until its index is known.
    latest: Option<(i64, UnixTime)>,
    /// Since when each waiting job ages.
    ages_from: BTreeMap<JobIndex, UnixTime>,
    partition_maximum: u32,
    qos_maximum: u32,
}

impl std::fmt::Debug for Multifactor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Multifactor").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Multifactor {
    /// The order of a machine with these settings and associations. Priorities are calculated at
    /// `first_calculation` and every period from then on. Jobs of users that are not among
    /// the associations have no fair share.
    #[must_use]
    pub fn new(settings: PrioritySettings, associations: Associations, machine_processors: u32, first_calculation: UnixTime) -> Self {
        let usage = Usage::new(associations, settings.decay_half_life, settings.charges_at_end, first_calculation);
        Self {
            machine_processors: machine_processors.max(1),
            usage,
            next_calculation: first_calculation,
            calculated_at: None,
            fair_shares: Vec::new(),
            latest: None,
            ages_from: BTreeMap::new(),
            // Slurm's norm_priority: a partition's factor is 1 where nothing is said.
            partition_maximum: settings.partition_factors.values().copied().max().unwrap_or(1).max(1),
            qos_maximum: settings.qos_priorities.values().copied().max().unwrap_or(0),
            settings,
        }
    }

    /// Priority of a job that has waited so long.
    fn priority(&mut self, job: &Job, age: Seconds) -> i64 {
        let settings = &self.settings;
        let age = if age < settings.max_age { age.max(Seconds::ZERO).0 as f64 / settings.max_age.0 as f64 } else { 1.0 };
        let weighted = f64::from(settings.weight_age) * age
            + f64::from(settings.weight_job_size) * self.size_factor(job)
            + f64::from(settings.weight_partition) * self.partition_factor(job)
            + f64::from(settings.weight_qos) * self.qos_factor(job);
        let fair_share = f64::from(self.settings.weight_fair_share) * self.fair_share_factor(job);
        // 0 would be a held job; more than 32 bits are cut.
        (weighted + fair_share).clamp(1.0, f64::from(u32::MAX)).floor() as i64
    }

    fn size_factor(&self, job: &Job) -> f64 {
        let part = f64::from(job.processors) / f64::from(self.machine_processors);
        let minutes = if self.settings.size_relative_to_time { (job.estimate.0 / 60).max(1) as f64 } else { 1.0 };
        let factor = if self.settings.favors_small { 1.0 - part / minutes } else { part / minutes };
        factor.clamp(0.0, 1.0)
    }

    fn partition_factor(&self, job: &Job) -> f64 {
        f64::from(self.settings.partition_factors.get(&job.partition).copied().unwrap_or(1)) / f64::from(self.partition_maximum)
    }

    fn qos_factor(&self, job: &Job) -> f64 {
        let priority = self.settings.qos_priorities.get(&job.queue).copied().unwrap_or(0);
        if self.qos_maximum == 0 { 0.0 } else { f64::from(priority) / f64::from(self.qos_maximum) }
    }

    fn fair_share_factor(&mut self, job: &Job) -> f64 {
        if self.settings.weight_fair_share == 0 {
            return 0.0;
        }
        self.settle_fair_shares();
        self.usage.associations.of(job).and_then(|place| self.fair_shares.get(place).copied()).unwrap_or(0.0)
    }

    /// Calculates fair shares from the usage of the last calculation, once.
    fn settle_fair_shares(&mut self) {
        if self.fair_shares.is_empty() {
            self.fair_shares = match self.settings.fair_share {
                FairShare::FairTree => fair_share::fair_tree(&self.usage.associations),
                FairShare::Classic => fair_share::classic(&self.usage.associations, f64::from(self.settings.dampening_factor)),
            };
        }
    }

    /// Makes the calculations that were due by now.
    fn catch_up(&mut self, now: UnixTime) {
        let period = self.settings.calculation_period.max(Seconds(1));
        while self.next_calculation <= now {
            self.usage.apply(self.next_calculation);
            self.fair_shares.clear();
            self.calculated_at = Some(self.next_calculation);
            self.next_calculation = self.next_calculation + period;
        }
    }

    /// Notes since when the job that has just come ages.
    fn note_latest(&mut self, waiting: &[Waiting]) {
        if let Some((key, now)) = self.latest.take() {
            let behind = waiting.partition_point(|entry| entry.key <= key);
            if let Some(entry) = behind.checked_sub(1).and_then(|place| waiting.get(place)) {
                self.ages_from.insert(entry.job, now);
            }
        }
    }
}

impl Order for Multifactor {
    fn key(&mut self, job: &Job, _expected: Seconds, now: UnixTime) -> i64 {
        self.catch_up(now);
        let key = -self.priority(job, Seconds::ZERO);
        self.latest = Some((key, now));
        key
    }

    fn reorder(&mut self, now: UnixTime, jobs: &[Job], waiting: &mut [Waiting]) -> bool {
        self.note_latest(waiting);
        self.catch_up(now);
        let Some(calculated_at) = self.calculated_at.take() else { return false };
        let mut ages_from = BTreeMap::new();
        for entry in &mut *waiting {
            let Some(job) = jobs.get(entry.job as usize) else { continue };
            let since = self.ages_from.get(&entry.job).copied().unwrap_or(job.submit);
            ages_from.insert(entry.job, since);
            // A job that came after the calculation still has its first priority.
            if since <= calculated_at {
                entry.key = -self.priority(job, calculated_at - since);
            }
        }
        self.ages_from = ages_from;
        let by_priority = |entry: &Waiting| (entry.key, entry.job);
        if waiting.is_sorted_by_key(by_priority) {
            return false;
        }
        waiting.sort_by_key(by_priority);
        true
    }

    fn started(&mut self, job: &Job, record: &Record) {
        if self.settings.weight_fair_share == 0 {
            return;
        }
        self.catch_up(record.start);
        if let Some(place) = self.usage.associations.of(job) {
            self.usage.started(record.start, place, job.processors);
        }
    }

    fn ended(&mut self, job: &Job, record: &Record) {
        if self.settings.weight_fair_share == 0 {
            return;
        }
        self.catch_up(record.end);
        // Fair shares are those of the last calculation, which this end comes after.
        self.settle_fair_shares();
        if let Some(place) = self.usage.associations.of(job) {
            self.usage.ended(record.start, record.end, place, job.processors);
        }
    }
}

#[cfg(test)]
mod tests;
