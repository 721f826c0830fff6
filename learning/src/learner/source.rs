//! Chooses the forecasts of waits that are in force in a partition.
//!
//! The default's bounds count where they were tried and held. They were tried on at least
//! [`FEWEST_OUTCOMES`] jobs of the partition. They are given up where, at one of the levels that
//! decisions use, the share of jobs within the bound is too small by more than [`TOO_SELDOM`], and
//! by more than chance makes of so few outcomes: where the number of jobs within the bound lies
//! outside the interval that holds a binomial number with probability 1 - [`BY_CHANCE`]. With the
//! 2,000 outcomes that scores keep that interval reaches 0.031 to either side at the median and
//! less at the other levels; with 200 it reaches 0.1 at the median and 0.045 at 0.95.
//!
//! A bound that holds too often breaks no promise, and what stands in is no better there: QBETS's
//! bounds, which hold with 95 % confidence, are met at the median by 0.1 more of the jobs than they
//! say and above on workload logs. So a share that is too large counts only beyond [`TOO_OFTEN`].
//!
//! What was given up comes back only when it is within [`TOO_SELDOM_TO_RETURN`] and
//! [`TOO_OFTEN_TO_RETURN`] at each level, or well within what chance makes of few outcomes, so that
//! the source does not change at every refresh.

use super::Scores;
use job_types::number::PartitionIndex;
use job_types::record::WaitSource;
use predictor_core::forecasts::reliability::WaitSourceReason;
use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, DiscreteCDF};

/// Fewest outcomes that say anything.
const FEWEST_OUTCOMES: u32 = 200;

/// The most by which the observed share may fall short of the nominal one.
const TOO_SELDOM: f64 = 0.03;

/// The most by which the observed share may exceed the nominal one.
const TOO_OFTEN: f64 = 0.1;

/// The most by which the observed share may fall short for the default, once given up, to return.
const TOO_SELDOM_TO_RETURN: f64 = 0.02;

/// The most by which the observed share may exceed the nominal one for the default to return.
const TOO_OFTEN_TO_RETURN: f64 = 0.07;

/// The probability that a share that is as it should be is farther off than what counts as chance.
const BY_CHANCE: f64 = 0.005;

/// The probability that a share that is as it should be is farther off than what lets the default
/// return once it was given up.
const BY_CHANCE_TO_RETURN: f64 = 0.2;

/// The levels at which the shares are compared.
const LEVELS: [f64; 4] = [0.5, 0.75, 0.9, 0.95];

/// Fewest waits of a partition for a bound of QBETS on the 95th percentile at 95 % confidence.
const FEWEST_WAITS: u64 = 59;

/// The forecasts in force, and why those.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The source of forecasts that is in force.
    pub source: WaitSource,
    /// Why it is in force.
    pub reason: WaitSourceReason,
}

/// Other forecasts than before are in force in a partition, or for another reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Index of the partition.
    pub partition: PartitionIndex,
    /// What was in force; `None` where the partition is new.
    pub before: Option<Choice>,
    /// The source that is in force now.
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
    let tolerance = match before.reason {
        WaitSourceReason::NotCalibrated => TO_RETURN,
        _ => TO_STAY,
    };
    if LEVELS.into_iter().all(|level| tolerance.holds(scores, level)) {
        Choice { source: WaitSource::Blended, reason: WaitSourceReason::Calibrated }
    } else {
        Choice { source: fallback, reason: WaitSourceReason::NotCalibrated }
    }
}

/// How far a share may be off.
struct Tolerance {
    too_seldom: f64,
    too_often: f64,
    by_chance: f64,
}

const TO_STAY: Tolerance = Tolerance { too_seldom: TOO_SELDOM, too_often: TOO_OFTEN, by_chance: BY_CHANCE };

const TO_RETURN: Tolerance = Tolerance { too_seldom: TOO_SELDOM_TO_RETURN, too_often: TOO_OFTEN_TO_RETURN, by_chance: BY_CHANCE_TO_RETURN };

