//! Jobs with deadlines, made of the last jobs of a log (Yeo and Buyya 2006, section 4).

use job_types::time::{Seconds, UnixTime};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::engine::shared::DeadlineJob;
use crate::swf::Record;
use crate::workload::{BadRecords, FOR_REPLAY, LoggedJob};

/// Which records of a log are replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastJobs {
    /// The number of jobs, counted from the last; the publication has 3,000.
    pub count: usize,
    /// How many nodes the machine has, each with one processor. A larger job gets all of them.
    pub nodes: u32,
    /// What becomes of records without a run time or processors. The publication's mean run time
    /// and mean time between arrivals are those of the last 3,000 records, these included.
    pub bad_records: BadRecords,
    /// Whether a job that ran longer than was asked for runs as long as was asked for, as where
    /// jobs are ended at their limit. Otherwise it outlives its estimate.
    pub cuts_overruns: bool,
}

/// A job of the log, before it has a deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BaseJob {
    /// Submission, on the clock of the log.
    pub submit: UnixTime,
    /// How long it ran, at least 1 s.
    pub run_time: Seconds,
    /// What its user asked for, at least 1 s; what it ran where the log does not say. It may be
    /// less than the run time: such jobs outlived what was asked for.
    pub estimate: Seconds,
    /// The number of nodes on which the job runs, at least 1.
    pub nodes: u32,
}

/// The last jobs of a log, in the order of their submissions.
#[must_use]
pub fn base_jobs(records: &[Record], wanted: &LastJobs) -> Vec<BaseJob> {
    let usable = |record: &Record| base_job(&LoggedJob::from(record), wanted);
    let mut jobs: Vec<BaseJob> = records.iter().rev().filter_map(usable).take(wanted.count).collect();
    jobs.reverse();
    jobs.sort_by_key(|job| job.submit);
    jobs
}

fn base_job(logged: &LoggedJob, wanted: &LastJobs) -> Option<BaseJob> {
    if wanted.bad_records == BadRecords::LeaveOut && logged.first_lack(&FOR_REPLAY).is_some() {
        return None;
    }
    let at_least_one = |duration: Seconds| duration.max(Seconds(1));
    let ran = at_least_one(logged.run_time.unwrap_or_default());
    let estimate = logged.limit.filter(|limit| *limit > Seconds::ZERO).unwrap_or(ran);
    Some(BaseJob {
        submit: logged.submit.unwrap_or_default(),
        run_time: if wanted.cuts_overruns { ran.min(estimate) } else { ran },
        estimate,
        nodes: logged.occupied().unwrap_or(1).min(wanted.nodes).max(1),
    })
}

/// How the jobs of the log get deadlines, and how the log is changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Urgencies {
    /// The times between arrivals of the log are multiplied by this (the arrival delay factor); 1
    /// is the log's own, 0 submits all jobs at once.
    pub arrival_delay: f64,
    /// The part of the jobs that are of high urgency.
    pub high_urgency: f64,
    /// Mean of deadline over run time for jobs of low urgency, over that for high urgency (the
    /// deadline high:low ratio).
    pub ratio: f64,
    /// Mean of deadline over run time for jobs of high urgency.
    pub low_mean: f64,
    /// The standard deviation of deadline over run time, over its mean. The publication does not
    /// say it.
    pub deviation: f64,
    /// How far estimates are from the run times: 0 for the run times themselves, 1 for what users
    /// asked for, and in proportion between them.
    pub inaccuracy: f64,
}

impl Default for Urgencies {
    /// The defaults of the publication, with the estimates of the log.
    fn default() -> Self {
        Self { arrival_delay: 1.0, high_urgency: 0.2, ratio: 4.0, low_mean: 4.0, deviation: 0.25, inaccuracy: 1.0 }
    }
}

impl Urgencies {
    /// The jobs with deadlines.
    ///
    /// Each job has random numbers of its own, which depend on the seed and on its place alone: a
    /// job has the same place within its class and within the distribution at every point of a
    /// figure. A deadline that would not be longer than the run time is drawn again, because it
    /// "is always assigned a higher factored value based on the real runtime".
    #[must_use]
    pub fn jobs(&self, base: &[BaseJob], seed: u64) -> Vec<DeadlineJob> {
        let first = base.first().map_or(UnixTime::default(), |job| job.submit);
        (0_u64..).zip(base).map(|(place, job)| self.job(job, first, &mut generator(seed, place))).collect()
    }

    fn job(&self, base: &BaseJob, first: UnixTime, generator: &mut ChaCha8Rng) -> DeadlineJob {
        let is_urgent = generator.random::<f64>() < self.high_urgency;
        let mean = if is_urgent { self.low_mean } else { self.low_mean * self.ratio };
        let run_s = base.run_time.0 as f64;
        let deadline_s = (run_s * self.factor(mean, generator)).ceil().max(run_s + 1.0);
        let since_first = (base.submit - first).0 as f64 * self.arrival_delay;
        let submit = UnixTime(since_first.round() as i64);
        let estimate_s = run_s + self.inaccuracy * (base.estimate.0 as f64 - run_s);
        DeadlineJob {
            submit,
            run_time: base.run_time,
            estimate: Seconds(estimate_s.round().max(1.0) as i64),
            nodes: base.nodes,
            deadline: submit + Seconds(deadline_s as i64),
        }
    }

