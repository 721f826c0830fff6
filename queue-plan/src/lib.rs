//! When will each pending job start, given the cluster as it is now?
//!
//! [`plan()`] places the jobs that wait, in Slurm's order, each at the earliest time at which there
//! is room for as long as it is expected to run, and never moves one that has been placed:
//! conservative backfilling with run times as they are forecast. It is pure, and the same state
//! gives the same plan.
//!
//! **Order** (src/slurmctld/job_scheduler.c, `sort_job_queue2`): jobs that wait for a reservation,
//! then the partition's tier, then the priority as slurmctld tells it, then the job's number.
//! Priorities are assumed to keep this order, and no job is assumed to be submitted later.
//!
//! **Run times** come from the caller ([`RunTimes`]). What runs ends as jobs do that have run so
//! long, never before now and never beyond its limit. The same jobs are placed three times: with
//! the run times that three of four such jobs exceed, with the expected ones, and with time limits.
//! The starts of the first and the last bound those in the middle. They bound what follows from run
//! times alone: jobs that arrive later with a higher priority delay a job beyond its upper bound.
//!
//! **What is approximated.** CPUs are counted, by pool and partition: which nodes they are on is
//! known of running jobs, reservations and nodes that are down only, so that fragments over nodes
//! count as room. Memory, generic resources, licences, constraints, preemption, and limits of
//! accounts and qualities of service are not modelled; jobs that slurmctld says wait for such a
//! limit get no expected start and take no room. Slurm's own backfilling goes by time limits, and
//! with `bf_max_job_test`, `bf_window` and the like it looks less far; the plan takes it to find
//! every hole. Reservations that recur are known by their next occurrence.
//!
//! **Bounds on the work.** At most [`MOST_PLACED`] jobs and tasks of arrays are placed, of one
//! array at most [`MOST_TASKS`]; jobs behind them are [`PlanObstacle::TooFarBehind`].

mod correction;
mod floors;
mod grid;
mod places;
mod plan;
mod profile;
mod run_time;
mod schedule;
mod state;
#[cfg(test)]
mod tests;

pub use correction::{BEYOND, corrected_to};
pub use grid::{Grid, MOST_SIZES};
pub use plan::{MOST_PLACED, MOST_STEPS, MOST_TASKS, PartitionPlan, Pass, Plan, PlannedJob, plan};
pub use profile::Profile;
pub use run_time::{LONGEST, RunTimes};
pub use schedule::Assumption;
pub use state::{Node, Partition, PendingJob, Reservation, RunningJob, State};
