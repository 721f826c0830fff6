//! `queuecast reservations decision`: what was decided here about parts of several clusters.

use std::process::ExitCode;

use clap::Args;
use command_parts::failure::Failure;
use command_parts::output;
use daemon_api::{DECISION, Decided, Question};
use job_types::together::{Decision, Token};

use crate::api;
use crate::installation::{Installation, ReportArguments};

/// Say what was decided on this cluster about parts of several clusters.
///
/// The queuecastd of another cluster asks this, by the command of [clusters.NAME] in its
/// queuecast.toml, about a part that was not confirmed there within two minutes.
///
/// Exit status: 0 with an answer; 2 for wrong usage; 3 where queuecastd does not answer.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// What the parts are known by: together in the list of queuecast reservations --json.
    token: Token,

    #[command(flatten)]
    report: ReportArguments,
}

const EXAMPLES: &str = "\
Examples:
  queuecast reservations decision c0ffee00c0ffee00c0ffee00c0ffee00 --json
      open, confirmed or given_up

Keys of --json:
  decision      open (they may still be confirmed), confirmed (all are kept), given_up (all are
                given back, which is said as well of parts that are not known here)";

impl Arguments {
    /// The installation whose daemon is asked.
    pub(super) fn installation(&self) -> Installation {
        self.report.installation()
    }
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let reach = arguments.report.installation().reach();
    let question = Question { token: arguments.token.clone() };
    let decided: Decided = api::post(&reach, DECISION, &question).map_err(|error| Failure::Input(error.into()))?;
    output::tell(arguments.report.format, &decided, text)?.print()?;
    Ok(ExitCode::SUCCESS)
}

fn text(decided: &Decided) -> String {
    let said = match decided.decision {
        Decision::Open => "nothing is decided yet",
        Decision::Confirmed => "all parts are kept",
        Decision::GivenUp => "all parts are given back",
    };
    format!("{said}\n")
}
