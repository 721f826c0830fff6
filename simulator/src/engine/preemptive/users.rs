//! What users do with their jobs (Geweke 2000, 6.2.4.2).

use market::{Bid, Milliseconds};

use super::floor::Floor;
use super::{Job, JobIndex, Record, Standing};

/// What a user does when a job is to be submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Submission {
    /// It is submitted with this bid.
    Submits(Bid),
    /// The user thinks about it again at this moment, which has to be later.
    Delays(Milliseconds),
    /// It never is.
    Skips,
}

/// All users of a machine. Whatever they do about jobs that are present goes through the [`Desk`].
pub trait Users {
    /// A job is to be submitted.
    fn submission(&mut self, index: JobIndex, job: &Job, desk: &mut Desk<'_>) -> Submission;

    /// A job is done.
    fn end(&mut self, _index: JobIndex, _record: &Record, _desk: &mut Desk<'_>) {}

    /// The moment that [`Self::wakes_at`] said has come.
    fn time(&mut self, _desk: &mut Desk<'_>) {}

    /// When the users want to be asked next although nothing happens. What is not in the future
    /// counts as the next millisecond.
    fn wakes_at(&self) -> Option<Milliseconds> {
        None
    }
}

/// What a user wants of a job that is present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    Bid(Bid),
    Withdraw,
}

/// Where users see how jobs stand and say what they want. It is done before the next cycle.
pub struct Desk<'a> {
    pub(super) now: Milliseconds,
    pub(super) floor: &'a Floor<'a>,
    pub(super) wishes: &'a mut Vec<(JobIndex, Wish)>,
}

impl Desk<'_> {
    /// The present moment.
    #[must_use]
    pub fn now(&self) -> Milliseconds {
        self.now
    }

    /// How a job stands.
    #[must_use]
    pub fn standing(&self, job: JobIndex) -> Standing {
        self.floor.standing(job)
    }

    /// A job bids something else from now on, running or not. Of jobs that are not present nothing
    /// comes of it.
    pub fn rebid(&mut self, job: JobIndex, bid: Bid) {
        self.wishes.push((job, Wish::Bid(bid)));
    }

    /// A job is withdrawn, running or not. Of jobs that are not present nothing comes of it.
    pub fn withdraw(&mut self, job: JobIndex) {
        self.wishes.push((job, Wish::Withdraw));
    }
}

/// Users who submit all jobs at their times with bids that are given, and leave them alone. Jobs
/// for which no bid is given bid nothing.
#[derive(Debug, Clone, Copy)]
pub struct GivenBids<'a>(pub &'a [Bid]);

impl Users for GivenBids<'_> {
    fn submission(&mut self, index: JobIndex, _job: &Job, _desk: &mut Desk<'_>) -> Submission {
        Submission::Submits(self.0.get(index as usize).copied().unwrap_or(Bid::ZERO))
    }
}
