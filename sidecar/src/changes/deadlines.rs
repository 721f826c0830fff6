//! What is wanted of the jobs that were admitted with deadlines: of each by itself, and of all of a
//! partition together, whose order it is.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use job_types::number::JobId;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::deadline_methods::order::{self, Held, Pending};
use predictor_core::snapshot::Snapshot;
use upkeep::{AdmissionState, AdmissionWanted, admission_upkeep};

use crate::known::cluster::{Cluster, Phase, PlanJob};
use crate::known::promised_job::PromisedJob;
use crate::metrics::changes::ChangeMetrics;

use super::issuer::Change;

/// Looks at the admitted jobs of a cluster.
///
/// It remembers why there is no order, so that it is logged once, and the places that were dealt in
/// the last round: those which have not been written yet are finished before others are dealt, and
/// those of jobs that have left without a start are given back. A daemon that starts anew takes the
/// priorities in force for the places. As priorities become lower first, and higher only then, what
/// another one has left half done is to the disadvantage of jobs with deadlines alone.
#[derive(Default)]
pub(super) struct Deadlines {
    why_no_order: Option<String>,
    dealt: HashMap<JobId, DealtPlace>,
}

/// A place that a job was dealt.
struct DealtPlace {
    partition: Arc<str>,
    held: Held,
    /// What is to be added to the job's priority for it, all in all.
    added: i64,
}

/// A change of the priority of a job for its place.
struct Move {
    job: JobId,
    added: i64,
    is_lower: bool,
}

impl Deadlines {
    /// The changes that are wanted as of `now`, in no order of theirs.
    pub(super) fn wanted(&mut self, cluster: &Cluster, snapshot: &Snapshot<&[u8]>, now: UnixTime, metrics: &ChangeMetrics) -> Vec<Change> {
        let mut states: BTreeMap<AdmissionState, i64> = AdmissionState::ALL.iter().map(|state| (*state, 0)).collect();
        let mut changes = Vec::new();
        let mut deadlines = HashMap::new();
        for admitted in &cluster.admitted {
            // The state is that before the queue was read, because a job that waited in that queue
            // has not started earlier.
            let found = admission_upkeep(&admitted.job, snapshot, cluster.read_at);
            *states.entry(found.state).or_default() += 1;
            if let Some(deadline) = found.ordered_by {
                deadlines.insert(admitted.job.id, deadline);
            }
            let is_certain = |(wanted, _): &(AdmissionWanted, UnixTime)| wanted.is_certain(cluster.controller_ahead);
            if let Some((wanted, due)) = found.wanted.filter(is_certain) {
                changes.push(Change::of_admitted(admitted, wanted, due, now, cluster.record_key));
            }
        }
        metrics.admissions(&states);
        if deadlines.is_empty() || !self.has_order(cluster) {
            self.dealt.clear();
            return changes;
        }
        let admitted: HashMap<JobId, &PromisedJob> = cluster.admitted.iter().map(|admitted| (admitted.job.id, admitted)).collect();
        let soonest = deadlines.values().min().copied().unwrap_or(now);
        for Move { job, added, is_lower } in self.moves(cluster, &admitted, &deadlines) {
            // Whoever is told something as well gets the place with the next round.
            if let (Some(admitted), Some(deadline)) = (admitted.get(&job), deadlines.get(&job)) {
                let due = if is_lower { soonest } else { *deadline + Seconds(1) };
                changes.push(Change::of_admitted(admitted, AdmissionWanted::Place { added }, due, now, cluster.record_key));
            }
        }
        changes
    }

    /// Whether slurmctld's priorities take any notice.
    fn has_order(&mut self, cluster: &Cluster) -> bool {
        let why = cluster.priorities.why_site_factors_do_nothing();
        if let Some(why) = why.as_ref().filter(|why| self.why_no_order.as_ref() != Some(*why)) {
            tracing::warn!(%why, "jobs with deadlines are not put in their order");
        }
        self.why_no_order = why;
        self.why_no_order.is_none()
    }

