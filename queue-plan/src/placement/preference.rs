//! Which slots users prefer.

use std::cmp::{Ordering, Reverse};

use job_types::time::UnixTime;

use super::slot::Slot;

/// Which of several slots that are equally good a user wants (r_pref).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preference {
    /// The first of them.
    #[default]
    Earliest,
    /// The last of them.
    Latest,
    /// The one whose start is nearest to this time, and of two the earlier.
    Nearest(UnixTime),
}

impl Preference {
    /// Returns which of two slots is tried first if both are equally good.
    #[must_use]
    pub fn compare(self, one: Slot, other: Slot) -> Ordering {
        match self {
            Self::Earliest => one.start.cmp(&other.start),
            Self::Latest => Reverse(one.start).cmp(&Reverse(other.start)),
            Self::Nearest(to) => {
                let distance = |slot: Slot| slot.start.0.abs_diff(to.0);
                (distance(one), one.start).cmp(&(distance(other), other.start))
            }
        }
    }
}
