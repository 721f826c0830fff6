//! `queuecast status`: what the filter decides from, and what it did.

mod guard;
mod prices;
mod rules;
mod text;
mod wait_forecasts;

use forecast_report::ahead;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use command_parts::failure::Failure;
use command_parts::output::{self, Written};
use job_types::options::Mode;
use job_types::time::UnixTime;
use predictor_core::decisions::Timeliness;
use predictor_core::decisions::site::{Demand, Partition, Site};
use predictor_core::forecasts::forecast::QueueForecaster;
use predictor_core::forecasts::reliability::PartitionScore;
use predictor_core::snapshot::Snapshot;
use predictor_core::snapshot::layout::LAYOUT_VERSION;
use serde::Serialize;
use slurm_conf::ConfigurationError;
use upkeep::clocks_agree;

use self::guard::GuardReport;
use self::prices::Prices;
use self::rules::RulesReport;
use self::wait_forecasts::WaitForecasts;
use crate::exit_status::NO_SNAPSHOT;
use crate::installation::Installation;
use crate::policy_report::PolicyReport;
use crate::view::ViewArguments;

/// Show whether queuecast works: the snapshot, what is in it, the modes, what the guard holds back,
/// the site's own rules, and what the submit filter did.
///
/// Exit status: 0 if the submit filter can act on the snapshot; 1 if it can't, because the snapshot
/// is too old, the kill switch is on, or the mode is off everywhere; 2 for wrong usage; 3 without a
/// snapshot that can be read.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    view: ViewArguments,
}

const EXAMPLES: &str = "\
Examples:
  queuecast status
  queuecast status --iterate 10
      anew every ten seconds, until Ctrl-C
  queuecast status --json | jq .snapshot.age_s
  queuecast status > /dev/null || echo 'the submit filter leaves all jobs alone'
  touch /var/spool/queuecast/off
      the kill switch: from the next submission on the filter leaves every job alone, until
      the file is removed

Keys of --json (times in Unix seconds and *_s in seconds, each with a *_text beside it as Slurm
prints it; null where not known):
  acts, problem     whether the filter can act on the snapshot, and why not
  state_directory, kill_switch
  snapshot          state (usable, too_old, ahead, absent, not_sent, unreadable, untrusted,
                    damaged), path, error, layout_version, generation, length_bytes, published_at, age_s,
                    maximum_age_s, confidence, cluster, ended_jobs, first_end, last_end,
                    wait_classes, user_sizes, accounting_read_at, controller_read_at,
                    controller_ahead_s (how far slurmctld's clock was ahead of the daemon's),
                    clocks_agree (jobs are ended as late only where they do)
  configuration     path, error (of the file as it is), error_in_force (as the daemon found it),
                    loaded_at, changed_since
  policy            mode, mold, defer, reserve, early_start, if_missed,
                    success_probability, min_gain, min_gain_time_s, others,
                    defer_threshold, max_defer_s, admission, admission_without_forecast,
                    deadline_probability, molding_held_back, deferral_held_back (by the guard)
  partitions        for each: name, is_default, cpus, nodes, whole_nodes, max_time_s,
                    default_time_s, running_jobs, running_cpus, pending_jobs, pending_cpus,
                    wait_forecasts, shared_nodes (that take jobs, where admission is by
                    shares), prices, and the keys of policy
  wait_forecasts    of a partition, null where nothing was learnt: in_force (blended, the
                    default; qbets, by class of job; none), reason (calibrated: it is no worse than
                    qbets, and its bounds hold; larger_loss; not_calibrated; too_few_jobs;
                    not_trained), and how the default did: jobs_scored (the latest that were
                    forecast on arrival and have started), median_error_s, pinball_s (mean pinball
                    loss over the percentiles), coverage (by level 0.5, 0.75, 0.9, 0.95: the share
                    of them that waited at most as long as the bound at that level), reliability
                    (list of nominal level and observed share)
  prices            of a partition, null where they were not worked out ([policy] others): made_at,
                    and steps, a list of until_s (how far ahead it holds) and waited_s (by how many
                    seconds all others together wait longer for each CPU taken for a second)
  guard             the replays of the last weeks: act (observe, warn, off; null where error says
                    why it can't be read), error, verdict (in words), tried_at, failure (why that gave
                    no answer), against (list of partition, policy, held_back, since, why: the
                    policies that don't pay, or harm others)
  rules             the site's own rules: in_force (how many; null where they can't be read, and
                    error says why), kill_switch (whether rules-off is there), number (by which
                    they are told from others), since, by (queuecastd or queuecast filter load),
                    files, broken (whether the files can't be used, so that the rules before stay
                    in force), compiled_at (when the files were last read), errors, warnings,
                    counted (since, and rules: for each name, asked, matched, failed, refused,
                    warned, observed, steps, nanoseconds), data (what rules know of users and
                    jobs: written_at, users, jobs, left_out)
  counters, counters_error
                    what the filter counted, by name, or why that is not known
  rewritten_at_least
                    submissions that were molded, deferred or reserved; one that was molded
                    may have been deferred or reserved as well";

