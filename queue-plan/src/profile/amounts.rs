//! What a profile counts over time.

use std::ops::{Add, AddAssign, Sub};

use crate::resources::Resources;

/// The part of [`Resources`] that jobs take from each other and that a profile counts at each of
/// its points: everything but nodes, which jobs may share. A search compares thousands of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Amounts {
    cpus: i64,
}

impl Amounts {
    /// No CPUs.
    pub(super) const NONE: Self = Self { cpus: 0 };
    /// The lowest amount that the type can hold.
    pub(super) const LOWEST: Self = Self { cpus: i64::MIN };
    /// The highest amount that the type can hold.
    pub(super) const HIGHEST: Self = Self { cpus: i64::MAX };

    /// Whether there is enough of everything in `free`.
    pub(super) fn fits_in(self, free: Self) -> bool {
        self.cpus <= free.cpus
    }

    /// Returns the smaller amount of each resource.
    pub(super) fn least(self, other: Self) -> Self {
        Self { cpus: self.cpus.min(other.cpus) }
    }

    /// Returns the larger amount of each resource.
    pub(super) fn most(self, other: Self) -> Self {
        Self { cpus: self.cpus.max(other.cpus) }
    }

    /// The sum, which stays at the bounds of what can be told.
    pub(super) fn saturating_add(self, other: Self) -> Self {
        Self { cpus: self.cpus.saturating_add(other.cpus) }
    }
}

impl From<Resources> for Amounts {
    fn from(resources: Resources) -> Self {
        Self { cpus: resources.cpus }
    }
}

impl From<Amounts> for Resources {
    /// Converts amounts into resources without nodes.
    fn from(amounts: Amounts) -> Self {
        Self::of_cpus(amounts.cpus)
    }
}

impl Add for Amounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { cpus: self.cpus + other.cpus }
    }
}

impl AddAssign for Amounts {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Amounts {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { cpus: self.cpus - other.cpus }
    }
}
