//! When a round begins, whom it asks in turn, and how long it waits for each answer.
//!
//! A round asks the readers, then the learner, then the planner, and is published at its end.
//! Everyone is given some time to answer; a round of `--once`, of which the only snapshot comes,
//! waits for the readers as long as they need.

use std::time::{Duration, Instant};

/// How long a round waits for the readers at the most.
const LONGEST_PATIENCE: Duration = Duration::from_secs(10);
/// How long a round waits for the learner, which mostly needs some tens of milliseconds; what it
/// says later goes into the next snapshot.
const LEARNERS_PATIENCE: Duration = Duration::from_millis(250);
/// How long a round waits for the planner; a plan that takes longer is left out.
const PLANNERS_PATIENCE: Duration = Duration::from_secs(2);
/// How long the learner may need for its first answer, which the only snapshot of `--once` waits
/// for.
const LONGEST_FILL: Duration = Duration::from_secs(3_600);
/// How long the first round waits for the history and the queue.
const FIRST_PATIENCE: Duration = Duration::from_secs(30);

/// The rounds of a daemon, of which at most one is under way.
#[derive(Debug)]
pub(super) struct Rounds {
    once: bool,
    started: Instant,
    under_way: Option<Round>,
    /// When the next round begins, unless one is under way then.
    next: Instant,
}

/// A round that is under way.
#[derive(Debug)]
struct Round {
    stage: Stage,
    /// The time until which the stage waits for an answer.
    deadline: Instant,
}

/// How far a round has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The readers were asked.
    Reading,
    /// The learner was asked.
    Learning,
    /// The learner was not asked, and so is not waited for.
    Learnt,
    /// The planner was asked.
    Planning,
    /// The planner was not asked, and so is not waited for.
    Planned,
}

/// The threads that have been asked and have not answered.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Owing {
    pub(super) readers: bool,
    pub(super) learner: bool,
    pub(super) planner: bool,
}

/// What is to be done for the round that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing is to be done: no round is under way, or it waits for an answer.
    Wait,
    /// The learner is to be asked; [`Rounds::asked_learner`] tells what became of it.
    AskLearner,
    /// The planner is to be asked; [`Rounds::asked_planner`] tells what became of it.
    AskPlanner,
    /// The round has ended.
    Publish,
}

impl Rounds {
    /// Rounds of a daemon that starts at `now`, of which the first begins at once. With `once` it
    /// ends after the first.
    pub(super) fn new(once: bool, now: Instant) -> Self {
        Self { once, started: now, under_way: None, next: now }
    }

    /// Whether the daemon ends after one round.
    pub(super) fn are_once(&self) -> bool {
        self.once
    }

    /// When the daemon started.
    pub(super) fn started(&self) -> Instant {
        self.started
    }

    /// When something is to be done although nobody has answered; `None` where only an answer goes
    /// on.
    pub(super) fn wake(&self) -> Option<Instant> {
        match &self.under_way {
            Some(Round { stage: Stage::Reading, .. }) if self.once => None,
            Some(round) => Some(round.deadline),
            None => Some(self.next),
        }
    }

