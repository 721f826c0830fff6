//! The market: from what is there to the fewest changes that make it what it should be.

use crate::book::Book;
use crate::contender::{Contender, ContenderId, NeverFits, Place, Standing};
use crate::contenders::{Contenders, Entry};
use crate::overlap::TakenNodes;
use crate::placement::{NodeLoads, Presence};
use crate::price::Prices;
use crate::walk::Walked;
use crate::{Bid, Milliseconds, Settings};

/// What a cycle changes, in the order in which it has to be done: those that are suspended make
/// room for those that are resumed and started.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// Those that run and have to stop.
    pub suspended: Vec<ContenderId>,
    /// Those that go on, on their own nodes.
    pub resumed: Vec<ContenderId>,
    /// Those that run for the first time, on the nodes that [`Market::contender`] says.
    pub started: Vec<ContenderId>,
    /// Those that run and pay something else than before, with what they pay from now on per node
    /// and minute. Who is started or resumed has paid nothing before.
    pub pays: Vec<(ContenderId, Bid)>,
    /// The bid of the first that does not fit; zero where all fit.
    pub price: Bid,
    /// What all that run pay together, in credits per minute.
    pub revenue_per_minute: f64,
}

impl Outcome {
    /// Whether nobody's standing changes.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        self.suspended.is_empty() && self.resumed.is_empty() && self.started.is_empty()
    }
}

