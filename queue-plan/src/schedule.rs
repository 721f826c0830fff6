//! Free CPUs of each place over time, and jobs put into them.

use std::collections::BTreeMap;

use job_types::time::{Seconds, UnixTime};
use predictor_core::queue_plan::ExpectedStart;

use crate::floors::Floors;
use crate::places::{PlaceIndex, Places, rounded_up};
use crate::profile::Profile;
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

/// Free CPUs over time, with what is known to take them.
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

/// When a job starts, and which CPUs it takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fit {
    pub(crate) start: UnixTime,
    partition: usize,
    cpus: i64,
}

/// What is to be placed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) cpus: i64,
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
            free: places.cpus.iter().map(|cpus| Profile::new(now, *cpus)).collect(),
            unreserved: vec![None; places.cpus.len()],
            reserved: state.reservations.iter().map(|_| Profile::new(now, 0)).collect(),
            floors: vec![Floors::default(); places.cpus.len()],
        };
        let kept = schedule.reserve(state, places);
        for job in &state.running {
            let end = now + assumption.of(&job.remaining);
            let mut cpus_by_class: BTreeMap<usize, i64> = BTreeMap::new();
            let (count, cpus) = (job.nodes.len().max(1) as i64, i64::from(job.cpus));
            for (place, node) in (0i64..).zip(&job.nodes) {
                if let Some(class) = places.class_of_node.get(*node as usize) {
                    // Evenly, and all of them together exactly.
                    *cpus_by_class.entry(*class).or_default() += cpus * (place + 1) / count - cpus * place / count;
                }
            }
            for (class, cpus) in cpus_by_class {
                let Some(class_of) = places.classes.get(class).filter(|class| class.takes_jobs) else { continue };
                if let Some(reserved) = job.reservation.and_then(|reservation| schedule.reserved.get_mut(reservation as usize)) {
                    reserved.take(now, end, cpus);
                }
                // What its nodes' reservation has taken already is not taken twice.
                let mut from = now;
                for (start, until) in kept.get(class).into_iter().flatten() {
                    schedule.take(&class_of.places, from, end.min(*start), cpus);
                    from = from.max(*until);
                }
                schedule.take(&class_of.places, from, end, cpus);
            }
        }
        schedule
    }

    /// Takes what is reserved. Returns when the nodes of each class are reserved as a whole, in the
    /// order of time, without overlaps.
    fn reserve(&mut self, state: &State, places: &Places) -> Vec<Vec<(UnixTime, UnixTime)>> {
        let reserved_cpus: Vec<i64> = (0u32..)
            .zip(&state.reservations)
            .map(|(index, _)| {
                places.classes.iter().filter(|class| class.reservations.contains(&index)).map(|class| class.cpus).sum::<i64>().max(1)
            })
            .collect();
        let mut kept = vec![Vec::new(); places.classes.len()];
        for (class, kept) in places.classes.iter().zip(&mut kept) {
            for index in &class.reservations {
                let index = *index as usize;
                let (Some(reservation), Some(all)) = (state.reservations.get(index), reserved_cpus.get(index)) else { continue };
                let (start, end) = (reservation.start.max(self.now), reservation.end);
                if start >= end || !class.takes_jobs {
                    continue;
                }
                let cpus = reservation.cpus.map_or(class.cpus, |cpus| rounded_up(class.cpus * i64::from(cpus), *all).min(class.cpus));
                self.reserved[index].give_back(start, end, cpus);
                if cpus == class.cpus {
                    kept.push((start, end));
                } else {
                    self.keep(&class.places, start, end, cpus, places);
                }
            }
            *kept = united(std::mem::take(kept));
            for (start, end) in kept.iter() {
                self.keep(&class.places, *start, *end, class.cpus, places);
            }
        }
        kept
    }

    fn keep(&mut self, of: &[PlaceIndex], start: UnixTime, end: UnixTime, cpus: i64, places: &Places) {
        self.take(of, start, end, cpus);
        for place in of.iter().map(|place| usize::from(*place)) {
            let all = places.cpus.get(place).copied().unwrap_or_default();
            self.unreserved[place].get_or_insert_with(|| Profile::new(self.now, all)).take(start, end, cpus);
        }
    }

    fn take(&mut self, places: &[PlaceIndex], start: UnixTime, end: UnixTime, cpus: i64) {
        for place in places {
            self.free[usize::from(*place)].take(start, end, cpus);
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
                Some(unreserved) => unreserved.earliest(found, wanted.cpus, wanted.limit)?,
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
        let floor = floors.of(wanted.cpus, wanted.duration);
        let found = free.earliest(from.max(floor), wanted.cpus, wanted.duration)?;
        if from <= floor.max(self.now) && found > self.now {
            floors.raise(wanted.cpus, wanted.duration, found);
        }
        Some(found)
    }

    /// Places one task of a job, whose needs in each of its partitions are given, where it can
    /// start first and not before `from`.
    pub(crate) fn place(&mut self, places: &Places, job: &PendingJob, needs: &[(usize, i64)], from: UnixTime) -> Option<Fit> {
        let duration = self.duration(job);
        let limit = job.run_time.limit.max(duration);
        let fit = if let Some(reservation) = job.reservation {
            let (partition, cpus) = *needs.first()?;
            let start = self.reserved.get(reservation as usize)?.earliest(from.max(self.now), cpus, limit)?;
            Fit { start, partition, cpus }
        } else {
            let mut first: Option<Fit> = None;
            for (partition, cpus) in needs {
                let wanted = Wanted { cpus: *cpus, duration, limit, from };
                let start = self.earliest(places, *partition, &wanted);
                if let Some(start) = start.filter(|start| first.is_none_or(|first| *start < first.start)) {
                    first = Some(Fit { start, partition: *partition, cpus: *cpus });
                }
            }
            first?
        };
        let end = fit.start + duration;
        match job.reservation {
            Some(reservation) => self.reserved.get_mut(reservation as usize)?.take(fit.start, end, fit.cpus),
            None => self.take(places.of_partition.get(fit.partition)?, fit.start, end, fit.cpus),
        }
        Some(fit)
    }

    /// What is free for a partition over time: at each point the least of its places.
    pub(crate) fn free_steps(&self, places: &Places, partition: usize) -> Vec<(UnixTime, i64)> {
        let profiles: Vec<&Profile> =
            places.of_partition.get(partition).into_iter().flatten().filter_map(|place| self.free.get(usize::from(*place))).collect();
        let mut times: Vec<UnixTime> = profiles.iter().flat_map(|profile| profile.steps().map(|(time, _)| time)).collect();
        times.sort_unstable();
        times.dedup();
        let mut walks: Vec<_> = profiles.iter().map(|profile| (profile.steps().peekable(), 0)).collect();
        let mut steps: Vec<(UnixTime, i64)> = Vec::new();
        for time in times {
            let mut least = i64::MAX;
            for (walk, free) in &mut walks {
                while let Some((_, value)) = walk.next_if(|(at, _)| *at <= time) {
                    *free = value;
                }
                least = least.min(*free);
            }
            let least = least.max(0);
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
