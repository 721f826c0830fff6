//! What jobs with deadlines have taught about the next ones: how much longer than their run times
//! users give them, how long jobs wait beside what the plan of the queue says, and how often what
//! was promised was kept.
//!
//! A deadline says something of the run time: who gives an hour to a job whose limit is a day knows
//! that it is short. How much it says is learnt from jobs that have ended, and where deadlines say
//! nothing, because users give them whatever they run, the distribution is so wide that it changes
//! nothing.

use serde::{Deserialize, Serialize};

/// How many classes of ratios there are.
pub const CLASSES: usize = 32;

/// Binary logarithm of the ratio at which the first class begins.
const FIRST_LOG2: f64 = -6.0;

/// How many classes a factor of two has.
const CLASSES_OF_A_DOUBLING: f64 = 2.0;

/// Most observations that are counted; older ones count less.
const MOST_OBSERVATIONS: f32 = 5_000.0;

/// The part of the counts that is kept when there are more observations.
const KEPT_PART: f32 = 0.9;

/// How far one outcome moves the probability that is asked for.
const STEP: f64 = 0.02;

/// The lowest and the highest probability that is ever asked of a forecast.
const ASKED: (f64, f64) = (0.05, 0.99);

/// The lowest probability with which a job is admitted, however often promises are kept: what is
/// less likely to be in time takes more from others than it has itself. Chosen by what was
/// fulfilled on workload logs (docs/deadlines.md).
const LEAST_ADMITTED: f64 = 0.3;

/// How far one outcome moves the lowest probability that is admitted.
const LEEWAY_STEP: f64 = 0.05;

/// The part of what may be missed that is kept in reserve, because what is learnt lags behind.
const RESERVE: f64 = 0.25;

/// Up to so long a wait that was planned counts as none: a plan is that old before it is renewed.
const AT_ONCE_S: f64 = 60.0;

/// What is added to a wait before it is compared with another, in seconds: between 0 and 10 s there
/// is no difference worth a factor.
const WAIT_OFFSET_S: f64 = 30.0;

/// Counts of the ratios of two durations, in classes of half a doubling from 1/64 to 1,024.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratios {
    counts: [f32; CLASSES],
}

/// The ratios with these counts by class. A count that is not finite, or below 0, counts as 0.
impl From<[f32; CLASSES]> for Ratios {
    fn from(counts: [f32; CLASSES]) -> Self {
        Ratios { counts: counts.map(|count| if count.is_finite() { count.max(0.0) } else { 0.0 }) }
    }
}

impl Ratios {
    /// Nothing is known: each class is as likely as any other.
    #[must_use]
    pub fn unknown() -> Ratios {
        Ratios { counts: [1.0; CLASSES] }
    }

    /// The counts, to be published.
    #[must_use]
    pub fn published(&self) -> [f32; CLASSES] {
        self.counts
    }

    /// The place of a ratio on the scale of the classes.
    fn position(ratio: f64) -> f64 {
        let position = (ratio.max(f64::MIN_POSITIVE).log2() - FIRST_LOG2) * CLASSES_OF_A_DOUBLING;
        position.clamp(0.0, CLASSES as f64)
    }

    fn class(ratio: f64) -> usize {
        (Ratios::position(ratio) as usize).min(CLASSES - 1)
    }

    fn sum(&self) -> f64 {
        f64::from(self.counts.iter().sum::<f32>())
    }

    /// A ratio has come.
    pub fn observe(&mut self, ratio: f64) {
        if let Some(count) = self.counts.get_mut(Ratios::class(ratio)) {
            *count += 1.0;
        }
        if self.counts.iter().sum::<f32>() > MOST_OBSERVATIONS {
            self.counts.iter_mut().for_each(|count| *count *= KEPT_PART);
        }
    }

    /// How likely the class of a ratio is.
    #[must_use]
    pub fn likelihood(&self, ratio: f64) -> f64 {
        self.likelihoods()(ratio)
    }

    /// Returns [`Ratios::likelihood`] as a function, which sums the counts once for many ratios.
    pub fn likelihoods(&self) -> impl Fn(f64) -> f64 {
        let sum = self.sum();
        move |ratio| {
            let count = self.counts.get(Ratios::class(ratio)).copied().map_or(0.0, f64::from);
            if sum > 0.0 { count / sum } else { 1.0 }
        }
    }