impl Tolerance {
    /// Whether the bound at a level holds as often as it should: about so often, or not told from
    /// that by so few outcomes.
    fn holds(&self, scores: &Scores, level: f64) -> bool {
        let (jobs, held) = (scores.jobs(), scores.held(level));
        let excess = f64::from(held) / f64::from(jobs.max(1)) - level;
        // Shares are multiples of one in some hundreds; what lies at the limit itself is within it.
        if (-self.too_seldom - 1e-9..=self.too_often + 1e-9).contains(&excess) {
            return true;
        }
        let Ok(binomial) = Binomial::new(level, u64::from(jobs)) else { return false };
        let at_most = binomial.cdf(u64::from(held));
        let at_least = if held == 0 { 1.0 } else { 1.0 - binomial.cdf(u64::from(held) - 1) };
        at_most.min(at_least) >= self.by_chance / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use predictor_core::forecasts::forecast::PERCENTILES;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Scores of jobs of which such parts wait for less than every bound and longer than every
    /// bound; the others are spread evenly.
    fn scores(jobs: u32, below: f64, above: f64) -> Scores {
        let bounds_s: [u32; PERCENTILES] = std::array::from_fn(|index| 10 * (index as u32 + 1));
        let mut scores = Scores::default();
        for job in 0..jobs {
            let place = (f64::from(job) + 0.5) / f64::from(jobs);
            let wait_s = match place {
                place if place < below => 0,
                place if place > 1.0 - above => 5_000,
                place => (1_000.0 * (place - below) / (1.0 - below - above)) as i64,
            };
            scores.learn(0.0, &bounds_s, wait_s, 0.5);
        }
        scores
    }

    #[test]
    fn there_is_nothing_before_there_are_waits_then_qbets_then_the_default() {
        let choose = |is_trained, outcomes, waits| {
            let choice = choose(Choice::default(), is_trained, &scores(outcomes, 0.0, 0.0), waits);
            (choice.source, choice.reason)
        };
        assert_eq!(choose(false, 0, 58), (WaitSource::Nothing, WaitSourceReason::NotTrained));
        assert_eq!(choose(false, 0, 59), (WaitSource::Qbets, WaitSourceReason::NotTrained));
        assert_eq!(choose(true, 199, 1_000), (WaitSource::Qbets, WaitSourceReason::TooFewJobs));
        assert_eq!(choose(true, 10, 20), (WaitSource::Nothing, WaitSourceReason::TooFewJobs));
        assert_eq!(choose(true, 200, 1_000), (WaitSource::Blended, WaitSourceReason::Calibrated));
    }

    const BLENDED: Choice = Choice { source: WaitSource::Blended, reason: WaitSourceReason::Calibrated };
    const GIVEN_UP: Choice = Choice { source: WaitSource::Qbets, reason: WaitSourceReason::NotCalibrated };

    #[test]
    fn bounds_that_hold_too_seldom_by_more_than_three_points_are_given_up() {
        // With a part a above everything the share at 0.95 is 0.95 (1 - a).
        let off = scores(2_000, 0.0, 0.042);
        let (share, level) = farthest(&off);
        assert!((share - 0.91).abs() < 0.002 && level == 0.95, "{share} {level}");
        assert_eq!(choose(BLENDED, true, &off, 1_000), GIVEN_UP);
        assert_eq!(choose(BLENDED, true, &off, 58).source, WaitSource::Nothing);
        assert_eq!(choose(BLENDED, true, &scores(2_000, 0.0, 0.026), 1_000), BLENDED, "too seldom by 0.025");
    }

    #[test]
    fn bounds_that_hold_too_often_are_given_up_only_where_those_of_qbets_are_closer() {
        // With a part p below everything the share at 0.5 is p + (1 - p) / 2: off by p / 2.
        assert_eq!(choose(BLENDED, true, &scores(2_000, 0.18, 0.0), 1_000), BLENDED, "too often by 0.09");
        assert_eq!(choose(BLENDED, true, &scores(2_000, 0.22, 0.0), 1_000), GIVEN_UP, "too often by 0.11");
        assert_eq!(choose(GIVEN_UP, true, &scores(2_000, 0.18, 0.0), 1_000), GIVEN_UP);
        assert_eq!(choose(GIVEN_UP, true, &scores(2_000, 0.12, 0.0), 1_000), BLENDED, "too often by 0.06");
    }

    #[test]
    fn what_was_given_up_returns_only_when_it_is_clearly_better() {
        assert_eq!(choose(GIVEN_UP, true, &scores(2_000, 0.0, 0.026), 1_000), GIVEN_UP, "too seldom by 0.025");
        assert_eq!(choose(GIVEN_UP, true, &scores(2_000, 0.0, 0.016), 1_000), BLENDED, "too seldom by 0.015");
    }

    #[test]
    fn few_outcomes_are_off_by_chance() {
        // By the binomial distribution with 200 trials and 0.95:
        // P(<= 180) = 0.0027 and P(<= 179) = 0.0012.
        let held = |jobs: u32| scores(200, 0.0, 1.0 - f64::from(jobs) / 190.0);
        assert_eq!((held(180).held(0.95), held(179).held(0.95)), (180, 179));
        assert_eq!(choose(BLENDED, true, &held(180), 1_000), BLENDED);
        assert_eq!(choose(BLENDED, true, &held(179), 1_000), GIVEN_UP);
    }

    #[test]
    fn chance_alone_hardly_ever_gives_up_what_holds() {
        // 40 series of 4,000 outcomes that are as they should be, looked at every 20 of them.
        let bounds_s: [u32; PERCENTILES] = std::array::from_fn(|index| 10 * (index as u32 + 1));
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let (mut looks, mut given_up, mut changes) = (0, 0, 0);
        for _ in 0..40 {
            let (mut scores, mut choice) = (Scores::default(), Choice::default());
            for outcome in 0..4_000 {
                scores.learn(0.0, &bounds_s, random.random_range(0..1_000), 0.5);
                if outcome % 20 != 19 || outcome < 200 {
                    continue;
                }
                let now = choose(choice, true, &scores, 1_000);
                changes += i32::from(now != choice);
                choice = now;
                looks += 1;
                given_up += i32::from(now == GIVEN_UP);
            }
        }
        // The first change of each series is that from nothing.
        let share = f64::from(given_up) / f64::from(looks);
        assert!(share < 0.04 && changes - 40 < 60, "{share} of the looks, {changes} changes");
    }
}
