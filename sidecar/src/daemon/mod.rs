//! The main thread: asks the readers at every interval, and publishes whatever they answer.
//!
//! A round begins at every interval, and when somebody asks for one. Both readers are asked; when
//! both have answered, or when one takes too long, what is known is fitted and published. A reader
//! that hangs is not asked again until it has answered: its records become older, which the
//! snapshot says, and everything else goes on.

mod publishing;
mod reader;
mod round;
mod start;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, RecvTimeoutError};
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::MOST_AHEAD;

use crate::changes;
use crate::clock::ControllerClock;
use crate::clock::now;
use crate::failure::Failure;
use crate::known::checkpoint::{Keeping, Reading, Subject};
use crate::learn::learner;
use crate::logging::Logging;
use crate::message::{Learnt, Message, Planned};
use crate::metrics::Metrics;
use crate::metrics::filter_counters::FilterCounters;
use crate::metrics::rule_counters::RuleCounters;
use crate::notification::Notification;
use crate::plan;
use crate::publish::descriptor_reserve::DescriptorReserve;
use crate::publish::publisher::Publisher;
use crate::publish::refusals::KeptRefusals;
use crate::publish::state_directory::{Previous, StateDirectory};
use crate::read::accounting;
use crate::rules;
use crate::rules::site_data;
use crate::settings::Settings;

use reader::Reader;
use round::Round;
pub(crate) use start::run;

/// How often what was learnt is kept on disk.
const KEEPING_INTERVAL: Duration = Duration::from_secs(1_800);

/// Whether something is of a clock that has been set back.
fn is_ahead(moment: UnixTime) -> bool {
    moment - UnixTime(now()) > MOST_AHEAD
}

