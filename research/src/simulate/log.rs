//! The log to replay.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::ensure;
use clap::{Args, ValueEnum};
use command_parts::log_file::{LogFileOptions, read_workload};
use simulator::remarks::Remarks;
use simulator::workload::{BadRecords, Overruns, Rules, UnknownRequests, Workload};

/// Which log, and by which rules its records become jobs.
#[derive(Debug, Args)]
pub(super) struct LogArguments {
    /// The log, in the Standard Workload Format or as sacct printed it, plain or packed with gzip,
    /// xz or zstd; `-` is standard input.
    #[arg(value_name = "LOG")]
    path: PathBuf,

    #[command(flatten)]
    log_file: LogFileOptions,

    /// The first job to replay, counted from 1 in order of submission.
    #[arg(long, value_name = "N", default_value = "1")]
    from: NonZeroUsize,

    /// The last job to replay [default: the last of the log].
    #[arg(long, value_name = "N")]
    to: Option<NonZeroUsize>,

    /// What becomes of records without a run time, processors or a submission.
    #[arg(long, value_enum, default_value_t)]
    bad_records: BadRecordsRule,

    /// What becomes of jobs that ran longer than was asked for.
    #[arg(long, value_enum, default_value_t)]
    overruns: OverrunsRule,

    /// What becomes of jobs whose user did not say how long they run.
    #[arg(long, value_enum, default_value_t)]
    unknown_requests: UnknownRequestsRule,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum BadRecordsRule {
    /// They become jobs of one second.
    #[default]
    OneSecond,
    /// Bad records are left out.
    LeaveOut,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum OverrunsRule {
    /// They run as long as was asked for.
    #[default]
    Cut,
    /// They run as long as they did, and asked for as much.
    Raise,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum UnknownRequestsRule {
    /// They run one second, but in a log where nobody said it.
    #[default]
    OneSecondAmongOthers,
    /// They run as long as they did, and asked for as much.
    AsRun,
}

impl LogArguments {
    /// The log as the user called it.
    pub(super) fn source(&self) -> String {
        self.path.display().to_string()
    }

    /// Reads the log's jobs, and says what was left out of it or taken as not known. Where a policy
    /// decides about them, the estimate of a job that is cut is what was asked for.
    ///
    /// # Errors
    ///
    /// A log that can't be read or used; the file is named.
    pub(super) fn read(&self, is_policy: bool) -> anyhow::Result<(Workload, Remarks)> {
        let rules = Rules {
            bad_records: match self.bad_records {
                BadRecordsRule::OneSecond => BadRecords::OneSecond,
                BadRecordsRule::LeaveOut => BadRecords::LeaveOut,
            },
            overruns: match self.overruns {
                OverrunsRule::Cut if is_policy => Overruns::CutBoth,
                OverrunsRule::Cut => Overruns::CutRunTime,
                OverrunsRule::Raise => Overruns::RaiseEstimate,
            },
            unknown_requests: match self.unknown_requests {
                UnknownRequestsRule::OneSecondAmongOthers => UnknownRequests::OneSecondAmongOthers,
                UnknownRequestsRule::AsRun => UnknownRequests::AsRun,
            },
        };
        let source = self.source();
        let (mut workload, remarks) = read_workload(&self.path, &self.log_file, &rules)?;
        let (from, to) = (self.from.get(), self.to.map_or(usize::MAX, NonZeroUsize::get));
        let jobs = workload.jobs.len();
        ensure!(from <= to, "--from {from} lies behind --to {to}");
        ensure!(from <= jobs, "{source}: --from asks for job {from}, and there are {jobs}; choose a smaller --from");
        workload.jobs.truncate(to);
        workload.jobs.drain(..from - 1);
        Ok((workload, remarks))
    }
}
