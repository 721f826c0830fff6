//! What the users' jobs have claimed since a snapshot was published.
//!
//! The snapshot does not know of the jobs that were submitted after it. A user who submits many at
//! once would see each of them decided as if it alone took the free CPUs, so that later decisions
//! about the same user's jobs count the earlier ones. They do not count the jobs of other users:
//! whoever can change what others are told by submitting jobs could hurt them at will. In replays
//! of workload logs the claims of others gained nothing (docs/molding.md).
//!
//! The table has a fixed size. What a user claims in a partition is never more than the partition
//! has.

use job_types::number::{PartitionIndex, UserId};
use predictor_core::decisions::site::Partition;
use predictor_core::forecasts::forecast::{Claimed, Claims};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Rows of the table. Each user takes one, and one more for each partition: enough for some hundred
/// users between two snapshots, in 64 KiB.
const ROWS: usize = 1_024;

/// How many rows are looked at for one key. A user who finds none free claims nothing until the
/// next snapshot.
const LOOKED_AT: usize = 16;

/// What stands for the whole cluster in the place of a partition's index.
const CLUSTER: u64 = 1 << 16;

/// [`Claims`] by user and partition, which several submissions read and add to at once.
#[derive(Debug)]
pub(crate) struct ClaimTable {
    rows: Box<[Row]>,
    /// How many rows are taken, so that a table in which nobody claimed anything is not looked
    /// through.
    taken: AtomicUsize,
}

#[derive(Debug, Default)]
struct Row {
    /// The user and the partition whose claims these are; 0 while the row is free.
    key: AtomicU64,
    jobs: AtomicU64,
    cpus: AtomicU64,
    reserved_cpus: AtomicU64,
    reserved_until_s: AtomicU64,
    limits_s: AtomicU64,
    work: AtomicU64,
    expected_work: AtomicU64,
}

impl Row {
    fn load(&self) -> Claims {
        let Row { key: _, jobs, cpus, reserved_cpus, reserved_until_s, limits_s, work, expected_work } = self;
        let [jobs, cpus, reserved_cpus, reserved_until_s, limits_s, work, expected_work] =
            [jobs, cpus, reserved_cpus, reserved_until_s, limits_s, work, expected_work].map(|number| number.load(Ordering::Relaxed));
        Claims { jobs, cpus, reserved_cpus, reserved_until_s, limits_s, work, expected_work }
    }

    /// Adds to the claims, as long as they stay within `most_cpus`. Returns whether it did.
    fn add(&self, claims: &Claims, most_cpus: u64) -> bool {
        let Claims { jobs, cpus, reserved_cpus, reserved_until_s, limits_s, work, expected_work } = *claims;
        let within = |claimed: u64| claimed.checked_add(cpus).filter(|sum| *sum <= most_cpus);
        if self.cpus.fetch_update(Ordering::Relaxed, Ordering::Relaxed, within).is_err() {
            return false;
        }
        self.jobs.fetch_add(jobs, Ordering::Relaxed);
        self.reserved_cpus.fetch_add(reserved_cpus, Ordering::Relaxed);
        self.reserved_until_s.fetch_max(reserved_until_s, Ordering::Relaxed);
        self.limits_s.fetch_add(limits_s, Ordering::Relaxed);
        self.work.fetch_add(work, Ordering::Relaxed);
        self.expected_work.fetch_add(expected_work, Ordering::Relaxed);
        true
    }
}

/// The key of a user in a partition, or on the [`CLUSTER`]; never 0.
fn key_of(user: UserId, partition: u64) -> u64 {
    (u64::from(user.0) << 18) | (partition << 1) | 1
}

impl ClaimTable {
    pub(crate) fn new() -> ClaimTable {
        ClaimTable { rows: (0..ROWS).map(|_| Row::default()).collect(), taken: AtomicUsize::new(0) }
    }

    /// What a user's jobs have claimed in a partition and on the cluster.
    pub(crate) fn of(&self, user: UserId, partition: PartitionIndex) -> Claimed {
        if self.taken.load(Ordering::Relaxed) == 0 {
            return Claimed::default();
        }
        let of_key = |key| {
            // No row becomes free again, so that nothing of this key lies behind a free one, which
            // holds no claims.
            let row = self.rows_of(key).find(|row| [key, 0].contains(&row.key.load(Ordering::Relaxed)));
            row.map_or_else(Claims::default, Row::load)
        };
        let (partition, cluster) = (of_key(key_of(user, u64::from(partition.0))), of_key(key_of(user, CLUSTER)));
        Claimed { partition, cluster, ..Claimed::default() }
    }

    /// Adds a job's claims to those of its user, as far as the partition has so many CPUs and the
    /// table a row.
    pub(crate) fn add(&self, user: UserId, partition: &Partition<'_>, claims: &Claims) {
        let of_partition = self.row(key_of(user, u64::from(partition.index.0)));
        if of_partition.is_some_and(|row| row.add(claims, u64::from(partition.cpus)))
            && let Some(of_cluster) = self.row(key_of(user, CLUSTER))
        {
            // What was within each partition is within the cluster.
            of_cluster.add(claims, u64::MAX);
        }
    }

    /// The rows that may hold a key.
    fn rows_of(&self, key: u64) -> impl Iterator<Item = &Row> {
        // Knuth's multiplicative hashing: neighbouring numbers of users come to lie apart.
        let first = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize;
        self.rows.iter().cycle().skip(first % ROWS).take(LOOKED_AT)
    }

    /// The row that holds a key, a free one if none does yet.
    fn row(&self, key: u64) -> Option<&Row> {
        self.rows_of(key).find(|row| {
            let found = row.key.compare_exchange(0, key, Ordering::Relaxed, Ordering::Relaxed);
            if found.is_ok() {
                self.taken.fetch_add(1, Ordering::Relaxed);
            }
            found.is_ok() || found == Err(key)
        })
    }
}
