//! How far a job with a reservation has come.

use job_types::time::UnixTime;
use serde::Serialize;

/// How far a job with a reservation has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub(super) enum State {
    /// It is not eligible yet.
    Deferred,
    /// It is eligible and waits for nodes.
    Waiting,
    /// It has its nodes and waits on them for its time.
    Early,
    /// It runs.
    Running,
    /// Its time has passed, and it has not started.
    Missed,
}

impl State {
    /// The state of a job that has not ended.
    pub(super) fn of(
        reserved: UnixTime,
        begin: Option<UnixTime>,
        started: Option<UnixTime>,
        hold_until: Option<UnixTime>,
        now: UnixTime,
    ) -> Self {
        match started {
            Some(_) if hold_until.is_some_and(|until| now < until) => Self::Early,
            Some(_) => Self::Running,
            None if now > reserved => Self::Missed,
            None if begin.is_some_and(|begin| begin > now) => Self::Deferred,
            None => Self::Waiting,
        }
    }

    /// In a word for people.
    pub(super) fn word(self) -> &'static str {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reservation_goes_from_deferred_to_running_or_is_missed() {
        let (begin, reserved) = (Some(UnixTime(100)), UnixTime(200));
        let state = |started: Option<i64>, now| State::of(reserved, begin, started.map(UnixTime), Some(reserved), UnixTime(now));
        assert_eq!(
            (state(None, 50), state(None, 150), state(None, 200), state(None, 201)),
            (State::Deferred, State::Waiting, State::Waiting, State::Missed)
        );
        assert_eq!((state(Some(120), 150), state(Some(120), 200), state(Some(250), 260)), (State::Early, State::Running, State::Running));
        let runs_at_once = State::of(reserved, begin, Some(UnixTime(120)), None, UnixTime(150));
        assert_eq!(runs_at_once, State::Running);
    }
}
