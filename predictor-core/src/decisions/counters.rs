//! What the filter did, as counters.
//!
//! The filter counts in the memory of its own process, and in a page of the daemon's beside it. The
//! daemon adds up what one filter after the other counted, and keeps the sums in a file.

use job_types::time::UnixTime;

/// How many numbers of eight bytes the file's content has: when counting began, sums, identity,
/// numbers of that identity.
const NUMBERS: usize = 2 * COUNTERS.len() + 2;

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
    /// Decisions that are only recorded or told.
    Observed,
    /// Decisions that change nothing.
    Unchanged,
    /// Jobs whose size was changed.
    Molded,
    /// Jobs whose begin time was deferred.
    Deferred,
    /// Jobs that were padded for a virtual reservation.
    Reserved,
    /// Submissions that were refused.
    Refused,
    /// Jobs that were admitted with their deadline.
    Admitted,
    /// Submissions that were refused because their deadline can't be kept, or could not be
    /// promised; they are among [`Counter::Refused`].
    NotAdmitted,
    /// Submissions that met no snapshot.
    SnapshotAbsent,
    /// A snapshot too old to use.
    SnapshotTooOld,
    /// A snapshot dated ahead of the clock.
    SnapshotAhead,
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
pub const COUNTERS: [(Counter, &str, &str); 21] = [
    (Counter::Submissions, "submissions", "submissions seen"),
    (Counter::NothingAsked, "nothing_asked", "left alone, as nothing was asked and no policy applies to all jobs"),
    (Counter::Off, "off", "left alone, as the mode is off or the kill switch is on"),
    (Counter::Observed, "observed", "decided about, and only recorded or told"),
    (Counter::Unchanged, "unchanged", "decided about, with nothing to change"),
    (Counter::Molded, "molded", "molded"),
    (Counter::Deferred, "deferred", "deferred"),
    (Counter::Reserved, "reserved", "padded for a virtual reservation"),
    (Counter::Refused, "refused", "refused, as they asked for what can't be given"),
    (Counter::Admitted, "admitted", "admitted with their deadline"),
    (Counter::NotAdmitted, "not_admitted", "refused, as their deadline can't be kept"),
    (Counter::SnapshotAbsent, "snapshot_absent", "met no snapshot"),
    (Counter::SnapshotTooOld, "snapshot_too_old", "met a snapshot too old to use"),
    (Counter::SnapshotAhead, "snapshot_ahead", "met a snapshot dated more than a minute ahead"),
    (Counter::SnapshotDamaged, "snapshot_damaged", "met a damaged snapshot, or one of another version"),
    (Counter::PartitionUnknown, "partition_unknown", "named a partition that the snapshot does not know"),
    (Counter::OptionsMalformed, "options_malformed", "carried options that can't be read"),
    (Counter::Panics, "panics", "panics caught"),
    (Counter::RewriteFailed, "rewrite_failed", "decisions that could not be written into the job"),
    (Counter::Modifications, "modifications", "changes of jobs by users and operators, let through"),
    (Counter::SnapshotsTaken, "snapshots_taken", "snapshots taken up"),
];

impl Counter {
    /// Returns the counter's place among [`COUNTERS`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// What filters have counted, each from when its slurmctld loaded it on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// The time from which on what filters do is counted.
    since: UnixTime,
    /// The sums over all filters, as [`COUNTERS`].
    sums: [u64; COUNTERS.len()],
    /// The filter that counted last, 0 for none, and the part of its numbers that the sums already
    /// have.
    owner: u64,
    taken: [u64; COUNTERS.len()],
}

impl Counted {
    /// Returns sums of zero, counted from `now` on.
    #[must_use]
    pub fn begun(now: UnixTime) -> Counted {
        Counted { since: now, ..Counted::default() }
    }

    /// Returns the time from which on what filters do is counted.
    #[must_use]
    pub fn since(&self) -> UnixTime {
        self.since
    }

    /// Takes the present numbers of a filter. Returns whether the sums have changed.
    pub fn take(&mut self, owner: u64, numbers: &[u64]) -> bool {
        let before = self.sums;
        if self.owner != owner {
            (self.owner, self.taken) = (owner, [0; COUNTERS.len()]);
        }
        for ((sum, taken), number) in self.sums.iter_mut().zip(&mut self.taken).zip(numbers) {
            *sum = sum.wrapping_add(number.saturating_sub(*taken));
            *taken = (*taken).max(*number);
        }
        self.sums != before
    }

    /// The sums with their names.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
        COUNTERS.iter().map(|(_, name, _)| *name).zip(self.sums)
    }

    /// Returns the sum of one counter over all filters.
    #[must_use]
    pub fn sum(&self, counter: Counter) -> u64 {
        self.sums.get(counter.index()).copied().unwrap_or(0)
    }

    /// The content of the file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let numbers = self.sums.iter().chain([&self.owner]).chain(&self.taken);
        self.since.0.to_le_bytes().into_iter().chain(numbers.flat_map(|number| number.to_le_bytes())).collect()
    }

    /// The sums in the content of a file; `None` where it is not of this release.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Counted> {
        let (numbers, rest) = bytes.as_chunks::<8>();
        let (since, numbers) = <&[[u8; 8]; NUMBERS]>::try_from(numbers).ok()?.split_first()?;
        let mut counted = Counted::begun(UnixTime(i64::from_le_bytes(*since)));
        let places = counted.sums.iter_mut().chain([&mut counted.owner]).chain(&mut counted.taken);
        places.zip(numbers).for_each(|(place, number)| *place = u64::from_le_bytes(*number));
        rest.is_empty().then_some(counted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_counters() {
        for (place, (counter, _, _)) in COUNTERS.iter().enumerate() {
            assert_eq!(counter.index(), place);
        }
    }

    #[test]
    fn what_one_filter_after_the_other_counted_is_added_up_once() {
        let mut counted = Counted::begun(UnixTime(1_000));
        assert!(counted.take(7, &[5, 2]));
        assert!(!counted.take(7, &[5, 2]), "nothing has happened since");
        assert!(counted.take(7, &[8, 2]));
        // Another slurmctld begins at 0.
        assert!(counted.take(9, &[1]));
        assert_eq!((counted.sum(Counter::Submissions), counted.sum(Counter::NothingAsked)), (9, 2));
        // A daemon that reads the file goes on where the one before was.
        let mut read = Counted::from_bytes(&counted.to_bytes()).unwrap();
        assert_eq!((&read, read.since()), (&counted, UnixTime(1_000)));
        read.take(9, &[4]);
        assert_eq!(read.sum(Counter::Submissions), 12);
    }

    #[test]
    fn a_content_of_another_length_says_nothing() {
        let bytes = Counted::default().to_bytes();
        assert!(Counted::from_bytes(&bytes[..40]).is_none());
        assert!(Counted::from_bytes(&bytes[1..]).is_none());
        assert!(Counted::from_bytes(&[]).is_none());
    }
}
