//! The sweep that reconstructs, in order of time, what each job saw as it arrived.
//!
//! The wait of a job is known from its start on and its run time from its end on: nothing here
//! tells them earlier, to the evaluation on workload logs or to the daemon.

mod arrivals;
mod distributions;
mod events;

pub use arrivals::{Arrivals, TABLE_CPUS, TABLE_FEATURES};
pub use distributions::DISTRIBUTIONS;
pub use events::{Event, EventKind, PUBLISHED_FOR, events, rounds};

use distributions::Distributions;
use job_types::job::{EndedJob, WaitingJob};
use job_types::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use predictor_core::forecasts::past::{
    Ends, FEATURES, FeatureInputs, Group, GroupKey, GroupKind, UserPast, expected_run_time_s, let_running_end,
};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};

/// Whether a job that has arrived waits or runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    Waiting,
    Running,
}

/// What the sweep keeps of a job that waits or runs.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Open {
    job: WaitingJob,
    phase: Phase,
    /// When it started to wait or to run.
    since: UnixTime,
    expected_s: f32,
    groups: [u32; GroupKind::ALL.len()],
}

/// A group, and its waiting jobs in order of arrival, gone ones among them until they are the
/// first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Kept {
    group: Group,
    queue: VecDeque<u32>,
}

/// Goes through the past in order of time; [`Sweep::arrivals`] has what it found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sweep {
    cpus: u32,
    arrivals: Arrivals,
    open: HashMap<u32, Open>,
    index: HashMap<GroupKey, u32>,
    groups: Vec<Kept>,
    /// Places among the groups that are of no group any more.
    unused: Vec<u32>,
    distributions: Distributions,
    /// The last two run times of each user, in seconds.
    last_two_s: HashMap<UserId, [f32; 2]>,
    /// Account and quality of service of each user's last job.
    associations: HashMap<UserId, (AccountIndex, QosIndex)>,
    by_limit: EndList,
    expected: EndList,
    expected_in_partition: HashMap<PartitionIndex, EndList>,
}

/// Running jobs by their end: ascending moments with CPUs, and the CPUs summed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct EndList {
    ends: Vec<(i64, u32)>,
    freed: Vec<(i64, f32)>,
    is_summed: bool,
}

impl EndList {
    fn add(&mut self, end: i64, cpus: u32) {
        let place = self.ends.partition_point(|other| *other < (end, cpus));
        self.ends.insert(place, (end, cpus));
        self.is_summed = false;
    }

    fn remove(&mut self, end: i64, cpus: u32) {
        if let Ok(place) = self.ends.binary_search(&(end, cpus)) {
            self.ends.remove(place);
            self.is_summed = false;
        }
    }

    fn sum(&mut self) {
        if self.is_summed {
            return;
        }
        self.freed.clear();
        let mut freed = 0.0;
        for (end, cpus) in &self.ends {
            freed += *cpus as f32;
            self.freed.push((*end, freed));
        }
        self.is_summed = true;
    }

    /// When the CPUs become free; to be asked once summed.
    fn ends(&self) -> Ends<'_> {
        Ends { freed: &self.freed }
    }

    /// CPUs in use; to be asked once summed.
    fn cpus(&self) -> f64 {
        self.freed.last().map_or(0.0, |(_, freed)| f64::from(*freed))
    }
}

/// A job without a time limit is taken to end after a week, as far as its limit is concerned.
const NO_LIMIT: Seconds = Seconds(7 * 86_400);

fn limit_end(job: &WaitingJob, start: UnixTime) -> i64 {
    (start + job.limit.unwrap_or(NO_LIMIT)).0
}

impl Sweep {
    /// Before anything has happened on a cluster of `cpus`; distributions get `bins` bins.
    #[must_use]
    pub fn new(cpus: u32, bins: usize) -> Sweep {
        Sweep {
            cpus,
            arrivals: Arrivals::new(bins),
            open: HashMap::new(),
            index: HashMap::new(),
            groups: Vec::new(),
            unused: Vec::new(),
            distributions: Distributions::new(bins, cpus),
            last_two_s: HashMap::new(),
            associations: HashMap::new(),
            by_limit: EndList::default(),
            expected: EndList::default(),
            expected_in_partition: HashMap::new(),
        }
    }

    /// Keeps what the latest `rows` jobs saw, and a few thousand more, in the place of what all
    /// did.
    #[must_use]
    pub fn keeping(mut self, rows: usize) -> Sweep {
        self.arrivals.keep(rows);
        self
    }

    /// The cluster has so many CPUs from now on.
    pub fn set_cpus(&mut self, cpus: u32) {
        self.cpus = cpus;
    }