    /// Whether a round is to begin.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.under_way.is_none() && now >= self.next
    }

    /// Has the next round begin at `now`, or once the one that is under way has ended.
    pub(super) fn hurry(&mut self, now: Instant) {
        self.next = now;
    }

    /// Has a round begin at `now`, unless one is under way.
    pub(super) fn hurry_if_idle(&mut self, now: Instant) {
        if self.under_way.is_none() {
            self.next = now;
        }
    }

    /// Begins a round, for which the readers were asked at `now`.
    pub(super) fn begin(&mut self, now: Instant, interval: Duration, has_published: bool) {
        self.next = now + interval;
        let mut deadline = now + interval.min(LONGEST_PATIENCE);
        let first_deadline = self.started + FIRST_PATIENCE;
        if !has_published && now < first_deadline {
            deadline = first_deadline;
        }
        self.under_way = Some(Round { stage: Stage::Reading, deadline });
    }

    /// What the round needs next. A round that is to be published has ended.
    pub(super) fn step(&mut self, now: Instant, owing: Owing) -> Step {
        let Some(Round { stage, deadline }) = self.under_way else { return Step::Wait };
        let has_time = now < deadline;
        match stage {
            Stage::Reading if owing.readers && (self.once || has_time) => Step::Wait,
            Stage::Reading => Step::AskLearner,
            Stage::Learning if owing.learner && has_time => Step::Wait,
            Stage::Learning | Stage::Learnt => Step::AskPlanner,
            Stage::Planning if owing.planner && has_time => Step::Wait,
            Stage::Planning | Stage::Planned => {
                self.under_way = None;
                Step::Publish
            }
        }
    }

    /// Goes on to the learner's answer, where there will be one.
    pub(super) fn asked_learner(&mut self, now: Instant, was_asked: bool) {
        let patience = if self.once { LONGEST_FILL } else { LEARNERS_PATIENCE };
        self.go_on(if was_asked { Stage::Learning } else { Stage::Learnt }, now + patience);
    }

    /// Goes on to the planner's answer, where there will be one.
    pub(super) fn asked_planner(&mut self, now: Instant, interval: Duration, was_asked: bool) {
        let patience = if self.once { LONGEST_PATIENCE } else { PLANNERS_PATIENCE.min(interval) };
        self.go_on(if was_asked { Stage::Planning } else { Stage::Planned }, now + patience);
    }

    fn go_on(&mut self, stage: Stage, deadline: Instant) {
        if let Some(round) = &mut self.under_way {
            *round = Round { stage, deadline };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_secs(30);
    const READERS: Owing = Owing { readers: true, learner: false, planner: false };
    const LEARNER: Owing = Owing { readers: false, learner: true, planner: false };
    const PLANNER: Owing = Owing { readers: false, learner: false, planner: true };
    const NOBODY: Owing = Owing { readers: false, learner: false, planner: false };

    /// A daemon that has published already, with a round that begins a minute after its start.
    fn rounds() -> (Rounds, Instant) {
        let start = Instant::now();
        let mut rounds = Rounds::new(false, start);
        let now = start + Duration::from_secs(60);
        rounds.begin(now, INTERVAL, true);
        (rounds, now)
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_round_asks_learner_and_planner_in_turn_and_is_published_once() {
        let (mut rounds, now) = rounds();
        assert_eq!(rounds.step(now, READERS), Step::Wait);
        assert_eq!(rounds.step(now, NOBODY), Step::AskLearner);
        rounds.asked_learner(now, true);
        assert_eq!(rounds.step(now, LEARNER), Step::Wait);
        assert_eq!(rounds.step(now, NOBODY), Step::AskPlanner);
        rounds.asked_planner(now, INTERVAL, true);
        assert_eq!(rounds.step(now, PLANNER), Step::Wait);
        assert_eq!(rounds.step(now, NOBODY), Step::Publish);
        assert_eq!(rounds.step(now, NOBODY), Step::Wait, "no round is under way");
    }

    #[test]
    fn whoever_takes_too_long_is_left_behind() {
        let (mut rounds, now) = rounds();
        assert_eq!(rounds.wake(), Some(now + seconds(10)));
        assert_eq!(rounds.step(now + seconds(10), READERS), Step::AskLearner);
        rounds.asked_learner(now, true);
        assert_eq!(rounds.wake(), Some(now + Duration::from_millis(250)));
        assert_eq!(rounds.step(now + Duration::from_millis(250), LEARNER), Step::AskPlanner);
        rounds.asked_planner(now, INTERVAL, true);
        assert_eq!(rounds.wake(), Some(now + seconds(2)));
        assert_eq!(rounds.step(now + seconds(2), PLANNER), Step::Publish);
        assert_eq!(rounds.wake(), Some(now + INTERVAL));
    }

    #[test]
    fn nobody_waits_longer_than_the_interval() {
        let (mut rounds, now) = rounds();
        rounds.begin(now, seconds(1), true);
        assert_eq!(rounds.wake(), Some(now + seconds(1)));
        rounds.asked_planner(now, seconds(1), true);
        assert_eq!(rounds.wake(), Some(now + seconds(1)));
    }

    #[test]
    fn a_learner_or_planner_that_was_not_asked_is_not_waited_for_although_it_owes_an_answer() {
        let (mut rounds, now) = rounds();
        let both = Owing { readers: false, learner: true, planner: true };
        assert_eq!(rounds.step(now, both), Step::AskLearner);
        rounds.asked_learner(now, false);
        assert_eq!(rounds.step(now, both), Step::AskPlanner);
        rounds.asked_planner(now, INTERVAL, false);
        assert_eq!(rounds.step(now, both), Step::Publish);
    }

    #[test]
    fn the_first_rounds_wait_longer_for_the_readers_until_something_is_published() {
        let start = Instant::now();
        let mut rounds = Rounds::new(false, start);
        assert!(rounds.is_due(start));
        rounds.begin(start, INTERVAL, false);
        assert!(!rounds.is_due(start + seconds(3_600)), "a round is under way");
        assert_eq!(rounds.wake(), Some(start + seconds(30)));
        rounds.begin(start + seconds(25), INTERVAL, false);
        assert_eq!(rounds.wake(), Some(start + seconds(30)), "it counts from the start");
        rounds.begin(start + seconds(25), INTERVAL, true);
        assert_eq!(rounds.wake(), Some(start + seconds(35)));
        rounds.begin(start + seconds(30), INTERVAL, false);
        assert_eq!(rounds.wake(), Some(start + seconds(40)));
    }

    #[test]
    fn a_round_begins_early_where_it_is_asked_for() {
        let (mut rounds, now) = rounds();
        rounds.hurry_if_idle(now);
        assert_eq!(rounds.next, now + INTERVAL, "the round that is under way will do");
        rounds.hurry(now);
        assert_eq!(rounds.next, now, "somebody wants one more");
        rounds.begin(now, INTERVAL, true);
        rounds.under_way = None;
        assert!(!rounds.is_due(now) && rounds.is_due(now + INTERVAL));
        rounds.hurry_if_idle(now);
        assert!(rounds.is_due(now));
    }

    #[test]
    fn a_daemon_of_one_snapshot_waits_for_readers_and_learner() {
        let start = Instant::now();
        let mut rounds = Rounds::new(true, start);
        rounds.begin(start, INTERVAL, false);
        assert_eq!(rounds.step(start + seconds(3_000), READERS), Step::Wait);
        assert_eq!(rounds.step(start + seconds(3_000), NOBODY), Step::AskLearner);
        rounds.asked_learner(start, true);
        assert_eq!(rounds.step(start + seconds(3_599), LEARNER), Step::Wait);
        assert_eq!(rounds.step(start + seconds(3_600), LEARNER), Step::AskPlanner);
        rounds.asked_planner(start, INTERVAL, true);
        assert_eq!(rounds.wake(), Some(start + seconds(10)));
    }

    #[test]
    fn a_daemon_of_one_snapshot_does_not_spin_while_its_readers_take_long() {
        let start = Instant::now();
        let mut rounds = Rounds::new(true, start);
        rounds.begin(start, INTERVAL, false);
        assert_eq!(rounds.wake(), None, "a moment that has passed would be waited for again and again");
    }
}
