//! Chooses, among several sizes, the one at which a job is taken to be done first. A plan of the
//! queue says when the job would start at each.
//!
//! Nothing is known of how a program's run time changes with its size: past runs at other sizes are
//! of other computations. So what a size costs is taken from the careful end of what can be: fewer
//! CPUs make the job as much longer, and more of them gain only the square root. A job is made
//! smaller where the wait saved is worth that, and larger only into CPUs that nobody waits for.

use job_types::time::{Seconds, UnixTime};

/// A size at which a job could be submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// CPUs.
    pub cpus: u32,
    /// How long the job is expected to wait at that size.
    pub wait: Seconds,
}

/// What is assumed about the run time of a job at another size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScalingModel {
    /// Run time on a part of the CPUs: one over that part to this power.
    pub slower: f64,
    /// Run time on a multiple of the CPUs: one over that multiple to this power.
    pub faster: f64,
    /// The part of the CPUs that stays free where a job is made larger.
    pub spare: f64,
    /// A job that is forecast to run longer is not made larger: that nobody waits now says nothing
    /// of the hours that it would keep the CPUs for.
    pub longest_to_grow: Seconds,
}

impl Default for ScalingModel {
    /// Chosen by what they were worth on workload logs: docs/molding.md.
    fn default() -> ScalingModel {
        ScalingModel { slower: 1.0, faster: 0.5, spare: 0.5, longest_to_grow: Seconds(3_600) }
    }
}

impl ScalingModel {
    /// The run time to take on `to` CPUs of a job that is forecast to run so long on `from`.
    #[must_use]
    pub fn run_time(&self, run_time: Seconds, from: u32, to: u32) -> Seconds {
        let ratio = f64::from(from.max(1)) / f64::from(to.max(1));
        let power = if to < from { self.slower } else { self.faster };
        // The tables that a power is taken by are seldom in the cache, and the first power of a
        // number is that number.
        let factor = if power == 1.0 { ratio } else { ratio.powf(power) };
        Seconds((run_time.0 as f64 * factor).ceil() as i64)
    }

    /// Returns the response time, which is wait and run time, that is expected of an offer.
    /// `run_time` is the job's forecast run time on `from` CPUs.
    #[must_use]
    pub fn response(&self, run_time: Seconds, from: u32, offer: Offer) -> Seconds {
        offer.wait + self.run_time(run_time, from, offer.cpus)
    }

    /// The place of the offer with the shortest response, where that is shorter than the response
    /// as written. Of equals the one nearer to the front is taken.
    #[must_use]
    pub fn best(&self, run_time: Seconds, written: Offer, others: &[Offer]) -> Option<usize> {
        let response = |offer: Offer| self.response(run_time, written.cpus, offer);
        let best = others.iter().enumerate().map(|(place, offer)| (response(*offer), place)).min();
        best.filter(|(best, _)| *best < response(written)).map(|(_, place)| place)
    }

    /// The most CPUs that a job may be made larger to, which starts at once on `written`: twice as
    /// many, and of so many that are `free` of `all` the spare part stays free. With jobs that
    /// wait, or for a job that runs long, none.
    #[must_use]
    pub fn room_to_grow(&self, written: u32, run_time: Seconds, free: u64, all: u64, waiting_jobs: u64) -> u64 {
        if waiting_jobs > 0 || run_time > self.longest_to_grow {
            return 0;
        }
        free.saturating_sub((all as f64 * self.spare).ceil() as u64).min(2 * u64::from(written))
    }
}

/// The earliest moment from `now` on at which so many CPUs are free for so long, by steps that say
/// from when on how many are. `None` where there is none.
#[must_use]
pub fn earliest(steps: &[(UnixTime, u32)], now: UnixTime, cpus: u64, duration: Seconds) -> Option<UnixTime> {
    // What holds now is the last step that is not in the future, or else the first of all.
    let first = steps.partition_point(|(from, _)| *from <= now).saturating_sub(1);
    let mut start: Option<UnixTime> = None;
    for (from, free) in steps.get(first..)? {
        if start.is_some_and(|start| *from >= start + duration.max(Seconds(1))) {
            break;
        }
        start = if u64::from(*free) < cpus { None } else { start.or(Some((*from).max(now))) };
    }
    start
}

/// The time limit on `to` CPUs of a job with `limit` on `from`: in proportion on fewer, which is
/// enough for everything that does not run faster on fewer CPUs for the same work; the same on
/// more.
#[must_use]
pub fn limit_at(limit: Seconds, from: u32, to: u32) -> Seconds {
    if to >= from {
        return limit;
    }
    Seconds((limit.0 as f64 * f64::from(from) / f64::from(to.max(1))).ceil() as i64)
}

