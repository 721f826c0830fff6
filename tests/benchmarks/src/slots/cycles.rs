//! slurmctld's passes over the queue, with firm slots and without, as sdiag tells them.

use std::time::Duration;

use anyhow::{Context, ensure};
use serde::Serialize;

use super::{Extent, SOON};
use crate::private_cluster::PrivateCluster;
use crate::statistics::rounded;

/// How long passes are waited for.
const PASSES: Duration = Duration::from_secs(1_200);

/// The mean time of slurmctld's passes with so many firm slots.
#[derive(Debug, Serialize)]
pub(super) struct Cycles {
    pub(super) slots: usize,
    pub(super) main_passes: u64,
    pub(super) main_mean_ms: f64,
    pub(super) backfill_passes: u64,
    pub(super) backfill_mean_ms: f64,
}

impl PrivateCluster {
    /// Times slurmctld's passes with each number of firm slots, making those that lack.
    ///
    /// # Errors
    /// Where a slot is refused, or slurmctld does not come to its passes.
    pub(super) fn measure_cycles(&self, extent: &Extent) -> anyhow::Result<Vec<Cycles>> {
        let mut made = 0;
        let mut measured = Vec::new();
        for &slots in &extent.slots {
            while made < slots {
                let slot = self.asked_by(made, &["reserve", "--between", "now+1hour,now+7days", "-N1", "-t24:00:00", "--json"])?;
                ensure!(!slot["name"].is_null(), "a firm slot was refused: {slot}");
                made += 1;
            }
            let there = self.ask("scontrol", &["-o", "show", "reservations"])?;
            let there = there.matches("ReservationName=queuecast-").count();
            ensure!(there == slots, "slurmctld has {there} firm slots instead of {slots}");
            measured.push(self.cycles(slots, extent.passes)?);
        }
        Ok(measured)
    }

    fn cycles(&self, slots: usize, passes: u64) -> anyhow::Result<Cycles> {
        self.ask("sdiag", &["--reset"])?;
        let timed = self.wait(PASSES.max(SOON), || {
            let told = told(&self.ask("sdiag", &[])?);
            Ok(told.filter(|[(main, _), (backfill, _)]| *main >= passes && *backfill >= passes))
        })?;
        let [(main_passes, main_us), (backfill_passes, backfill_us)] = timed.context("slurmctld makes no passes over the queue")?;
        let milliseconds = |microseconds: u64| rounded(microseconds as f64 / 1_000.0, 2);
        Ok(Cycles { slots, main_passes, main_mean_ms: milliseconds(main_us), backfill_passes, backfill_mean_ms: milliseconds(backfill_us) })
    }
}

/// How many main and backfill passes there were, and how many microseconds each took in the mean.
fn told(statistics: &str) -> Option<[(u64, u64); 2]> {
    let (_, main) = statistics.split_once("Main schedule statistics")?;
    let (main, backfill) = main.split_once("Backfilling stats")?;
    let number = |part: &str, name: &str| {
        let line = part.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().parse().ok()
    };
    let passes = |part: &str| Some((number(part, "Total cycles")?, number(part, "Mean cycle")?));
    Some([passes(main)?, passes(backfill)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATISTICS: &str = "Jobs submitted: 4\n\nMain schedule statistics (microseconds):\n\tLast cycle:   250\n\tMax cycle:    701\n\
        \tTotal cycles: 12\n\tMean cycle:   231\n\tMean depth cycle:  3\n\nBackfilling stats\n\tTotal backfilled jobs (since last \
        slurm start): 0\n\tTotal cycles: 5\n\tLast cycle: 1950\n\tMax cycle:  2100\n\tMean cycle: 1940\n\tMean depth cycle: 4\n";

    #[test]
    fn main_passes_are_told_from_those_of_backfill() {
        assert_eq!(told(STATISTICS), Some([(12, 231), (5, 1_940)]));
    }

    #[test]
    fn where_there_was_no_pass_yet_nothing_is_told() {
        assert_eq!(told(&STATISTICS.replace("\tMean cycle: 1940\n", "")), None);
        assert_eq!(told(""), None);
    }
}
