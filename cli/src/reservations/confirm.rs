//! `queuecast reservations confirm`: keeps a part of several clusters together with the others.

use std::process::ExitCode;

use clap::Args;
use command_parts::failure::Failure;
use daemon_api::{CONFIRM, Confirm, FirmSlot};

use super::numbered::SlotArguments;

/// Keep a part of several clusters, all of which stand.
///
/// queuecast reserve --parts does this by itself, first on the cluster that decides: with that all
/// parts are kept. A part that is not confirmed within two minutes is given back there, and asked
/// about on the other clusters.
///
/// Exit status: 0 if it is kept; 1 if there is no such slot of yours, or it is too late; 2 for
/// wrong usage; 3 where queuecastd does not answer.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    pub(super) slot: SlotArguments,
}

const EXAMPLES: &str = "\
Examples:
  queuecast reservations confirm 7
      keeps the firm slot with the number 7

Keys of --json: those of the slot as it is now, as in queuecast reservations";

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    arguments.slot.ask(CONFIRM, &Confirm { id: arguments.slot.id }, text)
}

/// The report for people.
fn text(slot: &FirmSlot) -> String {
    format!("firm slot {}: {}, confirmed\n", slot.id, slot.state)
}
