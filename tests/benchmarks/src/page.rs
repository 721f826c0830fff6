//! Tables of the documentation that a benchmark draws, and the stored figures that they come from.
//!
//! A page has each of its tables between two comments that name it. The figures lie beside the
//! page, in docs/figures, with the commit that they were measured on. A test of each benchmark
//! draws the tables from the stored figures and compares them with the page.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};
use end_to_end::project;
#[cfg(test)]
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A page of the documentation with tables that are drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    /// The page, seen from the top of the project.
    pub(crate) text: &'static str,
    /// The file with the figures.
    pub(crate) figures: &'static str,
}

/// Figures with the commit that they were measured on.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Stored<T> {
    /// The first eight digits of the commit.
    pub(crate) commit: String,
    /// The figures, log by log in the order of the tables.
    pub(crate) logs: Vec<T>,
}

/// A table in Markdown by the name that it has on the page.
pub(crate) type NamedTable = (&'static str, String);

impl Page {
    /// Reads the stored figures.
    ///
    /// # Errors
    ///
    /// Where there are none, or not of this form.
    #[cfg(test)]
    fn stored<T: DeserializeOwned>(&self) -> anyhow::Result<Stored<T>> {
        let path = path(self.figures);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        serde_json::from_str(&text).with_context(|| path.display().to_string())
    }

    /// Says before anything is measured that it could not be published afterwards.
    ///
    /// # Errors
    ///
    /// Where a file of the project differs from its commit.
    pub(crate) fn expect_committed() -> anyhow::Result<()> {
        commit().map(drop)
    }

    /// Stores figures of the present commit, and puts the tables that `draw` makes of them into the
    /// page.
    ///
    /// # Errors
    ///
    /// Where a file of the project differs from that commit, so that nobody could measure the same
    /// again; where the page lacks a table; or where a file can't be written.
    pub(crate) fn publish<T: Serialize>(&self, logs: Vec<T>, draw: impl Fn(&Stored<T>) -> Vec<NamedTable>) -> anyhow::Result<()> {
        let stored = Stored { commit: commit()?, logs };
        let text = path(self.text);
        let page = fs::read_to_string(&text).with_context(|| text.display().to_string())?;
        let page = with_tables(&page, &draw(&stored)).context(self.text)?;
        let figures = path(self.figures);
        fs::create_dir_all(figures.parent().unwrap_or(Path::new(".")))?;
        fs::write(&figures, serde_json::to_string_pretty(&stored)? + "\n").with_context(|| figures.display().to_string())?;
        fs::write(&text, page).with_context(|| text.display().to_string())
    }

    /// Whether the page has the tables that `draw` makes of the stored figures.
    ///
    /// # Errors
    ///
    /// Names the first line that differs.
    #[cfg(test)]
    pub(crate) fn compare<T: DeserializeOwned>(&self, draw: impl Fn(&Stored<T>) -> Vec<NamedTable>) -> anyhow::Result<()> {
        let page = fs::read_to_string(path(self.text))?;
        let drawn = with_tables(&page, &draw(&self.stored()?)).context(self.text)?;
        for (number, (found, wanted)) in page.lines().zip(drawn.lines()).enumerate() {
            ensure!(found == wanted, "{}: line {}: {found}\nwhere the figures have\n{wanted}", self.text, number + 1);
        }
        ensure!(page == drawn, "{}: a table is longer or shorter than its figures", self.text);
        Ok(())
    }
}

/// The first eight digits of the present commit.
///
/// # Errors
///
/// Where a file of the project outside of docs/ differs from it.
fn commit() -> anyhow::Result<String> {
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    let is_code = |line: &&str| !line.get(3..).is_some_and(|path| path.starts_with("docs/"));
    if let Some(line) = changed.lines().find(is_code) {
        bail!("{} is not committed: commit it first, so that the figures belong to a commit", line.get(3..).unwrap_or(line));
    }
    Ok(git(&["rev-parse", "--short=8", "HEAD"])?.trim().to_owned())
}

fn path(name: &str) -> PathBuf {
    project().join(name)
}

fn git(arguments: &[&str]) -> anyhow::Result<String> {
    let printed = Command::new("git").args(arguments).current_dir(project()).output().context("git")?;
    ensure!(printed.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&printed.stderr));
    Ok(String::from_utf8(printed.stdout)?)
}

