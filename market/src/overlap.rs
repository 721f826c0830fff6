//! Who of those who won nodes runs on them, where several have the same.

use crate::Overlap;
use crate::contender::ContenderId;
use crate::contenders::Contenders;

/// The nodes that are taken in a cycle.
#[derive(Debug, Clone)]
pub(crate) struct TakenNodes {
    taken_in: Vec<u64>,
}

impl TakenNodes {
    pub(crate) fn new(nodes: u32) -> Self {
        Self { taken_in: vec![0; nodes as usize] }
    }

    /// Whether each of the winners runs, in their order. Who has no nodes yet gets free ones, of
    /// which there are enough, because all that winners want is no more than there is. `round` is
    /// another one each time.
    pub(crate) fn settle(&mut self, winners: &[ContenderId], contenders: &Contenders, overlap: Overlap, round: u64, runs: &mut Vec<bool>) {
        runs.clear();
        if overlap == Overlap::Share {
            runs.resize(winners.len(), true);
            return;
        }
        for &id in winners {
            let own = contenders.get(id).map_or(&[][..], |entry| entry.contender.standing.nodes());
            let is_taken = |node: &u32| self.taken_in.get(*node as usize).is_some_and(|taken_in| *taken_in == round);
            let is_free = !own.iter().any(is_taken);
            if is_free {
                own.iter().for_each(|node| {
                    if let Some(taken_in) = self.taken_in.get_mut(*node as usize) {
                        *taken_in = round;
                    }
                });
            }
            runs.push(is_free);
        }
    }
}
