//! The numbers by which C says that there is none: they are known here alone.
//!
//! Slurm marks a number that is not set with `NO_VAL` and an unlimited one with `INFINITE`
//! (slurm/slurm.h), which are the two greatest of each width.

use crate::bindings::{INFINITE, NICE_OFFSET, NO_VAL};

/// `NO_VAL64`, which bindgen reads as a negative number of 32 bits.
const NO_VAL64: u64 = u64::MAX - 1;

/// A number that marks as unset or unlimited the two greatest of its width, or a time.
pub(crate) trait Sentinel: Copy {
    /// The number; `None` where it is unset or unlimited.
    fn known(self) -> Option<i64>;

    /// A number as C is to read it: the nearest that is neither unset nor unlimited.
    fn written(number: i64) -> Self;

    /// What C reads as unset.
    const UNSET: Self;
}

macro_rules! sentinel {
    ($($width:ty)*) => {
        $(impl Sentinel for $width {
            #[inline]
            fn known(self) -> Option<i64> {
                (self < <$width>::MAX - 1).then(|| i64::try_from(self).unwrap_or(i64::MAX))
            }

            fn written(number: i64) -> $width {
                const GREATEST: $width = <$width>::MAX - 2;
                <$width>::try_from(number.max(0)).unwrap_or(GREATEST).min(GREATEST)
            }

            const UNSET: $width = <$width>::MAX - 1;
        })*
    };
}

sentinel!(u8 u16 u32 u64);

impl Sentinel for i64 {
    fn known(self) -> Option<i64> {
        moment(self)
    }

    fn written(number: i64) -> i64 {
        number.max(0)
    }

    const UNSET: i64 = 0;
}

/// A number that may be unset or unlimited.
pub(crate) fn number(value: u32) -> Option<u32> {
    (value != NO_VAL && value != INFINITE).then_some(value)
}

/// A number of 64 bits that may be unset or unlimited.
pub(crate) fn large_number(value: u64) -> Option<u64> {
    (value < NO_VAL64).then_some(value)
}

/// A count that may be unset, unlimited or 0, which all mean that there is none.
pub(crate) fn count(value: u32) -> Option<u32> {
    number(value).filter(|count| *count > 0)
}

/// Unix seconds that may be unset. Slurm marks an unset time with 0, and records of jobs that never
/// started with `NO_VAL` (src/plugins/accounting_storage/mysql/as_mysql_jobacct_process.c).
pub(crate) fn moment(seconds: i64) -> Option<i64> {
    (seconds > 0 && seconds != i64::from(NO_VAL) && seconds != i64::from(INFINITE)).then_some(seconds)
}

/// A number as C is to read it: one that would read as unset or unlimited becomes the greatest
/// that does not.
pub(crate) fn written(number: u32) -> u32 {
    number.min(NO_VAL - 1)
}

/// Reads a number that stands as a distance from `NICE_OFFSET`, as `nice` and the factor of the
/// site do, which are added to priorities; 0 where it is not set.
pub(crate) fn from_nice_offset(value: u32) -> i64 {
    number(value).filter(|value| *value != 0).map_or(0, |value| i64::from(value) - i64::from(NICE_OFFSET))
}

/// Writes a distance as C is to read it, from `NICE_OFFSET` and within the 32 bits that there are.
pub(crate) fn nice_offset(distance: i64) -> u32 {
    let offset = distance.saturating_add(i64::from(NICE_OFFSET)).clamp(1, i64::from(u32::MAX));
    written(u32::try_from(offset).unwrap_or(NICE_OFFSET))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::NO_VAL16;

    #[test]
    fn no_number_is_written_that_reads_as_none() {
        for number in [0, 1, 253, 65_533, 4_294_967_293] {
            assert_eq!(<u32 as Sentinel>::written(number).known(), Some(number));
        }
        assert_eq!([i64::MIN, -1, 254, 255, 256, i64::MAX].map(|number| u8::written(number).known()), [0, 0, 253, 253, 253, 253].map(Some));
        assert_eq!([65_534, 70_000].map(|number| u16::written(number).known()), [Some(65_533); 2]);
        assert_eq!(u64::written(i64::MAX).known(), Some(i64::MAX));
        assert_eq!([NO_VAL, INFINITE].map(Sentinel::known), [None, None]);
        assert_eq!((NO_VAL64.known(), u64::MAX.known(), (NO_VAL16 as u16).known()), (None, None, None));
    }

    #[test]
    fn what_is_added_to_a_priority_is_read_as_it_was_written() {
        for distance in [0, 1, -1, 500, -2_000_000_000, 2_000_000_000] {
            assert_eq!(from_nice_offset(nice_offset(distance)), distance);
        }
        assert_eq!([0, NO_VAL, NICE_OFFSET].map(from_nice_offset), [0, 0, 0]);
        assert_eq!([i64::MIN, i64::MAX].map(nice_offset), [1, NO_VAL - 1]);
    }
}
