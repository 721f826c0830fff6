//! Run time as a function of load (Hariharan et al. 2020, III.B).

use crate::dbscan::clusters_of_numbers;

/// The fewest jobs of a tuple that gives a function: `l` of Hariharan et al.
const FEWEST_JOBS: usize = 10;
/// The least span of the loads of a tuple that gives a function: `m` of Hariharan et al.
const LEAST_SPAN: f64 = 0.5;
/// Consecutive averages of the sequence differ by this part at most, Hariharan et al.'s `X`.
const MOST_STEP: f64 = 0.5;
/// Number of bins of the load.
const BINS: usize = 20;
/// Hariharan et al. do not say with which parameters DBSCAN looks for "a close cluster": run times
/// within 10 % of each other belong together.
const CLOSE: f64 = 0.1;
const CLUSTER_JOBS: usize = 2;

/// One job of the validation set: its actual load and its run time in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Observation {
    pub(super) load: f64,
    pub(super) run_time_s: f64,
}

/// A line: seconds of run time as a function of load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LoadFunction {
    pub(super) intercept_s: f64,
    pub(super) slope_s: f64,
}

impl LoadFunction {
    /// The run time in seconds at a load.
    pub(super) fn at(&self, load: f64) -> f64 {
        self.intercept_s + self.slope_s * load
    }

    /// The function of a tuple's jobs; `None` where they are too few or too much alike in load, or
    /// their sequence is too short for a line.
    pub(super) fn fit(jobs: &[Observation]) -> Option<LoadFunction> {
        let (lightest, heaviest) =
            jobs.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), job| (low.min(job.load), high.max(job.load)));
        if jobs.len() < FEWEST_JOBS || heaviest - lightest < LEAST_SPAN {
            return None;
        }
        let mut bins: Vec<Vec<Observation>> = vec![Vec::new(); BINS];
        for job in jobs {
            let bin = ((job.load * BINS as f64) as usize).min(BINS - 1);
            if let Some(bin) = bins.get_mut(bin) {
                bin.push(*job);
            }
        }
        let averages: Vec<Observation> = bins.iter().filter_map(|bin| average_of_largest_cluster(bin)).collect();
        line(&longest_sequence(&averages))
    }
}

/// Mean load and mean run time of the largest cluster, of equals the one with the smaller number;
/// of a job by itself where it is alone in its bin.
fn average_of_largest_cluster(bin: &[Observation]) -> Option<Observation> {
    if let [job] = bin {
        return Some(*job);
    }
    let logarithms: Vec<f64> = bin.iter().map(|job| job.run_time_s.max(1.0).ln()).collect();
    let labels = clusters_of_numbers(&logarithms, CLOSE, CLUSTER_JOBS);
    let clusters = labels.iter().flatten().max()? + 1;
    let members = |cluster: usize| bin.iter().zip(&labels).filter(move |(_, label)| **label == Some(cluster)).map(|(job, _)| job);
    let largest = (0..clusters).rev().max_by_key(|cluster| members(*cluster).count())?;
    let count = members(largest).count() as f64;
    let load = members(largest).map(|job| job.load).sum::<f64>() / count;
    let run_time_s = members(largest).map(|job| job.run_time_s).sum::<f64>() / count;
    Some(Observation { load, run_time_s })
}

/// The longest path in the graph whose edges lead to heavier load and a run time that is longer by
/// at most [`MOST_STEP`]. `ascending` ascends in load.
fn longest_sequence(ascending: &[Observation]) -> Vec<Observation> {
    // The longest path that ends in each node, and the node before.
    let mut paths: Vec<(usize, Option<usize>)> = Vec::with_capacity(ascending.len());
    for to in ascending {
        let step = |from: &Observation| (to.run_time_s - from.run_time_s) / from.run_time_s.max(f64::MIN_POSITIVE);
        let before = ascending
            .iter()
            .zip(&paths)
            .enumerate()
            .filter(|(_, (from, _))| from.load < to.load && from.run_time_s <= to.run_time_s && step(from) <= MOST_STEP)
            .max_by_key(|(index, (_, (length, _)))| (*length, std::cmp::Reverse(*index)))
            .map(|(index, (_, (length, _)))| (index, *length));
        paths.push((before.map_or(1, |(_, length)| length + 1), before.map(|(index, _)| index)));
    }
    let mut next = paths.iter().enumerate().max_by_key(|(index, (length, _))| (*length, std::cmp::Reverse(*index))).map(|(index, _)| index);
    let mut sequence = Vec::new();
    while let Some(index) = next {
        sequence.extend(ascending.get(index));
        next = paths.get(index).and_then(|(_, before)| *before);
    }
    sequence.reverse();
    sequence
}

/// Least squares through at least two points of different load.
fn line(points: &[Observation]) -> Option<LoadFunction> {
    let count = points.len() as f64;
    let load = points.iter().map(|point| point.load).sum::<f64>() / count;
    let run_time_s = points.iter().map(|point| point.run_time_s).sum::<f64>() / count;
    let square: f64 = points.iter().map(|point| (point.load - load).powi(2)).sum();
    let product: f64 = points.iter().map(|point| (point.load - load) * (point.run_time_s - run_time_s)).sum();
    if points.len() < 2 || square <= 0.0 {
        return None;
    }
    let slope_s = product / square;
    Some(LoadFunction { intercept_s: run_time_s - slope_s * load, slope_s })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observations(pairs: &[(f64, f64)]) -> Vec<Observation> {
        pairs.iter().map(|(load, run_time_s)| Observation { load: *load, run_time_s: *run_time_s }).collect()
    }

    #[test]
    fn the_longest_sequence_leaves_out_another_application() {
        // 100, 110, 120, 150 rise by less than half each; 1,000 is more than half above what comes
        // before it.
        let sequence =
            longest_sequence(&observations(&[(0.1, 100.0), (0.2, 1_000.0), (0.3, 110.0), (0.4, 120.0), (0.5, 90.0), (0.6, 150.0)]));
        let run_times: Vec<f64> = sequence.iter().map(|point| point.run_time_s).collect();
        assert_eq!(run_times, [100.0, 110.0, 120.0, 150.0]);
    }

    #[test]
    fn a_line_is_found_through_the_clusters() {
        // 1,000 s + 500 s of load, twice in each bin, and an outlier in one.
        let mut pairs: Vec<(f64, f64)> =
            (0..10).flat_map(|bin| [(f64::from(bin) * 0.1 + 0.02, 1_010.0 + 50.0 * f64::from(bin)); 2]).collect();
        pairs.push((0.32, 9_000.0));
        let function = LoadFunction::fit(&observations(&pairs)).unwrap();
        assert!((function.at(0.02) - 1_010.0).abs() < 1e-6 && (function.slope_s - 500.0).abs() < 1e-6);
    }

    #[test]
    fn few_jobs_or_one_load_give_no_function() {
        assert_eq!(LoadFunction::fit(&observations(&[(0.1, 10.0), (0.9, 12.0)])), None);
        assert_eq!(LoadFunction::fit(&observations(&[(0.5, 10.0); 30])), None);
    }
}
