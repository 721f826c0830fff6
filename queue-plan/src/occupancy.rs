//! What stands: running jobs, reservations and nodes that are away, and placeholders beside them.

use std::borrow::Cow;
use std::sync::Arc;

use crate::placeholder::Placeholder;
use crate::schedule::{Assumption, Schedule};
use crate::setting::Setting;
use crate::state::{Reservation, State};

/// What stands in a state under an assumption of run times, prepared once for any number of
/// questions. Copies are cheap: they share everything.
///
/// It takes work and memory in proportion to nodes, partitions, reservations, and running and
/// pending jobs; the latter are put in order.
#[derive(Clone, Debug)]
pub struct Occupancy<'s> {
    pub(crate) setting: Arc<Setting<'s>>,
    assumption: Assumption,
    placeholders: Vec<Placeholder>,
    /// The schedule with these placeholders in it.
    pub(crate) schedule: Arc<Schedule>,
}

impl<'s> Occupancy<'s> {
    /// What stands in a state.
    #[must_use]
    pub fn of(state: &'s State, assumption: Assumption) -> Self {
        Self::prepared(Arc::new(Setting::of(state, Cow::Borrowed(&state.reservations))), assumption, &[])
    }

    /// Returns the occupancy under another assumption. The jobs need not be put in order again.
    #[must_use]
    pub fn under(&self, assumption: Assumption) -> Self {
        if assumption == self.assumption {
            return self.clone();
        }
        Self::prepared(Arc::clone(&self.setting), assumption, &self.placeholders)
    }

    /// Returns the occupancy with these reservations instead of the present ones, prepared anew.
    /// Jobs name reservations by their places in the list: put an empty reservation
    /// ([`Reservation::default`]) at the place of one that you remove.
    #[must_use]
    pub fn with_reservations(&self, reservations: Vec<Reservation>) -> Self {
        let setting = Setting::of(self.setting.state, Cow::Owned(reservations));
        Self::prepared(Arc::new(setting), self.assumption, &self.placeholders)
    }

    /// Returns the occupancy with one reservation more, prepared anew.
    pub(crate) fn with_reservation(&self, reservation: Reservation) -> Self {
        self.with_reservations(self.setting.reservations.iter().cloned().chain([reservation]).collect())
    }

    /// Returns the occupancy with one placeholder more.
    #[must_use]
    pub fn with(&self, placeholder: Placeholder) -> Self {
        let mut with = self.clone();
        with.put(placeholder);
        with
    }

    /// Whether there is room for a placeholder beside what stands, whatever jobs wait.
    #[must_use]
    pub fn has_room_for(&self, placeholder: &Placeholder) -> bool {
        let taken = self.schedule.taken_by(&self.setting.places, placeholder);
        self.schedule.has_room_for(&self.setting.places, &taken)
    }

    fn prepared(setting: Arc<Setting<'s>>, assumption: Assumption, placeholders: &[Placeholder]) -> Self {
        let schedule = Schedule::of(setting.state, &setting.reservations, &setting.places, assumption);
        let mut occupancy = Self { setting, assumption, placeholders: Vec::new(), schedule: Arc::new(schedule) };
        placeholders.iter().for_each(|placeholder| occupancy.put(placeholder.clone()));
        occupancy
    }

    fn put(&mut self, placeholder: Placeholder) {
        let taken = self.schedule.taken_by(&self.setting.places, &placeholder);
        Arc::make_mut(&mut self.schedule).take_all(&self.setting.places, &taken);
        self.placeholders.push(placeholder);
    }
}
