//! Search by a genetic algorithm (Goldberg, Genetic Algorithms in Search, 1989) over vectors of
//! bounded numbers.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What one number of a vector may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gene {
    /// Any number from the first to the second.
    Real(f64, f64),
    /// Any whole number from the first to the second.
    Whole(i32, i32),
}

impl Gene {
    fn random(self, random: &mut ChaCha8Rng) -> f64 {
        match self {
            Gene::Real(least, most) => least + (most - least) * random.random::<f64>(),
            Gene::Whole(least, most) => f64::from(random.random_range(least..=most.max(least))),
        }
    }

    /// Half the time a small step, a tenth of the span to either side at most, and at least 1 for a
    /// whole number; else anything.
    fn mutated(self, value: f64, random: &mut ChaCha8Rng) -> f64 {
        if random.random::<bool>() {
            return self.random(random);
        }
        let step = random.random_range(-1.0..1.0);
        match self {
            Gene::Real(least, most) => (value + step * 0.1 * (most - least)).clamp(least, most.max(least)),
            Gene::Whole(least, most) => {
                let reach = (0.1 * (f64::from(most) - f64::from(least))).max(1.0);
                (value + (step * reach).abs().ceil().copysign(step)).clamp(f64::from(least), f64::from(most.max(least)))
            }
        }
    }
}

/// How the population develops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evolution {
    /// Vectors in each generation, at least 2.
    pub population: usize,
    /// Generations, the random first one among them.
    pub generations: usize,
    /// The best of so many vectors drawn at random becomes a parent.
    pub tournament: usize,
    /// Probability that a child mixes two parents, number by number, instead of copying one.
    pub crossover: f64,
    /// Probability that a number of a child changes.
    pub mutation: f64,
    /// How many of the best individuals live on unchanged.
    pub elite: usize,
    /// All that is random follows from it.
    pub seed: u64,
}

impl Default for Evolution {
    fn default() -> Evolution {
        Evolution { population: 24, generations: 20, tournament: 3, crossover: 0.8, mutation: 0.1, elite: 2, seed: 1 }
    }
}

/// The best vector found, and its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// One number for each gene.
    pub values: Vec<f64>,
    /// What `cost` gave for them.
    pub cost: f64,
}

impl Evolution {
    /// Looks for the vector of least `cost`. The vectors of `known` (cut to the genes' bounds) are
    /// part of the first generation, so that the result is no worse than the best of them; vectors
    /// of another length are left out.
    ///
    /// `cost` is asked once for each new vector, in an order that depends on the seed alone. A cost
    /// that is no number counts as the worst.
    pub fn minimise(&self, genes: &[Gene], known: &[Vec<f64>], mut cost: impl FnMut(&[f64]) -> f64) -> Found {
        self.minimise_generations(genes, known, |vectors| vectors.iter().map(|values| cost(values)).collect())
    }

    /// [`Evolution::minimise`] where the new vectors of one generation are given together, for a
    /// `costs` that tries them side by side; it gives one cost for each.
    pub fn minimise_generations(&self, genes: &[Gene], known: &[Vec<f64>], mut costs: impl FnMut(&[Vec<f64>]) -> Vec<f64>) -> Found {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let population = self.population.max(2);
        let mut vectors: Vec<Vec<f64>> =
            known.iter().filter(|values| values.len() == genes.len()).map(|values| within(genes, values)).take(population).collect();
        while vectors.len() < population {
            vectors.push(genes.iter().map(|gene| gene.random(&mut random)).collect());
        }
        let mut parents: Vec<Found> = Vec::new();
        for generation in 0..self.generations.max(1) {
            if generation > 0 {
                vectors = (self.elite.min(population - 1)..population).map(|_| self.child(genes, &parents, &mut random)).collect();
                parents.truncate(self.elite);
            }
            let known_costs = costs(&vectors);
            let priced = vectors.drain(..).zip(known_costs.into_iter().chain(std::iter::repeat(f64::INFINITY)));
            parents.extend(priced.map(|(values, cost)| Found { values, cost: if cost.is_nan() { f64::INFINITY } else { cost } }));
            // Stable, so that of equals the older comes first.
            parents.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        }
        parents.into_iter().next().unwrap_or(Found { values: Vec::new(), cost: f64::INFINITY })
    }

