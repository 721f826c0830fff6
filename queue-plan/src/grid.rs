//! When a job that is submitted now would start, by size and time limit.

use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use predictor_core::forecasts::queue_plan::ExpectedStart;

use crate::pass::Pass;
use crate::places::Places;
use crate::resources::Resources;
use crate::run_time::LONGEST;
use crate::schedule::Wanted;
use crate::state::Partition;

/// The most sizes of a grid.
pub const MOST_SIZES: usize = 24;

/// Time limits of a grid: 10 min, 1, 4 and 12 h, 1, 2 and 7 d; and the partition's
/// longest.
const LIMITS: [Seconds; 7] =
    [Seconds(600), Seconds(3_600), Seconds(14_400), Seconds(43_200), Seconds(86_400), Seconds(172_800), Seconds(604_800)];

/// When a job that is submitted to a partition now would start: behind all that waits, in the holes
/// that this leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    /// Sizes in CPUs, ascending: powers of two of CPUs, or of nodes where jobs get whole ones, and
    /// all there is.
    pub cpus: Vec<u32>,
    /// Time limits, ascending.
    pub limits: Vec<Seconds>,
    /// The start for each size and limit, by size; `None` where there is never room. Neither a
    /// larger job nor a longer one starts earlier.
    pub starts: Vec<Option<ExpectedStart>>,
}

impl Grid {
    /// The grid of a partition after everything else has been placed.
    pub(crate) fn of(index: usize, passes: &mut [Pass<'_>; 3]) -> Self {
        let setting = passes[0].setting();
        let (state, places) = (setting.state, &setting.places);
        let Some(partition) = state.partitions.get(index).filter(|partition| partition.is_up) else { return Self::default() };
        let (cpus, limits) = (sizes(partition, places, index), limits(partition));
        let mut starts = Vec::with_capacity(cpus.len() * limits.len());
        for cpus in &cpus {
            for limit in &limits {
                let wanted = Wanted { needs: Resources::of_cpus((*cpus).into()), duration: *limit, limit: *limit, from: state.now };
                let [optimistic, expected, upper] = passes.each_mut().map(|pass| pass.earliest(index, &wanted));
                starts.push(
                    optimistic
                        .zip(expected)
                        .zip(upper)
                        .map(|((optimistic, expected), upper)| expected_start([optimistic, expected, upper])),
                );
            }
        }
        Self { cpus, limits, starts }
    }
}

fn limits(partition: &Partition) -> Vec<Seconds> {
    let longest = partition.longest_limit.unwrap_or(LONGEST).clamp(Seconds(1), LONGEST);
    LIMITS.into_iter().filter(|limit| *limit < longest).chain([longest]).collect()
}

fn sizes(partition: &Partition, places: &Places, index: usize) -> Vec<u32> {
    let Size { nodes: all_nodes, cpus: all_cpus } = places.offered(index).size();
    if all_cpus == 0 || all_nodes == 0 {
        return Vec::new();
    }
    let most_nodes = partition.most_nodes.unwrap_or(all_nodes).clamp(1, all_nodes);
    let cpus_of = |nodes: u32| {
        let needed = places.needed(index, Size { nodes, cpus: 1 }.into(), true);
        needed.map_or(all_cpus, |needed| needed.size().cpus)
    };
    let largest = if most_nodes < all_nodes { cpus_of(most_nodes) } else { all_cpus };
    let powers = (0..MOST_SIZES as u32 - 1).filter_map(|exponent| 1u32.checked_shl(exponent));
    let sizes: Vec<u32> =
        if partition.whole_nodes { powers.take_while(|nodes| *nodes < most_nodes).map(cpus_of).collect() } else { powers.collect() };
    sizes.into_iter().take_while(|cpus| *cpus < largest).chain([largest]).collect()
}

/// The start of a job from the three passes. Jobs that end earlier can make another start later, so
/// that the three may be out of order.
pub(crate) fn expected_start([optimistic, expected, limit]: [UnixTime; 3]) -> ExpectedStart {
    ExpectedStart { lower: optimistic.min(expected), expected, upper: limit.max(expected) }
}
