//! QBETS: bounds on waits from the waits of like jobs (Nurmi, Brevik, Wolski, JSSPP 2007; Brevik,
//! Nurmi, Wolski, PPoPP 2006).
//!
//! A time in which the whole machine was down is no part of a wait ([`downtimes`]).
//!
//! The jobs of a partition fall into classes of like delay by their size and time limit
//! ([`regions`]). The waits of a class, as far back as they have not changed, bound any quantile of
//! the next wait at any confidence by an order statistic ([`crate::binomial`]). They have changed
//! when more waits in a row than is usual lie above the bound ([`rare_runs`]); then as many are
//! kept as a bound needs.
//!
//! Where the publications are silent: changes are looked for at the bounds on the quantiles 0.5,
//! 0.75 and 0.95 separately, so that a rise of the median is noticed that leaves the 0.95 quantile
//! alone, at the moment when a wait becomes known; the autocorrelation is that of the class's
//! latest waits; the classes of a partition are found anew whenever its history has grown by half,
//! and every 4,096 jobs once it is long.

mod downtimes;
mod rare_runs;
mod regions;
mod series;

use crate::sweep::Arrivals;
use downtimes::Downtimes;
use job_types::job::WaitingJob;
use job_types::number::PartitionIndex;
use job_types::time::Seconds;
use predictor_core::forecasts::forecast::{ClassBounds, PERCENTILES, UNBOUNDED_S};
use regions::{Delay, Division, Region};
use serde::{Deserialize, Serialize};
use series::{PercentileRanks, Ranks, Series, fewest_observations};
use std::collections::{BTreeMap, VecDeque};

/// The confidence at which QBETS bounds quantiles, unless another is asked for.
pub const CONFIDENCE: f64 = 0.95;

/// The quantile whose bound is the point forecast: QBETS answers with the bound on the 0.95
/// quantile, and table V of Hariharan et al. 2020 has errors that only that explains.
pub const POINT_QUANTILE: f64 = 0.95;

/// Most waits kept of each partition and of each class.
const MOST_WAITS: usize = 16_384;

/// Started jobs after which the classes of a partition are found anew, at most.
const RECLUSTER_JOBS: usize = 4_096;

/// A class begins with at least so many times the waits that a bound needs.
const CLASS_TIMES: usize = 2;

/// Which jobs of a partition are taken to wait alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Classes {
    /// Those of which a clustering by size and time limit finds it (Nurmi, Brevik and Wolski,
    /// JSSPP 2007).
    #[default]
    Found,
    /// Those of a range of processor counts, with whatever time limit (Brevik, Nurmi and Wolski,
    /// PPoPP 2006). The ranges are chosen here: 1 to 4, 5 to 16, 17 to 64, and more.
    BySize,
}

/// The history of one partition.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Partition {
    recent: VecDeque<Delay>,
    all: Series,
    regions: Vec<Region>,
    classes: Vec<Series>,
    learnt: usize,
    recluster_at: usize,
}

/// Learns waits as jobs start, and bounds those of jobs to come.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Qbets {
    partitions: BTreeMap<PartitionIndex, Partition>,
    all: Series,
    downtimes: Downtimes,
    /// What ships finds its classes.
    #[serde(skip)]
    by: Classes,
    #[serde(skip)]
    ranks: Ranks,
    #[serde(skip)]
    percentile_ranks: PercentileRanks,
}

impl Default for Qbets {
    fn default() -> Qbets {
        Qbets::new()
    }
}

impl Partition {
    fn new(by: Classes) -> Partition {
        let (regions, recluster_at) = match by {
            Classes::Found => (vec![Region::whole()], 2 * CLASS_TIMES * fewest_observations(POINT_QUANTILE, CONFIDENCE)),
            Classes::BySize => (Region::by_size(), usize::MAX),
        };
        Partition {
            recent: VecDeque::new(),
            all: Series::new(MOST_WAITS),
            classes: vec![Series::new(MOST_WAITS); regions.len()],
            regions,
            learnt: 0,
            recluster_at,
        }
    }

    fn class(&self, cpus: u32, limit_s: u32) -> Option<usize> {
        self.regions.iter().find(|region| region.holds(cpus, limit_s)).map(|region| region.class)
    }

    fn push(&mut self, delay: Delay, ranks: &mut Ranks) {
        if self.recent.len() == MOST_WAITS {
            self.recent.pop_front();
        }
        self.recent.push_back(delay);
        self.all.push(delay.wait_s, ranks);
        self.push_to_class(delay, ranks);
        self.learnt += 1;
        if self.learnt >= self.recluster_at {
            self.recluster(ranks);
            self.recluster_at = self.learnt + (self.learnt / 2).min(RECLUSTER_JOBS);
        }
    }

