//! What the thread that compiles the site's own rules has found.

use std::sync::Arc;

use rules_compiler::in_force::LoadState;

/// What it has found at a look.
#[derive(Debug)]
pub(crate) struct RuleLoadReport {
    /// What became of the rules.
    pub(crate) state: LoadState,
    /// The names of the rules that are in force; `None` if none are.
    pub(crate) in_force: Option<Arc<RuleNames>>,
}

/// The names of the rules of a set.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RuleNames {
    /// The number that tells this set from others.
    pub(crate) number: u64,
    /// The names, in the order in which the rules apply.
    pub(crate) names: Vec<String>,
}