struct Daemon {
    once: bool,
    started: Instant,
    settings: Settings,
    logging: Logging,
    directory: StateDirectory,
    publisher: Publisher,
    counters: FilterCounters,
    rule_counters: RuleCounters,
    refusals: KeptRefusals,
    metrics: Metrics,
    notification: Notification,
    /// Kept back for publishing.
    descriptors: DescriptorReserve,
    accounting: Reader<accounting::Request>,
    controller: Reader<()>,
    controller_clock: ControllerClock,
    learner: learner::LearnerThread,
    /// Whether the whole history has been read, by this daemon or by the one whose history it goes
    /// on with.
    may_learn: bool,
    /// Whether the learner has answered.
    has_learnt: bool,
    /// What is kept on disk is of.
    subject: Subject,
    /// When it is to be kept again.
    next_keeping: Instant,
    planner: plan::PlannerThread,
    changes: changes::ChangesThread,
    rules: rules::RulesThread,
    /// Whether the site has rules in force.
    has_rules: bool,
    /// Whether the last snapshot had a plan, as far as there was a queue to plan.
    is_planned: bool,
    /// The snapshot of an earlier daemon, until the first one of this is published.
    previous: Option<Previous>,
    has_published: bool,
    round: Option<Round>,
    next_round: Instant,
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
            let wake = self.round.as_ref().map_or(self.next_round, |round| round.deadline).min(self.counters.due());
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
            if Instant::now() >= self.counters.due() {
                self.look_at_filter();
            }
            if self.round.is_none() && Instant::now() >= self.next_round {
                self.begin_round();
            }
            if let Next::End = self.end_round()? {
                return Ok(());
            }
        }
    }

    /// Takes what the filter has counted and noted.
    fn look_at_filter(&mut self) {
        let shown = self.publisher.counted();
        let cluster = self.publisher.cluster();
        self.refusals.take(shown.as_ref(), cluster.as_deref(), |partition, count| self.metrics.refused(partition, count));
        self.counters.refresh(shown);
        self.rule_counters.refresh(self.publisher.counted_by_rule());
    }

    fn take(&mut self, message: Message) -> Result<Next, Failure> {
        match message {
            Message::Ended(jobs) => {
                self.metrics.read_jobs(jobs.len());
                self.metrics.promises(&jobs);
                let taken = self.publisher.add(&jobs);
                tracing::debug!(jobs = jobs.len(), taken, "took ended jobs");
                let partitions = self.publisher.partition_indices(jobs.iter().map(|run| &run.job.submitted.partition));
                self.learner.ended(jobs, partitions);
            }
            Message::Accounting(answer) => {
                if let Ok(read) = &answer {
                    self.publisher.set_accounting_read(read.until);
                    if let Some(reading) = &read.reading {
                        self.keep(reading);
                    }
                }
                // The first answer means that the whole history has been read, which is worth a
                // snapshot at once.
                if self.accounting.is_up.is_none() && self.round.is_none() {
                    self.next_round = Instant::now();
                }
                self.accounting.answered(&self.metrics, answer.err());
            }
            Message::ClockSetBack { by } => self.start_afresh(by),
            Message::Controller(answer) => {
                let error = match answer {
                    // Read before the clock was set back.
                    Ok(cluster) if is_ahead(cluster.read_at) => None,
                    Ok(cluster) => {
                        self.controller_clock.look(cluster.controller_ahead);
                        self.metrics.queue(&cluster);
                        self.publisher.set_cluster(cluster);
                        // Qualities of service or associations may have changed.
                        if !self.once {
                            self.rules.ask(false);
                        }
                        None
                    }
                    Err(error) => Some(error),
                };
                self.controller.answered(&self.metrics, error);
            }
            Message::Publish => self.next_round = Instant::now(),
            Message::Reload => self.reload(),
            Message::Stop => return Ok(Next::End),
            Message::Learnt(learnt) => self.learnt(&learnt),
            Message::Planned(planned) => self.planned(*planned),
            Message::Died(learner::NAME) => {
                self.learner.died();
                self.metrics.learner_died();
                tracing::error!("the learner has panicked: the default forecasts of waits end as they become too old; restart queuecastd");
            }
            Message::Rules(looked) => {
                self.rules.answered();
                self.metrics.rules(&looked.state);
                if let Some(rules) = &looked.in_force {
                    self.rule_counters.know(rules);
                }
                // The first rules need not wait for the next round to know users and jobs.
                if looked.in_force.is_some() && !self.has_rules {
                    self.controller.ask(());
                }
                self.has_rules = looked.in_force.is_some();
            }
            Message::Died(rules::NAME) => {
                self.rules_fail("the thread that compiles the rules has panicked: those before stay in force; restart queuecastd");
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
        if let Err(error) = self.directory.note_of_rules(reason) {
            tracing::warn!(%error, "what became of the rules can't be kept beside them");
        }
    }

    /// Takes what was learnt, and tells what has changed.
    fn learnt(&mut self, learnt: &Learnt) {
        self.learner.answered();
        if is_ahead(learnt.at) {
            return;
        }
        if !self.has_learnt {
            self.has_learnt = true;
            // An earlier daemon's snapshot may be in place until now.
            if !self.has_published && self.round.is_none() {
                self.next_round = Instant::now();
            }
        }
        for change in &learnt.changes {
            let partition = self.publisher.partition_name(change.partition);
            let (share, level) = change.farthest;
            tracing::info!(
                partition,
                forecasts = change.now.source.name(),
                reason = change.now.reason.name(),
                jobs_scored = change.jobs,
                farthest_level = level,
                observed = (share * 1e3).round() / 1e3,
                "forecasts of waits in force"
            );
        }
        tracing::debug!(events = learnt.events, late = learnt.late, took = ?learnt.took, "learnt");
        for score in &learnt.model.scores {
            self.metrics.score(self.publisher.partition_name(score.partition), score);
        }
        self.metrics.learnt(learnt);
        self.publisher.set_model(Arc::clone(&learnt.model), learnt.at);
    }

    /// Has the learner keep what it has learnt from all that it was sent until now.
    fn keep(&mut self, reading: &Reading) {
        self.next_keeping = Instant::now() + KEEPING_INTERVAL;
        let now = now();
        let history = self.publisher.history(UnixTime(now - self.subject.window_seconds));
        match Keeping::begin(self.directory.learnt(), &self.subject, now, reading, history) {
            Ok(keeping) => self.learner.keep(keeping),
            Err(error) => tracing::warn!(%error, "what was learnt could not be kept; a restart would learn it again"),
        }
    }

    /// Forgets what was read and learnt while the clock was ahead.
    fn start_afresh(&mut self, by: Seconds) {
        tracing::warn!(seconds = by.0, "the clock was set back: everything is read and learnt again");
        self.publisher.start_afresh();
        self.learner.start_afresh();
        self.changes.start_afresh();
        (self.may_learn, self.has_learnt, self.previous) = (false, false, None);
        self.accounting.is_up = None;
    }

    /// Takes the planner's answer into the next snapshot.
    fn planned(&mut self, planned: Planned) {
        self.planner.answered();
        self.metrics.planned(planned.took);
        match planned.plan {
            Some(plan) => {
                tracing::debug!(jobs = plan.pending_jobs, complete = plan.is_complete, took = ?planned.took, "planned");
                self.publisher.set_plan(plan);
            }
            None => tracing::error!("the planner has panicked over this queue; the snapshot goes without a plan"),
        }
    }

    /// Reads the configuration again, and publishes what follows from it.
    fn reload(&mut self) {
        self.notification.reloading();
        let before = self.settings.configuration.clone();
        let good = self.settings.reload(UnixTime(now()));
        self.metrics.configuration(good);
        if good {
            let after = &self.settings.configuration;
            let later = [
                ("state_directory", before.state_directory != after.state_directory),
                ("[history]", before.history != after.history),
                ("[metrics]", before.metrics != after.metrics),
                ("log.format", before.log.format != after.log.format),
            ];
            let later: Vec<&str> = later.into_iter().filter(|(_key, has_changed)| *has_changed).map(|(key, _)| key).collect();
            self.logging.set_level(&after.log);
            tracing::info!(taken_up_at_the_next_start = ?later, "the configuration is read again");
        } else {
            tracing::error!(error = self.settings.error, "the configuration cannot be used");
        }
        self.rules.ask(true);
        self.notification.reloaded();
        self.next_round = Instant::now();
    }
}
