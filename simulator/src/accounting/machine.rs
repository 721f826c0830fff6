//! How large a machine has to be for what ran on it.

use job_types::time::UnixTime;

/// The most CPUs that were in use at once, of runs that began, ended and had so many. One that ends
/// in the second in which another begins makes room for it.
pub(super) fn peak(runs: impl Iterator<Item = (UnixTime, UnixTime, u64)>) -> u64 {
    let mut changes: Vec<(UnixTime, i64)> = Vec::new();
    for (begin, end, cpus) in runs.filter(|(begin, end, _)| begin < end) {
        let cpus = i64::from(u32::try_from(cpus).unwrap_or(u32::MAX));
        changes.extend([(begin, cpus), (end, -cpus)]);
    }
    // Of the changes at one moment, processors that are given back come first.
    changes.sort_unstable();
    let (mut used, mut most) = (0_i64, 0_i64);
    for (_, change) in changes {
        used = used.saturating_add(change);
        most = most.max(used);
    }
    most.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_at_once_is_counted() {
        let peak = |runs: &[(i64, i64, u64)]| peak(runs.iter().map(|(begin, end, cpus)| (UnixTime(*begin), UnixTime(*end), *cpus)));
        assert_eq!(peak(&[(0, 10, 4), (10, 20, 8), (5, 12, 2), (30, 30, 64)]), 10);
        assert_eq!(peak(&[]), 0);
        assert_eq!(peak(&[(0, 10, u64::MAX), (0, 10, u64::MAX)]), 2 * u64::from(u32::MAX));
    }
}