    /// What all of `jobs` saw, who must be in order of eligibility, where the cluster is published
    /// as often as it is by default.
    #[must_use]
    pub fn over(jobs: &[EndedJob], cpus: u32, bins: usize) -> Arrivals {
        Sweep::over_rounds(jobs, cpus, bins, PUBLISHED_FOR)
    }

    /// Returns what jobs saw, as [`Sweep::over`], if what is published stays in force for
    /// `published_for`.
    ///
    /// The features of the default forecast are those that the submit filter makes from what is
    /// published, because that is all it has. The features and distributions of Hariharan et al.
    /// 2020 are of the second of arrival, as its methods have it.
    #[must_use]
    pub fn over_rounds(jobs: &[EndedJob], cpus: u32, bins: usize, published_for: Seconds) -> Arrivals {
        let mut sweep = Sweep::new(cpus, bins);
        let all = events(jobs);
        for round in rounds(&all, published_for) {
            let mut published = sweep.seen_in(round, |index| jobs.get(index as usize).map(|job| job.submitted));
            for event in round {
                let Some(job) = jobs.get(event.job as usize) else { continue };
                match event.kind {
                    EventKind::Arrival => {
                        sweep.arrive_seeing(&job.submitted, job.submitted.eligible, published.remove(&event.job).as_deref());
                    }
                    EventKind::Start => sweep.start_with(event.job, event.at, job.occupied()),
                    EventKind::End | EventKind::EndAtOnce => sweep.end(event.job, event.at, job.suspended),
                }
            }
        }
        sweep.arrivals
    }

    /// The features of the jobs that arrive in a round, each as it sees what is known before the
    /// round; by the jobs' indices.
    pub fn seen_in(&mut self, round: &[Event], job: impl Fn(u32) -> Option<WaitingJob>) -> HashMap<u32, Vec<f32>> {
        let arrivals = round.iter().filter(|event| event.kind == EventKind::Arrival);
        arrivals.filter_map(|event| Some((event.job, self.seen(&job(event.job)?, event.at)))).collect()
    }

    /// The features of the default forecast ([`FeatureInputs::write_features`]) of a job that
    /// becomes eligible at a moment at which this is still the latest that is known. It is not
    /// taken to have arrived.
    #[must_use]
    pub fn seen(&mut self, job: &WaitingJob, at: UnixTime) -> Vec<f32> {
        let groups = GroupKey::of(job).map(|key| self.index.get(&key).copied().map_or_else(Group::default, |index| self.settled(index)));
        self.by_limit.sum();
        self.expected.sum();
        let inputs = FeatureInputs {
            now: at,
            cpus: self.cpus,
            expected_s: self.expected_s(job),
            groups: &groups,
            ends_by_limit: Ends { freed: &self.by_limit.freed },
            ends_expected: Ends { freed: &self.expected.freed },
        };
        let mut features = Vec::with_capacity(FEATURES);
        inputs.write_features(job, &mut features);
        features
    }

    /// What was found so far.
    #[must_use]
    pub fn arrivals(&self) -> &Arrivals {
        &self.arrivals
    }

    /// A job arrives; its row is what the other calls know it by. What the record says of its start
    /// and end is not looked at.
    pub fn arrive(&mut self, job: &WaitingJob) -> u32 {
        self.arrive_at(job, job.eligible)
    }

    /// Adds, as [`Sweep::arrive`] does, a job that is known of later than it became eligible. The
    /// job sees what is there `now`.
    pub fn arrive_at(&mut self, job: &WaitingJob, now: UnixTime) -> u32 {
        self.arrive_seeing(job, now, None)
    }

    /// Adds, as [`Sweep::arrive_at`] does, a job whose features were made from what was published
    /// then ([`Sweep::seen`]).
    pub fn arrive_seeing(&mut self, job: &WaitingJob, now: UnixTime, published: Option<&[f32]>) -> u32 {
        let (eligible, now) = (job.eligible, now.max(job.eligible));
        let row = self.arrivals.len() as u32;
        let expected_s = self.expected_s(job);
        self.associations.insert(job.user, (job.account, job.qos));
        let keys = GroupKey::of(job);
        let indices = keys.map(|key| self.group_index(key));
        let groups = indices.map(|index| self.settled(index));
        self.by_limit.sum();
        self.expected.sum();
        let inputs = FeatureInputs {
            now,
            cpus: self.cpus,
            expected_s,
            groups: &groups,
            ends_by_limit: Ends { freed: &self.by_limit.freed },
            ends_expected: Ends { freed: &self.expected.freed },
        };
        self.arrivals.push(job, &inputs, published, &self.distributions);
        for index in indices {
            if let Some(kept) = self.groups.get_mut(index as usize) {
                kept.group.waiting.add(job, expected_s, eligible);
                kept.group.recent.arrived_at = now.0 as f64;
                kept.queue.push_back(row);
            }
        }
        self.distributions.add(false, job.size.cpus, job.limit_or_zero().0, eligible);
        self.open.insert(row, Open { job: *job, phase: Phase::Waiting, since: eligible, expected_s, groups: indices });
        row
    }