    /// Deadline over run time, which is more than 1.
    fn factor(&self, mean: f64, generator: &mut ChaCha8Rng) -> f64 {
        // A mean of 1 or less would be drawn for ever.
        const MOST_DRAWS: usize = 1_000;
        let mut draws = (0..MOST_DRAWS).map(|_| {
            let normal: f64 = StandardNormal.sample(generator);
            mean * (1.0 + self.deviation * normal)
        });
        draws.find(|factor| *factor > 1.0).unwrap_or(mean.max(1.0))
    }
}

fn generator(seed: u64, place: u64) -> ChaCha8Rng {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(place);
    generator
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(count: i64) -> Vec<BaseJob> {
        let job = |n: i64| BaseJob { submit: UnixTime(1_000 + 600 * n), run_time: Seconds(100), estimate: Seconds(300), nodes: 4 };
        (0..count).map(job).collect()
    }

    fn factors(urgencies: Urgencies, seed: u64) -> Vec<f64> {
        urgencies.jobs(&base(4_000), seed).iter().map(|job| (job.deadline - job.submit).0 as f64 / 100.0).collect()
    }

    #[test]
    fn deadlines_over_run_times_have_the_means_and_deviations_that_are_asked_for() {
        for (high_urgency, mean) in [(1.0, 4.0), (0.0, 16.0)] {
            let drawn = factors(Urgencies { high_urgency, ..Urgencies::default() }, 1);
            let found = drawn.iter().sum::<f64>() / 4_000.0;
            let variance = drawn.iter().map(|factor| (factor - found).powi(2)).sum::<f64>() / 4_000.0;
            // Four standard errors of the mean; deadlines are rounded up by half a per cent.
            assert!((found - mean).abs() < 0.01 + 4.0 * 0.25 * mean / 4_000_f64.sqrt(), "{found}");
            assert!((variance.sqrt() / mean - 0.25).abs() < 0.02, "{variance}");
            assert!(drawn.iter().all(|factor| *factor > 1.0));
        }
        // Wide enough that one in six would not be longer than the run time.
        let wide = factors(Urgencies { high_urgency: 1.0, low_mean: 2.0, deviation: 0.5, ..Urgencies::default() }, 1);
        assert!(wide.iter().all(|factor| *factor > 1.0));
    }

    #[test]
    fn a_fifth_of_the_jobs_are_of_high_urgency_and_the_same_jobs_whatever_else_changes() {
        let urgent = |ratio, seed| {
            let factors = factors(Urgencies { ratio, deviation: 0.01, ..Urgencies::default() }, seed);
            factors.iter().map(|factor| *factor < 6.0).collect::<Vec<_>>()
        };
        let share = urgent(4.0, 1).iter().filter(|is_urgent| **is_urgent).count() as f64 / 4_000.0;
        assert!((share - 0.2).abs() < 4.0 * (0.2 * 0.8 / 4_000_f64).sqrt(), "{share}");
        assert_eq!(urgent(4.0, 1), urgent(10.0, 1));
        assert_ne!(urgent(4.0, 1), urgent(4.0, 2));
    }

    #[test]
    fn the_arrival_delay_factor_and_the_inaccuracy_are_in_proportion() {
        let job = |arrival_delay, inaccuracy| Urgencies { arrival_delay, inaccuracy, ..Urgencies::default() }.jobs(&base(3), 1)[2];
        assert_eq!([0.0, 0.1, 1.0].map(|delay| job(delay, 1.0).submit.0), [0, 120, 1_200]);
        assert_eq!([0.0, 0.5, 1.0].map(|inaccuracy| job(1.0, inaccuracy).estimate.0), [100, 200, 300]);
    }

    #[test]
    fn the_last_records_are_taken_with_those_that_have_no_run_time_or_without() {
        let record = |run: u64, submit: u64| Record {
            submit_time_seconds: Some(submit),
            run_time_seconds: Some(run),
            requested_time_seconds: Some(50),
            allocated_processors: Some(200),
            ..Record::default()
        };
        let records = [record(60, 10), record(70, 20), record(0, 30), record(80, 40)];
        let of = |bad_records, cuts_overruns| base_jobs(&records, &LastJobs { count: 2, nodes: 128, bad_records, cuts_overruns });
        let figures =
            |jobs: Vec<BaseJob>| jobs.iter().map(|job| (job.submit.0, job.run_time.0, job.estimate.0, job.nodes)).collect::<Vec<_>>();
        assert_eq!(figures(of(BadRecords::OneSecond, false)), [(30, 1, 50, 128), (40, 80, 50, 128)]);
        assert_eq!(figures(of(BadRecords::LeaveOut, false)), [(20, 70, 50, 128), (40, 80, 50, 128)]);
        // Run times beyond what was asked for are cut.
        assert_eq!(figures(of(BadRecords::OneSecond, true)), [(30, 1, 50, 128), (40, 50, 50, 128)]);
    }
}
