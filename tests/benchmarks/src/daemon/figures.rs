//! All figures together, and the targets.

use anyhow::ensure;
use serde::{Serialize, Serializer};

use super::learning::Learning;
use super::refreshes::Refreshes;
use super::restart::Restart;
use super::size::Size;
use super::uptake::Uptake;

/// What holds with a million ended jobs and few that wait.
pub(super) const MOST_HISTORY_S: f64 = 60.0;
pub(super) const MOST_REFRESH_MS: f64 = 500.0;

/// What holds always.
pub(super) const MOST_RESIDENT_MIB: f64 = 2_048.0;
pub(super) const MOST_UPTAKE_MS: f64 = 10.0;

/// What was measured. Figures are rounded as they are shown.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    #[serde(flatten)]
    pub(super) size: Size,
    #[serde(flatten)]
    pub(super) learning: Learning,
    /// The most memory that any daemon of the run had resident.
    pub(super) resident_mib: f64,
    #[serde(flatten)]
    pub(super) refreshes: Refreshes,
    #[serde(flatten)]
    pub(super) uptake: Uptake,
    pub(super) restart: Restart,
    /// Seconds that it took to fill slurmdbd; 0 if the jobs were there already.
    pub(super) fill_s: u64,
    /// The name and version of slurmctld. JSON has the version alone.
    #[serde(serialize_with = "version")]
    pub(super) slurm: String,
}

/// What is printed as JSON.
#[derive(Debug, Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    figures: &'a Figures,
    targets_hold: bool,
}

impl Figures {
    pub(super) fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&Report { figures: self, targets_hold: self.missed_targets().is_empty() })
    }

    /// The targets that were missed, one sentence each.
    pub(super) fn missed_targets(&self) -> Vec<String> {
        let mut missed = Vec::new();
        let mut hold_to = |figure: f64, most: f64, sentence: String| {
            if figure > most {
                missed.push(sentence);
            }
        };
        let Figures { learning, refreshes, uptake, resident_mib, .. } = self;
        if !self.size.is_large() {
            let history_s = learning.whole_history_s;
            hold_to(history_s, MOST_HISTORY_S, format!("the whole history took {history_s:.1} s"));
            hold_to(refreshes.refresh_ms, MOST_REFRESH_MS, format!("a refresh took {:.1} ms", refreshes.refresh_ms));
        }
        hold_to(*resident_mib, MOST_RESIDENT_MIB, format!("{resident_mib:.1} MiB were resident"));
        hold_to(uptake.uptake_ms, MOST_UPTAKE_MS, format!("taking up a snapshot took {:.1} ms", uptake.uptake_ms));
        missed
    }

    /// Fails where a figure is nought that never is. That all jobs were there has been waited for.
    pub(super) fn check_all_are_there(&self) -> anyhow::Result<()> {
        let Figures { learning, refreshes, uptake, restart, .. } = self;
        let figures = [
            ("whole_history_s", learning.whole_history_s),
            ("learnt_s", learning.learnt_s),
            ("resident_mib", self.resident_mib),
            ("refresh_ms", refreshes.refresh_ms),
            ("reading_ms", refreshes.reading_ms),
            ("fitting_ms", refreshes.fitting_ms),
            ("writing_ms", refreshes.writing_ms),
            ("snapshot_mib", refreshes.snapshot_mib),
            ("the first submission after a snapshot", uptake.first_submission_ms),
            ("answers while stopped", restart.while_stopped as f64),
        ];
        for (name, figure) in figures {
            ensure!(figure > 0.0, "a figure is nought: {name}");
        }
        Ok(())
    }
}

fn version<S: Serializer>(slurm: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(slurm.split_whitespace().last().unwrap_or_default())
}
