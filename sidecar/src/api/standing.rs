//! What probes are answered from.

use std::sync::Arc;

use crate::plan::Question;

/// The plan that stands.
#[derive(Debug)]
pub(crate) struct Standing {
    /// The number of the snapshot that has it.
    pub(crate) generation: u64,
    /// The question that it answers, with the cluster in it.
    pub(crate) question: Arc<Question>,
}
