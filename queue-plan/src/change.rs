//! What a change of the queue does to the jobs in it.

use job_types::time::UnixTime;
use predictor_core::forecasts::queue_plan::PlanObstacle;

use crate::pass::Pass;
use crate::placeholder::Placeholder;
use crate::state::PendingJob;

/// A change of the queue. A job of the state is known by its place in
/// [`State::pending`](crate::State::pending).
#[derive(Clone, Copy, Debug)]
pub enum Change<'c> {
    /// Adds a job, which takes its place in the order of the queue. Among jobs that are alike it
    /// comes last.
    Submitted(&'c PendingJob),
    /// Removes the job at this place.
    Removed(usize),
    /// Replaces the job at this place by another version of it: with another size, a later begin
    /// time, a longer time limit, or any other difference.
    Replaced(usize, &'c PendingJob),
    /// Keeps resources for a job that nobody has submitted yet.
    Placed(&'c Placeholder),
}

/// What a change does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// When the job that is submitted or replaced starts then, or why that is not known; `None`
    /// where the change is of another kind.
    pub start: Option<Result<UnixTime, PlanObstacle>>,
    /// The other jobs whose starts change, in the order in which they are served.
    pub moved: Vec<Moved>,
}

impl Effect {
    /// By how many seconds all other jobs together start later; below zero where they start sooner.
    /// One that is not placed any more, or only now, is left out: it is as far behind as a plan
    /// reaches.
    #[must_use]
    pub fn waited(&self) -> i64 {
        let start = |start: Result<UnixTime, _>| start.ok();
        let later = |moved: &Moved| start(moved.before).zip(start(moved.after)).map_or(0, |(before, after)| (after - before).0);
        self.moved.iter().map(later).sum()
    }
}

/// A job whose start is another one after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The job's place in [`State::pending`](crate::State::pending).
    pub index: usize,
    /// When the job starts without the change, or why that is not known.
    pub before: Result<UnixTime, PlanObstacle>,
    /// When the job starts with the change, or why that is not known.
    pub after: Result<UnixTime, PlanObstacle>,
}

impl Pass<'_> {
    /// What a change does to the jobs of the queue: the difference to what a pass of the changed
    /// state says.
    ///
    /// Jobs that come before the change in the order are not placed again, and none is if what is
    /// added finds room beside all. Otherwise it takes about as long as one pass.
    #[must_use]
    pub fn effect(&self, change: Change<'_>) -> Effect {
        match change {
            Change::Submitted(job) => self.replaced(None, Some((self.setting().state.pending.len(), job))),
            Change::Removed(index) => self.replaced(Some(index), None),
            Change::Replaced(index, job) => self.replaced(Some(index), Some((index, job))),
            Change::Placed(placeholder) => self.placed(placeholder),
        }
    }

    fn placed(&self, placeholder: &Placeholder) -> Effect {
        if self.has_room_for(placeholder) {
            return Effect { start: None, moved: Vec::new() };
        }
        let after = Pass::from(&self.occupancy().with(placeholder.clone()));
        let moved = self.starts.iter().zip(&after.starts).filter_map(|(before, after)| moved(*before, *after));
        Effect { start: None, moved: moved.collect() }
    }

    /// Returns the effect of removing the job at one place, of adding a job at another, or of both.
    fn replaced(&self, without: Option<usize>, with: Option<(usize, &PendingJob)>) -> Effect {
        let setting = self.setting();
        let removed = without.and_then(|index| self.position_of(index));
        let added = with.map(|(index, job)| {
            let rank = setting.rank(index, job);
            (setting.order.partition_point(|other| *other < rank), job)
        });
        let Some(from) = removed.into_iter().chain(added.map(|(position, _)| position)).min() else {
            return Effect { start: None, moved: Vec::new() };
        };
        let mut placing = self.placing_from(from);
        let (mut start, mut all_moved) = (None, Vec::new());
        for position in from..=self.starts.len() {
            if let Some((_, job)) = added.filter(|(added, _)| *added == position) {
                let placed = placing.place(setting, job, &setting.needs(job));
                start = Some(placed);
                // Whoever comes behind finds its room as before.
                if removed.is_none() && self.has_room_beside_all(from, &placing) {
                    break;
                }
            }
            let Some(before) = self.starts.get(position) else { break };
            if removed == Some(position) {
                continue;
            }
            let Some((job, needs)) = setting.pending(before.0) else { continue };
            let after = (before.0, placing.place(setting, job, needs));
            all_moved.extend(moved(*before, after));
        }
        Effect { start, moved: all_moved }
    }
}

type Start = (usize, Result<UnixTime, PlanObstacle>);

fn moved((index, before): Start, (_, after): Start) -> Option<Moved> {
    (before != after).then_some(Moved { index, before, after })
}
