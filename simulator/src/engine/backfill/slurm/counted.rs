//! Planning with numbers of processors.

use super::super::super::Cluster;
use super::{Planned, SlurmParameters};
use job_types::time::UnixTime;
use queue_plan::{Profile, Resources};

/// Whether the job at a position fits now, until its limit.
pub(super) fn fits(cluster: &Cluster, position: usize) -> bool {
    let Some(entry) = cluster.waiting().get(position) else { return false };
    let (processors, now) = (i64::from(entry.processors), cluster.now());
    processors <= cluster.free()
        && (cluster.machine().blocks.is_empty()
            || cluster.profile().earliest(now, Resources::of_cpus(processors), entry.expected) == Some(now))
}

/// Starts or plans one job of a backfill pass. `may_plan`: whether processors may be kept for it.
pub(super) fn plan(profile: &mut Profile, cluster: &Cluster, position: usize, parameters: &SlurmParameters, may_plan: bool) -> Planned {
    let Some(entry) = cluster.waiting().get(position) else { return Planned::Nothing };
    let (now, processors) = (cluster.now(), Resources::of_cpus(entry.processors.into()));
    let Some(start) = profile.earliest(now, processors, entry.expected) else { return Planned::Nothing };
    let end = start + entry.expected;
    if start <= now {
        profile.take(now, end, processors);
        return Planned::Started;
    }
    if may_plan && start <= now + parameters.bf_window {
        let (from, until) = (parameters.rounded_down(start), parameters.rounded_down(end));
        take_what_is_free(profile, from.max(now), start, processors);
        profile.take(start, until.max(from + parameters.bf_resolution), processors);
    }
    Planned::Tried
}

/// Takes what a plan has of the free processors before it can start, since `from`, to which its
/// start was rounded down. It is on nodes of jobs that run until then as far as there are as many,
/// and those nodes are nobody else's before: no processor is taken twice.
fn take_what_is_free(profile: &mut Profile, from: UnixTime, start: UnixTime, wanted: Resources) {
    let at_start = profile.free_at(start);
    let mut steps: Vec<(UnixTime, Resources)> = profile.steps_between(from, start).collect();
    let mut until = start;
    while let Some((at, free)) = steps.pop() {
        let freed_until_start = at_start - free;
        profile.take(at, until, (wanted - freed_until_start).least(wanted).most(Resources::NONE));
        until = at;
    }
}
