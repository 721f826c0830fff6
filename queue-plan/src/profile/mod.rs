//! Free resources over time.
//!
//! A [`Profile`] is a step function: from each of its points on, so much is free, until the next
//! point. Backfilling asks it for the earliest time at which a job fits, and marks what running and
//! reserved jobs take. What of [`Resources`] is counted at each point, `amounts` says.
//!
//! The points are kept in a sorted list of blocks of at most 128 points. Each block knows the
//! least and the most that is free within it, so that a search steps over blocks, and what has
//! been added to all of it, so that a long job marks whole blocks at once. With n points and blocks
//! of b points, marking costs O(log n + b + n / b), a search O(n / b) and b for each block that it
//! can't step over.
//!
//! `cargo bench -p queue-plan --bench profile` holds it against a plain sorted vector. A search and
//! two changes took, in µs, on a busy machine:
//!
//! | points | blocks | vector | treap |
//! |---|---|---|---|
//! | 10 | 0.2 | 0.3 | 1.1 |
//! | 100 | 0.7 | 0.6 | 2.2 |
//! | 1,000 | 1.9 | 2.1 | 13 |
//! | 10,000 | 18 | 24 | over 200 |
//!
//! The treap, with minima, maxima and lazy addition, lost everywhere and is no longer measured: a
//! search meets many holes that are too short, and each costs it a descent. Up to some thousand
//! points blocks and vector are alike; beyond, blocks move less memory for a new point.

mod amounts;
mod block;
#[cfg(test)]
mod tests;

use job_types::time::{Seconds, UnixTime};

use crate::resources::Resources;

use amounts::Amounts;
use block::{BLOCK_POINTS, Block, Search, Summary};

/// What is free, from some time on, for ever.
///
/// Moments are on any one clock; that of `i64::MAX` is "for ever". What is free may fall below
/// zero: a block of nodes (a reservation, a node that is down) may take what running jobs still
/// hold, and nothing fits until the two no longer overlap. Nodes are not counted, because several
/// jobs may share one: those of what is taken or asked for are left out, and what is free says
/// none. Before the first point the profile is what it is at the first point; neighbouring points
/// of the same value are one.
#[derive(Clone, Debug)]
pub struct Profile {
    /// One summary for each block, in the order of time; never empty. The summaries lie apart from
    /// the points, so that walking over blocks touches little memory. Here and in the blocks,
    /// moments are plain seconds, because a search adds and compares thousands of them.
    summaries: Vec<Summary>,
    /// The points of each block; none is empty.
    blocks: Vec<Block>,
}

/// A point of a profile: its block and its index within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    block: usize,
    index: usize,
}

impl Profile {
    /// A profile in which `free` is free from `from` on.
    #[must_use]
    pub fn new(from: UnixTime, free: Resources) -> Self {
        let block = Block::of(from.0, free.into());
        Self { summaries: vec![block.summary(Amounts::NONE)], blocks: vec![block] }
    }

    /// Takes `resources` during `[start, end)`. What lies before the profile's beginning is left
    /// out; an empty interval takes nothing.
    pub fn take(&mut self, start: UnixTime, end: UnixTime, resources: Resources) {
        self.change(start.0, end.0, Amounts::NONE - resources.into());
    }

    /// Gives `resources` back during `[start, end)`: the opposite of [`Profile::take`].
    pub fn give_back(&mut self, start: UnixTime, end: UnixTime, resources: Resources) {
        self.change(start.0, end.0, resources.into());
    }

    /// What is free at a time.
    #[must_use]
    pub fn free_at(&self, at: UnixTime) -> Resources {
        self.value(self.place(at.0)).into()
    }

    /// The earliest time, not before `from`, at which `wanted` is free for `duration` (at least one
    /// second). None if there is no such time.
    #[must_use]
    pub fn earliest(&self, from: UnixTime, wanted: Resources, duration: Seconds) -> Option<UnixTime> {
        let wanted = Amounts::from(wanted);
        let mut start = from.0.max(self.first());
        let Place { block: first, mut index } = self.place(start);
        let duration = duration.0.max(1);
        let (blocks, summaries) = (self.blocks.get(first..)?, self.summaries.get(first..)?);
        for (place, (block, summary)) in blocks.iter().zip(summaries).enumerate() {
            let end = summaries.get(place + 1).map(|next| next.first);
            if !wanted.fits_in(summary.most) {
                start = end?;
            } else if !wanted.fits_in(summary.least) {
                match block.earliest(index, start, end, wanted - summary.added, duration) {
                    Search::Found(start) => return Some(UnixTime(start)),
                    Search::Open(open) => start = open,
                    Search::Never => return None,
                }
            } else if end.is_none_or(|end| end - start >= duration) {
                return Some(UnixTime(start));
            }
            index = 0;
        }
        None
    }

    /// Forgets what was before `now`: the profile begins then. Does nothing if it begins later.
    pub fn forget_before(&mut self, now: UnixTime) {
        let now = now.0;
        if now <= self.first() {
            return;
        }
        let place = self.place(now);
        self.blocks.drain(..place.block);
        self.summaries.drain(..place.block);
        let (block, summary) = (&mut self.blocks[0], &mut self.summaries[0]);
        block.forget_first(place.index);
        block.times[0] = now;
        *summary = block.summary(summary.added);
    }

