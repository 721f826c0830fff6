//! Chooses the forecasts of waits that are in force in a partition: the default's, or QBETS's.
//!
//! Both are held against the same jobs, the latest [`FEWEST_OUTCOMES`] to 2,000 of the partition
//! that the default has forecast, by two measures.
//!
//! **Loss**: the mean pinball loss over the percentiles 1 to 99, a proper score, which grows with
//! bounds that do not hold as with bounds that are longer than they need to be. The default gives
//! way where its loss is larger than QBETS's by more than [`MOST_EXCESS`], and the difference is
//! more than [`BEYOND_CHANCE`] standard errors. The standard error is that of the means of blocks
//! of consecutive jobs: waits of jobs that start one after the other are alike.
//!
//! **Bounds**: a loss in seconds is made up of the longest waits, and says little of promises that
//! are broken by a few minutes each. So the default also gives way where, at one of
//! [`PROMISED_LEVELS`], the share of jobs within its bound is too small by more than [`TOO_SELDOM`]
//! and the share within QBETS's is closer to the level, if QBETS's loss is no more than
//! [`MOST_LOSS_FOR_BOUNDS`] times the default's. Of few outcomes a share is off by chance: it must
//! also lie outside the interval that holds a binomial number with probability 1 - [`BY_CHANCE`]. A
//! bound that holds too often breaks no promise, and is punished by the loss alone.
//!
//! What was given up comes back only when its loss is no larger than QBETS's, and its bounds are
//! within [`TOO_SELDOM_TO_RETURN`], so that the source does not change at every refresh.
//!
//! The constants were chosen on the logs SDSC SP2, SDSC Blue, KTH SP2 and HPC2N; docs/forecasts.md
//! has what came of them there and on the others.

use super::Scores;
use super::comparison::Losses;
use job_types::number::PartitionIndex;
use job_types::record::WaitSource;
use predictor_core::forecasts::reliability::WaitSourceReason;
use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, DiscreteCDF};

/// Fewest outcomes that say anything.
const FEWEST_OUTCOMES: u32 = 200;

/// The part by which the default's loss may be larger than QBETS's.
const MOST_EXCESS: f64 = 0.05;

/// The part by which the default's loss, once it was given up, may be larger for it to return.
const MOST_EXCESS_TO_RETURN: f64 = 0.0;

/// How many standard errors a difference of the losses has to be for it not to be chance.
const BEYOND_CHANCE: f64 = 2.0;

/// The most by which the observed share may fall short of the nominal one where QBETS's bounds hold
/// better at about the same loss.
const TOO_SELDOM: f64 = 0.05;

/// [`TOO_SELDOM`] for the default, once given up, to return.
const TOO_SELDOM_TO_RETURN: f64 = 0.03;

/// How many times the default's loss QBETS's may be for the sake of bounds that hold.
const MOST_LOSS_FOR_BOUNDS: f64 = 1.1;

/// The probability that a share that is as it should be is farther off than what counts as chance.
const BY_CHANCE: f64 = 0.005;

/// The levels of bounds that are told as promises.
const PROMISED_LEVELS: [f64; 2] = [0.9, 0.95];

/// The levels among which the farthest share is told.
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
    /// The default's observed share that is farthest from its nominal level, and that level.
    pub farthest: (f64, f64),
    /// Mean pinball losses of the default and of QBETS on the same jobs, in seconds.
    pub losses_s: [f64; 2],
}

/// What the sources have shown in a partition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tried<'a> {
    /// Whether the default has any trees.
    pub(super) is_trained: bool,
    /// How the default did.
    pub(super) default: &'a Scores,
    /// How QBETS did on the same jobs.
    pub(super) qbets: &'a Scores,
    /// The losses of both.
    pub(super) losses: Losses,
    /// How many waits of the partition are known.
    pub(super) waits: u64,
}

