//! The states that a job which is to be modified may be in.
//!
//! The daemon reads jobs twice a minute. What the plugin let through since is laid over its
//! reading: the modifications of the job, and where it was not read yet, the submissions that it
//! may be. Slurm may have refused any of these without a word to the plugin, which whoever sends
//! them can bring about. So each state counts that the job may be in, and a modification is let
//! through if rules let it through in all of them.

use super::Judged;
use crate::fields::{changed_fields, submitted_fields};
use crate::named_job::{self, Named};
use crate::unconfirmed::changes::Change;
use crate::unconfirmed::submissions::SubmittedFields;
use job_types::number::JobId;
use job_types::time::UnixTime;
use predictor_core::decisions::site::Site;
use site_rules::data::{DataFile, KnownJob, OwnedValue};
use site_rules::field::{FieldNumber, Fields, Name};
use site_rules::submission::Request;
use site_rules::value::Value;
use slurm_sys::job_description::JobDescription;
use slurm_sys::job_fields::TextField;

/// The most components of a heterogeneous job that rules are asked about: of a job with more
/// nothing is taken for known. Slurm's own tools send 128 at most (`MAX_HET_JOB_COMPONENTS` of
/// slurm/slurm.h), and slurmctld takes more.
pub(super) const MOST_COMPONENTS: usize = 1_024;

/// The most components in a row that may have ended while others behind them have not.
const MOST_ENDED: u32 = 128;

/// The most states of a job that rules are asked about.
const MOST_STATES: usize = 8;

/// The fields that a modification writes, with the number under which they are kept.
pub(super) type KeyedChange = (JobId, Vec<(FieldNumber, Option<OwnedValue>)>);

/// What was let through of the job, or may be it.
#[derive(Default)]
pub(super) struct LetThrough {
    changes: Vec<Change>,
    submitted: Vec<(UnixTime, Option<SubmittedFields>)>,
}

impl LetThrough {
    /// The states that the job may be in, first that in which Slurm has refused nothing; `None`
    /// where they are too many, or are not known.
    pub(super) fn states<'k>(&'k self, known: Option<&KnownJob<'k>>) -> Option<Vec<KnownJob<'k>>> {
        let mut bases = Vec::new();
        if let Some(known) = known {
            bases.push(known.changed(&[]));
        }
        for (at, fields) in &self.submitted {
            bases.push(KnownJob::submitted(*at, fields.as_deref()?));
        }
        let selections = 1_usize.checked_shl(u32::try_from(self.changes.len()).ok()?)?;
        if bases.is_empty() || selections.checked_mul(bases.len())? > MOST_STATES {
            return None;
        }
        // The selections go from all changes to none.
        let states = (0..selections).rev().flat_map(|selection| bases.iter().map(move |base| (base, selection)));
        let changed = |(base, selection): (&KnownJob<'k>, usize)| {
            let is_made = |place: &usize| selection >> place & 1 == 1;
            let made = self.changes.iter().enumerate().filter(|(place, _)| is_made(place));
            made.fold(base.changed(&[]), |job, (_, change)| job.changed(change))
        };
        Some(states.map(changed).collect())
    }
}

