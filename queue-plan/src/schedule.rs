//! What is free in each place over time, and jobs put into it.

use std::collections::BTreeMap;
use std::sync::Arc;

use job_types::time::{Seconds, UnixTime};

use crate::floors::Floors;
use crate::placeholder::{Location, Placeholder};
use crate::places::{PlaceIndex, Places};
use crate::profile::Profile;
use crate::resources::Resources;
use crate::run_time::{LONGEST, RunTimes};
use crate::state::{PendingJob, Reservation, State};

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
    /// When the nodes of each class are reserved as a whole, in the order of time, without
    /// overlaps.
    kept: Arc<[Vec<(UnixTime, UnixTime)>]>,
    /// What is known of searches in each place from now on; room is only taken while jobs are
    /// placed.
    floors: Vec<Floors>,
}

/// Resources that are taken from a room during `[start, end)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) start: UnixTime,
    pub(crate) end: UnixTime,
    pub(crate) resources: Resources,
    room: Room,
}

/// The room from which resources are taken.
#[derive(Clone, Copy, Debug)]
enum Room {
    /// The nodes of a partition.
    Partition(usize),
    /// The pool that a partition belongs to.
    Pool(usize),
    /// The nodes of one class.
    Class(usize),
    /// The resources of a reservation.
    Reservation(u32),
}

/// A request for room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) needs: Resources,
    pub(crate) duration: Seconds,
    /// The time after its start for which the job must not run into a reservation.
    pub(crate) limit: Seconds,
    pub(crate) from: UnixTime,
}

impl Schedule {
    /// The cluster with its reservations and what runs.
    pub(crate) fn of(state: &State, reservations: &[Reservation], places: &Places, assumption: Assumption) -> Self {
        let now = state.now;
        let mut schedule = Self {
            now,
            assumption,
            free: places.offers.iter().map(|offers| Profile::new(now, *offers)).collect(),
            unreserved: vec![None; places.offers.len()],
            reserved: reservations.iter().map(|_| Profile::new(now, Resources::NONE)).collect(),
            kept: Arc::default(),
            floors: vec![Floors::default(); places.offers.len()],
        };
        schedule.kept = schedule.reserve(reservations, places).into();
        for job in &state.running {
            let end = now + assumption.of(&job.remaining);
            for taken in schedule.taken_on(places, &job.nodes, job.reservation, job.holds, (now, end)) {
                schedule.take(places, &taken);
            }
        }
        schedule
    }

    /// What is taken by something that holds resources on nodes from one time to another, evenly
    /// spread over them. What it holds in a reservation is taken there as well.
    fn taken_on(
        &self,
        places: &Places,
        nodes: &[u32],
        reservation: Option<u32>,
        holds: Resources,
        (begin, end): (UnixTime, UnixTime),
    ) -> Vec<Taken> {
        let mut held_by_class: BTreeMap<usize, Resources> = BTreeMap::new();
        let count = nodes.len().max(1) as i64;
        for (place, node) in (0i64..).zip(nodes) {
            if let Some(class) = places.class_of_node.get(*node as usize) {
                *held_by_class.entry(*class).or_default() += holds.share(place, count);
            }
        }
        let mut all = Vec::with_capacity(held_by_class.len());
        for (class, resources) in held_by_class {
            if places.classes.get(class).is_none_or(|class| !class.takes_jobs) {
                continue;
            }
            all.extend(reservation.map(|reservation| Taken { start: begin, end, resources, room: Room::Reservation(reservation) }));
            // What its nodes' reservation has taken already is not taken twice.
            let mut from = begin;
            for (start, until) in self.kept.get(class).into_iter().flatten() {
                all.push(Taken { start: from, end: end.min(*start), resources, room: Room::Class(class) });
                from = from.max(*until);
            }
            all.push(Taken { start: from, end, resources, room: Room::Class(class) });
        }
        all
    }

    /// What a placeholder takes.
    pub(crate) fn taken_by(&self, places: &Places, placeholder: &Placeholder) -> Vec<Taken> {
        let Placeholder { start, end, takes: resources, .. } = *placeholder;
        let in_room = |room| Taken { start, end, resources, room };
        match &placeholder.location {
            Location::Nodes(nodes) => self.taken_on(places, nodes, None, resources, (start, end)),
            Location::Partition(partition) => vec![in_room(Room::Partition((*partition).into()))],
            Location::Anywhere => {
                let mut pools = (0..places.of_partition.len()).map(|partition| in_room(Room::Pool(partition)));
                let first = pools.clone().next();
                pools.find(|pool| self.has_room(places, pool)).or(first).into_iter().collect()
            }
        }
    }

