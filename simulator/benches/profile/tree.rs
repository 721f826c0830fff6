//! A profile as a balanced tree (a treap): each node knows the fewest and the most free processors below it, and what has been added to
//! all of it.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::FreeProcessors;

const NONE: usize = usize::MAX;

#[derive(Clone, Copy)]
struct Node {
    time: i64,
    free: i64,
    least: i64,
    most: i64,
    /// Not yet added to the nodes below.
    added: i64,
    weight: u64,
    left: usize,
    right: usize,
}

#[derive(Clone)]
pub(crate) struct TreeProfile {
    nodes: Vec<Node>,
    unused: Vec<usize>,
    root: usize,
    random: ChaCha8Rng,
}

impl TreeProfile {
    fn node(&mut self, time: i64, free: i64) -> usize {
        let node = Node { time, free, least: free, most: free, added: 0, weight: self.random.random(), left: NONE, right: NONE };
        if let Some(place) = self.unused.pop() {
            self.nodes[place] = node;
            return place;
        }
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn add(&mut self, place: usize, difference: i64) {
        if let Some(node) = self.nodes.get_mut(place) {
            node.free += difference;
            node.least += difference;
            node.most += difference;
            node.added += difference;
        }
    }

    fn push_down(&mut self, place: usize) {
        let Node { left, right, added, .. } = self.nodes[place];
        if added != 0 {
            self.add(left, added);
            self.add(right, added);
            self.nodes[place].added = 0;
        }
    }

    fn pull_up(&mut self, place: usize) {
        let Node { left, right, free, .. } = self.nodes[place];
        let (mut least, mut most) = (free, free);
        for below in [left, right] {
            if let Some(node) = self.nodes.get(below) {
                least = least.min(node.least);
                most = most.max(node.most);
            }
        }
        let node = &mut self.nodes[place];
        (node.least, node.most) = (least, most);
    }

    /// What is before `time`, and the rest.
    fn split(&mut self, place: usize, time: i64) -> (usize, usize) {
        if place == NONE {
            return (NONE, NONE);
        }
        self.push_down(place);
        if self.nodes[place].time < time {
            let (middle, rest) = self.split(self.nodes[place].right, time);
            self.nodes[place].right = middle;
            self.pull_up(place);
            (place, rest)
        } else {
            let (before, middle) = self.split(self.nodes[place].left, time);
            self.nodes[place].left = middle;
            self.pull_up(place);
            (before, place)
        }
    }

    fn unite(&mut self, before: usize, behind: usize) -> usize {
        if before == NONE {
            return behind;
        }
        if behind == NONE {
            return before;
        }
        if self.nodes[before].weight > self.nodes[behind].weight {
            self.push_down(before);
            self.nodes[before].right = self.unite(self.nodes[before].right, behind);
            self.pull_up(before);
            before
        } else {
            self.push_down(behind);
            self.nodes[behind].left = self.unite(before, self.nodes[behind].left);
            self.pull_up(behind);
            behind
        }
    }

    /// Time and value of the last point below `place`.
    fn last(&self, mut place: usize) -> (i64, i64) {
        let mut added = 0;
        loop {
            let node = &self.nodes[place];
            if node.right == NONE {
                return (node.time, node.free + added);
            }
            added += node.added;
            place = node.right;
        }
    }

    fn first(&self, mut place: usize) -> (i64, i64) {
        let mut added = 0;
        loop {
            let node = &self.nodes[place];
            if node.left == NONE {
                return (node.time, node.free + added);
            }
            added += node.added;
            place = node.left;
        }
    }

    /// The first point behind `time` that has at least, or less than, so many processors.
    fn next(&self, place: usize, added: i64, time: i64, processors: i64, at_least: bool) -> Option<i64> {
        let node = self.nodes.get(place)?;
        if at_least && node.most + added < processors || !at_least && node.least + added >= processors {
            return None;
        }
        let below = added + node.added;
        if node.time > time {
            if let Some(found) = self.next(node.left, below, time, processors, at_least) {
                return Some(found);
            }
            if (node.free + added >= processors) == at_least {
                return Some(node.time);
            }
        }
        self.next(node.right, below, time, processors, at_least)
    }

    fn value_at(&self, time: i64) -> i64 {
        let (mut place, mut added, mut value) = (self.root, 0, 0);
        while let Some(node) = self.nodes.get(place) {
            if node.time <= time {
                value = node.free + added;
                added += node.added;
                place = node.right;
            } else {
                added += node.added;
                place = node.left;
            }
        }
        value
    }

    /// The part from `time` on, with a point at its beginning unless that says the same as what was before.
    fn with_point(&mut self, before: usize, behind: usize, time: i64, value: i64) -> usize {
        let is_there = behind != NONE && self.first(behind).0 == time;
        if is_there || before == NONE {
            return behind;
        }
        let point = self.node(time, value);
        self.unite(point, behind)
    }

    /// Leaves the first point of `behind` out if it says the same as the last one before.
    fn joined(&mut self, before: usize, behind: usize) -> usize {
        if before == NONE || behind == NONE {
            return self.unite(before, behind);
        }
        let (time, value) = self.first(behind);
        if self.last(before).1 != value {
            return self.unite(before, behind);
        }
        let (gone, rest) = self.split(behind, time + 1);
        self.unused.push(gone);
        self.unite(before, rest)
    }
}

impl FreeProcessors for TreeProfile {
    fn new(free: i64) -> Self {
        let mut tree = Self { nodes: Vec::new(), unused: Vec::new(), root: NONE, random: ChaCha8Rng::seed_from_u64(3) };
        tree.root = tree.node(0, free);
        tree
    }

    fn change(&mut self, start: i64, end: i64, difference: i64) {
        let (at_start, at_end) = (self.value_at(start), self.value_at(end));
        let (before, rest) = self.split(self.root, start);
        let (middle, behind) = self.split(rest, end);
        let middle = self.with_point(before, middle, start, at_start);
        let behind = self.with_point(middle, behind, end, at_end);
        self.add(middle, difference);
        let middle = self.joined(middle, behind);
        self.root = self.joined(before, middle);
    }

    fn earliest(&self, from: i64, processors: i64, duration: i64) -> Option<i64> {
        let mut start = from;
        if self.value_at(start) < processors {
            start = self.next(self.root, 0, start, processors, true)?;
        }
        loop {
            match self.next(self.root, 0, start, processors, false) {
                Some(hindrance) if hindrance < start + duration => {
                    start = self.next(self.root, 0, hindrance, processors, true)?;
                }
                _ => return Some(start),
            }
        }
    }
}
