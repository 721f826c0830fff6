//! Plain k nearest neighbours: the mean wait of the jobs most like the one that arrives.
//!
//! The sixteen features of table II of Hariharan et al. 2020 are brought to 0 to 1 by their spans
//! over the history and the target, sizes count as equal or not, all weigh the same, and the
//! history is that of the latest 6,000 jobs that started. What the other methods add to this is
//! worth what they gain on it.

use super::WaitPredictor;
use super::replay::Split;
use super::started::{Near, Started, nearer, nearest};
use learning::sweep::Arrivals;

/// Jobs of the history.
const HISTORY_JOBS: usize = 6_000;

/// The numbers of neighbours that are tried.
const COUNTS: [usize; 10] = [1, 2, 3, 5, 8, 12, 16, 24, 32, 50];

/// k nearest neighbours.
#[derive(Clone, Debug)]
pub struct NearestNeighbours {
    count: usize,
    started: Started,
    distances: Vec<f32>,
    room: Vec<Near>,
}

impl NearestNeighbours {
    /// Before any job has started; the mean is that of `count` neighbours.
    #[must_use]
    pub fn new(count: usize) -> NearestNeighbours {
        NearestNeighbours { count: count.max(1), started: Started::new(HISTORY_JOBS), distances: Vec::new(), room: Vec::new() }
    }

    /// The number of neighbours with the least mean absolute error on the validation part, of which
    /// every job is forecast: one pass tries all numbers.
    #[must_use]
    pub fn tune(past: &Arrivals, split: &Split) -> usize {
        let most = COUNTS.iter().copied().max().unwrap_or(1);
        let mut errors = [0.0; COUNTS.len()];
        let whole = Split { every: 1, ..split.clone() };
        whole.replay(past, &mut NearestNeighbours::new(most), |predictor, row, wait_s| {
            let started = &predictor.started;
            let found = found(started, past, row, most, &mut predictor.distances, &mut predictor.room);
            found.sort_unstable_by(nearer);
            for (error, count) in errors.iter_mut().zip(COUNTS) {
                *error += (mean_wait_s(started, found.get(..count).unwrap_or(found)) - wait_s).abs();
            }
        });
        errors.iter().zip(COUNTS).min_by(|a, b| a.0.total_cmp(b.0)).map_or(1, |(_, count)| count)
    }
}

fn found<'a>(
    started: &Started,
    past: &Arrivals,
    row: usize,
    count: usize,
    distances: &mut Vec<f32>,
    room: &'a mut Vec<Near>,
) -> &'a mut [Near] {
    distances.clear();
    if let Some(target) = past.table(row) {
        started.distances(target, 1.0, &started.scales(target), distances);
    }
    nearest(distances, count, room)
}

fn mean_wait_s(started: &Started, found: &[Near]) -> f64 {
    found.iter().map(|(_, slot)| started.wait_s(*slot as usize)).sum::<f64>() / found.len().max(1) as f64
}

impl WaitPredictor for NearestNeighbours {
    fn point(&mut self, past: &Arrivals, row: usize) -> f64 {
        let found = found(&self.started, past, row, self.count, &mut self.distances, &mut self.room);
        found.sort_unstable_by(nearer);
        mean_wait_s(&self.started, found)
    }

    fn learn(&mut self, past: &Arrivals, row: usize) {
        _ = self.started.push(past, row);
    }
}

#[cfg(test)]
mod tests {
    use super::super::replay::tests::{arrivals, is_blind_to_the_future, pattern};
    use super::*;

    #[test]
    fn the_forecast_is_the_mean_of_the_nearest() {
        // The jobs with the waits 10 and 30 have the size and time limit of the last; the others
        // differ in size.
        let past = arrivals(&[(4, 60, 10), (8, 60, 700), (4, 60, 30), (8, 90, 900), (4, 60, 0)]);
        let mut predictor = NearestNeighbours::new(2);
        assert_eq!(predictor.point(&past, 4), 0.0);
        (0..4).for_each(|row| predictor.learn(&past, row));
        assert_eq!(predictor.point(&past, 4), 20.0);
    }

    #[test]
    fn the_count_is_chosen_by_the_error() {
        let past = arrivals(&pattern(400));
        let split = Split { history: 0..300, validation: 300..400, every: 1 };
        let error = |count| split.mean_absolute_error_s(&past, &mut NearestNeighbours::new(count));
        let chosen = NearestNeighbours::tune(&past, &split);
        assert!(COUNTS.iter().all(|count| error(chosen) <= error(*count)));
    }

    #[test]
    fn waits_of_jobs_not_yet_started_change_nothing() {
        assert!(is_blind_to_the_future(&pattern(120), 100, || NearestNeighbours::new(3)));
    }
}