    /// The changes of the priorities of jobs with these deadlines.
    fn moves(&mut self, cluster: &Cluster, admitted: &HashMap<JobId, &PromisedJob>, deadlines: &HashMap<JobId, UnixTime>) -> Vec<Move> {
        let mut queues: HashMap<&Arc<str>, Vec<&PlanJob>> = HashMap::new();
        for job in cluster.queue.jobs.iter().filter(|job| is_in_queue(job, cluster.read_at)) {
            for partition in &job.partitions {
                queues.entry(partition).or_default().push(job);
            }
        }
        let mut moves = Vec::new();
        let mut now_dealt = HashMap::new();
        for (partition, queue) in queues {
            let ordered: Vec<&PromisedJob> = queue
                .iter()
                .filter(|job| deadlines.contains_key(&job.job_id))
                .filter_map(|job| admitted.get(&job.job_id).copied())
                .collect();
            if ordered.is_empty() {
                continue;
            }
            let mut held: Vec<Held> = ordered.iter().map(|job| self.held(job)).collect();
            order::give_back(&mut held, &self.left(partition, cluster, admitted));
            let places: HashMap<JobId, Held> = ordered.iter().zip(&held).map(|(job, held)| (job.job.id, *held)).collect();
            let pending: Vec<Pending> = queue.iter().map(|job| pending(job, places.get(&job.job_id), deadlines)).collect();
            for dealt in order::dealt(&pending) {
                let (Some(job), Some(held)) = (admitted.get(&dealt.job), places.get(&dealt.job)) else { continue };
                let (in_force, place) = (i64::from(job.job.priority), i64::from(dealt.priority));
                let added = job.job.added() + place - in_force;
                let held = Held { place, own: held.own };
                now_dealt.insert(dealt.job, DealtPlace { partition: Arc::clone(partition), held, added });
                if place != in_force {
                    moves.push(Move { job: dealt.job, added, is_lower: place < in_force });
                }
            }
        }
        self.dealt = now_dealt;
        moves
    }

    /// The place that a job holds: what is in force, and what was dealt and is not written yet.
    fn held(&self, job: &PromisedJob) -> Held {
        let job = &job.job;
        let to_come = self.dealt.get(&job.id).map_or(0, |dealt| dealt.added - job.added());
        Held { place: (i64::from(job.priority) + to_come).max(1), own: job.own_priority() }
    }

    /// The places of jobs of a partition that have left the order without a start: they were
    /// cancelled, or have got a priority of their own.
    fn left(&self, partition: &Arc<str>, cluster: &Cluster, admitted: &HashMap<JobId, &PromisedJob>) -> Vec<Held> {
        let is_gone = |job: JobId| cluster.ended.iter().any(|ended| ended.id.job == job && ended.job.start.is_none());
        let has_left = |job: JobId| match admitted.get(&job) {
            Some(admitted) => admitted.job.is_fixed(),
            None => is_gone(job),
        };
        let of_partition = self.dealt.iter().filter(|(_, dealt)| dealt.partition == *partition);
        of_partition.filter(|(job, _)| has_left(**job)).map(|(_, dealt)| dealt.held).collect()
    }
}

/// Whether a job waits for resources and priority alone.
fn is_in_queue(job: &PlanJob, now: UnixTime) -> bool {
    matches!(job.phase, Phase::Pending { eligible: Some(eligible), .. } if eligible <= now)
}

/// A job of the queue as the order sees it; those that take part hold a place.
fn pending(job: &PlanJob, held: Option<&Held>, deadlines: &HashMap<JobId, UnixTime>) -> Pending {
    let priority = if let Phase::Pending { priority, .. } = job.phase { priority } else { 0 };
    let Some(held) = held else { return Pending { job: job.job_id, priority, deadline: None } };
    let place = u32::try_from(held.place).unwrap_or(u32::MAX);
    Pending { job: job.job_id, priority: place, deadline: deadlines.get(&job.job_id).copied() }
}
