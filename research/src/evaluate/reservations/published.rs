//! The published figures, to stand beside ours (Nurmi, Wolski and Brevik 2008, tables 2 to 4).

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// A cell of table 4: on the log of one queue.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Simulated {
    share: f64,
    probability: f64,
    predicted: f64,
    kept: f64,
    count: usize,
}

/// A probability of tables 2 and 3: seven machines together, with jobs of the authors' own.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct LiveExperiment {
    probability: f64,
    predicted: f64,
    kept: f64,
    count: usize,
    required_node_hours: f64,
    used_node_hours: f64,
}

/// The figures as the file beside this one has them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    simulated: Vec<Simulated>,
    live: Vec<LiveExperiment>,
}

/// The file is part of the program, and a test reads it.
static FILE: LazyLock<File> = LazyLock::new(|| toml::from_str(include_str!("published.toml")).unwrap_or_default());

/// What was published about a question like this one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Published {
    pub(super) mean_predicted: f64,
    pub(super) kept_part: f64,
    pub(super) accepted: usize,
    /// Node-hours used over node-hours required, where that was published.
    pub(super) cost_ratio: Option<f64>,
    pub(super) source: &'static str,
}

impl Published {
    /// Returns the published figures of replays of SDSC DataStar in which this part of the jobs
    /// asks for this probability.
    pub(super) fn of_share(share: f64, probability: f64) -> Option<Self> {
        let found = FILE.simulated.iter().find(|cell| (cell.share, cell.probability) == (share, probability))?;
        Some(Self {
            mean_predicted: found.predicted,
            kept_part: found.kept,
            accepted: found.count,
            cost_ratio: None,
            source: "Nurmi, Wolski and Brevik 2008, table 4 (queue normal of SDSC DataStar)",
        })
    }

    /// Returns the published figures of the experimenter's own jobs that ask for this probability.
    pub(super) fn of_own_jobs(probability: f64) -> Option<Self> {
        let found = FILE.live.iter().find(|live| live.probability == probability)?;
        Some(Self {
            mean_predicted: found.predicted,
            kept_part: found.kept,
            accepted: found.count,
            cost_ratio: Some(found.used_node_hours / found.required_node_hours),
            source: "Nurmi, Wolski and Brevik 2008, tables 2 and 3 (live, on seven machines together)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_figures_are_those_of_the_tables() {
        let file: File = toml::from_str(include_str!("published.toml")).unwrap();
        assert_eq!((file.simulated.len(), file.live.len()), (9, 3));
        let cell = Published::of_share(0.5, 0.95).unwrap();
        assert_eq!((cell.mean_predicted, cell.kept_part, cell.accepted), (0.96, 0.84, 194));
        assert_eq!(Published::of_share(0.2, 0.95), None);
        // The ratios of table 3 follow from its sums.
        let ratios = [0.5, 0.75, 0.95].map(|probability| Published::of_own_jobs(probability).unwrap().cost_ratio.unwrap());
        assert_eq!(ratios.map(|ratio| (ratio * 100.0).round()), [122.0, 119.0, 228.0]);
    }
}
