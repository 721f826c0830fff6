//! Which records in jobs' `admin_comment` are believed: those that the filter or this daemon has
//! sealed for that job.
//!
//! Jobs and accounting records pass here as they are read. A record that is not believed is taken
//! away, so that upkeep, shares, learner and reports never see one; the log says how many there
//! are. Of records of versions that sealed none nothing is believed either.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;

use job_types::number::JobId;
use job_types::record::{Bearer, Record, SealKey, Unbelieved};
use job_types::time::UnixTime;
use slurm_sys::client::EndedJobRecord;
use slurm_sys::client::controller::QueuedJob;

/// The key of seals in the state directory, and what was told of records that are not believed.
#[derive(Debug)]
pub(crate) struct Genuine {
    path: PathBuf,
    key: Option<SealKey>,
    /// What the log says already: why there is no key, and how many records are not believed.
    last_error: Option<String>,
    told: usize,
}

impl Genuine {
    /// By the key at a path, which is made where there is none.
    pub(crate) fn by_key_at(path: PathBuf) -> Self {
        let mut genuine = Self { path, key: None, last_error: None, told: 0 };
        genuine.renew();
        genuine
    }

    /// Reads the key anew, as another one may have been put in its place.
    pub(crate) fn renew(&mut self) {
        match slurm_sys::record_key::read_or_make(&self.path) {
            Ok(key) => (self.key, self.last_error) = (Some(key), None),
            Err(error) => {
                self.key = None;
                let error = error.to_string();
                if self.last_error.as_ref() != Some(&error) {
                    tracing::error!(path = %self.path.display(), %error, "no record of a decision can be believed, and no job is changed");
                }
                self.last_error = Some(error);
            }
        }
    }

    /// The key, as it was read last.
    pub(crate) fn key(&self) -> Option<SealKey> {
        self.key
    }

    /// Takes from the jobs of a queue the records that are not theirs.
    pub(crate) fn keep_in_queue(&mut self, queue: &mut [QueuedJob]) {
        self.renew();
        let mut unbelieved = 0;
        // Of several jobs with one record the first has it: the others are copies.
        let mut bearers: HashMap<u64, JobId> = HashMap::new();
        for job in queue.iter_mut() {
            let Some(comment) = job.admin_comment.as_deref().filter(|comment| may_be_record(comment)) else { continue };
            let bearer =
                Bearer { user: job.user_id, job: job.job_id, submitted: job.submitted.map(UnixTime), is_first_run: job.restarts == 0 };
            match believed(comment, self.key, &bearer) {
                None => {}
                Some(Ok(record)) => {
                    // The tasks of an array have one in common.
                    if let Some(nonce) = record.nonce.filter(|_| job.array_job_id.is_none()) {
                        let first = bearers.entry(nonce).or_insert(job.job_id);
                        *first = (*first).min(job.job_id);
                    }
                }
                Some(Err(_)) => {
                    job.admin_comment = None;
                    unbelieved += 1;
                }
            }
        }
        for job in queue.iter_mut().filter(|job| job.array_job_id.is_none()) {
            let nonce = job
                .admin_comment
                .as_deref()
                .filter(|comment| may_be_record(comment))
                .and_then(Record::parse)
                .and_then(|record| record.nonce);
            if nonce.and_then(|nonce| bearers.get(&nonce)).is_some_and(|first| *first != job.job_id) {
                job.admin_comment = None;
                unbelieved += 1;
            }
        }
        if unbelieved != self.told {
            self.told = unbelieved;
            tracing::warn!(
                jobs = unbelieved,
                "records of decisions in the queue are not believed: they have no seal, as of earlier versions, or that of another job"
            );
        }
    }

    /// The `admin_comment` of an ended job, without a record that is not its own. slurmdbd does not
    /// tell whether a job was put back into the queue.
    pub(crate) fn comment<'a>(&self, record: &'a EndedJobRecord<'_>) -> Option<Cow<'a, str>> {
        let comment = record.admin_comment.as_deref()?;
        let bearer = Bearer { user: record.user_id, job: record.job_id, submitted: record.submitted.map(UnixTime), is_first_run: false };
        let is_forged = may_be_record(comment) && matches!(believed(comment, self.key, &bearer), Some(Err(_)));
        (!is_forged).then_some(Cow::Borrowed(comment))
    }
}

/// Most jobs carry no record, and some a long comment of their own.
fn may_be_record(comment: &str) -> bool {
    comment.trim_start().starts_with('{') && comment.contains("\"queuecast\"")
}

fn believed(comment: &str, key: Option<SealKey>, bearer: &Bearer) -> Option<Result<Record, Unbelieved>> {
    match key {
        Some(key) => Some(Record::of_job(comment, &key, bearer)?.map(|(record, _)| record)),
        None => Record::parse(comment).map(|_| Err(Unbelieved::OtherSeal)),
    }
}
