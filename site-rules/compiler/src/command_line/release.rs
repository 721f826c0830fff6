//! The release of Slurm that an sbatch belongs to.

use std::fmt;
use std::str::FromStr;

/// A release of Slurm, such as 24.11. The programs of one release send the same of one command
/// line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    /// The year, without the century.
    pub year: u8,
    /// The month.
    pub month: u8,
}

impl Release {
    /// The first release whose command lines are known here.
    pub const FIRST: Release = Release::new(22, 5);
    /// The last release whose command lines are known here.
    pub const LAST: Release = Release::new(26, 5);

    /// The release of that year and month.
    #[must_use]
    pub const fn new(year: u8, month: u8) -> Release {
        Release { year, month }
    }

    /// Whether this release is one of `year` and `month` or a later one.
    pub(super) fn is_since(self, year: u8, month: u8) -> bool {
        self >= Release::new(year, month)
    }
}

impl fmt::Display for Release {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{:02}", self.year, self.month)
    }
}

/// The error that a text names no release of Slurm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a release of Slurm is named such as 24.11, from {} to {}", Release::FIRST, Release::LAST)]
pub struct NotARelease;

impl FromStr for Release {
    type Err = NotARelease;

    /// Reads a release such as `24.11`; a third number, as in `24.11.5`, is passed over.
    fn from_str(text: &str) -> Result<Release, NotARelease> {
        let mut numbers = text.split('.').map(|number| number.parse::<u8>().map_err(|_| NotARelease));
        let mut next = || numbers.next().unwrap_or(Err(NotARelease));
        let release = Release::new(next()?, next()?);
        (Release::FIRST..=Release::LAST).contains(&release).then_some(release).ok_or(NotARelease)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_has_a_year_and_a_month_and_its_corrections_are_alike() {
        let read = |text: &str| text.parse::<Release>().map(|release| release.to_string());
        assert_eq!(["22.05", "24.11.5", "26.5"].map(read), [Ok("22.05".to_owned()), Ok("24.11".to_owned()), Ok("26.05".to_owned())]);
        assert_eq!(["", "24", "20.11", "27.02", "x.y"].map(read), [const { Err(NotARelease) }; 5]);
    }
}
