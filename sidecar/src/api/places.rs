//! Places for connections, so many in all and so many for one caller, so that none takes those of
//! others.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use parking_lot::Mutex;

/// Places for connections of callers who are told apart by `K`. Copies are of one.
#[derive(Debug)]
pub(super) struct Places<K>(Arc<Taken<K>>);

#[derive(Debug)]
struct Taken<K> {
    /// How many there are.
    most: usize,
    /// How many of them one caller may have.
    most_of_one: usize,
    /// How many those have who have any.
    by_caller: Mutex<HashMap<K, usize>>,
}

/// A place that is taken. Another gets it once it is dropped.
#[derive(Debug)]
pub(super) struct Place<K: Eq + Hash>(K, Arc<Taken<K>>);

impl<K: Copy + Eq + Hash> Places<K> {
    /// So many places, of which one caller may have so many.
    pub(super) fn new(most: usize, most_of_one: usize) -> Self {
        Self(Arc::new(Taken { most, most_of_one, by_caller: Mutex::default() }))
    }

    /// A place for a caller; `None` where there is none.
    pub(super) fn take(&self, caller: K) -> Option<Place<K>> {
        let mut by_caller = self.0.by_caller.lock();
        if by_caller.values().sum::<usize>() >= self.0.most {
            return None;
        }
        let own = by_caller.get(&caller).copied().unwrap_or_default();
        (own < self.0.most_of_one).then(|| {
            by_caller.insert(caller, own + 1);
            Place(caller, Arc::clone(&self.0))
        })
    }
}

impl<K: Eq + Hash> Drop for Place<K> {
    fn drop(&mut self) {
        let mut by_caller = self.1.by_caller.lock();
        match by_caller.get_mut(&self.0) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(by_caller.remove(&self.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_connections_of_one_caller_take_no_place_of_others() {
        let places = Places::new(20, 8);
        let idle: Vec<_> = (0..16).filter_map(|_| places.take(1)).collect();
        assert_eq!(idle.len(), 8);
        assert!(places.take(2).is_some());
        drop(idle);
        assert!(places.take(1).is_some());
        let many: Vec<_> = (10..200).filter_map(|caller| places.take(caller)).collect();
        assert_eq!(many.len(), 20);
        drop(many);
        assert!(places.0.by_caller.lock().is_empty(), "whoever has no place is forgotten");
    }
}
