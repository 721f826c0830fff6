//! The walk that says who runs.

use crate::WalkRule;
use crate::book::Book;
use crate::contender::{ContenderId, Place};

/// What a walk found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Walked {
    /// Those who get nodes, in their order.
    pub(crate) winners: Vec<ContenderId>,
    /// The first that does not fit, with the number of winners before it.
    pub(crate) blocked: Option<(ContenderId, usize)>,
    /// Whatever changes behind this place changes nothing of this; without it anything may.
    pub(crate) looked_up_to: Option<Place>,
}

impl Walked {
    /// Goes through the book anew.
    pub(crate) fn walk(&mut self, book: &Book, nodes: u32, rule: WalkRule) {
        self.winners.clear();
        self.blocked = None;
        self.looked_up_to = None;
        let mut left = nodes;
        let mut in_order = book.in_order();
        while let Some((place, wanted)) = in_order.next() {
            if let Some(rest) = left.checked_sub(wanted) {
                left = rest;
                self.winners.push(place.id);
            } else if self.blocked.is_none() {
                self.blocked = Some((place.id, self.winners.len()));
            }
            if self.blocked.is_some() {
                if rule == WalkRule::StopAtFirst || left == 0 {
                    self.looked_up_to = Some(place);
                    return;
                }
                in_order.pass_over_more_than(left);
            }
        }
    }
}
