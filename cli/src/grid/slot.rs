//! A slot of one of several clusters, and which is tried first.

use std::cmp::Ordering;

use daemon_api::Slot;
use job_types::text::is_obeyed;
use job_types::time::UnixTime;
use queue_plan::placement::{self, Preference, Rated};
use serde::Serialize;

/// The most characters that are shown of a text of another cluster.
const MOST_CHARACTERS: usize = 300;

/// A slot of a cluster.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct GridSlot {
    pub(crate) cluster: String,
    #[serde(flatten)]
    pub(crate) slot: Slot,
}

/// The order in which the slots of several clusters are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The best availability first, and of equals the earliest.
    Availability,
    /// The fewest node-seconds charged first, and of equals the best.
    Cheapest,
    /// By their starts, and of equals the best.
    Start(Preference),
}

impl GridSlot {
    /// Whether it is to be had.
    pub(crate) fn is_to_be_had(&self) -> bool {
        self.slot.availability > 0.0
    }

    fn rated(&self) -> Rated {
        let slot = placement::Slot { start: UnixTime(self.slot.start), end: UnixTime(self.slot.end) };
        Rated { slot, availability: self.slot.availability }
    }

    /// How far it is from being granted: allowed, to be had, or neither.
    fn obstacles(&self) -> u8 {
        u8::from(!self.slot.allowed) + u8::from(!self.is_to_be_had())
    }
}

impl Order {
    /// Which of two slots is taken first. Those that are allowed are before those that are to be
    /// had alone, and these before the others.
    pub(crate) fn compare(self, one: &GridSlot, other: &GridSlot) -> Ordering {
        let (rated, other_rated) = (one.rated(), other.rated());
        let by_rank = || rated.compare(&other_rated, Preference::Earliest);
        let by_order = || match self {
            Order::Availability => by_rank(),
            Order::Cheapest => one.slot.charged_node_s.cmp(&other.slot.charged_node_s).then_with(by_rank),
            Order::Start(preference) => preference.compare(rated.slot, other_rated.slot).then_with(by_rank),
        };
        one.obstacles().cmp(&other.obstacles()).then_with(by_order)
    }
}

/// The beginning of a text of another cluster, as a terminal may be given it.
pub(crate) fn shown(text: &str) -> String {
    text.chars().filter(|character| !is_obeyed(*character)).take(MOST_CHARACTERS).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A slot of an hour that is allowed.
    pub(crate) fn slot(cluster: &str, start: i64, availability: f64, charged_node_s: i64) -> GridSlot {
        let slot = Slot {
            start,
            end: start + 3_600,
            availability,
            delayed_jobs: Some(0),
            total_delay_s: Some(0),
            most_delay_s: Some(0),
            idle_node_s: Some(0),
            charged_node_s,
            allowed: availability > 0.0,
            why_not: None,
        };
        GridSlot { cluster: cluster.to_owned(), slot }
    }

    fn ordered(order: Order) -> Vec<i64> {
        let mut slots = [
            slot("east", 100, 0.0, 10),
            slot("east", 200, 0.9, 900),
            slot("west", 300, 1.0, 800),
            slot("west", 400, 0.8, 700),
            slot("west", 500, 1.0, 800),
            GridSlot { slot: Slot { allowed: false, ..slot("east", 150, 1.0, 1).slot }, cluster: "east".to_owned() },
        ];
        slots.sort_by(|one, other| order.compare(one, other));
        slots.iter().map(|slot| slot.slot.start).collect()
    }

    #[test]
    fn slots_are_in_the_order_that_is_preferred_and_those_that_are_not_granted_behind() {
        assert_eq!(ordered(Order::Availability), [300, 500, 200, 400, 150, 100]);
        assert_eq!(ordered(Order::Cheapest), [400, 300, 500, 200, 150, 100]);
        assert_eq!(ordered(Order::Start(Preference::Earliest)), [200, 300, 400, 500, 150, 100]);
        assert_eq!(ordered(Order::Start(Preference::Latest)), [500, 400, 300, 200, 150, 100]);
        assert_eq!(ordered(Order::Start(Preference::Nearest(UnixTime(390)))), [400, 300, 500, 200, 150, 100]);
    }

    #[test]
    fn a_text_of_another_cluster_is_cut_and_moves_no_cursor() {
        assert_eq!(shown("a\u{1b}[2Jb\n\u{202e}c"), "a[2Jbc");
        assert_eq!(shown(&"x".repeat(10_000)).len(), MOST_CHARACTERS);
    }
}
