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
    /// The reserved time has passed, and the job has not started.
    Missed,
}

impl State {
    /// The state of a job that has not ended. `program_begins` is when the program of a job that
    /// has its nodes begins, `None` for a job that waits, and has missed its time by now or not.
    pub(super) fn of(is_missed: bool, begin: Option<UnixTime>, program_begins: Option<UnixTime>, now: UnixTime) -> Self {
        match program_begins {
            Some(program_begins) if now < program_begins => Self::Early,
            Some(_) => Self::Running,
            None if is_missed => Self::Missed,
            None if begin.is_some_and(|begin| begin > now) => Self::Deferred,
            None => Self::Waiting,
        }
    }

    /// Returns the state in a word for people.
    pub(super) fn word(self) -> &'static str {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reservation_goes_from_deferred_to_running_or_is_missed() {
        let begin = Some(UnixTime(100));
        let state = |program_begins: Option<i64>, now| State::of(now > 200, begin, program_begins.map(UnixTime), UnixTime(now));
        assert_eq!(
            (state(None, 50), state(None, 150), state(None, 200), state(None, 201)),
            (State::Deferred, State::Waiting, State::Waiting, State::Missed)
        );
        assert_eq!((state(Some(200), 150), state(Some(200), 200), state(Some(250), 260)), (State::Early, State::Running, State::Running));
        assert_eq!(state(Some(120), 150), State::Running, "it runs at once");
    }
}
