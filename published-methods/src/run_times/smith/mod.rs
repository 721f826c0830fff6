//! Templates of job characteristics, found by genetic search (Smith, Foster, Taylor: Predicting
//! Application Run Times with Historical Information, JPDC 64, 2004; first in JSSPP 1998).
//!
//! Each template sorts the jobs into categories. A job's run time is estimated from each category
//! that it belongs to, and the estimate with the smallest confidence interval is taken. Where the
//! publication leaves open of what the interval is, it is here that of one further run time, not of
//! the mean, which would always prefer the largest category.

mod category;
mod template;

use self::category::{Category, Students};
use self::template::{CategoryKey, GENES};
use super::replay::replay;
use crate::genetic::Evolution;
use job_types::job::EndedJob;
use job_types::time::{Seconds, UnixTime};
use learning::run_times::{ArrivingJob, RunTimePrediction, RunTimePredictor};
use learning::sweep::Event;
use std::collections::HashMap;

pub use template::{Estimate as SmithEstimate, SmithTemplate};

/// Most templates of a set, as in the publication.
const MOST_TEMPLATES: usize = 10;

/// Predicts from the category with the smallest confidence interval.
#[derive(Clone, Debug)]
pub struct Smith {
    templates: Vec<SmithTemplate>,
    categories: HashMap<CategoryKey, Category>,
    students: Students,
}

impl Smith {
    /// A predictor that has learnt nothing yet, with a set of templates.
    #[must_use]
    pub fn new(templates: Vec<SmithTemplate>) -> Smith {
        Smith { templates, categories: HashMap::new(), students: Students::new() }
    }

    /// The set of up to ten templates with the smallest mean absolute error on the `jobs` from
    /// index `counted_from` on, as far as they end before `until`.
    ///
    /// Each candidate costs one pass over the jobs. A job about which a set says nothing counts
    /// with the mean of all run times as its forecast, so that a set that is silent on hard jobs
    /// gains nothing.
    #[must_use]
    pub fn search(jobs: &[EndedJob], events: &[Event], until: UnixTime, counted_from: usize, evolution: &Evolution) -> Vec<SmithTemplate> {
        let genes = GENES.repeat(MOST_TEMPLATES);
        let run_time_s = |index: usize| {
            let job = jobs.get(index).filter(|job| job.end < until)?;
            job.run_time().map(|run_time| run_time.0 as f64)
        };
        let counted: Vec<f64> = (counted_from..jobs.len()).filter_map(run_time_s).collect();
        let mean_s = counted.iter().sum::<f64>() / counted.len().max(1) as f64;
        let cost = |values: &[f64]| {
            let mut predictor = Smith::new(templates(values));
            let mut error_s = 0.0;
            let arrived = |index: usize, prediction: Option<RunTimePrediction>| {
                if let Some(run_time_s) = run_time_s(index).filter(|_| index >= counted_from) {
                    error_s += (prediction.map_or(mean_s, |prediction| prediction.point_s) - run_time_s).abs();
                }
            };
            replay(jobs, events, Some(until), &mut predictor, arrived, |_| {});
            error_s
        };
        templates(&evolution.minimise(&genes, &[], cost).values)
    }
}

fn templates(values: &[f64]) -> Vec<SmithTemplate> {
    values.chunks(GENES.len()).filter_map(SmithTemplate::of_genes).collect()
}

impl RunTimePredictor for Smith {
    fn predict(&mut self, job: &ArrivingJob) -> Option<RunTimePrediction> {
        let mut best: Option<(f64, f64)> = None;
        for (index, template) in (0u8..).zip(&self.templates) {
            let Some(category) = template.category(index, job).and_then(|key| self.categories.get(&key)) else { continue };
            let Some((estimate, half)) = category.estimate(template.estimate, f64::from(job.submitted.size.cpus), &self.students) else {
                continue;
            };
            let scale = if template.relative { limit_s(job) } else { 1.0 };
            if best.is_none_or(|(_, smallest)| half * scale < smallest) {
                best = Some((estimate * scale, half * scale));
            }
        }
        best.map(|(estimate, _)| RunTimePrediction::point(job.within_limit(estimate)))
    }

    fn ends(&mut self, job: &ArrivingJob, _: UnixTime, run_time: Option<Seconds>) {
        let Some(run_time) = run_time else { return };
        for (index, template) in (0u8..).zip(&self.templates) {
            if let Some(key) = template.category(index, job) {
                let scale = if template.relative { limit_s(job) } else { 1.0 };
                let category = self.categories.entry(key).or_default();
                category.push(f64::from(job.submitted.size.cpus), run_time.0 as f64 / scale, template.most_jobs);
            }
        }
    }
}

/// The job's limit in seconds, at least 1; 1 where there is none.
fn limit_s(job: &ArrivingJob) -> f64 {
    job.submitted.limit.map_or(1.0, |limit| limit.0.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::super::tests::job;
    use super::*;

    fn template(user: bool, relative: bool) -> SmithTemplate {
        SmithTemplate { user, partition: false, account: false, size_range: None, most_jobs: None, relative, estimate: SmithEstimate::Mean }
    }

    #[test]
    fn the_smallest_interval_chooses() {
        let mut predictor = Smith::new(vec![template(false, false), template(true, false)]);
        for (id, user, run_time_s) in [(0, 1, 100), (1, 1, 102), (2, 2, 5_000), (3, 2, 9_000)] {
            predictor.ends(&job(id, user, None), UnixTime(0), Some(Seconds(run_time_s)));
        }
        assert_eq!(predictor.predict(&job(4, 1, None)).map(|prediction| prediction.point_s), Some(101.0));
    }

    #[test]
    fn a_relative_run_time_is_a_part_of_the_limit() {
        let mut predictor = Smith::new(vec![template(true, true)]);
        for (id, limit_s) in [(0, 1_000), (1, 2_000)] {
            predictor.ends(&job(id, 1, Some(limit_s)), UnixTime(0), Some(Seconds(limit_s / 4)));
        }
        assert_eq!(predictor.predict(&job(2, 1, Some(8_000))).map(|prediction| prediction.point_s), Some(2_000.0));
        assert_eq!(predictor.predict(&job(3, 1, None)), None);
    }
}
