//! The thread that learns, and the one that trains for it.
//!
//! The learner keeps the cluster's past in order of time ([`learning`]) and hands a model back at
//! each request. The main thread never waits for it: until it answers, the model before is in
//! force. The first answer takes minutes where the history is long, because it includes a training;
//! from then on the trainer, one thread and so one core at most, trains beside everything else.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use crossbeam::channel::{Receiver, Sender, TryRecvError, bounded};
use job_types::job::{EndedJob, Job, WaitingJob};
use job_types::number::PartitionIndex;
use job_types::time::UnixTime;
use learning::waits::blended::{Retrained, Retraining};
use learning::{Learner, LearnerSettings, NamedJob, Run};

use crate::failure::Failure;
use crate::known::checkpoint::Keeping;
use crate::known::cluster::{Cluster, Ended, QueuedRun};
use crate::known::names::PartitionIndices;
use crate::message::{Learnt, Message};
use crate::worker::Worker;

/// What its thread is called.
pub(crate) const NAME: &str = "learner";

/// What the main thread tells the learner.
pub(crate) enum Task {
    /// Runs that have ended, each sent once, and the indices of the partitions that they ran in,
    /// which all have one.
    Ended(Vec<Ended>, PartitionIndices),
    /// The queue, to bring everything up to date and hand a model back; the confidence of its
    /// bounds by class.
    Refresh(Arc<Cluster>, PartitionIndices, f64),
    /// Add what was learnt to a file, and put it in place.
    Keep(Box<Keeping>),
    /// Forget everything, because the clock was set back and what was learnt is dated ahead.
    StartAfresh,
}

/// The learner, as the main thread knows it.
pub(crate) struct LearnerThread {
    worker: Worker<Task>,
    /// When slurmctld was read for the queue that the learner was sent last.
    told: Option<UnixTime>,
}

impl LearnerThread {
    /// The main thread's end of a new channel, and the learner's. The channel has no bound, because
    /// nothing may wait for the learner; ended jobs are sent a batch at a time, and a queue only
    /// when the one before has been answered.
    pub(crate) fn new() -> (Self, Receiver<Task>) {
        let (worker, tasks) = Worker::with_all_requests();
        (Self { worker, told: None }, tasks)
    }

    /// Sends the learner runs that have ended.
    pub(crate) fn ended(&self, jobs: Vec<Ended>, partitions: PartitionIndices) {
        self.worker.tell(Task::Ended(jobs, partitions));
    }

    /// Asks for a model, unless the learner has not answered the question before or was sent this
    /// queue already: beside newer records an old queue would show jobs as waiting that have long
    /// ended. Returns whether it was asked.
    pub(crate) fn ask(&mut self, cluster: Arc<Cluster>, partitions: PartitionIndices, confidence: f64) -> bool {
        if self.worker.is_busy() || !self.worker.is_alive() || self.told >= Some(cluster.read_at) {
            return false;
        }
        self.told = Some(cluster.read_at);
        self.worker.ask(Task::Refresh(cluster, partitions, confidence))
    }

    /// Has the learner write what it has learnt so far to its file.
    pub(crate) fn keep(&self, keeping: Keeping) {
        self.worker.tell(Task::Keep(Box::new(keeping)));
    }

    /// Has the learner forget everything that it has learnt.
    pub(crate) fn start_afresh(&mut self) {
        self.told = None;
        self.worker.tell(Task::StartAfresh);
    }

    /// Takes note that the learner has answered.
    pub(crate) fn answered(&mut self) {
        self.worker.answered();
    }

    /// Takes note that the learner will not answer any more.
    pub(crate) fn died(&mut self) {
        self.worker.died();
    }

    /// Whether the learner's thread is still there to answer.
    pub(crate) fn is_alive(&self) -> bool {
        self.worker.is_alive()
    }

    /// Whether an answer is to come.
    pub(crate) fn is_busy(&self) -> bool {
        self.worker.is_busy()
    }
}

/// The learner's end of the trainer.
struct Trainer {
    work: Sender<Retraining>,
    done: Receiver<Result<Retrained, String>>,
    is_busy: bool,
    /// Whether what is being trained is of a past that was forgotten meanwhile.
    is_forgotten: bool,
}

