//! Admission by shares of nodes that jobs have in common: Libra and LibraRisk, and the nodes that
//! the job is to run on (Yeo and Buyya 2006, 3; [`crate::decisions::deadline_methods`] has the
//! methods themselves).
//!
//! The run time that the methods know is the user's estimate, which is the time limit. A job that
//! has a part of its CPUs runs longer than that by the clock, so that the limit that Slurm ends it
//! by becomes the time until its deadline.

use super::{Admitted, Alternatives, Granted, NotAdmitted};
use crate::decisions::deadline_methods::{NeededShare, Newcomer, libra, libra_risk};
use crate::decisions::shared_nodes::{SharedNode, SharingJob};
use crate::decisions::{Candidate, DerivedInputs};
use job_types::policy::Admission;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};

/// The nodes that an admitted job is given a share of.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenShare {
    /// The places of the nodes among those of the partition that jobs share, ascending.
    pub nodes: Vec<u32>,
    /// What the job adds to each of the nodes.
    pub job: SharingJob,
    /// How long it runs by its user's estimate with its CPUs to itself.
    pub estimate: Seconds,
    /// The time limit that leaves it time until its deadline, where that is longer than its own.
    pub limit: Option<Seconds>,
}

/// What is asked of the nodes.
#[derive(Clone, Copy, Debug)]
struct Request {
    rule: Admission,
    begin: UnixTime,
    deadline: UnixTime,
    estimate: Seconds,
    nodes: u32,
    /// CPUs on each node.
    cpus: u32,
}

impl Request {
    /// `None` for a job without a time limit, of which nothing is known.
    fn of<F>(context: &DerivedInputs<'_, F>, decided: Option<&Candidate>, deadline: UnixTime) -> Option<Request> {
        let (size, limit) = decided.map_or((context.size, context.limit), |decided| (decided.size, decided.limit));
        let nodes = size.nodes.max(1);
        let begin = context.now + context.delay_as_written();
        Some(Request { rule: context.policy.admission, begin, deadline, estimate: limit?, nodes, cpus: size.cpus.div_ceil(nodes).max(1) })
    }

    /// The share of each of its CPUs that it needs; `None` where its deadline is before its begin.
    fn share(&self) -> Option<f64> {
        self.newcomer().map(|newcomer| newcomer.share / f64::from(self.cpus))
    }

    /// The job as the methods know it, its share counted in CPUs of a node.
    fn newcomer(&self) -> Option<Newcomer> {
        let newcomer = Newcomer::submitted(self.begin, self.estimate, self.deadline, self.nodes as usize)?;
        Some(Newcomer { share: newcomer.share * f64::from(self.cpus), ..newcomer })
    }

    /// Chooses nodes by the rule. Returns whether there are enough.
    fn choose(&self, nodes: &[SharedNode], chosen: &mut Vec<u32>) -> bool {
        let Some(newcomer) = self.newcomer() else { return false };
        let load = |place: u32| nodes.get(place as usize).and_then(|node| node.load(self.cpus));
        let count = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
        match self.rule {
            Admission::Libra => libra::admit_among(count, load, &newcomer, chosen),
            _ => libra_risk::admit_among(count, load, &newcomer, self.begin, chosen),
        }
    }

    /// How many nodes the rule would take.
    fn suitable(&self, nodes: &[SharedNode]) -> u32 {
        let Some(newcomer) = self.newcomer() else { return 0 };
        let is_suitable = |node: &&SharedNode| {
            node.load(self.cpus).is_some_and(|load| match self.rule {
                Admission::Libra => libra::is_suitable(&load, &newcomer),
                _ => libra_risk::has_no_risk(&load, &newcomer, self.begin),
            })
        };
        u32::try_from(nodes.iter().filter(is_suitable).count()).unwrap_or(u32::MAX)
    }

