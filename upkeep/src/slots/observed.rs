//! What would have been reserved for jobs that ask for a firm slot in a mode that makes none.

use job_types::number::JobId;
use job_types::time::UnixTime;
use serde::{Deserialize, Serialize};

/// The version of what is kept.
const VERSION: u32 = 1;
/// How many are kept at the most; the oldest are forgotten first.
const MOST: usize = 10_000;

/// What would have become of one request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedSlot {
    /// The job that asked.
    pub job: JobId,
    /// When that was decided, as the job's record has it, by which it is told from an earlier job
    /// of the same number.
    pub decided_at: UnixTime,
    /// When the slot would have begun; `None` where there was none to be had.
    pub start: Option<UnixTime>,
}

/// What would have become of all requests that are remembered, the oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedSlots {
    version: u32,
    slots: Vec<ObservedSlot>,
}

impl Default for ObservedSlots {
    fn default() -> Self {
        Self { version: VERSION, slots: Vec::new() }
    }
}

impl ObservedSlots {
    /// The most bytes that they have as JSON.
    pub const MOST_BYTES: usize = 2 << 20;

    /// The version of what was read, where this release can't use it.
    #[must_use]
    pub fn other_version(&self) -> Option<u32> {
        (self.version != VERSION).then_some(self.version)
    }

    /// What would have become of the request of a job that was decided about at that moment; `None`
    /// where that is not known.
    #[must_use]
    pub fn find(&self, job: JobId, decided_at: UnixTime) -> Option<&ObservedSlot> {
        self.slots.iter().find(|slot| (slot.job, slot.decided_at) == (job, decided_at))
    }

    /// Adds one.
    pub fn add(&mut self, slot: ObservedSlot) {
        self.slots.push(slot);
        let surplus = self.slots.len().saturating_sub(MOST);
        self.slots.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(number: u32) -> ObservedSlot {
        ObservedSlot { job: JobId(number), decided_at: UnixTime(5), start: Some(UnixTime(i64::MAX)) }
    }

    #[test]
    fn a_request_is_found_by_its_job_and_when_that_was_decided_about() {
        let mut slots = ObservedSlots::default();
        slots.add(slot(1));
        assert_eq!(slots.find(JobId(1), UnixTime(5)), Some(&slot(1)));
        assert_eq!(slots.find(JobId(1), UnixTime(6)), None);
        assert_eq!(slots.find(JobId(2), UnixTime(5)), None);
    }

    #[test]
    fn the_oldest_are_forgotten_once_there_are_too_many() {
        let mut slots = ObservedSlots::default();
        (0..=10_000).for_each(|number| slots.add(slot(number)));
        assert!(slots.find(JobId(0), UnixTime(5)).is_none() && slots.find(JobId(1), UnixTime(5)).is_some());
        assert_eq!(slots.slots.len(), MOST);
    }

    #[test]
    fn those_of_another_version_are_not_used() {
        assert_eq!(ObservedSlots::default().other_version(), None);
        assert_eq!(ObservedSlots { version: 2, slots: Vec::new() }.other_version(), Some(2));
    }
}
