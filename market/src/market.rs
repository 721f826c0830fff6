//! The market: who has entered it, and in which order they are gone through.

use crate::book::Book;
use crate::contender::Place;
use crate::contenders::{Contenders, Entry};
use crate::overlap::TakenNodes;
use crate::placement::NodeLoads;
use crate::price::Prices;
use crate::walk::Walked;
use crate::{Bid, Contender, ContenderId, Milliseconds, NeverFits, Outcome, Settings};

/// Jobs that bid for the nodes of a machine, and those of them that run.
#[derive(Debug, Clone)]
pub struct Market {
    pub(crate) nodes: u32,
    pub(crate) settings: Settings,
    pub(crate) contenders: Contenders,
    pub(crate) book: Book,
    pub(crate) loads: NodeLoads,
    pub(crate) running: Vec<ContenderId>,
    pub(crate) taken_nodes: TakenNodes,
    /// The number of the present round of choosing.
    pub(crate) round: u64,
    /// Whether something has changed that can change what the last cycle found.
    pub(crate) has_changed: bool,
    /// Whether jobs run that this market has not chosen.
    pub(crate) has_unchosen: bool,
    /// Whatever changes behind this place changes nothing of that; without it anything may.
    pub(crate) looked_up_to: Option<Place>,
    pub(crate) walked: Walked,
    pub(crate) runs: Vec<bool>,
    pub(crate) prices: Prices,
    pub(crate) outcome: Outcome,
}

impl Market {
    /// A machine of `nodes` nodes, numbered from 0 on, without contenders.
    #[must_use]
    pub fn new(nodes: u32, settings: Settings) -> Self {
        Self {
            nodes,
            settings,
            contenders: Contenders::default(),
            book: Book::default(),
            loads: NodeLoads::new(nodes),
            running: Vec::new(),
            taken_nodes: TakenNodes::new(nodes),
            round: 0,
            has_changed: false,
            has_unchosen: false,
            looked_up_to: None,
            walked: Walked::default(),
            runs: Vec::new(),
            prices: Prices::default(),
            outcome: Outcome::default(),
        }
    }

    /// A job wants to run, or does already. Nothing is decided before the next [`Self::cycle`].
    ///
    /// # Errors
    ///
    /// If it wants more nodes than there are.
    pub fn enter(&mut self, contender: Contender, now: Milliseconds) -> Result<ContenderId, NeverFits> {
        if contender.nodes > self.nodes {
            return Err(NeverFits { wanted: contender.nodes, machine: self.nodes });
        }
        let standing = &contender.standing;
        self.loads.change(standing.nodes(), None, standing.presence());
        let (nodes, since) = (contender.nodes, standing.running_since());
        let retention = self.settings.retention;
        let id = self.contenders.insert(|id| {
            let place = Place::of(id, &contender, since, now, &retention);
            self.book.insert(nodes, place);
            Entry { contender, place, pays: Bid::ZERO, chosen_in: 0 }
        });
        if since.is_some() {
            self.running.push(id);
            self.has_unchosen = true;
        }
        self.changes_at_the_place_of(id);
        Ok(id)
    }

    /// A job has ended, or does not want to run any more.
    pub fn leave(&mut self, id: ContenderId) -> Option<Contender> {
        let Entry { contender, place, .. } = self.contenders.remove(id)?;
        self.loads.change(contender.standing.nodes(), contender.standing.presence(), None);
        self.running.retain(|running| *running != id);
        self.book.remove(contender.nodes, &place);
        self.changes_at(place);
        Some(contender)
    }

    /// A job bids something else.
    pub fn rebid(&mut self, id: ContenderId, bid: Bid, now: Milliseconds) {
        let Some(entry) = self.contenders.get_mut(id) else { return };
        entry.contender.bid = bid;
        let since = entry.contender.standing.running_since();
        self.rank(id, since, now);
        // The price may follow the bid where the place does not.
        self.changes_at_the_place_of(id);
    }

    /// A contender as it is now.
    #[must_use]
    pub fn contender(&self, id: ContenderId) -> Option<&Contender> {
        Some(&self.contenders.get(id)?.contender)
    }

    /// When a cycle is due although nobody came, left or bid something else: somebody waits who may
    /// displace another from then on.
    #[must_use]
    pub fn wakes_at(&self) -> Option<Milliseconds> {
        if !self.settings.retention.is_any() || self.running.len() == self.contenders.len() {
            return None;
        }
        let protected = self.running.iter().filter_map(|id| self.contenders.get(*id)).filter(|entry| entry.place.is_protected());
        protected
            .filter_map(|entry| entry.contender.standing.running_since())
            .min()
            .map(|since| since + self.settings.retention.least_run_time)
    }

    /// What the last cycle has changed, and what is paid since.
    #[must_use]
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Puts a contender at its place, as one that runs since a moment or does not. Returns whether
    /// that is another place.
    pub(crate) fn rank(&mut self, id: ContenderId, running_since: Option<Milliseconds>, now: Milliseconds) -> bool {
        let Some(entry) = self.contenders.get_mut(id) else { return false };
        let (before, nodes) = (entry.place, entry.contender.nodes);
        let place = Place::of(id, &entry.contender, running_since, now, &self.settings.retention);
        if place == before {
            return false;
        }
        entry.place = place;
        self.book.remove(nodes, &before);
        self.book.insert(nodes, place);
        self.changes_at(before);
        self.changes_at(place);
        true
    }

    /// Something changes at a place: notes whether that can change what the last cycle found.
    fn changes_at(&mut self, place: Place) {
        self.has_changed |= self.looked_up_to.is_none_or(|last| place <= last);
    }

    fn changes_at_the_place_of(&mut self, id: ContenderId) {
        if let Some(place) = self.contenders.get(id).map(|entry| entry.place) {
            self.changes_at(place);
        }
    }
}
