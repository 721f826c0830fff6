//! What probes are answered from.

use std::sync::Arc;

use job_types::firm::FirmPolicy;
use predictor_core::decisions::limits::AccountingLimits;

use crate::plan::Question;

/// The plan that stands.
#[derive(Debug)]
pub(crate) struct Standing {
    /// The number of the snapshot that has it.
    pub(crate) generation: u64,
    /// The question that it answers, with the cluster in it.
    pub(crate) question: Arc<Question>,
    /// What accounting says of associations.
    pub(crate) accounting: Arc<AccountingLimits>,
    /// To whom the site gives firm slots.
    pub(crate) policies: Vec<FirmPolicy>,
}
