//! Sets of nodes.

/// Which of a machine's nodes, one bit for each. Sets that are combined are of one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NodeSet {
    words: Vec<u64>,
}

impl NodeSet {
    /// The empty set of a machine of `nodes` nodes.
    pub(super) fn none(nodes: usize) -> Self {
        Self { words: vec![0; nodes.div_ceil(64)] }
    }

    /// The set of all nodes of a machine of `nodes` nodes.
    pub(super) fn all(nodes: usize) -> Self {
        let mut set = Self::none(nodes);
        for node in 0..nodes {
            set.add(node);
        }
        set
    }

    pub(super) fn add(&mut self, node: usize) {
        if let Some(word) = self.words.get_mut(node / 64) {
            *word |= 1 << (node % 64);
        }
    }

    pub(super) fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(super) fn retain(&mut self, other: &Self) {
        self.combine(other, |word, other| word & other);
    }

    pub(super) fn extend(&mut self, other: &Self) {
        self.combine(other, |word, other| word | other);
    }

    pub(super) fn remove(&mut self, other: &Self) {
        self.combine(other, |word, other| word & !other);
    }

    /// The nodes that are in both sets.
    pub(super) fn shared_with(&self, other: &Self) -> Self {
        let mut shared = self.clone();
        shared.retain(other);
        shared
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(word, other)| word & other != 0)
    }

    pub(super) fn is_within(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).all(|(word, other)| word & !other == 0)
    }

    /// Chooses `wanted` nodes of the set, as Slurm's select plugins choose among equal nodes
    /// (src/plugins/select/cons_tres/job_test.c, `_eval_nodes`): from the shortest row of
    /// neighbours that is long enough. If there is none, the longest row is taken whole, and the
    /// rest is chosen in the same way. Returns `None` if the set has fewer nodes.
    pub(super) fn choose(&self, wanted: usize) -> Option<Self> {
        let mut chosen = Self { words: vec![0; self.words.len()] };
        let mut rows = self.rows();
        let mut missing = wanted;
        while missing > 0 {
            let fitting = rows.iter().enumerate().filter(|(_, row)| row.len() >= missing).min_by_key(|(_, row)| row.len());
            // Among the longest the first: `max_by_key` would take the last.
            let best = fitting.or_else(|| rows.iter().enumerate().rev().max_by_key(|(_, row)| row.len()));
            let place = best.map(|(place, _)| place)?;
            let row = rows.remove(place);
            for node in row.take(missing) {
                chosen.add(node);
                missing -= 1;
            }
        }
        Some(chosen)
    }

    /// Rows of neighbouring nodes, in order.
    fn rows(&self) -> Vec<std::ops::Range<usize>> {
        let mut rows: Vec<std::ops::Range<usize>> = Vec::new();
        for (place, &word) in self.words.iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                let node = place * 64 + rest.trailing_zeros() as usize;
                match rows.last_mut() {
                    Some(row) if row.end == node => row.end += 1,
                    _ => rows.push(node..node + 1),
                }
                rest &= rest - 1;
            }
        }
        rows
    }

    fn combine(&mut self, other: &Self, by: impl Fn(u64, u64) -> u64) {
        for (word, &other) in self.words.iter_mut().zip(&other.words) {
            *word = by(*word, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::NodeSet;

    fn set(nodes: &[usize]) -> NodeSet {
        let mut set = NodeSet::none(70);
        for &node in nodes {
            set.add(node);
        }
        set
    }

    #[test]
    fn nodes_come_from_the_shortest_row_that_is_long_enough() {
        assert_eq!(set(&[0, 1, 2, 3, 10, 11, 20, 21, 22]).choose(2), Some(set(&[10, 11])));
        assert_eq!(set(&[0, 1, 2, 3, 10, 11, 20, 21, 22]).choose(3), Some(set(&[20, 21, 22])));
    }

    #[test]
    fn where_no_row_is_long_enough_the_longest_is_taken_whole() {
        assert_eq!(set(&[0, 1, 5, 6, 7, 9, 30]).choose(4), Some(set(&[5, 6, 7, 9])));
    }

    #[test]
    fn a_row_goes_across_words() {
        assert_eq!(set(&[62, 63, 64, 65, 1]).choose(4), Some(set(&[62, 63, 64, 65])));
    }

    #[test]
    fn more_than_there_are_cannot_be_chosen() {
        assert_eq!(set(&[1, 2]).choose(3), None);
        assert_eq!(NodeSet::all(70).count(), 70);
    }
}
