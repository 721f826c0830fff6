//! When will each pending job start, given the cluster as it is now?
//!
//! [`plan()`] places the jobs that wait, in Slurm's order, each at the earliest time at which there
//! is room for as long as it is expected to run, and never moves one that has been placed:
//! conservative backfilling with run times as they are forecast. It is pure, and the same state
//! gives the same plan.
//!
//! **Questions.** A plan is three [`Pass`]es, each under one [`Assumption`] of run times, and the
//! grids behind them. Whoever asks other questions, or many of them, prepares once what stands
//! ([`Occupancy`]) and places the queue beside it once ([`Pass`]). Both are copied at little cost.
//!
//! * When would this job start behind all others? [`Pass::start_behind_all`]: one search.
//! * When does each job start with this [`Placeholder`] in the plan? [`Occupancy::with`], and
//!   [`Pass::from`] what that gives: one pass.
//! * Does this placeholder fit beside all others? [`Pass::has_room_for`]: one search.
//! * Whom does this [`Change`] move (one job more, one less, one with another size, a later begin
//!   or a longer limit, or a placeholder)? [`Pass::effect`]: at most about one pass.
//! * What does a CPU cost those who wait, by how far ahead it is taken? [`Pass::prices`]: those who
//!   come are placed once for each of [`WINDOW_ENDS`].
//! * And with other reservations? [`Occupancy::with_reservations`]: what stands is prepared anew.
//! * And if jobs run for other times? [`Occupancy::under`] takes another of the [`RunTimes`] that
//!   the state gives each job.
//!
//! Each answer is what a pass of the changed state says. None holds more memory than a pass does,
//! and [`MOST_PLACED`] bounds them all.
//!
//! **Placement.** Where inside a window a reservation hurts those who wait least is asked of
//! [`placement`], which counts CPUs alone and goes by estimates, as its publication does.
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
//! **Resources.** What a job asks for, needs or holds, and what a node, a place, a reservation or
//! the machine offers, is one type, [`Resources`]: today nodes and CPUs. The schedule and the
//! places add it, subtract it, and ask whether one fits into another, and neither names CPUs;
//! callers say what a node offers and what a job asks for. A profile counts a part of it at each
//! point (`profile/amounts.rs`): everything that jobs take from each other, and not nodes, which
//! they may share. So a resource comes in like this:
//!
//! * *Memory*: a field in `resources.rs` and in `profile/amounts.rs`, with a line in each of their
//!   operations. `profile/mod.rs`, `profile/block.rs`, `places.rs`, `schedule.rs` and whoever asks
//!   for a plan stay as they are. Whoever fills in a state (`sidecar/src/plan/state.rs`) says what
//!   a node has and what a job asks for.
//! * *Generic resources*: the same with an array of counts, one for each kind that the state names;
//!   the type stays `Copy`.
//! * *Licences* belong to no node. They are an array of counts as well. `places.rs` makes one place
//!   more, which every partition has in its list and which offers licences and everything else
//!   without bound, as the other places offer licences.
//! * *Features* are not counted over time. They go with the nodes in [`Resources`], `Class` in
//!   `places.rs` tells nodes with other features apart, and `Places::needed` looks whether a
//!   partition has enough nodes that have them; a set of nodes that jobs ask for becomes a place.
//! * `floors.rs` must know each resource that a profile counts: what a search for CPUs has found
//!   holds for jobs that ask for as much of the others. A table for each distinct rest of a job's
//!   [`Resources`] beside its CPUs keeps that exact.
//! * *Grids* (`grid.rs`) stay by CPUs and time limits: a job that asks for little of the rest.
//! * *Suspended jobs* hold memory and licences, and no CPUs. `sidecar/src/known/cluster/queue.rs`
//!   leaves them out today; it gives them a phase, and `sidecar/src/plan/state.rs` makes them a
//!   [`RunningJob`] whose [`RunningJob::holds`] has no CPUs. Nothing in here changes for them.
//!
//! **Bounds on the work.** At most [`MOST_PLACED`] jobs and tasks of arrays are placed, of one
//! array at most [`MOST_TASKS`]; jobs behind them are [`PlanObstacle::TooFarBehind`].

mod change;
mod coming;
mod correction;
mod floors;
mod grid;
mod occupancy;
mod pass;
mod placeholder;
pub mod placement;
mod places;
mod plan;
mod price;
mod profile;
mod resources;
mod run_time;
mod schedule;
mod setting;
mod state;
mod steps;
#[cfg(test)]
mod tests;

pub use change::{Change, Effect, Moved};
pub use coming::{MOST_COMING, REPEATED};
pub use correction::{BEYOND, corrected_to};
pub use grid::{Grid, MOST_SIZES};
pub use occupancy::Occupancy;
pub use pass::{MOST_PLACED, MOST_TASKS, Pass};
pub use placeholder::{Location, Placeholder};
pub use plan::{PartitionPlan, Plan, PlannedJob, plan};
pub use price::{PRICED_EVERY, WINDOW_ENDS};
pub use profile::Profile;
pub use resources::Resources;
pub use run_time::{LONGEST, RunTimes};
pub use schedule::Assumption;
pub use state::{Node, Partition, PendingJob, Reservation, RunningJob, State};
pub use steps::MOST_STEPS;