/// The whole report.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    acts: bool,
    problem: Option<String>,
    state_directory: PathBuf,
    kill_switch: bool,
    snapshot: SnapshotReport,
    configuration: ConfigurationReport,
    policy: Option<PolicyReport>,
    partitions: Vec<PartitionReport>,
    guard: GuardReport,
    rules: RulesReport,
    counters: Option<BTreeMap<&'static str, u64>>,
    counters_error: Option<String>,
    rewritten_at_least: Option<u64>,
    #[serde(skip)]
    now: UnixTime,
}

#[derive(Debug, Serialize)]
struct SnapshotReport {
    state: &'static str,
    path: PathBuf,
    error: Option<String>,
    #[serde(flatten)]
    content: Option<Content>,
}

/// What a readable snapshot says of itself.
#[derive(Debug, Serialize)]
struct Content {
    layout_version: u32,
    generation: u64,
    length_bytes: usize,
    published_at: i64,
    age_s: i64,
    maximum_age_s: i64,
    confidence: f64,
    cluster: String,
    ended_jobs: u64,
    first_end: Option<i64>,
    last_end: Option<i64>,
    wait_classes: usize,
    user_sizes: usize,
    accounting_read_at: Option<i64>,
    controller_read_at: Option<i64>,
    controller_ahead_s: i64,
    clocks_agree: bool,
}

#[derive(Debug, Serialize)]
struct ConfigurationReport {
    path: PathBuf,
    error: Option<String>,
    #[serde(skip)]
    is_missing: bool,
    error_in_force: Option<String>,
    loaded_at: Option<i64>,
    changed_since: bool,
}

#[derive(Debug, Serialize)]
struct PartitionReport {
    name: String,
    is_default: bool,
    cpus: u32,
    nodes: u32,
    whole_nodes: bool,
    max_time_s: Option<i64>,
    default_time_s: Option<i64>,
    running_jobs: u32,
    running_cpus: u64,
    pending_jobs: u32,
    pending_cpus: u64,
    wait_forecasts: Option<WaitForecasts>,
    /// Nodes that take jobs and whose CPUs jobs share, where jobs are admitted by shares.
    shared_nodes: usize,
    /// What a CPU costs those who wait, where that was worked out.
    prices: Option<Prices>,
    #[serde(flatten)]
    policy: PolicyReport,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    arguments.view.show(|| told(arguments))
}

/// The report as of now, and the exit status.
fn told(arguments: &Arguments) -> Result<(Written, ExitCode), Failure> {
    let installation = arguments.view.installation()?;
    let report = Report::of(&installation, output::now());
    let status = match report.snapshot.content {
        None => NO_SNAPSHOT,
        Some(_) => u8::from(!report.acts),
    };
    Ok((output::tell(arguments.view.format(), &report, text::text)?, ExitCode::from(status)))
}

impl Report {
    fn of(installation: &Installation, now: UnixTime) -> Self {
        let read = installation.snapshot();
        let snapshot = read.as_ref().ok();
        let state = match &read {
            Err(none) => none.word(),
            Ok(snapshot) => match snapshot.timeliness(now) {
                Timeliness::Current => "usable",
                Timeliness::TooOld => "too_old",
                Timeliness::Ahead => "ahead",
            },
        };
        let kill_switch = installation.kill_switch();
        let problem = match (&read, &kill_switch) {
            (_, Some(off)) => Some(format!("switched off by {}; remove the file to switch on again", off.display())),
            (Err(none), None) => Some(none.to_string()),
            (Ok(snapshot), None) => problem_of(snapshot, now),
        };
        let (counters, counters_error) = counters(installation);
        let rewritten_at_least = counters.as_ref().map(|counters| {
            let counted = |name| counters.get(name).copied().unwrap_or(0);
            // A submission is deferred or reserved but not both, and molded beside either or alone.
            counted("molded").max(counted("deferred") + counted("reserved"))
        });
        Self {
            acts: problem.is_none(),
            problem,
            state_directory: installation.directory.clone(),
            kill_switch: kill_switch.is_some(),
            configuration: ConfigurationReport::of(installation, snapshot),
            policy: snapshot.map(|snapshot| (&snapshot.provenance().site_policy).into()),
            partitions: snapshot.map_or_else(Vec::new, partitions),
            snapshot: SnapshotReport {
                state,
                path: installation.snapshot_path(),
                error: read.as_ref().err().map(ToString::to_string),
                content: snapshot.map(|snapshot| Content::of(snapshot, now)),
            },
            guard: GuardReport::of(installation),
            rules: RulesReport::of(installation),
            counters,
            counters_error,
            rewritten_at_least,
            now,
        }
    }
}

