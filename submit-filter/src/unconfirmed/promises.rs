//! The room that jobs were promised since the queue was read that a snapshot knows: to be done by a
//! deadline, or to begin at a reserved time.
//!
//! Whoever is promised something next has to count it, whoever's it is: otherwise a burst of jobs
//! would be promised the same free CPUs. (Other claims are each user's own: see
//! [`claims`](crate::claims).) So what somebody is promised in vain, because Slurm refuses the job
//! in the end, must not be to the harm of others. It is bounded by user ([`standing`]), and whoever
//! would get a promise but for those of others that are not confirmed yet is neither promised nor
//! refused: their submission is to be repeated, as sbatch does by itself, until the queue has been
//! read again.
//!
//! A snapshot knows the queue as of a moment before it was published, and jobs are promised room
//! meanwhile. So promises are kept across snapshots, until one comes whose queue is new enough to
//! have them.
//!
//! [`standing`]: predictor_core::decisions::standing

use super::missing_since;
use super::seen_jobs::SeenJobs;
use job_types::number::UserId;
use job_types::size::Size;
use job_types::time::UnixTime;
use parking_lot::{Mutex, MutexGuard};
use predictor_core::decisions::GivenShare;
use predictor_core::decisions::shared_nodes::{SharedNode, SharingJob};
use predictor_core::decisions::site::Partition;
use predictor_core::decisions::standing::Standings;
use predictor_core::forecasts::forecast::{Claimed, Claims};
use predictor_core::snapshot::Snapshot;
use std::collections::HashMap;
use std::sync::Arc;

/// The most promises that are kept.
const MOST_PROMISES: usize = 16_384;

/// The most promises of one user that are kept.
const MOST_OF_USER: usize = 512;

/// What was promised.
///
/// The lock is held while one job is decided about that asks for a promise, so that two that come
/// at once are not promised the same. Other submissions never take it.
#[derive(Debug, Default)]
pub(crate) struct PromiseTable(Mutex<Promises>);

#[derive(Debug, Default)]
struct Promises {
    /// The promises in the order in which they were given.
    promises: Vec<Promise>,
    standings: Standings,
    /// The checksum of the snapshot that has told what became of earlier promises.
    settled: Option<u64>,
    /// The nodes of a partition with the promised shares of them, by its name.
    merged: HashMap<Box<str>, Merged>,
}

#[derive(Debug)]
struct Promise {
    at: UnixTime,
    user: UserId,
    partition: Box<str>,
    claims: Claims,
    /// When it is to begin, if that is what is promised.
    reserved_at: Option<UnixTime>,
    /// The job's nodes, where it has them to itself.
    whole_nodes: Option<u32>,
    /// The names of nodes that it shares, which are the same in all partitions and snapshots, and
    /// what it has of each.
    shares: Option<(Vec<Box<str>>, SharingJob)>,
}

/// The nodes of a partition by one snapshot, with what was promised of them since.
#[derive(Debug)]
struct Merged {
    /// The checksum of that snapshot.
    checksum: u64,
    nodes: Arc<Vec<SharedNode>>,
}

/// The users whose promises count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The promises of all users count.
    All,
    /// Only the promises of this user count.
    Own(UserId),
}

/// Whether a user may be promised more before the queue is read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Allowed {
    Yes,
    /// The user's earlier promises have to be confirmed first.
    AfterReading,
    /// This many of the user's promised jobs did not come to be.
    NotTrusted(u32),
}

/// The turn to decide about a job that asks for a promise.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    promises: MutexGuard<'a, Promises>,
    now: UnixTime,
}

impl PromiseTable {
    /// Waits for those that decide already, and takes the turn. What the snapshot's queue knows, or
    /// is new enough to lack, is promised no more.
    pub(crate) fn turn<B: AsRef<[u8]>>(&self, snapshot: &Snapshot<B>, now: UnixTime) -> Turn<'_> {
        let mut promises = self.0.lock();
        promises.settle(snapshot, now);
        Turn { promises, now }
    }
}

