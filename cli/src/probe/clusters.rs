//! `queuecast probe --clusters`: the slots of several clusters, in the order of a preference.

mod text;

use std::process::ExitCode;

use command_parts::failure::Failure;
use command_parts::output;
use daemon_api::SlotWindow;
use job_types::time::UnixTime;
use serde::Serialize;

use super::Arguments;
use crate::described::given::{for_other_clusters, remarks};
use crate::described::job::Job;
use crate::grid::{ClusterReport, Clusters, GridSlot, LEAST_AHEAD, Probed};

/// The whole report.
#[derive(Debug, Serialize)]
struct Report {
    window: SlotWindow,
    clusters: Vec<ClusterReport>,
    slots: Vec<GridSlot>,
    /// The place of the best slot; `None` where none is to be had.
    best: Option<usize>,
    notes: Vec<String>,
    #[serde(skip)]
    now: UnixTime,
}

/// Runs the command; `not_read` is what there is to be said of standard input.
pub(super) fn run(arguments: &Arguments, job: &Job, not_read: Option<&str>, now: UnixTime) -> Result<ExitCode, Failure> {
    let (mut window, order) = arguments.window.read_for_clusters(now).map_err(Failure::Input)?;
    window.earliest = window.earliest.max(now + LEAST_AHEAD);
    let clusters = Clusters::of(&arguments.clusters, &arguments.installation, &for_other_clusters(job), window).map_err(Failure::Input)?;
    let Probed { clusters, slots, notes, .. } = clusters.probe(order).answered()?;
    let report = Report {
        window: SlotWindow { earliest: window.earliest.0, latest: window.latest.0 },
        clusters,
        // Slots that are to be had are in front of all others.
        best: slots.first().filter(|slot| slot.is_to_be_had()).map(|_| 0),
        slots,
        notes: notes.into_iter().chain(remarks(job)).chain(not_read.map(str::to_owned)).collect(),
        now,
    };
    output::tell(arguments.format, &report, text::text)?.print()?;
    Ok(ExitCode::from(u8::from(report.best.is_none())))
}
