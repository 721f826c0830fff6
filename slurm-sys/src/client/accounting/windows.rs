//! How a long stretch of time is cut into windows, so that no answer of slurmdbd is large.

use std::ops::Range;

/// How many records a window is meant to hold. libslurm holds a whole answer in memory, at 1 to 2
/// kB for each.
const MEANT: usize = 16_000;
const SHORTEST_SECONDS: i64 = 60;
const LONGEST_SECONDS: i64 = 30 * 86_400;
/// The first window, before anything is known of the site: 10 minutes.
const FIRST_SECONDS: i64 = 600;
/// A window is at most so much longer or shorter than the one before, because jobs come in bursts.
const MOST_CHANGE: i64 = 4;
/// An empty window tells of a quiet stretch, and is asked for twice
/// (`AccountingConnection::ended_jobs`).
const MOST_GROWTH_OF_EMPTY: i64 = 16;

/// The width of the next window.
#[derive(Debug, Clone)]
pub struct WindowWidth(i64);

impl Default for WindowWidth {
    fn default() -> Self {
        Self::new()
    }
}

impl WindowWidth {
    /// The width of the first window.
    #[must_use]
    pub fn new() -> Self {
        Self(FIRST_SECONDS)
    }

    /// The last window held so many records.
    pub fn learn(&mut self, records: usize) {
        let [records, meant] = [records, MEANT].map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        let wanted = self.0.saturating_mul(meant) / records.max(1);
        let most_growth = if records == 0 { MOST_GROWTH_OF_EMPTY } else { MOST_CHANGE };
        self.0 = wanted.clamp(self.0 / MOST_CHANGE, self.0 * most_growth).clamp(SHORTEST_SECONDS, LONGEST_SECONDS);
    }

    /// The last so many seconds of a stretch.
    #[must_use]
    pub fn last_of(&self, stretch: &Range<i64>) -> Range<i64> {
        (stretch.end - self.0).max(stretch.start)..stretch.end
    }

    /// The first so many seconds of a stretch.
    #[must_use]
    pub fn first_of(&self, stretch: &Range<i64>) -> Range<i64> {
        stretch.start..(stretch.start + self.0).min(stretch.end)
    }
}
