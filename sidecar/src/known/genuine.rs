//! Which records in jobs' `admin_comment` are believed: those that the filter or this daemon has
//! sealed for that job.
//!
//! Jobs and accounting records pass here as they are read. A record that is not believed is taken
//! away, so that upkeep, shares, learner and reports never see one; the log says how many there
//! are. Of records of versions that sealed none nothing is believed either.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;

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
    /// Tells genuine records by the key at a path. The key is made if there is none.
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
        // If several jobs carry one record, it belongs to the first; the others carry copies.
        let mut bearers: HashMap<u64, usize> = HashMap::new();
        let mut copies = Vec::new();
        for place in 0..queue.len() {
            let Some(job) = queue.get(place) else { break };
            let Some(comment) = job.admin_comment.as_deref().filter(|comment| may_be_record(comment)) else { continue };
            let bearer =
                Bearer { user: job.user_id, job: job.job_id, submitted: job.submitted.map(UnixTime), is_first_run: job.restarts == 0 };
            match believed(comment, self.key, &bearer) {
                None => {}
                Some(Err(_)) => copies.push(place),
                // The tasks of an array have one in common.
                Some(Ok(_)) if job.array_job_id.is_some() => {}
                Some(Ok(record)) => {
                    let Some(nonce) = record.nonce else { continue };
                    let first = bearers.entry(nonce).or_insert(place);
                    let number = |place: usize| queue.get(place).map(|job| job.job_id);
                    match *first {
                        first if first == place => {}
                        other if number(other) <= number(place) => copies.push(place),
                        other => {
                            copies.push(other);
                            *first = place;
                        }
                    }
                }
            }
        }
        for place in copies {
            if let Some(job) = queue.get_mut(place) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::number::{JobId, UserId};
    use job_types::record::Changed;

    const RECORD: &str = r#"{"queuecast":{"version":1,"generation":7,"at":900,"nonce":5,"mode":"enforce","asked":{"nodes":1,"cpus":1}}}"#;

    fn job(number: u32, user: u32, comment: &str) -> QueuedJob {
        let job = crate::known::shared_nodes::test_job();
        QueuedJob { job_id: JobId(number), user_id: UserId(user), submitted: Some(901), admin_comment: Some(comment.to_owned()), ..job }
    }

    fn kept(genuine: &mut Genuine, mut queue: Vec<QueuedJob>) -> Vec<u32> {
        genuine.keep_in_queue(&mut queue);
        queue.iter().filter(|job| job.admin_comment.is_some()).map(|job| job.job_id.0).collect()
    }

    #[test]
    fn records_that_were_forged_copied_or_never_sealed_are_taken_away() {
        let directory = tempfile::tempdir().unwrap();
        let mut genuine = Genuine::by_key_at(directory.path().join("record-key"));
        let key = genuine.key().unwrap();
        let record = Record::parse(RECORD).unwrap();
        let of_user = |user| record.sealed(&key, UserId(user), None).unwrap();
        let later = QueuedJob { submitted: Some(5_000), ..job(9, 1, &of_user(1)) };
        let requeued = QueuedJob { restarts: 1, ..later.clone() };
        let queue = vec![
            job(3, 1, &of_user(1)),
            job(2, 1, &of_user(1)),
            job(4, 2, &of_user(1)),
            job(5, 1, RECORD),
            job(6, 1, "for the paper"),
            job(7, 1, "{\"queuecast\": nothing"),
            later,
        ];
        assert_eq!(kept(&mut genuine, queue), [2, 6, 7], "the first of two, and what is no record");
        assert_eq!(genuine.told, 4);
        assert_eq!(kept(&mut genuine, vec![requeued]), [9]);
        // What the daemon wrote is of that job alone.
        let changed = Record { changed: Some(Changed::default()), ..record.clone() };
        let sealed = changed.sealed(&key, UserId(1), Some(JobId(8))).unwrap();
        assert_eq!(kept(&mut genuine, vec![job(8, 1, &sealed), job(10, 1, &sealed)]), [8]);
        // The tasks of an array have the record of the array.
        let task = |number| QueuedJob { array_job_id: Some(JobId(20)), ..job(number, 1, &of_user(1)) };
        assert_eq!(kept(&mut genuine, vec![task(21), task(22)]), [21, 22]);
        // A key that can't be read, or another one, makes none believable.
        std::fs::remove_file(directory.path().join("record-key")).unwrap();
        assert_eq!(kept(&mut genuine, vec![job(8, 1, &sealed)]), Vec::<u32>::new());
    }
}
