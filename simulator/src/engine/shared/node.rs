//! One node: its tasks, how its power is dealt out among them, and when something next happens.

use job_types::time::UnixTime;
use predictor_core::decisions::deadline_methods::share::Claim;
use predictor_core::decisions::deadline_methods::{NodeLoad, SparePower, projection};

use super::job::DeadlineJob;

/// What is left of a task that is done, in seconds of the node: rounding.
const DONE_S: f64 = 1e-6;

/// What becomes of a job whose deadline has passed. Yeo and Buyya 2006 do not say; nothing is ended
/// there for being late.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Late {
    /// It asks for the whole node, as equation 1 has it shortly before. Others are stretched by it.
    #[default]
    Claims,
    /// It gets what the jobs that are still in time leave over, and nothing beside a node full of
    /// them.
    Yields,
}

/// How nodes are shared, where the publication leaves it open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sharing {
    /// What becomes of the power that shares leave over.
    pub spare: SparePower,
    /// What becomes of a job whose deadline has passed.
    pub late: Late,
    /// Whether a job whose estimate is longer than its deadline leaves asks for no more than the
    /// whole node, as live; as it is published it asks for more than there is.
    pub is_capped: bool,
}

/// The part of a job that runs on one node.
#[derive(Debug, Clone, Copy)]
struct Task {
    job: u32,
    deadline: UnixTime,
    /// What it still has to do, in seconds of the whole node.
    work_s: f64,
    /// What it still has to do by its estimate; zero or less once it has outlived that.
    estimate_s: f64,
    /// The share that it was last dealt.
    share: f64,
    /// The part of the node that it runs on.
    power: f64,
}

impl Task {
    /// The share that it asks for when so much of its estimate is left. Whoever outlived the
    /// estimate keeps the share that it had: it is expected to run until its deadline.
    fn wanted(&self, now_s: f64, estimate_s: f64) -> f64 {
        let claim = Claim { remaining_run_s: estimate_s, remaining_deadline_s: self.deadline.0 as f64 - now_s };
        if estimate_s > DONE_S || claim.is_late() { claim.share() } else { self.share }
    }
}

/// A node and its tasks.
#[derive(Debug, Clone, Default)]
pub(super) struct Node {
    tasks: Vec<Task>,
    /// The time to which the tasks' remaining times refer, in seconds.
    as_of_s: f64,
}

impl Node {
    /// What it has to do at a moment.
    pub(super) fn load(&self, now_s: f64) -> NodeLoad {
        let passed = now_s - self.as_of_s;
        NodeLoad::of(self.tasks.iter().map(|task| (task.wanted(now_s, task.estimate_s - task.power * passed), task.deadline)))
    }

    /// A task of a job starts.
    pub(super) fn start(&mut self, index: u32, job: &DeadlineJob, now_s: f64, sharing: Sharing) {
        self.advance(now_s);
        self.tasks.push(Task {
            job: index,
            deadline: job.deadline,
            work_s: job.run_time.0 as f64,
            estimate_s: job.estimate.0 as f64,
            share: 0.0,
            power: 0.0,
        });
        self.deal(sharing);
    }

    /// Goes to a moment that [`Self::next_event`] named: hands over the jobs whose tasks have
    /// ended, and deals the shares anew.
    pub(super) fn pass(&mut self, now_s: f64, sharing: Sharing, mut ended: impl FnMut(u32)) {
        self.advance(now_s);
        self.tasks.retain(|task| {
            let is_done = task.work_s <= DONE_S;
            if is_done {
                ended(task.job);
            }
            !is_done
        });
        self.deal(sharing);
    }

    /// When a task ends, or shares have to be dealt anew; without bound where nothing happens.
    pub(super) fn next_event(&self, sharing: Sharing) -> f64 {
        let ends = self.tasks.iter().filter(|task| task.power > 0.0).map(|task| self.as_of_s + task.work_s / task.power);
        let deadlines = self.tasks.iter().map(|task| task.deadline.0 as f64).filter(|deadline| *deadline > self.as_of_s);
        let soonest = ends.fold(f64::INFINITY, f64::min);
        if sharing.late == Late::Yields { deadlines.fold(soonest, f64::min) } else { soonest }
    }

    fn advance(&mut self, now_s: f64) {
        let passed = now_s - self.as_of_s;
        for task in &mut self.tasks {
            task.work_s -= task.power * passed;
            task.estimate_s -= task.power * passed;
        }
        self.as_of_s = now_s;
    }

    fn deal(&mut self, sharing: Sharing) {
        let now_s = self.as_of_s;
        for task in &mut self.tasks {
            let wanted = task.wanted(now_s, task.estimate_s);
            task.share = if sharing.is_capped { wanted.min(1.0) } else { wanted };
        }
        let is_late = |task: &Task| task.deadline.0 as f64 <= now_s;
        let yielding = if sharing.late == Late::Yields { self.tasks.iter().filter(|task| is_late(task)).count() } else { 0 };
        let counts = |task: &Task| yielding == 0 || !is_late(task);
        let total: f64 = self.tasks.iter().filter(|task| counts(task)).map(|task| task.share).sum();
        // If late tasks yield, they get the spare power.
        let spare = if yielding == 0 { sharing.spare } else { SparePower::Kept };
        let scale = projection::scale(total, spare);
        let left_over = (1.0 - total * scale).max(0.0);
        for task in &mut self.tasks {
            task.power = if counts(task) { task.share * scale } else { left_over / yielding as f64 };
        }
    }

    /// The part of the node that each job runs on, in the order of their starts.
    #[cfg(test)]
    pub(super) fn powers(&self) -> Vec<(u32, f64)> {
        self.tasks.iter().map(|task| (task.job, task.power)).collect()
    }
}
