//! Slurm's main scheduler and its backfill scheduler.
//!
//! The main scheduler (src/slurmctld/job_scheduler.c, `_schedule`) starts jobs in the order of the
//! queue until one does not fit. It runs soon after submissions and terminations, and from time to
//! time over the whole queue ([`SlurmParameters`] has the times). A batch job never starts within
//! its submission. The backfill scheduler (src/plugins/sched/backfill/backfill.c,
//! `_attempt_backfill`) runs every `bf_interval`: it goes through the queue in order, starts what
//! fits beside all that it has planned so far, and plans every other job at the earliest time that
//! running jobs' limits and earlier plans leave. Plans last only for the pass.
//!
//! What the model leaves out: several partitions of different nodes, preemption, reservations and
//! licences in the plan of named nodes, heterogeneous jobs, arrays, features, accounting limits;
//! and the time that a pass takes.

mod clock;
mod counted;
mod node_set;
mod node_space;
mod parameters;
mod parse;
mod placed;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use job_types::time::{Seconds, UnixTime};

use self::clock::{Clock, Depth};
use self::placed::Placed;
use super::{Backfill, Cluster, Event};
use crate::engine::JobIndex;

pub use self::parameters::SlurmParameters;
pub use self::parse::ParameterError;

/// What became of a job in a backfill pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Planned {
    /// Not even looked at closely: too few nodes at any time of the window.
    Nothing,
    /// The job was tried, and perhaps planned for later.
    Tried,
    /// The job starts now.
    Started,
}

/// Slurm's two schedulers.
#[derive(Debug)]
pub struct Slurm {
    parameters: SlurmParameters,
    /// Processors of a node, if the plan is to be made with named nodes.
    processors_per_node: Option<u32>,
    has_epilog: bool,
    state: Option<State>,
    /// When the scheduler asks to be called again.
    wish: Option<UnixTime>,
}

#[derive(Debug)]
struct State {
    clock: Clock,
    placed: Option<Placed>,
    /// The number of jobs that waited after the last pass.
    waited: usize,
    /// Whom the last backfill pass looked at, in order.
    tried: Vec<JobIndex>,
}

impl Slurm {
    /// Slurm with these parameters. Plans count processors, which costs little on a machine of any
    /// size.
    #[must_use]
    pub fn new(parameters: SlurmParameters) -> Self {
        Self { parameters, processors_per_node: None, has_epilog: false, state: None, wish: None }
    }

    /// The site has an `Epilog`: the end of a job then starts a pass of the main scheduler at once,
    /// which otherwise comes as after a submission.
    #[must_use]
    pub fn with_epilog(self) -> Self {
        Self { has_epilog: true, ..self }
    }

    /// Plans with named nodes of so many processors, of which jobs have whole ones, as Slurm itself
    /// does: a job that is planned keeps certain nodes free, not just so many. Costs O(nodes) where
    /// counting costs O(1). A machine with blocks is planned by counting all the same.
    #[must_use]
    pub fn with_nodes(self, processors_per_node: u32) -> Self {
        Self { processors_per_node: Some(processors_per_node.max(1)), ..self }
    }
}

impl Backfill for Slurm {
    fn pass(&mut self, event: Event, cluster: &mut Cluster) {
        let now = cluster.now();
        let state = self.state.get_or_insert_with(|| State {
            clock: Clock::new(now, &self.parameters),
            placed: self
                .processors_per_node
                .filter(|_| cluster.machine().blocks.is_empty())
                .map(|processors| Placed::new(cluster.machine().processors, processors)),
            waited: 0,
            tried: Vec::new(),
        });
        if state.waited == 0 {
            state.clock.idle_until(now, &self.parameters);
        }
        // Not by the event: where the order has changed, a submission comes as a wake-up.
        // An update of a job asks for a pass as a submission does (src/slurmctld/proc_req.c,
        // `_slurm_rpc_update_job`).
        if cluster.waiting().len() > state.waited || event == Event::Revised {
            state.clock.submitted(now);
        }
        if let Event::Ended { job, .. } = event {
            state.clock.ended(now, self.has_epilog);
            if let Some(placed) = &mut state.placed {
                placed.ended(job);
            }
        }
        // Passes come behind all that happens at the same instant: slurmctld's loops look from time
        // to time, and not at each event.
        let is_awake = event == Event::Woken;
        let mut started = BTreeSet::new();
        if is_awake && !cluster.waiting().is_empty() {
            if let Some((_, depth)) = state.clock.main_due(&self.parameters).filter(|&(due, _)| due <= now) {
                state.run_main(cluster, depth, &self.parameters, &mut started);
            }
            if state.clock.backfill_due(&self.parameters).is_some_and(|due| due <= now) {
                state.run_backfill(cluster, &self.parameters, &mut started);
            }
        }
        state.waited = cluster.waiting().len() - started.len();
        let main = state.clock.main_due(&self.parameters).map(|(due, _)| due);
        let next = main.into_iter().chain(state.clock.backfill_due(&self.parameters)).min();
        self.wish = next.filter(|_| state.waited > 0).map(|due| due.max(now + Seconds(i64::from(is_awake))));
    }

