//! All figures together, and the targets.

use std::fs;

use anyhow::Context;
use serde::Serialize;

use super::Extent;
use super::cycles::Cycles;
use super::probes::{Asked, Probes, Refreshes};
use crate::private_cluster::PrivateCluster;
use crate::statistics::rounded;

/// The longest that a probe of a hundred slots may take (p99): behind at most a thousand jobs that
/// wait, and behind more.
const MOST_PROBE_S: f64 = 1.0;
const MOST_LONG_PROBE_S: f64 = 5.0;
/// How many MiB more the daemon may need for probes.
const MOST_MEMORY_MIB: f64 = 50.0;
/// How much later than alone a snapshot may be beside ten probes.
const MOST_RATIO: f64 = 1.1;

#[derive(Debug, Serialize)]
struct Memory {
    resident_before_mib: f64,
    resident_after_mib: f64,
}

/// What was measured. Figures are rounded as they are shown.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    slurm: String,
    waiting: u64,
    probe: Probes,
    memory: Memory,
    refresh: Refreshes,
    slurmctld: Vec<Cycles>,
}

impl Figures {
    /// Measures them one after the other.
    ///
    /// # Errors
    /// Where something does not measure what it says.
    pub(super) fn measure(site: &PrivateCluster, extent: &Extent) -> anyhow::Result<Figures> {
        let mut asked = Asked::start(site, extent)?;
        let resident_before_mib = resident_mib(asked.daemon.process_id())?;
        let probe = asked.measure_probes(extent)?;
        let refresh = asked.measure_refreshes(extent)?;
        let resident_after_mib = resident_mib(asked.daemon.process_id())?;
        let slurmctld = site.measure_cycles(extent)?;
        let slurm = site.ask("slurmctld", &["-V"])?.split_whitespace().last().unwrap_or_default().to_owned();
        let memory = Memory { resident_before_mib, resident_after_mib };
        Ok(Figures { slurm, waiting: extent.waiting, probe, memory, refresh, slurmctld })
    }

    pub(super) fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    fn most_probe_s(&self) -> f64 {
        if self.waiting > 1_000 { MOST_LONG_PROBE_S } else { MOST_PROBE_S }
    }

    pub(super) fn print(&self) {
        let Figures { slurm, waiting, probe, memory, refresh, slurmctld } = self;
        println!("firm slots behind {waiting} jobs that wait, Slurm {slurm}");
        let row = |what: &str, figure: String, unit: &str, target: String| println!("{what:<48} {figure:>10} {unit:<4} {target}");
        row(&format!("a probe of {} slots, median of {}", probe.slots, probe.probes), probe.median_s.to_string(), "s", String::new());
        row("  p99", probe.p99_s.to_string(), "s", format!("at most {}", self.most_probe_s()));
        let [before, after] = [memory.resident_before_mib, memory.resident_after_mib];
        row("memory of queuecastd before probes", before.to_string(), "MiB", String::new());
        row("  after them", after.to_string(), "MiB", format!("at most {} more", MOST_MEMORY_MIB));
        row("a refresh alone", refresh.alone_ms.to_string(), "ms", String::new());
        row("  beside ten probes", refresh.beside_probes_ms.to_string(), "ms", format!("ratio {}, at most {MOST_RATIO}", refresh.ratio));
        for Cycles { slots, main_passes, main_mean_ms, backfill_passes, backfill_mean_ms } in slurmctld {
            println!(
                "slurmctld with {slots} firm slots: main pass {main_mean_ms} ms (of {main_passes}), backfill {backfill_mean_ms} ms \
                 (of {backfill_passes})"
            );
        }
    }

    /// The targets that were missed, one sentence each.
    pub(super) fn missed_targets(&self) -> Vec<String> {
        let more_mib = rounded(self.memory.resident_after_mib - self.memory.resident_before_mib, 1);
        let held = [
            (self.probe.p99_s, self.most_probe_s(), format!("a probe took {} s", self.probe.p99_s)),
            (more_mib, MOST_MEMORY_MIB, format!("probes took {more_mib} MiB")),
            (self.refresh.ratio, MOST_RATIO, format!("a refresh took {} times as long beside ten probes", self.refresh.ratio)),
        ];
        held.into_iter().filter(|(figure, most, _)| figure > most).map(|(_, _, sentence)| sentence).collect()
    }
}

/// The most memory that a process has had resident.
fn resident_mib(process: u32) -> anyhow::Result<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).context("queuecastd's memory")?;
    crate::daemon::most_resident_mib(&status).context("the kernel does not tell how much memory queuecastd has had")
}
