//! The main thread: asks the readers at every interval, and publishes whatever they answer.
//!
//! A round begins at every interval, and when somebody asks for one. Both readers are asked; when
//! both have answered, or when one takes too long, what is known is fitted and published. A reader
//! that hangs is not asked again until it has answered: its records become older, which the
//! snapshot says, and everything else goes on.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, bounded};
use daemon_arguments::Arguments;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decision::MOST_AHEAD;
use slurm_conf::configuration::{Configuration, SnapshotSettings};
use slurm_sys::client;

use crate::accounting::{self, AccountingReader, now};
use crate::answers::Answers;
use crate::changes;
use crate::clock::ControllerClock;
use crate::cluster::Live;
use crate::controller;
use crate::damaged::keep_aside;
use crate::descriptor_reserve::{DescriptorReserve, are_used_up};
use crate::failure::Failure;
use crate::filter_counters::FilterCounters;
use crate::genuine::Genuine;
use crate::kept::{self, Keeping, NotTaken, Reading, Subject};
use crate::learner;
use crate::logging::Logging;
use crate::message::{Learnt, Message, Planned};
use crate::metrics::{self, Metrics, Source};
use crate::notification::Notification;
use crate::plan;
use crate::privacy::Privacy;
use crate::publisher::Publisher;
use crate::refusals::KeptRefusals;
use crate::rule_counters::RuleCounters;
use crate::rules;
use crate::settings::Settings;
use crate::shared_memory::SharedMemory;
use crate::signals;
use crate::site_data;
use crate::site_tables::KnownTables;
use crate::state_directory::{Previous, StateDirectory};

/// How many messages may wait for the main thread; a batch of ended jobs is at most some megabytes.
const WAITING_MESSAGES: usize = 4;
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
/// How often what was learnt is kept on disk.
const KEEPING_INTERVAL: Duration = Duration::from_secs(1_800);
/// How long the first round waits for the history and the queue.
const FIRST_PATIENCE: Duration = Duration::from_secs(30);

