//! The firm slots of the list, which the daemon tells to those whose they are.

use comfy_table::Table;
use command_parts::output::{count, moment, table};
use daemon_api::{FirmSlot, FirmSlots, RESERVATIONS};
use job_types::number::{JobId, UserId};
use job_types::time::UnixTime;
use serde::Serialize;

use super::Kind;
use crate::api;
use crate::installation::Installation;
use crate::selection::Selection;
use crate::user;

/// How the note begins that there are no firm slots in the list because nobody tells them.
pub(crate) const UNKNOWN_FIRM_SLOTS: &str = "firm slots are not known";

/// A firm slot.
#[derive(Debug, Serialize)]
pub(super) struct FirmReport {
    kind: Kind,
    user_name: Option<String>,
    #[serde(flatten)]
    slot: FirmSlot,
}

/// The firm slots that are meant; without them, a note says why.
pub(super) fn listed(installation: &Installation, wanted: &Selection) -> (Vec<FirmReport>, Option<String>) {
    match api::get::<FirmSlots>(&installation.reach(), RESERVATIONS) {
        Ok(FirmSlots { slots }) => (meant(slots, wanted), None),
        Err(error) => (Vec::new(), Some(format!("{UNKNOWN_FIRM_SLOTS}: {error}"))),
    }
}

/// The slots that are meant, the next to begin first, and those without a start behind them.
fn meant(slots: Vec<FirmSlot>, wanted: &Selection) -> Vec<FirmReport> {
    let is_meant = |slot: &FirmSlot| {
        wanted.means_user(UserId(slot.user))
            && wanted.means_account(slot.account.as_deref())
            && wanted.means_partition(&slot.partition)
            && slot.job_id.map_or(!wanted.has_jobs(), |job| wanted.means_job(JobId(job), None))
    };
    let mut slots: Vec<FirmSlot> = slots.into_iter().filter(is_meant).collect();
    slots.sort_by_key(|slot| (slot.start.is_none(), slot.start, slot.id));
    let report = |slot: FirmSlot| FirmReport { kind: Kind::Firm, user_name: user::name(UserId(slot.user)), slot };
    slots.into_iter().map(report).collect()
}

/// The slots as a table.
pub(super) fn rows(slots: &[FirmReport], now: UnixTime) -> Table {
    let header = ["number", "reservation", "job", "user", "partition", "nodes", "start", "end", "state", "may move", "moved"];
    let mut rows = table(&header, &["number", "job", "nodes", "moved"]);
    for slot in slots {
        rows.add_row(slot.row(now));
    }
    rows
}

impl FirmReport {
    fn row(&self, now: UnixTime) -> [String; 11] {
        let slot = &self.slot;
        let at = |seconds: Option<i64>| seconds.map(|seconds| moment(UnixTime(seconds))).unwrap_or_default();
        let fixed_at = slot.fixed_at.filter(|fixed_at| *fixed_at > now.0 && !slot.state.is_over());
        let why = slot.refused.as_ref().map(|refused| format!(": {}", refused.reason)).unwrap_or_default();
        [
            slot.id.to_string(),
            slot.name.clone().unwrap_or_default(),
            slot.job_id.map(|job| job.to_string()).unwrap_or_default(),
            self.user_name.clone().unwrap_or_else(|| slot.user.to_string()),
            slot.partition.clone(),
            count(slot.nodes.into()),
            at(slot.start),
            at(slot.end),
            format!("{}{why}", slot.state),
            fixed_at.map_or_else(|| "no more".to_owned(), |fixed_at| format!("until {}", moment(UnixTime(fixed_at)))),
            slot.moved.to_string(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use daemon_api::{SlotRefused, SlotWindow};
    use job_types::slot::SlotState;

    use super::*;

    fn slot(id: u64, start: Option<i64>, job_id: Option<u32>) -> FirmSlot {
        FirmSlot {
            id,
            name: start.map(|_| format!("queuecast_{id}")),
            job_id,
            user: 0,
            account: Some("physics".to_owned()),
            partition: "batch".to_owned(),
            nodes: 2,
            limit_s: 600,
            state: if start.is_some() { SlotState::Movable } else { SlotState::Asked },
            start,
            end: start.map(|start| start + 600),
            window: SlotWindow { earliest: 1_000, latest: 9_000 },
            fixed_at: start.map(|start| start - 300),
            moved: 1,
            charged_node_s: 0,
            refused: None,
            together: None,
            confirm_by: None,
        }
    }

    #[test]
    fn the_next_to_begin_is_first_and_one_without_a_start_last() {
        let slots = vec![slot(1, None, Some(5)), slot(2, Some(4_000), None), slot(3, Some(2_000), None)];
        let ids: Vec<u64> = meant(slots, &Selection::default()).iter().map(|slot| slot.slot.id).collect();
        assert_eq!(ids, [3, 2, 1]);
    }

    #[test]
    fn a_slot_is_told_with_its_kind_and_what_it_is() {
        let [told] = meant(vec![slot(2, Some(4_000), None)], &Selection::default()).try_into().unwrap();
        let json = serde_json::to_value(&told).unwrap();
        assert_eq!((&json["kind"], &json["state"], &json["id"], &json["moved"]), (&"firm".into(), &"movable".into(), &2.into(), &1.into()));
        let shown =
            |now: i64| rows(&[FirmReport { kind: Kind::Firm, user_name: None, slot: told.slot.clone() }], UnixTime(now)).to_string();
        assert!(shown(3_000).contains("queuecast_2") && shown(3_000).contains("until "), "{}", shown(3_000));
        assert!(shown(3_700).contains("no more"), "{}", shown(3_700));
    }

    #[test]
    fn for_programs_slots_are_in_the_one_list_of_reservations() {
        let firm = meant(vec![slot(2, Some(4_000), None), slot(3, None, Some(5))], &Selection::default());
        let list = serde_json::to_value(super::super::Listed { with_probability: Vec::new(), firm }).unwrap();
        assert_eq!((&list[0]["id"], &list[1]["job_id"], list.as_array().map(Vec::len)), (&2.into(), &5.into(), Some(2)), "{list}");
    }

    #[test]
    fn why_there_is_no_slot_stands_beside_its_state() {
        let refused = SlotRefused { reason: "no slot is free".to_owned(), nearest: None };
        let slot = FirmSlot { state: SlotState::Refused, refused: Some(refused), ..slot(2, None, None) };
        let shown = rows(&meant(vec![slot], &Selection::default()), UnixTime(0)).to_string();
        assert!(shown.contains("refused: no slot is free"), "{shown}");
    }
}
