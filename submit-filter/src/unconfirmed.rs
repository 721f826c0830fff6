//! What the plugin let through, and what no reading of slurmctld's queue has confirmed yet.
//!
//! The plugin is asked before Slurm itself has looked at a request, and is not told what became of
//! it: a job may be refused afterwards, or only be tested. The daemon's next reading of the queue
//! tells. Until then what was let through is kept here, in three tables with one rule: nothing that
//! a user sends decides whether it is kept, and it goes with the reading that is too new to lack
//! it.
//!
//! - [`promises`]: room that jobs were promised, which later promises leave to them.
//! - [`submissions`]: jobs that were let through, for counts by user and as states that a job which
//!   is modified may be in.
//! - [`changes`]: modifications that were let through, likewise.

pub(crate) mod changes;
pub(crate) mod promises;
mod seen_jobs;
pub mod submissions;

use changes::ChangeTable;
use job_types::time::{Seconds, UnixTime};
use predictor_core::snapshot::Snapshot;
use promises::PromiseTable;
use site_rules::data::OwnedValue;
use submissions::SubmissionTable;

/// How long after it was let through a request may not be in slurmctld's queue yet, in whole
/// seconds.
const UNDERWAY: Seconds = Seconds(2);

/// The tables of what was let through.
#[derive(Debug)]
pub(crate) struct Unconfirmed {
    pub(crate) promises: PromiseTable,
    pub(crate) submissions: SubmissionTable,
    pub(crate) changes: ChangeTable,
}

impl Unconfirmed {
    pub(crate) fn new() -> Unconfirmed {
        Unconfirmed { promises: PromiseTable::default(), submissions: SubmissionTable::default(), changes: ChangeTable::default() }
    }
}

/// How many bytes a field takes that is kept, about.
fn weight(value: Option<&OwnedValue>) -> usize {
    const ENTRY: usize = 64;
    let text = match value {
        Some(OwnedValue::Text(text) | OwnedValue::Resources(text)) => text.len(),
        Some(OwnedValue::Texts(texts)) => texts.iter().map(|text| ENTRY + text.len()).sum(),
        _ => 0,
    };
    ENTRY + text
}

/// Returns the time since which submissions that were let through may be missing in a snapshot's
/// queue, by slurmctld's clock.
fn missing_since<B: AsRef<[u8]>>(snapshot: &Snapshot<B>) -> UnixTime {
    let provenance = snapshot.provenance();
    provenance.controller_read_at.unwrap_or(snapshot.published_at()) + provenance.controller_ahead - UNDERWAY
}
