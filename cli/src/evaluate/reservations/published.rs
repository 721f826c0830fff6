//! The published figures, to stand beside ours (Nurmi, Wolski and Brevik 2008, table 4).

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

/// The figures as the file beside this one has them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    simulated: Vec<Simulated>,
}

/// The file is part of the program, and a test reads it.
static FILE: LazyLock<File> = LazyLock::new(|| toml::from_str(include_str!("published.toml")).unwrap_or_default());

/// What was published about a question like this one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Published {
    pub(super) mean_predicted: f64,
    pub(super) kept_part: f64,
    pub(super) accepted: usize,
    pub(super) source: &'static str,
}

impl Published {
    /// Of replays of SDSC DataStar: where this part of the jobs asks for this probability.
    pub(super) fn of_share(share: f64, probability: f64) -> Option<Self> {
        let found = FILE.simulated.iter().find(|cell| (cell.share, cell.probability) == (share, probability))?;
        Some(Self {
            mean_predicted: found.predicted,
            kept_part: found.kept,
            accepted: found.count,
            source: "Nurmi, Wolski and Brevik 2008, table 4 (queue normal of SDSC DataStar)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_figures_are_those_of_the_tables() {
        let file: File = toml::from_str(include_str!("published.toml")).unwrap();
        assert_eq!(file.simulated.len(), 9);
        let cell = Published::of_share(0.5, 0.95).unwrap();
        assert_eq!((cell.mean_predicted, cell.kept_part, cell.accepted), (0.96, 0.84, 194));
        assert_eq!(Published::of_share(0.2, 0.95), None);
    }
}
