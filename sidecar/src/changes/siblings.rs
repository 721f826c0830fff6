//! What slurmdbd knows of the jobs of other clusters that belong together with jobs of this one.
//!
//! slurmdbd may be long in answering, and so it is asked on a thread of its own, once in a round
//! and only where there are such jobs. Whoever asks waits a moment for the answer, and otherwise
//! goes on with what comes in time for the next round.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender, TryRecvError, bounded};
use job_types::joint::{ClusterJob, MOST_JOINT_JOBS};
use job_types::number::JobId;
use job_types::record::Record;
use job_types::time::UnixTime;
use predictor_core::decision::{Sibling, written_reservation};
use slurm_sys::client::{AccountingConnection, ClientError, JobState, RecordedRun};

use crate::reserved::Reserved;

/// How long a round waits for slurmdbd.
const PATIENCE: Duration = Duration::from_secs(1);
/// How old an answer may be that a withdrawal rests on.
const LONGEST_AGE: Duration = Duration::from_secs(120);
/// How many jobs slurmdbd is asked about at the most; further ones are left for when there are
/// fewer.
const MOST_ASKED: usize = 1_000;

/// The jobs to ask about, by their clusters.
type Question = BTreeMap<String, Vec<JobId>>;

/// What slurmdbd knows of them, and since when.
#[derive(Default)]
struct Known {
    runs: BTreeMap<ClusterJob, Vec<Sibling>>,
    read_at: Option<Instant>,
}

/// The thread that asks slurmdbd.
struct Reader {
    questions: Sender<Question>,
    answers: Receiver<BTreeMap<ClusterJob, Vec<Sibling>>>,
    /// When the question was asked that has no answer yet.
    asked_at: Option<Instant>,
}

/// What is known of siblings.
pub(super) struct Siblings {
    /// This cluster's name.
    cluster: String,
    reader: Option<Reader>,
    known: Known,
}

impl Siblings {
    pub(super) fn new(cluster: String) -> Self {
        Self { cluster, reader: None, known: Known::default() }
    }

    /// This cluster's name.
    pub(super) fn cluster(&self) -> &str {
        &self.cluster
    }

    /// Looks anew at all that belong together with these jobs.
    pub(super) fn refresh(&mut self, reserved: &[Reserved]) {
        let question = self.question(reserved);
        if question.is_empty() {
            return;
        }
        if self.reader.is_none() {
            self.reader = Reader::start();
        }
        let Some(reader) = &mut self.reader else { return };
        if reader.asked_at.is_none() && reader.questions.try_send(question).is_ok() {
            reader.asked_at = Some(Instant::now());
        }
        // An answer that is late is of the round before, and still the latest there is.
        match reader.answers.recv_timeout(PATIENCE) {
            Ok(runs) => {
                self.known = Known { runs, read_at: reader.asked_at.take() };
            }
            Err(_) if matches!(reader.answers.try_recv(), Err(TryRecvError::Disconnected)) => {
                tracing::error!("the thread that asks slurmdbd for other clusters' jobs has ended: it is started anew");
                self.reader = None;
            }
            Err(_) => {}
        }
    }

    /// What is known of those that belong together with a job.
    pub(super) fn of(&self, reserved: &Reserved) -> Vec<Sibling> {
        let is_current = self.known.read_at.is_some_and(|at| at.elapsed() <= LONGEST_AGE);
        let others = reserved.joint.as_ref().filter(|_| is_current).and_then(|joint| joint.others(&self.cluster, reserved.job.id));
        others.into_iter().flatten().filter_map(|other| self.known.runs.get(other)).flatten().cloned().collect()
    }

    fn question(&self, reserved: &[Reserved]) -> Question {
        let mut question = Question::new();
        let joint = reserved.iter().filter_map(|reserved| reserved.joint.as_ref()?.others(&self.cluster, reserved.job.id));
        for ClusterJob { cluster, job } in joint.flatten().take(MOST_ASKED) {
            // The names are what users wrote: a few clusters are a site's, many are a mischief.
            if question.len() < MOST_JOINT_JOBS || question.contains_key(cluster) {
                question.entry(cluster.clone()).or_default().push(*job);
            }
        }
        question
    }
}

impl Reader {
    fn start() -> Option<Self> {
        let (questions, asked) = bounded::<Question>(1);
        let (answered, answers) = bounded(1);
        let body = move || {
            let mut accounting = Accounting::default();
            for question in asked {
                if answered.send(accounting.read(question)).is_err() {
                    return;
                }
            }
        };
        let started = thread::Builder::new().name("siblings".to_owned()).spawn(body);
        if let Err(error) = started {
            tracing::error!(%error, "no thread can be started to ask slurmdbd for other clusters' jobs");
            return None;
        }
        Some(Self { questions, answers, asked_at: None })
    }
}

/// slurmdbd, and what was wrong with its last answer.
#[derive(Default)]
struct Accounting {
    connection: Option<AccountingConnection>,
    last_error: Option<ClientError>,
}

impl Accounting {
    /// What is known of the jobs. A cluster of which nothing is to be had is as one of which
    /// nothing has started.
    fn read(&mut self, question: Question) -> BTreeMap<ClusterJob, Vec<Sibling>> {
        let mut known = BTreeMap::<ClusterJob, Vec<Sibling>>::new();
        let mut error = None;
        for (cluster, jobs) in question {
            match self.runs(&cluster, &jobs) {
                Ok(runs) => {
                    for run in runs {
                        let job = ClusterJob { cluster: cluster.clone(), job: run.job_id };
                        known.entry(job).or_default().push(sibling(&cluster, &run));
                    }
                }
                Err(found) => error = Some(found),
            }
        }
        if let Some(error) = error.as_ref().filter(|error| self.last_error.as_ref() != Some(error)) {
            tracing::warn!(%error, "no jobs of other clusters are withdrawn for at present");
        }
        self.last_error = error;
        tracing::debug!(started = known.len(), "read other clusters' jobs");
        known
    }

    fn runs(&mut self, cluster: &str, jobs: &[JobId]) -> Result<Vec<RecordedRun>, ClientError> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(AccountingConnection::open()?),
        };
        connection.started_runs(cluster, jobs)
    }
}

fn sibling(cluster: &str, run: &RecordedRun) -> Sibling {
    let record = run.admin_comment.as_deref().and_then(Record::parse);
    let is_done = matches!(run.state, JobState::Completed | JobState::Failed | JobState::TimedOut | JobState::OutOfMemory);
    Sibling {
        cluster: cluster.to_owned(),
        job: run.job_id,
        user: run.user_id,
        submitted: UnixTime(run.submitted),
        reserved_at: record.as_ref().and_then(written_reservation).map(|(_, at)| at),
        started: UnixTime(run.started),
        ended: run.ended.map(UnixTime),
        is_done,
    }
}
