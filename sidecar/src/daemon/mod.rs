//! The main thread: asks the readers at every interval, and publishes whatever they answer.
//!
//! A round begins at every interval, and when somebody asks for one. Both readers are asked; when
//! both have answered, or when one takes too long, what is known is fitted and published. A reader
//! that hangs is not asked again until it has answered: its records become older, which the
//! snapshot says, and everything else goes on.

mod filter_watch;
mod going_round;
mod guarding;
mod learning;
mod publication;
mod publishing;
mod readers;
mod rounds;
mod start;

use std::sync::Arc;
use std::time::Instant;

use crossbeam::channel::{Receiver, RecvTimeoutError};
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::MOST_AHEAD;

use crate::changes;
use crate::clock::now;
use crate::failure::Failure;
use crate::firm;
use crate::guard;
use crate::learn::learner;
use crate::logging::Logging;
use crate::message::{Learnt, Message, Planned};
use crate::metrics::Metrics;
use crate::notification::Notification;
use crate::plan;
use crate::rules;
use crate::rules::site_data;
use crate::settings::Settings;

use self::filter_watch::FilterWatch;
use self::guarding::Guarding;
use self::learning::{Answer, Learning};
use self::publication::Publication;
use self::readers::Readers;
use self::rounds::Rounds;
pub(crate) use start::run;

/// Whether something is of a clock that has been set back.
fn is_ahead(moment: UnixTime) -> bool {
    moment - UnixTime(now()) > MOST_AHEAD
}

/// The main thread, and the other threads as it knows them.
struct Daemon {
    settings: Settings,
    logging: Logging,
    metrics: Metrics,
    notification: Notification,
    readers: Readers,
    learning: Learning,
    planner: plan::PlannerThread,
    changes: changes::ChangesThread,
    firm: firm::FirmThread,
    rules: rules::RulesThread,
    filter: FilterWatch,
    guarding: Guarding,
    publication: Publication,
    rounds: Rounds,
}

/// Whether the loop goes on.
enum Next {
    GoOn,
    End,
}

