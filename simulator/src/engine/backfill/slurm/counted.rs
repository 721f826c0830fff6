//! Planning with numbers of processors.

use super::super::super::Cluster;
use super::{Planned, SlurmParameters};
use crate::profile::Profile;

/// Whether the job at a position fits now, until its limit.
pub(super) fn fits(cluster: &Cluster, position: usize) -> bool {
    let Some(entry) = cluster.waiting().get(position) else { return false };
    let (processors, now) = (i64::from(entry.processors), cluster.now());
    processors <= cluster.free()
        && (cluster.machine().blocks.is_empty() || cluster.profile().earliest(now, processors, entry.expected) == Some(now))
}

/// Starts or plans one job of a backfill pass. `may_plan`: whether processors may be kept for it.
pub(super) fn plan(profile: &mut Profile, cluster: &Cluster, position: usize, parameters: &SlurmParameters, may_plan: bool) -> Planned {
    let Some(entry) = cluster.waiting().get(position) else { return Planned::Nothing };
    let (now, processors) = (cluster.now(), i64::from(entry.processors));
    let Some(start) = profile.earliest(now, processors, entry.expected) else { return Planned::Nothing };
    let end = start + entry.expected;
    if start <= now {
        profile.take(now, end, processors);
        return Planned::Started;
    }
    if may_plan && start <= now + parameters.bf_window {
        let resolution = parameters.bf_resolution;
        let down = |time| parameters.rounded_down(time);
        profile.take(down(start), down(end).max(down(start) + resolution), processors);
    }
    Planned::Tried
}
