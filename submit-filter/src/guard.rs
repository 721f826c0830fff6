//! The place where a panic ends, so that none reaches C.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `work`; `None` where it panicked. What it left half done is the caller's to judge: a job
/// description is written only at the very end.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => Some(result),
        Err(payload) => {
            // Dropping the payload may panic again; it is small and rare enough to be left where it
            // is.
            std::mem::forget(payload);
            None
        }
    }
}
