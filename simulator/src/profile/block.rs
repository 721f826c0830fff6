//! Some neighbouring points of a profile, and what a search wants to know of them.

use std::ops::Range;

/// How many points a block holds at most. A block that is full is split in two; two neighbours are united when they hold no more
/// than half of this together.
pub(super) const BLOCK_POINTS: usize = 64;

/// What is known of a block without looking at its points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Summary {
    /// When its first point is.
    pub(super) first: i64,
    /// The fewest processors free within, with what has been added.
    pub(super) least: i64,
    /// The most processors free within, with what has been added.
    pub(super) most: i64,
    /// What has been added to all points of the block, and is not in them.
    pub(super) added: i64,
}

impl Summary {
    /// Adds to all points.
    pub(super) fn add(&mut self, difference: i64) {
        self.least += difference;
        self.most += difference;
        self.added += difference;
    }
}

/// Points in the order of time, without what the summary adds.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// When each point is.
    pub(super) times: Vec<i64>,
    /// How many processors are free from each point on.
    pub(super) free: Vec<i64>,
}

impl Block {
    /// A block of one point.
    pub(super) fn of(time: i64, free: i64) -> Self {
        Self { times: vec![time], free: vec![free] }
    }

    pub(super) fn len(&self) -> usize {
        self.times.len()
    }

    /// What is known of the block, when so much has been added to all of it.
    pub(super) fn summary(&self, added: i64) -> Summary {
        let (least, most) = self.free.iter().fold((i64::MAX, i64::MIN), |(least, most), &free| (least.min(free), most.max(free)));
        Summary { first: self.times[0], least: least + added, most: most + added, added }
    }

    /// Keeps the first half of the points and returns the others.
    pub(super) fn split(&mut self) -> Self {
        let half = self.len() / 2;
        let mut rest = Self { times: Vec::with_capacity(BLOCK_POINTS), free: Vec::with_capacity(BLOCK_POINTS) };
        rest.times.extend(self.times.drain(half..));
        rest.free.extend(self.free.drain(half..));
        rest
    }

    /// Takes the first points out.
    pub(super) fn forget_first(&mut self, count: usize) {
        self.times.drain(..count);
        self.free.drain(..count);
    }

    pub(super) fn add(&mut self, range: Range<usize>, difference: i64) {
        for free in &mut self.free[range] {
            *free += difference;
        }
    }

    /// The first point from `index` on with so many processors or more.
    pub(super) fn first_with_at_least(&self, index: usize, processors: i64) -> Option<usize> {
        self.free[index..].iter().position(|&free| free >= processors).map(|position| index + position)
    }

    /// The first point from `index` on with fewer processors.
    pub(super) fn first_below(&self, index: usize, processors: i64) -> Option<usize> {
        self.free[index..].iter().position(|&free| free < processors).map(|position| index + position)
    }
}
