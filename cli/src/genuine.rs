//! Which records in jobs' `admin_comment` the commands believe: those that queuecast sealed for the
//! job. Only Slurm's user and root can tell, because nobody else may read the key: for others each
//! record counts as it stands.

use std::io;

use job_types::record::{Bearer, Record, SealKey};
use job_types::slot_name;
use job_types::time::UnixTime;
use slurm_conf::state_directory::RECORD_KEY;
use slurm_conf::trusted::is_damage;
use slurm_sys::client::EndedJobRecord;
use slurm_sys::client::controller::QueuedJob;
use slurm_sys::record_key;

use crate::installation::Installation;

/// What records are checked by.
#[derive(Debug)]
pub(crate) enum Genuine {
    /// The key of seals.
    ByKey(SealKey),
    /// There is no key, or it can't be read, as by most users.
    Unchecked,
}

impl Genuine {
    /// Tells genuine records by the key in a state directory, if it has a key that can be read.
    pub(crate) fn at(installation: &Installation) -> Self {
        match record_key::read(&installation.directory.join(RECORD_KEY)) {
            Ok(key) => Self::ByKey(key),
            Err(error) => {
                // Most users may not read it. One that is not as it should be is told.
                let is_private = error.kind() == io::ErrorKind::PermissionDenied && !is_damage(&error);
                if error.kind() != io::ErrorKind::NotFound && !is_private {
                    command_parts::output::warn(&format!("records of decisions are not checked: {RECORD_KEY}: {error}"));
                }
                Self::Unchecked
            }
        }
    }

    /// Whether a comment is believed; one without a record is.
    fn believes(&self, comment: &str, bearer: &Bearer) -> bool {
        match self {
            Self::Unchecked => true,
            Self::ByKey(key) => Record::of_job(comment, key, bearer).is_none_or(|found| found.is_ok()),
        }
    }

    /// What a report says of records that it does not count.
    pub(crate) fn note(unbelieved: u64) -> Option<String> {
        (unbelieved > 0)
            .then(|| format!("{unbelieved} records are not counted: they have no seal, as of versions before it, or not that of their job"))
    }

    /// Whether what a job in the queue carries is believed.
    pub(crate) fn believes_queued(&self, job: &QueuedJob) -> bool {
        let (user, submitted, is_first_run) = (job.user_id, job.submitted.map(UnixTime), job.restarts == 0);
        let bearer = Bearer { user, job: job.job_id, submitted, is_first_run };
        job.admin_comment.as_deref().is_none_or(|comment| self.believes(comment, &bearer))
    }

    /// Whether a reservation of that name is taken for that of a firm slot.
    pub(crate) fn believes_reservation(&self, name: &str) -> bool {
        match self {
            Self::Unchecked => slot_name::may_be_of_slot(name),
            Self::ByKey(key) => slot_name::slot_of(name, key).is_some(),
        }
    }

    /// Whether what an accounting record has is believed.
    pub(crate) fn believes_ended(&self, job: &EndedJobRecord<'_>) -> bool {
        let submitted = job.submitted.map(UnixTime);
        let bearer = Bearer { user: job.user_id, job: job.job_id, submitted, is_first_run: false };
        job.admin_comment.as_deref().is_none_or(|comment| self.believes(comment, &bearer))
    }
}
