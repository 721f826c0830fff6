//! The figures of the benchmark of submissions, and whether they are as good as they should be.

use serde::Serialize;
use serde_json::{Value, json};

use super::row::Row;
use super::{Benchmark, Extent};
use crate::format::Format;
use crate::submissions::Summary;

/// What the rows may add at most, in microseconds; the molded ones are held against the Lua script.
const MOST_NOTHING_ASKED_US: f64 = 10.0;
const MOST_RESERVED_US: f64 = 100.0;

pub(super) struct Report {
    entries: Vec<Entry>,
    extent: Extent,
    slurm: String,
}

/// One row behind one queue.
#[derive(Serialize)]
struct Entry {
    queued: usize,
    row: Row,
    #[serde(flatten)]
    summary: Summary,
    /// What it may add at most; `None` where it has no target.
    at_most_us: Option<f64>,
}

impl Report {
    pub(super) fn new(benchmark: &Benchmark<'_>) -> anyhow::Result<Report> {
        let mut entries = Vec::new();
        for queued in &benchmark.extent.queues {
            let series = |row| benchmark.series.get(&(*queued, row));
            let summary = |row: Row| Some(series(row)?.summary(series(row.base())?));
            let lua_adds_us = summary(Row::Lua).map(|lua| lua.adds_us);
            for row in &benchmark.extent.rows {
                let Some(summary) = summary(*row) else { continue };
                entries.push(Entry { queued: *queued, row: *row, summary, at_most_us: at_most_us(*row, lua_adds_us) });
            }
        }
        Ok(Report { entries, extent: benchmark.extent.clone(), slurm: benchmark.site.setting("SLURM_VERSION")? })
    }

    /// The targets that were missed, one sentence each.
    pub(super) fn missed(&self) -> Vec<String> {
        self.entries.iter().filter_map(Entry::missed).collect()
    }

    pub(super) fn print(&self, format: Format) {
        match format {
            Format::Text => self.print_text(),
            Format::Json => println!("{}", self.object()),
        }
    }

    fn print_text(&self) {
        let Report { extent: Extent { submissions, rounds, queues, .. }, slurm, .. } = self;
        for queued in queues {
            let medians = format!("median of {rounds} rounds of {submissions} submissions behind {queued} jobs, in microseconds");
            println!("Mean time of one submission in slurmctld {slurm}: {medians}");
            println!("{:<16} {:>10} {:>10} {:>10} {:>10}   quartiles of what it adds", "row", "median", "adds", "at most", "callback");
            for entry in self.entries.iter().filter(|entry| entry.queued == *queued) {
                entry.print();
            }
        }
    }

    fn object(&self) -> Value {
        json!({
            "rows": self.entries,
            "submissions": self.extent.submissions,
            "rounds": self.extent.rounds,
            // The benchmark ends at a row that is not.
            "every_row_as_named": true,
            "within_targets": self.missed().is_empty(),
            "slurm": self.slurm,
        })
    }
}

impl Entry {
    fn missed(&self) -> Option<String> {
        let Entry { queued, row, summary: Summary { adds_us, .. }, at_most_us } = self;
        let at_most_us = at_most_us.filter(|at_most_us| adds_us > at_most_us)?;
        Some(format!("behind {queued} jobs {} adds more than it may: {adds_us:.1} against {at_most_us} us", row.name()))
    }

    fn print(&self) {
        let Summary { median_us, adds_us, callback_us, .. } = self.summary;
        let at_most_us = self.at_most_us.map(|at_most_us| at_most_us.to_string()).unwrap_or_default();
        let figures = format!("{median_us:>10.1} {adds_us:>10.1} {at_most_us:>10} {callback_us:>10.1}");
        println!("{:<16} {figures}   {}", self.row.name(), self.summary.quartiles());
    }
}

/// What a row may add at most, where the empty Lua script adds so much.
fn at_most_us(row: Row, lua_adds_us: Option<f64>) -> Option<f64> {
    match row {
        Row::None | Row::NoneLater | Row::Lua => None,
        Row::NothingAsked => Some(MOST_NOTHING_ASKED_US),
        Row::MoldedPlan | Row::MoldedNoPlan => lua_adds_us,
        Row::ReserveAt | Row::AllThree => Some(MOST_RESERVED_US),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(row: Row, adds_us: f64) -> Entry {
        let summary = Summary { median_us: 300.0, adds_us, quartiles_us: [0.0, 0.0], callback_us: 9.0 };
        Entry { queued: 100, row, summary, at_most_us: at_most_us(row, Some(16.3)) }
    }

    #[test]
    fn a_row_that_adds_more_than_it_may_is_told() {
        assert_eq!(entry(Row::NothingAsked, 10.0).missed(), None);
        let missed = entry(Row::NothingAsked, 10.1).missed().unwrap();
        assert_eq!(missed, "behind 100 jobs nothing-asked adds more than it may: 10.1 against 10 us");
        assert_eq!(entry(Row::MoldedPlan, 16.3).missed(), None);
        assert!(entry(Row::MoldedPlan, 16.4).missed().is_some());
        assert_eq!(entry(Row::Lua, 1_000.0).missed(), None);
    }
}
