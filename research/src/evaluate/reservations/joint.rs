//! `queuecast evaluate reservations --joint`: two logs side by side.

mod clock;
mod text;

use std::num::NonZeroUsize;
use std::path::Path;

use command_parts::failure::Failure;
use serde::Serialize;
use simulator::experiment::{JointLog, JointOptions, JointOutcome, ReservationWish, VarqChoice, joint_reservations};
use simulator::remarks::Remarks;

use super::{Arguments, Follow};
use crate::evaluate::policies::{ReplayedJobs, ReplayedLog};
use crate::evaluate::run::{CellProgress, OfLogs, least_first_job};

/// The log that is laid beside another one.
#[derive(Debug, Serialize)]
struct Beside {
    log: String,
    file: String,
    jobs: usize,
    processors: u32,
    /// What was left out of the log, or taken as not known.
    remarks: Remarks,
}

/// What was found on two logs with one probability.
#[derive(Debug, Serialize)]
struct JointReport {
    #[serde(flatten)]
    replayed: ReplayedJobs,
    beside: Beside,
    weeks_later: i32,
    probability: f64,
    every_s: i64,
    refresh_s: i64,
    follow: Follow,
    node_processors: u32,
    #[serde(flatten)]
    found: JointOutcome,
}

impl OfLogs for JointReport {
    fn logs(&self) -> Vec<(&str, &Remarks)> {
        vec![self.replayed.read_log(), (&self.beside.file, &self.beside.remarks)]
    }
}

/// Two logs on one clock.
struct Pair<'a> {
    first: &'a ReplayedLog,
    /// The jobs of the first log on the common clock, and those of the second.
    jobs: clock::Aligned,
    second: &'a ReplayedLog,
}

/// Runs the command for each log beside this one.
pub(super) fn run(arguments: &Arguments, beside: &Path) -> Result<(), Failure> {
    let reports = reports(arguments, beside).map_err(Failure::Input)?;
    // A picture is not asked for.
    arguments.common.report(reports, |_, _| Ok(()), |reports| text::report(reports.logs()))
}

fn reports(arguments: &Arguments, beside: &Path) -> anyhow::Result<Vec<JointReport>> {
    let pool = arguments.common.threads(least_first_job(arguments.from), arguments.to.map(NonZeroUsize::get))?;
    let second = ReplayedLog::read(beside, &arguments.common.log_file)?;
    let logs = arguments.common.read_each(|path| ReplayedLog::read(path, &arguments.common.log_file))?;
    let jobs_of = |first: &ReplayedLog| {
        let from = arguments.first_job(first.workload.jobs.len());
        clock::Aligned::new(&first.workload, &second.workload, from, arguments.weeks_later)
    };
    let pairs: Vec<Pair<'_>> = logs.iter().map(|first| Pair { first, jobs: jobs_of(first), second: &second }).collect();
    let cells: Vec<(&Pair<'_>, f64)> =
        pairs.iter().flat_map(|pair| arguments.probability.iter().map(move |probability| (pair, *probability))).collect();
    ReplayedLog::replay_all(
        &pool,
        &cells,
        |cell| cell.0.first,
        |(pair, probability), progress| report(arguments, pair, *probability, progress),
    )
}

fn report(arguments: &Arguments, pair: &Pair<'_>, probability: f64, progress: &CellProgress) -> anyhow::Result<JointReport> {
    let Pair { first, jobs, second } = pair;
    let options = JointOptions {
        wish: ReservationWish { every: arguments.every, probability, names_probability: true, point: VarqChoice::Latest },
        node: arguments.node_processors.get(),
        from: arguments.first_job(first.workload.jobs.len()),
        to: arguments.to.map_or(usize::MAX, NonZeroUsize::get),
        refresh: arguments.refresh,
        reviewed: arguments.follow.reviewed(),
        seed: arguments.common.seed,
    };
    let logs = [
        JointLog { jobs: &jobs.first, processors: first.workload.processors },
        JointLog { jobs: &jobs.second, processors: second.workload.processors },
    ];
    Ok(JointReport {
        replayed: first.replayed(options.from, options.to),
        beside: Beside {
            log: second.name.clone(),
            file: second.source.clone(),
            jobs: second.workload.jobs.len(),
            processors: second.workload.processors,
            remarks: second.remarks.clone(),
        },
        weeks_later: arguments.weeks_later,
        probability,
        every_s: arguments.every.0,
        refresh_s: arguments.refresh.0,
        follow: arguments.follow,
        node_processors: options.node,
        found: joint_reservations(&logs, &options, &|done, all| progress.show(done, all))?,
    })
}
