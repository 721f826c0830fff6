//! What happens to a job when it is submitted.

mod as_submitted;

pub use as_submitted::AsSubmitted;

use job_types::time::UnixTime;

use super::{Cluster, Job, JobIndex, Record};

/// A job as a policy passes it on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Submitted {
    /// The job, perhaps at another size, with another estimate; its run time is what it would run
    /// at that size.
    pub job: Job,
    /// When it comes into the queue; before now is now.
    pub eligible: UnixTime,
    /// Until when it waits on its nodes if it starts before: the time for which it was promised
    /// them. Its time limit has to cover that.
    pub hold_until: Option<UnixTime>,
}

/// What happens to a job when it is submitted, before the scheduler sees it.
pub trait Policy {
    /// Passes on a job that is submitted now. Of `cluster` it may look at what a user could know:
    /// no run time of a job that has not ended.
    fn submit(&mut self, index: JobIndex, job: &Job, cluster: &Cluster) -> Submitted;

    /// A job has started; `record` has when.
    fn started(&mut self, _index: JobIndex, _job: &Job, _record: &Record) {}

    /// A job has ended.
    fn ended(&mut self, _index: JobIndex, _job: &Job, _record: &Record) {}
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn submit(&mut self, index: JobIndex, job: &Job, cluster: &Cluster) -> Submitted {
        (**self).submit(index, job, cluster)
    }

    fn started(&mut self, index: JobIndex, job: &Job, record: &Record) {
        (**self).started(index, job, record);
    }

    fn ended(&mut self, index: JobIndex, job: &Job, record: &Record) {
        (**self).ended(index, job, record);
    }
}
