//! Recent waits by class, and the bounds that they give.

use crate::binomial::{PERCENTILES, percentile_ranks};
use crate::class::{ANY, ClassKey, PRESSURE_LEVEL_COUNT, pressure_level};
use crate::forecast::UNBOUNDED_S;
use crate::size::Size;
use crate::time::{Seconds, UnixTime};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// What is known of the waits of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitDistribution {
    /// How many waits.
    pub jobs: u32,
    /// Their median, in seconds.
    pub median_s: u32,
    /// Upper bounds in seconds on the percentiles 1 to 99.
    pub bounds_s: [u32; PERCENTILES],
}

#[derive(Clone, Copy, Debug)]
struct Wait {
    eligible: UnixTime,
    wait_s: u32,
}

/// Waits of each class (at any pressure), at most so many, the most recent; and their distributions, once fitted.
#[derive(Debug)]
pub struct WaitHistory {
    class_jobs: usize,
    classes: HashMap<ClassKey, VecDeque<Wait>>,
    changed: HashSet<ClassKey>,
    fitted: BTreeMap<ClassKey, WaitDistribution>,
    ranks: HashMap<usize, [Option<usize>; PERCENTILES]>,
    confidence: f64,
}

impl WaitHistory {
    /// No waits; each class is to keep `class_jobs` of them.
    #[must_use]
    pub fn new(class_jobs: usize) -> WaitHistory {
        WaitHistory {
            class_jobs: class_jobs.max(1),
            classes: HashMap::new(),
            changed: HashSet::new(),
            fitted: BTreeMap::new(),
            ranks: HashMap::new(),
            confidence: f64::NAN,
        }
    }

    /// Adds the wait of a job that has started, to its class and to the wider ones.
    pub fn push(&mut self, partition: u16, size: Size, limit: Option<Seconds>, eligible: UnixTime, wait: Seconds) {
        let wait = Wait { eligible, wait_s: wait.clamped_u32() };
        let [_, class, any_limit, any_size] = ClassKey::of(partition, size, limit).widening();
        for key in [class, any_limit, any_size] {
            let waits = self.classes.entry(key).or_default();
            // A searched place, because the past is read newest first.
            let place = waits.partition_point(|other| other.eligible <= eligible);
            if place == 0 && waits.len() >= self.class_jobs {
                continue;
            }
            waits.insert(place, wait);
            if waits.len() > self.class_jobs {
                waits.pop_front();
            }
            self.changed.insert(key);
        }
    }

    /// Fits the classes that have changed. `pressure` gives the pressure on a partition at a moment.
    pub fn fit(&mut self, confidence: f64, pressure: impl Fn(u16, UnixTime) -> Option<f64>) {
        if confidence != self.confidence {
            self.confidence = confidence;
            self.ranks.clear();
            self.changed.extend(self.classes.keys());
        }
        // Ranks depend on the number of waits alone; most classes are full and share one row.
        if self.ranks.len() > 20_000 {
            self.ranks.clear();
        }
        for key in self.changed.drain() {
            let Some(waits) = self.classes.get(&key) else { continue };
            let mut by_pressure: [Vec<u32>; PRESSURE_LEVEL_COUNT as usize] = Default::default();
            // Only the narrow classes are split: the wider ones stand in where there is little history.
            if key.limit != ANY {
                for wait in waits {
                    if let Some(level) = pressure(key.partition, wait.eligible).map(pressure_level)
                        && let Some(waits) = by_pressure.get_mut(usize::from(level))
                    {
                        waits.push(wait.wait_s);
                    }
                }
            }
            let all = waits.iter().map(|wait| wait.wait_s).collect();
            let classes = (0u8..).zip(by_pressure).map(|(level, waits)| (key.at_pressure(level), waits)).chain([(key, all)]);
            for (key, mut waits) in classes {
                if waits.is_empty() {
                    self.fitted.remove(&key);
                    continue;
                }
                let ranks = self.ranks.entry(waits.len()).or_insert_with_key(|count| percentile_ranks(*count, confidence));
                self.fitted.insert(key, distribution(&mut waits, ranks));
            }
        }
    }

    /// The fitted distributions, in the order of their classes.
    #[must_use]
    pub fn fitted(&self) -> &BTreeMap<ClassKey, WaitDistribution> {
        &self.fitted
    }
}

fn distribution(waits: &mut [u32], ranks: &[Option<usize>; PERCENTILES]) -> WaitDistribution {
    waits.sort_unstable();
    let median_s = waits.get((waits.len().saturating_sub(1)) / 2).copied().unwrap_or(0);
    let bounds_s = ranks.map(|rank| rank.and_then(|rank| waits.get(rank - 1)).copied().unwrap_or(UNBOUNDED_S));
    WaitDistribution { jobs: u32::try_from(waits.len()).unwrap_or(u32::MAX), median_s, bounds_s }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::ANY;

    const SIZE: Size = Size { nodes: 1, cpus: 4 };

    fn history(waits: impl IntoIterator<Item = i64>) -> WaitHistory {
        let mut history = WaitHistory::new(100);
        for (index, wait) in waits.into_iter().enumerate() {
            history.push(0, SIZE, Some(Seconds(600)), UnixTime(index as i64), Seconds(wait));
        }
        history.fit(0.95, |_, _| None);
        history
    }

    #[test]
    fn bounds_are_order_statistics_of_the_class() {
        let history = history((1..=59).rev());
        let fitted = &history.fitted()[&ClassKey::of(0, SIZE, Some(Seconds(600)))];
        assert_eq!(fitted.jobs, 59);
        assert_eq!(fitted.median_s, 30);
        // Rank 59 for the 95th percentile (see the module of the binomial), no bound above it.
        assert_eq!(fitted.bounds_s[94], 59);
        assert_eq!(fitted.bounds_s[95], UNBOUNDED_S);
    }

    #[test]
    fn a_class_keeps_the_jobs_that_became_eligible_last() {
        let mut history = WaitHistory::new(3);
        for eligible in [50, 10, 40, 20, 30] {
            history.push(0, SIZE, None, UnixTime(eligible), Seconds(eligible));
        }
        history.fit(0.5, |_, _| None);
        let fitted = &history.fitted()[&ClassKey::of(0, SIZE, None)];
        assert_eq!((fitted.jobs, fitted.median_s), (3, 40));
    }

    #[test]
    fn a_class_is_split_by_the_pressure_at_eligibility() {
        let mut history = WaitHistory::new(100);
        for eligible in 0..20 {
            history.push(0, SIZE, None, UnixTime(eligible), Seconds(if eligible < 10 { 5 } else { 5_000 }));
        }
        history.fit(0.95, |_, moment| Some(if moment.0 < 10 { 0.2 } else { 3.0 }));
        let class = ClassKey::of(0, SIZE, None);
        assert_eq!(history.fitted()[&class.at_pressure(0)].median_s, 5);
        assert_eq!(history.fitted()[&class.at_pressure(3)].median_s, 5_000);
        assert!(!history.fitted().contains_key(&class.at_pressure(1)));
        assert_eq!(history.fitted()[&class.at_pressure(ANY)].jobs, 20);
    }
}
