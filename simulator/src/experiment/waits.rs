//! Point forecasts of waits by the default predictor, for a published method of molding: the
//! machine and its queue are seen as they are.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use job_types::time::{Seconds, UnixTime};
use learning::sweep::Sweep;
use learning::training::Training;
use learning::waits::blended::{BlendedWaits, Settings};

use super::expected_run_times::waiting_job;
use crate::engine::{Job, JobIndex};

/// The default forecast of waits, which learns from what happens in the simulation.
pub(super) struct PastWaits {
    sweep: Sweep,
    waits: BlendedWaits,
    /// Rows of the jobs that have arrived and not ended.
    rows: HashMap<JobIndex, u32>,
    /// Jobs that are held until a time.
    held: BinaryHeap<Reverse<(UnixTime, JobIndex)>>,
    held_jobs: HashMap<JobIndex, Job>,
}

impl PastWaits {
    /// Knows nothing of a machine of so many processors.
    pub(super) fn new(processors: u32, seed: u64) -> Self {
        let defaults = Settings::default();
        // Trained half as often as by the daemon, and on fewer jobs: this is most of the time that
        // an experiment takes.
        let training = Training { seed, ..defaults.training };
        let settings = Settings { training_interval: 2_000, most_training: 20_000, training, ..defaults };
        Self {
            sweep: Sweep::new(processors, 0),
            waits: BlendedWaits::new(settings),
            rows: HashMap::new(),
            held: BinaryHeap::new(),
            held_jobs: HashMap::new(),
        }
    }

    /// Forecast wait in seconds of a job that would come into the queue at a time, now or later.
    pub(super) fn forecast_s(&mut self, job: &Job, now: UnixTime, eligible: UnixTime) -> f64 {
        self.release_until(now);
        let features = self.sweep.look(&waiting_job(job, eligible), now);
        self.waits.point_s(&features)
    }

    /// A job is submitted that comes into the queue at a time, now or later.
    pub(super) fn passed(&mut self, index: JobIndex, job: &Job, now: UnixTime, eligible: UnixTime) {
        self.release_until(now);
        if eligible > now {
            self.held.push(Reverse((eligible, index)));
            self.held_jobs.insert(index, *job);
        } else {
            self.arrive(index, job, now);
        }
    }

    fn release_until(&mut self, now: UnixTime) {
        while let Some(&Reverse((eligible, index))) = self.held.peek()
            && eligible <= now
        {
            self.held.pop();
            if let Some(job) = self.held_jobs.remove(&index) {
                self.arrive(index, &job, eligible);
            }
        }
    }

    fn arrive(&mut self, index: JobIndex, job: &Job, at: UnixTime) {
        let row = self.sweep.arrive(&waiting_job(job, at));
        self.rows.insert(index, row);
        if let Some(retraining) = self.waits.retraining(self.sweep.arrivals())
            && let Ok(retrained) = retraining.run()
        {
            self.waits.adopt(retrained);
        }
        self.waits.arrive(self.sweep.arrivals(), row as usize);
    }

    /// A job has started.
    pub(super) fn started(&mut self, index: JobIndex, at: UnixTime) {
        self.release_until(at);
        let Some(&row) = self.rows.get(&index) else { return };
        self.sweep.start(row, at);
        self.waits.learn(self.sweep.arrivals(), row as usize);
    }

    /// A job has ended.
    pub(super) fn ended(&mut self, index: JobIndex, at: UnixTime) {
        self.release_until(at);
        if let Some(row) = self.rows.remove(&index) {
            self.sweep.end(row, at, Seconds::ZERO);
        }
    }
}
