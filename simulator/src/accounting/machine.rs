//! How large a machine has to be for what ran on it.

/// The most CPUs that were in use at once, of runs that began, ended and had so many. One that ends
/// in the second in which another begins makes room for it.
pub(super) fn peak(runs: impl Iterator<Item = (i64, i64, u64)>) -> u64 {
    let mut changes: Vec<(i64, i64)> = Vec::new();
    for (begin, end, cpus) in runs.filter(|(begin, end, _)| begin < end) {
        let cpus = i64::from(u32::try_from(cpus).unwrap_or(u32::MAX));
        changes.extend([(begin, cpus), (end, -cpus)]);
    }
    // At one moment what is given back comes first.
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
    use super::peak;

    #[test]
    fn the_most_at_once_is_counted() {
        assert_eq!(peak([(0, 10, 4), (10, 20, 8), (5, 12, 2), (30, 30, 64)].into_iter()), 10);
        assert_eq!(peak(std::iter::empty()), 0);
        assert_eq!(peak([(0, 10, u64::MAX), (0, 10, u64::MAX)].into_iter()), 2 * u64::from(u32::MAX));
    }
}