/// Why the filter does not act on a snapshot that can be read.
fn problem_of(snapshot: &Snapshot<Vec<u8>>, now: UnixTime) -> Option<String> {
    let provenance = snapshot.provenance();
    match snapshot.timeliness(now) {
        Timeliness::Current => {}
        Timeliness::TooOld => {
            return Some(format!(
                "the snapshot is {} old and counts for {} only: is queuecastd running? see `systemctl status queuecastd`",
                snapshot.age(now),
                provenance.maximum_age
            ));
        }
        Timeliness::Ahead => return Some(ahead(snapshot, now)),
    }
    let off = provenance.site_policy.mode == Mode::Off && snapshot.partitions().all(|partition| partition.policy.mode == Mode::Off);
    off.then(|| "the mode is off everywhere; set `mode` in queuecast.toml and reload queuecastd".to_owned())
}

impl Content {
    fn of(snapshot: &Snapshot<Vec<u8>>, now: UnixTime) -> Self {
        let provenance = snapshot.provenance();
        let (first_end, last_end) = provenance.ends.unzip();
        let seconds = |moment: Option<UnixTime>| moment.map(|moment| moment.0);
        Self {
            layout_version: LAYOUT_VERSION,
            generation: snapshot.generation(),
            length_bytes: snapshot.length(),
            published_at: snapshot.published_at().0,
            age_s: snapshot.age(now).0,
            maximum_age_s: provenance.maximum_age.0,
            confidence: (provenance.confidence * 1e6).round() / 1e6,
            cluster: provenance.cluster.to_owned(),
            ended_jobs: provenance.ended_jobs,
            first_end: seconds(first_end),
            last_end: seconds(last_end),
            wait_classes: provenance.wait_classes,
            user_sizes: provenance.user_sizes,
            accounting_read_at: seconds(provenance.accounting_read_at),
            controller_read_at: seconds(provenance.controller_read_at),
            controller_ahead_s: provenance.controller_ahead.0,
            clocks_agree: clocks_agree(Some(provenance.controller_ahead)),
        }
    }
}

impl ConfigurationReport {
    fn of(installation: &Installation, snapshot: Option<&Snapshot<Vec<u8>>>) -> Self {
        let provenance = snapshot.map(Snapshot::provenance);
        let loaded_at = provenance.as_ref().map(|provenance| provenance.configuration_loaded_at).filter(|at| at.0 > 0);
        let written_at = installation.configuration_written_at;
        Self {
            path: installation.configuration_path.clone(),
            error: installation.configuration_error.as_ref().map(ToString::to_string),
            is_missing: matches!(installation.configuration_error, Some(ConfigurationError::Missing { .. })),
            error_in_force: provenance.map(|provenance| provenance.configuration_error.to_owned()).filter(|error| !error.is_empty()),
            loaded_at: loaded_at.map(|at| at.0),
            changed_since: loaded_at.zip(written_at).is_some_and(|(loaded, written)| written > loaded),
        }
    }
}

fn partitions(snapshot: &Snapshot<Vec<u8>>) -> Vec<PartitionReport> {
    let default = snapshot.default_partition().map(|partition| partition.index);
    let report = |partition: Partition<'_>| {
        let score = snapshot.score(partition.index);
        let prices = snapshot.prices(partition.index).map(Prices::from);
        PartitionReport::of(&partition, score.as_ref(), prices, default == Some(partition.index))
    };
    snapshot.partitions().map(report).collect()
}

impl PartitionReport {
    fn of(partition: &Partition<'_>, score: Option<&PartitionScore>, prices: Option<Prices>, is_default: bool) -> Self {
        let Demand { running_jobs, pending_jobs, running_cpus, pending_cpus } = partition.demand;
        Self {
            name: partition.name.to_owned(),
            is_default,
            cpus: partition.cpus,
            nodes: partition.nodes,
            whole_nodes: partition.whole_nodes,
            max_time_s: partition.max_time.map(|limit| limit.0),
            default_time_s: partition.default_time().map(|limit| limit.0),
            running_jobs,
            running_cpus,
            pending_jobs,
            pending_cpus,
            wait_forecasts: score.map(WaitForecasts::from),
            shared_nodes: partition.shared_nodes.len(),
            prices,
            policy: (&partition.policy).into(),
        }
    }
}

/// What the filter counted, or why that is not known.
fn counters(installation: &Installation) -> (Option<BTreeMap<&'static str, u64>>, Option<String>) {
    let path = installation.counters_path();
    match installation.counted() {
        Ok(Some(counted)) => (Some(counted.named().collect()), None),
        Ok(None) => {
            (None, Some(format!("{}: not the counters of this release; install plugin and command of one release", path.display())))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let hint = "the submit filter has counted nothing here; is JobSubmitPlugins=queuecast in slurm.conf?";
            (None, Some(format!("no {}: {hint}", path.display())))
        }
        Err(error) => (None, Some(format!("{}: {error}", path.display()))),
    }
}
