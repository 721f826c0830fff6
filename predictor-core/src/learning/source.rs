//! Which forecasts of waits are in force in a partition.
//!
//! The default's bounds count where they were tried and held. They were tried on at least [`FEWEST_OUTCOMES`] jobs of the partition. They held
//! if, at each of the levels that decisions use, the observed share lies within [`MOST_OFF`] of the nominal one. A calibrated forecast is off by
//! more than 0.1 at the median of 200 outcomes once in two hundred times, and less often elsewhere or with more outcomes, so that it is
//! hardly ever given up by chance; and a bound that is off by more than 0.1 at 0.95 fails three times as often as it says, which no promise
//! can rest on. What was given up comes back only when it is within [`MOST_OFF_TO_RETURN`], so that the source does not change at every refresh.

use super::Scores;
use crate::forecast::WaitSource;
use crate::snapshot::WaitSourceReason;

/// Fewest outcomes that say anything.
const FEWEST_OUTCOMES: u32 = 200;

/// By how much the observed share may be off the nominal one.
const MOST_OFF: f64 = 0.1;

/// And by how much for what was given up to return.
const MOST_OFF_TO_RETURN: f64 = 0.07;

/// The levels at which that is looked at.
const LEVELS: [f64; 4] = [0.5, 0.75, 0.9, 0.95];

/// Fewest waits of a partition for a bound of QBETS on the 95th percentile at 95 % confidence.
const FEWEST_WAITS: u64 = 59;

/// The forecasts in force, and why those.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Which.
    pub source: WaitSource,
    /// Why.
    pub reason: WaitSourceReason,
}

/// Other forecasts than before are in force in a partition, or for another reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Index of the partition.
    pub partition: u16,
    /// What was in force; `None` where the partition is new.
    pub before: Option<Choice>,
    /// What is.
    pub now: Choice,
    /// Jobs that the default was tried on.
    pub jobs: u32,
    /// The observed share that is farthest from its nominal level, and that level.
    pub farthest: (f64, f64),
}

/// The observed share that is farthest off, and the level that it belongs to.
pub(super) fn farthest(scores: &Scores) -> (f64, f64) {
    let shares = LEVELS.map(|level| (scores.coverage(level), level));
    let off = |(share, level): &(f64, f64)| (share - level).abs();
    shares.into_iter().max_by(|one, other| off(one).total_cmp(&off(other))).unwrap_or_default()
}

/// What is to be in force where `before` was, in a partition that has seen so many waits.
pub(super) fn choose(before: Choice, is_trained: bool, scores: &Scores, waits: u64) -> Choice {
    let fallback = if waits >= FEWEST_WAITS { WaitSource::Qbets } else { WaitSource::Nothing };
    if !is_trained {
        return Choice { source: fallback, reason: WaitSourceReason::NotTrained };
    }
    if scores.jobs() < FEWEST_OUTCOMES {
        return Choice { source: fallback, reason: WaitSourceReason::TooFewJobs };
    }
    let (share, level) = farthest(scores);
    let most = if before.reason == WaitSourceReason::NotCalibrated { MOST_OFF_TO_RETURN } else { MOST_OFF };
    // Shares are multiples of one in some hundreds; what lies at the limit itself is within it.
    if (share - level).abs() <= most + 1e-9 {
        Choice { source: WaitSource::Blended, reason: WaitSourceReason::Calibrated }
    } else {
        Choice { source: fallback, reason: WaitSourceReason::NotCalibrated }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binomial::PERCENTILES;

    /// Scores of jobs of which such a part lies below every bound, and the others are spread evenly.
    fn scores(jobs: u32, below: f64) -> Scores {
        let bounds_s: [u32; PERCENTILES] = std::array::from_fn(|index| 10 * (index as u32 + 1));
        let mut scores = Scores::default();
        for job in 0..jobs {
            let place = (f64::from(job) + 0.5) / f64::from(jobs);
            let wait_s = if place < below { 0 } else { (1_000.0 * (place - below) / (1.0 - below)) as i64 };
            scores.learn(0.0, &bounds_s, wait_s, 0.5);
        }
        scores
    }

    #[test]
    fn there_is_nothing_before_there_are_waits_then_qbets_then_the_default() {
        let choose = |is_trained, outcomes, waits| {
            let choice = choose(Choice::default(), is_trained, &scores(outcomes, 0.0), waits);
            (choice.source, choice.reason)
        };
        assert_eq!(choose(false, 0, 58), (WaitSource::Nothing, WaitSourceReason::NotTrained));
        assert_eq!(choose(false, 0, 59), (WaitSource::Qbets, WaitSourceReason::NotTrained));
        assert_eq!(choose(true, 199, 1_000), (WaitSource::Qbets, WaitSourceReason::TooFewJobs));
        assert_eq!(choose(true, 10, 20), (WaitSource::Nothing, WaitSourceReason::TooFewJobs));
        assert_eq!(choose(true, 200, 1_000), (WaitSource::Blended, WaitSourceReason::Calibrated));
    }

    #[test]
    fn what_is_off_is_given_up_and_returns_only_when_it_is_clearly_better() {
        let blended = Choice { source: WaitSource::Blended, reason: WaitSourceReason::Calibrated };
        // With a part p below everything the share at 0.5 is p + (1 - p) / 2: off by p / 2.
        let off = scores(2_000, 0.24);
        let (share, level) = farthest(&off);
        assert!((share - 0.62).abs() < 0.01 && level == 0.5);
        let given_up = choose(blended, true, &off, 1_000);
        assert_eq!((given_up.source, given_up.reason), (WaitSource::Qbets, WaitSourceReason::NotCalibrated));
        let better = scores(2_000, 0.16);
        assert_eq!(choose(blended, true, &better, 1_000), blended, "off by 0.08 is no reason to give it up");
        assert_eq!(choose(given_up, true, &better, 1_000), given_up, "nor one to take it up again");
        assert_eq!(choose(given_up, true, &scores(2_000, 0.1), 1_000), blended);
    }
}
