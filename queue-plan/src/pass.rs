//! One pass over the queue: each waiting job placed under one assumption of run times.

use job_types::time::UnixTime;
use predictor_core::forecasts::queue_plan::PlanObstacle;

use crate::occupancy::Occupancy;
use crate::placeholder::Placeholder;
use crate::resources::Resources;
use crate::schedule::{Assumption, Schedule, Taken, Wanted};
use crate::setting::{Needs, Setting};
use crate::state::{PendingJob, State};
use crate::steps::coarsened;

/// The most jobs and tasks of arrays that are placed.
pub const MOST_PLACED: usize = 20_000;

/// The most tasks of one array that are placed.
pub const MOST_TASKS: u32 = 1_000;

/// The queue of a state under one assumption of run times. It answers questions about the state as
/// often as they are asked, without planning it anew: [`Pass::start_behind_all`], [`Pass::effect`].
#[derive(Clone, Debug)]
pub struct Pass<'s> {
    /// The starts of the pending jobs, by their places in [`State::pending`], in the order in which
    /// they are served; of an array the first task's. Or why a start is not known.
    pub starts: Vec<(usize, Result<UnixTime, PlanObstacle>)>,
    occupancy: Occupancy<'s>,
    /// After all jobs.
    placing: Placing,
    /// Before each job, and after all.
    marks: Vec<Mark>,
}

/// How far the placing of jobs had come.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// How many tasks had been placed.
    placed: usize,
    /// How many jobs and tasks had been counted against [`MOST_PLACED`], with those that found
    /// nothing.
    counted: usize,
}

/// Jobs that are being placed one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Placing {
    schedule: Schedule,
    /// What each task takes.
    placed: Vec<Taken>,
    /// See [`Mark::counted`].
    counted: usize,
    /// Whether all jobs have been placed for which there is room at all.
    is_complete: bool,
}

/// Places the waiting jobs in what an occupancy leaves free.
impl<'s> From<&Occupancy<'s>> for Pass<'s> {
    fn from(occupancy: &Occupancy<'s>) -> Self {
        let setting = &occupancy.setting;
        let mut placing = Placing::beside(Schedule::clone(&occupancy.schedule), 0);
        let mut starts = Vec::with_capacity(setting.order.len());
        let mut marks = Vec::with_capacity(setting.order.len() + 1);
        for (.., index) in &setting.order {
            let Some((job, needs)) = setting.pending(*index) else { continue };
            marks.push(placing.mark());
            starts.push((*index, placing.place(setting, job, needs)));
        }
        marks.push(placing.mark());
        Self { starts, occupancy: occupancy.clone(), placing, marks }
    }
}

impl<'s> Pass<'s> {
    /// Places the jobs of a state.
    #[must_use]
    pub fn of_state(state: &'s State, assumption: Assumption) -> Self {
        Self::from(&Occupancy::of(state, assumption))
    }

