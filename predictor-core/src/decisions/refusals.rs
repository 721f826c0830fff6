//! Counts the submissions that were refused for their deadlines, by user.
//!
//! A submission that is refused leaves no record in Slurm. The filter notes each of the last
//! [`NOTED`] in numbers behind its counters, and the daemon adds them up by day, partition, rule
//! and user, in a file for the report.
//!
//! Each number has the ordinal of its refusal in its upper half and a part of it in the lower one.
//! So a later refusal is a greater number, and numbers of several refusals are not taken for one.

use crate::decisions::counters::{COUNTERS, Counter};
use job_types::number::UserId;
use job_types::policy::Admission;
use job_types::time::UnixTime;
use serde::{Deserialize, Serialize};
use serde_with::serde_as;
use std::collections::BTreeMap;
use xxhash_rust::xxh3::xxh3_64;

/// How many refusals the filter keeps for the daemon, which takes them each second.
pub const NOTED: usize = 1024;

/// The number of numbers in which one refusal is noted.
const PARTS: usize = 4;

/// How many numbers the filter shows to the daemon: its counters, and the refusals behind them.
pub const SHOWN: usize = COUNTERS.len() + NOTED * PARTS;

/// The most users that are told apart in one partition, under one rule, on one day. Further ones
/// are summed, so that nobody makes others' counts disappear by many submissions.
const MOST_USERS: usize = 100;

/// The most days that are kept, and the most counts: beyond them the earliest days are forgotten.
const MOST_DAYS: usize = 400;
const MOST_COUNTS: usize = 20_000;

/// The length of a day in seconds; days are those of UTC.
const DAY: i64 = 86_400;

/// A submission that was refused for its deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotedRefusal {
    at: UnixTime,
    user: UserId,
    /// A hash of its partition's name, which is as long as anybody likes.
    partition: u32,
    by: Admission,
}

impl NotedRefusal {
    /// A refusal at a moment, in a partition that need not exist.
    #[must_use]
    pub fn new(at: UnixTime, user: UserId, partition: &str, by: Admission) -> NotedRefusal {
        NotedRefusal { at, user, partition: hash(partition), by }
    }

    /// The numbers that note it as the refusal of this ordinal, from 1 on, each with its place
    /// among those that are [`SHOWN`].
    pub fn numbers(&self, ordinal: u64) -> impl Iterator<Item = (usize, u64)> + use<> {
        let rule = Admission::ALL.iter().position(|rule| *rule == self.by).unwrap_or(0);
        let parts = [u32::try_from(self.at.0).unwrap_or(0), self.user.0, self.partition, rule as u32];
        (place(ordinal)..).zip(parts.map(|part| ordinal << 32 | u64::from(part)))
    }

    /// The refusal of this ordinal; `None` where it is not there any more, or not yet.
    fn read(numbers: &[u64], ordinal: u64) -> Option<NotedRefusal> {
        let numbers = numbers.get(place(ordinal)..)?.first_chunk::<PARTS>()?;
        // An ordinal that has more than 32 bits shows its lower ones.
        if numbers.iter().any(|number| number >> 32 != ordinal & u64::from(u32::MAX)) {
            return None;
        }
        let [at, user, partition, rule] = numbers.map(|number| number as u32);
        let by = *Admission::ALL.get(rule as usize)?;
        Some(NotedRefusal { at: UnixTime(at.into()), user: UserId(user), partition, by })
    }
}

/// Returns the place at which the numbers of a refusal begin.
fn place(ordinal: u64) -> usize {
    COUNTERS.len() + (ordinal % NOTED as u64) as usize * PARTS
}

fn hash(partition: &str) -> u32 {
    xxh3_64(partition.as_bytes()) as u32
}

/// The key by which refusals are counted together. A part that is `None` is not known, or is summed
/// over others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Refused {
    /// The day, counted from 1970 on, in UTC.
    day: i64,
    /// The partition; `None` where there is none of that name.
    pub partition: Option<String>,
    /// The word of the rule.
    pub by: Option<String>,
    /// The user; `None` for those beyond the most that are told apart.
    pub user: Option<UserId>,
}

/// What was refused, by day, partition, rule and user.
#[serde_as]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusals {
    since: UnixTime,
    /// The filter that noted last, and the number of its refusals that were taken.
    owner: u64,
    taken: u64,
    #[serde_as(as = "Vec<(_, _)>")]
    counts: BTreeMap<Refused, u64>,
}

