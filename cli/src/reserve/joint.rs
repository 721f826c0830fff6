//! `queuecast reserve --clusters`: the same nodes on several clusters, of which one is enough.
//!
//! What is to be had on each cluster is decided from its own snapshot, as its submit filter would,
//! for each probability that can be asked for. Of these the cheapest set is taken of which at least
//! one is kept with the probability that is wanted. The probability of a reservation counts as the
//! one that is asked for, because that is what the daemon holds it to afterwards.

mod set;
mod submission;
mod text;

use std::process::ExitCode;

use anyhow::{anyhow, bail};
use command_parts::failure::Failure;
use command_parts::output;
use forecast_report::{CostReport, FilterReport, JobReport, notes, situation};
use job_types::options::{Mode, SuccessProbability, UserOptions};
use job_types::time::UnixTime;
use predictor_core::decisions::JointReservation;
use serde::Serialize;

use self::set::Choice;
use self::submission::Submitted;
use super::offer::Given;
use super::{Arguments, is_left, not_done, options};
use crate::cluster::ClusterArgument;
use crate::described::given::{passed_over, remarks};
use crate::described::job::Job;
use crate::installation::Installation;

/// What is to be known of every joint probability.
const INDEPENDENCE: &str = "the joint probability is that of clusters whose waits do not depend on each other; where the same users go to \
                            several of them, all are full at the same times, and it is less";

/// The whole report.
#[derive(Debug, Serialize)]
struct Report {
    asked: SuccessProbability,
    at: UnixTime,
    given: bool,
    /// The probability that at least one reservation of the set is kept: of the chosen set, or else
    /// of the best one there is.
    probability: f64,
    #[serde(flatten)]
    cost: CostReport,
    refused: Option<String>,
    clusters: Vec<ClusterReport>,
    /// Whether the set stands in the queues.
    submitted: bool,
    notes: Vec<String>,
    #[serde(skip)]
    now: UnixTime,
}

/// What is to be had on one cluster, and what was chosen of it.
#[derive(Debug, Serialize)]
struct ClusterReport {
    cluster: String,
    generation: u64,
    snapshot_age_s: i64,
    job: Option<JobReport>,
    mode: Option<Mode>,
    /// The highest probability that can be asked for.
    best: Option<f64>,
    /// Why nothing is to be had.
    refused: Option<String>,
    chosen: Option<Chosen>,
    submission: Option<Submitted>,
    notes: Vec<String>,
    #[serde(skip)]
    choices: Vec<Choice>,
}

/// The member of the set on one cluster.
#[derive(Debug, Serialize)]
struct Chosen {
    /// The probability to ask for.
    ask: f64,
    #[serde(flatten)]
    reservation: Given,
    /// The options for sbatch.
    options: String,
}

/// Runs the command; `not_read` is what there is to be said of standard input.
pub(super) fn run(
    arguments: &Arguments,
    asked: &UserOptions,
    job: &Job,
    not_read: Option<&str>,
    now: UnixTime,
) -> Result<ExitCode, Failure> {
    check(arguments).map_err(Failure::Input)?;
    let mut wanted = arguments.probability;
    let mut clusters = Vec::new();
    for cluster in &arguments.clusters {
        clusters.push(look_at(cluster, arguments, job, now, &mut wanted)?);
    }
    let asked_for = wanted.ok_or_else(|| Failure::No(anyhow!("none of the clusters has the partition: {}", reasons(&clusters))))?;
    let found = set::cheapest(&clusters, asked_for);
    let given = found.is_ok();
    let (Ok(set) | Err(set)) = &found;
    choose(&mut clusters, set, asked);
    let sum = |cost: fn(&Given) -> f64| clusters.iter().filter_map(|cluster| Some(cost(&cluster.chosen.as_ref()?.reservation))).sum();
    let mut report = Report {
        asked: asked_for,
        at: UnixTime(asked.reserve_at.unwrap_or_default()),
        given,
        probability: set.probability,
        cost: CostReport {
            most_node_hours: sum(|given| given.cost.most_node_hours),
            expected_node_hours: sum(|given| given.cost.expected_node_hours),
        },
        refused: (!given).then(|| format!("one of them would be kept with probability {:.3} at best", set.probability)),
        clusters,
        submitted: false,
        notes: [INDEPENDENCE.to_owned()]
            .into_iter()
            .chain(remarks(job))
            .chain(passed_over(job))
            .chain(not_read.map(str::to_owned))
            .collect(),
        now,
    };
    if given && !arguments.sbatch.is_empty() {
        submission::submit(&mut report, arguments).map_err(Failure::Input)?;
    }
    output::tell(arguments.format, &report, text::text)?.print()?;
    let is_done = report.given && (report.submitted || arguments.sbatch.is_empty());
    Ok(ExitCode::from(u8::from(!is_done)))
}

