//! Jobs of like delay, by their sizes and time limits.
//!
//! QBETS (Nurmi, Brevik, Wolski, JSSPP 2007) finds by model-based clustering which sizes and
//! requested times wait alike, with as many clusters as the Bayesian information criterion
//! warrants. Here the waits of a class are log-normal. The plane of CPUs and time limit is cut in
//! two where that explains the waits best, each part again, and so on, as long as the criterion
//! falls; then the two parts whose waits differ least become one class, as long as it falls again.

use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// A started job as the clustering sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Delay {
    pub(super) cpus: u32,
    /// `u32::MAX` where there is no limit.
    pub(super) limit_s: u32,
    pub(super) wait_s: u32,
}

/// A rectangle of the plane of CPUs and time limit in seconds, and the class that its jobs belong
/// to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Region {
    pub(super) cpus: RangeInclusive<u32>,
    pub(super) limit_s: RangeInclusive<u32>,
    pub(super) class: usize,
}

impl Region {
    /// The whole plane as one class.
    pub(super) fn whole() -> Region {
        Region { cpus: 0..=u32::MAX, limit_s: 0..=u32::MAX, class: 0 }
    }

    /// The plane cut by CPUs alone, each part a class of its own.
    pub(super) fn by_size() -> Vec<Region> {
        let sizes = [0..=4, 5..=16, 17..=64, 65..=u32::MAX];
        sizes.into_iter().enumerate().map(|(class, cpus)| Region { cpus, limit_s: 0..=u32::MAX, class }).collect()
    }

    pub(super) fn holds(&self, cpus: u32, limit_s: u32) -> bool {
        self.cpus.contains(&cpus) && self.limit_s.contains(&limit_s)
    }
}

/// Variances of logarithms below this count as this: a wait is not known to better than about a
/// quarter of itself.
const LEAST_VARIANCE: f64 = 0.0625;

/// A class has a mean and a variance; a cut has its place besides.
const CLASS_PARAMETERS: f64 = 2.0;

/// How deep cuts are nested at the most.
const DEEPEST: usize = 6;

/// Sums over the logarithms of some waits.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Sums {
    fn add(&mut self, wait_s: u32) {
        let value = (1.0 + f64::from(wait_s)).ln();
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    fn plus(self, other: Sums) -> Sums {
        Sums { count: self.count + other.count, sum: self.sum + other.sum, squares: self.squares + other.squares }
    }

    fn minus(self, other: Sums) -> Sums {
        Sums { count: self.count - other.count, sum: self.sum - other.sum, squares: self.squares - other.squares }
    }

    /// Minus the logarithm of the likelihood at its best, but for what all clusterings share.
    fn cost(self) -> f64 {
        if self.count == 0.0 {
            return 0.0;
        }
        let mean = self.sum / self.count;
        let variance = (self.squares / self.count - mean * mean).max(0.0);
        0.5 * self.count * (variance.max(LEAST_VARIANCE).ln() + variance / variance.max(LEAST_VARIANCE))
    }
}

/// How the plane is divided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Division {
    /// Fewest jobs of a part.
    pub(super) fewest: usize,
    /// The first autocorrelation of the waits. Waits that resemble their predecessors tell less: n
    /// of them count as n (1 - r) / (1 + r).
    pub(super) autocorrelation: f64,
}

impl Division {
    /// The regions, which together hold the whole plane without overlap; their classes are numbered
    /// from 0 without gaps.
    pub(super) fn regions(self, delays: &[Delay]) -> Vec<Region> {
        let mut parts = Vec::new();
        self.cut(Region::whole(), &mut delays.to_vec(), self.effective() * delays.len() as f64, 0, &mut parts);
        self.merge(parts, self.effective() * delays.len() as f64)
    }

    fn effective(self) -> f64 {
        let r = self.autocorrelation.clamp(0.0, 0.98);
        (1.0 - r) / (1.0 + r)
    }

    fn cut(self, region: Region, delays: &mut [Delay], effective: f64, depth: usize, parts: &mut Vec<(Region, Sums)>) {
        let mut all = Sums::default();
        delays.iter().for_each(|delay| all.add(delay.wait_s));
        let by_cpus = self.best_cut(delays, all, |delay| delay.cpus);
        let by_limit = self.best_cut(delays, all, |delay| delay.limit_s);
        let penalty = 0.5 * (CLASS_PARAMETERS + 1.0) * effective.max(1.0).ln();
        let is_by_cpus = by_cpus.0 >= by_limit.0;
        let (gain, last_below) = if is_by_cpus { by_cpus } else { by_limit };
        if depth == DEEPEST || self.effective() * gain <= penalty {
            parts.push((region, all));
            return;
        }
        let value = |delay: &Delay| if is_by_cpus { delay.cpus } else { delay.limit_s };
        delays.sort_by_key(value);
        let (below, above) = delays.split_at_mut(delays.partition_point(|delay| value(delay) <= last_below));
        let (mut lower, mut upper) = (region.clone(), region);
        if is_by_cpus {
            (lower.cpus, upper.cpus) = (*lower.cpus.start()..=last_below, last_below + 1..=*upper.cpus.end());
        } else {
            (lower.limit_s, upper.limit_s) = (*lower.limit_s.start()..=last_below, last_below + 1..=*upper.limit_s.end());
        }
        self.cut(lower, below, effective, depth + 1, parts);
        self.cut(upper, above, effective, depth + 1, parts);
    }