impl Refusals {
    /// Returns no refusals yet, counted from `now` on.
    #[must_use]
    pub fn begun(now: UnixTime) -> Refusals {
        Refusals { since: now, ..Refusals::default() }
    }

    /// Returns the time from which on all refusals are counted.
    #[must_use]
    pub fn since(&self) -> UnixTime {
        self.since
    }

    /// Returns the filter that noted last, and the number of its refusals that were taken.
    #[must_use]
    pub fn taken(&self) -> (u64, u64) {
        (self.owner, self.taken)
    }

    /// Takes what a filter shows, on a cluster with these partitions, and tells of each partition
    /// how many were refused there. A refusal that is not to be had any more, because there were
    /// too many at once, counts with nothing known of it.
    pub fn take<'a>(
        &mut self,
        owner: u64,
        shown: &[u64],
        partitions: impl Iterator<Item = &'a str>,
        now: UnixTime,
        mut tell: impl FnMut(&str, u64),
    ) {
        let Some(&last) = shown.get(Counter::NotAdmitted.index()) else { return };
        let is_first = self.owner == 0;
        if self.owner != owner {
            (self.owner, self.taken) = (owner, 0);
        }
        if last <= self.taken {
            return;
        }
        let names: BTreeMap<u32, &str> = partitions.map(|name| (hash(name), name)).collect();
        let first = self.taken.max(last.saturating_sub(NOTED as u64));
        // What was noted before anybody took anything is counted as far as it is there.
        let mut unknown = if is_first { 0 } else { first - self.taken };
        self.taken = last;
        for ordinal in first + 1..=last {
            let Some(noted) = NotedRefusal::read(shown, ordinal) else {
                unknown += u64::from(!is_first);
                continue;
            };
            let partition = names.get(&noted.partition);
            partition.into_iter().for_each(|name| tell(name, 1));
            // A clock that was wrong makes no days of its own.
            let at = noted.at.min(now).max(self.since);
            let partition = partition.map(|name| (*name).to_owned());
            self.add(Refused { day: day(at), partition, by: Some(noted.by.as_str().to_owned()), user: Some(noted.user) }, 1);
        }
        if unknown > 0 {
            self.add(Refused { day: day(now), partition: None, by: None, user: None }, unknown);
        }
        self.forget();
    }

    fn add(&mut self, refused: Refused, count: u64) {
        let known = if self.counts.contains_key(&refused) {
            refused
        } else {
            let others = Refused { user: None, ..refused.clone() };
            let last = Refused { user: Some(UserId(u32::MAX)), ..refused.clone() };
            let users = self.counts.range(others.clone()..=last).filter(|(key, _)| key.user.is_some()).count();
            if users < MOST_USERS { refused } else { others }
        };
        let sum = self.counts.entry(known).or_default();
        *sum = sum.saturating_add(count);
    }

    /// Forgets the earliest days where there are too many of them.
    fn forget(&mut self) {
        while let (Some((first, _)), Some((last, _))) = (self.counts.first_key_value(), self.counts.last_key_value()) {
            let days = last.day - first.day;
            if days < MOST_DAYS as i64 && (self.counts.len() <= MOST_COUNTS || days == 0) {
                return;
            }
            let next = first.day + 1;
            self.since = self.since.max(UnixTime(next * DAY));
            self.counts.retain(|key, _| key.day >= next);
        }
    }

    /// The counts of whole days, from that of `since` on.
    pub fn counts(&self, since: UnixTime) -> impl Iterator<Item = (&Refused, u64)> {
        let first = day(since);
        self.counts.iter().filter(move |(key, _)| key.day >= first).map(|(key, count)| (key, *count))
    }

    /// The content of the file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// What the content of a file holds; `None` where it is of something else.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Refusals> {
        serde_json::from_slice(bytes).ok()
    }
}

