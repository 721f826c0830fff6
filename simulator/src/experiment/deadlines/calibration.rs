//! What was forecast of deadlines held against what happened, to jobs that the rule admits and to
//! those that it refuses, which run in shadow as others do.

use std::collections::BTreeMap;

use serde::Serialize;

/// What was forecast for a job that was kept or missed its deadline, and what became of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Forecasted {
    /// The probability that it would be done in time.
    pub(super) probability: f64,
    /// Whether the rule refuses it.
    pub(super) is_refused: bool,
    /// Whether it was done in time.
    pub(super) is_kept: bool,
    /// The job's queue, by its number in the log.
    pub(super) queue: u32,
    /// The job's processors.
    pub(super) processors: u32,
}

/// Jobs with what was forecast for them in the mean, beside the part that was in time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Held {
    /// The number of jobs.
    pub jobs: usize,
    /// The probability that was forecast, in the mean; `None` without a job.
    pub forecast: Option<f64>,
    /// The part of them that was done in time; `None` without a job.
    pub kept: Option<f64>,
}

/// A group of jobs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CalibrationGroup {
    /// What the jobs have in common.
    pub name: String,
    /// Those that the rule admits.
    pub admitted: Held,
    /// Those that it refuses.
    pub refused: Held,
}

/// Forecasts held against what happened, in groups of jobs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// All jobs.
    pub all: CalibrationGroup,
    /// By the probability that was forecast.
    pub by_forecast: Vec<CalibrationGroup>,
    /// By the log's queue, which is the partition.
    pub by_queue: Vec<CalibrationGroup>,
    /// By the job's processors.
    pub by_size: Vec<CalibrationGroup>,
}

/// Where the classes of forecasts begin, but for the first, which begins at 0.
const FORECASTS: [f64; 6] = [0.3, 0.5, 0.7, 0.8, 0.9, 0.95];

/// Up to which size each class reaches, in processors; the last holds what is larger.
const SIZES: [u32; 4] = [1, 8, 32, 128];

impl Held {
    fn of<'a>(jobs: impl Iterator<Item = &'a Forecasted>) -> Self {
        let (mut count, mut forecast, mut kept) = (0_usize, 0.0, 0_usize);
        for job in jobs {
            count += 1;
            forecast += job.probability;
            kept += usize::from(job.is_kept);
        }
        let mean = |sum: f64| (count > 0).then(|| sum / count as f64);
        Self { jobs: count, forecast: mean(forecast), kept: mean(kept as f64) }
    }
}

impl CalibrationGroup {
    fn of(name: String, jobs: &[Forecasted]) -> Self {
        let those = |is_refused: bool| Held::of(jobs.iter().filter(|job| job.is_refused == is_refused));
        Self { name, admitted: those(false), refused: those(true) }
    }
}

impl Calibration {
    pub(super) fn of(jobs: &[Forecasted]) -> Self {
        let class_of_forecast = |job: &Forecasted| FORECASTS.partition_point(|begin| *begin <= job.probability);
        let name_of_forecast = |class: usize| {
            let border = |class: Option<usize>, or: f64| class.and_then(|class| FORECASTS.get(class)).copied().unwrap_or(or);
            format!("{} to {}", border(class.checked_sub(1), 0.0), border(Some(class), 1.0))
        };
        let class_of_size = |job: &Forecasted| SIZES.partition_point(|most| *most < job.processors);
        let name_of_size = |class: usize| match (class.checked_sub(1).and_then(|class| SIZES.get(class)), SIZES.get(class)) {
            (None, most) => most.map_or_else(String::new, u32::to_string),
            (Some(least), Some(most)) => format!("{} to {most}", least + 1),
            (Some(least), None) => format!("over {least}"),
        };
        Self {
            all: CalibrationGroup::of("all".to_owned(), jobs),
            by_forecast: groups(jobs, class_of_forecast, name_of_forecast),
            by_queue: groups(jobs, |job| job.queue, |queue| queue.to_string()),
            by_size: groups(jobs, class_of_size, name_of_size),
        }
    }
}

/// The jobs in groups, of which none is empty, in the order of their classes.
fn groups<K: Ord + Copy>(jobs: &[Forecasted], class: impl Fn(&Forecasted) -> K, name: impl Fn(K) -> String) -> Vec<CalibrationGroup> {
    let mut by_class: BTreeMap<K, Vec<Forecasted>> = BTreeMap::new();
    for job in jobs {
        by_class.entry(class(job)).or_default().push(*job);
    }
    by_class.iter().map(|(class, jobs)| CalibrationGroup::of(name(*class), jobs)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(probability: f64, is_refused: bool, is_kept: bool, processors: u32) -> Forecasted {
        Forecasted { probability, is_refused, is_kept, queue: 3, processors }
    }

    #[test]
    fn forecasts_are_held_against_what_happened_to_admitted_and_refused_jobs() {
        let jobs = [job(0.9, false, true, 1), job(0.9, false, false, 8), job(0.2, true, true, 9), job(1.0, false, true, 500)];
        let found = Calibration::of(&jobs);
        assert_eq!((found.all.admitted.jobs, found.all.refused), (3, Held { jobs: 1, forecast: Some(0.2), kept: Some(1.0) }));
        let names = |groups: &[CalibrationGroup]| groups.iter().map(|group| group.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&found.by_forecast), ["0 to 0.3", "0.9 to 0.95", "0.95 to 1"]);
        assert_eq!(found.by_forecast[1].admitted, Held { jobs: 2, forecast: Some(0.9), kept: Some(0.5) });
        assert_eq!(found.by_forecast[1].refused, Held::default());
        assert_eq!(names(&found.by_size), ["1", "2 to 8", "9 to 32", "over 128"]);
        assert_eq!(names(&found.by_queue), ["3"]);
    }
}
