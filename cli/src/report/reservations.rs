//! `queuecast report reservations`: whether virtual reservations were kept, and what they cost; and
//! what became of firm slots.

mod firm;
mod observed;
mod record;
mod tally;
mod text;

use std::process::ExitCode;

use clap::Args;
use command_parts::failure::Failure;
use command_parts::output::{self, FormatArguments};
use serde::Serialize;
use slurm_sys::client::AccountingConnection;
use slurm_sys::client::controller::{self, QueuedJob};
use slurm_sys::client::site;

use self::firm::{FirmReservations, FirmSlots, ReportedSlots};
use self::record::ReportedReservations;
use self::tally::Row;
use super::interval::CONFIDENCE;
use super::past::Past;
use super::records::RecordsArguments;
use super::reliability::{Caption, PictureArguments};
use crate::genuine::Genuine;
use crate::installation::Installation;
use crate::selection::Selection;

/// Show how often virtual reservations were kept, beside the probability that was promised, and
/// what they cost; and what became of firm slots.
///
/// Every job that was submitted with --reserve-at carries what it was promised in its
/// admin_comment, and slurmdbd keeps it. The jobs that have ended since and those in the queue
/// whose time has passed are counted by partition and by the probability that was promised:
/// promised and kept as table 2, cost as table 3 of Nurmi, Wolski and Brevik 2008, for this
/// cluster's own history. A reservation is kept if its job had its nodes at the reserved time, or
/// until its program came to its end before that. A job that was requeued counts once, by the run
/// that had the nodes then or waited for them. The interval is that of Clopper and Pearson with 95
/// % confidence, which holds at least as often as it says; reservations for the same time are not
/// independent, so that it is too narrow where many are. Jobs that were cancelled before their time
/// count for nobody.
///
/// Firm slots that jobs asked for with --reserve-window are counted by what their records said
/// last: jobs that have ended since then, and those in the queue. How long nodes stood idle for
/// firm slots is told by slurmdbd's records of reservations, of all slots that have begun, those
/// without jobs among them, and ended more than two hours ago: slurmdbd adds what was idle up once
/// an hour. It has no record of a slot that was given back before its begin, and of slots without
/// jobs nothing but that; those of the last week are in queuecast reservations --json. Nothing is
/// told of idle nodes where users, accounts or partitions are asked for.
///
/// Exit status: 0 if slurmdbd has answered, also where there were no reservations; 2 for wrong
/// usage; 4 where Slurm cannot be asked at all; 5 where slurmdbd does not answer.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    records: RecordsArguments,

    #[command(flatten)]
    picture: PictureArguments,

    #[command(flatten)]
    format: FormatArguments,
}

const EXAMPLES: &str = "\
Examples:
  queuecast report reservations
      of the last thirty days
  queuecast report reservations --since 2026-01-01 --plot kept.svg
      since then, with a picture
  queuecast report reservations --json | jq '.rows[] | select(.upper < .promised)'
      where promises were kept less often than chance explains

Keys of --json (times in Unix seconds, each with a *_text beside it as Slurm prints it; null where
not known):
  cluster, since, until
                what was looked at
  confidence    of the intervals
  withdrawn     reservations whose job was cancelled before the time
  rows, all     by partition, and of all partitions together: list of partition (null: all), from
                and to (the probabilities that are counted together, from excluded), reservations,
                promised (mean), kept, kept_part, lower and upper (interval of kept_part),
                required_node_hours (that the jobs ran), used_node_hours (that they had their
                nodes), cost_ratio (the second over the first)
  firm          of firm slots that jobs asked for: slots (all that were asked for where the mode
                makes some), kept (the job started in its slot, inside its window), early (before
                it needed the slot), returned, refused, lost, cancelled, open (not known yet), which
                are together the first; moved (of all: moved or replaced at least once); observed
                (asked for in a mode that makes none); would_reserve and would_refuse (of these: a
                slot was to be had, or none; null where queuecastd's file is not known)
  firm_reservations
                of reservations of firm slots that have ended, those without jobs among them; null
                where not known: reservations, unused (by nobody), node_hours, idle_node_hours (for
                which their nodes were not used)";

/// The whole report.
#[derive(Debug, Serialize)]
struct Report {
    cluster: String,
    since: i64,
    until: i64,
    confidence: f64,
    withdrawn: u64,
    rows: Vec<Row>,
    all: Vec<Row>,
    firm: FirmSlots,
    firm_reservations: Option<FirmReservations>,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let whose = arguments.records.selection()?;
    let report = report(arguments, &whose).map_err(Failure::Input)?;
    let caption = Caption {
        title: format!("{}: virtual reservations", report.cluster),
        observed: "part of the reservations that were kept",
        nothing: "there were no reservations",
    };
    arguments.picture.draw(caption, report.rows.iter().chain(&report.all).map(|row| &row.kept)).map_err(Failure::Input)?;
    output::tell(arguments.format, &report, text::text)?.print()?;
    Ok(ExitCode::SUCCESS)
}

fn report(arguments: &Arguments, whose: &Selection) -> anyhow::Result<Report> {
    arguments.picture.check_folder()?;
    let past = arguments.records.past.past()?;
    let cluster = site()?.cluster;
    let installation = Installation::configured();
    let genuine = Genuine::at(&installation);
    let mut found = ReportedReservations::default();
    let mut slots = ReportedSlots::default();
    let note = arguments.records.read(&cluster, past, whose, &genuine, |record, partition| {
        found.add_ended(record, partition);
        slots.add_ended(record);
    })?;
    if let Some(note) = note {
        output::warn(&note);
    }
    let now = past.until;
    match controller::jobs() {
        Ok(queued) => {
            let is_meant = |job: &&QueuedJob| {
                genuine.believes_queued(job) && whose.means_user(job.user_id) && whose.means_account(job.account.as_deref())
            };
            for job in queued.iter().filter(is_meant) {
                if let Some(partition) = arguments.records.past.wanted(job.partition.as_deref()) {
                    found.add_queued(job, partition, now);
                    slots.add_queued(job);
                }
            }
        }
        Err(error) => output::warn(&format!("{error}; nothing is known here of jobs in the queue")),
    }
    let (rows, all) = tally::rows(found.decided(now));
    let withdrawn = found.withdrawn(now);
    let is_of_all = whose.is_all() && arguments.records.past.means_all_partitions();
    let firm_reservations = if is_of_all { reserved(&cluster, past, &genuine) } else { None };
    let firm = slots.counted(observed::read(&installation).as_ref());
    Ok(Report { cluster, since: past.since.0, until: now.0, confidence: CONFIDENCE, withdrawn, rows, all, firm, firm_reservations })
}

/// What slurmdbd has of the reservations of firm slots; `None` where it does not say.
fn reserved(cluster: &str, past: Past, genuine: &Genuine) -> Option<FirmReservations> {
    let asked = AccountingConnection::open().and_then(|mut slurmdbd| slurmdbd.reservations(cluster, past.since.0..past.until.0 + 1));
    match asked {
        Ok(records) => Some(FirmReservations::counted(&records, past.since, past.until, |name| genuine.believes_reservation(name))),
        Err(error) => {
            output::warn(&format!("{error}; nothing is known here of idle nodes of firm slots"));
            None
        }
    }
}

impl Report {
    /// Whether there was no virtual reservation.
    fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}
