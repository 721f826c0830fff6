//! What is decided from about a described job, and what else is to be known of it.

use job_types::options::Mode;
use job_types::policy::Admission;
use job_types::record::WaitSource;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::{Bounds, DecisionInputs, Submission, Timeliness, mode_of};
use predictor_core::forecasts::forecast::{Claimed, JobShape, WaitForecaster};
use predictor_core::snapshot::Snapshot;
use thiserror::Error;

use crate::age::ahead;

/// What the submit filter would decide from.
pub type Situation<'a> = DecisionInputs<'a, Snapshot<Vec<u8>>>;

/// The snapshot does not have the partition that a job names.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnknownPartition {
    /// The job names none, and there is no default one.
    #[error("no default partition; name one with --partition: {}", known.join(", "))]
    NoDefault {
        /// Those that the snapshot has.
        known: Vec<String>,
    },
    /// There is none of this name.
    #[error("no partition {name:?} in the snapshot; there are: {}", known.join(", "))]
    NotKnown {
        /// The name.
        name: String,
        /// Those that the snapshot has.
        known: Vec<String>,
    },
}

impl UnknownPartition {
    /// The partitions that the snapshot has.
    #[must_use]
    pub fn known(&self) -> &[String] {
        let (Self::NoDefault { known } | Self::NotKnown { known, .. }) = self;
        known
    }
}

/// What the filter would decide about a submission from, if nothing was decided about since the
/// snapshot was made.
///
/// # Errors
/// The snapshot has no such partition; those that it has are named.
pub fn situation<'a>(
    snapshot: &'a Snapshot<Vec<u8>>,
    submission: &'a Submission<'a>,
    now: UnixTime,
) -> Result<Situation<'a>, UnknownPartition> {
    let (partition, policy) = submission.governed_by(snapshot).ok_or_else(|| {
        let known = snapshot.partitions().map(|partition| partition.name.to_owned()).collect();
        match submission.partitions().next() {
            None => UnknownPartition::NoDefault { known },
            Some(name) => UnknownPartition::NotKnown { name: name.to_owned(), known },
        }
    })?;
    let bounds = Bounds::of(submission, &partition, snapshot);
    Ok(DecisionInputs { forecasts: snapshot, partition, policy, submission, bounds, now, claimed: Claimed::default() })
}

/// What else is to be known.
pub fn notes(situation: &Situation<'_>) -> Vec<String> {
    let DecisionInputs { submission, partition, policy, forecasts: snapshot, now, .. } = situation;
    let mut notes = Vec::new();
    match snapshot.score(partition.index) {
        Some(score) if score.source == WaitSource::Qbets => {
            notes.push(format!("waits are forecast from past jobs of like class alone: {}", score.reason));
        }
        Some(score) if score.source == WaitSource::Nothing => notes.push(format!("no waits are forecast here: {}", score.reason)),
        _ => {}
    }
    match snapshot.timeliness(*now) {
        Timeliness::Current => {}
        Timeliness::TooOld => {
            notes.push(format!("the snapshot is {} old, and the filter does not use it any more", snapshot.age(*now)));
        }
        Timeliness::Ahead => notes.push(ahead(snapshot, *now)),
    }
    let size = submission.size(partition);
    if partition.cpus == 0 {
        notes.push(format!("slurmctld knows no partition {} any more", partition.name));
    } else if size.nodes > partition.nodes || size.cpus > partition.cpus {
        notes.push(format!("the job is larger than the partition, which has {} nodes and {} CPUs", partition.nodes, partition.cpus));
    }
    let limit = submission.limit_in(partition);
    if let Some(longest) = partition.max_time.filter(|longest| limit.is_none_or(|limit| limit > *longest)) {
        notes.push(format!("the time limit is longer than the partition's longest, {longest}"));
    }
    // For a job that is admitted, the field is taken out.
    let is_slurms = policy.admission == Admission::Off || mode_of(&submission.asked, policy) < Mode::Enforce;
    let earliest = submission.begin.map_or(*now, |begin| begin.max(*now));
    if let Some((deadline, limit)) = submission.deadline.zip(limit)
        && earliest + limit > deadline
        && is_slurms
    {
        // src/slurmctld/job_mgr.c, deadline_ok.
        notes.push("the earliest begin plus the time limit lies beyond the deadline, so sbatch would refuse the job".to_owned());
    }
    notes
}

/// The job at a size, with a limit.
pub(crate) fn shape_of(situation: &Situation<'_>, size: Size, limit: Option<Seconds>) -> JobShape {
    let DecisionInputs { submission, partition, forecasts: snapshot, .. } = situation;
    let association = snapshot.association(submission.user, submission.account, submission.qos);
    JobShape { user: submission.user, association, partition: partition.index, size, limit }
}
