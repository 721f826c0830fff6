//! A cycle: from what is there to the fewest changes that make it what it should be.

use crate::contender::Standing;
use crate::placement::Presence;
use crate::{Bid, ContenderId, Market, Milliseconds, Outcome};

impl Market {
    /// Says who is suspended, resumed and started now, and takes it for done.
    pub fn cycle(&mut self, now: Milliseconds) -> &Outcome {
        self.outcome.suspended.clear();
        self.outcome.resumed.clear();
        self.outcome.started.clear();
        self.outcome.pays.clear();
        if self.settings.retention.is_any() {
            for index in 0..self.running.len() {
                let Some(&id) = self.running.get(index) else { break };
                let since = self.contenders.get(id).and_then(|entry| entry.contender.standing.running_since());
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
            let since = (entry.chosen_in == self.round).then(|| entry.contender.standing.running_since().unwrap_or(now));
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
}
