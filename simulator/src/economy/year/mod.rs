//! The year of the thesis, made up: its log was never published.
//!
//! What the thesis tells of the year is in [`published`], and is met as far as [`fit`] says. What
//! it does not tell, and moves the delays most, is the [`Shape`]: how alike the jobs of a burst
//! are, how bursts meet, and how size and run time go together. The same seed and shape give the
//! same year.
//!
//! Run times and sizes are drawn first, together (`jobs`), then given to users (`users`), and
//! submitted in bursts (`bursts`).

mod bursts;
mod cells;
pub mod fit;
mod jobs;
pub mod log;
pub mod published;
mod quantiles;
mod users;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::Job;

/// What the thesis does not tell of its year.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// How size and run time go together where nothing is known of it: above 0, wider jobs run for
    /// longer.
    pub wide_run_longer: f64,
    /// How far the run times of a burst's jobs lie apart, as the spread of their natural
    /// logarithms. At 0 they are as alike as the user's jobs can be.
    pub unlike_run_times: f64,
    /// How rare long bursts are: of bursts of at least so many jobs there are fewer by this power.
    pub burst_tail: f64,
    /// The most jobs of a burst.
    pub longest_burst: usize,
    /// The part of all bursts that are submitted at once; in the others each job is submitted when
    /// the one before it would have ended.
    pub at_once: f64,
    /// Between two submissions of a burst that is submitted at once, in milliseconds.
    pub gap_milliseconds: f64,
    /// How unequal the days are: the spread of the natural logarithms of their traffic. Bursts meet
    /// on the days with much.
    pub unequal_days: f64,
    /// The same for bursts of jobs of five minutes and more.
    pub unequal_days_of_long_jobs: f64,
    /// How much a day's traffic is like that of the day before, from 0 to 1.
    pub day_like_the_last: f64,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            wide_run_longer: 0.0,
            unlike_run_times: 0.3,
            burst_tail: 0.7,
            longest_burst: 500,
            at_once: 0.05,
            gap_milliseconds: 200.0,
            unequal_days: 1.0,
            unequal_days_of_long_jobs: 0.5,
            day_like_the_last: 0.6,
        }
    }
}

/// All jobs of the year, in the order of submission.
#[must_use]
pub fn year(shape: &Shape, seed: u64) -> Vec<Job> {
    // The random numbers of each step, so that a change in one does not move the others.
    let random = |step: u64| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(step);
        random
    };
    let jobs = jobs::jobs(shape.wide_run_longer, &mut random(0));
    let owners = users::owners(&jobs, &mut random(1));
    bursts::submitted(shape, &jobs, &owners, &mut random(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By how much a figure may be off, as a part of what is published, or in its own unit.
    fn is_met(fitted: &fit::Fitted) -> bool {
        let off = fitted.off().abs();
        let distance = (fitted.ours - fitted.published).abs();
        match fitted.what.as_str() {
            "node-seconds of all jobs" => off < 0.01,
            what if what.ends_with("in % of all") => distance < 1.0,
            what if what.starts_with("jobs of ") && what.ends_with("nodes") => off == 0.0,
            what if what.starts_with("jobs below") || what == "jobs" || what == "users" => off == 0.0,
            _ => off < 0.05,
        }
    }

    #[test]
    fn the_year_has_the_jobs_that_the_thesis_tells_of() {
        let jobs = year(&Shape::default(), 1);
        assert!(jobs.is_sorted_by_key(|job| job.submit_milliseconds));
        let last = jobs.last().map(|job| job.submit_milliseconds);
        assert!(last.is_some_and(|last| last < published::DAYS * 86_400_000));
        let unmet: Vec<fit::Fitted> = fit::fit(&jobs).into_iter().filter(|fitted| !is_met(fitted)).collect();
        let of_jobs: Vec<&fit::Fitted> = unmet.iter().filter(|fitted| !fitted.what.contains("user")).collect();
        assert!(of_jobs.is_empty(), "{of_jobs:#?}");
    }

    #[test]
    fn a_seed_gives_one_year() {
        let shape = Shape::default();
        let first = year(&shape, 2);
        assert!(first == year(&shape, 2));
        assert!(first != year(&shape, 3));
    }
}
