//! Some neighbouring points of a profile, and what a search wants to know of them.

use std::ops::Range;

use super::amounts::Amounts;

/// How many points a block holds at most. A block that is full is split in two; two neighbours are
/// united when they hold no more than half of this together.
pub(super) const BLOCK_POINTS: usize = 128;

/// What is known of a block without looking at its points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Summary {
    /// When its first point is, in seconds.
    pub(super) first: i64,
    /// The least of each resource that is free within the block, `added` included. It is a lower
    /// bound until the points are counted.
    pub(super) least: Amounts,
    /// The most of each resource that is free within the block, `added` included. It is an upper
    /// bound until the points are counted.
    pub(super) most: Amounts,
    /// What has been added to all points of the block, and is not in them.
    pub(super) added: Amounts,
}

impl Summary {
    /// Adds to all points.
    pub(super) fn add(&mut self, difference: Amounts) {
        self.least = self.least.saturating_add(difference);
        self.most = self.most.saturating_add(difference);
        self.added += difference;
    }
}

/// Points in the order of time, without what the summary adds.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// When each point is, in seconds.
    pub(super) times: Vec<i64>,
    /// What is free from each point on.
    pub(super) free: Vec<Amounts>,
}

impl Block {
    /// A block of one point.
    pub(super) fn of(time: i64, free: Amounts) -> Self {
        Self { times: vec![time], free: vec![free] }
    }

    pub(super) fn len(&self) -> usize {
        self.times.len()
    }

    /// What is known of the block, when so much has been added to all of it.
    pub(super) fn summary(&self, added: Amounts) -> Summary {
        let (least, most) =
            self.free.iter().fold((Amounts::HIGHEST, Amounts::LOWEST), |(least, most), &free| (least.least(free), most.most(free)));
        Summary { first: self.times[0], least: least + added, most: most + added, added }
    }

    /// What is known of the block without counting.
    pub(super) fn uncounted(&self, added: Amounts) -> Summary {
        Summary { first: self.times[0], least: Amounts::LOWEST, most: Amounts::HIGHEST, added }
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

    pub(super) fn add(&mut self, range: Range<usize>, difference: Amounts) {
        for free in &mut self.free[range] {
            *free += difference;
        }
    }

    /// Goes on with a search at the point `index`: `start` is as early as what was before allows,
    /// `end` is when the next block begins, if there is one. Points where too little is free are
    /// many and hard to foretell, so that the loop branches only where the search ends.
    pub(super) fn earliest(&self, index: usize, start: i64, end: Option<i64>, wanted: Amounts, duration: i64) -> Search {
        let mut start = start;
        let last = self.times.len() - 1;
        for (free, next) in self.free[index..last].iter().zip(&self.times[index + 1..]) {
            start = if wanted.fits_in(*free) { start } else { *next };
            if next - start >= duration {
                return Search::Found(start);
            }
        }
        let is_enough = wanted.fits_in(self.free[last]);
        match end {
            None if is_enough => Search::Found(start),
            None => Search::Never,
            Some(end) if !is_enough => Search::Open(end),
            Some(end) if end - start >= duration => Search::Found(start),
            Some(_) => Search::Open(start),
        }
    }
}

/// How far a search has come at the end of a block.
#[derive(Clone, Copy, Debug)]
pub(super) enum Search {
    /// There is room from here on, for long enough.
    Found(i64),
    /// There may be room from this time on.
    Open(i64),
    /// The last block ends with too little, and stays so for ever.
    Never,
}