    /// The probability of a ratio that is no larger.
    #[must_use]
    pub fn up_to(&self, ratio: f64) -> f64 {
        let (sum, position) = (self.sum(), Ratios::position(ratio));
        if sum <= 0.0 {
            return 0.0;
        }
        let (whole, part) = (position as usize, position.fract());
        let below: f32 = self.counts.iter().take(whole).sum();
        let within = self.counts.get(whole).copied().map_or(0.0, |count| f64::from(count) * part);
        ((f64::from(below) + within) / sum).clamp(0.0, 1.0)
    }
}

/// What the jobs with deadlines of one partition have taught.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeadlineHistory {
    /// Time from the submission to the deadline, over the run time.
    pub given: Ratios,
    /// Waits over those that were planned, of jobs that were planned to start at once.
    pub at_once: Ratios,
    /// Waits over those that were planned, of jobs that were planned to start later.
    pub later: Ratios,
    /// How much more probable than the lowest probability that is admitted a deadline has to be
    /// forecast for it to be kept with that; below zero where forecasts are too careful.
    pub shift: f64,
    /// How far below the wanted probability a job is still admitted, because those that were
    /// admitted are kept more often than is wanted.
    pub leeway: f64,
}

impl Default for DeadlineHistory {
    /// Before anything is known: jobs start when the plan says, some by up to sixteen times later.
    fn default() -> DeadlineHistory {
        let mut waits = Ratios { counts: [0.0; CLASSES] };
        for (ratio, count) in [(0.6, 10.0), (0.9, 10.0), (1.2, 1.0), (2.2, 1.0), (4.4, 1.0), (8.8, 1.0)] {
            if let Some(class) = waits.counts.get_mut(Ratios::class(ratio)) {
                *class = count;
            }
        }
        DeadlineHistory { given: Ratios::unknown(), at_once: waits, later: waits, shift: 0.0, leeway: 0.0 }
    }
}

impl DeadlineHistory {
    /// A job that was given so long from its submission to its deadline has run for so long, both
    /// in seconds.
    pub fn observe_run(&mut self, given_s: f64, run_s: f64) {
        self.given.observe(given_s / run_s.max(1.0));
    }

    /// A job has waited for so long from its submission to its start, in seconds, beside what was
    /// planned.
    pub fn observe_wait(&mut self, wait_s: f64, planned_s: f64) {
        let waits = if planned_s <= AT_ONCE_S { &mut self.at_once } else { &mut self.later };
        waits.observe((wait_s + WAIT_OFFSET_S) / (planned_s + WAIT_OFFSET_S));
    }

    /// The probability of a wait of at most `most_s` where `planned_s` is planned, in seconds.
    #[must_use]
    pub fn starts_within(&self, most_s: f64, planned_s: f64) -> f64 {
        if most_s < 0.0 {
            return 0.0;
        }
        let waits = if planned_s <= AT_ONCE_S { &self.at_once } else { &self.later };
        waits.up_to((most_s + WAIT_OFFSET_S) / (planned_s + WAIT_OFFSET_S))
    }

    /// The lowest probability with which a job is admitted for `wanted` of the deadlines of all
    /// that are admitted to be kept.
    ///
    /// Most jobs are nearly sure to be in time, so that asking `wanted` of each one keeps far more,
    /// and refuses jobs that would have been in time.
    #[must_use]
    pub fn least_admitted(&self, wanted: f64) -> f64 {
        // What is read from a snapshot may be no number, at which `clamp` would panic.
        (wanted - self.leeway).max(LEAST_ADMITTED.min(wanted)).min(wanted)
    }

    /// The probability that has to be forecast for a job to be admitted, where `wanted` of the
    /// deadlines are to be kept.
    #[must_use]
    pub fn asked(&self, wanted: f64) -> f64 {
        (self.least_admitted(wanted) + self.shift).clamp(ASKED.0, ASKED.1)
    }

