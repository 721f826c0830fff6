//! `ci/bench-daemon`: `queuecastd` with a long history.

mod asking;
mod figures;
mod history;
mod learning;
mod queuecastd;
mod refreshes;
mod restart;
mod site;
mod size;
mod status;
mod table;
mod uptake;

use std::path::PathBuf;

use clap::Args;

use self::figures::Figures;
pub(crate) use self::queuecastd::most_resident_mib;
use self::restart::Restarted;
use self::site::PARTITIONS;
use self::size::SizeArguments;
use crate::failure::Outcome;
use crate::format::Format;
use crate::private_cluster::take_precedence;

/// The script that runs this benchmark.
pub(crate) const SCRIPT: &str = "ci/bench-daemon";

/// Measure queuecastd with a long history: how long it takes to its first snapshot, how much memory
/// it needs while it learns, how long a refresh takes, what a new snapshot costs slurmctld, and
/// what is answered while it is stopped and started again.
///
/// On a private cluster with four partitions, slurmdbd is filled with N jobs of 1,000 users that
/// ended within the last 340 days on 4,096 CPUs (a workload of the Lublin-Feitelson model that asks
/// for half of them, its times scaled). More than a million are as many copies of one million as it
/// takes, each an hour or so before the other: the same users and sizes, and no others. The jobs
/// that wait are tasks of arrays, of five users and of 1 to 64 nodes, each a record of its own in
/// slurmctld; slurmctld starts none of them. Sixteen nodes have a slurmd; the others are idle in
/// slurmctld's eyes and are not there. Then queuecastd is started with its default configuration,
/// save that it logs more and may read N jobs. The figures, by their keys in JSON:
///
/// first_snapshot_s: from its start to the first snapshot of all.
///
/// whole_history_s: from its start to the first snapshot that rests on all N jobs.
///
/// learnt_s: from its start to the first snapshot with forecasts learnt from them.
///
/// refresh_ms: 1,000 more jobs end within one minute: from the demand for a snapshot (SIGUSR1) to
/// the one with them in place. Of that, reading_ms is the question to slurmdbd, fitting_ms is
/// fitting the statistics, and writing_ms is writing the file with its way to the disk; the rest is
/// waiting for slurmctld, and for the threads of the daemon.
///
/// uptake_ms: what the first submission after a new snapshot takes in slurmctld longer than the
/// next one (the median, by sdiag): the plugin takes the snapshot up with it. Nothing is asked of
/// these submissions.
///
/// restart: `queuecast predict --reserve-at` is asked without a pause, in each partition, while
/// queuecastd is stopped, and started again until it has published three times. No answer may fall
/// back to classes or to nothing where it was from trees before.
///
/// resident_mib: the most memory that it ever had resident (VmHWM), over all of this.
///
/// As root everything runs before all ordinary processes (chrt --rr 1), so that what else the
/// machine does has little part in the figures; not so with --check. The cluster, and with it the
/// database, lies in TMPDIR, or else in /tmp; 10 million jobs take 8 GB there, and about as much
/// again while they are copied.
///
/// Exit status: 0 if every row measured what it says, the targets hold that the table shows, and no
/// answer fell back; 1 if not so, or something failed; 2 for wrong usage.
#[derive(Debug, Args)]
#[command(override_usage = "\
ci/bench-daemon [--jobs N] [--pending N] [--nodes N] [--keep DIRECTORY] [--format text|json]
       ci/bench-daemon --large [OPTION]...
       ci/bench-daemon --check")]
pub(crate) struct Arguments {
    #[command(flatten)]
    size: SizeArguments,

    /// Make the private cluster in DIRECTORY, where it stays, stopped. Where one is already, the
    /// ended jobs in its slurmdbd are taken as they are, and must be N; otherwise DIRECTORY has to
    /// be new or empty.
    #[arg(long, value_name = "DIRECTORY")]
    keep: Option<PathBuf>,

    /// How the figures are printed: as a table with the targets, or as one object with the keys
    /// above and more.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let check = arguments.size.check;
    if !check {
        take_precedence();
    }
    let figures = measure(arguments)?;
    if check {
        figures.check_all_are_there()?;
        eprintln!("{SCRIPT}: still measures what it says");
        return Ok(Vec::new());
    }
    match arguments.format {
        Format::Text => table::print(&figures),
        Format::Json => println!("{}", figures.json()?),
    }
    Ok(figures.missed_targets())
}

fn measure(arguments: &Arguments) -> anyhow::Result<Figures> {
    let size = arguments.size.size();
    let site = site::up(&size, arguments.keep.as_deref())?;
    let fill_s = site.provide_history(size.jobs)?;
    // slurmctld is restarted for that.
    site.cluster.reconfigure(&["--job-submit-plugin", "queuecast"]);
    site.submit_waiting_jobs(size.pending, size.nodes, &PARTITIONS)?;
    let mut daemon = site.start_queuecastd_anew(size)?;
    let learning = daemon.measure_learning()?;
    // From here on it publishes only on demand, so that no refresh of the interval comes between.
    daemon.reload("interval = \"1h\"\nmaximum_age = \"2h\"")?;
    let refreshes = daemon.measure_refreshes()?;
    let uptake = daemon.measure_uptake()?;
    daemon.reload("")?;
    let Restarted { daemon, resident_before_mib, restart } = daemon.measure_restart()?;
    let resident_mib = daemon.stop()?.max(resident_before_mib);
    let slurm = site.ask("slurmctld", &["-V"])?.trim().to_owned();
    Ok(Figures { size, learning, resident_mib, refreshes, uptake, restart, fill_s, slurm })
}