fn check(arguments: &Arguments) -> anyhow::Result<()> {
    ClusterArgument::check(&arguments.clusters)?;
    if !arguments.sbatch.is_empty() && arguments.job.is_of_another_user() {
        bail!("--user: jobs are submitted as yours; leave it out");
    }
    Ok(())
}

/// Finds where a cluster's snapshot is.
fn installation_of(cluster: &ClusterArgument, arguments: &Arguments) -> Result<Installation, Failure> {
    let installation = arguments.installation.find();
    let configured = || installation.clusters.get(&cluster.name)?.state_directory.clone();
    let named = cluster.directory.clone().or_else(configured);
    let is_named = named.is_some();
    let installation = match named {
        Some(directory) => installation.with_directory(directory),
        None => installation,
    };
    let found = installation.snapshot().ok().map(|snapshot| snapshot.provenance().cluster.to_owned());
    match found {
        Some(found) if found != cluster.name && is_named => Err(Failure::Input(anyhow!(
            "--clusters: the snapshot in {} is of cluster {found}, not {}",
            installation.directory.display(),
            cluster.name
        ))),
        Some(found) if found != cluster.name => Err(Failure::Input(anyhow!(
            "--clusters: it is not known where the state directory of {} is, and {} is that of {found}; write {}=DIR, or set it under [clusters] \
             of queuecast.toml",
            cluster.name,
            installation.directory.display(),
            cluster.name
        ))),
        _ => Ok(installation),
    }
}

/// What is to be had on a cluster. Where no probability was asked for, the first cluster's decides.
fn look_at(
    cluster: &ClusterArgument,
    arguments: &Arguments,
    job: &Job,
    now: UnixTime,
    wanted: &mut Option<SuccessProbability>,
) -> Result<ClusterReport, Failure> {
    let installation = installation_of(cluster, arguments)?;
    let snapshot = installation.needed_snapshot()?;
    let submission = job.submission();
    let mut report = ClusterReport {
        cluster: cluster.name.clone(),
        generation: snapshot.generation(),
        snapshot_age_s: snapshot.age(now).0,
        job: None,
        mode: None,
        best: None,
        refused: None,
        chosen: None,
        submission: None,
        notes: installation.privacy_note().into_iter().collect(),
        choices: Vec::new(),
    };
    let situation = match situation(&snapshot, &submission, now) {
        Ok(situation) => situation,
        Err(why) => return Ok(ClusterReport { refused: Some(why.to_string()), ..report }),
    };
    wanted.get_or_insert(SuccessProbability::AtLeast(situation.policy.success_probability));
    let filter = FilterReport::of(&situation, installation.kill_switch().as_deref());
    report.job = Some(JobReport::of(&situation, job.user_name.clone()));
    report.mode = Some(filter.mode);
    report.notes.extend(notes(&situation));
    if filter.mode < Mode::Enforce || is_left(&filter) {
        return Ok(ClusterReport { refused: not_done(&filter), ..report });
    }
    match set::choices(&situation) {
        Ok(choices) => (report.best, report.choices) = (choices.iter().map(|choice| choice.ask).reduce(f64::max), choices),
        Err(why) => report.refused = Some(why.to_string()),
    }
    Ok(report)
}

/// Notes on each cluster what was chosen there.
fn choose(clusters: &mut [ClusterReport], set: &JointReservation, asked: &UserOptions) {
    for (cluster, place) in clusters.iter_mut().zip(&set.chosen) {
        cluster.chosen = place.and_then(|place| cluster.choices.get(place)).map(|choice| Chosen {
            ask: choice.ask,
            reservation: choice.given,
            options: format!("-M {} {}", cluster.cluster, options(asked, Some(SuccessProbability::AtLeast(choice.ask)))),
        });
    }
}

/// Why there is nothing to be had, cluster by cluster.
fn reasons(clusters: &[ClusterReport]) -> String {
    let reason = |cluster: &ClusterReport| Some(format!("{}: {}", cluster.cluster, cluster.refused.as_deref()?));
    clusters.iter().filter_map(reason).collect::<Vec<_>>().join("; ")
}
