//! Instance-based learning from like jobs in like states of the resource (Li, Groep, Wolters:
//! Efficient Response Time Predictions by Exploiting Application and Resource State Similarities,
//! Grid 2005).

mod attributes;
mod distance;

use self::attributes::{Attributes, NOMINAL, NUMERIC, ResourceState};
use self::distance::{Metric, Spans};
use super::replay::replay;
use crate::genetic::{Evolution, Gene};
use job_types::job::EndedJob;
use job_types::time::{Seconds, UnixTime};
use learning::run_times::{ArrivingJob, RunTimePrediction, RunTimePredictor};
use learning::sweep::Event;
use std::collections::HashMap;

/// Longest history, a power of 2.
const MOST_HISTORY: i32 = 11;

/// What the genetic search chooses.
#[derive(Clone, Debug, PartialEq)]
pub struct LiParameters {
    /// Weights of the attributes: user, account and partition, then the numeric ones.
    pub weights: Vec<f64>,
    /// How many nearest neighbours are averaged; 1 is 1-NN.
    pub neighbours: usize,
    /// Width of the Gaussian kernel by which the neighbours are weighted (n-WA), in units of the
    /// distance.
    pub kernel_width: f64,
    /// How many of the jobs that ended last are searched for neighbours.
    pub history: usize,
}

impl Default for LiParameters {
    fn default() -> LiParameters {
        LiParameters { weights: vec![1.0; NOMINAL + NUMERIC], neighbours: 5, kernel_width: 0.2, history: 1 << MOST_HISTORY }
    }
}

impl LiParameters {
    fn genes() -> Vec<Gene> {
        let mut genes = vec![Gene::Real(0.0, 1.0); NOMINAL + NUMERIC];
        genes.extend([Gene::Whole(1, 20), Gene::Real(0.01, 0.5), Gene::Whole(8, MOST_HISTORY)]);
        genes
    }

    fn of_values(values: &[f64]) -> LiParameters {
        let (weights, rest) = values.split_at(values.len().min(NOMINAL + NUMERIC));
        let value = |index: usize| rest.get(index).copied().unwrap_or(1.0);
        LiParameters {
            weights: weights.to_vec(),
            neighbours: value(0) as usize,
            kernel_width: value(1),
            history: 1 << (value(2) as u32).min(MOST_HISTORY as u32),
        }
    }

    /// The weighted mean of the nearest of the latest jobs; `None` where there is no job.
    fn estimate(&self, past: &[(Attributes, f64)], spans: &Spans, job: &Attributes) -> Option<f64> {
        let metric = Metric::new(&self.weights, spans);
        let neighbours = self.neighbours.max(1);
        let mut nearest: Vec<(f32, f64)> = Vec::with_capacity(neighbours + 1);
        // The latest come first, so that of equals the later one stays.
        for (attributes, run_time_s) in past.iter().rev().take(self.history) {
            let squared = metric.squared(attributes, job);
            if nearest.len() == neighbours && nearest.last().is_some_and(|(farthest, _)| squared >= *farthest) {
                continue;
            }
            nearest.insert(nearest.partition_point(|(other, _)| *other <= squared), (squared, *run_time_s));
            nearest.truncate(neighbours);
        }
        let closest = nearest.first()?.0;
        let width = (self.kernel_width * self.kernel_width).max(f64::MIN_POSITIVE);
        let weighted = |(squared, run_time_s): &(f32, f64)| {
            // Relative to the closest, so that not all weights vanish.
            let weight = (-f64::from(squared - closest) / width).exp();
            (weight, weight * run_time_s)
        };
        let (weight, sum) = nearest.iter().map(weighted).fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        Some(sum / weight)
    }
}

/// Predicts the weighted mean run time of the jobs nearest in their attributes and in the state of
/// the resource.
#[derive(Clone, Debug)]
pub struct Li {
    parameters: LiParameters,
    state: ResourceState,
    pending: HashMap<u32, Attributes>,
    past: Vec<(Attributes, f64)>,
    spans: Spans,
}

impl Li {
    /// A predictor that has learnt nothing yet.
    #[must_use]
    pub fn new(parameters: LiParameters) -> Li {
        Li { parameters, state: ResourceState::default(), pending: HashMap::new(), past: Vec::new(), spans: Spans::default() }
    }