    /// The features of the default forecast ([`FeatureInputs::write_features`]) of a job that would
    /// arrive `now` or, where its eligibility is later, then. By then so many of the running jobs
    /// are taken to have ended as are expected to, by the same rule as in the submit filter
    /// ([`let_running_end`]). The job is not taken to have arrived.
    pub fn look(&mut self, job: &WaitingJob, now: UnixTime) -> Vec<f32> {
        let indices = GroupKey::of(job).map(|key| self.group_index(key));
        let mut groups = indices.map(|index| self.settled(index));
        self.by_limit.sum();
        self.expected.sum();
        let mut freed = 0.0;
        if job.eligible > now {
            let (freed_in_partition, running) = self.expected_in_partition.get_mut(&job.partition).map_or((0.0, 0.0), |ends| {
                ends.sum();
                (ends.ends().freed_between(now, job.eligible), ends.cpus())
            });
            freed = self.expected.ends().freed_between(now, job.eligible);
            let_running_end(&mut groups, freed, freed_in_partition, running);
        }
        let inputs = FeatureInputs {
            now: now.max(job.eligible),
            cpus: self.cpus,
            expected_s: self.expected_s(job),
            groups: &groups,
            ends_by_limit: Ends { freed: &self.by_limit.freed },
            ends_expected: Ends { freed: &self.expected.freed },
        };
        let mut features = Vec::with_capacity(FEATURES);
        inputs.write_features_after(job, freed, &mut features);
        features
    }

    /// The job of a row starts: its wait is known.
    pub fn start(&mut self, row: u32, at: UnixTime) {
        if let Some(open) = self.open.get(&row) {
            self.start_with(row, at, open.job.size);
        }
    }

    /// Starts, as [`Sweep::start`] does, a job that gets another size than it asked for.
    pub fn start_with(&mut self, row: u32, at: UnixTime, size: Size) {
        self.start_counting(row, at, size, true);
    }

    /// The job of a row starts at a moment that was agreed on, so that later jobs see nothing of
    /// its wait.
    pub fn start_without_wait(&mut self, row: u32, at: UnixTime, size: Size) {
        self.start_counting(row, at, size, false);
    }

    fn start_counting(&mut self, row: u32, at: UnixTime, size: Size, counts_wait: bool) {
        let Some(open) = self.open.get_mut(&row) else { return };
        if open.phase != Phase::Waiting {
            return;
        }
        let (asked, eligible, at) = (open.job, open.since, at.max(open.since));
        open.job.size = size;
        (open.phase, open.since) = (Phase::Running, at);
        let Open { job, expected_s, groups, .. } = *open;
        let wait_s = (at - eligible).0 as f64;
        for index in groups {
            if let Some(Kept { group, .. }) = self.groups.get_mut(index as usize) {
                group.waiting.remove(&asked, expected_s, eligible);
                group.running.add(&job, expected_s, at);
                if counts_wait {
                    group.recent.learn(wait_s, at);
                }
            }
        }
        self.distributions.remove(false, asked.size.cpus, job.limit_or_zero().0, eligible);
        self.distributions.add(true, job.size.cpus, job.limit_or_zero().0, at);
        self.by_limit.add(limit_end(&job, at), job.size.cpus);
        let expected_end = at.0 + expected_s as i64;
        self.expected.add(expected_end, job.size.cpus);
        self.expected_in_partition.entry(job.partition).or_default().add(expected_end, job.size.cpus);
        self.arrivals.set_start(row as usize, at, size);
    }

    /// The job of a row ends, or is cancelled before it starts.
    pub fn end(&mut self, row: u32, at: UnixTime, suspended: Seconds) {
        if let Some((job, since)) = self.close(row) {
            let run_time_s = ((at - since) - suspended).0.max(0) as f32;
            let last_two = self.last_two_s.entry(job.user).or_insert([run_time_s; 2]);
            *last_two = [run_time_s, last_two[0]];
        }
        self.arrivals.set_end(row as usize, at, suspended);
    }

