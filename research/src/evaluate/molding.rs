//! `queuecast evaluate molding`: what molding does to response times (Hariharan et al. 2020, table
//! VIII and figures 6 and 7).

use std::num::NonZeroUsize;

use clap::{Args, ValueEnum};
use command_parts::failure::Failure;
use simulator::experiment::{Method, RequestedFeatures};

use super::policies::{NamedMethod, PolicyArguments, Question};

/// Replay a log with molding in front of the scheduler and without, and show what it does to
/// response times.
///
/// The log is replayed under EASY backfilling, or under what --scheduler says. Jobs before --from
/// are the history, from there to --to each may get another size when it is submitted; no job
/// follows. Figures are over the jobs that may be changed. What a job runs at another size is in no
/// log, so that there are two protocols: by the one of Hariharan et al. a job gets one of its
/// user's own run times at that size, which makes it another job; by the work-conserving one it
/// does the same computation, along a speed-up curve. Only the second says what molding would do to
/// a site.
///
/// Exit status: 0 if there is an answer; 2 for wrong usage, or a log that can't be read or lacks
/// what is asked for.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    policy: PolicyArguments,

    /// The last job that may be changed; the log's last where that has fewer.
    #[arg(long, value_name = "N", default_value = "30000")]
    to: NonZeroUsize,

    /// Which policies to put in front, separated by commas.
    #[arg(long = "policy", value_enum, value_name = "POLICY", value_delimiter = ',', default_value = "best")]
    policies: Vec<Policy>,
}

/// Ways to mold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Policy {
    /// That of Hariharan et al. 2020: the user's own past sizes, compared by the gain of their
    /// response-time ranges.
    Paper,
    /// The policy that the plugin ships with.
    Best,
}

const EXAMPLES: &str = "\
Examples:
  queuecast evaluate molding SDSC-SP2-1998-4.2-cln.swf.gz
      the published part of the log, jobs 10,001 to 30,000, by both protocols
  queuecast evaluate molding SDSC-SP2-1998-4.2-cln.swf.gz --policy paper,best
      the policy of Hariharan et al. beside the default
  queuecast evaluate molding LOG --protocol work-conserving --adoption 0.1
      if one job in ten uses it
  queuecast evaluate molding LOG --protocol work-conserving --adoption 0.5 --scheduler slurm
      if half of the jobs use it, under Slurm's schedulers with their defaults
  queuecast evaluate molding LOG --protocol work-conserving --refresh 5m --without claims
      if all decide from a state of up to five minutes ago, whatever was decided since
  queuecast evaluate molding LOG --protocol work-conserving --min-gain-time 0s
      if five per cent are gain enough, however short that is
  queuecast evaluate molding LOG --protocol paper --format json | jq '.ours.mean_response_s'

Keys of --format json (one object for one LOG, one protocol and one policy; for more {\"logs\": [...]}):
  log, file, jobs, processors
                     the log; jobs are those that ran
  remarks            what was left out of the log, or taken as not known: list of records (how many; null
                     where it is about the log as a whole) and what
  from, to           which jobs may be changed
  protocol, policy, speedup, adoption, scheduler, refresh_s, without, first_runs,
  min_gain, min_gain_time_s, policy_others (--others), jitter_s
                     how; speedup is null for their protocol
  baseline, ours     without and with the policy: mean_wait_s, mean_run_s, mean_response_s,
                     p95_response_s, slowest_tenth_response_s (mean of the tenth of the jobs with the
                     longest), worst_tenth_slowdown (mean response over run time of the tenth with
                     the highest), utilisation (from the first of these jobs' submissions to their last end)
  changed            how many jobs: smaller, larger, deferred, and cut_by_limit: ended by their
                     time limit at another size before they were done
  unmolded_jobs, unmolded_baseline_response_s, unmolded_response_s
                     the jobs that may be changed and were not: how many, and their mean response
  adopters, others   the jobs of those who use it and of those who don't: jobs, baseline_response_s,
                     response_s, baseline_p95_response_s, p95_response_s
  by_work            list of at_least_processor_hours, jobs, baseline_response_s, response_s (figure 7)
  agreement          null with --others ignore; of the jobs that would be done sooner on half of their
                     processors: changes (how many), agreed (how many the price of the machine's
                     time and a whole plan of the queue both allow or both forbid, by sum and by
                     not worse), allowed (by whole plans), allowed_by_price
  published          baseline and ours: mean_wait_s, mean_run_s, mean_response_s; source, remark;
                     null for a log that Hariharan et al. do not have";

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let named = |policy: &Policy| match policy {
        Policy::Paper => NamedMethod { name: "paper", method: Method::PaperMolding },
        Policy::Best => NamedMethod { name: "best", method: Method::Default(RequestedFeatures::default()) },
    };
    arguments.policy.answer(&Question {
        policies: arguments.policies.iter().map(named).collect(),
        to: arguments.to,
        published: |published| published.molding,
        source: "Hariharan et al. 2020, VI.C, table VIII (jobs 10,001 to 30,000)",
    })
}
