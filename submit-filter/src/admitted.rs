//! What was admitted with deadlines since the queue was read that a snapshot knows.
//!
//! An admitted job is a promise, so that whoever is admitted next has to count it, whoever's it is:
//! otherwise a burst of jobs would be promised the same free CPUs. (Other claims are each user's
//! own: see [`claims`](crate::claims).) What somebody admits in vain, because Slurm refuses the job
//! in the end or its user cancels it at once, counts until slurmctld's queue has been read again,
//! and no longer.
//!
//! A snapshot knows the queue as of a moment before it was published, and jobs are admitted
//! meanwhile. So the moments of admission are kept, across snapshots, and a snapshot counts those
//! that its own queue is too old to have.

use job_types::time::{Seconds, UnixTime};
use parking_lot::{Mutex, MutexGuard};
use predictor_core::decision::GivenShare;
use predictor_core::forecast::Claims;
use predictor_core::shared_nodes::{SharedNode, SharingJob};
use predictor_core::site::Partition;
use predictor_core::snapshot::Snapshot;
use std::collections::{HashMap, VecDeque};

/// How long after it was admitted a job may not be in slurmctld's queue yet, in whole seconds.
const UNDERWAY: Seconds = Seconds(2);

/// How many moments are told apart in one partition. Where there are more, the earliest are taken
/// for the later of them, and so count longer.
const MOST_MOMENTS: usize = 64;

/// What was admitted, by partition.
///
/// The lock is held while one job with a deadline is decided about, so that two that come at once
/// are not promised the same. Other submissions never take it.
#[derive(Debug, Default)]
pub(crate) struct AdmittedTable(Mutex<Admitted>);

#[derive(Debug, Default)]
struct Admitted {
    /// By partition.
    partitions: HashMap<Box<str>, Vec<Admission>>,
    /// To nodes that jobs share, in the order of time.
    nodes: VecDeque<NodeAdmission>,
    /// The nodes of a partition with these, by its name.
    merged: HashMap<Box<str>, Merged>,
}

/// How many admissions to nodes are kept.
const MOST_NODE_ADMISSIONS: usize = 32_768;

/// What was admitted to a node that jobs share.
#[derive(Clone, Debug)]
struct NodeAdmission {
    at: UnixTime,
    /// Its name, which is the same in all partitions and snapshots.
    node: Box<str>,
    job: SharingJob,
}

/// The nodes of a partition by one snapshot, with what was admitted to them since.
#[derive(Debug)]
struct Merged {
    /// That of the snapshot.
    checksum: u64,
    nodes: Vec<SharedNode>,
}

/// What was admitted in one second.
#[derive(Clone, Copy, Debug)]
struct Admission {
    at: UnixTime,
    claims: Claims,
}

/// The turn to decide about a job with a deadline.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    admitted: MutexGuard<'a, Admitted>,
    /// From when on what was admitted may be missing in the snapshot's queue; `None` where its
    /// queue was never read.
    since: Option<UnixTime>,
    now: UnixTime,
}

impl AdmittedTable {
    pub(crate) fn new() -> AdmittedTable {
        AdmittedTable::default()
    }

    /// Waits for those that decide already, and takes the turn. The snapshot that is decided from
    /// knows the queue of slurmctld as of `read_at`.
    pub(crate) fn turn(&self, read_at: Option<UnixTime>, now: UnixTime) -> Turn<'_> {
        Turn { admitted: self.0.lock(), since: read_at.map(|read_at| read_at - UNDERWAY), now }
    }
}

impl Turn<'_> {
    /// What was admitted to a partition that its queue does not know.
    pub(crate) fn of(&mut self, partition: &str) -> Claims {
        let mut sum = Claims::default();
        let Some(admissions) = self.admitted.partitions.get_mut(partition) else { return sum };
        for admission in admissions {
            // After the clock was set back it would count for as long as that was.
            admission.at = admission.at.min(self.now);
            if self.since.is_none_or(|since| admission.at >= since) {
                sum.add(&admission.claims);
            }
        }
        sum
    }

    /// Adds a job that was admitted to a partition. What the snapshot's queue knows is forgotten.
    pub(crate) fn add(&mut self, partition: &str, claims: &Claims) {
        let (since, now) = (self.since, self.now);
        self.admitted.partitions.retain(|_, admissions| {
            admissions.retain(|admission| since.is_none_or(|since| admission.at >= since));
            !admissions.is_empty()
        });
        let admissions = self.admitted.partitions.entry(partition.into()).or_default();
        match admissions.last_mut() {
            Some(last) if last.at == now => last.claims.add(claims),
            _ => admissions.push(Admission { at: now, claims: *claims }),
        }
        if admissions.len() > MOST_MOMENTS {
            let earliest = admissions.remove(0);
            if let Some(next) = admissions.first_mut() {
                next.claims.add(&earliest.claims);
            }
        }
    }

    /// The nodes of a partition that jobs share, with the jobs that were admitted to them and that
    /// the snapshot's queue does not know.
    pub(crate) fn shared_nodes<'b>(&'b mut self, partition: &Partition<'b>, snapshot: &Snapshot<impl AsRef<[u8]>>) -> &'b [SharedNode] {
        if self.admitted.nodes.is_empty() || partition.shared_nodes.is_empty() {
            return partition.shared_nodes;
        }
        let (since, now) = (self.since, self.now);
        let Admitted { nodes: admissions, merged, .. } = &mut *self.admitted;
        let is_current = |merged: &Merged| merged.checksum == snapshot.checksum();
        if !merged.get(partition.name).is_some_and(is_current) {
            // Another snapshot: once for each, what its queue knows is forgotten.
            merged.retain(|_, merged| is_current(merged));
            admissions.retain_mut(|admission| {
                admission.at = admission.at.min(now);
                since.is_none_or(|since| admission.at >= since)
            });
            let mut jobs: HashMap<&str, Vec<SharingJob>> = HashMap::new();
            for admission in admissions.iter() {
                jobs.entry(&admission.node).or_default().push(admission.job);
            }
            let mut nodes = partition.shared_nodes.to_vec();
            for node in &mut nodes {
                let jobs = jobs.get(snapshot.shared_node_name(node));
                jobs.into_iter().flatten().for_each(|job| node.add(*job));
            }
            merged.insert(partition.name.into(), Merged { checksum: snapshot.checksum(), nodes });
        }
        merged.get(partition.name).map_or(partition.shared_nodes, |merged| &merged.nodes)
    }

    /// Adds a job to the nodes that it is given a share of. Of too many to keep, the earliest are
    /// forgotten with the next snapshot.
    pub(crate) fn add_to_nodes(&mut self, partition: &Partition<'_>, snapshot: &Snapshot<impl AsRef<[u8]>>, given: &GivenShare) {
        let at = self.now;
        let Admitted { nodes: admissions, merged, .. } = &mut *self.admitted;
        let names = given.nodes.iter().filter_map(|place| partition.shared_nodes.get(*place as usize));
        admissions.extend(names.map(|node| NodeAdmission { at, node: snapshot.shared_node_name(node).into(), job: given.job }));
        let excess = admissions.len().saturating_sub(MOST_NODE_ADMISSIONS);
        admissions.drain(..excess);
        // Another partition may have the same nodes.
        merged.retain(|name, _| **name == *partition.name);
        if let Some(merged) = merged.get_mut(partition.name).filter(|merged| merged.checksum == snapshot.checksum()) {
            for place in &given.nodes {
                if let Some(node) = merged.nodes.get_mut(*place as usize) {
                    node.add(given.job);
                }
            }
        }
    }
}