    /// The job of a row is put back into the queue, or ends because a node failed: how long it ran
    /// says nothing of how long it would have.
    pub fn interrupt(&mut self, row: u32) {
        self.close(row);
    }

    /// Takes a job out of all sums. If it ran, says which it was and since when it did.
    fn close(&mut self, row: u32) -> Option<(WaitingJob, UnixTime)> {
        let open = self.open.remove(&row)?;
        let (job, runs) = (open.job, open.phase == Phase::Running);
        for index in open.groups {
            if let Some(Kept { group, .. }) = self.groups.get_mut(index as usize) {
                let side = if runs { &mut group.running } else { &mut group.waiting };
                side.remove(&job, open.expected_s, open.since);
            }
        }
        self.distributions.remove(runs, job.size.cpus, job.limit_or_zero().0, open.since);
        if !runs {
            return None;
        }
        self.by_limit.remove(limit_end(&job, open.since), job.size.cpus);
        let expected_end = open.since.0 + open.expected_s as i64;
        self.expected.remove(expected_end, job.size.cpus);
        if let Some(ends) = self.expected_in_partition.get_mut(&job.partition) {
            ends.remove(expected_end, job.size.cpus);
        }
        Some((job, open.since))
    }

    /// How long a job is expected to run, by what is known now.
    #[must_use]
    pub fn expected_s(&self, job: &WaitingJob) -> f32 {
        expected_run_time_s(job.limit, self.last_two_s.get(&job.user).copied())
    }

    /// All groups as they are now, in no order.
    #[must_use]
    pub fn groups(&mut self) -> Vec<(GroupKey, Group)> {
        let keys: Vec<(GroupKey, u32)> = self.index.iter().map(|(key, index)| (*key, *index)).collect();
        keys.into_iter().map(|(key, index)| (key, self.settled(index))).collect()
    }

    /// When the running jobs end: by their time limits, and if they run as long as expected.
    #[must_use]
    pub fn ends(&mut self) -> [Ends<'_>; 2] {
        self.by_limit.sum();
        self.expected.sum();
        [Ends { freed: &self.by_limit.freed }, Ends { freed: &self.expected.freed }]
    }