    fn wakes_at(&self) -> Option<UnixTime> {
        self.wish
    }
}

impl State {
    /// Starts jobs in the order of the queue until one does not fit.
    fn run_main(&mut self, cluster: &mut Cluster, depth: Depth, parameters: &SlurmParameters, started: &mut BTreeSet<usize>) {
        let now = cluster.now();
        let most = match depth {
            Depth::Default => parameters.default_queue_depth.saturating_add(1),
            Depth::Full => usize::MAX,
        };
        for position in 0..cluster.waiting().len().min(most) {
            let fits = match (&mut self.placed, cluster.waiting().get(position)) {
                (_, None) => break,
                (Some(placed), Some(entry)) => placed.start(entry.job, entry.processors),
                (None, Some(_)) => counted::fits(cluster, position),
            };
            if fits {
                cluster.start(position);
                started.insert(position);
            } else if !is_young(cluster, position, parameters) {
                break;
            }
        }
        self.clock.main_ran(now, depth, parameters);
        if !started.is_empty() {
            self.clock.started(now);
        }
    }

    fn run_backfill(&mut self, cluster: &mut Cluster, parameters: &SlurmParameters, started: &mut BTreeSet<usize>) {
        let now = cluster.now();
        let positions: Vec<usize> = (0..cluster.waiting().len()).filter(|position| !started.contains(position)).collect();
        let ahead = positions.iter().take(parameters.bf_max_job_test);
        let jobs: Vec<JobIndex> = ahead.filter_map(|&position| cluster.waiting().get(position)).map(|entry| entry.job).collect();
        // If nothing has happened and the order is the same, the same plan would come out.
        let is_due = self.clock.has_changed() || jobs != self.tried;
        self.clock.backfill_ran(now);
        if !is_due {
            return;
        }
        self.tried = jobs;
        let begun = match &mut self.placed {
            Some(placed) => {
                let mut space = placed.space(now, parameters);
                start_each(cluster, &positions, parameters, |cluster, position, may_plan| {
                    placed.plan(&mut space, cluster, position, parameters, may_plan)
                })
            }
            None => {
                let mut profile = cluster.profile();
                start_each(cluster, &positions, parameters, |cluster, position, may_plan| {
                    counted::plan(&mut profile, cluster, position, parameters, may_plan)
                })
            }
        };
        if !begun.is_empty() {
            self.clock.started(now);
        }
        started.extend(begun);
    }
}

/// Goes through the queue; returns who was started.
fn start_each(
    cluster: &mut Cluster,
    positions: &[usize],
    parameters: &SlurmParameters,
    mut plan: impl FnMut(&Cluster, usize, bool) -> Planned,
) -> Vec<usize> {
    let most_starts = if parameters.bf_max_job_start == 0 { usize::MAX } else { parameters.bf_max_job_start };
    let mut started = Vec::new();
    let mut tried = 0;
    for &position in positions {
        if tried >= parameters.bf_max_job_test || started.len() >= most_starts {
            break;
        }
        let may_plan = !is_young(cluster, position, parameters);
        match plan(cluster, position, may_plan) {
            Planned::Nothing => {}
            Planned::Tried => tried += 1,
            Planned::Started => {
                tried += 1;
                cluster.start(position);
                started.push(position);
            }
        }
    }
    started
}

/// Whether a job has waited less than `bf_min_age_reserve`.
fn is_young(cluster: &Cluster, position: usize, parameters: &SlurmParameters) -> bool {
    let Some(entry) = cluster.waiting().get(position) else { return false };
    cluster.now() - cluster.record(entry.job).eligible < parameters.bf_min_age_reserve
}