    /// What a forecast probability comes to, by how such promises were kept: at least
    /// [`DeadlineHistory::least_admitted`] if and only if it is at least the one that is asked for.
    #[must_use]
    pub fn corrected(&self, forecast: f64, wanted: f64) -> f64 {
        let (least, asked) = (self.least_admitted(wanted), self.asked(wanted));
        let corrected =
            if forecast >= asked { least + (1.0 - least) * (forecast - asked) / (1.0 - asked) } else { least * forecast / asked };
        corrected.clamp(0.0, 1.0)
    }

    /// What was promised with a corrected probability, where `wanted` of the deadlines are to be
    /// kept, was kept or was not.
    ///
    /// Promises near the border move what is asked of a forecast: those that are nearly sure would
    /// be kept whatever is asked of the others. So what is told of the jobs that are just admitted
    /// is what becomes of them. All promises move the border itself, which falls while more than
    /// `wanted` are kept and rises while fewer are (both after Gibbs and Candès 2021, as in
    /// [`levels`](crate::forecasts::levels)).
    pub fn observe_outcome(&mut self, promised: f64, wanted: f64, is_kept: bool) {
        if !(0.0..=1.0).contains(&wanted) {
            return;
        }
        let kept = if is_kept { 1.0 } else { 0.0 };
        let least = self.least_admitted(wanted);
        if promised <= least + (1.0 - least) / 4.0 {
            let shift = self.shift + STEP * (least - kept);
            self.shift = shift.clamp(ASKED.0 - least, ASKED.1 - least);
        }
        let aimed_at = wanted + RESERVE * (1.0 - wanted);
        self.leeway = (self.leeway + LEEWAY_STEP * (kept - aimed_at)).clamp(0.0, (wanted - LEAST_ADMITTED).max(0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_often_is_likely_and_lies_where_it_came() {
        let mut ratios = Ratios::unknown();
        (0..968).for_each(|_| ratios.observe(4.5));
        assert!((ratios.likelihood(4.2) - 0.969).abs() < 1e-6 && ratios.likelihood(40.0) < 0.002);
        assert!(ratios.up_to(4.0) < 0.02 && ratios.up_to(5.66) > 0.97);
        assert_eq!((ratios.up_to(1e-9), ratios.up_to(1e9)), (0.0, 1.0));
    }

    #[test]
    fn what_is_long_ago_counts_less() {
        let mut ratios = Ratios::unknown();
        (0..6_000).for_each(|_| ratios.observe(4.5));
        (0..6_000).for_each(|_| ratios.observe(16.5));
        assert!(ratios.likelihood(16.5) > 0.7 && ratios.sum() <= f64::from(MOST_OBSERVATIONS));
    }

    #[test]
    fn counts_that_are_none_are_none() {
        let mut counts = [1.0; CLASSES];
        (counts[0], counts[1]) = (f32::NAN, -5.0);
        assert_eq!(Ratios::from(counts).sum(), 30.0);
        assert_eq!(Ratios::from([f32::NAN; CLASSES]).up_to(2.0), 0.0);
    }

    #[test]
    fn a_job_that_is_planned_to_start_at_once_mostly_does() {
        let history = DeadlineHistory::default();
        assert!(history.starts_within(30.0, 0.0) > 0.85 && history.starts_within(600.0, 0.0) > 0.99);
        assert!(history.starts_within(600.0, 3_600.0) < 0.1 && history.starts_within(4_000.0, 3_600.0) > 0.8);
        assert_eq!(history.starts_within(-1.0, 0.0), 0.0);
    }

    /// A number between 0 and 1 for each turn, evenly spread.
    fn spread(turn: i32) -> f64 {
        (f64::from(turn) * 0.618_033_988_749_895).fract()
    }

    #[test]
    fn promises_near_the_border_move_what_is_asked_of_a_forecast_until_they_come_to_what_is_told() {
        let mut history = DeadlineHistory::default();
        // Such promises are kept with a probability that is by 0.2 higher than what was forecast.
        for turn in 0..20_000 {
            let forecast = history.asked(0.8) + 0.02;
            let promised = history.corrected(forecast, 0.8);
            history.observe_outcome(promised, 0.8, spread(turn) < forecast + 0.2);
        }
        let (asked, least) = (history.asked(0.8), history.least_admitted(0.8));
        assert!((asked - (least - 0.22)).abs() < 0.05, "{asked} {least}");
        let before = history.shift;
        history.observe_outcome(0.99, 0.8, false);
        assert_eq!(history.shift, before, "a promise that is nearly sure says nothing of the border");
    }

    /// What is kept of 20,000 jobs after as many more, whose forecasts are right: this part of them
    /// is sure to be in time, and the others have all probabilities alike.
    fn kept(sure: f64, wanted: f64) -> (f64, DeadlineHistory) {
        let mut history = DeadlineHistory::default();
        let (mut admitted, mut in_time) = (0.0, 0.0);
        for turn in 0..40_000 {
            let forecast = if spread(turn) < sure { 1.0 } else { spread(turn * 7 + 3) };
            if forecast < history.asked(wanted) {
                continue;
            }
            let is_kept = spread(turn * 3 + 1) < forecast;
            history.observe_outcome(history.corrected(forecast, wanted), wanted, is_kept);
            if turn >= 20_000 {
                admitted += 1.0;
                in_time += f64::from(u8::from(is_kept));
            }
        }
        (in_time / admitted, history)
    }

    #[test]
    fn what_is_wanted_is_kept_of_all_that_are_admitted_and_no_more_is_refused_than_that_takes() {
        // With 0.5 as the least probability 0.87 would be kept, with 0.7 it would be 0.94.
        let (part, history) = kept(0.3, 0.9);
        assert!((0.895..0.945).contains(&part), "{part}");
        assert!((0.35..0.85).contains(&history.least_admitted(0.9)), "{}", history.least_admitted(0.9));
        // So many are sure that the floor is reached.
        let (part, history) = kept(0.95, 0.9);
        assert!(part > 0.95 && history.least_admitted(0.9) == LEAST_ADMITTED, "{part} {history:?}");
        // What is wanted may be less than that.
        assert_eq!(history.least_admitted(0.1), 0.1);
    }

    #[test]
    fn numbers_that_are_none_neither_panic_nor_teach() {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 2.0, 0.0, 1.0];
        for (leeway, wanted) in odd.into_iter().flat_map(|leeway| odd.map(|wanted| (leeway, wanted))) {
            let history = DeadlineHistory { leeway, ..DeadlineHistory::default() };
            let (_, _) = (history.least_admitted(wanted), history.corrected(0.5, wanted));
        }
        let mut history = DeadlineHistory::default();
        [f64::NAN, f64::INFINITY, -1.0, 2.0].into_iter().for_each(|wanted| history.observe_outcome(0.5, wanted, true));
        assert_eq!(history, DeadlineHistory::default());
        history.observe_outcome(f64::NAN, 0.9, true);
        assert!(history.leeway.is_finite() && history.shift == 0.0);
    }

    #[test]
    fn before_anything_is_learnt_and_while_too_few_are_kept_each_job_has_to_be_as_likely_as_is_wanted() {
        let mut history = DeadlineHistory::default();
        assert_eq!(history.least_admitted(0.9), 0.9);
        (0..500).for_each(|_| history.observe_outcome(0.95, 0.9, true));
        assert_eq!(history.least_admitted(0.9), LEAST_ADMITTED);
        (0..40).for_each(|_| history.observe_outcome(0.95, 0.9, false));
        assert_eq!(history.least_admitted(0.9), 0.9);
    }

    #[test]
    fn a_corrected_probability_reaches_the_wanted_one_where_the_forecast_reaches_the_asked_one() {
        let history = DeadlineHistory { shift: -0.3, ..DeadlineHistory::default() };
        for percent in 0..=100 {
            let forecast = f64::from(percent) / 100.0;
            assert_eq!(history.corrected(forecast, 0.9) >= 0.9, forecast >= history.asked(0.9), "{percent}");
        }
        assert_eq!((history.corrected(0.0, 0.9), history.corrected(1.0, 0.9)), (0.0, 1.0));
        let lenient = DeadlineHistory { leeway: 0.4, ..history };
        assert_eq!((lenient.asked(0.9), lenient.corrected(0.2, 0.9)), (0.2, 0.5));
    }
}
