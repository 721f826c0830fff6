//! `queuecast evaluate`: forecasts and policies held against the past of a workload log, beside the
//! published figures.

mod deadlines;
mod deferral;
mod economy;
mod log;
pub mod methods;
mod molding;
mod picture;
mod placement;
mod policies;
mod published;
mod reservations;
mod run;
mod run_times;
#[cfg(test)]
mod sample;
mod tables;
mod waits;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use command_parts::failure::Failure;
use serde::Serialize;
use simulator::remarks::Remarks;

use self::log::EvaluatedLog;
use self::published::{PublishedFigures, PublishedReport};
use self::run::OfLogs;
pub use self::run::bar;
pub use self::tables::class_name;

/// Hold forecasts and policies against the past of a workload log, beside the published figures.
///
/// Waits and run times: each job is forecast in order of time, from what was known when it was
/// submitted: a wait is known once the job has started, a run time once it has ended. Molding,
/// deferral and reservations: the log is replayed under EASY backfilling, with a policy in front
/// and without. Deadlines: the last jobs of the log are replayed under the published methods of
/// admission. Placement: one job of ten asks for a reservation inside a window, and slots are
/// ranked by what they do to the others. Economy: jobs bid for their nodes, and who bids less is
/// suspended.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

const EXAMPLES: &str = "\
Examples:
  queuecast evaluate waits SDSC-SP2-1998-4.2-cln.swf.gz
  queuecast evaluate molding SDSC-SP2-1998-4.2-cln.swf.gz --protocol work-conserving";

#[derive(Debug, Subcommand)]
enum What {
    Waits(waits::Arguments),
    #[command(name = "runtimes")]
    RunTimes(run_times::Arguments),
    Molding(molding::Arguments),
    Deferral(deferral::Arguments),
    Reservations(reservations::Arguments),
    Deadlines(deadlines::Arguments),
    Placement(placement::Arguments),
    Economy(economy::Arguments),
}

/// Runs the command.
///
/// # Errors
///
/// A log that can't be read or lacks what is asked for, and a file that can't be written.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match &arguments.what {
        What::Waits(arguments) => waits::run(arguments)?,
        What::RunTimes(arguments) => run_times::run(arguments)?,
        What::Molding(arguments) => molding::run(arguments)?,
        What::Deferral(arguments) => deferral::run(arguments)?,
        What::Reservations(arguments) => reservations::run(arguments)?,
        What::Deadlines(arguments) => deadlines::run(arguments)?,
        What::Placement(arguments) => placement::run(arguments)?,
        What::Economy(arguments) => economy::run(arguments)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What was found on one log, and which log that is.
#[derive(Debug, Serialize)]
struct LogReport<R, F> {
    log: String,
    file: String,
    /// Jobs that ran.
    jobs: usize,
    processors: u32,
    published: Option<PublishedReport<F>>,
    /// What was left out of the log, or taken as not known.
    remarks: Remarks,
    #[serde(flatten)]
    found: R,
}

impl<R, F: PublishedFigures> From<(EvaluatedLog, R)> for LogReport<R, F> {
    fn from((log, found): (EvaluatedLog, R)) -> Self {
        Self {
            jobs: log.workload.jobs.len(),
            processors: log.workload.processors,
            published: log.published.map(PublishedReport::from),
            remarks: log.remarks,
            log: log.name,
            file: log.source,
            found,
        }
    }
}

impl<R, F> OfLogs for LogReport<R, F> {
    fn logs(&self) -> Vec<(&str, &Remarks)> {
        vec![(&self.file, &self.remarks)]
    }
}

/// The report on all logs. One log is an object of its own; several are a list under `logs`.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Reports<L> {
    One(Box<L>),
    Several { logs: Vec<L> },
}

impl<L> From<Vec<L>> for Reports<L> {
    fn from(mut logs: Vec<L>) -> Self {
        match logs.pop() {
            Some(log) if logs.is_empty() => Self::One(Box::new(log)),
            last => {
                logs.extend(last);
                Self::Several { logs }
            }
        }
    }
}

impl<L> Reports<L> {
    fn logs(&self) -> &[L] {
        match self {
            Self::One(log) => std::slice::from_ref(log),
            Self::Several { logs } => logs,
        }
    }

    /// The reports for people: `one` tells of one log, `several` of more.
    fn text(&self, one: impl FnOnce(&L) -> String, several: impl FnOnce(&[L]) -> String) -> String {
        match self {
            Self::One(log) => one(log),
            Self::Several { logs } => several(logs),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Reports;

    #[test]
    fn one_log_is_an_object_and_several_are_a_list() {
        let json = |logs: &[u8]| serde_json::to_string(&Reports::from(logs.to_vec())).unwrap();
        assert_eq!([json(&[1]), json(&[1, 2, 3])], ["1", r#"{"logs":[1,2,3]}"#]);
        assert_eq!(Reports::from(vec![1, 2, 3]).logs(), [1, 2, 3]);
        assert_eq!(Reports::from(vec![4]).logs(), [4]);
    }
}