/// Runs until it is told to end.
///
/// # Errors
/// [`Failure`] says why it cannot start or go on.
pub(crate) fn run(arguments: &Arguments, path: PathBuf) -> Result<(), Failure> {
    let settings = Settings::load(path, UnixTime(now()))?;
    let logging = Logging::start(&settings.configuration.log);
    // Before any thread is started: libslurm is first tried in a child process.
    let site = client::site()?;
    let directory = StateDirectory::open(&settings.configuration.state_directory, site.slurm_user_id, Privacy::new(site.private_data))?;
    let (sender, messages) = bounded(WAITING_MESSAGES);
    let (metrics, registry) = Metrics::new(directory.counters(), directory.rule_counters());
    metrics.configuration(settings.error.is_empty());
    if let Some(address) = settings.configuration.metrics.listen.filter(|_address| !arguments.once) {
        let address = metrics::serve(address, registry)?;
        tracing::info!(%address, "metrics are served");
    }
    signals::listen(sender.clone())?;

    let subject = Subject::new(site.cluster.clone(), &settings.configuration.history);
    let kept = kept::read(&directory.learnt(), &subject, now()).unwrap_or_else(|reason| {
        if let NotTaken::Damaged(reason) = &reason {
            keep_aside(&directory.learnt(), reason);
        }
        tracing::warn!(file = %directory.learnt().display(), %reason, "what was learnt before is not taken up: it is learnt again");
        None
    });
    let (accounting, requests) = bounded(1);
    let mut reader = AccountingReader::new(
        site.cluster.clone(),
        &settings.configuration.history,
        now(),
        sender.clone(),
        Genuine::by_key_at(directory.record_key()),
    );
    let is_resumed = kept.is_some();
    let (kept_history, kept_learner) = kept
        .map(|kept| {
            tracing::info!(of = kept.at, ended_jobs = kept.history.ended_jobs(), "what was learnt before is taken up");
            reader.resume(kept.reading);
            (kept.history, kept.learner)
        })
        .unzip();
    start("accounting", sender.clone(), move || reader.run(&requests))?;
    let (controller, requests) = bounded(1);
    let controller_sender = sender.clone();
    let tables = KnownTables::load(directory.path(), directory.privacy().clone());
    let of_controller = tables.clone();
    let privacy = directory.privacy().clone();
    let site_data = site_data::start(directory.path(), directory.privacy().clone(), |name, body| start(name, sender.clone(), body))?;
    let genuine = Genuine::by_key_at(directory.record_key());
    start("controller", sender.clone(), move || {
        controller::run(&requests, &controller_sender, &site_data, &of_controller, &privacy, genuine);
    })?;
    let (learner, tasks) = learner::Asked::new();
    let learner_sender = sender.clone();
    start(learner::NAME, sender.clone(), move || learner::run(kept_learner, &tasks, &learner_sender))?;
    let (planner, questions) = plan::Asked::new();
    let planner_sender = sender.clone();
    start(plan::NAME, sender.clone(), move || plan::run(&questions, &planner_sender))?;
    let (changes, rounds) = changes::Asked::new();
    let (off, change_metrics) = (directory.kill_switch(), metrics.changes());
    let cluster = site.cluster.clone();
    start(changes::NAME, sender.clone(), move || changes::run(&rounds, off, change_metrics, cluster))?;
    let (mut rules, looks) = rules::Asked::new();
    let loader = rules::Loader::new(settings.path().to_owned(), directory.path().to_owned(), directory.privacy().clone(), tables);
    start(rules::NAME, sender.clone(), move || rules::run(loader, &looks, &sender))?;
    if !arguments.once {
        rules.ask(true);
    }

    let previous = directory.previous();
    let generation = previous.map_or(1, |previous| previous.generation + 1);
    tracing::info!(
        cluster = site.cluster,
        state_directory = %settings.configuration.state_directory.display(),
        configuration_error = settings.error,
        generation,
        "started"
    );
    // A daemon that ends after one snapshot takes its memory with it.
    let memory = if arguments.once { None } else { share_memory() };
    let answers = if arguments.once { None } else { start_answers(&directory) };
    let publisher = Publisher::new(site.cluster, site.whole_nodes, kept_history, generation, memory, answers);
    let counters = FilterCounters::load(directory.counters());
    let rule_counters = RuleCounters::load(directory.rule_counters());
    let refusals = KeptRefusals::load(&directory);
    let mut daemon = Daemon {
        once: arguments.once,
        started: Instant::now(),
        settings,
        logging,
        directory,
        publisher,
        counters,
        rule_counters,
        refusals,
        metrics,
        notification: Notification::new(),
        descriptors: DescriptorReserve::default(),
        accounting: Asked::new(Source::Accounting, accounting),
        controller: Asked::new(Source::Controller, controller),
        controller_clock: ControllerClock::new(),
        learner,
        may_learn: is_resumed,
        has_learnt: false,
        subject,
        next_keeping: Instant::now(),
        planner,
        changes,
        rules,
        has_rules: false,
        is_planned: true,
        previous,
        has_published: false,
        round: None,
        next_round: Instant::now(),
    };
    let ended = daemon.serve(&messages);
    daemon.look_at_filter();
    daemon.refusals.store(&daemon.directory);
    daemon.notification.stopping();
    tracing::info!("ended");
    ended
}

/// Answers users with their own jobs, where jobs are private.
fn start_answers(directory: &StateDirectory) -> Option<Answers> {
    Answers::start(&directory.answers()?)
        .inspect_err(|error| tracing::warn!(%error, "users can't be given their own jobs; `queuecast` shows them nobody's"))
        .ok()
}

/// Memory to share with the filter. Without it snapshots go into the file alone, and nothing is
/// known of what the filter does.
fn share_memory() -> Option<SharedMemory> {
    SharedMemory::new()
        .inspect_err(|error| tracing::warn!(%error, "no memory can be shared with the filter, which reads snapshots from their file"))
        .ok()
}

/// Starts a reader's thread, whose panic is told.
fn start(name: &'static str, sender: Sender<Message>, body: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    struct Mourner(&'static str, Sender<Message>);
    impl Drop for Mourner {
        fn drop(&mut self) {
            if thread::panicking() {
                let _ = self.1.send(Message::Died(self.0));
            }
        }
    }
    let mourned = move || {
        let _mourner = Mourner(name, sender);
        body();
    };
    let thread = thread::Builder::new().name(name.to_owned()).spawn(mourned);
    thread.map(drop).map_err(|source| Failure::System { what: "start a thread", source })
}

/// A reader, and how it has answered.
struct Asked<R> {
    source: Source,
    requests: Sender<R>,
    /// It has been asked and has not answered.
    is_busy: bool,
    /// Whether its last answer was one; nothing before the first.
    is_up: Option<bool>,
    last_error: Option<client::ClientError>,
}

impl<R> Asked<R> {
    fn new(source: Source, requests: Sender<R>) -> Self {
        Self { source, requests, is_busy: false, is_up: None, last_error: None }
    }

    fn ask(&mut self, request: R) {
        if !self.is_busy {
            self.is_busy = self.requests.try_send(request).is_ok();
        }
    }

