//! A mixture of what the contexts say, with weights that are learnt as jobs end.
//!
//! A member of the mixture is a context, a half-life by which its run times lose weight, and a
//! kernel. Its weight is the exponential of a number that depends on how many jobs the context has
//! seen, plus one that belongs to the user, divided by their sum. Both follow the gradient of the
//! logarithm of the probability that the mixture gave to each run time.

use job_types::number::UserId;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::LazyLock;

use super::bins;
use super::contexts::{AT_LIMIT, CONTEXTS, MEMORY, Seen};
use super::kernel::{self, KERNELS};

/// The weights of run times halve after so many later ones.
const HALF_LIVES: [f64; 3] = [1.0, 5.0, 25.0];
/// Members that share a context.
const PER_CONTEXT: usize = HALF_LIVES.len() * KERNELS;
/// Classes of how many jobs a context has seen: 1, 2, 3 to 4, 5 to 9, 10 to 24, and more.
const COUNT_CLASSES: usize = 6;
/// This probability is spread evenly over all bins, so that nothing is impossible.
const ANYTHING: f64 = 1e-4;
/// Step sizes of the numbers that all users share and of each user's own, which also fade.
const STEP: f64 = 0.03;
const USER_STEP: f64 = 0.1;
const USER_FADING: f64 = 0.001;

type PerMember = [[f64; PER_CONTEXT]; CONTEXTS];

/// Weights of the latest run times by half-life and by how many there are; each row sums to 1.
static RECENCY: LazyLock<[Vec<[f64; MEMORY]>; HALF_LIVES.len()]> = LazyLock::new(|| {
    HALF_LIVES.map(|half_life| {
        let weight = |back: usize| 0.5f64.powf(back as f64 / half_life);
        (0..=MEMORY)
            .map(|count| {
                let sum: f64 = (0..count).map(weight).sum();
                std::array::from_fn(|back| if back < count { weight(back) / sum } else { 0.0 })
            })
            .collect()
    })
});

/// What a job sees: its contexts, the bins up to its limit, and whether there is a limit.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) user: UserId,
    pub(super) seen: [Seen; CONTEXTS],
    /// The last bin below the limit, or the last of all.
    pub(super) last_bin: usize,
    pub(super) has_limit: bool,
}

/// The place of a run time, seen from its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Bin(usize),
    AtLimit,
}

/// The numbers behind the weights.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Mixture {
    shared: Vec<PerMember>,
    users: HashMap<UserId, PerMember>,
}

impl Mixture {
    /// At first narrow contexts weigh more than wide ones, and the narrowest kernel less than the
    /// others.
    pub(super) fn new() -> Mixture {
        let number = |context: usize, member: usize| -0.2 * context as f64 - if member.is_multiple_of(KERNELS) { 0.5 } else { 0.0 };
        let shared: PerMember = std::array::from_fn(|context| std::array::from_fn(|member| number(context, member)));
        Mixture { shared: vec![shared; COUNT_CLASSES], users: HashMap::new() }
    }

    /// The members' weights, which sum to 1; `None` where no context has seen a job.
    fn weights(&self, view: &View) -> Option<PerMember> {
        let own = self.users.get(&view.user);
        let mut weights = [[0.0; PER_CONTEXT]; CONTEXTS];
        let mut largest = f64::NEG_INFINITY;
        for (context, (seen, weights)) in view.seen.iter().zip(&mut weights).enumerate() {
            let shared = count_class(seen.count).and_then(|class| self.shared.get(class)).and_then(|shared| shared.get(context));
            let Some(shared) = shared else { continue };
            let own = own.and_then(|own| own.get(context)).unwrap_or(&[0.0; PER_CONTEXT]);
            for ((weight, shared), own) in weights.iter_mut().zip(shared).zip(own) {
                *weight = shared + own;
                largest = largest.max(*weight);
            }
        }
        let mut sum = 0.0;
        for (seen, weights) in view.seen.iter().zip(&mut weights) {
            if seen.count > 0 {
                for weight in weights.iter_mut() {
                    *weight = (*weight - largest).exp();
                    sum += *weight;
                }
            }
        }
        (sum > 0.0).then(|| weights.map(|weights| weights.map(|weight| weight / sum)))
    }