    /// The largest share of each of its CPUs that as many nodes have left as it needs; `None` where
    /// there are too few nodes for any.
    fn largest_share(&self, nodes: &[SharedNode]) -> Option<f64> {
        let left = |node: &SharedNode| {
            let load = node.load(self.cpus)?;
            // Nobody joins a job that is late.
            let is_late = self.rule == Admission::LibraRisk && load.earliest_deadline <= self.begin;
            let left = (1.0 - load.total_share) / f64::from(self.cpus);
            (!is_late && left > 0.0).then_some(left.min(1.0))
        };
        let mut left: Vec<f64> = nodes.iter().filter_map(left).collect();
        let place = (self.nodes as usize).checked_sub(1).filter(|place| *place < left.len())?;
        let (_, largest, _) = left.select_nth_unstable_by(place, |one, other| other.total_cmp(one));
        Some(*largest)
    }
}

/// Whether enough nodes have what the job needs, and which it gets; `None` where the partition's
/// nodes are not shared.
pub(super) fn admission<F>(
    context: &DerivedInputs<'_, F>,
    decided: Option<&Candidate>,
    deadline: UnixTime,
) -> Option<Result<Granted, NotAdmitted>> {
    let nodes = context.partition.shared_nodes;
    if nodes.is_empty() {
        return None;
    }
    let Some(request) = Request::of(context, decided, deadline) else {
        return Some(Err(NotAdmitted::BeyondLimit { alternatives: Alternatives::default() }));
    };
    let mut chosen = Vec::new();
    let share = request.share().filter(|_| request.choose(nodes, &mut chosen));
    let Some(share) = share else {
        let suitable = request.suitable(nodes);
        return Some(Err(NotAdmitted::NoShare { nodes: request.nodes, suitable, alternatives: Alternatives::default() }));
    };
    let Request { rule, begin, estimate, cpus, .. } = request;
    let size = decided.map_or(context.size, |decided| decided.size);
    let job = SharingJob { cpus, admitted: Some((NeededShare::sure(share), deadline)) };
    let limit = limit_until(context, size, begin, deadline, estimate);
    Some(Ok(Granted {
        admitted: Admitted { by: rule, deadline, probability: None, wanted: None, begin: None },
        share: Some(GivenShare { nodes: chosen, job, estimate, limit }),
    }))
}

/// The time limit that leaves a job time until its deadline, as far as there is no shorter bound;
/// `None` where its estimate is no shorter.
pub(super) fn limit_until<F>(
    context: &DerivedInputs<'_, F>,
    size: Size,
    begin: UnixTime,
    deadline: UnixTime,
    estimate: Seconds,
) -> Option<Seconds> {
    let room = Seconds((deadline - begin).0.div_euclid(60) * 60);
    let room = context.bounds.longest_limit(size).map_or(room, |longest| room.min(longest.value));
    Some(room).filter(|room| *room > estimate)
}

/// The earliest deadline and the longest time limit that the nodes have a share for: what their
/// shares say, without asking the rule again.
pub(super) fn alternatives<F>(context: &DerivedInputs<'_, F>, decided: Option<&Candidate>, deadline: UnixTime) -> Alternatives {
    let request = Request::of(context, decided, deadline);
    let Some(request) = request else { return Alternatives::default() };
    let Some(share) = request.largest_share(context.partition.shared_nodes) else { return Alternatives::default() };
    let needed_s = (request.estimate.0 as f64 / share).ceil();
    let earliest = request.begin + Seconds(needed_s.min(1e15) as i64) + super::alternatives::TIME_TO_TAKE;
    let left_s = (request.deadline - request.begin - super::alternatives::TIME_TO_TAKE).0 as f64;
    let limit = Seconds((left_s * share / 60.0).floor() as i64 * 60);
    Alternatives {
        deadline: Some(earliest).filter(|earliest| *earliest - context.now <= super::FARTHEST_DEADLINE),
        size: None,
        limit: Some(limit).filter(|limit| *limit >= Seconds::MINUTE && *limit < request.estimate),
    }
}
