//! `queuecast reserve --between --clusters`: the best slot of several clusters, reserved by the
//! `queuecast` of its cluster.

mod live;
mod text;

use std::process::ExitCode;

use anyhow::ensure;
use command_parts::failure::Failure;
use command_parts::output;
use daemon_api::{SlotRefused, SlotWindow};
use job_types::slot::SlotState;
use job_types::time::UnixTime;
use queue_plan::placement::GridService;
use serde::Serialize;

use self::live::{LiveGrid, Tried};
use super::Arguments;
use crate::asked::AskedArguments;
use crate::described::given::{for_other_clusters, remarks};
use crate::exit_status::NO_SNAPSHOT;
use crate::grid::{Clusters, LEAST_AHEAD, Outcome};

/// The most slots that are tried: each takes a probe and a reservation, of which a user has ten a
/// minute.
const MOST_TRIES: usize = 5;

/// The whole report.
#[derive(Debug, Default, Serialize)]
struct Report {
    cluster: Option<String>,
    partition: Option<String>,
    id: Option<u64>,
    name: Option<String>,
    /// Slots of several clusters are reserved without a job.
    job_id: Option<u32>,
    state: Option<SlotState>,
    start: Option<i64>,
    end: Option<i64>,
    nodes: Option<u32>,
    window: Option<SlotWindow>,
    fixed_at: Option<i64>,
    refused: Option<SlotRefused>,
    /// Only --parts has some.
    parts: [u64; 0],
    charged_node_s: Option<i64>,
    /// Why it is not known whether a slot was made.
    not_known: Option<String>,
    tried: Vec<Tried>,
    /// What runs `queuecast` there.
    command: Option<String>,
    notes: Vec<String>,
    #[serde(skip)]
    login: Option<String>,
    #[serde(skip)]
    now: UnixTime,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments, now: UnixTime) -> Result<ExitCode, Failure> {
    check(arguments).map_err(Failure::Input)?;
    let (mut window, order) = arguments.window.read_for_clusters(now).map_err(Failure::Input)?;
    window.earliest = window.earliest.max(now + LEAST_AHEAD);
    let mut described = arguments.job.clone();
    let not_read = described.take_standard_input().map_err(|error| Failure::Input(error.into()))?;
    let job = described.job(&[], &AskedArguments::default(), now).map_err(Failure::Input)?;
    let clusters = Clusters::of(&arguments.clusters, &arguments.installation, &for_other_clusters(&job), window).map_err(Failure::Input)?;
    let mut grid = LiveGrid::new(&clusters, order);
    let (found, _in_vain) = GridService.choose(&mut grid, MOST_TRIES);
    let mut report = Report { window: Some(SlotWindow { earliest: window.earliest.0, latest: window.latest.0 }), now, ..Report::default() };
    match found {
        Some((slot, outcome)) => report.take(slot, outcome, &clusters),
        // Nothing was tried where the first probe has failed.
        None if grid.tried.is_empty() && grid.failed.is_some() => {
            return Err(grid.failed.take().unwrap_or_else(|| Failure::No(anyhow::anyhow!("no slot is to be had"))));
        }
        None => {
            report.state = Some(SlotState::Refused);
            report.refused = Some(SlotRefused { reason: grid.why_none(MOST_TRIES), nearest: None });
        }
    }
    (report.tried, report.notes) = (grid.tried, grid.notes);
    report.notes.extend(remarks(&job).into_iter().chain(not_read.map(str::to_owned)));
    output::tell(arguments.format, &report, text::text)?.print()?;
    Ok(ExitCode::from(report.exit_status()))
}

/// Refuses what no slot of several clusters can be asked for with.
fn check(arguments: &Arguments) -> anyhow::Result<()> {
    ensure!(!arguments.job.is_of_another_user(), "--user: a slot is reserved for those who ask, by their own accounts; leave it out");
    ensure!(
        arguments.sbatch.is_empty(),
        "--clusters: a slot of several clusters is reserved without a job; leave out what stands behind the two dashes, and submit the job on the \
         cluster that is named, with sbatch --reservation"
    );
    Ok(())
}

impl Report {
    /// Takes over what came of asking for a slot.
    fn take(&mut self, slot: live::Reserving, outcome: Outcome, clusters: &Clusters) {
        let way = clusters.site(&slot.cluster).map(|site| &site.way);
        (self.command, self.login) = (way.map(|way| way.typed()), way.and_then(|way| way.login()));
        (self.cluster, self.partition) = (Some(slot.cluster), slot.partition);
        (self.start, self.end) = (Some(slot.start), Some(slot.end));
        match outcome {
            Outcome::NotKnown(why) => self.not_known = Some(why),
            Outcome::Reserved(granted) => {
                (self.id, self.name, self.state) = (Some(granted.id), granted.name, Some(granted.state));
                (self.start, self.end, self.fixed_at) = (granted.start, granted.end, granted.fixed_at);
                (self.nodes, self.charged_node_s) = (Some(granted.nodes), granted.charged_node_s);
            }
        }
    }

    fn exit_status(&self) -> u8 {
        if self.not_known.is_some() { NO_SNAPSHOT } else { u8::from(self.refused.is_some()) }
    }
}
