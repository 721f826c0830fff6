//! The jobs of a log, and which of them ask for reservations.

use job_types::time::Seconds;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::engine::Job;
use crate::swf::Log;
use crate::workload::{LoggedJob, Rules};

/// The first sound jobs of a log: those that ran, on some processors, for no longer than they had
/// asked for.
#[derive(Debug, Clone)]
pub struct SoundJobs {
    /// In order of submission.
    pub jobs: Vec<Job>,
    /// What the machine has, in the unit of the jobs' processors (R_N).
    pub processors: u32,
    /// How many asked for more than was allowed, and get as much as is allowed.
    pub made_smaller: usize,
}

/// A log in which there are not enough sound jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TooFewSoundJobs {
    /// No job says how long it was asked to run.
    #[error("the log does not say how long jobs were asked to run at most (field 9), which plans are made of")]
    NoTimeLimits,
    /// Fewer than are wanted.
    #[error(
        "{wanted} jobs are wanted that ran on processors for no longer than they had asked for, and the log has {found}; choose a smaller --jobs"
    )]
    Fewer {
        /// How many there are.
        found: usize,
        /// How many are wanted.
        wanted: usize,
    },
    /// Less than one unit.
    #[error("the machine of the log has {processors} processors, fewer than a node of --node-processors")]
    NoNode {
        /// Processors of the machine.
        processors: u32,
    },
}

/// How many jobs are requests: one of so many in a row (section 5.1).
pub(super) const BLOCK: usize = 10;

impl SoundJobs {
    /// Reads the first `wanted` of a log on a machine of so many processors. Sizes count nodes of
    /// `node_processors`; jobs that ask for more than `most_nodes` get that.
    ///
    /// # Errors
    ///
    /// [`TooFewSoundJobs`].
    pub fn of(log: &Log, processors: u32, wanted: usize, node_processors: u32, most_nodes: Option<u32>) -> Result<Self, TooFewSoundJobs> {
        let nodes = processors / node_processors.max(1);
        if nodes == 0 {
            return Err(TooFewSoundJobs::NoNode { processors });
        }
        let logged = || log.records.iter().map(LoggedJob::from);
        if logged().all(|job| job.limit.is_none()) {
            return Err(TooFewSoundJobs::NoTimeLimits);
        }
        let rules = Rules::of_policies();
        let is_sound = |job: &LoggedJob| job.limit.zip(job.run_time).is_some_and(|(limit, run_time)| run_time <= limit);
        let mut jobs: Vec<Job> = logged().filter(is_sound).filter_map(|job| rules.job(&job, processors)).collect();
        jobs.sort_by_key(|job| job.submit);
        if jobs.len() < wanted {
            return Err(TooFewSoundJobs::Fewer { found: jobs.len(), wanted });
        }
        jobs.truncate(wanted);
        let most = most_nodes.unwrap_or(nodes).clamp(1, nodes);
        let mut made_smaller = 0;
        for job in &mut jobs {
            let asked = job.processors.div_ceil(node_processors.max(1));
            made_smaller += usize::from(asked > most);
            job.processors = asked.min(most);
            job.run_time = job.run_time.max(Seconds(1));
        }
        Ok(Self { jobs, processors: nodes, made_smaller })
    }
}

/// A log with one job of each ten in a row taken out.
#[derive(Debug, Clone)]
pub(super) struct Drawn {
    /// Those that stay.
    pub(super) jobs: Vec<Job>,
    /// Those that ask for a reservation instead.
    pub(super) requests: Vec<Job>,
}

impl Drawn {
    /// Draws them. A block that is not whole has none.
    pub(super) fn of(sound: &SoundJobs, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut drawn = Self { jobs: Vec::with_capacity(sound.jobs.len()), requests: Vec::new() };
        for block in sound.jobs.chunks(BLOCK) {
            let place = if block.len() == BLOCK { random.random_range(0..BLOCK) } else { BLOCK };
            for (index, job) in block.iter().enumerate() {
                if index == place { &mut drawn.requests } else { &mut drawn.jobs }.push(*job);
            }
        }
        drawn
    }
}
