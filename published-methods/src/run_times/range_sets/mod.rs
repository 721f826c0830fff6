//! Ranges of run times from the impact of load: the method of Hariharan et al. 2020 (section III).

mod functions;
mod load;

use self::functions::{LoadFunction, Observation};
use self::load::Load;
use job_types::time::{Seconds, UnixTime};
use learning::run_times::{ArrivingJob, RunTimePrediction, RunTimePredictor, Tuple, TupleHistory, range_sets};
use std::collections::{BTreeMap, HashMap};

/// Functions are made of so many tuples, those with the most jobs: Hariharan et al.'s `k`.
const TUPLES: usize = 25;

/// Predicts sets of ranges, each a past run time shifted along the load functions to the predicted
/// load.
///
/// Learns the load functions from the jobs whose ids are below `validation_jobs`, when the first
/// job beyond them arrives; until then, and where no tuple gives one, each range is 20 % wide about
/// a past run time. The point is the mean of the middles weighted by the probabilities (VI.B).
#[derive(Clone, Debug)]
pub struct RangeSets {
    validation_jobs: u32,
    load: Load,
    /// When each running job started, and the CPU seconds that had run by then.
    running: HashMap<u32, (UnixTime, f64)>,
    history: TupleHistory<(u32, f32)>,
    validation: BTreeMap<Tuple, Vec<Observation>>,
    functions: Option<Vec<LoadFunction>>,
}

impl RangeSets {
    /// A predictor that has learnt nothing yet, for a machine of so many processors, with a history
    /// of at most `most_jobs`.
    #[must_use]
    pub fn new(processors: u32, validation_jobs: u32, most_jobs: usize) -> RangeSets {
        RangeSets {
            validation_jobs,
            load: Load::new(processors),
            running: HashMap::new(),
            history: TupleHistory::new(most_jobs),
            validation: BTreeMap::new(),
            functions: None,
        }
    }

    fn fit_functions(&mut self) {
        let mut tuples: Vec<Vec<Observation>> = std::mem::take(&mut self.validation).into_values().collect();
        // Stable: of tuples with as many jobs the first stays first.
        tuples.sort_by_key(|jobs| std::cmp::Reverse(jobs.len()));
        self.functions = Some(tuples.iter().take(TUPLES).filter_map(|jobs| LoadFunction::fit(jobs)).collect());
    }
}

impl RunTimePredictor for RangeSets {
    fn predict(&mut self, job: &ArrivingJob) -> Option<RunTimePrediction> {
        self.load.until(job.submitted.eligible);
        if self.functions.is_none() && job.id >= self.validation_jobs {
            self.fit_functions();
        }
        let history = self.history.get(&Tuple::from(job))?;
        let functions = self.functions.as_deref().unwrap_or_default();
        let load = self.load.predicted();
        let latest_first = || history.iter().rev();
        let relevant = range_sets::relevant(latest_first().map(|(run_time_s, _)| *run_time_s));
        let single = latest_first().take(relevant).map(|(run_time_s, loaded)| {
            let run_time_s = f64::from(*run_time_s);
            let shifted = functions.iter().map(|function| run_time_s + function.at(load) - function.at(f64::from(*loaded)));
            range_sets::compacted(run_time_s, shifted)
        });
        let disjoint = range_sets::disjoint(single.collect());
        let run_times: Vec<u32> = history.iter().map(|(run_time_s, _)| *run_time_s).collect();
        let ranges = range_sets::with_probabilities(&disjoint, &run_times);
        let probability: f64 = ranges.iter().map(|range| range.probability()).sum();
        let weighted: f64 = ranges.iter().map(|range| range.middle().0 as f64 * range.probability()).sum();
        let point_s = if probability > 0.0 { weighted / probability } else { 0.0 };
        Some(RunTimePrediction { ranges, point_s: job.within_limit(point_s) })
    }

    fn starts(&mut self, job: &ArrivingJob, at: UnixTime) {
        self.load.until(at);
        self.load.starts(job.occupied_cpus);
        self.running.insert(job.id, (at, self.load.ran()));
    }

    fn ends(&mut self, job: &ArrivingJob, at: UnixTime, run_time: Option<Seconds>) {
        self.load.until(at);
        let (Some((start, ran)), Some(run_time)) = (self.running.remove(&job.id), run_time) else { return };
        let load = self.load.since(start, ran);
        self.load.ends(job.occupied_cpus);
        if self.functions.is_none() && job.id < self.validation_jobs {
            self.validation.entry(Tuple::from(job)).or_default().push(Observation { load, run_time_s: run_time.0 as f64 });
        }
        self.history.push(Tuple::from(job), (run_time.clamped_u32(), load as f32));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::job;
    use super::*;

    #[test]
    fn without_a_load_function_ranges_lie_about_past_run_times() {
        let mut predictor = RangeSets::new(4, 0, 100);
        assert_eq!(predictor.predict(&job(0, 1, None)), None);
        for (id, run_time_s) in [(1, 100), (2, 100), (3, 100), (4, 1_000)] {
            predictor.starts(&job(id, 1, None), UnixTime(0));
            predictor.ends(&job(id, 1, None), UnixTime(run_time_s), Some(Seconds(run_time_s)));
        }
        let prediction = predictor.predict(&job(5, 1, None)).unwrap();
        let limits: Vec<_> = prediction.ranges.iter().map(|range| (range.lower().0, range.upper().0)).collect();
        assert_eq!(limits, [(90, 110), (900, 1_100)]);
        assert_eq!(prediction.point_s, 0.75 * 100.0 + 0.25 * 1_000.0);
    }
}
