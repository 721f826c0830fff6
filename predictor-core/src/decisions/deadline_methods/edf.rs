//! Earliest deadline first, on nodes that have one job at a time (Yeo and Buyya 2006, section 4).
//!
//! Jobs wait in a queue in the order of their deadlines. The first is selected and waits for its
//! processors; nobody behind it starts before it. A job that comes later with an earlier deadline
//! is selected in its place. With admission, a selected job is refused if its deadline has passed
//! or can't be met by its estimate, and not before it is selected.

use job_types::time::{Seconds, UnixTime};

/// A job in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// The job's deadline.
    pub deadline: UnixTime,
    /// The job's place among the submissions, which says who is first of equal deadlines.
    pub arrival: u32,
    /// How long the job runs, by its estimate.
    pub estimate: Seconds,
    /// How many processors the job needs.
    pub processors: u32,
}

impl Queued {
    /// What the queue ascends by.
    #[must_use]
    pub fn order(&self) -> (UnixTime, u32) {
        (self.deadline, self.arrival)
    }

    /// Whether it is done in time by its estimate if it starts at a moment. It is not if its
    /// deadline has passed.
    #[must_use]
    pub fn is_in_time(&self, start: UnixTime) -> bool {
        start + self.estimate <= self.deadline
    }
}

/// What becomes of the job that is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selected {
    /// It starts.
    Starts,
    /// It waits for processors.
    Waits,
    /// It is refused.
    Refused,
}

/// Returns the place at which a job enters a queue that ascends by [`Queued::order`].
#[must_use]
pub fn place(queue: &[Queued], job: &Queued) -> usize {
    queue.partition_point(|other| other.order() < job.order())
}

/// What becomes of the first job of the queue at a moment at which so many processors are free.
/// After a start or a refusal the next job is selected.
#[must_use]
pub fn select(first: &Queued, now: UnixTime, free_processors: u32, has_admission: bool) -> Selected {
    if has_admission && !first.is_in_time(now) {
        Selected::Refused
    } else if first.processors <= free_processors {
        Selected::Starts
    } else {
        Selected::Waits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued(deadline: i64, arrival: u32) -> Queued {
        Queued { deadline: UnixTime(deadline), arrival, estimate: Seconds(50), processors: 4 }
    }

    #[test]
    fn the_queue_is_in_the_order_of_the_deadlines_and_then_of_the_submissions() {
        let queue = [queued(100, 3), queued(200, 1), queued(200, 5), queued(300, 0)];
        let places = [queued(50, 9), queued(200, 4), queued(200, 9), queued(400, 9)].map(|job| place(&queue, &job));
        assert_eq!(places, [0, 2, 3, 4]);
    }

    #[test]
    fn the_first_starts_as_soon_as_it_has_its_processors() {
        let first = queued(200, 0);
        assert_eq!(select(&first, UnixTime(100), 3, true), Selected::Waits);
        assert_eq!(select(&first, UnixTime(100), 4, true), Selected::Starts);
    }

    #[test]
    fn a_deadline_that_can_not_be_met_is_refused_only_with_admission() {
        let first = queued(200, 0);
        assert_eq!(select(&first, UnixTime(150), 4, true), Selected::Starts);
        for now in [151, 201] {
            assert_eq!(select(&first, UnixTime(now), 4, true), Selected::Refused);
            assert_eq!(select(&first, UnixTime(now), 3, true), Selected::Refused);
            assert_eq!(select(&first, UnixTime(now), 4, false), Selected::Starts);
        }
    }
}
