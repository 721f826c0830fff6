//! The forecasts job by job, and how often they held in parts of the jobs: coverage over all of
//! them hides who pays for it.

use job_types::number::PartitionIndex;
use std::collections::BTreeMap;

use job_types::job::{Job, WaitingJob};
use predictor_core::forecasts::class::{cpus_of_size_class, size_class};

use super::coverage::{bound_coverage, coverage, percentile};
use super::methods::Bounds;
use crate::evaluation::averages::{mean, median};
use crate::evaluation::report::{ByMethod, JobForecast, PartReport, QUANTILES, QueueReport, SizeReport};

/// The absolute errors of point forecasts by method; `None` for a job for which the method, or what
/// was in force, had none.
pub(super) type Errors = ByMethod<Vec<Option<f64>>>;

/// The jobs of the test part and what was forecast for them; all slices are in the order of the
/// jobs.
pub(super) struct Tried<'a> {
    pub(super) jobs: &'a [&'a Job],
    /// What the log calls the jobs' partitions.
    pub(super) queues: &'a [String],
    pub(super) waits_s: &'a [f64],
    /// The absolute errors of the point forecasts by method, in hours.
    pub(super) errors_hours: &'a Errors,
    /// The default's point forecasts, in seconds.
    pub(super) points_s: &'a [f64],
    pub(super) bounds: &'a [Option<Bounds>],
    /// The probability integral transforms of the waits under the default's bounds; `None` where it
    /// had none.
    pub(super) transforms: &'a [Option<f64>],
    pub(super) qbets_bounds: &'a [Option<Bounds>],
    /// The source whose forecasts were in force.
    pub(super) in_force: &'a [&'static str],
    /// The point forecasts that were in force, in seconds.
    pub(super) in_force_points_s: &'a [Option<f64>],
    /// The transforms of the waits under the bounds that were in force.
    pub(super) in_force_transforms: &'a [Option<f64>],
}

impl Tried<'_> {
    /// Parts of all jobs by whose forecasts were in force.
    pub(super) fn in_force(&self) -> BTreeMap<&'static str, f64> {
        parts(self.in_force.iter().copied())
    }

    /// Coverage by queue, in the order of the queues' indices; queues without jobs are left out.
    pub(super) fn by_queue(&self) -> Vec<QueueReport> {
        let places = self.grouped(|job| job.partition);
        places.into_iter().map(|(queue, places)| QueueReport { queue: self.queue(queue), part: self.part(&places) }).collect()
    }

    /// Coverage by class of size; classes without jobs are left out.
    pub(super) fn by_size(&self) -> Vec<SizeReport> {
        let report = |(class, places): (u8, Vec<usize>)| {
            let cpus = cpus_of_size_class(class);
            SizeReport {
                at_least_processors: *cpus.start(),
                at_most_processors: Some(*cpus.end()).filter(|most| *most < u32::MAX),
                part: self.part(&places),
            }
        };
        self.grouped(|job| size_class(job.size)).into_iter().map(report).collect()
    }

    /// Each job with its forecasts; the first has the number `first`.
    pub(super) fn forecasts(&self, first: usize) -> Vec<JobForecast> {
        let forecast = |(place, job): (usize, &&Job)| {
            let submitted = job.submitted();
            let bounds = self.bounds.get(place).and_then(Option::as_ref);
            let quantiles_s = |bounds: &Bounds| QUANTILES.map(|quantile| percentile(bounds, quantile));
            JobForecast {
                job: first + place,
                submit: submitted.eligible.0,
                queue: self.queue(submitted.partition),
                processors: submitted.size.cpus,
                limit_s: submitted.limit.map(|limit| limit.0),
                point_s: self.points_s.get(place).copied().unwrap_or_default(),
                quantiles_s: bounds.map(quantiles_s),
                wait_s: job.wait().map_or(0, |wait| wait.0),
                transform: self.transforms.get(place).copied().flatten(),
                in_force: self.in_force.get(place).copied().unwrap_or_default(),
                in_force_point_s: self.in_force_points_s.get(place).copied().flatten(),
                qbets_quantiles_s: self.qbets_bounds.get(place).and_then(Option::as_ref).map(quantiles_s),
            }
        };
        self.jobs.iter().enumerate().map(forecast).collect()
    }

    fn queue(&self, index: PartitionIndex) -> String {
        self.queues.get(usize::from(index.0)).cloned().unwrap_or_else(|| index.to_string())
    }

    /// Places of the jobs by what they have in common.
    fn grouped<K: Ord>(&self, key: impl Fn(&WaitingJob) -> K) -> BTreeMap<K, Vec<usize>> {
        let mut places: BTreeMap<K, Vec<usize>> = BTreeMap::new();
        for (place, job) in self.jobs.iter().enumerate() {
            places.entry(key(job.submitted())).or_default().push(place);
        }
        places
    }

    fn part(&self, places: &[usize]) -> PartReport {
        let at_places = |all: &[Option<f64>]| -> Vec<Option<f64>> { places.iter().filter_map(|place| all.get(*place).copied()).collect() };
        let transforms = at_places(self.transforms);
        let of_qbets = places.iter().filter_map(|place| Some((self.qbets_bounds.get(*place)?, self.waits_s.get(*place)?)));
        let errors_hours = |errors: &Vec<Option<f64>>| -> Vec<f64> { at_places(errors).into_iter().flatten().collect() };
        PartReport {
            jobs: places.len(),
            jobs_without_bounds: transforms.iter().filter(|transform| transform.is_none()).count(),
            aae_hours: self.errors_hours.iter().map(|(name, errors)| (*name, mean(errors_hours(errors)))).collect(),
            median_ae_hours_by_method: self.errors_hours.iter().map(|(name, errors)| (*name, median(errors_hours(errors)))).collect(),
            coverage: coverage(&transforms),
            qbets_coverage: bound_coverage(of_qbets),
            in_force_coverage: coverage(&at_places(self.in_force_transforms)),
            in_force: parts(places.iter().filter_map(|place| self.in_force.get(*place).copied())),
        }
    }
}