impl Judged<'_> {
    /// What was let through of a job that is to be modified, as far as rules could ask for it.
    pub(super) fn let_through(&self, description: &JobDescription<'_>, named: Option<&NamedJob<'_>>) -> LetThrough {
        let mut let_through = LetThrough::default();
        if self.request != Request::Modify || self.in_force.rules.current_fields.is_empty() {
            return let_through;
        }
        let unconfirmed = self.state.unconfirmed();
        let changes = &unconfirmed.changes;
        if let Some(NamedJob { number, job }) = named {
            let read_at = job.read_at.min(self.read_at());
            let number = job.array.unwrap_or(*number);
            let_through.changes = changes.after_reading(number, read_at);
            // What was asked for under the first component's number may be of all of them.
            if let Some(first) = place_among_components(job).filter(|place| *place > 0).and_then(|place| number.0.checked_sub(place)) {
                let_through.changes.extend(changes.after_reading(JobId(first), read_at));
            }
        } else {
            // A job that is not among those which were read may be an old one for which there was
            // no room.
            let Some(job) = job_key(description, None) else { return let_through };
            if self.in_force.data.as_ref().is_none_or(|data| data.left_out().jobs > 0) {
                return let_through;
            }
            let read_at = self.read_at();
            let_through.submitted = unconfirmed.submissions.submitted_since(self.asker, read_at);
            let_through.changes = changes.of_unread(job, self.asker, read_at);
        }
        let_through.changes.dedup();
        let_through
    }

    /// When the daemon has read the queue last, by its clock or by slurmctld's, whichever is
    /// behind; long ago where nothing is known of that.
    pub(crate) fn read_at(&self) -> UnixTime {
        self.in_force.data.as_ref().map_or(UnixTime(i64::MIN / 2), |data| data.written_at().min(data.counted_before()))
    }

    /// The fields of a job that is let through, where rules could ask for them before it is read.
    pub(crate) fn submitted_fields(&self, description: &JobDescription<'_>) -> Option<Vec<(FieldNumber, OwnedValue)>> {
        let asked = &self.in_force.rules.current_fields;
        if asked.is_empty() {
            return None;
        }
        let mut fields = submitted_fields(description, asked)?;
        // What Slurm puts into an empty place.
        if asked.contains(&Name::Partition.into())
            && description.text(TextField::Partition).is_none()
            && let Some(current) = self.located.and_then(|located| located.snapshots.current())
            && let Some(partition) = current.snapshot.default_partition()
        {
            fields.push((Name::Partition.into(), OwnedValue::Text(partition.name.to_owned())));
        }
        Some(fields)
    }

    /// The part of a modification that rules could ask for later, with the job's key and whether
    /// the daemon has read the job.
    pub(super) fn change_to_keep(&self, description: &JobDescription<'_>, known: Option<&KnownJob<'_>>) -> Option<KeyedChange> {
        let asked = &self.in_force.rules.current_fields;
        if asked.is_empty() {
            return None;
        }
        let job = job_key(description, known)?;
        let mut change = changed_fields(description);
        change.retain(|(field, _)| asked.contains(field));
        (!change.is_empty()).then_some((job, change))
    }
}

/// A job that a modification names, as the daemon read it.
pub(super) struct NamedJob<'d> {
    pub(super) number: JobId,
    pub(super) job: KnownJob<'d>,
}

/// The jobs that a modification names, as far as the daemon has read them: one, or the components
/// of a heterogeneous job, all of which slurmctld changes where the text has the number of the
/// first. It takes the text, where there is one, before the number (`_slurm_rpc_update_job` in
/// src/slurmctld/proc_req.c).
pub(super) fn named_jobs<'d>(data: &'d DataFile, description: &JobDescription<'_>) -> Vec<NamedJob<'d>> {
    let named = |number: u32| Some(NamedJob { number: JobId(number), job: data.job(JobId(number))? });
    let Some(text) = description.text(TextField::JobIdStr) else {
        return description.job_id().and_then(named).into_iter().collect();
    };
    match named_job::read(text.to_bytes()) {
        None => Vec::new(),
        Some(Named::Job(first)) => {
            let job = named(first);
            // The first component may have ended before the others.
            if job.as_ref().is_some_and(|first| place_among_components(&first.job) != Some(0)) {
                return job.into_iter().collect();
            }
            let component = |place: u32| named(first.checked_add(place)?).filter(|other| place_among_components(&other.job) == Some(place));
            let mut jobs: Vec<NamedJob<'_>> = job.into_iter().collect();
            let (mut place, mut ended) = (1, 0);
            while ended < MOST_ENDED && jobs.len() <= MOST_COMPONENTS {
                let found = component(place);
                ended = if found.is_some() { 0 } else { ended + 1 };
                jobs.extend(found);
                place += 1;
            }
            jobs
        }
        // If several tasks are named together, the array stands for all of them.
        Some(Named::Tasks(job)) => named(job).into_iter().collect(),
        Some(Named::Task(array, task)) => {
            data.task(JobId(array), task).map(|job| NamedJob { number: JobId(array), job }).into_iter().collect()
        }
        // The components of a job are given their numbers one after the other.
        Some(Named::Component(job, place)) => job.checked_add(place).and_then(named).into_iter().collect(),
    }
}

/// Which component of a heterogeneous job it is.
fn place_among_components(job: &KnownJob<'_>) -> Option<u32> {
    match job.field(Name::HetJobOffset.into())? {
        Value::Integer(place) => u32::try_from(place).ok(),
        _ => None,
    }
}

/// The number under which what was let through of a job is kept: the array's of a task.
fn job_key(description: &JobDescription<'_>, known: Option<&KnownJob<'_>>) -> Option<JobId> {
    if let Some(array) = known.and_then(|known| known.array) {
        return Some(array);
    }
    let Some(text) = description.text(TextField::JobIdStr) else { return description.job_id().map(JobId) };
    Some(JobId(match named_job::read(text.to_bytes())? {
        Named::Job(job) | Named::Task(job, _) | Named::Tasks(job) => job,
        Named::Component(job, place) => job.checked_add(place)?,
    }))
}
