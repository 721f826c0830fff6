//! Time to evaluate a forest of 200 trees of 31 leaves, for one row and for 16.
#![allow(missing_docs)]

use criterion::{Criterion, criterion_group, criterion_main};
use predictor_core::forecasts::trees::{Forest, NodeRecord};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::hint::black_box;
use zerocopy::little_endian::U32;

const FEATURES: u16 = 80;
const LEAVES: usize = 31;

/// Grows a tree by splitting a leaf drawn at random until there are enough, which makes some of
/// them deep, and lays it out level by level.
fn append(forest: &mut Forest, random: &mut ChaCha8Rng) {
    let mut children: Vec<Option<(usize, usize)>> = vec![None];
    while children.len() < 2 * LEAVES - 1 {
        let node = random.random_range(0..children.len());
        if children[node].is_none() {
            children[node] = Some((children.len(), children.len() + 1));
            children.extend([None; 2]);
        }
    }
    forest.roots.push(U32::new(forest.nodes.len() as u32));
    let mut order = vec![0];
    let mut place = 0;
    while place < order.len() {
        let record = match children[order[place]] {
            Some((left, right)) => {
                let offset = (order.len() - place) as u16;
                order.extend([left, right]);
                NodeRecord::fork(random.random_range(0..FEATURES), random.random(), offset)
            }
            None => NodeRecord::leaf(random.random()),
        };
        forest.nodes.push(record);
        place += 1;
    }
}

fn evaluate(criterion: &mut Criterion) {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut forest = Forest::default();
    (0..200).for_each(|_| append(&mut forest, &mut random));
    let rows: Vec<Vec<f32>> = (0..1024).map(|_| (0..FEATURES).map(|_| random.random()).collect()).collect();
    let borrowed: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
    let view = forest.view();
    let mut next = 0;
    criterion.bench_function("one row", |bencher| {
        bencher.iter(|| {
            next = (next + 1) % rows.len();
            view.predict(black_box(borrowed[next]))
        });
    });
    let mut forecasts = [0.0; 16];
    criterion.bench_function("16 rows", |bencher| {
        bencher.iter(|| {
            next = (next + 16) % rows.len();
            view.predict_many(black_box(&borrowed[next / 16 * 16..][..16]), &mut forecasts);
        });
    });
}

criterion_group!(trees, evaluate);
criterion_main!(trees);