/// The text of a page with these tables in the place of those that it has under their names.
///
/// # Errors
///
/// A table that the page has no place for is named.
fn with_tables(page: &str, tables: &[NamedTable]) -> anyhow::Result<String> {
    let mut text = page.to_owned();
    for (name, table) in tables {
        let (begin, end) = (format!("<!-- table {name} -->\n"), format!("<!-- end of table {name} -->\n"));
        let from = text.find(&begin).with_context(|| format!("there is no line '{}'", begin.trim_end()))? + begin.len();
        let length = text.get(from..).and_then(|rest| rest.find(&end));
        let to = from + length.with_context(|| format!("there is no line '{}'", end.trim_end()))?;
        text.replace_range(from..to, &format!("\n{table}\n"));
    }
    Ok(text)
}

/// A table in Markdown: its headings, of which the first so many are words, and its rows.
pub(crate) fn markdown(headings: &[&str], words: usize, rows: &[Vec<String>]) -> String {
    let row = |cells: &mut dyn Iterator<Item = &str>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    let mut text = row(&mut headings.iter().copied());
    let rules: String = (0..headings.len()).map(|column| if column < words { "---|" } else { "--:|" }).collect();
    text += &format!("|{rules}\n");
    for cells in rows {
        text += &row(&mut cells.iter().map(String::as_str));
    }
    text
}

/// What a page calls a log, by the beginning of its file's name.
const NAMES: [(&str, &str); 10] = [
    ("SDSC-SP2", "SDSC SP2"),
    ("SDSC-BLUE", "SDSC Blue"),
    ("HPC2N", "HPC2N"),
    ("CEA-Curie", "CEA Curie"),
    ("KTH-SP2", "KTH SP2"),
    ("SDSC-DS", "SDSC DataStar"),
    ("CTC-SP2", "CTC SP2"),
    ("RICC", "RICC"),
    ("SDSC-Par", "SDSC Paragon"),
    ("DAS2", "DAS2"),
];

/// What a page calls a log. Any other log goes by its own name.
pub(crate) fn title(log: &str) -> &str {
    NAMES.iter().find(|(beginning, _)| log.starts_with(beginning)).map_or(log, |(_, title)| title)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "Before.\n\n<!-- table one -->\n\nold\n<!-- end of table one -->\n\nBehind.\n";

    #[test]
    fn a_table_takes_the_place_of_the_one_before_and_nothing_else_changes() {
        let drawn = with_tables(PAGE, &[("one", "| new |\n".to_owned())]).unwrap();
        assert_eq!(drawn, "Before.\n\n<!-- table one -->\n\n| new |\n\n<!-- end of table one -->\n\nBehind.\n");
        assert_eq!(with_tables(&drawn, &[("one", "| new |\n".to_owned())]).unwrap(), drawn);
    }

    #[test]
    fn a_table_without_a_place_on_the_page_is_named() {
        let error = with_tables(PAGE, &[("two", String::new())]).unwrap_err();
        assert_eq!(error.to_string(), "there is no line '<!-- table two -->'");
        assert!(with_tables("<!-- table one -->\n", &[("one", String::new())]).is_err());
    }

    #[test]
    fn words_stand_on_the_left_and_figures_on_the_right() {
        let rows = [vec!["a".to_owned(), "1".to_owned()]];
        assert_eq!(markdown(&["log", "kept"], 1, &rows), "| log | kept |\n|---|--:|\n| a | 1 |\n");
    }

    #[test]
    fn logs_go_by_the_names_of_their_machines() {
        assert_eq!(title("CTC-SP2-1996-3.1-cln"), "CTC SP2");
        assert_eq!(title("our-own"), "our-own");
    }
}
