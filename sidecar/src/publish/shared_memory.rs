//! What this process shares with the filter inside slurmctld: snapshots in sealed memory, and a
//! pages that the filter counts in.

use std::io;

use predictor_core::decisions::refusals::SHOWN;
use predictor_core::snapshot::Announced;
use site_rules::counts;
use slurm_sys::memory::{CountsPage, HandOver, HandedCounts, HandedSnapshot, SealedMemory};

/// Memory that the filter may open.
#[derive(Debug)]
pub(crate) struct SharedMemory {
    page: CountsPage,
    /// The page in which the filter counts by rule.
    rule_page: CountsPage,
    /// The snapshot that was handed over last, and the one before, which a filter may be about to
    /// open.
    snapshots: [Option<SealedMemory>; 2],
}

impl SharedMemory {
    /// Pages in which nobody has counted yet, and no snapshot.
    ///
    /// # Errors
    /// Where the kernel gives no such memory.
    pub(crate) fn new() -> io::Result<Self> {
        let page = CountsPage::create(c"queuecast-counters", SHOWN)?;
        let rule_page = CountsPage::create(c"queuecast-rule-counters", counts::PAGE)?;
        Ok(Self { page, rule_page, snapshots: [None, None] })
    }

    /// Puts a snapshot into memory. Returns where the filter finds it.
    ///
    /// # Errors
    /// Where the kernel gives no memory, or the bytes are no snapshot.
    pub(crate) fn share(&mut self, snapshot: &[u8]) -> io::Result<HandOver> {
        let Announced { length, generation, checksum } =
            Announced::of(snapshot).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        let memory = SealedMemory::of(c"queuecast-snapshot", snapshot)?;
        let handed = HandedSnapshot { descriptor: memory.descriptor(), generation, length, checksum };
        let hand_over = HandOver::by_this_process(handed, HandedCounts { descriptor: self.page.descriptor() })?
            .with_rule_counts(HandedCounts { descriptor: self.rule_page.descriptor() });
        let [latest, before] = &mut self.snapshots;
        *before = latest.replace(memory);
        Ok(hand_over)
    }

    /// Returns who counts in the page, and the counts.
    pub(crate) fn counted(&self) -> Option<(u64, Vec<u64>)> {
        self.page.read()
    }

    /// Returns who counts by rule, and the counts.
    pub(crate) fn counted_by_rule(&self) -> Option<(u64, Vec<u64>)> {
        self.rule_page.read()
    }
}
