//! What stands of firm slots when another one is asked for.

use daemon_api::FirmSlot;
use job_types::number::UserId;
use job_types::slot::LONGER_THAN_LIMIT;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::firm::{FirmStanding, ReservedNodes, most_reserved};
use queue_plan::placement::Slot;

use crate::plan::AskedPartition;

/// How far back an account is charged for slots.
pub(crate) const CHARGED_FOR: Seconds = Seconds(7 * 86_400);

/// What counts when a slot in a partition is asked for by a user who would charge that account; the
/// slot of the number `own` is the one that is asked for.
pub(super) fn firm_standing(
    slots: &[FirmSlot],
    own: Option<u64>,
    user: UserId,
    account: Option<&str>,
    partition: &AskedPartition,
    now: UnixTime,
) -> FirmStanding {
    let others = || slots.iter().filter(|slot| Some(slot.id) != own);
    let is_of_account = |slot: &&FirmSlot| match (&slot.account, account) {
        (Some(one), Some(other)) => one.eq_ignore_ascii_case(other),
        (one, other) => one.as_deref() == other,
    };
    let active = || others().filter(|slot| !slot.state.is_over() && slot.start.is_some());
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    // One without a start has lost it, and is forgotten when a week has passed.
    let is_recent = |slot: &&FirmSlot| slot.start.is_none_or(|start| UnixTime(start) > now - CHARGED_FOR);
    FirmStanding {
        of_user: count(active().filter(|slot| slot.user == user.0).count()),
        of_account: count(active().filter(is_of_account).count()),
        of_site: count(active().count()),
        charged_node_seconds: others().filter(is_of_account).filter(is_recent).map(|slot| slot.charged_node_s.unsigned_abs()).sum(),
        partition_nodes: partition.nodes,
        partition_longest: partition.longest_limit,
    }
}

/// The most nodes of a partition that other firm slots have at any moment of a slot.
pub(super) fn reserved_nodes(slots: &[FirmSlot], own: Option<u64>, partition: &str, slot: Slot) -> u32 {
    let others = slots.iter().filter(|other| Some(other.id) != own && other.partition == partition && !other.state.is_over());
    let reserved = others.filter_map(|other| {
        Some(ReservedNodes { start: UnixTime(other.start?), end: UnixTime(other.end?) + LONGER_THAN_LIMIT, nodes: other.nodes })
    });
    most_reserved(reserved, slot.start, slot.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use daemon_api::SlotWindow;
    use job_types::slot::SlotState;
    use std::sync::Arc;

    const NOW: i64 = 1_774_618_200;

    fn slot(id: u64, user: u32, account: &str, state: SlotState, start: i64) -> FirmSlot {
        FirmSlot {
            id,
            name: None,
            job_id: None,
            user,
            account: Some(account.to_owned()),
            partition: "batch".to_owned(),
            nodes: 2,
            limit_s: 600,
            state,
            start: Some(NOW + start),
            end: Some(NOW + start + 600),
            window: SlotWindow { earliest: NOW, latest: NOW + 9_000 },
            fixed_at: None,
            moved: 0,
            charged_node_s: 1_440,
            refused: None,
            together: None,
            confirm_by: None,
        }
    }

    fn partition() -> AskedPartition {
        AskedPartition {
            name: Arc::from("batch"),
            is_default: true,
            default_limit: None,
            longest_limit: None,
            nodes: 8,
            most_nodes: None,
            is_up: true,
        }
    }

    #[test]
    fn slots_that_are_granted_and_not_over_count_for_their_user_account_and_the_site_and_none_for_itself() {
        let slots = [
            slot(1, 7, "physics", SlotState::Movable, 100),
            slot(2, 8, "Physics", SlotState::Running, -100),
            slot(3, 7, "biology", SlotState::Fixed, 0),
            FirmSlot { start: None, charged_node_s: 0, ..slot(6, 7, "physics", SlotState::Asked, 0) },
            FirmSlot { start: None, ..slot(7, 7, "physics", SlotState::Lost, 0) },
            slot(4, 7, "physics", SlotState::Used, -3_600),
            slot(5, 7, "physics", SlotState::Used, -CHARGED_FOR.0),
        ];
        let standing = |own| firm_standing(&slots, own, UserId(7), Some("physics"), &partition(), UnixTime(NOW));
        let all = standing(None);
        assert_eq!((all.of_user, all.of_account, all.of_site), (2, 2, 3));
        assert_eq!(all.charged_node_seconds, 4 * 1_440, "a week ago is long ago");
        let again = standing(Some(1));
        assert_eq!((again.of_user, again.of_account, again.of_site, again.charged_node_seconds), (1, 1, 2, 3 * 1_440));
    }

    #[test]
    fn nodes_of_other_slots_of_the_partition_count_while_they_are_beside_a_slot() {
        let slots = [slot(1, 7, "physics", SlotState::Movable, 0), slot(2, 8, "physics", SlotState::Used, 0)];
        let beside = |start: i64| Slot::of(UnixTime(NOW + start), Seconds(100));
        let of = |own, start| reserved_nodes(&slots, own, "batch", beside(start));
        assert_eq!([of(None, 0), of(None, 719), of(None, 720), of(Some(1), 0)], [2, 2, 0, 0]);
        assert_eq!(reserved_nodes(&slots, None, "debug", beside(0)), 0);
    }
}
