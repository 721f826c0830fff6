//! Moments and durations, in whole seconds, as Slurm and workload logs count them.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, Sub};

/// A duration in whole seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seconds(pub i64);

/// A moment in Unix seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnixTime(pub i64);

impl Seconds {
    /// Zero seconds.
    pub const ZERO: Seconds = Seconds(0);

    /// One minute, the unit of Slurm's time limits.
    pub const MINUTE: Seconds = Seconds(60);

    /// This duration in minutes, rounded up, as Slurm rounds a time limit.
    #[must_use]
    pub fn minutes_rounded_up(self) -> i64 {
        self.0.saturating_add(59).div_euclid(60)
    }

    /// This duration rounded up to whole minutes.
    #[must_use]
    pub fn rounded_up_to_minutes(self) -> Seconds {
        Seconds(self.minutes_rounded_up().saturating_mul(60))
    }

    /// This duration as an unsigned 32-bit count: negative becomes 0, too long becomes
    /// `u32::MAX - 1`.
    #[must_use]
    pub fn clamped_u32(self) -> u32 {
        u32::try_from(self.0.clamp(0, i64::from(u32::MAX - 1))).unwrap_or(u32::MAX - 1)
    }
}

impl fmt::Display for Seconds {
    /// Two significant units, for people: `45 s`, `12 min`, `3 h 20 min`, `2 d 4 h`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0;
        if seconds < 0 {
            return write!(f, "-{}", Seconds(seconds.saturating_neg()));
        }
        let units: [(i64, &str); 4] = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")];
        let Some(largest) = units.iter().position(|(unit, _)| seconds >= *unit) else {
            return f.write_str("0 s");
        };
        let (unit, name) = units[largest];
        write!(f, "{} {name}", seconds / unit)?;
        if let Some((smaller, smaller_name)) = units.get(largest + 1) {
            let rest = seconds % unit / smaller;
            // Seconds beside minutes are noise in a forecast.
            if rest > 0 && *smaller_name != "s" {
                write!(f, " {rest} {smaller_name}")?;
            }
        }
        Ok(())
    }
}

impl Add for Seconds {
    type Output = Seconds;
    fn add(self, other: Seconds) -> Seconds {
        Seconds(self.0.saturating_add(other.0))
    }
}

impl Sub for Seconds {
    type Output = Seconds;
    fn sub(self, other: Seconds) -> Seconds {
        Seconds(self.0.saturating_sub(other.0))
    }
}

impl Add<Seconds> for UnixTime {
    type Output = UnixTime;
    fn add(self, duration: Seconds) -> UnixTime {
        UnixTime(self.0.saturating_add(duration.0))
    }
}

impl Sub<Seconds> for UnixTime {
    type Output = UnixTime;
    fn sub(self, duration: Seconds) -> UnixTime {
        UnixTime(self.0.saturating_sub(duration.0))
    }
}

impl Sub<UnixTime> for UnixTime {
    type Output = Seconds;
    fn sub(self, earlier: UnixTime) -> Seconds {
        Seconds(self.0.saturating_sub(earlier.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_shown_in_two_units() {
        let shown: Vec<String> = [0, 45, 60, 750, 3_600, 12_000, 187_200].map(|s| Seconds(s).to_string()).to_vec();
        assert_eq!(shown, ["0 s", "45 s", "1 min", "12 min", "1 h", "3 h 20 min", "2 d 4 h"]);
    }

    #[test]
    fn a_limit_is_rounded_up_to_minutes() {
        assert_eq!(Seconds(61).rounded_up_to_minutes(), Seconds(120));
        assert_eq!(Seconds(120).rounded_up_to_minutes(), Seconds(120));
    }
}
