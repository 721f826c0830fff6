//! Whether the time limit of a job with a reservation is one that partition, quality of service and
//! account allow now.
//!
//! slurmctld marks a time limit that the daemon writes as an administrator's (`limit_set.time` in
//! src/slurmctld/job_mgr.c), and holds the job to no limit on time from then on, also where its
//! user moves it to another partition, quality of service or account afterwards. So the daemon
//! holds it to them.

use super::queued_job::QueuedJob;
use job_types::options::{EarlyStart, Mode};
use job_types::promise::Promise;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::site::Site;
use predictor_core::decisions::{LONGEST_AHEAD, Limit, governing};

/// What is to become of a time limit that is not allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Excess {
    /// The padding alone is too long: the job begins later, so that it needs less of it.
    Padding {
        /// When the job becomes eligible.
        begin: UnixTime,
        /// The time limit, in whole minutes.
        limit: Seconds,
    },
    /// The limit is cut back to what is allowed.
    Beyond {
        /// The time limit, in whole minutes.
        limit: Seconds,
        /// Whether that is less than the user's own, so that the promise ends with it.
        ends: bool,
    },
    /// slurmctld itself holds the job to its limits, as nobody but the filter has written the time
    /// limit. It is left alone: another one would be marked as an administrator's.
    HeldBySlurm,
}

/// What is to become of a job's time limit; `None` where it is allowed.
///
/// A job that has started is as it was when slurmctld or the daemon looked at its limits, unless
/// its record was written for another partition, quality of service or account.
pub(super) fn excess(job: &QueuedJob, site: &impl Site, now: UnixTime) -> Option<Excess> {
    let limit = job.limit?;
    let (partition, _) = governing(job.partition.as_deref(), site)?;
    let is_the_daemons = job.limit_is_the_daemons(limit);
    // Any other limit is its user's, whom slurmctld holds to what is allowed, or an
    // administrator's, who may allow more.
    let is_as_written = job.record.mode == Mode::Enforce && job.record.last_limit() == Some(limit);
    if !is_the_daemons && !is_as_written {
        return None;
    }
    if job.started.is_some() {
        let is_as_looked_at = job.record.affiliation.as_ref().is_some_and(|affiliation| affiliation.holds_for(&job.affiliation()));
        if is_as_looked_at || !is_the_daemons {
            return None;
        }
    }
    let promise = Promise::given(&job.record)?.reservation()?;
    let own_limit = promise.own_limit?.rounded_up_to_minutes();
    // Of a partition that is not known yet the next look tells.
    let longest = job.longest_limit(limit, &partition, site).filter(|longest| longest.by != Limit::UnknownPartition)?;
    // Nobody holds a job to limits of accounting that are not enforced: its user's own limit stays.
    let is_enforced = job.accounting_is_enforced || longest.by == Limit::PartitionMaxTime;
    let allowed = Seconds(longest.value.0.div_euclid(60) * 60).max(Seconds::MINUTE);
    let allowed = if is_enforced { allowed } else { allowed.max(own_limit) };
    if limit <= allowed {
        return None;
    }
    if own_limit > allowed {
        return Some(if is_the_daemons { Excess::Beyond { limit: allowed, ends: true } } else { Excess::HeldBySlurm });
    }
    // With less padding a job that waits on its nodes has to begin later.
    let waits_on_nodes = job.record.end_of_promise().is_none() && promise.early_start() == EarlyStart::Wait;
    let reserved = waits_on_nodes.then_some(promise.at);
    let begin = reserved.map(|at| at + own_limit - allowed).filter(|begin| {
        let is_deferrable = job.started.is_none() && !job.is_requeued() && !job.is_blocked;
        let is_possible = *begin > now && *begin - now <= LONGEST_AHEAD;
        is_deferrable && is_possible && job.eligible.is_some_and(|eligible| eligible < *begin)
    });
    Some(match begin {
        Some(begin) => Excess::Padding { begin, limit: allowed },
        None => Excess::Beyond { limit: allowed, ends: false },
    })
}
