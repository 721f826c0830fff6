//! `queuecast reservations cancel`: gives a firm slot back.

use std::process::ExitCode;

use clap::Args;
use command_parts::failure::Failure;
use daemon_api::{CANCEL, Cancel, FirmSlot};

use super::numbered::SlotArguments;

/// Give a firm slot back.
///
/// Its reservation is deleted at once, and a job that waits for it stays in the queue as any other.
/// You give back your own; operators of Slurm anyone's.
///
/// Exit status: 0 if it is given back; 1 if there is no such slot of yours; 2 for wrong usage; 3
/// where queuecastd does not answer.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    pub(super) slot: SlotArguments,
}

const EXAMPLES: &str = "\
Examples:
  queuecast reservations cancel 7
      gives back the slot with the number 7

Keys of --json (times in Unix seconds and *_s in seconds; null where not known):
  id, name, job_id, user, account, partition, nodes, limit_s, state, start, end, window, fixed_at,
  moved, refused
                of the slot as it is now, as in queuecast reservations";

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    arguments.slot.ask(CANCEL, &Cancel { id: arguments.slot.id }, text)
}

/// The report for people.
fn text(slot: &FirmSlot) -> String {
    let name = slot.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    format!("firm slot {}{name}: {}\n", slot.id, slot.state)
}
