//! Firm slots as the API tells them.

use daemon_api::{SlotRefused, SlotWindow};
use job_types::record::SealKey;
use job_types::slot::SlotState;
use job_types::slot_name;
use upkeep::FirmSlot;

/// How a slot is told. Its reservation has a name where there is a key.
pub(super) fn listed(slot: &FirmSlot, key: Option<&SealKey>, nearest: Option<String>) -> daemon_api::FirmSlot {
    let is_missing = matches!(slot.state, SlotState::Refused | SlotState::Lost);
    daemon_api::FirmSlot {
        id: slot.id,
        name: slot.reserved.and_then(|_| Some(slot_name::of_slot(slot.id, key?))),
        job_id: slot.job.map(|job| job.id.0),
        user: slot.user.0,
        account: slot.account.clone(),
        partition: slot.partition.clone(),
        nodes: slot.nodes,
        limit_s: slot.limit.0,
        state: slot.state,
        start: slot.reserved.map(|times| times.start.0),
        end: slot.reserved.map(|times| (times.start + slot.limit).0),
        window: SlotWindow { earliest: slot.earliest.0, latest: slot.latest.0 },
        fixed_at: slot.fixed_at().map(|moment| moment.0),
        moved: slot.moved,
        charged_node_s: slot.charged_node_seconds(),
        refused: is_missing.then(|| SlotRefused { reason: slot.why.clone().unwrap_or_else(|| "no slot is to be had".to_owned()), nearest }),
        together: slot.part.as_ref().map(|part| part.of.token.clone()),
        confirm_by: slot.unconfirmed().filter(|_| !slot.state.is_over()).map(|part| part.confirm_by.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::firm::made_up::slot;
    use job_types::time::{Seconds, UnixTime};

    #[test]
    fn a_slot_is_told_with_its_name_once_it_has_a_reservation_and_with_a_reason_where_there_is_none() {
        let key = SealKey::new([7; 16]);
        let asked = listed(&slot(), Some(&key), None);
        assert_eq!((asked.name, asked.start, asked.refused), (None, None, None));
        let mut granted = slot();
        let start = granted.asked_at + Seconds(7_200);
        granted.reserve(start, start + granted.duration(), granted.asked_at);
        let told = listed(&granted, Some(&key), None);
        assert!(told.name.is_some_and(|told| slot_name::slot_of(&told, &key) == Some(1)));
        assert_eq!((told.end, told.fixed_at), (Some(start.0 + 3_600), Some(start.0 - 600)));
        let mut refused = slot();
        refused.end(SlotState::Refused, Some("no".to_owned()), UnixTime(0));
        assert_eq!(listed(&refused, None, None).refused.map(|refused| refused.reason).as_deref(), Some("no"));
    }
}
