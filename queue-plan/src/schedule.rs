//! What is free in each place over time, and jobs put into it.

use std::collections::BTreeMap;

use job_types::time::{Seconds, UnixTime};
use predictor_core::queue_plan::ExpectedStart;

use crate::floors::Floors;
use crate::places::{PlaceIndex, Places};
use crate::profile::Profile;
use crate::resources::Resources;
use crate::run_time::{LONGEST, RunTimes};
use crate::state::{PendingJob, State};

/// Which of its run times ([`RunTimes`]) each job is taken to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// The one that three of four such jobs exceed.
    Optimistic,
    /// The expected one.
    Expected,
    /// The time limit.
    Limit,
}

impl Assumption {
    fn of(self, run_time: &RunTimes) -> Seconds {
        let run_time = match self {
            Self::Optimistic => run_time.optimistic,
            Self::Expected => run_time.expected,
            Self::Limit => run_time.limit,
        };
        run_time.clamp(Seconds(1), LONGEST)
    }
}

/// The start of a job from the three plans. Jobs that end earlier can make another start later, so
/// that the three may be out of order.
pub(crate) fn expected_start([optimistic, expected, limit]: [Option<UnixTime>; 3]) -> Option<ExpectedStart> {
    let expected = expected?;
    let (lower, upper) = (optimistic?.min(expected), limit?.max(expected));
    Some(ExpectedStart { lower, expected, upper })
}

/// What is free over time, with what is known to take it.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    now: UnixTime,
    assumption: Assumption,
    /// What is free in each place.
    free: Vec<Profile>,
    /// What is in no reservation, taken or not, in each place; `None` where there are none. A job
    /// must be able to run until its time limit there, because slurmctld starts none that might run
    /// into a reservation.
    unreserved: Vec<Option<Profile>>,
    /// What is free in each reservation.
    reserved: Vec<Profile>,
    /// What is known of searches in each place from now on; room is only taken while jobs are
    /// placed.
    floors: Vec<Floors>,
}

/// When a job starts, and what it takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fit {
    pub(crate) start: UnixTime,
    partition: usize,
    takes: Resources,
}

/// What is to be placed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) needs: Resources,
    pub(crate) duration: Seconds,
    /// Until when it must not run into a reservation, counted from its start.
    pub(crate) limit: Seconds,
    pub(crate) from: UnixTime,
}

impl Schedule {
    /// The cluster with its reservations and what runs.
    pub(crate) fn of(state: &State, places: &Places, assumption: Assumption) -> Self {
        let now = state.now;
        let mut schedule = Self {
            now,
            assumption,
            free: places.offers.iter().map(|offers| Profile::new(now, *offers)).collect(),
            unreserved: vec![None; places.offers.len()],
            reserved: state.reservations.iter().map(|_| Profile::new(now, Resources::NONE)).collect(),
            floors: vec![Floors::default(); places.offers.len()],
        };
        let kept = schedule.reserve(state, places);
        for job in &state.running {
            let end = now + assumption.of(&job.remaining);
            let mut held_by_class: BTreeMap<usize, Resources> = BTreeMap::new();
            let count = job.nodes.len().max(1) as i64;
            for (place, node) in (0i64..).zip(&job.nodes) {
                if let Some(class) = places.class_of_node.get(*node as usize) {
                    *held_by_class.entry(*class).or_default() += job.holds.share(place, count);
                }
            }
            for (class, held) in held_by_class {
                let Some(class_of) = places.classes.get(class).filter(|class| class.takes_jobs) else { continue };
                if let Some(reserved) = job.reservation.and_then(|reservation| schedule.reserved.get_mut(reservation as usize)) {
                    reserved.take(now, end, held);
                }
                // What its nodes' reservation has taken already is not taken twice.
                let mut from = now;
                for (start, until) in kept.get(class).into_iter().flatten() {
                    schedule.take(&class_of.places, from, end.min(*start), held);
                    from = from.max(*until);
                }
                schedule.take(&class_of.places, from, end, held);
            }
        }
        schedule
    }

    /// Takes what is reserved. Returns when the nodes of each class are reserved as a whole, in the
    /// order of time, without overlaps.
    fn reserve(&mut self, state: &State, places: &Places) -> Vec<Vec<(UnixTime, UnixTime)>> {
        let reserved: Vec<Resources> = (0u32..)
            .zip(&state.reservations)
            .map(|(index, _)| places.classes.iter().filter(|class| class.reservations.contains(&index)).map(|class| class.offers).sum())
            .collect();
        let mut kept = vec![Vec::new(); places.classes.len()];
        for (class, kept) in places.classes.iter().zip(&mut kept) {
            for index in &class.reservations {
                let index = *index as usize;
                let (Some(reservation), Some(all)) = (state.reservations.get(index), reserved.get(index)) else { continue };
                let (start, end) = (reservation.start.max(self.now), reservation.end);
                if start >= end || !class.takes_jobs {
                    continue;
                }
                let keeps = reservation.keeps.map_or(class.offers, |kept| class.offers.in_proportion(kept, *all));
                self.reserved[index].give_back(start, end, keeps);
                if keeps == class.offers {
                    kept.push((start, end));
                } else {
                    self.keep(&class.places, start, end, keeps, places);
                }
            }
            *kept = united(std::mem::take(kept));
            for (start, end) in kept.iter() {
                self.keep(&class.places, *start, *end, class.offers, places);
            }
        }
        kept
    }

