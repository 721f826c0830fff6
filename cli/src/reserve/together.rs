//! `queuecast reserve --between --parts --together`: a slot on each of several clusters, all with
//! the same start, or none.
//!
//! It is a transaction in two phases (Gray 1978). Each cluster reserves its part and keeps it for
//! two minutes; once all stand, the part of the first cluster is confirmed, which decides for all.
//! Whatever ends this command at whatever moment, each cluster keeps its part if the first has
//! confirmed, and gives it back if not: those that were not told ask the first.

mod attempt;
mod part;
mod starts;
mod text;

use std::process::ExitCode;

use anyhow::ensure;
use command_parts::failure::Failure;
use command_parts::output;
use daemon_api::{SlotRefused, SlotWindow};
use job_types::slot::SlotState;
use job_types::time::{Seconds, UnixTime};
use job_types::together::{CONFIRMED_WITHIN, Token};
use serde::Serialize;

use self::attempt::{Attempt, Ended};
pub(super) use self::part::PartArgument;
use super::Arguments;
use crate::asked::AskedArguments;
use crate::described::given::{for_other_clusters, remarks};
use crate::exit_status::NO_SNAPSHOT;
use crate::grid::{Clusters, NoCluster};

/// The most starts that are tried: each takes a reservation and a cancellation on each cluster, of
/// which a user has ten a minute together with probes.
const MOST_TRIES: usize = 3;
/// How much later than now the parts begin at the earliest, so that it is decided before whether
/// they are kept.
const LEAST_AHEAD: Seconds = Seconds(CONFIRMED_WITHIN.0 + 60);

/// The whole report.
#[derive(Debug, Default, Serialize)]
struct Report {
    /// Each part has its own.
    id: Option<u64>,
    name: Option<String>,
    job_id: Option<u32>,
    state: Option<SlotState>,
    start: Option<i64>,
    end: Option<i64>,
    /// Of all parts.
    nodes: Option<u32>,
    window: Option<SlotWindow>,
    fixed_at: Option<i64>,
    refused: Option<SlotRefused>,
    parts: Vec<PartReport>,
    charged_node_s: Option<i64>,
    /// What the parts are known by.
    together: Option<Token>,
    /// Why it is not known whether they are kept.
    not_known: Option<String>,
    tried: Vec<Tried>,
    notes: Vec<String>,
    #[serde(skip)]
    now: UnixTime,
}

/// The part on a cluster.
#[derive(Debug, Clone, Serialize)]
struct PartReport {
    cluster: String,
    partition: Option<String>,
    id: u64,
    name: Option<String>,
    state: SlotState,
    start: Option<i64>,
    end: Option<i64>,
    nodes: u32,
    charged_node_s: Option<i64>,
    /// Whether the cluster has been told that it is kept; otherwise it finds out by itself.
    confirmed: bool,
    /// What runs `queuecast` there.
    command: String,
}

/// A start at which the parts are not to be had together.
#[derive(Debug, Serialize)]
struct Tried {
    start: i64,
    cluster: String,
    why: String,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments, now: UnixTime) -> Result<ExitCode, Failure> {
    let (mut window, order) = arguments.window.read_for_clusters(now).map_err(Failure::Input)?;
    window.earliest = window.earliest.max(now + LEAST_AHEAD);
    let mut described = arguments.job.clone();
    let not_read = described.take_standard_input().map_err(|error| Failure::Input(error.into()))?;
    let job = described.job(&[], &AskedArguments::default(), now).map_err(Failure::Input)?;
    let mut words = for_other_clusters(&job);
    check(arguments).map_err(Failure::Input)?;
    // What a script says of nodes gives way to the parts, as options do before it.
    words.retain(|word| !word.starts_with("--nodes="));
    let (named, nodes) = PartArgument::split(&arguments.parts);
    let clusters = Clusters::of(&named, &arguments.installation, &words, window).map_err(Failure::Input)?.with_nodes(&nodes);
    let probed = clusters.probe(order).answered()?;
    if let Some(silent) = probed.clusters.iter().find(|cluster| cluster.left_out.is_some()) {
        let why = silent.left_out.clone().unwrap_or_default();
        return Err(Failure::Input(NoCluster(format!("all parts are needed, and {} is left out: {why}", silent.cluster)).into()));
    }
    let mut report = Report {
        window: Some(SlotWindow { earliest: window.earliest.0, latest: window.latest.0 }),
        notes: probed.notes.iter().cloned().chain(remarks(&job)).chain(not_read.map(str::to_owned)).collect(),
        now,
        ..Report::default()
    };
    match starts::in_order(&probed, &named, order) {
        Ok(starts) => try_each(&mut report, &clusters, &probed, &starts),
        Err(why) => report.refuse(why),
    }
    output::tell(arguments.format, &report, text::text)?.print()?;
    Ok(ExitCode::from(report.exit_status()))
}

/// Refuses what no parts can be asked for with.
fn check(arguments: &Arguments) -> anyhow::Result<()> {
    ensure!(!arguments.job.is_of_another_user(), "--user: slots are reserved for those who ask, by their own accounts; leave it out");
    ensure!(arguments.sbatch.is_empty(), "--parts: the parts are reserved without a job; leave out what stands behind the two dashes");
    ensure!(
        !arguments.job.for_sbatch().iter().any(|option| option.starts_with("--nodes")),
        "--nodes: --parts says how many nodes there are on each cluster; leave it out"
    );
    PartArgument::check(&arguments.parts)
}

/// Tries one start after the other, until the parts stand or it can't be known.
fn try_each(report: &mut Report, clusters: &Clusters, probed: &crate::grid::Probed, starts: &[i64]) {
    for start in starts.iter().take(MOST_TRIES) {
        let mut attempt = Attempt::new(clusters, probed, *start);
        let ended = attempt.run();
        report.together = Some(attempt.token().clone());
        match ended {
            Ended::Kept(parts) => return report.take(parts),
            Ended::NotKnown { cluster, why, parts } => {
                report.take(parts);
                report.state = None;
                report.not_known = Some(format!("{cluster}: {why}"));
                return;
            }
            Ended::Lost { cluster, why, is_silent } => {
                report.tried.push(Tried { start: *start, cluster, why });
                if is_silent {
                    break;
                }
            }
        }
    }
    let last = report.tried.last().map(|last| format!("{}: {}", last.cluster, last.why)).unwrap_or_default();
    let tried = report.tried.len();
    report.together = None;
    report.refuse(format!("the parts are not to be had together at any of {tried} starts that were tried, the last: {last}"));
}

impl Report {
    fn refuse(&mut self, reason: String) {
        self.state = Some(SlotState::Refused);
        self.refused = Some(SlotRefused { reason, nearest: None });
    }

    fn take(&mut self, parts: Vec<PartReport>) {
        self.state = parts.first().map(|part| part.state);
        self.start = parts.first().and_then(|part| part.start);
        self.end = parts.iter().map(|part| part.end).min().flatten();
        self.nodes = Some(parts.iter().map(|part| part.nodes).sum());
        self.charged_node_s = parts.iter().map(|part| part.charged_node_s).sum();
        self.parts = parts;
    }

    fn exit_status(&self) -> u8 {
        if self.not_known.is_some() { NO_SNAPSHOT } else { u8::from(self.refused.is_some()) }
    }
}
