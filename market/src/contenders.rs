//! All contenders, by their numbers.

use crate::Bid;
use crate::contender::{Contender, ContenderId, Place};

/// A contender with what the market keeps of it.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) contender: Contender,
    /// The place that the book has it at.
    pub(crate) place: Place,
    /// What it pays per node and minute while it runs.
    pub(crate) pays: Bid,
    /// The last cycle that chose it to run.
    pub(crate) chosen_in: u64,
}

/// Contenders by number; the numbers of those who have left are given again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Contenders {
    entries: Vec<Option<Entry>>,
    free: Vec<ContenderId>,
}

impl Contenders {
    /// Keeps what `entry` makes for the number that it is given.
    pub(crate) fn insert(&mut self, entry: impl FnOnce(ContenderId) -> Entry) -> ContenderId {
        let id = self.free.pop().unwrap_or(ContenderId(u32::try_from(self.entries.len()).unwrap_or(u32::MAX)));
        let entry = Some(entry(id));
        match self.entries.get_mut(id.index()) {
            Some(empty) => *empty = entry,
            None => self.entries.push(entry),
        }
        id
    }

    pub(crate) fn remove(&mut self, id: ContenderId) -> Option<Entry> {
        let entry = self.entries.get_mut(id.index())?.take()?;
        self.free.push(id);
        Some(entry)
    }

    pub(crate) fn get(&self, id: ContenderId) -> Option<&Entry> {
        self.entries.get(id.index())?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, id: ContenderId) -> Option<&mut Entry> {
        self.entries.get_mut(id.index())?.as_mut()
    }

    /// Their number.
    pub(crate) fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }
}