/// The sizes to try besides `written`: its eighths, its halves down to a 64th, and its double.
pub fn sizes_to_try(written: u32) -> impl Iterator<Item = u32> {
    let eighths = (1..8).rev().map(move |part| (u64::from(written) * part / 8) as u32);
    let halves = (4..7).map(move |power| written >> power);
    eighths.chain(halves).chain(written.checked_mul(2)).filter(|size| *size > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn offer(cpus: u32, wait_s: i64) -> Offer {
        Offer { cpus, wait: Seconds(wait_s) }
    }

    #[test]
    fn a_wait_that_is_saved_is_weighed_against_a_run_time_in_proportion() {
        let terms = ScalingModel::default();
        // 5,000 + 500 as written; 500 * 4 on a quarter, 500 * 2 on half after another 1,500.
        let others = [offer(8, 1_500), offer(4, 100), offer(2, 0)];
        assert_eq!(terms.best(Seconds(500), offer(16, 5_000), &others), Some(1));
        assert_eq!(terms.best(Seconds(500), offer(16, 2_000), &others), Some(1));
        // 1,700 against 2,100 and 2,500.
        assert_eq!(terms.best(Seconds(500), offer(16, 1_200), &others), None);
    }

    #[test]
    fn more_cpus_gain_the_square_root() {
        let terms = ScalingModel::default();
        assert_eq!(terms.run_time(Seconds(1_000), 4, 16), Seconds(500));
        assert_eq!(terms.run_time(Seconds(1_000), 16, 4), Seconds(4_000));
        assert_eq!(terms.best(Seconds(1_000), offer(4, 0), &[offer(16, 0)]), Some(0));
        assert_eq!(terms.best(Seconds(1_000), offer(4, 0), &[offer(16, 499)]), Some(0));
        assert_eq!(terms.best(Seconds(1_000), offer(4, 0), &[offer(16, 500)]), None, "no sooner");
    }

    #[test]
    fn nothing_grows_where_jobs_wait_or_into_the_spare_part() {
        let terms = ScalingModel::default();
        assert_eq!(terms.room_to_grow(64, Seconds(60), 100, 128, 0), 36);
        assert_eq!(terms.room_to_grow(64, Seconds(60), 60, 128, 0), 0);
        assert_eq!(terms.room_to_grow(64, Seconds(60), 128, 128, 1), 0);
        assert_eq!(terms.room_to_grow(4, Seconds(60), 100, 128, 0), 8);
        assert_eq!(terms.room_to_grow(4, Seconds(100_000), 100, 128, 0), 0);
    }

    #[test]
    fn a_job_fits_where_enough_is_free_for_long_enough() {
        let steps = [(0, 2), (100, 8), (200, 4), (300, 16)].map(|(at, free)| (UnixTime(at), free));
        let start = |now: i64, cpus, seconds| earliest(&steps, UnixTime(now), cpus, Seconds(seconds)).map(|at| at.0);
        assert_eq!((start(50, 2, 1_000), start(50, 8, 100), start(50, 8, 101)), (Some(50), Some(100), Some(300)));
        assert_eq!((start(150, 8, 50), start(150, 8, 51), start(400, 16, 9), start(400, 17, 9)), (Some(150), Some(300), Some(400), None));
        assert_eq!((start(-10, 2, 5), earliest(&[], UnixTime(0), 1, Seconds(1))), (Some(0), None));
    }

    #[test]
    fn sizes_are_parts_and_the_double() {
        assert_eq!(sizes_to_try(64).collect::<Vec<_>>(), [56, 48, 40, 32, 24, 16, 8, 4, 2, 1, 128]);
        assert_eq!(sizes_to_try(2).collect::<Vec<_>>(), [1, 1, 1, 1, 4]);
        assert_eq!(sizes_to_try(1).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn limits_grow_in_proportion_and_never_shrink() {
        assert_eq!(limit_at(Seconds(600), 16, 4), Seconds(2_400));
        assert_eq!(limit_at(Seconds(100), 3, 2), Seconds(150));
        assert_eq!(limit_at(Seconds(600), 4, 16), Seconds(600));
    }

    proptest! {
        #[test]
        fn what_is_chosen_is_forecast_to_end_sooner(run_time in 1i64..1_000_000, wait in 0i64..1_000_000, others in prop::collection::vec((1u32..500, 0i64..1_000_000), 0..20)) {
            let terms = ScalingModel::default();
            let others: Vec<Offer> = others.into_iter().map(|(cpus, wait)| offer(cpus, wait)).collect();
            if let Some(chosen) = terms.best(Seconds(run_time), offer(64, wait), &others) {
                let response = others[chosen].wait + terms.run_time(Seconds(run_time), 64, others[chosen].cpus);
                prop_assert!(response.0 < wait + run_time);
            }
        }
    }
}
