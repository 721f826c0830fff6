//! What each caller has under way, so that none takes what belongs to others.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use job_types::number::UserId;
use parking_lot::Mutex;

/// How many probes of one user are answered within [`WITHIN`].
pub(super) const MOST_PROBES: usize = 10;
/// How many questions of one user are answered from the snapshot within [`WITHIN`].
pub(super) const MOST_QUESTIONS: usize = 60;
/// The time that [`MOST_PROBES`] and [`MOST_QUESTIONS`] are about.
pub(super) const WITHIN: Duration = Duration::from_secs(60);

/// How many users are given their snapshot or the queue at once: for each it lies in memory.
pub(super) const MOST_LARGE_ANSWERS: usize = 8;

/// The callers with something under way, or who have asked in the last minute. Copies are of one.
#[derive(Debug, Clone, Default)]
pub(super) struct Callers(Arc<Mutex<HashMap<UserId, Caller>>>);

/// What one caller has under way.
#[derive(Debug, Default)]
struct Caller {
    takes_large_answer: bool,
    probes: Turns,
    questions: Turns,
}

/// What a caller has of one kind: one at a time, and a number of them within [`WITHIN`].
#[derive(Debug, Default)]
struct Turns {
    is_under_way: bool,
    /// When they were begun, in order, as far as they count.
    begun: VecDeque<Instant>,
}

/// What a caller may do as often as there are turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// What takes a plan or a change of Slurm's: a probe, a reservation, a cancellation.
    Probe,
    /// What the snapshot answers: the queue, a forecast.
    Question,
}

impl Kind {
    fn most(self) -> usize {
        match self {
            Self::Probe => MOST_PROBES,
            Self::Question => MOST_QUESTIONS,
        }
    }
}

impl Caller {
    fn turns(&mut self, kind: Kind) -> &mut Turns {
        match kind {
            Kind::Probe => &mut self.probes,
            Kind::Question => &mut self.questions,
        }
    }

    /// Forgets what does not count any more. Returns whether something is left.
    fn is_remembered(&mut self, now: Instant) -> bool {
        self.probes.forget(now);
        self.questions.forget(now);
        self.takes_large_answer || !self.probes.is_idle() || !self.questions.is_idle()
    }
}

impl Turns {
    fn forget(&mut self, now: Instant) {
        while self.begun.front().is_some_and(|begun| now.duration_since(*begun) >= WITHIN) {
            self.begun.pop_front();
        }
    }

    fn is_idle(&self) -> bool {
        !self.is_under_way && self.begun.is_empty()
    }

    /// # Errors
    /// How long it is until the next turn.
    fn begin(&mut self, most: usize, now: Instant) -> Result<(), Duration> {
        if self.is_under_way {
            return Err(Duration::from_secs(1));
        }
        if self.begun.len() >= most
            && let Some(first) = self.begun.front()
        {
            return Err(WITHIN.saturating_sub(now.duration_since(*first)));
        }
        self.is_under_way = true;
        self.begun.push_back(now);
        Ok(())
    }
}

/// A turn of a caller, who may begin another one of its kind once it is dropped.
#[derive(Debug)]
pub(super) struct UnderWay(UserId, Kind, Callers);

/// A large answer that is on its way to a caller, who is given no other one until it is dropped.
#[derive(Debug)]
pub(super) struct LargeAnswer(UserId, Callers);

impl Callers {
    /// Lets a user take the snapshot or the queue; `None` while one of them is on its way already,
    /// or to too many others.
    pub(super) fn take_large_answer(&self, user: UserId) -> Option<LargeAnswer> {
        let mut callers = self.0.lock();
        if callers.values().filter(|caller| caller.takes_large_answer).count() >= MOST_LARGE_ANSWERS {
            return None;
        }
        let caller = callers.entry(user).or_default();
        (!std::mem::replace(&mut caller.takes_large_answer, true)).then(|| LargeAnswer(user, self.clone()))
    }

    /// Lets a user begin something.
    ///
    /// # Errors
    /// How long it is until the user may, where one is under way or there were too many.
    pub(super) fn begin(&self, kind: Kind, user: UserId, now: Instant) -> Result<UnderWay, Duration> {
        let mut callers = self.0.lock();
        // Whoever has nothing under way and asked nothing of late takes no room.
        callers.retain(|_, caller| caller.is_remembered(now));
        callers.entry(user).or_default().turns(kind).begin(kind.most(), now)?;
        Ok(UnderWay(user, kind, self.clone()))
    }
}

impl Drop for LargeAnswer {
    fn drop(&mut self) {
        if let Some(caller) = self.1.0.lock().get_mut(&self.0) {
            caller.takes_large_answer = false;
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if let Some(caller) = self.2.0.lock().get_mut(&self.0) {
            caller.turns(self.1).is_under_way = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_has_one_probe_at_a_time_and_ten_a_minute() {
        let (callers, begin) = (Callers::default(), Instant::now());
        let at = |seconds| begin + Duration::from_secs(seconds);
        let first = callers.begin(Kind::Probe, UserId(1), at(0)).unwrap();
        assert_eq!(callers.begin(Kind::Probe, UserId(1), at(0)).unwrap_err(), Duration::from_secs(1));
        assert!(callers.begin(Kind::Probe, UserId(2), at(0)).is_ok());
        drop(first);
        for _ in 1..MOST_PROBES {
            assert!(callers.begin(Kind::Probe, UserId(1), at(10)).is_ok());
        }
        assert_eq!(callers.begin(Kind::Probe, UserId(1), at(20)).unwrap_err(), Duration::from_secs(40));
        assert!(callers.begin(Kind::Probe, UserId(1), at(60)).is_ok(), "the first is a minute ago");
        assert_eq!(callers.begin(Kind::Probe, UserId(1), at(61)).unwrap_err(), Duration::from_secs(9));
    }

    #[test]
    fn questions_have_turns_of_their_own() {
        let (callers, begin) = (Callers::default(), Instant::now());
        let _probe = callers.begin(Kind::Probe, UserId(1), begin).unwrap();
        for _ in 0..MOST_QUESTIONS {
            assert!(callers.begin(Kind::Question, UserId(1), begin).is_ok());
        }
        assert_eq!(callers.begin(Kind::Question, UserId(1), begin).unwrap_err(), WITHIN);
        let under_way = callers.begin(Kind::Question, UserId(2), begin).unwrap();
        assert_eq!(callers.begin(Kind::Question, UserId(2), begin).unwrap_err(), Duration::from_secs(1));
        drop(under_way);
        assert!(callers.begin(Kind::Question, UserId(2), begin).is_ok());
    }

    #[test]
    fn a_large_answer_is_on_its_way_to_a_user_once_and_to_few_at_a_time() {
        let callers = Callers::default();
        let first = callers.take_large_answer(UserId(1)).unwrap();
        assert!(callers.take_large_answer(UserId(1)).is_none());
        let others: Vec<_> = (10..50).filter_map(|user| callers.take_large_answer(UserId(user))).collect();
        assert_eq!(others.len(), MOST_LARGE_ANSWERS - 1);
        drop(first);
        assert!(callers.take_large_answer(UserId(1)).is_some());
    }

    #[test]
    fn callers_of_a_minute_ago_are_forgotten() {
        let (callers, begin) = (Callers::default(), Instant::now());
        for user in 0..1_000 {
            assert!(callers.begin(Kind::Probe, UserId(user), begin).is_ok());
        }
        assert!(callers.begin(Kind::Probe, UserId(5_000), begin + WITHIN).is_ok());
        assert_eq!(callers.0.lock().len(), 1);
    }
}
