//! The firm slot that a job asks for, in words: what was asked, and how far it has come.

use command_parts::output::{moment, moment_and_distance};
use job_types::options::IfRefused;
use job_types::promise::SlotAsked;
use job_types::record::{Record, Written};
use job_types::slot::{SlotState, SlotTold};
use job_types::time::{Seconds, UnixTime};

/// Says which slot is asked for; `None` where none is.
pub(super) fn asked(written: &Written) -> Option<String> {
    let (earliest, latest) = written.window?;
    let mut text = format!("a firm slot between {} and {}", moment(UnixTime(earliest)), moment(UnixTime(latest)));
    if let Some(notice) = written.notice_s {
        text.push_str(&format!(", which moves no more {} before its start", Seconds(notice)));
    }
    text.push_str(match written.if_refused {
        IfRefused::Run => ", without which the job runs as any other",
        IfRefused::Cancel => ", without which the job is cancelled",
    });
    Some(text)
}

/// Says how far the slot had come when the record was written last; `None` where none was asked
/// for, or in a mode that asks for none.
pub(super) fn progress(record: &Record, now: UnixTime) -> Option<String> {
    SlotAsked::of(record)?;
    let asked = SlotTold { state: SlotState::Asked, start: None, moved: 0, why: None };
    let told = record.changed.as_ref().and_then(|changed| changed.slot.as_ref()).unwrap_or(&asked);
    let mut parts = vec![format!("{}: {}", told.state.name(), in_words(told.state))];
    if let Some(start) = told.start {
        let verb = if start <= now.0 { "began" } else { "begins" };
        parts.push(format!("the slot {verb} {}", moment_and_distance(UnixTime(start), now)));
    }
    match told.moved {
        0 => {}
        1 => parts.push("it was moved once".to_owned()),
        times => parts.push(format!("it was moved {times} times")),
    }
    parts.extend(told.why.clone());
    Some(parts.join("; "))
}

fn in_words(state: SlotState) -> &'static str {
    match state {
        SlotState::Asked => "nothing is reserved yet",
        SlotState::Movable => "nodes are reserved, and the time may still change",
        SlotState::Fixed => "nodes are reserved, and the time changes no more",
        SlotState::Attached => "the job waits for its reservation and for nothing else",
        SlotState::Running => "the reservation is in use",
        SlotState::Used => "the reservation was used and has ended",
        SlotState::Early => "the job started before it was needed, and it was given back",
        SlotState::Returned => "it was not used, and was given back",
        SlotState::Refused => "there was none in the window",
        SlotState::Lost => "it was taken away, and there was no other in the window",
        SlotState::Cancelled => "its user or an operator cancelled it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const NOW: UnixTime = UnixTime(20_000);

    fn record(mode: &str, written: &str, changed: &str) -> Record {
        let decided = format!(r#""version":1,"generation":7,"at":10,"mode":"{mode}","asked":{{"nodes":1,"cpus":1}}"#);
        Record::parse(&format!(r#"{{"queuecast":{{{decided},"written":{{{written}}},"changed":{changed}}}}}"#)).unwrap()
    }

    #[test]
    fn what_was_asked_is_told_with_its_window_notice_and_what_becomes_of_the_job() {
        let of = |notice_s, if_refused| Written { window: Some((1_000, 9_000)), notice_s, if_refused, ..Written::default() };
        let window = format!("a firm slot between {} and {}", moment(UnixTime(1_000)), moment(UnixTime(9_000)));
        assert_eq!(asked(&of(None, IfRefused::Run)).unwrap(), format!("{window}, without which the job runs as any other"));
        assert_eq!(
            asked(&of(Some(1_800), IfRefused::Cancel)).unwrap(),
            format!("{window}, which moves no more 30 min before its start, without which the job is cancelled")
        );
        assert_eq!(asked(&Written::default()), None);
    }

    #[test]
    fn how_far_a_slot_has_come_is_told_with_its_start_its_moves_and_the_reason() {
        let window = r#""window":[1000,90000]"#;
        let told = |changed: &str| progress(&record("enforce", window, changed), NOW).unwrap();
        assert_eq!(told("null"), "asked: nothing is reserved yet");
        let movable = told(r#"{"count":2,"at":20,"slot":{"state":"movable","start":30000,"moved":2}}"#);
        assert!(movable.starts_with("movable: nodes are reserved, and the time may still change; the slot begins "), "{movable}");
        assert!(movable.ends_with("; it was moved 2 times"), "{movable}");
        let lost = told(r#"{"count":2,"at":20,"slot":{"state":"lost","start":19000,"moved":1,"why":"an operator deleted it"}}"#);
        assert!(lost.contains("; the slot began ") && lost.ends_with("; it was moved once; an operator deleted it"), "{lost}");
        assert_eq!(progress(&record("advise", window, "null"), NOW), None);
        assert_eq!(progress(&record("enforce", r#""begin":1000"#, "null"), NOW), None);
    }

    #[test]
    fn each_state_has_words_of_its_own() {
        let words: BTreeSet<&str> = SlotState::ALL.into_iter().map(in_words).collect();
        assert_eq!(words.len(), SlotState::ALL.len());
    }
}