    /// Returns how much the best cut along one axis gains, and the last value below it.
    fn best_cut(self, delays: &mut [Delay], all: Sums, value: impl Fn(&Delay) -> u32) -> (f64, u32) {
        delays.sort_by_key(&value);
        let whole = all.cost();
        let mut below = Sums::default();
        let mut best = (0.0, 0);
        let mut jobs = delays.iter().peekable();
        while let Some(delay) = jobs.next() {
            below.add(delay.wait_s);
            let above = all.minus(below);
            let is_step = jobs.peek().is_some_and(|next| value(next) > value(delay));
            if is_step && below.count.min(above.count) >= self.fewest as f64 {
                let gain = whole - below.cost() - above.cost();
                if gain > best.0 {
                    best = (gain, value(delay));
                }
            }
        }
        best
    }

    fn merge(self, parts: Vec<(Region, Sums)>, effective: f64) -> Vec<Region> {
        let mut regions: Vec<Region> = parts.iter().enumerate().map(|(class, (region, _))| Region { class, ..region.clone() }).collect();
        let mut classes: Vec<Sums> = parts.into_iter().map(|(_, sums)| sums).collect();
        let penalty = 0.5 * CLASS_PARAMETERS * effective.max(1.0).ln();
        loop {
            let pairs = classes.iter().enumerate().flat_map(|(first, a)| {
                let others = classes.iter().enumerate().skip(first + 1);
                others.map(move |(second, b)| (a.plus(*b).cost() - a.cost() - b.cost(), first, second))
            });
            let least = pairs.min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((_, first, second)) = least.filter(|(loss, ..)| self.effective() * loss < penalty) else { return regions };
            let merged = classes.remove(second);
            if let Some(kept) = classes.get_mut(first) {
                *kept = kept.plus(merged);
            }
            for region in &mut regions {
                region.class = match region.class {
                    class if class == second => first,
                    class if class > second => class - 1,
                    class => class,
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DIVISION: Division = Division { fewest: 59, autocorrelation: 0.0 };

    /// Waits that vary by a factor of about two around a typical one.
    fn delays(cpus: u32, limit_s: u32, typical_s: u32, count: u32) -> impl Iterator<Item = Delay> {
        (0..count).map(move |index| Delay { cpus, limit_s, wait_s: typical_s * (60 + index * 37 % 81) / 100 })
    }

    #[test]
    fn large_jobs_that_wait_longer_are_a_class_of_their_own() {
        let jobs: Vec<_> = delays(1, 600, 10, 300).chain(delays(4, 3_600, 10, 300)).chain(delays(64, 3_600, 9_000, 300)).collect();
        let regions = DIVISION.regions(&jobs);
        assert_eq!(
            regions,
            [Region { cpus: 0..=4, limit_s: 0..=u32::MAX, class: 0 }, Region { cpus: 5..=u32::MAX, limit_s: 0..=u32::MAX, class: 1 },]
        );
    }

    #[test]
    fn parts_that_are_no_neighbours_but_wait_alike_are_one_class() {
        let jobs: Vec<_> = delays(1, 600, 10, 300).chain(delays(8, 600, 9_000, 300)).chain(delays(64, 600, 10, 300)).collect();
        let classes: Vec<_> = DIVISION.regions(&jobs).iter().map(|region| region.class).collect();
        assert_eq!(classes, [0, 1, 0]);
    }

    #[test]
    fn waits_alike_are_one_class_and_so_are_few_waits() {
        let alike: Vec<_> = delays(1, 600, 10, 300).chain(delays(64, 3_600, 10, 300)).collect();
        assert_eq!(DIVISION.regions(&alike), [Region::whole()]);
        let few: Vec<_> = delays(1, 600, 10, 50).chain(delays(64, 3_600, 10_000, 50)).collect();
        assert_eq!(DIVISION.regions(&few), [Region::whole()]);
    }

    proptest! {
        #[test]
        fn every_job_lies_in_exactly_one_region(
            jobs in prop::collection::vec((1u32..200, 1u32..100_000, 0u32..200_000), 0..800),
            cpus in 0u32..300,
            limit_s in prop_oneof![0u32..200_000, Just(u32::MAX)],
        ) {
            let delays: Vec<_> = jobs.iter().map(|(cpus, limit_s, wait_s)| Delay { cpus: *cpus, limit_s: *limit_s, wait_s: *wait_s * cpus / 50 }).collect();
            let regions = Division { fewest: 5, autocorrelation: 0.0 }.regions(&delays);
            prop_assert_eq!(regions.iter().filter(|region| region.holds(cpus, limit_s)).count(), 1);
        }
    }
}
