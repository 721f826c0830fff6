//! The latest jobs that started, as the predictors that compare jobs see them.

use learning::sweep::{Arrivals, TABLE_CPUS, TABLE_FEATURES};
use std::collections::VecDeque;

/// Features of a job that arrives: table II of Hariharan et al. 2020.
pub(super) type Features = [f32; TABLE_FEATURES];

/// The largest of the latest numbers: candidates descend, each with its place in the order.
#[derive(Clone, Debug, Default)]
struct Largest(VecDeque<(u64, f32)>);

impl Largest {
    fn push(&mut self, place: u64, value: f32, oldest: u64) {
        while self.0.back().is_some_and(|(_, other)| *other <= value) {
            self.0.pop_back();
        }
        self.0.push_back((place, value));
        while self.0.front().is_some_and(|(other, _)| *other < oldest) {
            self.0.pop_front();
        }
    }

    fn value(&self) -> f32 {
        self.0.front().map_or(f32::NEG_INFINITY, |(_, value)| *value)
    }
}

/// The latest jobs that started: their features at arrival, their waits in seconds and their rows.
/// When it is full the earliest start makes room.
#[derive(Clone, Debug)]
pub(super) struct Started {
    most: usize,
    pushed: u64,
    features: Vec<Features>,
    waits_s: Vec<f32>,
    rows: Vec<u32>,
    largest: [Largest; TABLE_FEATURES],
    /// The largest of each feature's negative, which is its smallest value negated.
    smallest: [Largest; TABLE_FEATURES],
}

impl Started {
    /// A collection without jobs, which keeps the latest `most`.
    pub(super) fn new(most: usize) -> Started {
        Started {
            most: most.max(1),
            pushed: 0,
            features: Vec::new(),
            waits_s: Vec::new(),
            rows: Vec::new(),
            largest: Default::default(),
            smallest: Default::default(),
        }
    }

    /// Adds the job of a row, whose wait is known; tells which place it took, and `None` where
    /// nothing is known of it.
    pub(super) fn push(&mut self, past: &Arrivals, row: usize) -> Option<usize> {
        let (features, wait) = (past.table(row)?, past.job(row)?.wait()?);
        let slot = (self.pushed % self.most as u64) as usize;
        self.pushed += 1;
        let oldest = self.pushed.saturating_sub(self.most as u64);
        for ((largest, smallest), value) in self.largest.iter_mut().zip(&mut self.smallest).zip(features) {
            largest.push(self.pushed - 1, *value, oldest);
            smallest.push(self.pushed - 1, -*value, oldest);
        }
        put(&mut self.features, slot, *features);
        put(&mut self.waits_s, slot, wait.0 as f32);
        put(&mut self.rows, slot, row as u32);
        Some(slot)
    }

    pub(super) fn len(&self) -> usize {
        self.waits_s.len()
    }

    /// How many were ever added.
    pub(super) fn pushed(&self) -> u64 {
        self.pushed
    }

    pub(super) fn features(&self) -> &[Features] {
        &self.features
    }

    pub(super) fn waits_s(&self) -> &[f32] {
        &self.waits_s
    }

    pub(super) fn wait_s(&self, slot: usize) -> f64 {
        self.waits_s.get(slot).map_or(0.0, |wait_s| f64::from(*wait_s))
    }

    /// What brings the difference of each feature into 0 to 1: one over its span among these jobs
    /// and the target, 0 where all are equal.
    pub(super) fn scales(&self, target: &Features) -> Features {
        let mut scales = [0.0; TABLE_FEATURES];
        for (((scale, largest), smallest), value) in scales.iter_mut().zip(&self.largest).zip(&self.smallest).zip(target) {
            let span = largest.value().max(*value) - (-smallest.value()).min(*value);
            *scale = if span > 0.0 && span.is_finite() { 1.0 / span } else { 0.0 };
        }
        scales
    }

