//! The six distributions of table I of Hariharan et al. 2020, as histograms.
//!
//! Hariharan et al. say neither where the bins lie nor how wide they are. Sizes and times span
//! orders of magnitude, so that the bins are of equal width on a logarithmic scale: sizes from 1 to
//! the cluster's CPUs, times from 0 to [`LONGEST_S`].

use job_types::time::UnixTime;
use serde::{Deserialize, Serialize};

/// How many distributions table I of Hariharan et al. 2020 has.
pub const DISTRIBUTIONS: usize = 6;

/// Times from here on share the last bin: 30 days.
const LONGEST_S: f64 = 30.0 * 86_400.0;

/// Sum of the bins of a histogram once it is normalised by its number of jobs.
const WHOLE: f64 = 255.0;

/// Moments in ascending order, with what else is counted of the jobs to which they belong.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Side {
    /// The moments, ascending; a job is found again by its own moment.
    since: Vec<i64>,
    sizes: Vec<u32>,
    limits: Vec<u32>,
}

impl Side {
    fn new(bins: usize) -> Side {
        Side { since: Vec::new(), sizes: vec![0; bins], limits: vec![0; bins] }
    }
}

/// Counts of the jobs that wait and of those that run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Distributions {
    bins: usize,
    largest: f64,
    /// Upper ends of the bins of times, in seconds, but the last.
    time_edges: Vec<i64>,
    pub(super) waiting: Side,
    pub(super) running: Side,
}

/// Returns the bin of `bins` that a value belongs to, on a logarithmic scale up to `largest`.
fn bin(value: f64, largest: f64, bins: usize) -> usize {
    let part = (1.0 + value.max(0.0)).ln() / (1.0 + largest).ln();
    ((part * bins as f64) as usize).min(bins.saturating_sub(1))
}

impl Distributions {
    /// Distributions of `bins` bins each; with 0 bins nothing is counted.
    pub(super) fn new(bins: usize, cpus: u32) -> Distributions {
        let edge = |index: usize| ((1.0 + LONGEST_S).powf(index as f64 / bins as f64) - 1.0).ceil() as i64;
        Distributions {
            bins,
            largest: f64::from(cpus.max(1)),
            time_edges: (1..bins).map(edge).collect(),
            waiting: Side::new(bins),
            running: Side::new(bins),
        }
    }

    fn places(&self, cpus: u32, limit_s: i64) -> (usize, usize) {
        (bin(f64::from(cpus), self.largest, self.bins), bin(limit_s as f64, LONGEST_S, self.bins))
    }

    pub(super) fn add(&mut self, runs: bool, cpus: u32, limit_s: i64, since: UnixTime) {
        if self.bins == 0 {
            return;
        }
        let (size, limit) = self.places(cpus, limit_s);
        let side = if runs { &mut self.running } else { &mut self.waiting };
        // Jobs come in order of time, so that this is nearly always the end.
        let place = side.since.partition_point(|earlier| *earlier <= since.0);
        side.since.insert(place, since.0);
        if let (Some(size), Some(limit)) = (side.sizes.get_mut(size), side.limits.get_mut(limit)) {
            *size += 1;
            *limit += 1;
        }
    }

    pub(super) fn remove(&mut self, runs: bool, cpus: u32, limit_s: i64, since: UnixTime) {
        if self.bins == 0 {
            return;
        }
        let (size, limit) = self.places(cpus, limit_s);
        let side = if runs { &mut self.running } else { &mut self.waiting };
        if let Ok(place) = side.since.binary_search(&since.0) {
            side.since.remove(place);
        }
        if let (Some(size), Some(limit)) = (side.sizes.get_mut(size), side.limits.get_mut(limit)) {
            *size = size.saturating_sub(1);
            *limit = limit.saturating_sub(1);
        }
    }

    /// Appends the six histograms as of `now`, in the order of table I.
    pub(super) fn write(&self, now: UnixTime, out: &mut Vec<u8>) {
        if self.bins == 0 {
            return;
        }
        let mut counts = vec![0u32; self.bins];
        for side in [&self.waiting, &self.running] {
            normalised(&side.sizes, out);
            normalised(&side.limits, out);
            // `within` counts the jobs whose elapsed time is below the edge. The edges go from
            // short to long.
            let mut below = 0;
            for (count, edge) in counts.iter_mut().zip(self.time_edges.iter().map(Some).chain([None])) {
                let least = edge.map_or(0, |edge| side.since.partition_point(|since| now.0 - since >= *edge));
                let within = side.since.len() - least;
                *count = (within - below.min(within)) as u32;
                below = within;
            }
            normalised(&counts, out);
        }
        debug_assert_eq!(out.len() % (DISTRIBUTIONS * self.bins), 0);
    }
}

fn normalised(counts: &[u32], out: &mut Vec<u8>) {
    let total: u32 = counts.iter().sum();
    let scale = if total == 0 { 0.0 } else { WHOLE / f64::from(total) };
    out.extend(counts.iter().map(|count| (f64::from(*count) * scale).round() as u8));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histograms_are_shares_of_the_jobs_that_wait_and_run() {
        let mut distributions = Distributions::new(2, 99);
        // The scale's middle lies at sqrt(100) - 1 = 9 CPUs and at sqrt(2,592,001) - 1 = 1,609 s.
        distributions.add(false, 1, 600, UnixTime(1_000));
        distributions.add(false, 50, 86_400, UnixTime(4_000));
        distributions.add(false, 60, 86_400, UnixTime(4_500));
        distributions.add(true, 9, 600, UnixTime(0));
        let mut out = Vec::new();
        distributions.write(UnixTime(5_000), &mut out);
        assert_eq!(out, [85, 170, 85, 170, 170, 85, 0, 255, 255, 0, 0, 255]);
        distributions.remove(true, 9, 600, UnixTime(0));
        out.clear();
        distributions.write(UnixTime(5_000), &mut out);
        assert_eq!(out[6..], [0; 6]);
    }
}
