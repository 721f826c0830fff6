//! Run times sorted into bins of whole seconds that grow by a twentieth.

use std::sync::LazyLock;

/// Each bin is longer than the one before by this factor, and one second at least.
const GROWTH: f64 = 1.056;
/// Longer run times, from about a month on, share the last bin.
const LONGEST_S: u32 = 3_000_000;

/// The first seconds of the bins, and the end of the last. There are fewer than 255 bins, so that a
/// `u8` holds the index of one.
static EDGES: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let (mut edges, mut next) = (vec![0u32], 0.0f64);
    while let Some(last) = edges.last().copied().filter(|last| *last < LONGEST_S) {
        next = (next * GROWTH).max(f64::from(last) + 1.0);
        edges.push(next.round() as u32);
    }
    edges
});

/// How many bins there are.
pub(super) fn count() -> usize {
    EDGES.len() - 1
}

/// The bin of a run time in seconds.
pub(super) fn of(run_time_s: u32) -> usize {
    EDGES.partition_point(|edge| *edge <= run_time_s).saturating_sub(1).min(count() - 1)
}

/// The first and the last second of a bin.
pub(super) fn seconds(bin: usize) -> (u32, u32) {
    let edge = |index: usize| EDGES.get(index).copied().unwrap_or(LONGEST_S);
    (edge(bin), edge(bin + 1).saturating_sub(1).max(edge(bin)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_second_lies_in_the_bin_that_says_so() {
        assert!((200..255).contains(&count()));
        for run_time_s in (0..5_000).chain([86_400, 604_800, 2_999_999]) {
            let (first, last) = seconds(of(run_time_s));
            assert!((first..=last).contains(&run_time_s), "{run_time_s}");
        }
        assert_eq!(of(u32::MAX), count() - 1);
    }
}
