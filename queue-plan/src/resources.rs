//! What jobs need and what nodes offer.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

use job_types::size::Size;

/// What a job needs or holds, and what a node, a partition, a reservation or the machine offers.
///
/// What is left may be below zero, where a reservation takes what running jobs still hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Nodes that the others are on. Over time they are not counted: several jobs may share one.
    pub nodes: i64,
    /// CPUs on all of the nodes.
    pub cpus: i64,
}

impl Resources {
    /// No nodes and no CPUs.
    pub const NONE: Self = Self::of_cpus(0);

    /// Returns this many CPUs, whichever nodes they are on.
    #[must_use]
    pub const fn of_cpus(cpus: i64) -> Self {
        Self { nodes: 0, cpus }
    }

    /// Whether there is enough of everything in `offered`.
    #[must_use]
    pub fn fits_in(self, offered: Self) -> bool {
        self.nodes <= offered.nodes && self.cpus <= offered.cpus
    }

    /// Returns the smaller number of nodes and the smaller number of CPUs.
    #[must_use]
    pub fn least(self, other: Self) -> Self {
        Self { nodes: self.nodes.min(other.nodes), cpus: self.cpus.min(other.cpus) }
    }

    /// Returns the larger number of nodes and the larger number of CPUs.
    #[must_use]
    pub fn most(self, other: Self) -> Self {
        Self { nodes: self.nodes.max(other.nodes), cpus: self.cpus.max(other.cpus) }
    }

    /// What a job that asks for this gets at the least: one CPU on each node, and one CPU at all.
    #[must_use]
    pub fn with_a_cpu_on_each_node(self) -> Self {
        Self { cpus: self.cpus.max(self.nodes).max(1), ..self }
    }

    /// What `nodes` of these nodes offer if they are all alike, rounded up; nothing where there are
    /// no nodes.
    #[must_use]
    pub fn on_average_nodes(self, nodes: i64) -> Self {
        if self.nodes <= 0 {
            return Self::NONE;
        }
        Self { nodes, cpus: rounded_up(self.cpus * nodes, self.nodes) }
    }

    /// What lies on the node at a `place` of `count` nodes (at least one) where a job has spread
    /// this evenly over them. All shares together are exactly this.
    pub(crate) fn share(self, place: i64, count: i64) -> Self {
        Self { nodes: 1, cpus: self.cpus * (place + 1) / count - self.cpus * place / count }
    }

    /// What a reservation that keeps `kept` of `all` keeps of these nodes, rounded up, and never
    /// more than they offer.
    pub(crate) fn in_proportion(self, kept: Self, all: Self) -> Self {
        Self { cpus: rounded_up(self.cpus * kept.cpus, all.cpus.max(1)).min(self.cpus), ..self }
    }

    /// Nodes and CPUs as the size of a job; what is out of range is the nearest number.
    #[must_use]
    pub fn size(self) -> Size {
        let count = |number: i64| u32::try_from(number.max(0)).unwrap_or(u32::MAX);
        Size { nodes: count(self.nodes), cpus: count(self.cpus) }
    }
}

impl From<Size> for Resources {
    fn from(size: Size) -> Self {
        Self { nodes: size.nodes.into(), cpus: size.cpus.into() }
    }
}

impl Add for Resources {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { nodes: self.nodes + other.nodes, cpus: self.cpus + other.cpus }
    }
}

impl Sub for Resources {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { nodes: self.nodes - other.nodes, cpus: self.cpus - other.cpus }
    }
}

impl AddAssign for Resources {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Resources {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Sum for Resources {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::NONE, Add::add)
    }
}

/// A quotient of numbers that are not negative, rounded up.
fn rounded_up(dividend: i64, divisor: i64) -> i64 {
    (dividend + divisor - 1) / divisor
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(nodes: i64, cpus: i64) -> Resources {
        Resources { nodes, cpus }
    }

    #[test]
    fn enough_of_one_thing_is_not_enough_of_everything() {
        assert!(of(1, 4).fits_in(of(1, 4)));
        assert!(!of(2, 4).fits_in(of(1, 8)) && !of(1, 5).fits_in(of(2, 4)));
        assert!(Resources::NONE.fits_in(Resources::NONE));
        assert!(!Resources::NONE.fits_in(of(1, 2) - of(0, 3)), "less than nothing is left");
    }

    #[test]
    fn what_is_taken_and_given_back_is_what_there_was() {
        let mut left = of(4, 16);
        left -= of(1, 3);
        assert_eq!(left, of(3, 13));
        left += of(1, 3);
        assert_eq!(left, of(4, 16));
        assert_eq!([of(1, 2), of(3, 4)].into_iter().sum::<Resources>(), of(4, 6));
        assert_eq!((of(1, 4).least(of(2, 3)), of(1, 4).most(of(2, 3))), (of(1, 3), of(2, 4)));
    }

    #[test]
    fn shares_add_up_and_averages_are_rounded_up() {
        let shares: Vec<Resources> = (0..3).map(|place| of(3, 8).share(place, 3)).collect();
        assert_eq!(shares, [of(1, 2), of(1, 3), of(1, 3)]);
        assert_eq!((of(3, 8).on_average_nodes(2), of(0, 0).on_average_nodes(2)), (of(2, 6), Resources::NONE));
        // Five of twelve CPUs are kept, of which these nodes have four.
        assert_eq!(of(1, 4).in_proportion(of(0, 5), of(3, 12)), of(1, 2));
        assert_eq!(of(1, 4).in_proportion(of(0, 50), of(3, 12)), of(1, 4));
    }

    #[test]
    fn a_size_becomes_resources_and_these_a_size() {
        let size = Size { nodes: 2, cpus: 7 };
        assert_eq!(Resources::from(size).size(), size);
        assert_eq!(of(-1, i64::MAX).size(), Size { nodes: 0, cpus: u32::MAX });
        assert_eq!((of(2, 0).with_a_cpu_on_each_node(), of(0, 0).with_a_cpu_on_each_node()), (of(2, 2), of(0, 1)));
    }
}