    /// Whether all jobs were placed for which there is room at all.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.placing.is_complete
    }

    /// From which moments on so much is free for a partition with all that runs and waits, in the
    /// order of time; neighbours differ.
    #[must_use]
    pub fn free(&self, partition: usize) -> Vec<(UnixTime, Resources)> {
        self.placing.schedule.free_steps(&self.setting().places, partition)
    }

    /// [`Pass::free`] as a plan hands it out: at most [`MOST_STEPS`](crate::MOST_STEPS) points;
    /// where there are more, the least of several stands for them.
    #[must_use]
    pub fn published_free(&self, partition: usize) -> Vec<(UnixTime, Resources)> {
        coarsened(&self.free(partition))
    }

    /// When a job would start behind all that wait, whatever its priority, in the holes that they
    /// leave; of an array the first task. That takes one search, and room for nothing.
    ///
    /// # Errors
    ///
    /// What keeps it from starting at a time that is known.
    pub fn start_behind_all(&mut self, job: &PendingJob) -> Result<UnixTime, PlanObstacle> {
        let Self { occupancy, placing, .. } = self;
        let needs = occupancy.setting.needs(job)?;
        if placing.counted >= MOST_PLACED {
            return Err(PlanObstacle::TooFarBehind);
        }
        let found = placing.schedule.find(&occupancy.setting.places, job, &needs, job.eligible);
        found.map(|taken| taken.start).ok_or_else(|| never(job))
    }

    /// Whether there is room for a placeholder beside all that runs and waits, so that nobody
    /// starts at another time for it.
    #[must_use]
    pub fn has_room_for(&self, placeholder: &Placeholder) -> bool {
        let places = &self.setting().places;
        // It lies where it lies beside what stands.
        let taken = self.occupancy.schedule.taken_by(places, placeholder);
        self.placing.schedule.has_room_for(places, &taken)
    }

    /// What stands.
    #[must_use]
    pub fn occupancy(&self) -> &Occupancy<'s> {
        &self.occupancy
    }

    pub(crate) fn setting(&self) -> &Setting<'s> {
        &self.occupancy.setting
    }

    /// The earliest time at which there is room in a partition behind all that wait.
    pub(crate) fn earliest(&mut self, partition: usize, wanted: &Wanted) -> Option<UnixTime> {
        self.placing.schedule.earliest(&self.occupancy.setting.places, partition, wanted)
    }

    /// How many jobs come before the one at a place of the state's pending ones.
    pub(crate) fn position_of(&self, index: usize) -> Option<usize> {
        let setting = self.setting();
        let (job, _) = setting.pending(index)?;
        setting.order.binary_search(&setting.rank(index, job)).ok()
    }

    /// What the tasks take of the job at a position of the order, in the order of their starts: of
    /// an array all that are placed, of another job one, and none where nothing was found.
    pub(crate) fn tasks_at(&self, position: usize) -> &[Taken] {
        let placed = |position: usize| self.marks.get(position).map(|mark| mark.placed);
        let tasks = placed(position).zip(placed(position + 1)).and_then(|(from, to)| self.placing.placed.get(from..to));
        tasks.unwrap_or_default()
    }

    /// What all tasks take, job after job in the order of the queue.
    pub(crate) fn tasks(&self) -> &[Taken] {
        &self.placing.placed
    }

    /// As it was when so many jobs of the order had been placed. What they take is taken again, or
    /// what the others take is given back, whichever is less.
    pub(crate) fn placing_from(&self, position: usize) -> Placing {
        let mark = self.marks.get(position).copied().unwrap_or_else(|| self.placing.mark());
        let (before, after) = self.placing.placed.split_at(mark.placed);
        let (from, places) = (&self.occupancy.schedule, &self.setting().places);
        let schedule = if before.len() <= after.len() {
            let mut schedule = Schedule::clone(from);
            schedule.take_all(places, before);
            schedule
        } else {
            let mut schedule = self.placing.schedule.clone();
            schedule.give_all_back(places, after);
            schedule
        };
        Placing::beside(schedule, mark.counted)
    }

    /// Whether all jobs behind a position start as they did if these are placed there, as they were
    /// by [`Pass::placing_from`].
    pub(crate) fn has_room_beside_all(&self, position: usize, placing: &Placing) -> bool {
        let counted_before = self.marks.get(position).map_or(self.placing.counted, |mark| mark.counted);
        let counted = self.placing.counted + placing.counted - counted_before;
        counted <= MOST_PLACED && self.placing.schedule.has_room_for(&self.setting().places, &placing.placed)
    }
}

impl Placing {
    /// Before the next job is placed in a schedule, where so many have been counted.
    fn beside(schedule: Schedule, counted: usize) -> Self {
        Self { schedule, placed: Vec::new(), counted, is_complete: true }
    }

    /// Places the tasks of a job one after the other; returns when the first starts.
    pub(crate) fn place(&mut self, setting: &Setting<'_>, job: &PendingJob, needs: &Needs) -> Result<UnixTime, PlanObstacle> {
        let needs = needs.as_ref().map_err(|obstacle| *obstacle)?;
        let left = MOST_PLACED.saturating_sub(self.counted);
        if left == 0 {
            self.is_complete = false;
            return Err(PlanObstacle::TooFarBehind);
        }
        let tasks = job.tasks.clamp(1, MOST_TASKS).min(u32::try_from(left).unwrap_or(MOST_TASKS));
        self.is_complete &= tasks >= job.tasks;
        self.counted += tasks as usize;
        let (mut first, mut from) = (None, job.eligible);
        for _ in 0..tasks {
            // A task is like the one before it, and finds nothing where that found nothing.
            let Some(taken) = self.schedule.find(&setting.places, job, needs, from) else { break };
            self.schedule.take(&setting.places, &taken);
            self.placed.push(taken);
            first.get_or_insert(taken.start);
            from = taken.start;
        }
        first.ok_or_else(|| never(job))
    }

    fn mark(&self) -> Mark {
        Mark { placed: self.placed.len(), counted: self.counted }
    }
}

/// Why a job never starts for which nothing was found.
fn never(job: &PendingJob) -> PlanObstacle {
    if job.reservation.is_some() { PlanObstacle::Reservation } else { PlanObstacle::TooLarge }
}
