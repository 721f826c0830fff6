//! Weights from rank correlation (Hariharan et al. 2020, II.B.3).

/// Room to rank columns of numbers in.
#[derive(Clone, Debug, Default)]
pub(super) struct Spearman {
    order: Vec<u64>,
    ranks: Vec<f32>,
    wait_ranks: Vec<f32>,
    wait_variance: f64,
}

impl Spearman {
    /// Takes the waits that all columns are compared with.
    pub(super) fn set_waits(&mut self, waits_s: &[f32]) {
        rank(waits_s.iter().copied(), &mut self.order, &mut self.wait_ranks);
        self.wait_variance = covariance(&self.wait_ranks, &self.wait_ranks);
    }

    /// The absolute value of Spearman's rank correlation of a column with the waits; 0 where either
    /// is constant.
    pub(super) fn weight(&mut self, column: impl Iterator<Item = f32>) -> f32 {
        rank(column, &mut self.order, &mut self.ranks);
        let variance = covariance(&self.ranks, &self.ranks);
        let covariance = covariance(&self.ranks, &self.wait_ranks);
        let scale = (variance * self.wait_variance).sqrt();
        if scale > 0.0 { ((covariance / scale).abs() as f32).min(1.0) } else { 0.0 }
    }
}

fn covariance(a: &[f32], b: &[f32]) -> f64 {
    // Ranks from 1 to n, ties by their mean, have this mean.
    let mean = 0.5 * (a.len() as f64 + 1.0);
    a.iter().zip(b).map(|(a, b)| (f64::from(*a) - mean) * (f64::from(*b) - mean)).sum()
}

/// Ranks from 1 on; equals share the mean of theirs.
fn rank(column: impl Iterator<Item = f32>, order: &mut Vec<u64>, ranks: &mut Vec<f32>) {
    // Value and place as one integer: its order is that of the values, and equals are told by the
    // upper half.
    order.clear();
    order.extend(column.zip(0u64..).map(|(value, place)| u64::from(ordered(value)) << 32 | place));
    order.sort_unstable();
    ranks.clear();
    ranks.resize(order.len(), 0.0);
    let mut first = 0;
    for equals in order.chunk_by(|a, b| a >> 32 == b >> 32) {
        let mean = first as f32 + 0.5 * (equals.len() as f32 + 1.0);
        for key in equals {
            if let Some(rank) = ranks.get_mut((key & 0xffff_ffff) as usize) {
                *rank = mean;
            }
        }
        first += equals.len();
    }
}

/// An integer whose order is that of the numbers.
fn ordered(value: f32) -> u32 {
    // 0.0 is also -0.0.
    let bits = (value + 0.0).to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlation_is_of_ranks_and_its_sign_does_not_count() {
        let mut spearman = Spearman::default();
        spearman.set_waits(&[10.0, 20.0, 30.0, 4_000.0]);
        assert!((spearman.weight([1.0, 2.0, 3.0, 4.0].into_iter()) - 1.0).abs() < 1e-6);
        assert!((spearman.weight([4.0, 3.0, -2.0, -9.0].into_iter()) - 1.0).abs() < 1e-6);
        // Ranks 2, 1, 4, 3 against 1, 2, 3, 4: 1 - 6 * 4 / (4 * 15) = 0.6.
        assert!((spearman.weight([2.0, 1.0, 4.0, 3.0].into_iter()) - 0.6).abs() < 1e-6);
        assert_eq!(spearman.weight([7.0; 4].into_iter()), 0.0);
    }

    #[test]
    fn equals_share_the_mean_of_their_ranks() {
        let mut ranks = Vec::new();
        rank([5.0, -1.0, 5.0, 0.0].into_iter(), &mut Vec::new(), &mut ranks);
        assert_eq!(ranks, [3.5, 1.0, 3.5, 2.0]);
    }
}
