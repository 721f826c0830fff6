//! How many nodes firm slots have at a time.

use job_types::time::UnixTime;

/// Nodes that a firm slot has for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservedNodes {
    /// When the slot begins.
    pub start: UnixTime,
    /// When it ends.
    pub end: UnixTime,
    /// How many nodes it has.
    pub nodes: u32,
}

/// Returns the most nodes that some slots have together at any moment from `start` until `end`. A
/// slot that ends when another begins is never beside it.
#[must_use]
pub fn most_reserved(slots: impl IntoIterator<Item = ReservedNodes>, start: UnixTime, end: UnixTime) -> u32 {
    let beside = slots.into_iter().filter(|slot| slot.start < end && slot.end > start && slot.start < slot.end);
    let mut changes: Vec<(UnixTime, i64)> =
        beside.flat_map(|slot| [(slot.start, i64::from(slot.nodes)), (slot.end, -i64::from(slot.nodes))]).collect();
    // Of one moment, what is given back comes first.
    changes.sort_unstable();
    let at_each = changes.iter().scan(0_i64, |nodes, (_, change)| {
        *nodes = nodes.saturating_add(*change);
        Some(*nodes)
    });
    // Moments outside need no care: slots that are together before the start or behind the end all
    // reach inside, and are together there as well.
    u32::try_from(at_each.max().unwrap_or(0)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slot(start: i64, end: i64, nodes: u32) -> ReservedNodes {
        ReservedNodes { start: UnixTime(start), end: UnixTime(end), nodes }
    }

    fn most(slots: &[ReservedNodes], start: i64, end: i64) -> u32 {
        most_reserved(slots.iter().copied(), UnixTime(start), UnixTime(end))
    }

    #[test]
    fn slots_count_together_only_while_they_are_beside_each_other() {
        let slots = [slot(0, 10, 4), slot(10, 20, 3), slot(5, 15, 2)];
        assert_eq!(most(&slots, 0, 20), 6);
        assert_eq!(most(&slots, 12, 20), 5);
        assert_eq!(most(&slots, 15, 20), 3);
        assert_eq!([most(&slots, 20, 30), most(&slots, -5, 0), most(&[], 0, 20)], [0, 0, 0]);
    }

    #[test]
    fn more_nodes_than_can_be_counted_are_as_many_as_can_be() {
        assert_eq!(most(&[slot(0, 10, u32::MAX), slot(0, 10, 1)], 0, 10), u32::MAX);
    }

    proptest! {
        #[test]
        fn it_is_what_counting_at_each_moment_gives(
            slots in proptest::collection::vec((0..40_i64, -2..20_i64, 0..9_u32), 0..12),
            (start, length) in (0..40_i64, 1..20_i64),
        ) {
            let slots: Vec<ReservedNodes> = slots.into_iter().map(|(start, length, nodes)| slot(start, start + length, nodes)).collect();
            let at = |moment: i64| slots.iter().filter(|slot| (slot.start.0..slot.end.0).contains(&moment)).map(|slot| slot.nodes).sum();
            let counted: u32 = (start..start + length).map(at).max().unwrap_or(0);
            prop_assert_eq!(most(&slots, start, start + length), counted);
        }
    }
}