    fn keep(&mut self, of: &[PlaceIndex], start: UnixTime, end: UnixTime, kept: Resources, places: &Places) {
        self.take(of, start, end, kept);
        for place in of.iter().map(|place| usize::from(*place)) {
            let all = places.offers.get(place).copied().unwrap_or_default();
            self.unreserved[place].get_or_insert_with(|| Profile::new(self.now, all)).take(start, end, kept);
        }
    }

    fn take(&mut self, places: &[PlaceIndex], start: UnixTime, end: UnixTime, resources: Resources) {
        for place in places {
            self.free[usize::from(*place)].take(start, end, resources);
        }
    }

    /// How long a job runs under the assumption.
    pub(crate) fn duration(&self, job: &PendingJob) -> Seconds {
        self.assumption.of(&job.run_time)
    }

    /// The earliest time at which there is room in a partition.
    pub(crate) fn earliest(&mut self, places: &Places, partition: usize, wanted: &Wanted) -> Option<UnixTime> {
        let of = places.of_partition.get(partition)?;
        let mut at = wanted.from.max(self.now);
        // How many in a row have found nothing against the time.
        let mut agreed = 0;
        for place in of.iter().map(|place| usize::from(*place)).cycle() {
            let found = self.earliest_in(place, at, wanted)?;
            let unreserved = match self.unreserved.get(place)? {
                Some(unreserved) => unreserved.earliest(found, wanted.needs, wanted.limit)?,
                None => found,
            };
            agreed = match unreserved {
                same if same == at => agreed + 1,
                same if same == found => 1,
                _ => 0,
            };
            at = unreserved;
            if agreed >= of.len() {
                return Some(at);
            }
        }
        None
    }

    /// The earliest time at which enough is free in one place.
    fn earliest_in(&mut self, place: usize, from: UnixTime, wanted: &Wanted) -> Option<UnixTime> {
        let (floors, free) = (self.floors.get_mut(place)?, self.free.get(place)?);
        let floor = floors.of(wanted.needs, wanted.duration);
        let found = free.earliest(from.max(floor), wanted.needs, wanted.duration)?;
        if from <= floor.max(self.now) && found > self.now {
            floors.raise(wanted.needs, wanted.duration, found);
        }
        Some(found)
    }

    /// Places one task of a job, whose needs in each of its partitions are given, where it can
    /// start first and not before `from`.
    pub(crate) fn place(&mut self, places: &Places, job: &PendingJob, needs: &[(usize, Resources)], from: UnixTime) -> Option<Fit> {
        let duration = self.duration(job);
        let limit = job.run_time.limit.max(duration);
        let fit = if let Some(reservation) = job.reservation {
            let (partition, takes) = *needs.first()?;
            let start = self.reserved.get(reservation as usize)?.earliest(from.max(self.now), takes, limit)?;
            Fit { start, partition, takes }
        } else {
            let mut first: Option<Fit> = None;
            for (partition, takes) in needs {
                let wanted = Wanted { needs: *takes, duration, limit, from };
                let start = self.earliest(places, *partition, &wanted);
                if let Some(start) = start.filter(|start| first.is_none_or(|first| *start < first.start)) {
                    first = Some(Fit { start, partition: *partition, takes: *takes });
                }
            }
            first?
        };
        let end = fit.start + duration;
        match job.reservation {
            Some(reservation) => self.reserved.get_mut(reservation as usize)?.take(fit.start, end, fit.takes),
            None => self.take(places.of_partition.get(fit.partition)?, fit.start, end, fit.takes),
        }
        Some(fit)
    }

    /// What is free for a partition over time: at each point the least of its places.
    pub(crate) fn free_steps(&self, places: &Places, partition: usize) -> Vec<(UnixTime, Resources)> {
        let profiles: Vec<&Profile> =
            places.of_partition.get(partition).into_iter().flatten().filter_map(|place| self.free.get(usize::from(*place))).collect();
        let mut times: Vec<UnixTime> = profiles.iter().flat_map(|profile| profile.steps().map(|(time, _)| time)).collect();
        times.sort_unstable();
        times.dedup();
        let mut walks: Vec<_> = profiles.iter().map(|profile| (profile.steps().peekable(), Resources::NONE)).collect();
        let mut steps: Vec<(UnixTime, Resources)> = Vec::new();
        for time in times {
            for (walk, free) in &mut walks {
                while let Some((_, value)) = walk.next_if(|(at, _)| *at <= time) {
                    *free = value;
                }
            }
            let least = walks.iter().map(|(_, free)| *free).reduce(Resources::least).unwrap_or_default().most(Resources::NONE);
            if steps.last().is_none_or(|(_, before)| *before != least) {
                steps.push((time, least));
            }
        }
        steps
    }
}

/// Intervals in the order of time; those that overlap or touch are one.
fn united(mut intervals: Vec<(UnixTime, UnixTime)>) -> Vec<(UnixTime, UnixTime)> {
    intervals.sort_unstable();
    let mut united: Vec<(UnixTime, UnixTime)> = Vec::with_capacity(intervals.len());
    for (start, end) in intervals {
        match united.last_mut().filter(|(_, until)| start <= *until) {
            Some((_, until)) => *until = end.max(*until),
            None => united.push((start, end)),
        }
    }
    united
}
