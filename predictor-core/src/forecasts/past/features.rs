//! The feature vector of an arriving job, and the state of the cluster that it is computed from.
//!
//! The sweep over the past and the snapshot both fill [`FeatureInputs`], and
//! [`FeatureInputs::write_features`] is the only place where features are computed.

use super::{Group, GroupKind};
use job_types::job::WaitingJob;
use job_types::time::{Seconds, UnixTime};

/// The state of the cluster as a job arrives, from which its feature vector is computed.
#[derive(Clone, Copy, Debug)]
pub struct FeatureInputs<'a> {
    /// The moment of its arrival.
    pub now: UnixTime,
    /// CPUs of the cluster.
    pub cpus: u32,
    /// How long the job is expected to run, in seconds.
    pub expected_s: f32,
    /// The groups that it belongs to, in the order of [`GroupKind::ALL`], without itself.
    pub groups: &'a [Group; GroupKind::ALL.len()],
    /// When the cluster's running jobs end if they use their time limits.
    pub ends_by_limit: Ends<'a>,
    /// When they end if they run as long as expected.
    pub ends_expected: Ends<'a>,
}

/// When CPUs become free.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ends<'a> {
    /// Ascending moments in Unix seconds, with the CPUs that are free from then on, beyond those
    /// that are free now.
    pub freed: &'a [(i64, f32)],
}

impl Ends<'_> {
    /// CPUs that become free after one moment and until another.
    #[must_use]
    pub fn freed_between(&self, after: UnixTime, until: UnixTime) -> f64 {
        let freed = |moment: UnixTime| {
            let ended = self.freed.partition_point(|(at, _)| *at <= moment.0);
            ended.checked_sub(1).and_then(|last| self.freed.get(last)).map_or(0.0, |(_, freed)| f64::from(*freed))
        };
        (freed(until) - freed(after)).max(0.0)
    }

    /// Seconds until `cpus` more are free than the `already` first of those freed; beyond the last
    /// end, in proportion to what is missing.
    fn until(&self, cpus: f64, already: f64, now: UnixTime) -> f64 {
        if cpus <= 0.0 {
            return 0.0;
        }
        let cpus = cpus + already;
        let at = self.freed.partition_point(|(_, freed)| f64::from(*freed) < cpus);
        let after = |end: &(i64, f32)| (end.0 - now.0).max(0) as f64;
        match (self.freed.get(at), self.freed.last()) {
            (Some(end), _) => after(end),
            (None, Some(last)) => after(last) * (cpus / f64::from(last.1).max(1.0)),
            (None, None) => 0.0,
        }
    }
}

/// Takes out of the groups what will have ended by a later moment, by which `freed` CPUs of the
/// cluster are expected to become free and `freed_in_partition` of the `running_in_partition` CPUs
/// in use in the job's partition.
///
/// Which jobs these are is not looked at: of what runs, each group of the partition loses the share
/// that the partition does, and each of the others the share that the cluster does.
pub fn let_running_end(groups: &mut [Group; GroupKind::ALL.len()], freed: f64, freed_in_partition: f64, running_in_partition: f64) {
    let stays_of = |freed: f64, running: f64| if running > 0.0 { 1.0 - (freed / running).clamp(0.0, 1.0) } else { 1.0 };
    let stays_in_cluster = stays_of(freed, groups[GroupKind::Cluster as usize].running.cpus);
    let stays_in_partition = stays_of(freed_in_partition, running_in_partition);
    for (kind, group) in GroupKind::ALL.into_iter().zip(groups) {
        group.running.scale(match kind {
            GroupKind::Cluster | GroupKind::User | GroupKind::Account | GroupKind::UserRequest => stays_in_cluster,
            GroupKind::Partition | GroupKind::UserPartition | GroupKind::SizeClass | GroupKind::Class => stays_in_partition,
        });
    }
}

/// Seconds since a moment that may be 0 for never; capped at 30 days, on a logarithmic scale.
fn since(moment: f64, now: UnixTime) -> f32 {
    const LONGEST_S: f64 = 30.0 * 86_400.0;
    let elapsed = if moment == 0.0 { LONGEST_S } else { (now.0 as f64 - moment).clamp(0.0, LONGEST_S) };
    (1.0 + elapsed).ln() as f32
}

fn root(seconds: f64) -> f32 {
    seconds.max(0.0).sqrt() as f32
}