/// The observed share that is farthest off, and the level that it belongs to.
pub(super) fn farthest(scores: &Scores) -> (f64, f64) {
    let shares = LEVELS.map(|level| (scores.coverage(level), level));
    let off = |(share, level): &(f64, f64)| (share - level).abs();
    shares.into_iter().max_by(|one, other| off(one).total_cmp(&off(other))).unwrap_or_default()
}

/// What is to be in force where `before` was.
pub(super) fn choose(before: Choice, tried: &Tried<'_>) -> Choice {
    let fallback = if tried.waits >= FEWEST_WAITS { WaitSource::Qbets } else { WaitSource::Nothing };
    if !tried.is_trained {
        return Choice { source: fallback, reason: WaitSourceReason::NotTrained };
    }
    if tried.default.jobs() < FEWEST_OUTCOMES {
        return Choice { source: fallback, reason: WaitSourceReason::TooFewJobs };
    }
    let limits = match before.reason {
        WaitSourceReason::NotCalibrated | WaitSourceReason::LargerLoss => TO_RETURN,
        _ => TO_STAY,
    };
    if limits.has_larger_loss(&tried.losses) {
        Choice { source: fallback, reason: WaitSourceReason::LargerLoss }
    } else if PROMISED_LEVELS.into_iter().any(|level| limits.holds_too_seldom(tried, level)) {
        Choice { source: fallback, reason: WaitSourceReason::NotCalibrated }
    } else {
        Choice { source: WaitSource::Blended, reason: WaitSourceReason::Calibrated }
    }
}

/// How much worse than QBETS the default may be.
struct Limits {
    most_excess: f64,
    beyond_chance: f64,
    too_seldom: f64,
    by_chance: f64,
}

const TO_STAY: Limits = Limits { most_excess: MOST_EXCESS, beyond_chance: BEYOND_CHANCE, too_seldom: TOO_SELDOM, by_chance: BY_CHANCE };

/// What was given up has to show that it is better, and chance is no excuse.
const TO_RETURN: Limits =
    Limits { most_excess: MOST_EXCESS_TO_RETURN, beyond_chance: 0.0, too_seldom: TOO_SELDOM_TO_RETURN, by_chance: 1.0 };

impl Limits {
    /// Whether the default's loss is larger than QBETS's by more than it may be, and than chance
    /// makes it.
    fn has_larger_loss(&self, losses: &Losses) -> bool {
        let excess_s = losses.default_s - losses.qbets_s;
        excess_s > self.most_excess * losses.qbets_s && excess_s > self.by_errors_s(losses)
    }

    fn by_errors_s(&self, losses: &Losses) -> f64 {
        // Without an error to speak of nothing is beyond chance, and nothing needs to be.
        if self.beyond_chance > 0.0 { self.beyond_chance * losses.error_s } else { 0.0 }
    }

    /// Whether the default's bound at a level holds so seldom that QBETS's is to stand in for it.
    fn holds_too_seldom(&self, tried: &Tried<'_>, level: f64) -> bool {
        let [default, qbets] = [tried.default, tried.qbets].map(|scores| scores.coverage(level) - level);
        // Shares are multiples of one in some hundreds; what lies at the limit itself is within it.
        -default > self.too_seldom + 1e-9
            && qbets.abs() < default.abs()
            && tried.losses.qbets_s <= MOST_LOSS_FOR_BOUNDS * tried.losses.default_s
            && self.is_beyond_chance(tried.default, level)
    }