impl Trainer {
    /// Starts the trainer's thread, which ends when nobody has work for it any more.
    fn start() -> Result<Self, Failure> {
        let (work, works) = bounded::<Retraining>(1);
        let (answers, done) = bounded(1);
        let body = move || {
            for retraining in works {
                let begin = Instant::now();
                let trained = catch_unwind(AssertUnwindSafe(|| retraining.run()));
                let trained = match trained {
                    Ok(trained) => trained.map_err(|error| error.to_string()),
                    Err(_panic) => Err("the training panicked".to_owned()),
                };
                tracing::debug!(jobs = retraining.jobs(), elapsed = ?begin.elapsed(), "trained");
                drop(retraining);
                if answers.send(trained).is_err() {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("trainer".to_owned()).spawn(body);
        thread.map_err(|source| Failure::System { what: "start a thread", source })?;
        Ok(Self { work, done, is_busy: false, is_forgotten: false })
    }

    /// Has what is being trained thrown away once it is ready.
    fn forget(&mut self) {
        self.is_forgotten = self.is_busy;
    }

    /// Takes over what was trained, and gives the trainer new work where there is some.
    fn attend(&mut self, learner: &mut Learner) {
        match self.done.try_recv() {
            Ok(_trained) if std::mem::take(&mut self.is_forgotten) => self.is_busy = false,
            Ok(Ok(retrained)) => {
                self.is_busy = false;
                learner.adopt(retrained);
            }
            Ok(Err(error)) => {
                self.is_busy = false;
                tracing::error!(error, "the forecasts of waits were not trained again; those before stay in force");
            }
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => {}
        }
        if !self.is_busy
            && let Some(retraining) = learner.retraining()
        {
            self.is_busy = self.work.try_send(retraining).is_ok();
        }
    }
}

/// Learns and answers until the main thread has dropped its end; goes on from what an earlier
/// daemon has learnt, where that was kept.
pub(crate) fn run(kept: Option<Learner>, tasks: &Receiver<Task>, sender: &Sender<Message>) {
    let mut trainer = match Trainer::start() {
        Ok(trainer) => trainer,
        Err(failure) => {
            tracing::error!(%failure, "nothing is learnt");
            let _ = sender.send(Message::Died(NAME));
            return;
        }
    };
    let settings = LearnerSettings::default();
    let mut learner = kept.map_or_else(|| Learner::new(settings), |kept| kept.resumed(settings));
    for task in tasks {
        match task {
            Task::Ended(jobs, partitions) => {
                for job in &jobs {
                    if let Some(run) = ended_run(job, &partitions) {
                        learner.ended(&run);
                    }
                }
            }
            Task::Keep(keeping) => {
                let begin = Instant::now();
                // The first part was written before the first sweep, which is still to come.
                if !learner.is_worth_keeping() {
                    continue;
                }
                match keeping.finish(&learner) {
                    Ok(bytes) => tracing::debug!(bytes, took = ?begin.elapsed(), "kept what was learnt"),
                    Err(error) => tracing::warn!(%error, "what was learnt could not be kept; a restart would learn it again"),
                }
            }
            Task::StartAfresh => {
                learner = Learner::new(settings);
                trainer.forget();
            }
            Task::Refresh(cluster, partitions, confidence) => {
                let begin = Instant::now();
                learner.set_cpus(cluster.cpus);
                let ended = cluster.ended.iter().filter_map(|job| ended_run(job, &partitions));
                let ended = ended.map(|run| run.with(Job::Ended(run.job)));
                let live = cluster.jobs.iter().filter_map(|job| live_run(job, &partitions));
                let refreshed = learner.refresh(live.chain(ended), cluster.read_at);
                trainer.attend(&mut learner);
                let learnt = Learnt {
                    model: Arc::new(learner.model(confidence)),
                    at: cluster.read_at,
                    events: refreshed.events,
                    late: refreshed.late,
                    changes: refreshed.changes,
                    took: begin.elapsed(),
                };
                if sender.send(Message::Learnt(Box::new(learnt))).is_err() {
                    return;
                }
            }
        }
    }
}

/// A run that has ended, with the index of its partition.
fn ended_run<'a>(run: &'a Ended, partitions: &PartitionIndices) -> Option<Run<EndedJob<&'a str, PartitionIndex, &'a str>>> {
    let WaitingJob { account, partition, qos, .. } = &run.job.submitted;
    Some(run.with(run.job.of(&**account, *partitions.get(partition)?, &**qos)))
}

/// A run that waits or goes on, with the index of its partition.
fn live_run<'a>(live: &'a QueuedRun, partitions: &PartitionIndices) -> Option<Run<NamedJob<'a>>> {
    let WaitingJob { account, partition, qos, .. } = live.run.job.submitted();
    Some(live.run.with(live.run.job.of(&**account, *partitions.get(partition)?, &**qos)))
}
