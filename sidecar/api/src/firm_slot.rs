//! A firm slot, a real reservation of Slurm's inside a window, as the API tells it. Its answers to
//! `POST /v1/reserve` and `/v1/cancel` are one; `GET /v1/reservations` lists those of a user.

use job_types::slot::SlotState;
use job_types::together::Token;
use serde::{Deserialize, Serialize};

/// A firm slot; all times are in Unix seconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirmSlot {
    /// Its number, by which it is cancelled.
    pub id: u64,
    /// The name of the reservation, for `--reservation`; `None` where none was made.
    pub name: Option<String>,
    /// The job that it was asked for; `None` where it was asked for without one.
    pub job_id: Option<u32>,
    /// The number of the user whose slot it is.
    pub user: u32,
    /// The account that is charged; `None` where Slurm has none.
    pub account: Option<String>,
    /// The partition whose nodes are reserved.
    pub partition: String,
    /// How many nodes.
    pub nodes: u32,
    /// The time limit of the job that it has room for, in seconds.
    pub limit_s: i64,
    /// How far it has come.
    pub state: SlotState,
    /// When the reservation begins; `None` where none was made.
    pub start: Option<i64>,
    /// When the job's time limit ends it that starts with the reservation, two minutes before that
    /// ends; `None` where none was made.
    pub end: Option<i64>,
    /// Where the slot may lie.
    pub window: SlotWindow,
    /// From when on it moves no more; `None` where none was made.
    pub fixed_at: Option<i64>,
    /// How many times it was moved, or another one took its place.
    pub moved: u32,
    /// How many node-seconds are charged for it, used or not: of the whole reservation, or until it
    /// was given back.
    pub charged_node_s: i64,
    /// Why there is none, where there is none.
    pub refused: Option<SlotRefused>,
    /// What it is known by together with its other parts; `None` where it is a slot by itself.
    pub together: Option<Token>,
    /// By when it has to be confirmed, so as not to be given back; `None` where it is a slot by
    /// itself, or is confirmed.
    pub confirm_by: Option<i64>,
}

/// Where a slot may lie; both ends are in Unix seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotWindow {
    /// When the job starts at the earliest.
    pub earliest: i64,
    /// When it has ended at the latest.
    pub latest: i64,
}

/// Why there is no slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotRefused {
    /// The reason, as a sentence.
    pub reason: String,
    /// The nearest window in which one could be had, as users write windows; `None` where another
    /// window would change nothing, or is not known.
    pub nearest: Option<String>,
}

/// The firm slots that a user may see.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirmSlots {
    /// The slots, in the order of their numbers.
    pub slots: Vec<FirmSlot>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_read_as_it_was_written() {
        let granted = FirmSlot {
            id: 7,
            name: Some("queuecast_7".to_owned()),
            job_id: None,
            user: 1_000,
            account: Some("physics".to_owned()),
            partition: "batch".to_owned(),
            nodes: 2,
            limit_s: 600,
            state: SlotState::Movable,
            start: Some(5_000),
            end: Some(5_600),
            window: SlotWindow { earliest: 4_000, latest: 9_000 },
            fixed_at: Some(4_400),
            moved: 1,
            charged_node_s: 1_440,
            refused: None,
            together: Some(Token::from(7)),
            confirm_by: Some(4_100),
        };
        let refused = SlotRefused { reason: "no slot is free".to_owned(), nearest: None };
        let refused = FirmSlot {
            name: None,
            state: SlotState::Refused,
            start: None,
            end: None,
            fixed_at: None,
            refused: Some(refused),
            ..granted.clone()
        };
        let slots = FirmSlots { slots: vec![granted, refused] };
        let written = serde_json::to_value(&slots).unwrap();
        assert_eq!(written["slots"][0]["state"], "movable");
        assert_eq!(written["slots"][0]["window"]["latest"], 9_000);
        assert!(written["slots"][1]["name"].is_null(), "a key without a value is there all the same");
        assert_eq!(serde_json::from_value::<FirmSlots>(written).unwrap(), slots);
    }
}
