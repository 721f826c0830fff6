//! Where a reservation hurts least: slots inside a window, ranked by what each does to the jobs
//! that wait (Röblitz and Rzadca, "On the Placement of Reservations into Job Schedules", Euro-Par
//! 2006).
//!
//! A [`Request`] says how much is wanted for how long and in which window. Three parts answer it,
//! which know each other by messages alone (section 3, figure 1), so that a daemon can have the
//! ones that are replayed:
//!
//! * the resource manager of a cluster ([`ResourceManager`]), which knows the [`Workload`] and
//!   reserves,
//! * a cluster's reservation service ([`ClusterService`]), which [probes](Probed): it spreads
//!   [`Slot`]s over the window and lets a [`Ranking`] say how well each is to be had,
//! * the reservation service above all clusters ([`GridService`]), which asks the clusters, orders
//!   the slots, and reserves the best until one is granted.
//!
//! A ranking is one file: [`Load`] (section 4.1), [`WhatIf`] (section 4.2), and [`Earliest`], the
//! first slot that is free, with the two rules of Heine et al. 2005 for whom it may delay.
//!
//! A slot that was granted may stay [`Moving`] until shortly before its start.
//!
//! Jobs are scheduled first come, first served, with EASY backfilling, by the [cycle](Cycle) of
//! section 2. [`ExecutionPlan`] goes from event to event by the same cycle with estimates for run
//! times. Nobody comes in it but who is known to come ([`Workload::coming`]): in a replay all that
//! will, which bounds what is to be had.
//!
//! On a cluster of Slurm the plans are those of the queue ([`in_queue`]), with its partitions and
//! priorities and the forecast run times. Slots are spread, rated and chosen by the same code.

mod cluster_service;
mod cycle;
mod earliest;
mod execution_plan;
mod grid_service;
pub mod in_queue;
mod load;
mod moving;
mod outcome;
mod preference;
mod probing;
mod ranking;
mod request;
mod slot;
#[cfg(test)]
mod tests;
mod what_if;
mod workload;

pub use cluster_service::{ClusterService, Conflict, Probed, ResourceManager};
pub use cycle::Cycle;
pub use earliest::{Delays, Earliest};
pub use execution_plan::{ExecutionPlan, Placed};
pub use grid_service::{Answer, Grid, GridService, Site};
pub use load::Load;
pub use moving::Moving;
pub use outcome::Outcome;
pub use preference::Preference;
pub use probing::Probing;
pub use ranking::{Probe, Ranking, Rated};
pub use request::Request;
pub use slot::Slot;
pub use what_if::WhatIf;
pub use workload::{Coming, Granted, Running, Waiting, Workload};
