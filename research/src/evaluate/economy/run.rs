//! One replay, as it is reported.

use std::time::Instant;

use serde::Serialize;
use simulator::economy::bids::ramp::Ramp;
use simulator::economy::measures::{Delay, Summary};
use simulator::economy::published::{self, Centres};
use simulator::economy::{Bidders, replay};
use simulator::engine::preemptive::{Job, Record, Rules};

use super::Bidding;

/// Into how many equal parts jobs are divided by their bids.
const PARTS: usize = 10;

/// What came out of one way of bidding under one scheduler.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Run {
    pub(super) module: String,
    pub(super) scheduler: String,
    /// `None` where nothing is paid.
    pub(super) price_rule: Option<String>,
    pub(super) overlap: Option<String>,
    pub(super) seed: u64,
    pub(super) ineligible: usize,
    pub(super) cycles: u64,
    pub(super) wall_s: f64,
    pub(super) utilisation: f64,
    #[serde(flatten)]
    pub(super) summary: Summary,
    /// As published of such a run of the year, where it was (table 7.2-I).
    pub(super) published_centre_delay: Option<f64>,
    pub(super) published_centre_dilation: Option<f64>,
    /// Of tenths of the jobs, from the lowest bids to the highest.
    pub(super) mean_delay_by_bid_min: Vec<f64>,
}

impl Run {
    /// Replays the jobs. `bids` are those that are made beforehand.
    pub(super) fn of(bidders: &Bidders, bidding: &Bidding, bids: &[f64], rules: &Rules, seed: u64) -> Self {
        let bidding_of_run = match bidding {
            Bidding::Ramp => simulator::economy::Bidding::Rising(Ramp::default()),
            Bidding::Module(_) | Bidding::File(_) => simulator::economy::Bidding::Given(bids),
        };
        let begin = Instant::now();
        let replay = replay(bidders, bidding_of_run, rules);
        let wall_s = begin.elapsed().as_secs_f64();
        let is_auction = rules.scheduler.walk().is_some();
        Self {
            module: bidding.to_string(),
            scheduler: rules.scheduler.to_string(),
            price_rule: is_auction.then(|| rules.price.to_string()),
            overlap: is_auction.then(|| rules.overlap.to_string()),
            seed,
            ineligible: bidders.ineligible,
            cycles: replay.cycles,
            wall_s,
            utilisation: replay.utilisation,
            summary: Summary::of(&replay.jobs),
            published_centre_delay: None,
            published_centre_dilation: None,
            mean_delay_by_bid_min: by_bid(&replay.jobs),
        }
    }

    /// Puts what was published of such a run beside it.
    pub(super) fn put_published(&mut self, bidding: &Bidding) {
        let Bidding::Module(module) = bidding else { return };
        let Some(row) = published::of(*module) else { return };
        let column = |centres: &Centres| match self.scheduler.as_str() {
            "vickrey" => Some(centres.vickrey),
            "fifo" => Some(centres.fifo),
            "glunix" => Some(centres.glunix),
            _ => None,
        };
        (self.published_centre_delay, self.published_centre_dilation) = (column(&row.delay), column(&row.dilation));
    }
}

/// The mean delays of tenths of the jobs, from the lowest bids to the highest, in minutes. Each job
/// counts with the mean delay of all that bid the same, which have no order among them.
fn by_bid(jobs: &[(Job, Record)]) -> Vec<f64> {
    let mut delays: Vec<(f64, f64)> =
        jobs.iter().map(|(job, record)| (record.bid.credits_per_node_minute(), Delay::of(job, record).minutes())).collect();
    delays.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mean = |part: &[(f64, f64)]| part.iter().map(|(_, delay)| delay).sum::<f64>() / part.len() as f64;
    for equal in delays.chunk_by_mut(|one, other| one.0 == other.0) {
        let of_all = mean(equal);
        equal.iter_mut().for_each(|(_, delay)| *delay = of_all);
    }
    let border = |part: usize| delays.len() * part / PARTS;
    let parts = (0..PARTS).filter_map(|part| delays.get(border(part)..border(part + 1))).filter(|part| !part.is_empty());
    parts.map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use simulator::engine::preemptive::{Bid, Milliseconds};

    #[test]
    fn delays_are_told_from_the_lowest_bids_to_the_highest() {
        let minutes = |minutes: u64| Milliseconds(minutes * Milliseconds::MINUTE.0);
        let job = Job { user: 1, submit: Milliseconds::ZERO, run_time: minutes(1), nodes: 1, is_io_bound: false };
        let delayed = |bid: u64| {
            let (submitted, first_start, end) = (Some(job.submit), Some(minutes(20 - bid)), Some(minutes(21 - bid)));
            (job, Record { bid: Bid::nearest(bid as f64), submitted, first_start, end, ..Record::default() })
        };
        let jobs: Vec<_> = (0..20).rev().map(delayed).collect();
        assert_eq!(by_bid(&jobs), [19.5, 17.5, 15.5, 13.5, 11.5, 9.5, 7.5, 5.5, 3.5, 1.5]);
        assert_eq!(by_bid(&jobs[..1]), [1.0]);
        let alike: Vec<_> = jobs.iter().map(|(job, record)| (*job, Record { bid: Bid::ZERO, ..*record })).collect();
        assert_eq!(by_bid(&alike), [10.5; 10]);
        assert!(by_bid(&[]).is_empty());
    }
}
