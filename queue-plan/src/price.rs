//! What a CPU of a partition costs those who wait, by how far ahead it is taken.
//!
//! A small job is put into the plan in each of some windows of time. By how much all other jobs
//! start later for it, over its area, is the price of the machine's time in that window. It comes
//! behind all that wait, as whoever is decided about does, and before those who are still to come
//! ([`State::with_coming`](crate::State::with_coming)): nobody else gives way to it.

use job_types::number::JobId;
use job_types::time::Seconds;
use predictor_core::forecasts::price::PriceStep;

use crate::change::Change;
use crate::coming::MOST_COMING;
use crate::pass::Pass;
use crate::resources::Resources;
use crate::run_time::RunTimes;
use crate::setting::Setting;
use crate::state::PendingJob;

/// Where the windows end, from now. The first is short because most jobs are, and the last reaches
/// as far as jobs to come are known.
pub const WINDOW_ENDS: [Seconds; 7] =
    [Seconds(900), Seconds(1_800), Seconds(3_600), Seconds(7_200), Seconds(14_400), Seconds(28_800), Seconds(57_600)];

/// How old prices get before they are worked out anew: many times more than a plan costs, and they
/// change with the queue as a whole and not with each job.
pub const PRICED_EVERY: Seconds = Seconds(900);

/// Which part of a partition's nodes and CPUs the small job takes, or as much as one job may take
/// there. A plan with fewer jobs to a machine can't tell what is smaller from nothing.
const PART: i64 = 32;

/// The number of the small job, which comes behind all that wait with the lowest priority as well:
/// where no weights are set all jobs have that.
const BEHIND_ALL: JobId = JobId(u32::MAX - MOST_COMING - 1);

impl Pass<'_> {
    /// The prices of a CPU of a partition: [`WINDOW_ENDS`] says until when from now each holds. Of
    /// a partition without CPUs there are none.
    ///
    /// It places those who come once for each window.
    #[must_use]
    pub fn prices(&self, partition: usize) -> Vec<PriceStep> {
        let Setting { state, places, .. } = self.setting();
        let all = places.offered(partition);
        let (Ok(place), Some(of), true) = (u16::try_from(partition), state.partitions.get(partition), all.cpus > 0) else {
            return Vec::new();
        };
        let most_nodes = of.most_nodes.map_or(all.nodes, i64::from);
        let nodes = (all.nodes / PART).clamp(1, most_nodes.max(1));
        // As much of each node as where no limit binds.
        let asks = Resources { nodes, cpus: (all.cpus / PART).min(nodes * all.cpus / all.nodes.max(1)).max(nodes) };
        let mut begin = Seconds::ZERO;
        let price = |until: Seconds| {
            let from = std::mem::replace(&mut begin, until);
            // No job of the partition is longer.
            let time = of.longest_limit.map_or(until - from, |longest| longest.min(until - from)).max(Seconds(1));
            let small = PendingJob {
                id: BEHIND_ALL,
                partitions: vec![place],
                asks,
                tasks: 1,
                // Behind all that wait and before those that come.
                priority: 1,
                eligible: state.now + from,
                limit: Some(time),
                run_time: RunTimes { optimistic: time, expected: time, limit: time },
                ..PendingJob::default()
            };
            // Where jobs get whole nodes it takes more than it asks for.
            let takes = self.setting().needs(&small).ok().and_then(|needs| needs.first().map(|(_, takes)| takes.cpus));
            let area = (time.0 * takes.unwrap_or(all.cpus)).max(1);
            let waited = self.effect(Change::Submitted(&small)).waited();
            // A plan that backfills may be the better for less room by chance, and nobody gains by
            // that.
            PriceStep { until, waited: (waited.max(0) as f64 / area as f64) as f32 }
        };
        WINDOW_ENDS.into_iter().map(price).collect()
    }
}
