//! Reads which release of Slurm runs.

use super::Answer;
use crate::client::error::ClientError;
use crate::client::value;

/// A node, and which slurmd runs there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeVersion {
    /// The node's name.
    pub name: String,
    /// The version that its slurmd registered with, such as `24.11.5`; `None` where it has not
    /// registered yet.
    pub version: Option<String>,
}

/// The version of the slurmctld that answers, such as `24.11.5`.
///
/// # Errors
/// As [`super::jobs`].
pub fn version() -> Result<String, ClientError> {
    let answer = Answer::configuration()?;
    // SAFETY: not null (checked by `ask`); the text is null or null-terminated, and copied.
    Ok(unsafe { value::owned_text((*answer.message).version) }.unwrap_or_default())
}

/// The nodes, each with the version of its slurmd.
///
/// # Errors
/// As [`super::jobs`].
pub fn node_versions() -> Result<Vec<NodeVersion>, ClientError> {
    let answer = Answer::nodes()?;
    let records = answer.node_records();
    let node = |record: &crate::bindings::node_info_t| {
        // SAFETY: texts of a live answer, null or null-terminated. Places of removed nodes have no
        // name.
        unsafe { Some(NodeVersion { name: value::owned_text(record.name)?, version: value::owned_text(record.version) }) }
    };
    Ok(records.iter().filter_map(node).collect())
}
