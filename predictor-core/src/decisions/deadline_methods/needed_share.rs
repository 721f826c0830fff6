//! The share of a node that a job needs whose run time is known by its distribution only (after Yeo
//! and Buyya 2006, equation 1).

use job_types::time::Seconds;

use super::share::LATE_SHARE;

/// The part of the longest run time that was forecast that is taken to remain of a job which has
/// outlived it, as on its nodes.
const OUTLIVED_PART: f64 = 0.1;

/// The share that a job needs, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NeededShare {
    /// The mean of the share.
    pub mean: f64,
    /// The variance of the share.
    pub variance: f64,
}

impl NeededShare {
    /// A share that is known for sure.
    #[must_use]
    pub fn sure(share: f64) -> NeededShare {
        NeededShare { mean: share, variance: 0.0 }
    }

    /// The share of each of its CPUs that a job needs with these run times in seconds and their
    /// probabilities, ascending, which has run for `done` and has `left` until its deadline.
    ///
    /// The run times that it has outlived are none any more. It can't use more than its CPUs, and
    /// asks for them whole once its deadline has passed.
    #[must_use]
    pub fn of(run_times: &[(f64, f64)], done: Seconds, left: Seconds) -> NeededShare {
        if left <= Seconds::ZERO {
            return NeededShare::sure(LATE_SHARE);
        }
        let (done_s, left_s) = (done.0 as f64, left.0 as f64);
        let (mut sum, mut mean, mut square) = (0.0, 0.0, 0.0);
        for (run_s, weight) in run_times.iter().filter(|(run_s, _)| *run_s > done_s) {
            let share = ((run_s - done_s) / left_s).min(1.0);
            sum += weight;
            mean += weight * share;
            square += weight * share * share;
        }
        if sum <= 0.0 {
            let longest = run_times.last().map_or(0.0, |(run_s, _)| *run_s);
            return NeededShare::sure((longest * OUTLIVED_PART / left_s).min(1.0));
        }
        let mean = mean / sum;
        NeededShare { mean, variance: (square / sum - mean * mean).max(0.0) }
    }

    /// Returns the share that a job needs of `cpus` CPUs together if it needs this share of each.
    #[must_use]
    pub fn of_cpus(self, cpus: u32) -> NeededShare {
        let cpus = f64::from(cpus);
        NeededShare { mean: self.mean * cpus, variance: self.variance * cpus * cpus }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_what_remains_over_the_time_that_is_left_by_mean_and_variance() {
        let run_times = [(100.0, 0.5), (300.0, 0.25), (500.0, 0.25)];
        let share = |done, left| NeededShare::of(&run_times, Seconds(done), Seconds(left));
        assert_eq!(share(0, 1_000).mean, 0.25);
        assert!((share(0, 1_000).variance - (0.5 * 0.01 + 0.25 * 0.09 + 0.25 * 0.25 - 0.0625)).abs() < 1e-12);
        // The run time of 100 s is outlived and does not count any more: 200 or 400 s remain.
        assert!((share(100, 1_000).mean - 0.3).abs() < 1e-12 && (share(100, 1_000).variance - 0.01).abs() < 1e-12);
        assert_eq!(share(500, 1_000), NeededShare::sure(0.05), "a tenth of the longest remains of what was outlived");
        assert_eq!((share(0, 50), share(0, 0)), (NeededShare::sure(1.0), NeededShare::sure(1.0)));
        assert_eq!(share(0, 1_000).of_cpus(4).mean, 1.0);
    }
}
