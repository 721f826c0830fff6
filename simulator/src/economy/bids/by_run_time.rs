//! Bids by how long a job runs, which its user is taken to know.

use rand::Rng;

use super::{HIGH_BID, Reading, TOTAL_CREDITS};
use crate::engine::preemptive::{Job, Milliseconds};

const MINUTE: u64 = Milliseconds::MINUTE.0;
const HOUR: u64 = 60 * MINUTE;

/// Jobs below five minutes are short to the Binary-Categorized-Bid user.
const SHORT_MILLISECONDS: u64 = 5 * MINUTE;

/// Table 7.2-E: the run time that a category ends before, its lowest bid, and the bid that all are
/// below.
const CATEGORIES: [(u64, f64, f64); 5] =
    [(5 * MINUTE, 125.0, 275.0), (15 * MINUTE, 60.0, 140.0), (HOUR, 25.0, 75.0), (24 * HOUR, 10.0, 40.0), (u64::MAX, 5.0, 15.0)];

/// 1000 / (n·t). As tabled, no bid is above 1000, which 7.2.2.6 calls the maximum.
pub(super) fn constant_total(job: &Job, reading: Reading) -> f64 {
    TOTAL_CREDITS / reading.node_time(job)
}

/// Uniform in the interval of the job's category; a border belongs to the longer one.
pub(super) fn categorized(job: &Job, random: &mut impl Rng) -> f64 {
    let [.., longest] = CATEGORIES;
    let category = CATEGORIES.into_iter().find(|(before, ..)| job.run_time.0 < *before);
    let (_, lowest, below) = category.unwrap_or(longest);
    random.random_range(lowest..below)
}

/// 1000 for short jobs, else 0.
pub(super) fn binary_categorized(job: &Job) -> f64 {
    if job.run_time.0 < SHORT_MILLISECONDS { HIGH_BID } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::economy::bids::{UserModule, stream};
    use crate::economy::made_up::job;

    #[test]
    fn a_constant_total_is_the_same_for_all_whole_minutes() {
        for (seconds, nodes) in [(60, 1), (600, 16), (86_400, 106)] {
            let job = job(1, seconds, nodes);
            let total = constant_total(&job, Reading::AsTabled) * f64::from(nodes) * (seconds / 60) as f64;
            assert!((total - 1000.0).abs() < 1e-9);
        }
        assert_eq!(constant_total(&job(1, 1, 1), Reading::AsTabled), 1000.0);
    }

    #[test]
    fn a_border_of_a_category_belongs_to_the_longer_one() {
        let mut random = stream(UserModule::Categorized, 1);
        let borders = [
            (299, 125.0..275.0),
            (300, 60.0..140.0),
            (899, 60.0..140.0),
            (900, 25.0..75.0),
            (3599, 25.0..75.0),
            (3600, 10.0..40.0),
            (86_399, 10.0..40.0),
            (86_400, 5.0..15.0),
        ];
        for (seconds, interval) in borders {
            for _ in 0..200 {
                let bid = categorized(&job(1, seconds, 1), &mut random);
                assert!(interval.contains(&bid), "{seconds} s: {bid}");
            }
        }
    }

    #[test]
    fn five_minutes_are_no_longer_short() {
        assert_eq!([299, 300].map(|seconds| binary_categorized(&job(1, seconds, 1))), [1000.0, 0.0]);
    }
}
