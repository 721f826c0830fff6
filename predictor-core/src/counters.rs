//! What the filter did, as counters in a small file that it shares with whoever wants to know.
//!
//! The file holds [`COUNTERS`] in their order as 64-bit numbers of this machine, behind a magic number. It outlives slurmctld.

/// First eight bytes of the file, as a number.
pub const COUNTERS_MAGIC: u64 = u64::from_le_bytes(*b"QCCOUNT1");

/// Numbers in the file, the magic one included.
pub const COUNTERS_LENGTH: usize = COUNTERS.len() + 1;

/// Something that the filter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Counter {
    /// Submissions seen.
    Submissions,
    /// Left alone: nothing was asked and no policy is transparent.
    NothingAsked,
    /// Left alone: the mode is off, or the kill switch is on.
    Off,
    /// Decided and only recorded or advised.
    Observed,
    /// Decided, nothing to change.
    Unchanged,
    /// Molded.
    Molded,
    /// Deferred.
    Deferred,
    /// Padded for a virtual reservation.
    Reserved,
    /// Refused.
    Refused,
    /// No snapshot.
    SnapshotAbsent,
    /// A snapshot too old to use.
    SnapshotTooOld,
    /// A damaged snapshot, or one of another version.
    SnapshotDamaged,
    /// A partition that the snapshot does not know.
    PartitionUnknown,
    /// Options that could not be read.
    OptionsMalformed,
    /// A panic that was caught.
    Panics,
    /// A rewrite that could not be carried out.
    RewriteFailed,
    /// Changes of jobs by their users or operators, which are let through.
    Modifications,
    /// Snapshots taken up.
    SnapshotsTaken,
}

/// All counters with their names and what they count, in the order of the file.
pub const COUNTERS: [(Counter, &str, &str); 18] = [
    (Counter::Submissions, "submissions", "submissions seen"),
    (Counter::NothingAsked, "nothing_asked", "left alone, as nothing was asked and no policy applies to all jobs"),
    (Counter::Off, "off", "left alone, as the mode is off or the kill switch is on"),
    (Counter::Observed, "observed", "decided about, and only recorded or told"),
    (Counter::Unchanged, "unchanged", "decided about, with nothing to change"),
    (Counter::Molded, "molded", "molded"),
    (Counter::Deferred, "deferred", "deferred"),
    (Counter::Reserved, "reserved", "padded for a virtual reservation"),
    (Counter::Refused, "refused", "refused, as they asked for what can't be given"),
    (Counter::SnapshotAbsent, "snapshot_absent", "met no snapshot"),
    (Counter::SnapshotTooOld, "snapshot_too_old", "met a snapshot too old to use"),
    (Counter::SnapshotDamaged, "snapshot_damaged", "met a damaged snapshot, or one of another version"),
    (Counter::PartitionUnknown, "partition_unknown", "named a partition that the snapshot does not know"),
    (Counter::OptionsMalformed, "options_malformed", "carried options that can't be read"),
    (Counter::Panics, "panics", "panics caught"),
    (Counter::RewriteFailed, "rewrite_failed", "decisions that could not be written into the job"),
    (Counter::Modifications, "modifications", "changes of jobs by users and operators, let through"),
    (Counter::SnapshotsTaken, "snapshots_taken", "snapshots taken up"),
];

impl Counter {
    /// Index of its number in the file.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_file() {
        for (place, (counter, _, _)) in COUNTERS.iter().enumerate() {
            assert_eq!(counter.index(), place + 1);
        }
    }
}
