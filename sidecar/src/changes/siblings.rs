//! What slurmdbd knows of the jobs of other clusters that belong together with jobs of this one.
//!
//! slurmdbd may be long in answering, and so it is asked on a thread of its own, once in a round
//! and only where there are such jobs. Whoever asks waits a moment for the answer, and otherwise
//! goes on with what comes in time for the next round.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender, TryRecvError, bounded};
use job_types::joint::{ClusterJob, JointJobs};
use job_types::number::{JobId, UserId};
use job_types::promise::Promise;
use job_types::time::UnixTime;
use slurm_sys::client::{AccountingConnection, ClientError, JobState, RecordedRun};
use upkeep::Sibling;

use crate::known::promised_job::PromisedJob;

/// How long a round waits for slurmdbd.
const PATIENCE: Duration = Duration::from_secs(1);
/// How old an answer may be that a withdrawal rests on.
const LONGEST_AGE: Duration = Duration::from_secs(120);
/// How many jobs slurmdbd is asked about at the most; further ones are left for when there are
/// fewer.
const MOST_ASKED: usize = 1_000;
/// How many of them may be one user's, whose comments say which they are.
const MOST_OF_A_USER: usize = 100;

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

    /// Looks anew at all that belong together with these jobs, on the clusters that the
    /// configuration names.
    pub(super) fn refresh(&mut self, reserved: &[PromisedJob], configured: &BTreeSet<String>) {
        let joint = reserved.iter().filter_map(|reserved| Some((reserved.job.user, reserved.job.id, reserved.joint.as_ref()?)));
        let question = question(&self.cluster, joint, configured);
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
    pub(super) fn of(&self, reserved: &PromisedJob) -> Vec<Sibling> {
        let is_current = self.known.read_at.is_some_and(|at| at.elapsed() <= LONGEST_AGE);
        let others = reserved.joint.as_ref().filter(|_| is_current).and_then(|joint| joint.others(&self.cluster, reserved.job.id));
        others.into_iter().flatten().filter_map(|other| self.known.runs.get(other)).flatten().cloned().collect()
    }
}

/// The jobs to ask about. Users write the comments that say which they are: clusters that no
/// configuration names are left out, and each user has a bounded number of them.
fn question<'a>(own: &str, joint: impl Iterator<Item = (UserId, JobId, &'a JointJobs)>, configured: &BTreeSet<String>) -> Question {
    let mut question = Question::new();
    let mut of_users: BTreeMap<UserId, usize> = BTreeMap::new();
    let mut asked = 0;
    for (user, id, jobs) in joint {
        let of_user = of_users.entry(user).or_default();
        for ClusterJob { cluster, job } in jobs.others(own, id).into_iter().flatten().filter(|other| configured.contains(&other.cluster)) {
            if *of_user >= MOST_OF_A_USER || asked >= MOST_ASKED {
                break;
            }
            (*of_user, asked) = (*of_user + 1, asked + 1);
            question.entry(cluster.clone()).or_default().push(*job);
        }
    }
    question
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
    let promise = run.admin_comment.as_deref().and_then(Promise::read);
    let is_done = matches!(run.state, JobState::Completed | JobState::Failed | JobState::TimedOut | JobState::OutOfMemory);
    Sibling {
        cluster: cluster.to_owned(),
        job: run.job_id,
        user: run.user_id,
        submitted: UnixTime(run.submitted),
        reserved_at: promise.and_then(Promise::reservation).map(|reservation| reservation.at),
        started: UnixTime(run.started),
        ended: run.ended.map(UnixTime),
        is_done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joint(others: &[(&str, u32)]) -> JointJobs {
        let named = others.iter().map(|(cluster, job)| format!(",{cluster}:{job}")).collect::<String>();
        JointJobs::of_comment(&format!("queuecast-joint=east:1{named}")).unwrap()
    }

    #[test]
    fn only_clusters_that_the_configuration_names_are_asked_about() {
        let configured = BTreeSet::from(["west".to_owned()]);
        let bogus = joint(&[("aaa", 7), ("west", 8), ("zzz", 9)]);
        let asked = question("east", [(UserId(1), JobId(1), &bogus)].into_iter(), &configured);
        assert_eq!(asked, Question::from([("west".to_owned(), vec![JobId(8)])]));
        assert!(question("east", [(UserId(1), JobId(2), &bogus)].into_iter(), &configured).is_empty(), "a comment of another job");
    }

    #[test]
    fn one_users_jobs_crowd_out_nobody_elses() {
        let configured = BTreeSet::from(["west".to_owned()]);
        let own = joint(&[("west", 8)]);
        let many = (0..2 * MOST_ASKED).map(|_| (UserId(1), JobId(1), &own));
        let asked = question("east", many.chain([(UserId(2), JobId(1), &own)]), &configured);
        assert_eq!(asked["west"].len(), MOST_OF_A_USER + 1);
    }
}