    /// Notes an answer; what changes is logged, what stays so is not.
    fn answered(&mut self, metrics: &Metrics, error: Option<client::ClientError>) {
        self.is_busy = false;
        let (is_up, source) = (error.is_none(), self.source.name());
        metrics.source(self.source, is_up);
        match &error {
            None if self.is_up != Some(true) => tracing::info!(source, "answers"),
            Some(error) if self.last_error.as_ref() != Some(error) => tracing::warn!(source, %error, "does not answer"),
            Some(error) => tracing::debug!(source, %error, "still does not answer"),
            None => {}
        }
        self.is_up = Some(is_up);
        self.last_error = error;
    }
}

/// A round that is under way.
struct Round {
    /// When it is published at the latest.
    deadline: Instant,
    has_asked_learner: bool,
    has_asked_planner: bool,
}

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
    accounting: Asked<accounting::Request>,
    controller: Asked<()>,
    controller_clock: ControllerClock,
    learner: learner::Asked,
    /// Whether the whole history has been read, by this daemon or by the one whose history it goes
    /// on with.
    may_learn: bool,
    /// Whether the learner has answered.
    has_learnt: bool,
    /// What is kept on disk is of.
    subject: Subject,
    /// When it is to be kept again.
    next_keeping: Instant,
    planner: plan::Asked,
    changes: changes::Asked,
    rules: rules::Asked,
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

    /// Asks the learner, once the history and the queue have been read. Returns whether it was
    /// asked.
    fn ask_learner(&mut self) -> bool {
        // Before the whole history has been read there is nothing that could be gone through in
        // order of time.
        self.may_learn |= self.accounting.is_up == Some(true);
        let Some(cluster) = self.publisher.cluster().filter(|_| self.may_learn) else { return false };
        let ended = cluster.ended.iter().map(|run| &run.job.submitted.partition);
        let partitions = self.publisher.partition_indices(cluster.jobs.iter().map(Live::partition).chain(ended));
        self.learner.ask(cluster, partitions, self.settings.configuration.wait.confidence)
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

    /// Asks the planner about the queue as it was read last, unless it was asked before. Returns
    /// whether it was asked.
    fn ask_planner(&mut self) -> bool {
        let read_at = self.publisher.cluster().map(|cluster| cluster.read_at);
        if !read_at.is_some_and(|read_at| self.planner.is_ready(read_at)) {
            return false;
        }
        let question = self.publisher.question();
        question.is_some_and(|question| self.planner.ask(Box::new(question)))
    }

    fn interval(&self) -> Duration {
        Duration::from_secs(self.settings.configuration.snapshot.interval_seconds.unsigned_abs())
    }

    fn begin_round(&mut self) {
        let now = Instant::now();
        let keep = self.has_learnt && now >= self.next_keeping;
        self.accounting.ask(accounting::Request { cluster: self.publisher.cluster(), keep });
        self.controller.ask(());
        if !self.once {
            self.rules.ask(false);
            if self.rules.hangs() {
                self.rules_fail("the rules have been compiling for more than a minute: those before stay in force");
            }
        }
        self.next_round = now + self.interval();
        let mut deadline = now + self.interval().min(LONGEST_PATIENCE);
        let first_deadline = self.started + FIRST_PATIENCE;
        if !self.has_published && now < first_deadline {
            deadline = first_deadline;
        }
        self.round = Some(Round { deadline, has_asked_learner: false, has_asked_planner: false });
    }

    /// Ends the round if both readers have answered or it has taken long enough.
    fn end_round(&mut self) -> Result<Next, Failure> {
        let Some(Round { deadline, has_asked_learner, has_asked_planner }) = self.round else { return Ok(Next::GoOn) };
        let all_answered = !self.accounting.is_busy && !self.controller.is_busy;
        if !has_asked_learner {
            if !all_answered && (self.once || Instant::now() < deadline) {
                return Ok(Next::GoOn);
            }
            let was_asked = self.ask_learner();
            let patience = if self.once { LONGEST_FILL } else { LEARNERS_PATIENCE };
            let deadline = if was_asked { Instant::now() + patience } else { deadline };
            self.round = Some(Round { deadline, has_asked_learner: true, has_asked_planner: false });
            if was_asked {
                return Ok(Next::GoOn);
            }
        } else if !has_asked_planner && self.learner.is_busy() && Instant::now() < deadline {
            return Ok(Next::GoOn);
        }
        if !has_asked_planner {
            let was_asked = self.ask_planner();
            let patience = if self.once { LONGEST_PATIENCE } else { PLANNERS_PATIENCE.min(self.interval()) };
            let deadline = Instant::now() + patience;
            self.round = Some(Round { deadline, has_asked_learner: true, has_asked_planner: true });
            if was_asked {
                return Ok(Next::GoOn);
            }
        } else if self.planner.is_busy() && Instant::now() < deadline {
            return Ok(Next::GoOn);
        }
        self.round = None;
        if self.once {
            let error = self.accounting.last_error.clone().or(self.controller.last_error.clone());
            return error.map_or_else(|| self.publish().map(|()| Next::End), |error| Err(error.into()));
        }
        if self.is_worth_publishing() {
            // A full disk, for one: the snapshot before stays in place, and the next round tries
            // again.
            if let Err(failure) = self.publish() {
                self.metrics.not_published();
                tracing::error!(%failure, "the snapshot was not published");
            }
        }
        Ok(Next::GoOn)
    }

    /// Whether a snapshot now would be better than the one in place: one of no history, of a part
    /// of it, or without forecasts learnt from it does not replace one that has all that and is not
    /// too old yet.
    fn is_worth_publishing(&mut self) -> bool {
        if self.has_published {
            return true;
        }
        if let Some(previous) = self.previous.filter(|previous| previous.has_history) {
            let maximum_age = self.settings.configuration.snapshot.maximum_age_seconds;
            let age = now() - previous.published_at;
            let is_complete = self.publisher.ended_jobs() > 0 && self.may_learn && (self.has_learnt || !self.learner.is_alive());
            if !is_complete && (-MOST_AHEAD.0..maximum_age).contains(&age) {
                self.notification.ready();
                return false;
            }
        }
        true
    }

    /// Follows what slurmctld says of what users may see of each other.
    fn follow_privacy(&mut self) {
        if self.directory.follow_privacy() {
            tracing::info!(hides_jobs = self.directory.privacy().hides_jobs(), "PrivateData has changed, and who may read files with it");
            if !self.once && !self.publisher.has_answers() {
                self.publisher.set_answers(start_answers(&self.directory));
            }
        }
    }

    fn publish(&mut self) -> Result<(), Failure> {
        self.follow_privacy();
        let mut outcome = self.publisher.publish(UnixTime(now()), &self.settings, &self.directory);
        if matches!(&outcome, Err(Failure::Publish { source, .. }) if are_used_up(source)) {
            self.descriptors.release();
            outcome = self.publisher.publish(UnixTime(now()), &self.settings, &self.directory);
        }
        self.descriptors.fill();
        let (published, snapshot) = outcome?;
        if !self.once {
            let Configuration { snapshot: SnapshotSettings { interval_seconds, .. }, changes, clusters, .. } = &self.settings.configuration;
            let configured = || changes::Configured { per_second: changes.per_second, clusters: clusters.keys().cloned().collect() };
            self.changes.ask(self.publisher.cluster(), Seconds(*interval_seconds), configured, || snapshot);
        }
        self.refusals.store(&self.directory);
        self.counters.check();
        self.metrics.published(&published);
        self.note_plan(published.has_plan);
        if !self.has_published {
            tracing::info!(generation = published.generation, after = ?self.started.elapsed(), "first snapshot");
        }
        self.has_published = true;
        self.previous = None;
        tracing::debug!(
            generation = published.generation,
            bytes = published.length,
            ended_jobs = self.publisher.ended_jobs(),
            fitting = ?published.fitting,
            writing = ?published.writing,
            "published"
        );
        self.notification.ready();
        let sources = [(self.accounting.is_up, self.accounting.source), (self.controller.is_up, self.controller.source)];
        let away: Vec<&str> = sources.into_iter().filter(|(is_up, _)| *is_up != Some(true)).map(|(_, source)| source.name()).collect();
        let away = if away.is_empty() { String::new() } else { format!("; {} away", away.join(" and ")) };
        self.notification.status(&format!(
            "snapshot {} from {} ended jobs{away}{}",
            published.generation,
            self.publisher.ended_jobs(),
            if self.settings.error.is_empty() { "" } else { "; the configuration file is broken" }
        ));
        Ok(())
    }

    /// Counts snapshots that go without a plan although there is a queue; what changes is logged,
    /// what stays so is not.
    fn note_plan(&mut self, has_plan: bool) {
        let is_planned = has_plan || self.publisher.cluster().is_none();
        if !is_planned {
            self.metrics.not_planned();
        }
        match (self.is_planned, is_planned) {
            (true, false) => {
                tracing::warn!(busy = self.planner.is_busy(), "the snapshot has no plan of the queue: it was not made in time")
            }
            (false, true) => tracing::info!("snapshots have a plan of the queue again"),
            _ => {}
        }
        self.is_planned = is_planned;
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
