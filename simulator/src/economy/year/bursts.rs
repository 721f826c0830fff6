//! When jobs are submitted: in bursts of one user's alike jobs, on days of very unequal traffic.

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use super::Shape;
use super::jobs::Work;
use super::published::DAYS;
use crate::economy::Job;

const MILLISECONDS_PER_DAY: f64 = 86_400_000.0;
const YEAR_MILLISECONDS: f64 = DAYS as f64 * MILLISECONDS_PER_DAY;
/// Jobs below this many milliseconds are short: those of 96 % of the year.
const SHORT_MILLISECONDS: u64 = 300_000;

/// How much happens on each day: a random walk of the logarithm that returns to its middle.
fn traffic(shape: &Shape, random: &mut impl Rng) -> Vec<f64> {
    let mut logarithm = 0.0;
    let spread = (1.0 - shape.day_like_the_last * shape.day_like_the_last).sqrt();
    let day = |_| {
        let deviation: f64 = StandardNormal.sample(random);
        logarithm = shape.day_like_the_last * logarithm + spread * deviation;
        logarithm
    };
    (0..DAYS).map(day).collect()
}

/// Days drawn by how much happens on them.
struct Days {
    sums: Vec<f64>,
}

impl Days {
    fn new(traffic: &[f64], unequal: f64) -> Self {
        let mut sum = 0.0;
        let add = |logarithm: &f64| {
            sum += (unequal * logarithm).exp();
            sum
        };
        Self { sums: traffic.iter().map(add).collect() }
    }

    /// A moment of the year, in milliseconds.
    fn draw(&self, random: &mut impl Rng) -> f64 {
        let wanted = random.random::<f64>() * self.sums.last().copied().unwrap_or(0.0);
        let day = self.sums.partition_point(|sum| *sum < wanted);
        // Twice as much in the second half of the day as in the first.
        let part: f64 = random.random::<f64>().powf(0.7);
        (day as f64 + part) * MILLISECONDS_PER_DAY
    }
}

/// The length of a burst: half of all have one job where a quarter of these have one of two, and so
/// on, up to the longest.
fn burst_length(shape: &Shape, random: &mut impl Rng) -> usize {
    let rank: f64 = 1.0 - random.random::<f64>();
    (rank.powf(-1.0 / shape.burst_tail) as usize).clamp(1, shape.longest_burst)
}

/// Submits the jobs of all users, of whom each is a list of jobs. In the order of submission.
pub(super) fn submitted(shape: &Shape, jobs: &[Work], owners: &[u32], random: &mut impl Rng) -> Vec<Job> {
    let traffic = traffic(shape, random);
    let days = [Days::new(&traffic, shape.unequal_days), Days::new(&traffic, shape.unequal_days_of_long_jobs)];
    // Jobs of a user that are alike stand side by side, as far as they are alike.
    let mut order: Vec<(u32, u32, f64, usize)> = (0..)
        .zip(jobs.iter().zip(owners))
        .map(|(place, (job, owner))| {
            let deviation: f64 = StandardNormal.sample(random);
            let run_time = (job.run_time_milliseconds.max(1) as f64).ln() + shape.unlike_run_times * deviation;
            (*owner, job.nodes, run_time, place)
        })
        .collect();
    order.sort_unstable_by(|one, other| (one.0, one.1).cmp(&(other.0, other.1)).then(one.2.total_cmp(&other.2)));
    let mut submitted: Vec<Job> = Vec::with_capacity(jobs.len());
    for of_user in order.chunk_by(|one, other| one.0 == other.0) {
        let mut rest = of_user;
        while !rest.is_empty() {
            let length = burst_length(shape, random).min(rest.len());
            let (burst, after) = rest.split_at(length);
            rest = after;
            let run_time = |place: usize| jobs.get(place).map_or(0, |job| job.run_time_milliseconds);
            let middle = burst.get(burst.len() / 2).map_or(0, |member| run_time(member.3));
            let [short, long] = &days;
            let mut at = if middle < SHORT_MILLISECONDS { short.draw(random) } else { long.draw(random) };
            let one_by_one = random.random::<f64>() >= shape.at_once;
            for &(user, nodes, _, place) in burst {
                let run_time_milliseconds = run_time(place);
                submitted.push(Job { user, submit_milliseconds: (at % YEAR_MILLISECONDS) as u64, run_time_milliseconds, nodes });
                at += if one_by_one { run_time_milliseconds as f64 } else { shape.gap_milliseconds };
            }
        }
    }
    submitted.sort_by_key(|job| job.submit_milliseconds);
    submitted
}
