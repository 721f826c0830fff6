//! What the others would have bid for the room that a job takes (Clarke 1971).

use crate::WalkRule;
use crate::book::Book;
use crate::contender::Place;
use crate::contenders::Contenders;

/// Walks without one winner each that have come to the same state, and so go on alike.
struct Alternatives {
    /// The nodes that are left in these walks and not in the walk with all. Negative where one was
    /// taken that does not fit into the walk with all.
    more_nodes: i64,
    /// Whether they are over, by [`WalkRule::StopAtFirst`].
    is_over: bool,
    /// By how much bids times nodes come to more than in the walk with all, for the first of them.
    gain: f64,
    /// The winners that are left out, by their index, each with what its gain has to be corrected
    /// by because it came later.
    without: Vec<(usize, f64)>,
}

/// What is known of all winners.
pub(crate) struct Externalities {
    /// For each winner in its order, what the others lose by it, in credits per minute. Negative
    /// where they gain, which a walk that does not look for the best can do.
    pub(crate) credits_per_minute: Vec<f64>,
    /// Whatever changes behind this place changes nothing of this.
    pub(crate) looked_up_to: Option<Place>,
}

/// Repeats the walk, and beside it the walks without each of its winners from the `first` on, all
/// at once.
pub(crate) fn externalities(book: &Book, contenders: &Contenders, nodes: u32, rule: WalkRule, first: usize) -> Externalities {
    let mut left = i64::from(nodes);
    let (mut winners, mut is_over, mut looked_up_to) = (0, false, None);
    let mut alternatives: Vec<Alternatives> = Vec::new();
    let mut in_order = book.in_order();
    while let Some((place, wanted)) = in_order.next() {
        let wanted = i64::from(wanted);
        let bid = contenders.get(place.id).map_or(0.0, |entry| entry.contender.bid.credits_per_node_minute());
        let value = bid * wanted as f64;
        let is_taken = !is_over && wanted <= left;
        let mut has_changed = false;
        for those in &mut alternatives {
            let is_taken_there = !those.is_over && wanted <= left + those.more_nodes;
            if is_taken != is_taken_there {
                let sign = if is_taken_there { 1 } else { -1 };
                those.gain += f64::from(sign) * value;
                those.more_nodes -= i64::from(sign) * wanted;
                has_changed = true;
            }
            if !is_taken_there && rule == WalkRule::StopAtFirst {
                those.is_over = true;
            }
        }
        if has_changed {
            merge(&mut alternatives);
        }
        if is_taken {
            left -= wanted;
            if winners >= first {
                add(&mut alternatives, wanted, winners);
            }
            winners += 1;
        } else if rule == WalkRule::StopAtFirst {
            is_over = true;
        }
        let here = if is_over { 0 } else { left };
        let most = alternatives.iter().filter(|those| !those.is_over).map(|those| left + those.more_nodes).fold(here, i64::max);
        if most <= 0 {
            looked_up_to = Some(place);
            break;
        }
        // Where walks stop at the first that does not fit, whoever is too wide matters.
        if rule == WalkRule::Backfill {
            in_order.pass_over_more_than(u32::try_from(most).unwrap_or(u32::MAX));
        }
    }
    let mut credits_per_minute = vec![0.0; winners];
    for those in alternatives {
        for (winner, correction) in those.without {
            if let Some(credits) = credits_per_minute.get_mut(winner) {
                *credits = those.gain + correction;
            }
        }
    }
    Externalities { credits_per_minute, looked_up_to }
}

/// The walk without the winner that was just taken.
fn add(alternatives: &mut Vec<Alternatives>, nodes: i64, winner: usize) {
    match alternatives.iter_mut().find(|those| those.more_nodes == nodes && !those.is_over) {
        Some(those) => those.without.push((winner, -those.gain)),
        None => alternatives.push(Alternatives { more_nodes: nodes, is_over: false, gain: 0.0, without: vec![(winner, 0.0)] }),
    }
}

/// Makes one of those that have come to the same state.
fn merge(alternatives: &mut Vec<Alternatives>) {
    let mut kept: Vec<Alternatives> = Vec::with_capacity(alternatives.len());
    for mut those in alternatives.drain(..) {
        match kept.iter_mut().find(|other| other.more_nodes == those.more_nodes && other.is_over == those.is_over) {
            Some(other) => {
                let correction = those.gain - other.gain;
                other.without.extend(those.without.drain(..).map(|(winner, before)| (winner, before + correction)));
            }
            None => kept.push(those),
        }
    }
    *alternatives = kept;
}