impl FeatureInputs<'_> {
    /// The group of one kind that the job belongs to.
    #[must_use]
    pub fn group(&self, kind: GroupKind) -> &Group {
        &self.groups[kind as usize]
    }

    /// Appends the features of the default predictor: [`FEATURES`] of them, whatever the job.
    pub fn write_features(&self, job: &WaitingJob, out: &mut Vec<f32>) {
        let before = out.len();
        self.write_features_after(job, 0.0, out);
        debug_assert_eq!(out.len() - before, FEATURES);
    }

    /// Appends the features as [`FeatureInputs::write_features`] does, for a moment by which the
    /// first `freed` CPUs of the ends are free already. The groups do not count those as running
    /// any more.
    pub fn write_features_after(&self, job: &WaitingJob, freed: f64, out: &mut impl Extend<f32>) {
        let cpus = f64::from(job.size.cpus);
        let total = f64::from(self.cpus.max(1));
        let limit_s = job.limit_or_zero().0 as f64;
        let day_s = self.now.0.rem_euclid(86_400);
        let weekday = (self.now.0.div_euclid(86_400) + 4).rem_euclid(7);
        let of_job: [f32; JOB_FEATURES] = [
            cpus as f32,
            f64::from(job.size.nodes) as f32,
            limit_s as f32,
            (cpus * limit_s) as f32,
            self.expected_s,
            f32::from(job.partition.0),
            job.user.0 as f32,
            job.account.0 as f32,
            day_s as f32,
            weekday as f32 + day_s as f32 / 86_400.0,
        ];
        out.extend(of_job);
        let cluster = self.group(GroupKind::Cluster);
        let free = total - cluster.running.cpus;
        let queue = cluster.waiting.cpus;
        let of_room: [f32; ROOM_FEATURES] = [
            free as f32,
            (cpus - free) as f32,
            self.ends_by_limit.until(cpus - free, freed, self.now) as f32,
            self.ends_expected.until(cpus - free, freed, self.now) as f32,
            self.ends_by_limit.until(queue + cpus - free, freed, self.now) as f32,
            self.ends_expected.until(queue + cpus - free, freed, self.now) as f32,
            // How long the whole cluster would need for what is running and waiting.
            ((cluster.waiting.expected_work + (cluster.running.expected_work - cluster.running.elapsed_work(self.now)).max(0.0)) / total)
                as f32,
        ];
        out.extend(of_room);
        for kind in GroupKind::ALL {
            self.write_group(kind, out);
        }
    }

    fn write_group(&self, kind: GroupKind, out: &mut impl Extend<f32>) {
        let Group { waiting, running, recent, oldest } = self.group(kind);
        let now = self.now;
        let of_group: [f32; GROUP_FEATURES] = [
            waiting.jobs as f32,
            root(waiting.elapsed_s(now) / waiting.jobs.max(1.0)),
            recent.last[0],
            recent.fast,
            recent.slow,
            since(recent.started_at, now),
            running.jobs as f32,
        ];
        out.extend(of_group);
        if has_demand(kind) {
            let of_demand: [f32; DEMAND_FEATURES] = [
                waiting.work as f32,
                waiting.cpus as f32,
                if *oldest == 0.0 { 0.0 } else { root(now.0 as f64 - oldest) },
                running.cpus as f32,
                recent.at_once,
                since(recent.arrived_at, now),
            ];
            out.extend(of_demand);
        }
        if has_work(kind) {
            let of_work: [f32; WORK_FEATURES] = [
                waiting.limits_s as f32,
                waiting.expected_work as f32,
                running.limits_s as f32,
                (running.work - running.elapsed_work(now)).max(0.0) as f32,
                root(running.elapsed_s(now) / running.jobs.max(1.0)),
            ];
            out.extend(of_work);
        }
    }
}

/// Features of the job itself and of the moment of its arrival. They stand first.
const JOB_FEATURES: usize = 10;
/// Features of the room in the cluster: free CPUs, and how long until there are enough.
const ROOM_FEATURES: usize = 7;
/// Features that each group has. They stand behind those, group by group.
const GROUP_FEATURES: usize = 7;
/// Further features of a group that [has them](has_demand): what its jobs ask for and have.
const DEMAND_FEATURES: usize = 6;
/// Further features of a group that [has them](has_work): limits and work.
const WORK_FEATURES: usize = 5;
/// Place of a group's recent waits ([`RecentFeatures`]) among its features.
const RECENT: usize = 2;

const fn has_demand(kind: GroupKind) -> bool {
    matches!(kind, GroupKind::Cluster | GroupKind::Partition | GroupKind::User | GroupKind::SizeClass | GroupKind::Class)
}

const fn has_work(kind: GroupKind) -> bool {
    matches!(kind, GroupKind::Cluster | GroupKind::Partition | GroupKind::User)
}

/// How many features the groups up to a place of [`GroupKind::ALL`] have.
const fn features_of_first(groups: usize) -> usize {
    let (mut features, mut place) = (0, 0);
    while place < groups {
        let kind = GroupKind::ALL[place];
        features += GROUP_FEATURES;
        features += if has_demand(kind) { DEMAND_FEATURES } else { 0 };
        features += if has_work(kind) { WORK_FEATURES } else { 0 };
        place += 1;
    }
    features
}

/// Place of a group's first feature.
const fn first_feature(kind: GroupKind) -> usize {
    JOB_FEATURES + ROOM_FEATURES + features_of_first(kind as usize)
}