    /// Takes what is reserved. Returns when the nodes of each class are reserved as a whole, in the
    /// order of time, without overlaps.
    fn reserve(&mut self, reservations: &[Reservation], places: &Places) -> Vec<Vec<(UnixTime, UnixTime)>> {
        let reserved: Vec<Resources> = (0u32..)
            .zip(reservations)
            .map(|(index, _)| places.classes.iter().filter(|class| class.reservations.contains(&index)).map(|class| class.offers).sum())
            .collect();
        let mut kept = vec![Vec::new(); places.classes.len()];
        for (class, kept) in places.classes.iter().zip(&mut kept) {
            for index in &class.reservations {
                let index = *index as usize;
                let (Some(reservation), Some(all)) = (reservations.get(index), reserved.get(index)) else { continue };
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
        for place in of.iter().map(|place| usize::from(*place)) {
            let all = places.offers.get(place).copied().unwrap_or_default();
            self.free[place].take(start, end, kept);
            self.unreserved[place].get_or_insert_with(|| Profile::new(self.now, all)).take(start, end, kept);
        }
    }

    /// Takes resources.
    pub(crate) fn take(&mut self, places: &Places, taken: &Taken) {
        let Taken { start, end, resources, .. } = *taken;
        self.in_room(places, taken, |profile| profile.take(start, end, resources));
    }

    /// Takes all of these.
    pub(crate) fn take_all(&mut self, places: &Places, all: &[Taken]) {
        all.iter().for_each(|taken| self.take(places, taken));
    }

    /// Gives all of these back. What searches have found out does not hold any more.
    pub(crate) fn give_all_back(&mut self, places: &Places, all: &[Taken]) {
        for taken in all {
            let Taken { start, end, resources, .. } = *taken;
            self.in_room(places, taken, |profile| profile.give_back(start, end, resources));
        }
        self.floors.fill(Floors::default());
    }

    fn in_room(&mut self, places: &Places, taken: &Taken, change: impl Fn(&mut Profile)) {
        if let Room::Reservation(reservation) = taken.room {
            self.reserved.get_mut(reservation as usize).into_iter().for_each(change);
            return;
        }
        for place in taken.room.of(places) {
            self.free.get_mut(usize::from(*place)).into_iter().for_each(&change);
        }
    }

    /// Whether all of these can be taken together without leaving less than nothing anywhere.
    pub(crate) fn has_room_for(&self, places: &Places, all: &[Taken]) -> bool {
        match all {
            [] => true,
            [taken] => self.has_room(places, taken),
            _ => {
                let mut with = self.clone();
                all.iter().all(|taken| {
                    let has_room = with.has_room(places, taken);
                    with.take(places, taken);
                    has_room
                })
            }
        }
    }

    fn has_room(&self, places: &Places, taken: &Taken) -> bool {
        let start = taken.start.max(self.now);
        let is_free = |profile: &Profile| profile.earliest(start, taken.resources, taken.end - start) == Some(start);
        start >= taken.end
            || match taken.room {
                Room::Reservation(reservation) => self.reserved.get(reservation as usize).is_some_and(is_free),
                room => room.of(places).iter().all(|place| self.free.get(usize::from(*place)).is_some_and(is_free)),
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

    /// What one task of a job, whose needs in each of its partitions are given, takes where it can
    /// start first and not before `from`.
    pub(crate) fn find(&mut self, places: &Places, job: &PendingJob, needs: &[(usize, Resources)], from: UnixTime) -> Option<Taken> {
        let duration = self.duration(job);
        let limit = job.run_time.limit.max(duration);
        let (start, resources, room) = if let Some(reservation) = job.reservation {
            let (_, resources) = *needs.first()?;
            let start = self.reserved.get(reservation as usize)?.earliest(from.max(self.now), resources, limit)?;
            (start, resources, Room::Reservation(reservation))
        } else {
            let mut first: Option<(UnixTime, Resources, Room)> = None;
            for (partition, needs) in needs {
                let wanted = Wanted { needs: *needs, duration, limit, from };
                let start = self.earliest(places, *partition, &wanted);
                if let Some(start) = start.filter(|start| first.is_none_or(|(first, ..)| *start < first)) {
                    first = Some((start, *needs, Room::Partition(*partition)));
                }
            }
            first?
        };
        Some(Taken { start, end: start + duration, resources, room })
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

impl Room {
    /// The places that it lies in; none for a reservation, which is counted apart.
    fn of(self, places: &Places) -> &[PlaceIndex] {
        let of_partition = |partition: usize| places.of_partition.get(partition).map_or(&[][..], Vec::as_slice);
        match self {
            Self::Partition(partition) => of_partition(partition),
            Self::Pool(partition) => of_partition(partition).get(..1).unwrap_or_default(),
            Self::Class(class) => places.classes.get(class).map_or(&[], |class| &class.places),
            Self::Reservation(_) => &[],
        }
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