    /// The points in the order of time: when, and what is free from then on.
    pub fn steps(&self) -> impl Iterator<Item = (UnixTime, Resources)> + '_ {
        self.blocks.iter().zip(&self.summaries).flat_map(|(block, summary)| {
            block.times.iter().zip(&block.free).map(|(&time, &free)| (UnixTime(time), (free + summary.added).into()))
        })
    }

    /// Returns the times between `from` and `until` at which the free resources change, in order,
    /// each with what is free from then on. The first is `from`, or the beginning of the profile if
    /// that is later.
    pub fn steps_between(&self, from: UnixTime, until: UnixTime) -> impl Iterator<Item = (UnixTime, Resources)> + '_ {
        let first = self.place(from.0);
        let steps = self.blocks.iter().zip(&self.summaries).enumerate().skip(first.block).flat_map(move |(place, (block, summary))| {
            let skipped = if place == first.block { first.index } else { 0 };
            let points = block.times.iter().zip(&block.free).skip(skipped);
            points.map(move |(&time, &free)| (UnixTime(time.max(from.0)), (free + summary.added).into()))
        });
        steps.take_while(move |(time, _)| *time < until)
    }

    /// When the profile begins.
    #[must_use]
    pub fn begins(&self) -> UnixTime {
        UnixTime(self.first())
    }

    fn first(&self) -> i64 {
        self.summaries[0].first
    }

    fn change(&mut self, start: i64, end: i64, difference: Amounts) {
        let start = start.max(self.first());
        if start >= end || difference == Amounts::NONE {
            return;
        }
        let from = self.point(start);
        // The last place that changes: before the point of the end, which may be the first of a
        // later block.
        let until = (end < i64::MAX).then(|| self.point(end));
        // A point put in before the end may have split the block of the start.
        let from = if self.has(from, start) { from } else { self.place(start) };
        let last = until.map_or(self.blocks.len() - 1, |until| until.block);
        for block in from.block..=last {
            let first_index = if block == from.block { from.index } else { 0 };
            let end_index = match until {
                Some(until) if block == last => until.index,
                _ => self.blocks[block].len(),
            };
            if first_index == 0 && end_index == self.blocks[block].len() {
                self.summaries[block].add(difference);
            } else if first_index < end_index {
                self.blocks[block].add(first_index..end_index, difference);
                let added = self.summaries[block].added;
                // A single block is never stepped over.
                let is_only = self.blocks.len() == 1;
                self.summaries[block] = if is_only { self.blocks[block].uncounted(added) } else { self.blocks[block].summary(added) };
            }
        }
        if let Some(until) = until {
            self.join_with_previous(until);
        }
        // Two blocks may have become one.
        let from = if self.has(from, start) { from } else { self.place(start) };
        self.join_with_previous(from);
    }

    /// The place of the point at `time`, which is put in where there is none.
    fn point(&mut self, time: i64) -> Place {
        let mut place = self.place(time);
        if self.time(place) == time {
            return place;
        }
        if self.blocks[place.block].len() >= BLOCK_POINTS {
            let added = self.summaries[place.block].added;
            let rest = self.blocks[place.block].split();
            self.summaries[place.block] = self.blocks[place.block].summary(added);
            self.summaries.insert(place.block + 1, rest.summary(added));
            self.blocks.insert(place.block + 1, rest);
            place = self.place(time);
        }
        let Place { block, index } = place;
        let free = self.blocks[block].free[index];
        self.blocks[block].times.insert(index + 1, time);
        self.blocks[block].free.insert(index + 1, free);
        Place { block, index: index + 1 }
    }

    /// Takes a point out that says the same as the one before it.
    fn join_with_previous(&mut self, place: Place) {
        let Place { block, index } = place;
        let previous = match (block, index) {
            (0, 0) => return,
            (_, 0) => Place { block: block - 1, index: self.blocks[block - 1].len() - 1 },
            _ => Place { block, index: index - 1 },
        };
        if self.value(previous) != self.value(place) {
            return;
        }
        self.blocks[block].times.remove(index);
        self.blocks[block].free.remove(index);
        if self.blocks[block].len() == 0 {
            self.blocks.remove(block);
            self.summaries.remove(block);
            return;
        }
        if index == 0 {
            self.summaries[block] = self.blocks[block].summary(self.summaries[block].added);
        }
        if block > 0 && self.blocks[block - 1].len() + self.blocks[block].len() <= BLOCK_POINTS / 2 {
            self.unite_with_previous(block);
        }
    }

    /// Makes one block of a block and the one before it.
    fn unite_with_previous(&mut self, block: usize) {
        let rest = self.blocks.remove(block);
        let rest_summary = self.summaries.remove(block);
        let added = self.summaries[block - 1].added;
        let into = &mut self.blocks[block - 1];
        into.times.extend(&rest.times);
        into.free.extend(rest.free.iter().map(|free| *free + rest_summary.added - added));
        self.summaries[block - 1] = into.summary(added);
    }

    /// The last point not later than `time`, or else the first of all.
    fn place(&self, time: i64) -> Place {
        let block = self.summaries.partition_point(|summary| summary.first <= time).saturating_sub(1);
        let index = self.blocks[block].times.partition_point(|&point| point <= time).saturating_sub(1);
        Place { block, index }
    }

    fn has(&self, place: Place, time: i64) -> bool {
        self.blocks.get(place.block).and_then(|block| block.times.get(place.index)) == Some(&time)
    }

    fn time(&self, place: Place) -> i64 {
        self.blocks[place.block].times[place.index]
    }

    fn value(&self, place: Place) -> Amounts {
        self.blocks[place.block].free[place.index] + self.summaries[place.block].added
    }
}