    /// Writes the weighted sum of the features' differences for each job, by place: `unequal` where
    /// the size is another (the first feature), and the other differences times `factors`.
    pub(super) fn distances(&self, target: &Features, unequal: f32, factors: &Features, distances: &mut Vec<f32>) {
        let mut factors = *factors;
        factors[TABLE_CPUS] = 0.0;
        distances.clear();
        distances.extend(self.features.iter().map(|features| {
            let mut sums = [0.0f32; TABLE_FEATURES];
            for (((sum, a), b), factor) in sums.iter_mut().zip(features).zip(target).zip(&factors) {
                *sum = (a - b).abs() * factor;
            }
            (if features[TABLE_CPUS] == target[TABLE_CPUS] { 0.0 } else { unequal }) + sum(&sums)
        }));
    }
}

/// The sum, in an order that lets four be added at once.
pub(super) fn sum(numbers: &Features) -> f32 {
    let mut lanes = [0.0f32; 4];
    for four in numbers.chunks_exact(4) {
        lanes.iter_mut().zip(four).for_each(|(lane, number)| *lane += number);
    }
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
}

fn put<T>(column: &mut Vec<T>, slot: usize, value: T) {
    match column.get_mut(slot) {
        Some(place) => *place = value,
        None => column.push(value),
    }
}

/// A job by its distance from a target and its place. Ordered by distance; of equals, by place, so
/// that the result does not depend on how they are selected.
pub(super) type Near = (f32, u32);

/// The `count` nearest by their distances, by place, in no order.
pub(super) fn nearest<'a>(distances: &[f32], count: usize, room: &'a mut Vec<Near>) -> &'a mut [Near] {
    room.clear();
    room.extend(distances.iter().copied().zip(0u32..));
    let count = count.min(room.len());
    if count > 0 && count < room.len() {
        room.select_nth_unstable_by(count - 1, nearer);
    }
    room.get_mut(..count).unwrap_or_default()
}

/// The order of [`Near`].
pub(super) fn nearer(a: &Near, b: &Near) -> std::cmp::Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::super::replay::tests::arrivals;
    use super::*;

    #[test]
    fn spans_follow_the_jobs_that_are_kept() {
        // Sizes 1, 8 and 2; then the first two make room.
        let past = arrivals(&[(1, 60, 5), (8, 60, 5), (2, 60, 5), (4, 60, 5)]);
        let target = *past.table(2).unwrap();
        let mut started = Started::new(2);
        assert_eq!(started.scales(&target)[0], 0.0);
        (0..2).for_each(|row| assert_eq!(started.push(&past, row), Some(row)));
        assert_eq!(started.scales(&target)[0], 1.0 / 7.0);
        assert_eq!(started.push(&past, 3), Some(0));
        assert_eq!(started.scales(&target)[0], 1.0 / 6.0);
        assert_eq!(started.len(), 2);
    }

    #[test]
    fn another_size_counts_as_unequal_and_other_features_by_their_difference() {
        let past = arrivals(&[(1, 60, 5), (8, 120, 5)]);
        let mut started = Started::new(9);
        (0..2).for_each(|row| _ = started.push(&past, row));
        let mut factors = [0.0; TABLE_FEATURES];
        factors[1] = 0.01;
        let mut distances = Vec::new();
        started.distances(past.table(0).unwrap(), 0.5, &factors, &mut distances);
        assert_eq!(distances.len(), 2);
        assert!(distances[0] == 0.0 && (distances[1] - 1.1).abs() < 1e-6);
    }

    #[test]
    fn the_nearest_are_those_of_least_distance_and_of_equals_the_first() {
        let mut room = Vec::new();
        let found = nearest(&[0.5, 0.1, 0.4, 0.1, 0.4], 3, &mut room);
        found.sort_by(nearer);
        assert_eq!(found, [(0.1, 1), (0.1, 3), (0.4, 2)]);
    }
}
