//! A firm slot, a real reservation of Slurm's inside a window that a user gave, and how far it has
//! come.

use crate::time::Seconds;
use serde::{Deserialize, Serialize};

/// How much longer a reservation is than the time limit of its job: a job starts up to a quarter of
/// a minute late, and Slurm ends what runs in a reservation that ends.
pub const LONGER_THAN_LIMIT: Seconds = Seconds(120);

/// How far a firm slot has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, strum::Display, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum SlotState {
    /// Nothing is reserved yet.
    Asked,
    /// Nodes are reserved, at a time that may still change.
    Movable,
    /// Nodes are reserved, and the time changes no more.
    Fixed,
    /// The job waits for the reservation, and for nothing else.
    Attached,
    /// The reservation has begun and is in use.
    Running,
    /// It was used, and has ended.
    Used,
    /// The job started before it was needed, and it was given back.
    Early,
    /// It was given back because nobody used it, or because the job is not the one that it was
    /// asked for.
    Returned,
    /// There was no slot in the window.
    Refused,
    /// There was one, which was taken away, and no other is left in the window.
    Lost,
    /// Its user or an operator cancelled it.
    Cancelled,
}

impl SlotState {
    /// All of them, in the order in which a slot goes through them.
    pub const ALL: [SlotState; 11] = [
        SlotState::Asked,
        SlotState::Movable,
        SlotState::Fixed,
        SlotState::Attached,
        SlotState::Running,
        SlotState::Used,
        SlotState::Early,
        SlotState::Returned,
        SlotState::Refused,
        SlotState::Lost,
        SlotState::Cancelled,
    ];

    /// The state's name in records, reports and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether it changes no more.
    #[must_use]
    pub fn is_over(self) -> bool {
        self >= SlotState::Used
    }
}

/// How far a job's firm slot had come when its record was written last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotTold {
    /// How far.
    pub state: SlotState,
    /// When the slot begins or began, in Unix seconds; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<i64>,
    /// How many times it was moved, or another one took its place.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub moved: u32,
    /// Why it is over, where that needs to be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}