impl Daemon {
    fn serve(&mut self, messages: &Receiver<Message>) -> Result<(), Failure> {
        loop {
            self.notification.alive();
            let wake = self.rounds.wake().map_or(self.filter.due(), |wake| wake.min(self.filter.due()));
            let wake = self.notification.patience().map_or(wake, |patience| wake.min(Instant::now() + patience));
            match messages.recv_deadline(wake) {
                Ok(message) => {
                    if let Next::End = self.take(message)? {
                        return Ok(());
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                // The readers hold senders for as long as this loop holds theirs.
                Err(RecvTimeoutError::Disconnected) => return Err(Failure::Thread { name: "signals" }),
            }
            if Instant::now() >= self.filter.due() {
                self.filter.look(&self.publication.publisher, &mut self.metrics);
            }
            if self.rounds.is_due(Instant::now()) {
                self.begin_round();
            }
            if let Next::End = self.go_on()? {
                return Ok(());
            }
        }
    }

    fn take(&mut self, message: Message) -> Result<Next, Failure> {
        match message {
            Message::Ended(jobs) => {
                self.metrics.read_jobs(jobs.len());
                self.metrics.promises(&jobs);
                let taken = self.publication.publisher.add(&jobs);
                tracing::debug!(jobs = jobs.len(), taken, "took ended jobs");
                self.learning.ended(jobs, &mut self.publication.publisher);
            }
            Message::Accounting(answer) => {
                if let Ok(read) = &answer {
                    let Publication { publisher, directory, .. } = &mut self.publication;
                    publisher.set_accounting_read(read.until);
                    if let Some(reading) = &read.reading {
                        self.learning.keep(directory.learnt(), reading, publisher);
                    }
                }
                // The first answer means that the whole history has been read, which is worth a
                // snapshot at once.
                if !self.readers.accounting.has_answered() {
                    self.rounds.hurry_if_idle(Instant::now());
                }
                self.readers.accounting.answered(&self.metrics, answer.err());
            }
            Message::ClockSetBack { by } => self.start_afresh(by),
            Message::Controller(answer) => {
                let error = match answer {
                    // Read before the clock was set back.
                    Ok(cluster) if is_ahead(cluster.read_at) => None,
                    Ok(cluster) => {
                        self.readers.look_at_clock(cluster.controller_ahead);
                        self.metrics.queue(&cluster);
                        self.publication.publisher.set_cluster(cluster);
                        // Qualities of service or associations may have changed.
                        if !self.rounds.are_once() {
                            self.rules.ask(false);
                        }
                        None
                    }
                    Err(error) => Some(error),
                };
                self.readers.controller.answered(&self.metrics, error);
            }
            Message::Publish => self.rounds.hurry(Instant::now()),
            Message::Reload => self.reload(),
            Message::Stop => return Ok(Next::End),
            Message::Learnt(learnt) => self.learnt(&learnt),
            Message::Planned(planned) => self.planned(*planned),
            Message::Died(learner::NAME) => {
                self.learning.died();
                self.metrics.learner_died();
                tracing::error!("the learner has panicked: the default forecasts of waits end as they become too old; restart queuecastd");
            }
            Message::Rules(looked) => {
                self.metrics.rules(&looked.state);
                if let Some(rules) = &looked.in_force {
                    self.filter.know(rules);
                }
                // The first rules need not wait for the next round to know users and jobs.
                if self.rules.answered(looked.in_force.is_some()) {
                    self.readers.controller.ask(());
                }
            }
            Message::Replayed(replayed) => self.replayed(*replayed),
            Message::Died(guard::NAME) => {
                self.guarding.died();
                tracing::error!("the guard's thread has panicked: what is held back stays so; restart queuecastd");
            }
            Message::Died(rules::NAME) => {
                self.rules_fail("the thread that compiles the rules has panicked: those before stay in force; restart queuecastd");
            }
            Message::Died(firm::NAME) => {
                tracing::error!("the thread that looks after firm slots has panicked: they run out by themselves; restart queuecastd");
            }
            Message::Died(name @ (site_data::WRITER | site_data::RESOLVER)) => {
                tracing::error!(name, "a thread has panicked: rules see what was known of users and jobs before; restart queuecastd");
            }
            Message::Died(name) => return Err(Failure::Thread { name }),
        }
        Ok(Next::GoOn)
    }

    /// Tells that nothing becomes of the rules, which stay as they are.
    fn rules_fail(&self, reason: &str) {
        tracing::error!(reason, "the rules are not looked after");
        self.metrics.rules_fail();
        if let Err(error) = self.publication.directory.note_of_rules(reason) {
            tracing::warn!(%error, "what became of the rules can't be kept beside them");
        }
    }

    /// Takes what was learnt, and tells what has changed.
    fn learnt(&mut self, learnt: &Learnt) {
        match self.learning.answered(is_ahead(learnt.at)) {
            Answer::Ahead => return,
            // An earlier daemon's snapshot may be in place until now.
            Answer::First if !self.publication.has_published() => self.rounds.hurry_if_idle(Instant::now()),
            Answer::First | Answer::Further => {}
        }
        let publisher = &mut self.publication.publisher;
        for change in &learnt.changes {
            let partition = publisher.partition_name(change.partition);
            let (share, level) = change.farthest;
            let [default_s, qbets_s] = change.losses_s;
            tracing::info!(
                partition,
                forecasts = change.now.source.name(),
                reason = change.now.reason.name(),
                jobs_scored = change.jobs,
                farthest_level = level,
                observed = (share * 1e3).round() / 1e3,
                loss_s = default_s.round(),
                qbets_loss_s = qbets_s.round(),
                "forecasts of waits in force"
            );
        }
        tracing::debug!(events = learnt.events, late = learnt.late, took = ?learnt.took, "learnt");
        for score in &learnt.model.scores {
            self.metrics.score(publisher.partition_name(score.partition), score);
        }
        self.metrics.learnt(learnt);
        publisher.set_model(Arc::clone(&learnt.model), learnt.at);
    }

    /// Forgets what was read and learnt while the clock was ahead.
    fn start_afresh(&mut self, by: Seconds) {
        tracing::warn!(seconds = by.0, "the clock was set back: everything is read and learnt again");
        self.publication.start_afresh();
        self.learning.start_afresh();
        self.changes.start_afresh();
        self.readers.accounting.start_afresh();
    }

    /// Takes the planner's answer into the next snapshot.
    fn planned(&mut self, planned: Planned) {
        let question = self.planner.answered();
        self.metrics.planned(planned.took);
        match planned.plan {
            Some(plan) => {
                tracing::debug!(jobs = plan.pending_jobs, complete = plan.is_complete, took = ?planned.took, "planned");
                self.publication.publisher.set_plan(plan, question);
            }
            None => tracing::error!("the planner has panicked over this queue; the snapshot goes without a plan"),
        }
    }

    /// Takes up what a replay of the past says, and publishes what is held back then.
    fn replayed(&mut self, replayed: guard::Replayed) {
        self.metrics.replayed(replayed.outcome.is_ok());
        if self.guarding.answered(replayed, &self.publication.directory) {
            self.rounds.hurry(Instant::now());
        }
        self.hold_back();
    }

    /// Has submissions decided about by what the guard holds back now.
    fn hold_back(&mut self) {
        self.settings.held_back = self.guarding.held_back();
        self.metrics.guard(self.guarding.guard());
    }

    /// Reads the configuration again, and publishes what follows from it.
    fn reload(&mut self) {
        self.notification.reloading();
        let before = self.settings.configuration.clone();
        let good = self.settings.reload(UnixTime(now()));
        self.metrics.configuration(good);
        if good {
            self.logging.set_level(&self.settings.configuration.log);
            let later = self.settings.taken_up_at_the_next_start(&before);
            tracing::info!(taken_up_at_the_next_start = ?later, "the configuration is read again");
        } else {
            tracing::error!(error = self.settings.error, "the configuration cannot be used");
        }
        self.guarding.follow(&self.settings.configuration.guard, &self.publication.directory);
        self.hold_back();
        self.rules.ask(true);
        self.notification.reloaded();
        self.rounds.hurry(Instant::now());
    }
}