    fn push_to_class(&mut self, delay: Delay, ranks: &mut Ranks) {
        let class = self.class(delay.cpus, delay.limit_s).unwrap_or(0);
        if let Some(series) = self.classes.get_mut(class) {
            series.push(delay.wait_s, ranks);
        }
    }

    /// Finds the classes anew and tells each its waits again.
    fn recluster(&mut self, ranks: &mut Ranks) {
        let fewest = CLASS_TIMES * fewest_observations(POINT_QUANTILE, CONFIDENCE);
        let division = Division { fewest, autocorrelation: self.all.autocorrelation() };
        let regions = division.regions(self.recent.make_contiguous());
        if regions == self.regions {
            return;
        }
        let classes = regions.iter().map(|region| region.class + 1).max().unwrap_or(1);
        self.regions = regions;
        self.classes = vec![Series::new(MOST_WAITS); classes];
        for index in 0..self.recent.len() {
            if let Some(delay) = self.recent.get(index).copied() {
                self.push_to_class(delay, ranks);
            }
        }
    }
}

/// What the class of a job says of its wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassForecast {
    /// The median of the waits of the class in seconds, as such and not as a bound.
    pub median_s: u32,
    /// Upper bounds on the percentiles 1 to 99 of the wait in seconds; [`UNBOUNDED_S`] where the
    /// waits are too few.
    pub bounds_s: [u32; PERCENTILES],
}

impl ClassForecast {
    /// The bounds as a distribution that can be held against a wait: where there are too few waits
    /// for a percentile, the bound on the one before stands for it. `None` where there are too few
    /// for any.
    #[must_use]
    pub fn distribution_s(&self) -> Option<[u32; PERCENTILES]> {
        let known = self.bounds_s.iter().rev().find(|bound_s| **bound_s != UNBOUNDED_S).copied()?;
        Some(self.bounds_s.map(|bound_s| if bound_s == UNBOUNDED_S { known } else { bound_s }))
    }
}

/// Bounds that never descend, [`UNBOUNDED_S`] where there is none.
fn ascending(bounds_s: [Option<u32>; PERCENTILES]) -> [u32; PERCENTILES] {
    let mut least = 0;
    bounds_s.map(|bound_s| {
        least = bound_s.unwrap_or(UNBOUNDED_S).max(least);
        least
    })
}

fn limit_s(job: &WaitingJob) -> u32 {
    job.limit.map_or(u32::MAX, Seconds::clamped_u32)
}

impl Qbets {
    /// Before any job has started, with classes that are found.
    #[must_use]
    pub fn new() -> Qbets {
        Qbets::with_classes(Classes::Found)
    }

    /// Before any job has started.
    #[must_use]
    pub fn with_classes(by: Classes) -> Qbets {
        Qbets {
            by,
            partitions: BTreeMap::new(),
            all: Series::new(MOST_WAITS),
            downtimes: Downtimes::default(),
            ranks: Ranks::default(),
            percentile_ranks: PercentileRanks::default(),
        }
    }

    /// A job has started after this wait. Jobs are told in the order of their starts.
    pub fn observe(&mut self, job: &WaitingJob, wait: Seconds) {
        let wait = wait - self.downtimes.start(job.eligible, job.eligible + wait);
        let delay = Delay { cpus: job.size.cpus, limit_s: limit_s(job), wait_s: wait.clamped_u32() };
        self.all.push(delay.wait_s, &mut self.ranks);
        self.partitions.entry(job.partition).or_insert_with(|| Partition::new(self.by)).push(delay, &mut self.ranks);
    }

    /// Histories that may answer for a job, the most like it first: its class, its partition, the
    /// cluster.
    fn histories(&self, job: &WaitingJob) -> impl Iterator<Item = &Series> + Clone {
        let partition = self.partitions.get(&job.partition);
        let class = partition.and_then(|partition| partition.classes.get(partition.class(job.size.cpus, limit_s(job))?));
        class.into_iter().chain(partition.map(|partition| &partition.all)).chain([&self.all])
    }

    /// An upper bound on a quantile of the wait of a job, that holds with the confidence; `None`
    /// while too few jobs have started.
    #[must_use]
    pub fn bound_of(&self, job: &WaitingJob, quantile: f64, confidence: f64) -> Option<Seconds> {
        self.histories(job).find_map(|series| series.bound_s(quantile, confidence)).map(|bound_s| Seconds(i64::from(bound_s)))
    }