/// Jobs that bid for the nodes of a machine, and those of them that run.
#[derive(Debug, Clone)]
pub struct Market {
    nodes: u32,
    settings: Settings,
    contenders: Contenders,
    book: Book,
    loads: NodeLoads,
    running: Vec<ContenderId>,
    taken_nodes: TakenNodes,
    /// The number of the present round of choosing.
    round: u64,
    /// Whether something has changed that can change what the last cycle found.
    has_changed: bool,
    /// Whether jobs run that this market has not chosen.
    has_unchosen: bool,
    looked_up_to: Option<Place>,
    walked: Walked,
    runs: Vec<bool>,
    prices: Prices,
    outcome: Outcome,
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
        let (nodes, retention) = (contender.nodes, self.settings.retention);
        let presence = presence(&contender.standing);
        self.loads.change(contender.standing.nodes(), None, presence);
        let mut place = None;
        let id = self.contenders.insert(|id| {
            let since = match contender.standing {
                Standing::Running { since, .. } => Some(since),
                _ => None,
            };
            let place = *place.insert(Place::of(id, &contender, since, now, &retention));
            Entry { contender, place, pays: Bid::ZERO, chosen_in: 0 }
        });
        if presence == Some(Presence::Running) {
            self.running.push(id);
            self.has_unchosen = true;
        }
        if let Some(place) = place {
            self.book.insert(nodes, place);
            self.changes_at(place);
        }
        Ok(id)
    }

    /// A job has ended, or does not want to run any more.
    pub fn leave(&mut self, id: ContenderId) -> Option<Contender> {
        let Entry { contender, place, .. } = self.contenders.remove(id)?;
        self.loads.change(contender.standing.nodes(), presence(&contender.standing), None);
        self.running.retain(|running| *running != id);
        self.book.remove(contender.nodes, &place);
        self.changes_at(place);
        Some(contender)
    }

    /// A job bids something else.
    pub fn rebid(&mut self, id: ContenderId, bid: Bid, now: Milliseconds) {
        let Some(entry) = self.contenders.get_mut(id) else { return };
        entry.contender.bid = bid;
        let since = entry.running_since();
        self.rank(id, since, now);
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
        protected.filter_map(Entry::running_since).min().map(|since| since + self.settings.retention.least_run_time)
    }

    /// Says who is suspended, resumed and started now, and takes it for done.
    pub fn cycle(&mut self, now: Milliseconds) -> &Outcome {
        self.outcome.suspended.clear();
        self.outcome.resumed.clear();
        self.outcome.started.clear();
        self.outcome.pays.clear();
        if self.settings.retention.is_any() {
            for index in 0..self.running.len() {
                let Some(&id) = self.running.get(index) else { break };
                let since = self.contenders.get(id).and_then(Entry::running_since);
                self.rank(id, since, now);
            }
        }
        if self.has_changed && !self.all_run_for_nothing() {
            self.choose(now);
            self.suspend();
            self.resume_and_start(now);
            self.price();
        }
        self.has_changed = false;
        &self.outcome
    }

    /// What the last cycle has changed, and what is paid since.
    #[must_use]
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Whether everybody runs already, and nobody has paid for it so far nor will.
    fn all_run_for_nothing(&mut self) -> bool {
        let so = !self.has_unchosen
            && self.book.wanted() <= u64::from(self.nodes)
            && self.running.len() == self.contenders.len()
            && self.outcome.revenue_per_minute == 0.0
            && self.outcome.price == Bid::ZERO;
        if so {
            self.looked_up_to = None;
        }
        so
    }

    /// Chooses who runs. Who runs or not may change the order ([`crate::Retention`]), so that this
    /// is repeated until it does not; each time more are chosen, or the same.
    fn choose(&mut self, now: Milliseconds) {
        self.has_unchosen = false;
        let rounds = if self.settings.retention.is_any() { self.nodes } else { 0 };
        let mut concerned = if rounds == 0 { Vec::new() } else { self.running.clone() };
        for _ in 0..=rounds {
            self.round += 1;
            self.walked.walk(&self.book, self.nodes, self.settings.walk);
            self.taken_nodes.settle(&self.walked.winners, &self.contenders, self.settings.overlap, self.round, &mut self.runs);
            for (&id, _) in self.walked.winners.iter().zip(&self.runs).filter(|(_, runs)| **runs) {
                if let Some(entry) = self.contenders.get_mut(id) {
                    entry.chosen_in = self.round;
                }
            }
            if rounds == 0 {
                break;
            }
            concerned.extend(&self.walked.winners);
            if !self.rank_chosen(&concerned, now) {
                break;
            }
        }
    }

    /// Gives those who will run the places of those who run, and those who will not the others'.
    /// Returns whether anybody's place changes.
    fn rank_chosen(&mut self, concerned: &[ContenderId], now: Milliseconds) -> bool {
        let mut has_changed = false;
        for &id in concerned {
            let Some(entry) = self.contenders.get(id) else { continue };
            let since = (entry.chosen_in == self.round).then(|| entry.running_since().unwrap_or(now));
            has_changed |= self.rank(id, since, now);
        }
        has_changed
    }

    fn suspend(&mut self) {
        let (contenders, loads, outcome, round) = (&mut self.contenders, &mut self.loads, &mut self.outcome, self.round);
        self.running.retain(|&id| {
            let Some(entry) = contenders.get_mut(id) else { return false };
            let stays = entry.chosen_in == round;
            if !stays && let Standing::Running { on, .. } = std::mem::take(&mut entry.contender.standing) {
                loads.change(&on, Some(Presence::Running), Some(Presence::Suspended));
                entry.contender.standing = Standing::Suspended { on };
                entry.pays = Bid::ZERO;
                outcome.suspended.push(id);
            }
            stays
        });
    }

    /// First those that return, whose nodes are given, and then those whose nodes are not.
    fn resume_and_start(&mut self, now: Milliseconds) {
        let (contenders, loads, outcome, round) = (&mut self.contenders, &mut self.loads, &mut self.outcome, self.round);
        for &id in &self.walked.winners {
            let Some(entry) = contenders.get_mut(id).filter(|entry| entry.chosen_in == round) else { continue };
            match std::mem::take(&mut entry.contender.standing) {
                Standing::Suspended { on } => {
                    loads.change(&on, Some(Presence::Suspended), Some(Presence::Running));
                    entry.contender.standing = Standing::Running { on, since: now };
                    outcome.resumed.push(id);
                }
                Standing::Queued => outcome.started.push(id),
                running @ Standing::Running { .. } => entry.contender.standing = running,
            }
        }
        for &id in &outcome.started {
            let Some(entry) = contenders.get_mut(id) else { continue };
            let on = loads.with_fewest(entry.contender.nodes);
            loads.change(&on, None, Some(Presence::Running));
            entry.contender.standing = Standing::Running { on, since: now };
        }
        self.running.extend(outcome.resumed.iter().chain(&outcome.started));
    }

    fn price(&mut self) {
        self.prices.find(&self.walked, &self.book, &self.contenders, self.nodes, &self.settings);
        self.outcome.price = self.prices.market;
        self.outcome.revenue_per_minute = 0.0;
        for (&id, &pays) in self.walked.winners.iter().zip(&self.prices.each) {
            let Some(entry) = self.contenders.get_mut(id).filter(|entry| entry.chosen_in == self.round) else { continue };
            self.outcome.revenue_per_minute += pays.credits_per_node_minute() * f64::from(entry.contender.nodes);
            if entry.pays != pays {
                entry.pays = pays;
                self.outcome.pays.push((id, pays));
            }
        }
        self.looked_up_to = self.prices.looked_up_to;
    }

    /// Puts a contender at its place, as one that runs since a moment or does not. Returns whether
    /// that is another place.
    fn rank(&mut self, id: ContenderId, running_since: Option<Milliseconds>, now: Milliseconds) -> bool {
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

    /// Whether something that changes at a place can change what the last cycle found.
    fn changes_at(&mut self, place: Place) {
        self.has_changed |= self.looked_up_to.is_none_or(|last| place <= last);
    }
}

fn presence(standing: &Standing) -> Option<Presence> {
    match standing {
        Standing::Queued => None,
        Standing::Running { .. } => Some(Presence::Running),
        Standing::Suspended { .. } => Some(Presence::Suspended),
    }
}
