//! Fixed classes of jobs by size and time limit, for the groups from which features are made and
//! for reports.
//!
//! The bounds of the classes are powers of four in CPUs, and the time limits at which sites
//! commonly draw the line between short and long work. The classes of QBETS are others: it finds
//! them (`waits::qbets`).

use job_types::size::Size;
use job_types::time::Seconds;
use std::ops::RangeInclusive;

/// Largest CPU count of each size class but the last, which is open.
const SIZE_CLASS_CPUS: [u32; 7] = [1, 4, 16, 64, 256, 1024, 4096];

/// Longest time limit of each limit class but the last, which is open: 15 min, 1 h, 4 h, 12 h, 24
/// h.
const LIMIT_CLASS_SECONDS: [i64; 5] = [900, 3_600, 14_400, 43_200, 86_400];

/// The size class of a job.
#[must_use]
pub fn size_class(size: Size) -> u8 {
    SIZE_CLASS_CPUS.partition_point(|largest| *largest < size.cpus) as u8
}

/// The CPUs of the jobs of a size class; the last class has no end, and neither have those beyond
/// it.
#[must_use]
pub fn cpus_of_size_class(class: u8) -> RangeInclusive<u32> {
    let class = usize::from(class);
    let least = class.checked_sub(1).map_or(0, |below| SIZE_CLASS_CPUS.get(below).copied().unwrap_or(u32::MAX));
    least.saturating_add(1)..=SIZE_CLASS_CPUS.get(class).copied().unwrap_or(u32::MAX)
}

/// The limit class of a job; one without a time limit is in the last class.
#[must_use]
pub fn limit_class(limit: Option<Seconds>) -> u8 {
    limit.map_or(LIMIT_CLASS_SECONDS.len(), |limit| LIMIT_CLASS_SECONDS.partition_point(|longest| *longest < limit.0)) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_include_their_upper_end() {
        let cpus = |cpus| size_class(Size { nodes: 1, cpus });
        assert_eq!([cpus(1), cpus(2), cpus(4), cpus(5), cpus(4096), cpus(4097)], [0, 1, 1, 2, 6, 7]);
        let limit = |s| limit_class(Some(Seconds(s)));
        assert_eq!([limit(60), limit(900), limit(901), limit(86_400), limit(86_401)], [0, 0, 1, 4, 5]);
        assert_eq!(limit_class(None), 5);
    }

    #[test]
    fn the_cpus_of_a_size_class_are_all_that_have_it() {
        assert_eq!([0, 1, 2, 7].map(cpus_of_size_class), [1..=1, 2..=4, 5..=16, 4_097..=u32::MAX]);
    }
}
