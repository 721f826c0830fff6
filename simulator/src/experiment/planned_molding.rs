//! The molding that the plugin ships with.

use std::collections::{BTreeSet, HashMap};

use predictor_core::decision::{Offer, Terms, limit_at, sizes_to_try};
use predictor_core::time::Seconds;

use super::Decider;
use super::expected_run_times::ExpectedRunTimes;
use super::waits::PastWaits;
use crate::engine::{Cluster, Job, JobIndex, Record, Submitted};
use crate::profile::Profile;

/// What the default does, or does not do, that can be changed to see what it is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// Jobs are made larger where many processors are free.
    pub growth: bool,
    /// Parts of the size as written and its double are tried; without it the sizes that the user ran.
    pub any_size: bool,
    /// Jobs at sizes that their user never ran are changed as well; their run times are forecast from others like them. The plugin leaves such jobs, because it is
    /// published no run times for them.
    pub first_runs: bool,
    /// Waits come from a plan of the queue, and not from what was learnt of past waits.
    pub plan: bool,
    /// What was decided about a user's jobs since the plan was made is counted for their later
    /// ones.
    pub claims: bool,
}

impl Default for Parts {
    fn default() -> Self {
        Self { growth: true, any_size: true, first_runs: false, plan: true, claims: true }
    }
}

/// Molding by a plan of the queue: [`Terms`] decide, the very same that the plugin decides by.
pub struct PlannedMolding {
    terms: Terms,
    parts: Parts,
    /// How old a plan gets before it is made anew.
    refresh_seconds: i64,
    longest_limit: i64,
    processors: i64,
    expected_run_times: ExpectedRunTimes,
    waits: Option<PastWaits>,
    /// By user: the sizes that jobs of theirs have ended at.
    sizes: HashMap<u32, BTreeSet<u32>>,
    plan: Option<Plan>,
    /// What the job that is decided about is expected to run.
    expected: Option<Seconds>,
}

/// The state that decisions rest on, as a snapshot holds it.
struct Plan {
    made_at: i64,
    profile: Profile,
    waiting_jobs: u64,
    /// By user: the jobs decided about since. As in the plugin, they count for the later jobs of
    /// the same user.
    claims: HashMap<u32, Claims>,
}

/// Jobs of one user, and their processors.
#[derive(Debug, Default, Clone, Copy)]
struct Claims {
    jobs: u64,
    processors: i64,
}

impl PlannedMolding {
    /// For a workload of so many jobs on a machine of so many processors on which no job runs longer than `longest_limit` seconds. A plan is made anew
    /// where it is older than `refresh_seconds`; with 0 each decision sees the present.
    #[must_use]
    pub fn new(jobs: usize, processors: u32, longest_limit: i64, refresh_seconds: i64, parts: Parts, seed: u64) -> Self {
        Self {
            terms: Terms::default(),
            parts,
            refresh_seconds,
            longest_limit,
            processors: i64::from(processors),
            expected_run_times: ExpectedRunTimes::new(jobs),
            waits: (!parts.plan).then(|| PastWaits::new(processors, seed)),
            sizes: HashMap::new(),
            plan: None,
            expected: None,
        }
    }

    fn renew_plan(&mut self, cluster: &Cluster) {
        let now = cluster.now_seconds();
        if self.plan.as_ref().is_some_and(|plan| now - plan.made_at < self.refresh_seconds) {
            return;
        }
        let waiting_jobs = cluster.waiting().len() as u64;
        self.plan = Some(Plan { made_at: now, profile: self.expected_run_times.plan(cluster), waiting_jobs, claims: HashMap::new() });
    }

    /// What a user's jobs have claimed since the plan was made.
    fn claimed(&self, user: u32) -> Claims {
        let plan = self.plan.as_ref().filter(|_| self.parts.claims);
        plan.and_then(|plan| plan.claims.get(&user)).copied().unwrap_or_default()
    }

    /// How long a job would wait that is expected to run so long.
    fn wait(&mut self, job: &Job, run_time: Seconds, now: i64) -> Option<Seconds> {
        if let Some(waits) = &mut self.waits {
            return Some(Seconds(waits.forecast_s(job, now, now) as i64));
        }
        let plan = self.plan.as_ref()?;
        // Those decided about since the plan was made take their processors at the same time, as far as there are so many.
        let wanted = (i64::from(job.processors) + self.claimed(job.user).processors).min(self.processors);
        let start = plan.profile.earliest(now, wanted, run_time.0)?;
        Some(Seconds(start - now))
    }

    /// The most processors that a job may grow to.
    fn room(&self, now: i64, written: &Job, run_time: Seconds) -> u64 {
        let Some(plan) = self.plan.as_ref().filter(|_| self.parts.growth) else { return 0 };
        let claimed = self.claimed(written.user);
        let free = plan.profile.free_at(now) - claimed.processors;
        let waiting = plan.waiting_jobs + if free <= 0 { claimed.jobs } else { 0 };
        self.terms.room_to_grow(written.processors, run_time, u64::try_from(free).unwrap_or(0), self.processors.unsigned_abs(), waiting)
    }
}

