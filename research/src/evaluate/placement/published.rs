//! The published figures, to stand beside ours (Röblitz and Rzadca 2006, sections 5.2 and 5.3, and
//! table 1).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// Success rates of a method.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rates {
    pub(super) method: String,
    pub(super) success_rate: f64,
    pub(super) small_success_rate: f64,
    pub(super) high_load_success_rate: f64,
}

/// Rows of table 1 of one method under one scheduler.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Delayed {
    /// As the table calls it.
    pub(super) scheduler: String,
    /// The method, where it was replayed under the scheduler that is replayed here.
    pub(super) method: Option<String>,
    /// Book-ahead in hours, delayed jobs, and their mean waits in seconds without reservations and
    /// with them.
    pub(super) delayed: Vec<[i64; 4]>,
}

/// The figures as the file beside this one has them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rates: Vec<Rates>,
    table: Vec<Delayed>,
}

/// The file is part of the program, and a test reads it.
static FILE: LazyLock<File> = LazyLock::new(|| toml::from_str(include_str!("published.toml")).unwrap_or_default());

/// The window of table 1, in seconds.
pub(super) const TABLE_WINDOW_S: i64 = 30 * 3_600;

/// What was published of the log of SDSC Blue Horizon.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Published {
    summary: Vec<Rates>,
    table_1: Vec<Delayed>,
    source: &'static str,
}

impl Published {
    /// Returns all that was published.
    pub(super) fn all() -> Self {
        Self { summary: FILE.rates.clone(), table_1: FILE.table.clone(), source: "Röblitz and Rzadca 2006, sections 5.2 and 5.3, table 1" }
    }

    /// Returns the success rates of a method.
    pub(super) fn rates(&self, method: &str) -> Option<&Rates> {
        self.summary.iter().find(|rates| rates.method == method)
    }

    /// Returns the rows of table 1 of a method, by book-ahead in hours.
    pub(super) fn delayed(&self, method: &str) -> BTreeMap<i64, [i64; 3]> {
        let ours = self.table_1.iter().filter(|rows| rows.method.as_deref() == Some(method));
        ours.flat_map(|rows| rows.delayed.iter().map(|&[book_ahead, rest @ ..]| (book_ahead, rest))).collect()
    }

    /// Returns the rows of table 1 under a scheduler that is not replayed here.
    pub(super) fn only_published(&self) -> impl Iterator<Item = &Delayed> {
        self.table_1.iter().filter(|rows| rows.method.is_none())
    }

    pub(super) fn source(&self) -> &'static str {
        self.source
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_figures_are_those_of_the_text_and_the_table() {
        let file: File = toml::from_str(include_str!("published.toml")).unwrap();
        assert_eq!((file.rates.len(), file.table.len()), (2, 3));
        let published = Published::all();
        assert_eq!(published.rates("what-if").unwrap().small_success_rate, 0.92);
        assert_eq!(published.rates("earliest"), None);
        assert_eq!(published.delayed("load")[&6], [357, 1_984, 11_036]);
        assert_eq!(published.delayed("what-if").len(), 6);
        assert_eq!(published.only_published().map(|rows| rows.scheduler.as_str()).collect::<Vec<_>>(), ["load-Maui"]);
    }
}