    /// The probability of each bin up to the view's last, then that of reaching the limit; they sum
    /// to 1. `None` where nothing is known.
    pub(super) fn probabilities(&self, view: &View) -> Option<Vec<f64>> {
        let weights = self.weights(view)?;
        let bins = view.last_bin + 1;
        let mut centres = vec![[0.0; KERNELS]; bins];
        let mut at_limit = 0.0;
        for (seen, weights) in view.seen.iter().zip(&weights) {
            for (recency, weights) in RECENCY.iter().zip(weights.chunks_exact(KERNELS)) {
                let Some(recency) = recency.get(seen.bins.len()) else { continue };
                for (bin, recency) in seen.bins.iter().zip(recency) {
                    if *bin == AT_LIMIT {
                        at_limit += recency * weights.iter().sum::<f64>();
                    } else if let Some(centre) = centres.get_mut(usize::from(*bin).min(view.last_bin)) {
                        for (mass, weight) in centre.iter_mut().zip(weights) {
                            *mass += recency * weight;
                        }
                    }
                }
            }
        }
        let places = (bins + usize::from(view.has_limit)) as f64;
        let mut probabilities = vec![0.0; bins];
        for (bin, masses) in centres.iter().enumerate() {
            for (kernel, mass) in masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
                kernel::spread(kernel, *mass, bin, &mut probabilities);
            }
        }
        if view.has_limit {
            probabilities.push(at_limit);
        }
        for probability in &mut probabilities {
            *probability = *probability * (1.0 - ANYTHING) + ANYTHING / places;
        }
        Some(probabilities)
    }

    /// Learns where the run time of a job lies.
    pub(super) fn learn(&mut self, view: &View, place: Place) {
        let Some(weights) = self.weights(view) else { return };
        let mut within = [[0.0; PER_CONTEXT]; CONTEXTS];
        for (seen, within) in view.seen.iter().zip(&mut within) {
            for (recency, within) in RECENCY.iter().zip(within.chunks_exact_mut(KERNELS)) {
                let Some(recency) = recency.get(seen.bins.len()) else { continue };
                for (bin, recency) in seen.bins.iter().zip(recency) {
                    for (kernel, within) in within.iter_mut().enumerate() {
                        *within += recency * share(kernel, *bin, place, view.last_bin);
                    }
                }
            }
        }
        let given: f64 =
            weights.iter().zip(&within).map(|(weights, within)| weights.iter().zip(within).map(|(w, v)| w * v).sum::<f64>()).sum();
        let total = given + ANYTHING;
        let own = self.users.entry(view.user).or_insert([[0.0; PER_CONTEXT]; CONTEXTS]);
        for (context, ((seen, own), (weights, within))) in view.seen.iter().zip(own).zip(weights.iter().zip(&within)).enumerate() {
            let class = count_class(seen.count).and_then(|class| self.shared.get_mut(class)).and_then(|shared| shared.get_mut(context));
            let Some(shared) = class else { continue };
            for ((shared, own), (weight, within)) in shared.iter_mut().zip(own).zip(weights.iter().zip(within)) {
                let gradient = weight * within / total - weight;
                *shared += STEP * gradient;
                *own += USER_STEP * gradient - USER_FADING * *own;
            }
        }
    }
}

/// The share of a past run time's kernel that lies in a place.
fn share(kernel: usize, centre: u8, place: Place, last_bin: usize) -> f64 {
    match (centre == AT_LIMIT, place) {
        (true, Place::AtLimit) => 1.0,
        (true, Place::Bin(_)) | (false, Place::AtLimit) => 0.0,
        (false, Place::Bin(bin)) => {
            let (bin, centre) = (bin as i32, usize::from(centre).min(last_bin) as i32);
            let less = if bin == 0 { 0.0 } else { kernel::up_to(kernel, bin - 1, centre) };
            let up_to = if bin as usize >= last_bin { 1.0 } else { kernel::up_to(kernel, bin, centre) };
            up_to - less
        }
    }
}

fn count_class(count: usize) -> Option<usize> {
    match count {
        0 => None,
        1 => Some(0),
        2 => Some(1),
        3..=4 => Some(2),
        5..=9 => Some(3),
        10..=24 => Some(4),
        _ => Some(5),
    }
}

impl View {
    /// The place of a run time in seconds.
    pub(super) fn place(&self, run_time_s: u32, limit_s: Option<u32>) -> Place {
        if self.has_limit && limit_s.is_some_and(|limit_s| run_time_s >= limit_s) {
            Place::AtLimit
        } else {
            Place::Bin(bins::of(run_time_s).min(self.last_bin))
        }
    }
}
