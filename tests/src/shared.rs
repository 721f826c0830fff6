//! A cluster that the tests of a file share.

use crate::Cluster;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The place where the tests of a file find the cluster that they share while any of them runs.
#[derive(Debug)]
pub struct Shared(Mutex<Weak<Cluster>>);

impl Shared {
    /// A place without a cluster.
    #[must_use]
    pub const fn new() -> Shared {
        Shared(Mutex::new(Weak::new()))
    }

    /// The cluster, which `make` brings up for the first of those tests that run.
    pub fn get(&self, make: impl FnOnce() -> Cluster) -> Arc<Cluster> {
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cluster) = shared.upgrade() {
            return cluster;
        }
        let cluster = Arc::new(make());
        *shared = Arc::downgrade(&cluster);
        cluster
    }
}

impl Default for Shared {
    fn default() -> Shared {
        Shared::new()
    }
}
