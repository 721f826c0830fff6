//! A profile as two plain vectors.

use crate::FreeProcessors;

#[derive(Clone)]
pub(crate) struct VectorProfile {
    times: Vec<i64>,
    free: Vec<i64>,
}

impl VectorProfile {
    fn point(&mut self, time: i64) -> usize {
        let index = self.times.partition_point(|&point| point <= time) - 1;
        if self.times[index] == time {
            return index;
        }
        self.times.insert(index + 1, time);
        self.free.insert(index + 1, self.free[index]);
        index + 1
    }

    fn join(&mut self, index: usize) {
        if index > 0 && self.free[index] == self.free[index - 1] {
            self.times.remove(index);
            self.free.remove(index);
        }
    }
}

impl FreeProcessors for VectorProfile {
    fn new(free: i64) -> Self {
        Self { times: vec![0], free: vec![free] }
    }

    fn change(&mut self, start: i64, end: i64, difference: i64) {
        let (first, last) = (self.point(start), self.point(end));
        for free in &mut self.free[first..last] {
            *free += difference;
        }
        self.join(last);
        self.join(first);
    }

    fn earliest(&self, from: i64, processors: i64, duration: i64) -> Option<i64> {
        let index = self.times.partition_point(|&point| point <= from) - 1;
        let last = self.times.len() - 1;
        let mut start = from;
        for (free, next) in self.free[index..last].iter().zip(&self.times[index + 1..]) {
            start = if *free < processors { *next } else { start };
            if next - start >= duration {
                return Some(start);
            }
        }
        (self.free[last] >= processors).then_some(start)
    }
}