impl Promises {
    fn settle<B: AsRef<[u8]>>(&mut self, snapshot: &Snapshot<B>, now: UnixTime) {
        for promise in &mut self.promises {
            // If the clock was set back, a promise would else count for longer, by as much as that.
            promise.at = promise.at.min(now);
        }
        if self.settled.replace(snapshot.checksum()) == Some(snapshot.checksum()) {
            return;
        }
        self.merged.clear();
        let since = missing_since(snapshot);
        let (told, kept): (Vec<Promise>, Vec<Promise>) = self.promises.drain(..).partition(|promise| promise.at < since);
        self.promises = kept;
        let Some(known_since) = snapshot.provenance().submissions_since else { return };
        let mut seen: HashMap<UserId, SeenJobs> = HashMap::new();
        for promise in told.iter().filter(|promise| promise.at > known_since) {
            let of_user = seen.entry(promise.user).or_insert_with(|| snapshot.seen_submissions(promise.user).collect());
            // Each job stands for one promise.
            let found = of_user.take(promise.at, |size| promise.may_be_of_size(size));
            self.standings.note(promise.user, found.is_some(), now);
        }
    }
}

impl Promise {
    /// Whether a job of a size may be the promised one. A smaller job is not, so that small ones
    /// can't stand for a large one that never came to be.
    fn may_be_of_size(&self, size: Size) -> bool {
        u64::from(size.cpus) >= self.claims.cpus || self.whole_nodes.is_some_and(|nodes| size.nodes >= nodes)
    }

    fn counts(&self, whose: Whose) -> bool {
        whose == Whose::All || whose == Whose::Own(self.user)
    }
}

