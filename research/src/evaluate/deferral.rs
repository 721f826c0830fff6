//! `queuecast evaluate deferral`: what delayed submissions do to response times (Hariharan et al.
//! 2020, table IX and figure 9).

use std::num::NonZeroUsize;

use clap::{Args, ValueEnum};
use command_parts::failure::Failure;
use simulator::experiment::{Counted, Hold, Method, RequestedFeatures};

use super::policies::{NamedMethod, PolicyArguments, Question};

/// Replay a log with delayed submissions in front of the scheduler and without, and show what they
/// do to response times.
///
/// As `queuecast evaluate molding`, with jobs that may also be held until running jobs are expected
/// to end.
///
/// Exit status: 0 if there is an answer; 2 for wrong usage, or a log that can't be read or lacks
/// what is asked for.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    policy: PolicyArguments,

    /// The last job that may be changed; the log's last where that has fewer.
    #[arg(long, value_name = "N", default_value = "16000")]
    to: NonZeroUsize,

    /// Which policies to put in front, separated by commas.
    #[arg(long = "policy", value_enum, value_name = "POLICY", value_delimiter = ',', default_value = "best")]
    policies: Vec<Policy>,
}

/// Ways to defer. All mold as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Policy {
    /// That of Hariharan et al. 2020: jobs behind a held one are held as long (the hold queue).
    Paper,
    /// The same, with responses that count from when a job is passed on, and not from its
    /// submission.
    PaperFromRelease,
    /// Hariharan et al.'s decision, with single jobs that are held by a begin time, as the plugin
    /// holds them.
    BeginTime,
    /// What the plugin does for jobs that ask for both.
    Best,
}

const EXAMPLES: &str = "\
Examples:
  queuecast evaluate deferral SDSC-SP2-1998-4.2-cln.swf.gz --policy paper,begin-time,best
      the published part of the log, jobs 10,001 to 16,000: the hold queue, begin times, and the default
  queuecast evaluate deferral LOG --protocol work-conserving --format json | jq '.ours.mean_response_s'

The keys of --format json are those of `queuecast evaluate molding`, with the published figures of table IX.";

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let named = |policy: &Policy| match policy {
        Policy::Paper => NamedMethod { name: "paper", method: Method::PaperDeferral(Hold::Queue, Counted::FromSubmission) },
        Policy::PaperFromRelease => {
            NamedMethod { name: "paper-from-release", method: Method::PaperDeferral(Hold::Queue, Counted::FromRelease) }
        }
        Policy::BeginTime => NamedMethod { name: "begin-time", method: Method::PaperDeferral(Hold::SingleJobs, Counted::FromSubmission) },
        Policy::Best => {
            NamedMethod { name: "best", method: Method::Default(RequestedFeatures { deferral: true, ..RequestedFeatures::default() }) }
        }
    };
    arguments.policy.answer(&Question {
        policies: arguments.policies.iter().map(named).collect(),
        to: arguments.to,
        published: |published| published.deferral,
        source: "Hariharan et al. 2020, VI.D, table IX (jobs 10,001 to 16,000)",
    })
}
