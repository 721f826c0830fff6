//! Published forecasts of run times.
//!
//! Each is a [`RunTimePredictor`](learning::run_times::RunTimePredictor): told in order of
//! time which jobs arrive, start and end, and asked about each job as it arrives.
//!
//! - [`RangeSets`]: the method of Hariharan et al. 2020 (section III), from the impact of load.
//! - [`Baseline`]: shortest to longest run time of the like jobs, and their mean.
//! - [`Smith`]: templates found by genetic search (Smith, Foster, Taylor, JPDC 64, 2004).
//! - [`Li`]: instance-based learning (Li, Groep, Wolters, Grid 2005).
//! - [`LastTwo`]: the mean of the user's last two (Tsafrir, Etsion, Feitelson, IEEE TPDS 18, 2007).
//! - [`Requested`]: what the user asked for.

mod baseline;
mod last_two;
mod li;
mod range_sets;
mod replay;
mod requested;
mod smith;

pub use baseline::Baseline;
pub use last_two::{LastTwo, LastTwoRunTimes};
pub use li::{Li, LiParameters};
pub use range_sets::RangeSets;
pub use requested::Requested;
pub use smith::{Smith, SmithEstimate, SmithTemplate};

#[cfg(test)]
mod tests {
    use job_types::job::WaitingJob;
    use job_types::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
    use job_types::size::Size;
    use job_types::time::{Seconds, UnixTime};
    use learning::run_times::ArrivingJob;

    /// A job of one CPU that arrives at 0.
    pub(super) fn job(id: u32, user: u32, limit_s: Option<i64>) -> ArrivingJob {
        let submitted = WaitingJob {
            user: UserId(user),
            account: AccountIndex(0),
            partition: PartitionIndex(0),
            qos: QosIndex(0),
            size: Size { nodes: 1, cpus: 1 },
            limit: limit_s.map(Seconds),
            eligible: UnixTime(0),
        };
        ArrivingJob { id, submitted, occupied_cpus: 1 }
    }
}