impl Turn<'_> {
    /// What is claimed in a partition and on the cluster, of which `own` is what the user's own
    /// jobs claim, with promises or without.
    ///
    /// A reserved time counts for a deadline where it comes before that.
    pub(crate) fn claimed(&self, partition: &str, deadline: Option<UnixTime>, own: Claimed, whose: Whose) -> Claimed {
        let mut claimed = own;
        let mut reserved = [Claims::default(), Claims::default()];
        for promise in self.promises.promises.iter().filter(|promise| promise.counts(whose)) {
            let is_there = *promise.partition == *partition;
            let [of_partition, of_cluster] = &mut reserved;
            of_cluster.add(&promise.claims);
            if is_there {
                of_partition.add(&promise.claims);
                if promise.reserved_at.is_none_or(|at| deadline.is_none_or(|deadline| at < deadline)) {
                    claimed.admitted.add(&promise.claims);
                }
            }
        }
        // What is reserved by the user's own jobs is promised as well.
        for (claims, reserved) in [&mut claimed.partition, &mut claimed.cluster].into_iter().zip(reserved) {
            claims.reserved_cpus = reserved.reserved_cpus;
            claims.reserved_until_s = reserved.reserved_until_s;
        }
        claimed
    }

    /// Whether something was promised to others than a user.
    pub(crate) fn has_others(&self, user: UserId) -> bool {
        self.promises.promises.iter().any(|promise| promise.user != user)
    }

    /// Whether a user may be promised so many CPUs more of a partition.
    pub(crate) fn allowed(&self, user: UserId, partition: &Partition<'_>, cpus: u64) -> Allowed {
        let Promises { promises, standings, .. } = &*self.promises;
        let of_user = || promises.iter().filter(|promise| promise.user == user);
        let promised: u64 = of_user().filter(|promise| *promise.partition == *partition.name).map(|promise| promise.claims.cpus).sum();
        let allowance = standings.allowance(user, partition.cpus, self.now);
        if cpus > allowance {
            return Allowed::NotTrusted(standings.missing(user, self.now));
        }
        let has_room = promises.len() < MOST_PROMISES && of_user().count() < MOST_OF_USER;
        if has_room && promised.saturating_add(cpus) <= allowance { Allowed::Yes } else { Allowed::AfterReading }
    }

    /// Adds a job that was promised something, and the nodes that it is given a share of.
    pub(crate) fn add(
        &mut self,
        partition: &Partition<'_>,
        snapshot: &Snapshot<impl AsRef<[u8]>>,
        job: PromisedJob<'_>,
        given: Option<&GivenShare>,
    ) {
        let Promises { promises, merged, .. } = &mut *self.promises;
        let PromisedJob { user, reserved_at, claims, size, has_whole_nodes } = job;
        let shares = given.map(|given| {
            let nodes = given.nodes.iter().filter_map(|place| partition.shared_nodes.get(*place as usize));
            (nodes.map(|node| snapshot.shared_node_name(node).into()).collect(), given.job)
        });
        let whole_nodes = has_whole_nodes.then_some(size.nodes);
        promises.push(Promise { at: self.now, user, partition: partition.name.into(), claims: *claims, reserved_at, whole_nodes, shares });
        let Some(given) = given else { return };
        // Another partition may have the same nodes, so that its merged nodes are forgotten.
        merged.retain(|name, _| **name == *partition.name);
        if let Some(merged) = merged.get_mut(partition.name).filter(|merged| merged.checksum == snapshot.checksum()) {
            for place in &given.nodes {
                if let Some(node) = Arc::make_mut(&mut merged.nodes).get_mut(*place as usize) {
                    node.add(given.job);
                }
            }
        }
    }

    /// The nodes of a partition that jobs share, with the promised shares of them that the
    /// snapshot's queue does not know; `None` where there are none of these.
    pub(crate) fn shared_nodes(
        &mut self,
        partition: &Partition<'_>,
        snapshot: &Snapshot<impl AsRef<[u8]>>,
    ) -> Option<Arc<Vec<SharedNode>>> {
        let Promises { promises, merged, .. } = &mut *self.promises;
        if partition.shared_nodes.is_empty() || promises.iter().all(|promise| promise.shares.is_none()) {
            return None;
        }
        let is_current = |merged: &Merged| merged.checksum == snapshot.checksum();
        if !merged.get(partition.name).is_some_and(is_current) {
            let nodes = Arc::new(merged_nodes(promises, partition, snapshot, Whose::All));
            merged.insert(partition.name.into(), Merged { checksum: snapshot.checksum(), nodes });
        }
        merged.get(partition.name).map(|merged| merged.nodes.clone())
    }

    /// Returns the nodes with the shares that were promised to one user alone.
    pub(crate) fn own_shared_nodes(
        &self,
        user: UserId,
        partition: &Partition<'_>,
        snapshot: &Snapshot<impl AsRef<[u8]>>,
    ) -> Vec<SharedNode> {
        merged_nodes(&self.promises.promises, partition, snapshot, Whose::Own(user))
    }
}

/// A job that is promised something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PromisedJob<'a> {
    pub(crate) user: UserId,
    /// The reserved time, where that is what is promised.
    pub(crate) reserved_at: Option<UnixTime>,
    pub(crate) claims: &'a Claims,
    pub(crate) size: Size,
    pub(crate) has_whole_nodes: bool,
}

fn merged_nodes(promises: &[Promise], partition: &Partition<'_>, snapshot: &Snapshot<impl AsRef<[u8]>>, whose: Whose) -> Vec<SharedNode> {
    let mut jobs: HashMap<&str, Vec<SharingJob>> = HashMap::new();
    for promise in promises.iter().filter(|promise| promise.counts(whose)) {
        if let Some((names, job)) = &promise.shares {
            names.iter().for_each(|name| jobs.entry(name).or_default().push(*job));
        }
    }
    let mut nodes = partition.shared_nodes.to_vec();
    for node in &mut nodes {
        let jobs = jobs.get(snapshot.shared_node_name(node));
        jobs.into_iter().flatten().for_each(|job| node.add(*job));
    }
    nodes
}