impl Decider for PlannedMolding {
    fn decide(&mut self, index: JobIndex, asked: &Job, cluster: &Cluster) -> Submitted {
        let now = cluster.now_seconds();
        self.renew_plan(cluster);
        let run_time = self.expected_run_times.run_time(index, asked);
        self.expected = Some(run_time);
        let unchanged = Submitted { job: *asked, eligible_seconds: now };
        let known = self.sizes.get(&asked.user);
        if !self.parts.first_runs && known.is_none_or(|known| !known.contains(&asked.processors)) {
            return unchanged;
        }
        let known: Vec<u32> = known.into_iter().flatten().copied().collect();
        let Some(wait) = self.wait(asked, run_time, now) else { return unchanged };
        let written = Offer { cpus: asked.processors, wait };
        let room = if wait == Seconds::ZERO { self.room(now, asked, run_time) } else { 0 };
        let mut sizes: Vec<u32> = if self.parts.any_size { sizes_to_try(asked.processors).collect() } else { known };
        sizes.retain(|size| *size != asked.processors && (*size < asked.processors || u64::from(*size) <= room));
        let mut offers: Vec<(Offer, i64)> = Vec::with_capacity(sizes.len());
        for processors in sizes {
            let limit = limit_at(Seconds(asked.estimate_seconds), asked.processors, processors);
            // A job that starts at once has nothing to gain from fewer processors.
            let is_pointless = processors < asked.processors && wait == Seconds::ZERO;
            if limit.0 > self.longest_limit || is_pointless {
                continue;
            }
            let job = Job { processors, estimate_seconds: limit.0, ..*asked };
            if let Some(wait) = self.wait(&job, self.terms.run_time(run_time, asked.processors, processors), now) {
                offers.push((Offer { cpus: processors, wait }, limit.0));
            }
        }
        let others: Vec<Offer> = offers.iter().map(|(offer, _)| *offer).collect();
        let best = self.terms.best(run_time, written, &others).and_then(|place| offers.get(place));
        let Some((offer, limit)) = best else { return unchanged };
        self.expected = Some(self.terms.run_time(run_time, asked.processors, offer.cpus));
        Submitted { job: Job { processors: offer.cpus, estimate_seconds: *limit, ..*asked }, eligible_seconds: now }
    }

    fn passed(&mut self, index: JobIndex, _asked: &Job, submitted: &Submitted, cluster: &Cluster) {
        let decided = self.expected.take();
        let expected = decided.unwrap_or_else(|| self.expected_run_times.run_time(index, &submitted.job));
        self.expected_run_times.passed(index, &submitted.job, expected);
        if let Some(plan) = self.plan.as_mut().filter(|_| decided.is_some()) {
            let claims = plan.claims.entry(submitted.job.user).or_default();
            claims.jobs += 1;
            claims.processors += i64::from(submitted.job.processors);
        }
        if let Some(waits) = &mut self.waits {
            waits.passed(index, &submitted.job, cluster.now_seconds(), submitted.eligible_seconds);
        }
    }

    fn started(&mut self, index: JobIndex, _job: &Job, record: &Record) {
        if let Some(waits) = &mut self.waits {
            waits.started(index, record.start_seconds);
        }
    }

    fn ended(&mut self, index: JobIndex, job: &Job, record: &Record) {
        self.sizes.entry(job.user).or_default().insert(job.processors);
        self.expected_run_times.ended(index, job, record);
        if let Some(waits) = &mut self.waits {
            waits.ended(index, record.end_seconds);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use predictor_core::decision::earliest;
    use predictor_core::time::UnixTime;
    use proptest::prelude::*;

    proptest! {
        /// The plugin searches the steps of the published plan, the simulator its own profile.
        #[test]
        fn the_plugin_and_the_simulator_find_the_same_start(
            taken in prop::collection::vec((0i64..500, 1i64..300, 1i64..40), 0..30), now in 0i64..600, wanted in 1i64..80, duration in 1i64..300,
        ) {
            let mut profile = Profile::new(0, 64);
            for (start, seconds, processors) in taken {
                if profile.earliest(start, processors, seconds) == Some(start) {
                    profile.take(start, start + seconds, processors);
                }
            }
            let steps: Vec<(UnixTime, u32)> = profile.steps().map(|(at, free)| (UnixTime(at), free as u32)).collect();
            let found = earliest(&steps, UnixTime(now), wanted as u64, Seconds(duration));
            prop_assert_eq!(found.map(|at| at.0), profile.earliest(now, wanted, duration));
        }
    }
}