    /// Whether so few jobs within the bound at a level are told from what they should be.
    fn is_beyond_chance(&self, scores: &Scores, level: f64) -> bool {
        let Ok(binomial) = Binomial::new(level, u64::from(scores.jobs())) else { return true };
        binomial.cdf(u64::from(scores.held(level))) < self.by_chance / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::comparison::Comparison;
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

    /// Losses of which chance makes nothing.
    fn losses(default_s: f64, qbets_s: f64) -> Losses {
        Losses { default_s, qbets_s, error_s: 0.0 }
    }

    /// What is chosen where QBETS's bounds hold as often as they should.
    fn chosen(before: Choice, default: &Scores, losses: Losses) -> Choice {
        choose(before, &Tried { is_trained: true, default, qbets: &scores(2_000, 0.0, 0.0), losses, waits: 1_000 })
    }

    const BLENDED: Choice = Choice { source: WaitSource::Blended, reason: WaitSourceReason::Calibrated };
    const BOUNDS: Choice = Choice { source: WaitSource::Qbets, reason: WaitSourceReason::NotCalibrated };
    const LOSS: Choice = Choice { source: WaitSource::Qbets, reason: WaitSourceReason::LargerLoss };

    #[test]
    fn there_is_nothing_before_there_are_waits_then_qbets_then_the_default() {
        let choose = |is_trained, outcomes, waits| {
            let (default, qbets) = (scores(outcomes, 0.0, 0.0), Scores::default());
            let tried = Tried { is_trained, default: &default, qbets: &qbets, losses: losses(1.0, 1.0), waits };
            let choice = choose(Choice::default(), &tried);
            (choice.source, choice.reason)
        };
        assert_eq!(choose(false, 0, 58), (WaitSource::Nothing, WaitSourceReason::NotTrained));
        assert_eq!(choose(false, 0, 59), (WaitSource::Qbets, WaitSourceReason::NotTrained));
        assert_eq!(choose(true, 199, 1_000), (WaitSource::Qbets, WaitSourceReason::TooFewJobs));
        assert_eq!(choose(true, 10, 20), (WaitSource::Nothing, WaitSourceReason::TooFewJobs));
        assert_eq!(choose(true, 200, 1_000), (WaitSource::Blended, WaitSourceReason::Calibrated));
    }

    #[test]
    fn a_loss_that_is_larger_by_more_than_five_percent_is_given_up() {
        let sound = scores(2_000, 0.0, 0.0);
        assert_eq!(chosen(BLENDED, &sound, losses(104.0, 100.0)), BLENDED);
        assert_eq!(chosen(BLENDED, &sound, losses(106.0, 100.0)), LOSS);
    }

    #[test]
    fn a_loss_that_chance_may_have_made_larger_is_not_given_up() {
        let sound = scores(2_000, 0.0, 0.0);
        assert_eq!(chosen(BLENDED, &sound, Losses { error_s: 11.0, ..losses(120.0, 100.0) }), BLENDED);
        assert_eq!(chosen(BLENDED, &sound, Losses { error_s: 9.0, ..losses(120.0, 100.0) }), LOSS);
        assert_eq!(chosen(BLENDED, &sound, Losses { error_s: f64::INFINITY, ..losses(120.0, 100.0) }), BLENDED);
    }

    #[test]
    fn what_was_given_up_returns_only_when_its_loss_is_no_larger() {
        let sound = scores(2_000, 0.0, 0.0);
        for given_up in [LOSS, BOUNDS] {
            assert_eq!(chosen(given_up, &sound, Losses { error_s: 50.0, ..losses(101.0, 100.0) }), LOSS);
            assert_eq!(chosen(given_up, &sound, losses(99.0, 100.0)), BLENDED);
        }
    }

    #[test]
    fn bounds_that_hold_too_seldom_give_way_to_those_of_qbets_at_about_the_same_loss() {
        // With a part a above everything the share at 0.95 is 0.95 (1 - a).
        let off = scores(2_000, 0.0, 0.063);
        let (share, level) = farthest(&off);
        assert!((share - 0.89).abs() < 0.002 && level == 0.95, "{share} {level}");
        assert_eq!(chosen(BLENDED, &off, losses(100.0, 105.0)), BOUNDS, "too seldom by 0.06");
        assert_eq!(chosen(BLENDED, &off, losses(100.0, 115.0)), BLENDED, "QBETS's loss is too large");
        assert_eq!(chosen(BLENDED, &scores(2_000, 0.0, 0.042), losses(100.0, 105.0)), BLENDED, "too seldom by 0.04");
        assert_eq!(chosen(BOUNDS, &scores(2_000, 0.0, 0.042), losses(100.0, 105.0)), BOUNDS, "too seldom by 0.04 to return");
        assert_eq!(chosen(BOUNDS, &scores(2_000, 0.0, 0.026), losses(100.0, 105.0)), BLENDED, "too seldom by 0.025");
    }

    #[test]
    fn bounds_that_hold_too_seldom_stay_where_those_of_qbets_are_no_better() {
        let off = scores(2_000, 0.0, 0.2);
        let tried = Tried { is_trained: true, default: &off, qbets: &scores(2_000, 0.0, 0.3), losses: losses(1.0, 1.0), waits: 1_000 };
        assert_eq!(choose(BLENDED, &tried), BLENDED);
    }

    #[test]
    fn a_median_that_holds_too_seldom_is_left_to_the_loss() {
        // Of each hundred jobs seven that should be below the median are between it and 0.9.
        let mut off = Scores::default();
        let bounds_s: [u32; PERCENTILES] = std::array::from_fn(|index| 10 * (index as u32 + 1));
        for job in 0..2_000 {
            let place = job % 100;
            off.learn(0.0, &bounds_s, 10 * if place < 7 { 70 } else { place } + 5, 0.5);
        }
        assert!(off.coverage(0.5) < 0.44 && off.coverage(0.95) > 0.94, "{} {}", off.coverage(0.5), off.coverage(0.95));
        assert_eq!(chosen(BLENDED, &off, losses(100.0, 104.0)), BLENDED);
    }

    #[test]
    fn bounds_that_hold_too_often_break_no_promise() {
        // With a part p below everything the share at 0.5 is p + (1 - p) / 2: off by p / 2.
        assert_eq!(chosen(BLENDED, &scores(2_000, 0.4, 0.0), losses(100.0, 100.0)), BLENDED, "too often by 0.2");
    }

    #[test]
    fn few_outcomes_are_off_by_chance() {
        // By the binomial distribution with 200 trials and 0.95:
        // P(<= 180) = 0.0027 and P(<= 179) = 0.0012.
        let held = |jobs: u32| scores(200, 0.0, 1.0 - f64::from(jobs) / 190.0);
        assert_eq!((held(180).held(0.95), held(179).held(0.95)), (180, 179));
        assert_eq!(chosen(BLENDED, &held(180), losses(1.0, 1.0)), BLENDED);
        assert_eq!(chosen(BLENDED, &held(179), losses(1.0, 1.0)), BOUNDS);
    }

    #[test]
    fn chance_alone_hardly_ever_gives_up_what_is_as_good() {
        // 40 series of 4,000 waits under forecasts that are right and nearly so, looked at every 20
        // of them.
        let default_s: [u32; PERCENTILES] = std::array::from_fn(|index| 10 * (index as u32 + 1));
        let qbets_s = default_s.map(|bound_s| bound_s + bound_s % 20);
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let (mut looks, mut given_up, mut changes) = (0, 0, 0);
        for _ in 0..40 {
            let (mut default, mut qbets) = (Scores::default(), Scores::default());
            let (mut comparison, mut choice) = (Comparison::default(), Choice::default());
            for outcome in 0..4_000 {
                let wait_s = random.random_range(0..1_000);
                let loss_s = default.learn(0.0, &default_s, wait_s, 0.5);
                comparison.learn(loss_s, qbets.learn(0.0, &qbets_s, wait_s, 0.5));
                if outcome % 20 != 19 || outcome < 200 {
                    continue;
                }
                let tried = Tried { is_trained: true, default: &default, qbets: &qbets, losses: comparison.losses(), waits: 1_000 };
                let now = choose(choice, &tried);
                changes += i32::from(now != choice);
                choice = now;
                looks += 1;
                given_up += i32::from(now != BLENDED);
            }
        }
        // The first change of each series is that from nothing.
        let share = f64::from(given_up) / f64::from(looks);
        assert!(share < 0.04 && changes - 40 < 60, "{share} of the looks, {changes} changes");
    }
}
