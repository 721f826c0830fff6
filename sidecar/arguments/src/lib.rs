//! The command line of `queuecastd`.
//!
//! It is a crate of its own so that the manual pages of both programs are made by `queuecast`,
//! which does without the daemon.

use clap::Parser;

/// Reads a cluster's job records and queue, and publishes the snapshot that submissions are decided
/// from.
#[derive(Debug, Parser)]
#[command(name = "queuecastd", version, max_term_width = 110, after_long_help = AFTER_HELP)]
pub struct Arguments {
    /// Publish one snapshot and end
    ///
    /// All of the history is read first. Nothing is published unless both slurmdbd and slurmctld
    /// have answered.
    #[arg(long)]
    pub once: bool,

    /// Say whether the configuration file and the site's own rules are good, and end
    ///
    /// Nothing is started. The exit status is 0 if they are good, and 1 if the file is missing, or
    /// one of them has an error, which is told with its line.
    #[arg(long, conflicts_with = "once")]
    pub check: bool,
}

const AFTER_HELP: &str = "\
Configuration:
  queuecast.toml, which $QUEUECAST_CONF names; else the one beside the slurm.conf that $SLURM_CONF names; else
  /etc/slurm/queuecast.toml. Without a file the defaults are in force.

Files, in the state directory (state_directory of queuecast.toml, /var/spool/queuecast by default):
  snapshot   what submissions are decided from; replaced at every interval, never changed
  rules      the site's own rules, compiled; replaced when their files have changed and are free of errors
  lock       held by the running daemon, so that there is only one

Signals:
  SIGHUP     reads the configuration and the site's own rules again; what is broken stays as it was last good
  SIGUSR1    publishes now
  SIGTERM    ends, after a publication that is under way

Exit status:
  0  ended as told
  1  could not do it: another daemon is running, the state directory is not safe, Slurm did not answer (--once)
  2  wrong usage, or a configuration that cannot be used

Metrics:
  Prometheus finds them at http://127.0.0.1:9487/metrics unless [metrics] of queuecast.toml says otherwise.

Examples:
  queuecastd --check && systemctl reload queuecastd
  QUEUECAST_CONF=/tmp/try.toml queuecastd --once";