    /// `parents` ascend in cost, so that the winner of a tournament is the one with the smallest
    /// index.
    fn child(&self, genes: &[Gene], parents: &[Found], random: &mut ChaCha8Rng) -> Vec<f64> {
        let mut parent = || (0..self.tournament.max(1)).map(|_| random.random_range(0..parents.len().max(1))).min().unwrap_or(0);
        let (mother, father) = (parent(), parent());
        let mixes = random.random::<f64>() < self.crossover;
        let values = |index: usize| parents.get(index).map_or(&[][..], |found| &found.values);
        let pairs = values(mother).iter().zip(values(father));
        pairs
            .zip(genes)
            .map(|((mother, father), gene)| {
                let inherited = if mixes && random.random::<bool>() { *father } else { *mother };
                if random.random::<f64>() < self.mutation { gene.mutated(inherited, random) } else { inherited }
            })
            .collect()
    }
}

fn within(genes: &[Gene], values: &[f64]) -> Vec<f64> {
    let pairs = genes.iter().zip(values);
    pairs
        .map(|(gene, value)| match *gene {
            Gene::Real(least, most) => value.max(least).min(most),
            Gene::Whole(least, most) => value.round().max(f64::from(least)).min(f64::from(most)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GENES: [Gene; 3] = [Gene::Real(-2.0, 2.0), Gene::Whole(0, 9), Gene::Real(0.0, 1.0)];

    fn from_target(values: &[f64]) -> f64 {
        (values[0] - 0.5).powi(2) + (values[1] - 7.0).powi(2) + (values[2] - 0.25).powi(2)
    }

    #[test]
    fn the_smallest_cost_is_found() {
        let evolution = Evolution { population: 40, generations: 60, ..Evolution::default() };
        let found = evolution.minimise(&GENES, &[], from_target);
        assert!(found.cost < 0.01, "{found:?}");
        assert_eq!(found.values[1], 7.0);
    }

    #[test]
    fn a_seed_gives_one_result() {
        let with = |seed| Evolution { seed, generations: 5, ..Evolution::default() }.minimise(&GENES, &[], from_target);
        assert_eq!(with(3), with(3));
        assert_ne!(with(3), with(4));
    }

    #[test]
    fn the_result_is_no_worse_than_what_was_known_and_what_is_known_is_cut_to_the_bounds() {
        let evolution = Evolution { generations: 3, ..Evolution::default() };
        let found = evolution.minimise(&GENES, &[vec![0.5, 7.0, 0.25], vec![0.0]], from_target);
        assert_eq!(found, Found { values: vec![0.5, 7.0, 0.25], cost: 0.0 });
        assert_eq!(within(&GENES, &[9.0, 3.6, -1.0]), [2.0, 4.0, 0.0]);
    }

    #[test]
    fn a_cost_that_is_no_number_never_wins() {
        let found = Evolution::default().minimise(&GENES, &[], |values| if values[1] < 9.0 { f64::NAN } else { values[0] });
        assert_eq!(found.values[1], 9.0);
    }

    proptest! {
        #[test]
        fn every_vector_tried_is_within_its_bounds(seed in 0u64..1_000) {
            let evolution = Evolution { seed, population: 10, generations: 6, mutation: 0.5, ..Evolution::default() };
            evolution.minimise(&GENES, &[], |values| {
                assert!(values.len() == 3 && values[0].abs() <= 2.0 && (0.0..=1.0).contains(&values[2]));
                assert!(values[1].fract() == 0.0 && (0.0..=9.0).contains(&values[1]));
                0.0
            });
        }
    }
}
