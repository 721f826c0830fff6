//! The events of past jobs, in order of time.

use job_types::job::Job;
use job_types::time::{Seconds, UnixTime};

/// What happens to a job in an event. The order is that in which events of the same second are
/// replayed: a job that arrives knows nothing of what else happens in that second, and CPUs become
/// free before they are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// The job becomes eligible.
    Arrival,
    /// It ends, having started in an earlier second; or it is cancelled before it starts.
    End,
    /// The job starts.
    Start,
    /// It ends in the second in which it started.
    EndAtOnce,
}

/// An event: a job arrives, starts or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// When it happens.
    pub at: UnixTime,
    /// What happens.
    pub kind: EventKind,
    /// Index of the job that it happens to.
    pub job: u32,
}

/// All events of the jobs in order of time. Events of the same kind and second keep the order of
/// the jobs.
#[must_use]
pub fn events<J: Into<Job>>(jobs: impl IntoIterator<Item = J>) -> Vec<Event> {
    let jobs = jobs.into_iter();
    let mut events = Vec::with_capacity(3 * jobs.size_hint().0);
    for (index, job) in (0u32..).zip(jobs) {
        let job = job.into();
        let eligible = job.submitted().eligible;
        let mut push = |at, kind| events.push(Event { at, kind, job: index });
        push(eligible, EventKind::Arrival);
        let start = job.start().map(|start| start.max(eligible));
        if let Some(start) = start {
            push(start, EventKind::Start);
        }
        if let Some(end) = job.end() {
            let end = end.max(start.unwrap_or(eligible));
            let at_once = start == Some(end) || (start.is_none() && end == eligible);
            push(end, if at_once { EventKind::EndAtOnce } else { EventKind::End });
        }
    }
    events.sort_unstable();
    events
}

/// How long what is published stays in force, unless a site has it otherwise: a submission sees the
/// cluster as it was up to so long ago.
pub const PUBLISHED_FOR: Seconds = Seconds(30);

/// The events of one published state after the other, each with those that happened while it was in
/// force: after the moment that it describes, and up to the one that the next describes.
pub fn rounds(events: &[Event], published_for: Seconds) -> impl Iterator<Item = &[Event]> {
    let round = move |event: &Event| (event.at.0 - 1).div_euclid(published_for.0.max(1));
    events.chunk_by(move |one, next| round(one) == round(next))
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::job::WaitingJob;
    use job_types::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
    use job_types::size::Size;

    fn waiting(eligible: i64) -> Job {
        Job::Waiting(WaitingJob {
            user: UserId(1),
            account: AccountIndex(0),
            partition: PartitionIndex(0),
            qos: QosIndex(0),
            size: Size { nodes: 1, cpus: 1 },
            limit: None,
            eligible: UnixTime(eligible),
        })
    }

    fn job(eligible: i64, start: Option<i64>, end: i64) -> Job {
        let job = waiting(eligible);
        let job = start.map_or(job, |start| job.started(UnixTime(start), None));
        job.ended(UnixTime(end), Seconds::ZERO)
    }

    #[test]
    fn in_one_second_jobs_arrive_then_end_then_start() {
        let jobs = [job(0, Some(0), 10), job(0, Some(10), 20), job(10, None, 10), job(5, Some(10), 10)];
        let told: Vec<_> = events(jobs).iter().map(|event| (event.at.0, event.kind, event.job)).collect();
        assert_eq!(
            told,
            [
                (0, EventKind::Arrival, 0),
                (0, EventKind::Arrival, 1),
                (0, EventKind::Start, 0),
                (5, EventKind::Arrival, 3),
                (10, EventKind::Arrival, 2),
                (10, EventKind::End, 0),
                (10, EventKind::Start, 1),
                (10, EventKind::Start, 3),
                (10, EventKind::EndAtOnce, 2),
                (10, EventKind::EndAtOnce, 3),
                (20, EventKind::End, 1),
            ]
        );
    }
    #[test]
    fn what_happens_in_the_second_of_a_publication_is_in_it() {
        let events = events([1, 30, 31, 60, 61, 150].map(waiting));
        let rounds: Vec<Vec<i64>> = rounds(&events, Seconds(30)).map(|round| round.iter().map(|event| event.at.0).collect()).collect();
        assert_eq!(rounds, [vec![1, 30], vec![31, 60], vec![61], vec![150]]);
    }
}
