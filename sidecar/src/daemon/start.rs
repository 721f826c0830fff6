//! How the main thread starts the others, and itself.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use crossbeam::channel::{Sender, bounded};
use daemon_arguments::Arguments;
use job_types::time::UnixTime;
use parking_lot::Mutex;
use slurm_conf::slurm_settings::munge_socket;
use slurm_sys::client::{self, Site};
use slurm_sys::munge::Munge;

use super::Daemon;
use super::filter_watch::FilterWatch;
use super::guarding::Guarding;
use super::learning::Learning;
use super::publication::Publication;
use super::readers::Readers;
use super::rounds::Rounds;
use crate::api::Api;
use crate::changes;
use crate::clock::now;
use crate::failure::Failure;
use crate::firm;
use crate::guard;
use crate::known::checkpoint::{self, NotTaken, Subject};
use crate::known::damaged::keep_aside;
use crate::known::genuine::Genuine;
use crate::known::privacy::Privacy;
use crate::learn::learner;
use crate::logging::Logging;
use crate::message::Message;
use crate::metrics::{self, Metrics};
use crate::notification::Notification;
use crate::plan;
use crate::publish::publisher::Publisher;
use crate::publish::shared_memory::SharedMemory;
use crate::publish::state_directory::StateDirectory;
use crate::read::accounting::AccountingReader;
use crate::read::controller;
use crate::rules;
use crate::rules::site_data;
use crate::rules::site_tables::KnownTables;
use crate::settings::Settings;
use crate::signals;
use crate::worker::Worker;

/// How many messages may wait for the main thread; a batch of ended jobs is at most some megabytes.
const WAITING_MESSAGES: usize = 4;

/// Runs until it is told to end.
///
/// # Errors
/// [`Failure`] says why it cannot start or go on.
pub(crate) fn run(arguments: &Arguments, path: PathBuf) -> Result<(), Failure> {
    let settings = Settings::load(path, UnixTime(now()))?;
    let logging = Logging::start(&settings.configuration.log);
    // This comes before any thread is started, because libslurm is first tried in a child process.
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
    let kept = checkpoint::read(&directory.learnt(), &subject, now()).unwrap_or_else(|reason| {
        if let NotTaken::Damaged(reason) = &reason {
            keep_aside(&directory.learnt(), reason);
        }
        tracing::warn!(file = %directory.learnt().display(), %reason, "what was learnt before is not taken up: it is learnt again");
        None
    });
    let (accounting, requests) = Worker::new();
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
    let (controller, requests) = Worker::new();
    let controller_sender = sender.clone();
    let tables = KnownTables::load(directory.path(), directory.privacy().clone());
    let of_controller = tables.clone();
    let privacy = directory.privacy().clone();
    let site_data = site_data::start(directory.path(), directory.privacy().clone(), |name, body| start(name, sender.clone(), body))?;
    let genuine = Genuine::by_key_at(directory.record_key());
    start("controller", sender.clone(), move || {
        controller::run(&requests, &controller_sender, &site_data, &of_controller, &privacy, genuine);
    })?;
    let (learner, tasks) = learner::LearnerThread::new();
    let learner_sender = sender.clone();
    start(learner::NAME, sender.clone(), move || learner::run(kept_learner, &tasks, &learner_sender))?;
    let (planner, questions) = plan::PlannerThread::new();
    let planner_sender = sender.clone();
    start(plan::NAME, sender.clone(), move || plan::run(&questions, &planner_sender))?;
    let (changes, rounds) = changes::ChangesThread::new();
    let issuer = Arc::new(Mutex::new(changes::Issuer::new(directory.kill_switch(), metrics.changes())));
    let (cluster, of_changes, change_metrics) = (site.cluster.clone(), Arc::clone(&issuer), metrics.changes());
    start(changes::NAME, sender.clone(), move || changes::run(&rounds, &of_changes, &change_metrics, cluster))?;
    let (guard_thread, questions) = guard::GuardThread::new();
    let guard_sender = sender.clone();
    start(guard::NAME, sender.clone(), move || {
        guard::run(&questions, |replayed| guard_sender.send(Message::Replayed(replayed)).is_ok());
    })?;
    let (mut rules, looks) = rules::RulesThread::new();
    let loader = rules::Loader::new(settings.path().to_owned(), directory.path().to_owned(), directory.privacy().clone(), tables);
    let rules_sender = sender.clone();
    start(rules::NAME, sender.clone(), move || rules::run(loader, &looks, &rules_sender))?;
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
    let api = if arguments.once { None } else { start_api(&directory, &settings, &site) };
    let (firm, rounds) = firm::FirmThread::new();
    if let Some(room) = api.as_ref().map(Api::firm_room) {
        let (path, firm_metrics) = (directory.path().to_owned(), metrics.firm_slots());
        start(firm::NAME, sender, move || firm::run(&rounds, room, &path, &issuer, firm_metrics))?;
    }
    let guarding = Guarding::load(guard_thread, &directory, &settings, site.cluster.clone());
    let publisher = Publisher::new(site.cluster, site.whole_nodes, kept_history, generation, memory, api);
    let filter = FilterWatch::load(&directory);
    let mut daemon = Daemon {
        settings,
        logging,
        metrics,
        notification: Notification::new(),
        readers: Readers::new(accounting, controller),
        learning: Learning::new(learner, subject, is_resumed),
        planner,
        changes,
        firm,
        rules,
        filter,
        guarding,
        publication: Publication::new(publisher, directory, previous),
        rounds: Rounds::new(arguments.once, Instant::now()),
    };
    if !arguments.once {
        daemon.guarding.follow(&daemon.settings.configuration.guard, &daemon.publication.directory);
    }
    daemon.hold_back();
    let ended = daemon.serve(&messages);
    daemon.filter.look(&daemon.publication.publisher, &mut daemon.metrics);
    daemon.filter.store(&daemon.publication.directory);
    daemon.notification.stopping();
    tracing::info!("ended");
    ended
}

/// Memory to share with the filter. Without it snapshots go into the file alone, and nothing is
/// known of what the filter does.
fn share_memory() -> Option<SharedMemory> {
    SharedMemory::new()
        .inspect_err(|error| tracing::warn!(%error, "no memory can be shared with the filter, which reads snapshots from their file"))
        .ok()
}

/// The API. Without it nobody can ask for slots, and users whose jobs are private see nobody's.
fn start_api(directory: &StateDirectory, settings: &Settings, site: &Site) -> Option<Api> {
    let api = Api::start(&directory.api()).inspect_err(|error| tracing::error!(%error, "the API can't be served")).ok()?;
    if let Some(address) = settings.configuration.api.listen.clone() {
        let served = Munge::new(munge_socket(&site.auth_info).as_deref())
            .map_err(io::Error::other)
            .and_then(|munge| api.serve_other_hosts(address.clone(), munge, &site.cluster));
        if let Err(error) = served {
            tracing::error!(%address, %error, "the API can't be served to other hosts");
        }
    }
    Some(api)
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
