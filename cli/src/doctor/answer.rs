//! What slurmctld says of itself, of its nodes and of its partitions.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use slurm_sys::client::ClientError;
use slurm_sys::client::controller::{self, NodeVersion};

/// How long slurmctld may take. libslurm itself waits for MessageTimeout, and longer where it tries
/// again.
const LIMIT: Duration = Duration::from_secs(45);

/// slurmctld's answers to the questions that `queuecast doctor` asks it.
#[derive(Debug)]
pub(super) struct Answer {
    /// The version of slurmctld.
    pub(super) version: String,
    pub(super) nodes: Vec<NodeVersion>,
    /// The names of its partitions.
    pub(super) partitions: Vec<String>,
}

/// Asks slurmctld.
///
/// # Errors
/// In words, where there is no answer.
pub(super) fn ask() -> Result<Answer, String> {
    let (sender, receiver) = channel();
    thread::spawn(move || sender.send(answer()));
    match receiver.recv_timeout(LIMIT) {
        Ok(answer) => answer.map_err(|error| error.to_string()),
        Err(_) => Err(format!("slurmctld gave no answer within {} s", LIMIT.as_secs())),
    }
}

fn answer() -> Result<Answer, ClientError> {
    // A slurmctld that is down is told so at once; other questions would be asked again for a
    // while.
    controller::ping()?;
    Ok(Answer {
        version: controller::version()?,
        nodes: controller::node_versions()?,
        partitions: controller::partitions()?.into_iter().map(|partition| partition.name).collect(),
    })
}