    /// The parameters with the smallest mean absolute error on `questions` jobs, spread evenly over
    /// those from index `counted_from` on that end before `until`.
    #[must_use]
    pub fn search(
        jobs: &[EndedJob],
        events: &[Event],
        until: UnixTime,
        counted_from: usize,
        questions: usize,
        evolution: &Evolution,
    ) -> LiParameters {
        let run_time_s = |index: usize| {
            let job = jobs.get(index).filter(|job| job.end < until)?;
            job.run_time().map(|run_time| run_time.0 as f64)
        };
        let counted: Vec<usize> = (counted_from..jobs.len()).filter(|index| run_time_s(*index).is_some()).collect();
        let step = counted.len().div_ceil(questions.max(1)).max(1);
        let mut recorder =
            Recorder { li: Li::new(LiParameters { history: 0, ..LiParameters::default() }), all: Vec::new(), asked: Vec::new() };
        replay(jobs, events, Some(until), &mut recorder, |_, _| {}, |_| {});
        let asked: HashMap<u32, (Attributes, usize)> =
            recorder.asked.into_iter().map(|(id, attributes, ended)| (id, (attributes, ended))).collect();
        let examples: Vec<(Attributes, usize, f64)> = counted
            .iter()
            .step_by(step)
            .filter_map(|index| {
                let (attributes, ended) = asked.get(&u32::try_from(*index).ok()?)?;
                Some((*attributes, *ended, run_time_s(*index)?))
            })
            .collect();
        let cost = |values: &[f64]| {
            let parameters = LiParameters::of_values(values);
            let error = |(attributes, ended, run_time_s): &(Attributes, usize, f64)| {
                let past = recorder.all.get(..*ended).unwrap_or_default();
                (parameters.estimate(past, &recorder.li.spans, attributes).unwrap_or(0.0) - run_time_s).abs()
            };
            examples.iter().map(error).sum()
        };
        LiParameters::of_values(&evolution.minimise(&LiParameters::genes(), &[], cost).values)
    }
}

impl RunTimePredictor for Li {
    fn predict(&mut self, job: &ArrivingJob) -> Option<RunTimePrediction> {
        let attributes = self.state.attributes(job);
        self.state.arrives(job);
        self.pending.insert(job.id, attributes);
        let estimate = self.parameters.estimate(&self.past, &self.spans, &attributes)?;
        Some(RunTimePrediction::point(job.within_limit(estimate)))
    }

    fn starts(&mut self, job: &ArrivingJob, _: UnixTime) {
        self.state.starts(job);
    }

    fn ends(&mut self, job: &ArrivingJob, _: UnixTime, run_time: Option<Seconds>) {
        self.state.ends(job, run_time.is_some());
        if let (Some(attributes), Some(run_time)) = (self.pending.remove(&job.id), run_time) {
            self.spans.include(&attributes);
            self.past.push((attributes, run_time.0 as f64));
            let history = self.parameters.history;
            if self.past.len() > 2 * history.max(1 << MOST_HISTORY) {
                self.past.drain(..self.past.len() - history);
            }
        }
    }
}

/// Remembers, for each job that arrives, its attributes and how many jobs had ended.
struct Recorder {
    li: Li,
    all: Vec<(Attributes, f64)>,
    asked: Vec<(u32, Attributes, usize)>,
}

impl RunTimePredictor for Recorder {
    fn predict(&mut self, job: &ArrivingJob) -> Option<RunTimePrediction> {
        self.asked.push((job.id, self.li.state.attributes(job), self.all.len()));
        self.li.predict(job)
    }

    fn starts(&mut self, job: &ArrivingJob, at: UnixTime) {
        self.li.starts(job, at);
    }

    fn ends(&mut self, job: &ArrivingJob, at: UnixTime, run_time: Option<Seconds>) {
        if let (Some(attributes), Some(run_time)) = (self.li.pending.get(&job.id), run_time) {
            self.all.push((*attributes, run_time.0 as f64));
        }
        self.li.ends(job, at, run_time);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::job;
    use super::*;

    fn ended(parameters: LiParameters) -> Li {
        let mut predictor = Li::new(parameters);
        for (id, user, run_time_s) in [(0, 1, 100), (1, 1, 200), (2, 2, 9_000)] {
            let job = job(id, user, None);
            predictor.predict(&job);
            predictor.starts(&job, UnixTime(0));
            predictor.ends(&job, UnixTime(run_time_s), Some(Seconds(run_time_s)));
        }
        predictor
    }

    #[test]
    fn one_neighbour_is_the_latest_of_the_nearest() {
        let mut predictor = ended(LiParameters { neighbours: 1, ..LiParameters::default() });
        assert_eq!(predictor.predict(&job(3, 1, None)).map(|prediction| prediction.point_s), Some(200.0));
    }

    #[test]
    fn neighbours_as_near_count_the_same() {
        let mut predictor = ended(LiParameters { neighbours: 2, kernel_width: 0.1, ..LiParameters::default() });
        assert_eq!(predictor.predict(&job(3, 1, None)).map(|prediction| prediction.point_s), Some(150.0));
    }
}