/// How many features [`FeatureInputs::write_features`] makes.
pub const FEATURES: usize = JOB_FEATURES + ROOM_FEATURES + features_of_first(GroupKind::ALL.len());

/// Run time to expect of a job whose user has run nothing yet and that has no time limit: an hour.
const UNKNOWN_RUN_TIME_S: f32 = 3_600.0;

/// How long a job is expected to run: the mean of its user's last two run times (Tsafrir, Etsion,
/// Feitelson), within its limit. The trees learn from it, and one run time is better to learn from
/// than none: of a user who has had one job, that stands for both, where the paper takes the limit.
#[must_use]
pub fn expected_run_time_s(limit: Option<Seconds>, last_two_s: Option<[f32; 2]>) -> f32 {
    let limit_s = limit.map(|limit| limit.0 as f32);
    let mean = last_two_s.map(|[last, before]| (last + before) / 2.0);
    match (mean, limit_s) {
        (Some(mean), Some(limit_s)) => mean.min(limit_s),
        (Some(mean), None) => mean,
        (None, Some(limit_s)) => limit_s,
        (None, None) => UNKNOWN_RUN_TIME_S,
    }
}

/// The logarithm that stands for "never" where the time since a start is asked, and for anything
/// longer than 30 days.
pub const LONGEST_SINCE: f32 = 14.767_9;

/// A group's recent waits, as they stand among the features.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecentFeatures {
    /// The latest wait, as the square root of seconds.
    pub last: f32,
    /// Mean over some three waits, as the square root of seconds.
    pub fast: f32,
    /// Mean over some thirty waits, as the square root of seconds.
    pub slow: f32,
    /// Logarithm of the seconds since the latest start; [`LONGEST_SINCE`] or more if there was
    /// none.
    pub since_start: f32,
}

/// Finds a group's recent waits among the features of a job; `None` if these are cut short.
#[must_use]
pub fn recent_features(kind: GroupKind, features: &[f32]) -> Option<RecentFeatures> {
    let first = first_feature(kind) + RECENT;
    match features.get(first..first + 4)? {
        [last, fast, slow, since_start] => Some(RecentFeatures { last: *last, fast: *fast, slow: *slow, since_start: *since_start }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
    use job_types::size::Size;

    #[test]
    fn recent_waits_are_found_again_among_the_features() {
        let mut groups = [Group::default(); GroupKind::ALL.len()];
        for (index, group) in groups.iter_mut().enumerate() {
            group.recent.last[0] = 100.0 + index as f32;
            group.recent.fast = 200.0 + index as f32;
        }
        let job = WaitingJob {
            user: UserId(1),
            account: AccountIndex(0),
            partition: PartitionIndex(0),
            qos: QosIndex(0),
            size: Size { nodes: 1, cpus: 4 },
            limit: Some(Seconds(3_600)),
            eligible: UnixTime(1_000_000),
        };
        let ends = Ends::default();
        let inputs =
            FeatureInputs { now: job.eligible, cpus: 8, expected_s: 60.0, groups: &groups, ends_by_limit: ends, ends_expected: ends };
        let mut features = Vec::new();
        inputs.write_features(&job, &mut features);
        assert_eq!(features.len(), FEATURES);
        for (index, kind) in GroupKind::ALL.into_iter().enumerate() {
            let recent = recent_features(kind, &features).unwrap();
            assert_eq!((recent.last, recent.fast), (100.0 + index as f32, 200.0 + index as f32));
            assert!(recent.since_start >= LONGEST_SINCE);
        }
    }

    #[test]
    fn a_group_loses_the_share_of_its_partition_or_else_that_of_the_cluster() {
        let mut groups = [Group::default(); GroupKind::ALL.len()];
        groups.iter_mut().for_each(|group| (group.running.cpus, group.running.jobs) = (100.0, 10.0));
        // The jobs that end free a quarter of the cluster's 100 CPUs and half of the partition's
        // 40.
        let_running_end(&mut groups, 25.0, 20.0, 40.0);
        let left = |kind: GroupKind| groups[kind as usize].running.jobs;
        for kind in [GroupKind::Cluster, GroupKind::User, GroupKind::Account, GroupKind::UserRequest] {
            assert_eq!(left(kind), 7.5);
        }
        for kind in [GroupKind::Partition, GroupKind::UserPartition, GroupKind::SizeClass, GroupKind::Class] {
            assert_eq!(left(kind), 5.0);
        }
    }

    #[test]
    fn freed_cpus_are_extrapolated_beyond_the_last_end() {
        let freed = [(100, 4.0), (200, 10.0)];
        let ends = Ends { freed: &freed };
        assert_eq!([0.0, 4.0, 5.0, 10.0, 20.0].map(|cpus| ends.until(cpus, 0.0, UnixTime(50))), [0.0, 50.0, 150.0, 150.0, 300.0]);
        assert_eq!([0.0, 1.0, 6.0].map(|cpus| ends.until(cpus, 4.0, UnixTime(150))), [0.0, 50.0, 50.0]);
    }
}
