//! A slot for tests.

use job_types::number::UserId;
use job_types::options::IfRefused;
use job_types::slot::SlotState;
use job_types::time::{Seconds, UnixTime};
use upkeep::FirmSlot;

/// Two nodes for an hour, asked for by user 7.
pub(super) fn slot() -> FirmSlot {
    FirmSlot {
        id: 1,
        user: UserId(7),
        user_name: "alice".to_owned(),
        account: Some("physics".to_owned()),
        qos: None,
        partition: "batch".to_owned(),
        nodes: 2,
        limit: Seconds(3_600),
        earliest: UnixTime(1_774_618_200),
        latest: UnixTime(1_774_618_200 + 36_000),
        near: None,
        asked_notice: None,
        notice: Seconds(600),
        idle: Seconds(300),
        job: None,
        if_refused: IfRefused::Run,
        asked_at: UnixTime(1_774_618_200),
        state: SlotState::Asked,
        reserved: None,
        charged_before: 0,
        ranked_at: None,
        used_at: None,
        moved: 0,
        why: None,
        over_at: None,
        is_left: false,
        part: None,
    }
}
