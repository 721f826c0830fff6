//! What happens to a job when it is submitted.

mod as_submitted;

pub use as_submitted::AsSubmitted;

use job_types::time::{Seconds, UnixTime};

use super::{Cluster, Job, JobIndex, Record};

/// A job as a policy passes it on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Submitted {
    /// The job, perhaps at another size, with another estimate; its run time is what it would run
    /// at that size.
    pub job: Job,
    /// When it comes into the queue; before now is now.
    pub eligible: UnixTime,
    /// The time for which the job was promised its nodes; if it starts sooner, it waits on them
    /// until then. Its time limit has to cover that wait. `None` if it was promised no time.
    pub hold_until: Option<UnixTime>,
}

/// What a policy changes in a job after its submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revised {
    /// The job.
    pub job: JobIndex,
    /// The new time at which the job comes into the queue; `None` if that does not change.
    pub eligible: Option<UnixTime>,
    /// The new estimate; `None` if it does not change. The estimate of a running job has to cover
    /// its wait on the nodes and its run.
    pub estimate: Option<Seconds>,
}

/// What happens to a job when it is submitted, before the scheduler sees it, and afterwards.
pub trait Policy {
    /// Passes on a job that is submitted now. Of `cluster` it may look at what a user could know:
    /// no run time of a job that has not ended.
    fn submit(&mut self, index: JobIndex, job: &Job, cluster: &Cluster) -> Submitted;

    /// A job has started; `record` has when.
    fn started(&mut self, _index: JobIndex, _job: &Job, _record: &Record) {}

    /// A job has ended.
    fn ended(&mut self, _index: JobIndex, _job: &Job, _record: &Record) {}

    /// A job that has not started was taken back, and never runs.
    fn withdrawn(&mut self, _index: JobIndex) {}

    /// When it wants to change jobs; once that has come, [`Policy::revise`] is asked, and after it
    /// this has to be later.
    fn wakes_at(&self) -> Option<UnixTime> {
        None
    }

    /// Changes jobs that were submitted before. Of `cluster` it may look at what
    /// [`Policy::submit`] may.
    fn revise(&mut self, _cluster: &Cluster) -> Vec<Revised> {
        Vec::new()
    }
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

    fn withdrawn(&mut self, index: JobIndex) {
        (**self).withdrawn(index);
    }

    fn wakes_at(&self) -> Option<UnixTime> {
        (**self).wakes_at()
    }

    fn revise(&mut self, cluster: &Cluster) -> Vec<Revised> {
        (**self).revise(cluster)
    }
}
