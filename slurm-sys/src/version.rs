//! Slurm's version numbers.

use std::fmt;

/// A version of Slurm, such as 24.11.5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The year of the release.
    pub major: u8,
    /// The month of the release.
    pub minor: u8,
    /// The number of the correction.
    pub micro: u8,
}

impl Version {
    /// The Slurm whose headers this was built with.
    pub const BUILT_FOR: Version = Version::from_number(crate::bindings::SLURM_VERSION_NUMBER);

    /// Reads the number in which headers, plugins and messages hold a version (`SLURM_VERSION_NUM`
    /// in slurm_version.h).
    #[must_use]
    pub const fn from_number(number: u32) -> Version {
        let [_, major, minor, micro] = number.to_be_bytes();
        Version { major, minor, micro }
    }

    /// Finds the version in text such as `24.11.5`, `slurm 24.11.5` or `slurm-wlm 22.05.8-rc1`: the
    /// last word's numbers.
    #[must_use]
    pub fn find(text: &str) -> Option<Version> {
        let mut parts = text.split_whitespace().next_back()?.splitn(3, '.');
        let mut next = || {
            let digits = parts.next()?;
            digits.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
        };
        Some(Version { major: next()?, minor: next()?, micro: next()? })
    }

    /// The release: what has one layout of everything that programs exchange with Slurm.
    #[must_use]
    pub const fn release(self) -> (u8, u8) {
        (self.major, self.minor)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{:02}.{}", self.major, self.minor, self.micro)
    }
}