/// The day of a moment, counted from 1970 on.
fn day(at: UnixTime) -> i64 {
    at.0.div_euclid(DAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixTime = UnixTime(1_000 * DAY + 7);

    /// What a filter shows.
    struct Filter(Vec<u64>);

    impl Filter {
        fn new() -> Filter {
            Filter(vec![0; SHOWN])
        }

        fn refuse(&mut self, user: u32, partition: &str, at: UnixTime) {
            let ordinal = self.0[Counter::NotAdmitted.index()] + 1;
            self.0[Counter::NotAdmitted.index()] = ordinal;
            let numbers = NotedRefusal::new(at, UserId(user), partition, Admission::Edf).numbers(ordinal);
            numbers.for_each(|(place, number)| self.0[place] = self.0[place].max(number));
        }
    }

    fn take(refusals: &mut Refusals, owner: u64, filter: &Filter) -> u64 {
        let mut told = 0;
        refusals.take(owner, &filter.0, ["main", "long"].into_iter(), NOW, |_, count| told += count);
        told
    }

    fn counted(refusals: &Refusals) -> Vec<(Option<&str>, Option<u32>, u64)> {
        let counts = refusals.counts(UnixTime(0));
        counts.map(|(key, count)| (key.partition.as_deref(), key.user.map(|user| user.0), count)).collect()
    }

    #[test]
    fn refusals_are_counted_once_by_partition_and_user_over_restarts_of_both_sides() {
        let mut refusals = Refusals::begun(UnixTime(0));
        let mut filter = Filter::new();
        [(5, "main"), (7, "long"), (5, "main")].into_iter().for_each(|(user, partition)| filter.refuse(user, partition, NOW));
        assert_eq!((take(&mut refusals, 1, &filter), take(&mut refusals, 1, &filter)), (3, 0));
        let mut refusals = Refusals::from_bytes(&refusals.to_bytes()).unwrap();
        filter.refuse(5, "long", NOW);
        assert_eq!(take(&mut refusals, 1, &filter), 1);
        // Another slurmctld begins anew, and its user names what is no partition.
        let mut other = Filter::new();
        other.refuse(5, "made-up", NOW);
        assert_eq!(take(&mut refusals, 2, &other), 0);
        let expected = [(None, Some(5), 1), (Some("long"), Some(5), 1), (Some("long"), Some(7), 1), (Some("main"), Some(5), 2)];
        assert_eq!(counted(&refusals), expected);
    }

    #[test]
    fn what_is_overwritten_torn_or_forged_counts_with_nothing_known_of_it() {
        let mut refusals = Refusals::begun(UnixTime(0));
        let mut filter = Filter::new();
        filter.refuse(5, "main", NOW);
        take(&mut refusals, 1, &filter);
        (0..NOTED + 10).for_each(|_| filter.refuse(5, "main", NOW));
        assert_eq!(take(&mut refusals, 1, &filter), NOTED as u64);
        assert_eq!(counted(&refusals), [(None, None, 10), (Some("main"), Some(5), NOTED as u64 + 1)]);
        // Only a part of the last refusal is written.
        let torn = filter.0.clone();
        filter.refuse(6, "main", NOW);
        let last = filter.0[Counter::NotAdmitted.index()];
        filter.0[place(last) + 2] = torn[place(last) + 2];
        take(&mut refusals, 1, &filter);
        assert_eq!(counted(&refusals)[0], (None, None, 11));
        for value in [0, u64::MAX] {
            filter.0.iter_mut().for_each(|number| *number = value);
            take(&mut refusals, 1, &filter);
        }
        assert_eq!(counted(&refusals).len(), 2);
    }

    #[test]
    fn many_users_and_days_take_a_bounded_room() {
        let mut refusals = Refusals::begun(UnixTime(0));
        let mut filter = Filter::new();
        for user in 0..900 {
            filter.refuse(user, "main", NOW);
        }
        take(&mut refusals, 1, &filter);
        assert_eq!(counted(&refusals).len(), MOST_USERS + 1);
        assert!(counted(&refusals).contains(&(Some("main"), None, 900 - MOST_USERS as u64)));
        for day in 0..500 {
            filter.refuse(1, "main", UnixTime(day * DAY + 5));
            take(&mut refusals, 1, &filter);
        }
        let days = refusals.counts(UnixTime(0)).map(|(key, _)| key.day).collect::<std::collections::BTreeSet<_>>();
        assert_eq!(days.into_iter().collect::<Vec<_>>(), [1_000], "what is too long ago is forgotten");
        assert_eq!(refusals.since(), UnixTime(500 * DAY));
    }

    #[test]
    fn another_content_says_nothing() {
        let bytes = Refusals::begun(NOW).to_bytes();
        assert_eq!(Refusals::from_bytes(&bytes), Some(Refusals::begun(NOW)));
        assert_eq!(Refusals::from_bytes(&bytes[1..]), None);
    }
}