    /// [`Qbets::bound_of`] the job of a row.
    #[must_use]
    pub fn bound(&self, past: &Arrivals, row: usize, quantile: f64, confidence: f64) -> Option<Seconds> {
        self.bound_of(past.job(row)?.submitted(), quantile, confidence)
    }

    /// The probability that a job starts within a time, a lower bound that holds with the
    /// confidence: the largest quantile whose bound is no longer. `None` while no job has started.
    #[must_use]
    pub fn probability_within_of(&self, job: &WaitingJob, within: Seconds, confidence: f64) -> Option<f64> {
        let enough = fewest_observations(POINT_QUANTILE, confidence);
        let mut histories = self.histories(job).filter(|series| series.len() > 0);
        // The class, unless it is too short to tell large probabilities.
        let series = histories.clone().find(|series| series.len() >= enough).or_else(|| histories.next())?;
        series.probability_within(within.clamped_u32(), confidence)
    }

    /// [`Qbets::probability_within_of`] the job of a row.
    #[must_use]
    pub fn probability_within(&self, past: &Arrivals, row: usize, within: Seconds, confidence: f64) -> Option<f64> {
        self.probability_within_of(past.job(row)?.submitted(), within, confidence)
    }

    /// The median of the waits of like jobs, as such and not as a bound; `None` while no job has
    /// started.
    #[must_use]
    pub fn median(&self, past: &Arrivals, row: usize) -> Option<Seconds> {
        self.histories(past.job(row)?.submitted()).find_map(Series::median_s).map(|median_s| Seconds(i64::from(median_s)))
    }

    /// The forecast of a job's wait at the confidence at which bounds were last asked for by
    /// [`Qbets::classes`], [`CONFIDENCE`] before: the one that [`Qbets::classes`] would publish for
    /// its class. `None` while the job's partition has no waits.
    pub fn forecast(&mut self, job: &WaitingJob) -> Option<ClassForecast> {
        let ranks = &mut self.percentile_ranks;
        let partition = self.partitions.get_mut(&job.partition)?;
        let class = partition.class(job.size.cpus, limit_s(job))?;
        let series = partition.classes.get_mut(class)?;
        let median_s = series.median_s().unwrap_or(0);
        let mut bounds_s = series.percentile_bounds_s(ranks);
        for wider in [&mut partition.all, &mut self.all] {
            if bounds_s.iter().all(Option::is_some) {
                break;
            }
            let of_wider = wider.percentile_bounds_s(ranks);
            bounds_s.iter_mut().zip(of_wider).for_each(|(bound_s, wider)| *bound_s = bound_s.or(wider));
        }
        Some(ClassForecast { median_s, bounds_s: ascending(bounds_s) })
    }

    /// The classes found, partition by partition, with their bounds at the confidence. A percentile
    /// that a class has too few waits for has the bound of its partition, or else of the cluster,
    /// as in [`Qbets::bound_of`]; bounds never descend.
    pub fn classes(&mut self, confidence: f64) -> Vec<ClassBounds> {
        if self.percentile_ranks.confidence() != confidence {
            self.percentile_ranks = PercentileRanks::new(confidence);
        }
        let ranks = &mut self.percentile_ranks;
        let of_cluster = self.all.percentile_bounds_s(ranks);
        let mut classes = Vec::new();
        for (index, partition) in &mut self.partitions {
            let of_partition = partition.all.percentile_bounds_s(ranks);
            for region in &partition.regions {
                let Some(series) = partition.classes.get_mut(region.class) else { continue };
                let mut bounds_s = series.percentile_bounds_s(ranks);
                for (bound_s, (of_partition, of_cluster)) in bounds_s.iter_mut().zip(of_partition.into_iter().zip(of_cluster)) {
                    *bound_s = bound_s.or(of_partition).or(of_cluster);
                }
                classes.push(ClassBounds {
                    partition: *index,
                    cpus: region.cpus.clone(),
                    limit_s: region.limit_s.clone(),
                    class: region.class,
                    jobs: series.len(),
                    changes: series.changes(),
                    bounds_s: ascending(bounds_s),
                    median_s: series.median_s().unwrap_or(0),
                });
            }
        }
        classes
    }

    /// How many downtimes of the machine were found, and how long they lasted together.
    #[must_use]
    pub fn downtimes(&self) -> (u32, Seconds) {
        self.downtimes.found()
    }
}

#[cfg(test)]
mod tests;
