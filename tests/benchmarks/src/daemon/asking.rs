//! Reservations that are asked for without a pause.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::Context;
use job_types::record::WaitSource;
use serde::Deserialize;
use serde_json::Value;

use super::queuecastd::SOON;
use crate::private_cluster::PrivateCluster;

/// What `queuecast predict` has answered about a partition.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// The number of the snapshot; `None` if the answer names none.
    pub(super) generation: Option<u64>,
    pub(super) partition: String,
    /// What the wait is forecast from; `None` if the answer is no forecast.
    pub(super) source: Option<WaitSource>,
    /// All of it.
    pub(super) said: String,
}

impl Answer {
    pub(super) fn new(partition: &str, said: String) -> Answer {
        let told: Value = serde_json::from_str(&said).unwrap_or_default();
        let source = match &told["wait"]["source"] {
            // It has answered, and knows nothing of waits.
            Value::Null if told.is_object() => Some(WaitSource::Nothing),
            source => WaitSource::deserialize(source).ok(),
        };
        Answer { generation: told["generation"].as_u64(), partition: partition.to_owned(), source, said }
    }
}

/// Asks for a reservation in each of some partitions, again and again.
#[derive(Debug)]
pub(super) struct Asking<'a> {
    site: &'a PrivateCluster,
    partitions: Vec<&'a str>,
    has_ended: AtomicBool,
    answers: Mutex<Vec<Answer>>,
}

impl<'a> Asking<'a> {
    pub(super) fn new(site: &'a PrivateCluster, partitions: Vec<&'a str>) -> Asking<'a> {
        Asking { site, partitions, has_ended: AtomicBool::new(false), answers: Mutex::default() }
    }

    /// Asks as long as `act` runs, and returns what that returns.
    pub(super) fn during<T>(&self, act: impl FnOnce() -> T) -> T {
        thread::scope(|scope| {
            scope.spawn(|| self.ask());
            let _end = End(&self.has_ended);
            act()
        })
    }

    /// The answers until now.
    pub(super) fn answers(&self) -> MutexGuard<'_, Vec<Answer>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn count(&self) -> usize {
        self.answers().len()
    }

    /// Waits until one more answer has come from each partition, of those that are asked from now
    /// on; the answer that is under way counts for nothing.
    ///
    /// # Errors
    ///
    /// Where they don't come in time, or a signal has come.
    pub(super) fn wait_for_one_of_each(&self) -> anyhow::Result<()> {
        let wanted = self.count() + 1 + self.partitions.len();
        let answered = self.site.wait(SOON, || Ok((self.count() >= wanted).then_some(())))?;
        answered.context("queuecast predict does not answer")
    }

    fn ask(&self) {
        while !self.has_ended.load(Ordering::Relaxed) {
            for partition in &self.partitions {
                let mut command = self.site.cluster.prepare("queuecast");
                command.args(["predict", "--partition", partition, "--nodes=4", "--time=1:00:00"]);
                command.args(["--reserve-at=now+12hours", "--format", "json"]);
                let said = match command.output() {
                    // A forecast stands alone: a warning beside it makes it none.
                    Ok(output) => String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
                    Err(error) => error.to_string(),
                };
                self.answers().push(Answer::new(partition, said));
            }
        }
    }
}

/// Ends the asking when it is dropped, also by a panic.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_forecast_has_no_source() {
        let answer = |said: &str| Answer::new("long", said.to_owned());
        let blended = answer(r#"{"generation": 7, "wait": {"source": "blended"}}"#);
        assert_eq!((blended.generation, blended.source), (Some(7), Some(WaitSource::Blended)));
        assert_eq!(answer(r#"{"generation": 7, "wait": null}"#).source, Some(WaitSource::Nothing));
        let failed = answer("queuecast: there is no snapshot\n");
        assert_eq!((failed.generation, failed.source), (None, None));
    }
}