    /// What is known of each user, in no order.
    pub fn users(&self) -> impl Iterator<Item = UserPast> + '_ {
        self.associations.iter().map(|(user, (account, qos))| UserPast {
            user: *user,
            last_two_s: self.last_two_s.get(user).copied(),
            account: *account,
            qos: *qos,
        })
    }

    /// Lets go of the groups in which nothing waits or runs and nothing has arrived or started
    /// since a moment: programs, users and limits come and go, and their groups would else become
    /// more and more.
    pub fn forget_groups(&mut self, since: UnixTime) {
        let Sweep { index, groups, unused, .. } = self;
        index.retain(|_, place| {
            let Some(Kept { group, queue }) = groups.get_mut(*place as usize) else { return false };
            let lately = group.recent.started_at.max(group.recent.arrived_at) >= since.0 as f64;
            let stays = lately || group.waiting.jobs > 0.0 || group.running.jobs > 0.0;
            if !stays {
                (*group, *queue) = (Group::default(), VecDeque::new());
                unused.push(*place);
            }
            stays
        });
        // The places are sorted, so that their order does not depend on the map's.
        unused.sort_unstable();
    }

    /// CPUs of the cluster.
    #[must_use]
    pub fn cpus(&self) -> u32 {
        self.cpus
    }

    fn group_index(&mut self, key: GroupKey) -> u32 {
        if let Some(index) = self.index.get(&key) {
            return *index;
        }
        let index = self.unused.pop().unwrap_or_else(|| {
            self.groups.push(Kept::default());
            self.groups.len() as u32 - 1
        });
        self.index.insert(key, index);
        index
    }

    /// The group, with its oldest waiting job brought up to date.
    fn settled(&mut self, index: u32) -> Group {
        let Some(kept) = self.groups.get_mut(index as usize) else { return Group::default() };
        let mut oldest = 0.0;
        while let Some(row) = kept.queue.front() {
            match self.open.get(row) {
                Some(Open { phase: Phase::Waiting, since, .. }) => {
                    oldest = since.0 as f64;
                    break;
                }
                _ => {
                    kept.queue.pop_front();
                }
            }
        }
        kept.group.oldest = oldest;
        kept.group
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(user: UserId, eligible: i64) -> WaitingJob {
        WaitingJob {
            user,
            account: AccountIndex(0),
            partition: PartitionIndex(0),
            qos: QosIndex(0),
            size: Size { nodes: 1, cpus: 2 },
            limit: None,
            eligible: UnixTime(eligible),
        }
    }

    #[test]
    fn groups_of_long_ago_are_let_go_of_but_not_those_in_which_something_runs() {
        let mut sweep = Sweep::new(8, 0);
        for user in 0..100 {
            let row = sweep.arrive(&job(UserId(user), 1_000));
            sweep.start(row, UnixTime(1_000));
            if user != 7 {
                sweep.end(row, UnixTime(1_100), Seconds::ZERO);
            }
        }
        let all = sweep.groups().len();
        sweep.forget_groups(UnixTime(5_000));
        let mut left = sweep.groups();
        // The groups of user 7's job are left, one of each kind.
        assert_eq!((all, left.len()), (5 + 3 * 100, GroupKind::ALL.len()));
        assert!(left.iter().all(|(_, group)| group.running.jobs == 1.0));
        // Their places are used again.
        sweep.arrive(&job(UserId(200), 6_000));
        left = sweep.groups();
        assert_eq!(left.len(), GroupKind::ALL.len() + 3);
        let new = left.iter().find(|(key, _)| key.kind == GroupKind::User && key.values[0] == 200).unwrap();
        assert_eq!((new.1.waiting.jobs, new.1.recent.starts), (1.0, 0.0));
        assert!(sweep.groups.len() <= 5 + 3 * 100);
    }

    #[test]
    fn to_look_tells_what_an_arrival_sees_and_changes_nothing() {
        let mut sweep = Sweep::new(8, 0);
        let first = sweep.arrive(&job(UserId(1), 1_000));
        sweep.start(first, UnixTime(1_010));
        sweep.arrive(&job(UserId(1), 1_020));
        let next = job(UserId(2), 1_030);
        let seen = sweep.look(&next, UnixTime(1_030));
        assert_eq!(seen, sweep.look(&next, UnixTime(1_030)));
        let row = sweep.arrive(&next) as usize;
        assert_eq!(sweep.arrivals().features(row), Some(seen.as_slice()));
    }

    #[test]
    fn what_ends_in_another_partition_by_a_later_moment_frees_nothing_in_the_jobs_own() {
        // The features of the job's partition stand behind its own ten, the cluster's seven and the
        // eighteen of the group of the whole cluster.
        let of_partition = 10 + 7 + 18..10 + 7 + 2 * 18;
        let in_partition = |partition, user, limit| WaitingJob { partition, limit: Some(Seconds(limit)), ..job(user, 1_000) };
        let mut sweep = Sweep::new(8, 0);
        for other in [in_partition(PartitionIndex(0), UserId(1), 10_000), in_partition(PartitionIndex(1), UserId(2), 100)] {
            let row = sweep.arrive(&other);
            sweep.start(row, UnixTime(1_010));
        }
        let later = |eligible| WaitingJob { eligible: UnixTime(eligible), ..in_partition(PartitionIndex(0), UserId(3), 60) };
        let running = |features: &[f32]| features[of_partition.clone()][6];
        let cluster = |features: &[f32]| features[10 + 7 + 6];
        let before = sweep.look(&later(1_050), UnixTime(1_050));
        let after = sweep.look(&later(1_500), UnixTime(1_050));
        assert_eq!((cluster(&before), running(&before)), (2.0, 1.0));
        assert_eq!((cluster(&after), running(&after)), (1.0, 1.0), "half of the cluster, but nothing of the partition");
        let after_all = sweep.look(&later(20_000), UnixTime(1_050));
        assert_eq!((cluster(&after_all), running(&after_all)), (0.0, 0.0));
    }

    #[test]
    fn a_job_that_becomes_known_late_sees_the_present_and_has_waited_since_it_was_eligible() {
        let mut sweep = Sweep::new(8, 0);
        let first = sweep.arrive(&job(UserId(1), 1_000));
        sweep.start(first, UnixTime(1_010));
        let late = sweep.arrive_at(&job(UserId(2), 1_005), UnixTime(1_020));
        sweep.start_with(late, UnixTime(1_015), Size { nodes: 1, cpus: 4 });
        let past = sweep.arrivals();
        assert_eq!(past.table(late as usize).unwrap()[5], 2.0, "the first job runs by now");
        assert_eq!(past.job(late as usize).unwrap().wait(), Some(Seconds(10)));
        let cluster = sweep.groups().into_iter().find(|(key, _)| key.kind == GroupKind::Cluster).unwrap().1;
        assert_eq!((cluster.running.cpus, cluster.running.since, cluster.recent.last[0]), (6.0, 2_025.0, 10f32.sqrt()));
    }
}
