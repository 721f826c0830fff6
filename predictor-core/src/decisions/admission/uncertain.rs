//! Admission to nodes that jobs share in time, by forecast distributions of run times
//! ([`crate::decisions::deadline_methods::chance`]), and the nodes that the job is to run on.
//!
//! [`SharingRequest::choose`] is all that decides; replays of logs call it as well. Shares on the
//! nodes go by the user's estimate, which is the time limit, as where [`shares`](super::shares)
//! admits.

use super::alternatives::{self, OtherJob};
use super::shares::{GivenShare, limit_until};
use super::{Admitted, Alternatives, Granted, NotAdmitted};
use crate::decisions::deadline_methods::{NodeLoad, OnTimeProbability, Threshold, UncertainJob};
use crate::decisions::shared_nodes::{SharedNode, SharingJob};
use crate::decisions::{Candidate, DerivedInputs};
use crate::forecasts::deadline_history::DeadlineHistory;
use crate::forecasts::deadline_run_times::with_deadline;
use crate::forecasts::forecast::{Forecaster, RunTimeForecast};
use job_types::policy::Admission;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};

/// The number of nodes, for each that the job needs, on which alternatives are looked for: those
/// with the most power left. Looking at all nodes for each alternative would keep slurmctld
/// waiting.
const ASKED_NODES: usize = 16;

/// A job with a deadline that asks for a share of nodes.
#[derive(Clone, Copy, Debug)]
pub struct SharingRequest<'a> {
    /// How long the jobs of the same user and size have run, where that is known.
    pub past: Option<RunTimeForecast<'a>>,
    /// The job's time limit; `None` is unlimited.
    pub limit: Option<Seconds>,
    /// When the job is submitted.
    pub submitted: UnixTime,
    /// When the job can begin.
    pub begin: UnixTime,
    /// When the job is to be done.
    pub deadline: UnixTime,
    /// How many nodes the job needs.
    pub nodes: u32,
    /// How many CPUs the job needs on each of these nodes.
    pub cpus: u32,
}

impl SharingRequest<'_> {
    /// Chooses among nodes. `chosen` gets their places, ascending, or nothing where there are too
    /// few. Also says what the job adds to each.
    pub fn choose(&self, nodes: &[SharedNode], bar: &Threshold<'_>, chosen: &mut Vec<u32>) -> (OnTimeProbability, SharingJob) {
        let run_times = self.run_times(bar);
        let job = self.job(&run_times, bar);
        let load = |place: u32| nodes.get(place as usize).and_then(|node| node.load(self.cpus));
        let chance = job.choose_among(u32::try_from(nodes.len()).unwrap_or(u32::MAX), load, chosen);
        (chance, SharingJob { cpus: self.cpus, admitted: Some((job.share(), self.deadline)) })
    }

    /// Whether it would be taken on nodes with these loads.
    fn is_taken(&self, nodes: &[NodeLoad], bar: &Threshold<'_>) -> bool {
        self.job(&self.run_times(bar), bar).is_taken(nodes)
    }

    fn run_times(&self, bar: &Threshold<'_>) -> Vec<(f64, f64)> {
        with_deadline(self.past, self.limit, self.deadline - self.submitted, &bar.history().given)
    }

    fn job<'b>(&self, run_times: &'b [(f64, f64)], bar: &'b Threshold<'b>) -> UncertainJob<'b> {
        let SharingRequest { begin, deadline, nodes, cpus, .. } = *self;
        UncertainJob { run_times, begin, deadline, nodes: nodes.max(1) as usize, cpus, bar }
    }
}

/// A job at a size, with a time limit and a deadline.
fn request<'a, F>(context: &DerivedInputs<'a, F>, size: Size, limit: Option<Seconds>, deadline: UnixTime) -> SharingRequest<'a>
where
    F: Forecaster,
{
    let nodes = size.nodes.max(1);
    SharingRequest {
        past: context.past_at(size, limit),
        limit,
        submitted: context.now,
        begin: context.now + context.delay_as_written(),
        deadline,
        nodes,
        cpus: size.cpus.div_ceil(nodes).max(1),
    }
}

/// What jobs with deadlines have taught in the partition.
fn history<F: Forecaster>(context: &DerivedInputs<'_, F>) -> DeadlineHistory {
    context.forecasts.deadline_history(context.partition.index).unwrap_or_default()
}

/// Whether enough nodes have room for the job as it was decided, and which it gets.
pub(super) fn admission<F>(context: &DerivedInputs<'_, F>, decided: Option<&Candidate>, deadline: UnixTime) -> Result<Granted, NotAdmitted>
where
    F: Forecaster,
{
    let (size, limit) = decided.map_or((context.size, context.limit), |decided| (decided.size, decided.limit));
    let (request, history, wanted) = (request(context, size, limit, deadline), history(context), context.policy.deadline_probability);
    let mut nodes = Vec::new();
    let (chance, job) = request.choose(context.partition.shared_nodes, &Threshold::new(wanted, &history), &mut nodes);
    let alternatives = Alternatives::default();
    match chance {
        OnTimeProbability::Taken { probability } => {
            let admitted =
                Admitted { by: Admission::Probability, deadline, probability: Some(probability), wanted: Some(wanted), begin: None };
            let estimate = limit.unwrap_or(deadline - request.begin);
            let given = GivenShare { nodes, job, estimate, limit: limit_until(context, size, request.begin, deadline, estimate) };
            Ok(Granted { admitted, share: Some(given) })
        }
        OnTimeProbability::Unlikely { probability } => Err(NotAdmitted::unlikely(probability, history.least_admitted(wanted), wanted)),
        OnTimeProbability::TooFewNodes { suitable } => Err(NotAdmitted::NoShare { nodes: request.nodes, suitable, alternatives }),
    }
}

/// What could be had: the earliest deadline, a size and a time limit that are admitted on the nodes
/// that have most left.
pub(super) fn alternatives<F>(context: &DerivedInputs<'_, F>, deadline: UnixTime) -> Alternatives
where
    F: Forecaster,
{
    let history = history(context);
    let bar = Threshold::new(context.policy.deadline_probability, &history);
    let all = context.partition.shared_nodes;
    let roomiest = |nodes: u32, cpus: u32| {
        let mut loads: Vec<NodeLoad> = all.iter().filter_map(|node| node.load(cpus)).collect();
        bar.keep_roomiest(&mut loads, (nodes as usize).saturating_mul(ASKED_NODES));
        loads
    };
    // Most that is asked about is of one size.
    let mut last: Option<((u32, u32), Vec<NodeLoad>)> = None;
    let admits = |asked: &OtherJob| {
        let request = request(context, asked.size, asked.limit, asked.deadline);
        let size = (request.nodes, request.cpus);
        let known = last.take().filter(|(of, _)| *of == size).unwrap_or_else(|| (size, roomiest(request.nodes, request.cpus)));
        let is_taken = request.is_taken(&known.1, &bar);
        last = Some(known);
        is_taken
    };
    alternatives::alternatives(context, deadline, admits)
}
