//! The manual page of the configuration file, from the file that shows every key:
//! `etc/queuecast.toml`.
//!
//! In that file a comment stands before the keys that it is about, `#key = value` is a key with its
//! default, and `[table]` or `#[table]` begins a table.

use roff::{Roff, bold, roman};

use super::page::title;

const EXAMPLE: &str = include_str!("../../../etc/queuecast.toml");

/// The page in the language of man(7).
pub(super) fn page() -> String {
    let mut page = Roff::new();
    page.control("SH", ["NAME"]);
    let mut lines = EXAMPLE.lines();
    let first = lines.next().unwrap_or_default().trim_start_matches(['#', ' ']).trim_end_matches('.');
    page.text([roman(format!("queuecast.toml - {}", lowercased(first)))]);
    page.control("SH", ["DESCRIPTION"]);
    sections(lines, &mut page);
    page.control("SH", ["EXAMPLES"]);
    page.text([roman("Users of one partition are molded when they ask; everything else is only observed.")]);
    page.control("PP", []);
    page.control("nf", []);
    for line in
        ["[policy]", "mode = \"observe\"", "", "[policy.partition.batch]", "mode = \"enforce\"", "defer = \"never\"", "reserve = \"never\""]
    {
        page.text([roman(line)]);
    }
    page.control("fi", []);
    page.control("SH", ["SEE ALSO"]);
    page.text([roman("queuecastd(8), queuecast(1), slurm.conf(5)")]);
    title("queuecast.toml", 5) + &page.render()
}

fn lowercased(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_lowercase().chain(characters).collect()).unwrap_or_default()
}

/// What is to be said of the keys that follow.
#[derive(Default)]
struct Prose {
    lines: Vec<String>,
    /// Keys that it has been said of already.
    keys: usize,
}

fn sections<'a>(lines: impl Iterator<Item = &'a str>, page: &mut Roff) {
    let mut prose = Prose::default();
    let mut keys: Vec<(String, String)> = Vec::new();
    for line in lines {
        let uncommented = line.strip_prefix('#').unwrap_or(line);
        let is_prose = line == "#" || line.starts_with("# ");
        if is_prose || line.is_empty() || uncommented.starts_with('[') {
            entries(&mut keys, &mut prose, page);
        }
        if is_prose {
            prose.lines.push(uncommented.trim().to_owned());
        } else if line.is_empty() {
            paragraph(&mut prose, page);
        } else if uncommented.starts_with('[') {
            page.control("SH", [uncommented]);
            paragraph(&mut prose, page);
        } else if let Some((key, value)) = uncommented.split_once(" = ") {
            keys.push((key.to_owned(), value.to_owned()));
        }
    }
    entries(&mut keys, &mut prose, page);
}

/// Running text, which no key follows.
fn paragraph(prose: &mut Prose, page: &mut Roff) {
    for line in std::mem::take(prose).lines {
        if line.is_empty() {
            page.control("PP", []);
        } else {
            page.text([roman(line)]);
        }
    }
}

/// Keys that share what is said of them.
fn entries(keys: &mut Vec<(String, String)>, prose: &mut Prose, page: &mut Roff) {
    for (place, (key, value)) in keys.drain(..).enumerate() {
        page.control(if place == 0 { "TP" } else { "TQ" }, []);
        page.text([bold(key), roman(format!(" = {value}"))]);
        prose.keys += 1;
    }
    if prose.keys > 0 {
        std::mem::take(prose).lines.into_iter().for_each(|line| {
            page.text([roman(line)]);
        });
    }
}