/// Which part of the words is which.
fn parts(words: impl Iterator<Item = &'static str> + Clone) -> BTreeMap<&'static str, f64> {
    let all = words.clone().count().max(1) as f64;
    let mut parts = BTreeMap::new();
    for word in words {
        *parts.entry(word).or_insert(0.0) += 1.0 / all;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::report::IN_FORCE;
    use job_types::job::EndedJob;
    use job_types::number::{AccountIndex, QosIndex, UserId};
    use job_types::size::Size;
    use job_types::time::{Seconds, UnixTime};
    use predictor_core::forecasts::forecast::PERCENTILES;

    fn job(partition: PartitionIndex, cpus: u32, wait_s: i64) -> EndedJob {
        EndedJob {
            submitted: WaitingJob {
                user: UserId(1),
                account: AccountIndex(0),
                partition,
                qos: QosIndex(0),
                size: Size { nodes: cpus, cpus },
                limit: Some(Seconds(600)),
                eligible: UnixTime(1_000),
            },
            allocated: None,
            start: Some(UnixTime(1_000 + wait_s)),
            end: UnixTime(2_000 + wait_s),
            suspended: Seconds::ZERO,
        }
    }

    #[test]
    fn a_queue_whose_bounds_fail_is_seen_beside_one_whose_bounds_are_too_long() {
        // Bounds of 1 to 99 s. In queue 1 nobody waits as long, in queue 2 of small jobs everybody
        // longer.
        let jobs =
            [job(PartitionIndex(0), 64, 0), job(PartitionIndex(0), 20, 0), job(PartitionIndex(1), 1, 500), job(PartitionIndex(1), 4, 500)];
        let jobs: Vec<Job> = jobs.into_iter().map(Job::from).collect();
        let jobs: Vec<&Job> = jobs.iter().collect();
        let bounds = vec![Some(std::array::from_fn::<u32, PERCENTILES, _>(|index| index as u32 + 1)); 4];
        let tried = Tried {
            jobs: &jobs,
            queues: &["1".to_owned(), "2/3".to_owned()],
            waits_s: &[0.0, 0.0, 500.0, 500.0],
            points_s: &[50.0; 4],
            errors_hours: &[
                ("best", [50.0, 50.0, 450.0, 452.0].map(Some).to_vec()),
                (IN_FORCE, vec![Some(50.0), None, Some(440.0), Some(452.0)]),
            ]
            .into(),
            bounds: &bounds,
            transforms: &[0.004, 0.006, 0.996, 0.994].map(Some),
            qbets_bounds: &bounds,
            in_force: &["blended", "blended", "qbets", "blended"],
            in_force_points_s: &[Some(50.0), None, Some(60.0), Some(50.0)],
            in_force_transforms: &[Some(0.004), None, Some(0.5), Some(0.994)],
        };
        let [first, second] = tried.by_queue().try_into().unwrap();
        assert_eq!(
            (first.queue.as_str(), first.part.jobs, first.part.coverage["0.5"], first.part.qbets_coverage["0.95"]),
            ("1", 2, 1.0, 1.0)
        );
        assert_eq!((second.queue.as_str(), second.part.jobs, second.part.coverage["0.95"]), ("2/3", 2, 0.0));
        assert_eq!((second.part.qbets_coverage["0.95"], second.part.in_force["qbets"]), (0.0, 0.5));
        assert_eq!((first.part.aae_hours["best"], second.part.aae_hours["best"]), (50.0, 451.0));
        assert_eq!(second.part.median_ae_hours_by_method["best"], 452.0, "the upper one of two");
        assert_eq!((first.part.aae_hours[IN_FORCE], second.part.aae_hours[IN_FORCE]), (50.0, 446.0), "of those that had any");
        assert_eq!((first.part.in_force_coverage["0.95"], second.part.in_force_coverage["0.95"]), (1.0, 0.5));
        let sizes: Vec<_> =
            tried.by_size().iter().map(|size| (size.at_least_processors, size.at_most_processors, size.part.jobs)).collect();
        assert_eq!(sizes, [(1, Some(1), 1), (2, Some(4), 1), (17, Some(64), 2)]);
        assert_eq!(tried.in_force(), [("blended", 0.75), ("qbets", 0.25)].into());

        let rows = tried.forecasts(101);
        assert_eq!(
            (rows[2].job, rows[2].queue.as_str(), rows[2].wait_s, rows[2].quantiles_s.unwrap()[3], rows[2].in_force),
            (103, "2/3", 500, 95, "qbets")
        );
        assert_eq!((rows[1].in_force_point_s, rows[2].in_force_point_s), (None, Some(60.0)));
        assert_eq!((rows[0].transform, rows[0].qbets_quantiles_s.unwrap()[0], rows[0].limit_s), (Some(0.004), 50, Some(600)));
    }

    #[test]
    fn jobs_without_bounds_are_counted_and_are_in_no_coverage() {
        let jobs = [job(PartitionIndex(0), 1, 5), job(PartitionIndex(0), 1, 500), job(PartitionIndex(1), 1, 5)].map(Job::from);
        let jobs: Vec<&Job> = jobs.iter().collect();
        let bounds = [Some([10; PERCENTILES]), None, None];
        let tried = Tried {
            jobs: &jobs,
            queues: &[],
            waits_s: &[5.0, 500.0, 5.0],
            points_s: &[0.0; 3],
            errors_hours: &ByMethod::new(),
            bounds: &bounds,
            transforms: &[Some(0.01), None, None],
            qbets_bounds: &bounds,
            in_force: &["none"; 3],
            in_force_points_s: &[None; 3],
            in_force_transforms: &[None; 3],
        };
        let [first, second] = tried.by_queue().try_into().unwrap();
        assert_eq!((first.part.jobs, first.part.jobs_without_bounds, first.part.coverage["0.95"]), (2, 1, 1.0));
        assert_eq!((second.part.jobs, second.part.jobs_without_bounds), (1, 1));
        assert!(second.part.coverage.is_empty() && second.part.qbets_coverage.is_empty());
    }
}
