//! What the thread that compiles the site's own rules has found.

use std::sync::Arc;

use rules_compiler::in_force::LoadState;

/// What it has found at a look.
#[derive(Debug)]
pub(crate) struct RuleLoadReport {
    /// What became of the rules.
    pub(crate) state: LoadState,
    /// Those that are in force.
    pub(crate) in_force: Option<Arc<RuleNames>>,
}

/// The rules of a set by their names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RuleNames {
    /// By which the set is told from others.
    pub(crate) number: u64,
    /// The names, in the order in which the rules apply.
    pub(crate) names: Vec<String>,
}
