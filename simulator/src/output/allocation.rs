//! Which processors a job had.

use std::collections::BTreeMap;
use std::fmt;

use job_types::time::UnixTime;

use crate::engine::Record;

/// The processors of one job: intervals from a first to a last, both included, ascending.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allocation(pub Vec<(u32, u32)>);

impl fmt::Display for Allocation {
    /// Writes the processors as Batsim does: `0-3 7`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (first, last)) in self.0.iter().enumerate() {
            let gap = if place > 0 { " " } else { "" };
            if first == last { write!(f, "{gap}{first}")? } else { write!(f, "{gap}{first}-{last}")? }
        }
        Ok(())
    }
}

/// Gives each job processors of its own, the lowest numbers that are free when it starts. The
/// engine counts processors and does not number them; any numbering is as good.
///
/// In the order of `records`. Where more are in use at once than the machine has, which no
/// scheduler does, a job gets fewer.
#[must_use]
pub fn allocate(records: &[Record], processors: u32) -> Vec<Allocation> {
    // Ends before starts at one moment.
    let ends = (0..).zip(records).map(|(place, record): (usize, _)| (record.end, false, place));
    let starts = (0..).zip(records).map(|(place, record)| (record.start, true, place));
    let mut events: Vec<(UnixTime, bool, usize)> = ends.chain(starts).collect();
    events.sort_unstable();
    let mut free: BTreeMap<u32, u32> = processors.checked_sub(1).map(|last| (0, last)).into_iter().collect();
    let mut allocations = vec![Allocation::default(); records.len()];
    for (_, is_start, place) in events {
        if is_start {
            allocations[place] = take(&mut free, records[place].processors);
        } else {
            allocations[place].0.iter().for_each(|&(first, last)| give_back(&mut free, first, last));
        }
    }
    allocations
}

fn take(free: &mut BTreeMap<u32, u32>, wanted: u32) -> Allocation {
    let mut taken = Vec::new();
    let mut missing = wanted;
    while missing > 0
        && let Some((first, last)) = free.pop_first()
    {
        let until = last.min(first.saturating_add(missing - 1));
        missing -= until - first + 1;
        taken.push((first, until));
        if until < last {
            free.insert(until + 1, last);
        }
    }
    Allocation(taken)
}

fn give_back(free: &mut BTreeMap<u32, u32>, first: u32, last: u32) {
    let (mut from, mut to) = (first, last);
    if let Some((&before, &end)) = free.range(..first).next_back()
        && end.checked_add(1) == Some(first)
    {
        free.remove(&before);
        from = before;
    }
    if let Some(next) = last.checked_add(1)
        && let Some(end) = free.remove(&next)
    {
        to = end;
    }
    free.insert(from, to);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(start: i64, end: i64, processors: u32) -> Record {
        Record { start: UnixTime(start), end: UnixTime(end), processors, ..Record::default() }
    }

    #[test]
    fn jobs_get_the_lowest_free_processors() {
        let records = [record(0, 10, 2), record(0, 20, 1), record(5, 30, 3), record(10, 20, 3), record(20, 30, 4)];
        let shown: Vec<String> = allocate(&records, 8).iter().map(Allocation::to_string).collect();
        assert_eq!(shown, ["0-1", "2", "3-5", "0-1 6", "0-2 6"]);
    }

    #[test]
    fn a_machine_without_processors_gives_none() {
        assert_eq!(allocate(&[record(0, 1, 1)], 0), [Allocation::default()]);
    }
}
