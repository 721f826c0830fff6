//! What was learnt of waits, as large as it gets.

use super::{USER, score};
use job_types::number::{AccountIndex, QosIndex, UserId};
use job_types::record::WaitSource;
use job_types::time::UnixTime;
use predictor_core::forecasts::blend::BoundTable;
use predictor_core::forecasts::past::{FEATURES, Group, GroupKey, GroupKind, UserPast};
use predictor_core::forecasts::reliability::{PartitionScore, WaitSourceReason};
use predictor_core::forecasts::trees::{Forest, NodeRecord};
use predictor_core::forecasts::wait_model::WaitModel;

/// Numbers that are the same each time, evenly spread over 0 to 1.
struct Numbers(u64);

impl Numbers {
    fn new() -> Numbers {
        Numbers(1)
    }

    fn next(&mut self) -> f64 {
        // Knuth's linear congruence.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() * bound as f64) as usize
    }
}

/// A forest of `trees` trees of `leaves` leaves each, grown by splitting leaves at random, with
/// leaves that add up to about 60.
fn forest(trees: usize, leaves: usize, numbers: &mut Numbers) -> Forest {
    let mut forest = Forest::default();
    for _ in 0..trees {
        let mut children: Vec<Option<(usize, usize)>> = vec![None];
        while children.len() < 2 * leaves - 1 {
            let node = numbers.below(children.len());
            if children[node].is_none() {
                children[node] = Some((children.len(), children.len() + 1));
                children.extend([None; 2]);
            }
        }
        forest.roots.push((forest.nodes.len() as u32).into());
        let mut order = vec![0];
        let mut place = 0;
        while place < order.len() {
            forest.nodes.push(match children[order[place]] {
                Some((left, right)) => {
                    let offset = (order.len() - place) as u16;
                    order.extend([left, right]);
                    // Features span orders of magnitude.
                    NodeRecord::fork(numbers.below(FEATURES) as u16, 10f64.powf(6.0 * numbers.next()) as f32, offset)
                }
                None => NodeRecord::leaf((120.0 * numbers.next() / trees as f64) as f32),
            });
            place += 1;
        }
    }
    forest
}

/// A model as large as those that the daemon learns: two forests of 100 trees with 32 leaves, so
/// many groups, and 10,000 running jobs.
#[must_use]
pub fn large_model(published_at: UnixTime, groups: u32) -> WaitModel {
    let mut numbers = Numbers::new();
    let forests = [forest(100, 32, &mut numbers), forest(100, 32, &mut numbers)];
    let mut table = BoundTable::default();
    for row in 0..32u32 {
        table.up_to.push(row as f32 * 4.0);
        table.bounds_s.push(std::array::from_fn(|percentile| row * 40 * (percentile as u32 + 1)));
        table.outcomes.push(250);
        table.at_once.push(0.1);
    }
    let mut keyed = Vec::new();
    for n in 0..groups {
        let kind = GroupKind::ALL[n as usize % GroupKind::ALL.len()];
        let mut group = Group::default();
        group.recent.fast = (n % 97) as f32;
        group.recent.started_at = published_at.0 as f64 - f64::from(n);
        group.running.cpus = f64::from(n % 7);
        let values = match kind {
            GroupKind::Cluster => continue,
            GroupKind::User | GroupKind::UserPartition | GroupKind::UserRequest => [USER - 500 + n % 1_000, n / 8_000, 0],
            _ => [n / 8, 0, 0],
        };
        keyed.push((GroupKey { kind, values }, group));
    }
    let ends = |step: i64| (1..=10_000).map(|n| (published_at.0 + n * step, n as f32)).collect();
    WaitModel {
        forests: Some(forests),
        weights: [0.0, 0.4, 0.4, 0.2],
        table,
        groups: keyed,
        cpus: 20_000,
        ends_by_limit: ends(20),
        ends_expected: ends(10),
        users: vec![UserPast { user: UserId(USER), last_two_s: Some([500.0, 700.0]), account: AccountIndex(1), qos: QosIndex(0) }],
        accounts: vec!["physics".into(), "chemistry".into()],
        qos: vec!["normal".into()],
        classes: Vec::new(),
        deadlines: Vec::new(),
        promises: Vec::new(),
        scores: vec![PartitionScore {
            jobs: 5_000,
            median_error_s: 100.0,
            pinball_s: 50.0,
            ..score(WaitSource::Blended, WaitSourceReason::Calibrated)
        }],
        run_times: std::collections::BTreeMap::new(),
    }
}
