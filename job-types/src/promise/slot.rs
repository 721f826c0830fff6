//! The firm slot that a record asks for, a real reservation of Slurm's inside a window.

use crate::options::{IfRefused, Mode};
use crate::record::Record;
use crate::slot::SlotState;
use crate::time::{Seconds, UnixTime};
use crate::window::Window;

/// The firm slot that a job's record asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotAsked {
    /// Where it may lie.
    pub window: Window,
    /// How long before its start it is to move no more, where its user says so.
    pub notice: Option<Seconds>,
    /// What becomes of the job where no slot is to be had.
    pub if_refused: IfRefused,
}

impl SlotAsked {
    /// What a record asks for, in a mode that writes; `None` where it asks for no slot.
    #[must_use]
    pub fn of(record: &Record) -> Option<SlotAsked> {
        SlotAsked::decided(record).filter(|_| record.mode == Mode::Enforce)
    }

    /// What a record asks for, also where the mode keeps it from being made.
    #[must_use]
    pub fn decided(record: &Record) -> Option<SlotAsked> {
        let written = record.written.as_ref()?;
        let (earliest, latest) = written.window?;
        Some(SlotAsked {
            window: Window { earliest: UnixTime(earliest), latest: UnixTime(latest) },
            notice: written.notice_s.map(Seconds),
            if_refused: written.if_refused,
        })
    }

    /// Whether a job that runs, or has run, started in the slot that its record tells of. Its wait
    /// was for a moment that was agreed on, and says nothing of the queue.
    #[must_use]
    pub fn is_used_by(admin_comment: &str) -> bool {
        let in_slot = |state| matches!(state, SlotState::Attached | SlotState::Running | SlotState::Used);
        let record = Some(admin_comment).filter(|comment| SlotAsked::may_be_in(comment)).and_then(Record::parse);
        let told = record.filter(|record| SlotAsked::of(record).is_some()).and_then(|record| record.changed?.slot);
        told.is_some_and(|told| in_slot(told.state))
    }

    /// Whether it is worth while to read the record in an `admin_comment` for a slot.
    #[must_use]
    pub fn may_be_in(admin_comment: &str) -> bool {
        admin_comment.starts_with('{') && admin_comment.contains("\"window\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_asked_for_by_a_window_in_the_mode_that_writes() {
        let asked = |mode, written| {
            let comment = format!(
                r#"{{"queuecast":{{"version":1,"generation":7,"at":10,"mode":"{mode}","asked":{{"nodes":1,"cpus":1}},"written":{{{written}}}}}}}"#
            );
            assert!(SlotAsked::may_be_in(&comment) || written == r#""begin":50"#);
            let record = Record::parse(&comment).unwrap();
            assert_eq!(SlotAsked::decided(&record).is_some(), SlotAsked::may_be_in(&comment));
            SlotAsked::of(&record)
        };
        let window = r#""begin":50,"window":[50,900],"notice_s":60,"if_refused":"cancel""#;
        let whole = SlotAsked {
            window: Window { earliest: UnixTime(50), latest: UnixTime(900) },
            notice: Some(Seconds(60)),
            if_refused: IfRefused::Cancel,
        };
        assert_eq!([asked("enforce", window), asked("advise", window), asked("enforce", r#""begin":50"#)], [Some(whole), None, None]);
    }

    #[test]
    fn a_job_started_in_its_slot_where_the_record_has_it_attached_or_later_and_not_given_back() {
        let used: Vec<SlotState> = SlotState::ALL
            .into_iter()
            .filter(|state| {
                let changed = format!(r#""changed":{{"count":2,"at":20,"slot":{{"state":"{state}","start":60}}}}"#);
                let decided = r#""version":1,"generation":7,"at":10,"mode":"enforce","asked":{"nodes":1,"cpus":1}"#;
                SlotAsked::is_used_by(&format!(r#"{{"queuecast":{{{decided},"written":{{"window":[50,900]}},{changed}}}}}"#))
            })
            .collect();
        assert_eq!(used, [SlotState::Attached, SlotState::Running, SlotState::Used]);
        assert!(!SlotAsked::is_used_by("a remark of an operator"));
    }
}
