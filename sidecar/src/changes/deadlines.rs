//! What is wanted of the jobs that were admitted with deadlines: of each by itself, and of all of a
//! partition together, whose order it is.

use std::collections::{BTreeMap, HashMap};

use job_types::number::JobId;
use job_types::time::UnixTime;
use predictor_core::admission::order::{self, Pending};
use predictor_core::decision::{AdmissionState, AdmissionWanted, admission_upkeep};
use predictor_core::snapshot::Snapshot;

use crate::admitted::Admitted;
use crate::change_metrics::ChangeMetrics;
use crate::cluster::{Cluster, Phase, PlanJob};

use super::issuer::Change;

/// Looks at the admitted jobs of a cluster. Remembers why there is no order, so that it is logged
/// once.
#[derive(Default)]
pub(super) struct Deadlines {
    why_no_order: Option<String>,
}

impl Deadlines {
    /// The changes that are wanted as of `now`, in no order of theirs.
    pub(super) fn wanted(&mut self, cluster: &Cluster, snapshot: &Snapshot<&[u8]>, now: UnixTime, metrics: &ChangeMetrics) -> Vec<Change> {
        let mut states: BTreeMap<AdmissionState, i64> = AdmissionState::ALL.map(|state| (state, 0)).into();
        let mut changes = Vec::new();
        let mut deadlines = HashMap::new();
        for admitted in &cluster.admitted {
            // As of before the queue was read: what waited then has not started earlier.
            let found = admission_upkeep(&admitted.job, snapshot, cluster.read_at);
            *states.entry(found.state).or_default() += 1;
            if let Some(deadline) = found.ordered_by {
                deadlines.insert(admitted.job.id, deadline);
            }
            if let Some((wanted, due)) = found.wanted {
                changes.push(Change::of_admitted(admitted, wanted, due, now));
            }
        }
        metrics.admissions(&states);
        if !deadlines.is_empty() && self.has_order(cluster) {
            let admitted: HashMap<JobId, &Admitted> = cluster.admitted.iter().map(|admitted| (admitted.job.id, admitted)).collect();
            for (job, added) in places(cluster, &admitted, &deadlines) {
                // Whoever is told something as well gets the place with the next round.
                if let (Some(admitted), Some(deadline)) = (admitted.get(&job), deadlines.get(&job)) {
                    changes.push(Change::of_admitted(admitted, AdmissionWanted::Place { added }, *deadline, now));
                }
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
}

/// What is to be added to the priorities of jobs with these deadlines, where that is something else
/// than now.
fn places(cluster: &Cluster, admitted: &HashMap<JobId, &Admitted>, deadlines: &HashMap<JobId, UnixTime>) -> Vec<(JobId, i64)> {
    let mut queues: HashMap<&str, Vec<Pending>> = HashMap::new();
    for job in &cluster.queue.jobs {
        let Some(pending) = pending(job, admitted, deadlines, cluster.read_at) else { continue };
        for partition in &job.partitions {
            queues.entry(partition).or_default().push(pending);
        }
    }
    let mut found = Vec::new();
    for queue in queues.into_values().filter(|queue| queue.iter().any(|job| job.deadline.is_some())) {
        let own: HashMap<JobId, u32> = queue.iter().map(|job| (job.job, job.priority)).collect();
        let added = |dealt: order::Dealt| Some((dealt.job, i64::from(dealt.priority) - i64::from(*own.get(&dealt.job)?)));
        found.extend(order::changes(&queue).into_iter().filter_map(added));
    }
    found
}

/// A job that waits for resources and priority alone, as the order sees it.
fn pending(job: &PlanJob, admitted: &HashMap<JobId, &Admitted>, deadlines: &HashMap<JobId, UnixTime>, now: UnixTime) -> Option<Pending> {
    let Phase::Pending { priority, eligible, .. } = job.phase else { return None };
    eligible.filter(|eligible| *eligible <= now)?;
    let deadline = deadlines.get(&job.job_id).copied();
    Some(match admitted.get(&job.job_id) {
        Some(admitted) => admitted.job.pending(deadline),
        None => Pending { job: job.job_id, priority, added: 0, deadline: None },
    })
}
