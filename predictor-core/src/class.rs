//! Classes of jobs whose waits are alike: partition, size class, limit class, and how pressed the partition was.
//!
//! QBETS finds its classes by clustering; these fixed ones are the first predictor's. The bounds of the classes are powers
//! of four in CPUs, and the time limits at which sites commonly draw the line between short and long work.

use crate::size::Size;
use crate::time::Seconds;
use std::ops::RangeInclusive;

/// Largest CPU count of each size class but the last, which is open.
const SIZE_CLASS_CPUS: [u32; 7] = [1, 4, 16, 64, 256, 1024, 4096];

/// Longest time limit of each limit class but the last, which is open: 15 min, 1 h, 4 h, 12 h, 24 h.
const LIMIT_CLASS_SECONDS: [i64; 5] = [900, 3_600, 14_400, 43_200, 86_400];

/// Lower bounds of the pressure levels but the first.
const PRESSURE_LEVELS: [f64; 3] = [0.5, 1.0, 2.0];

/// Stands for "all of them" in a [`ClassKey`].
pub const ANY: u8 = u8::MAX;

/// Which jobs a wait distribution is about. Ordered as in the snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassKey {
    /// Index of the partition in the snapshot's table of partitions.
    pub partition: u16,
    /// Size class, or [`ANY`].
    pub size: u8,
    /// Limit class, or [`ANY`].
    pub limit: u8,
    /// Pressure level, or [`ANY`].
    pub pressure: u8,
}

impl ClassKey {
    /// The class of a job, over all levels of pressure.
    #[must_use]
    pub fn of(partition: u16, size: Size, limit: Option<Seconds>) -> ClassKey {
        ClassKey { partition, size: size_class(size), limit: limit_class(limit), pressure: ANY }
    }

    /// This class at one level of pressure.
    #[must_use]
    pub fn at_pressure(self, level: u8) -> ClassKey {
        ClassKey { pressure: level, ..self }
    }

    /// This class and the wider ones that stand in for it where it has too few jobs, narrowest first: the class at its pressure, at any
    /// pressure, at any time limit, and the whole partition.
    #[must_use]
    pub fn widening(self) -> [ClassKey; 4] {
        let any_pressure = self.at_pressure(ANY);
        let any_limit = ClassKey { limit: ANY, ..any_pressure };
        [self, any_pressure, any_limit, ClassKey { size: ANY, ..any_limit }]
    }
}

/// The size class of a job.
#[must_use]
pub fn size_class(size: Size) -> u8 {
    SIZE_CLASS_CPUS.partition_point(|largest| *largest < size.cpus) as u8
}

/// The CPUs of the jobs of a size class; the last class has no end, and neither have those beyond it.
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

/// The time limits that fall into the same class as `limit`.
#[must_use]
pub fn limits_of_class(limit: Seconds) -> RangeInclusive<Seconds> {
    let class = usize::from(limit_class(Some(limit)));
    let shortest = class.checked_sub(1).and_then(|below| LIMIT_CLASS_SECONDS.get(below)).map_or(0, |below| below + 1);
    let longest = LIMIT_CLASS_SECONDS.get(class).copied().unwrap_or(i64::MAX);
    Seconds(shortest)..=Seconds(longest)
}

/// How many pressure levels there are.
pub const PRESSURE_LEVEL_COUNT: u8 = PRESSURE_LEVELS.len() as u8 + 1;

/// The level of a pressure: the CPUs of the jobs that are running or eligible in a partition, the new one included, over the partition's CPUs.
#[must_use]
pub fn pressure_level(pressure: f64) -> u8 {
    PRESSURE_LEVELS.partition_point(|lower| *lower <= pressure) as u8
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
    fn every_limit_lies_in_the_limits_of_its_class_and_the_neighbours_do_not() {
        for seconds in [1, 900, 901, 3_600, 50_000, 86_400, 86_401, 1_000_000] {
            let limits = limits_of_class(Seconds(seconds));
            assert!(limits.contains(&Seconds(seconds)));
            let class = limit_class(Some(Seconds(seconds)));
            assert_eq!(limit_class(Some(*limits.start())), class);
            assert_eq!(limit_class(Some(*limits.end())), class);
        }
    }

    #[test]
    fn a_class_widens_to_its_whole_partition() {
        let key = ClassKey { partition: 3, size: 2, limit: 1, pressure: 2 };
        let widest = key.widening()[3];
        assert_eq!(widest, ClassKey { partition: 3, size: ANY, limit: ANY, pressure: ANY });
    }
}
