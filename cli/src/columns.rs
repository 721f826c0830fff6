//! Tables whose columns and order are chosen as squeue's are: `--columns` takes names and sizes as
//! `squeue -O` does, `-o` letters and sizes as `squeue -o` does, and `--sort` names or squeue's
//! letters as `squeue -S` does.

use std::cmp::Ordering;

use anyhow::{Context, anyhow, bail};
use clap::Args;
use comfy_table::{CellAlignment, Table};
use command_parts::output::{Lines, table};
use job_types::time::UnixTime;

/// More than any terminal has columns of characters.
const WIDEST: usize = 4_096;

/// Says how a table is written.
#[derive(Debug, Args)]
pub(crate) struct TableArguments {
    /// Leave out the header, and what stands above it; for programs.
    #[arg(short = 'n', long)]
    pub(crate) noheader: bool,

    /// Which columns, separated by commas, as squeue -O takes them: NAME[:[.]SIZE], where a size
    /// cuts and fills, and a point puts to the right. Names are below.
    #[arg(short = 'O', long, visible_alias = "Format", value_name = "COLUMNS")]
    columns: Option<String>,

    /// Which columns, as squeue -o takes them: %[[.]SIZE]LETTER, where a point puts to the right,
    /// with any text before, between and behind them, as in "%.10i %S". Letters are below.
    #[arg(short = 'o', value_name = "FORMAT", conflicts_with = "columns")]
    line: Option<String>,

    /// In which order, as squeue -S takes it: columns by name or by squeue's letter, separated by
    /// commas, each with + or - before it for ascending (default) or descending.
    #[arg(short = 'S', long, value_name = "COLUMNS", allow_hyphen_values = true)]
    sort: Option<String>,
}

/// What rows are ordered by; what is not known comes last, in either direction.
#[derive(Debug, Clone, PartialEq, PartialOrd)]
pub(crate) enum Key {
    Number(i64),
    Part(f64),
    Text(String),
    Unknown,
}

impl Key {
    /// The key of a number that may be unknown.
    pub(crate) fn of(number: Option<impl Into<i64>>) -> Self {
        number.map_or(Self::Unknown, |number| Self::Number(number.into()))
    }

    /// The key of a text that may be unknown.
    pub(crate) fn named(text: Option<&str>) -> Self {
        text.map_or(Self::Unknown, |text| Self::Text(text.to_owned()))
    }
}

/// A column of a table whose rows are made of `R`.
#[derive(Debug)]
pub(crate) struct Column<R> {
    /// The name of the column: that of squeue -O in small letters, if squeue has the column.
    pub(crate) name: &'static str,
    /// The letter of the column in squeue -o and -S; `None` if squeue has none.
    pub(crate) letter: Option<char>,
    /// What stands above it: squeue's, where squeue has it.
    pub(crate) header: &'static str,
    /// Whether it stands to the right.
    pub(crate) right: bool,
    pub(crate) cell: fn(&R, UnixTime) -> String,
    pub(crate) key: fn(&R) -> Key,
}

/// A column as it was asked for.
#[derive(Debug)]
struct Chosen<R: 'static> {
    column: &'static Column<R>,
    right: bool,
    size: Option<usize>,
    /// What stands behind it, in a line.
    behind: String,
}

/// How the columns stand beside each other.
#[derive(Debug)]
enum Form {
    /// Each as wide as its widest cell.
    Table,
    /// The columns stand one behind the other, with the requested text in between. This text stands
    /// before the first column.
    Line(String),
}

/// A table and an order as they were asked for.
#[derive(Debug)]
pub(crate) struct Layout<R: 'static> {
    form: Form,
    columns: Vec<Chosen<R>>,
    order: Vec<(&'static Column<R>, bool)>,
    pub(crate) noheader: bool,
}

impl TableArguments {
    /// The table and the order that are asked for, of these columns, where `default` names those
    /// without a wish.
    ///
    /// # Errors
    /// What is no column, with those that there are.
    pub(crate) fn layout<R>(&self, all: &'static [Column<R>], default: &str) -> anyhow::Result<Layout<R>> {
        let (form, columns) = match &self.line {
            Some(line) => in_line(line, all).context("-o")?,
            None => {
                let names = self.columns.as_deref().unwrap_or(default).split(',');
                (Form::Table, names.map(|text| chosen(text, all)).collect::<Result<_, _>>().context("--columns")?)
            }
        };
        let order = ordered(self.sort.as_deref().unwrap_or_default(), all).context("--sort")?;
        Ok(Layout { form, columns, order, noheader: self.noheader })
    }
}

impl<R> Layout<R> {
    /// Whether a column is shown or ordered by.
    pub(crate) fn asks_for(&self, names: &[&str]) -> bool {
        let shown = self.columns.iter().map(|chosen| chosen.column.name);
        shown.chain(self.order.iter().map(|(column, _)| column.name)).any(|name| names.contains(&name))
    }

    /// Puts rows in the order that is asked for; rows that are alike in it stay as they are.
    pub(crate) fn sort(&self, rows: &mut [R]) {
        let compare = |left: &R, right: &R, column: &Column<R>, descends: bool| match ((column.key)(left), (column.key)(right)) {
            (Key::Unknown, Key::Unknown) => Ordering::Equal,
            (Key::Unknown, _) => Ordering::Greater,
            (_, Key::Unknown) => Ordering::Less,
            (left, right) => {
                let order = left.partial_cmp(&right).unwrap_or(Ordering::Equal);
                if descends { order.reverse() } else { order }
            }
        };
        rows.sort_by(|left, right| {
            let orders = self.order.iter().map(|(column, descends)| compare(left, right, column, *descends));
            orders.fold(Ordering::Equal, Ordering::then)
        });
    }

    /// Writes the rows, with a header unless it was asked to leave that out.
    pub(crate) fn write(&self, lines: &mut Lines, rows: &[R], now: UnixTime) {
        let header: Vec<String> = self.columns.iter().map(|chosen| chosen.fit(chosen.column.header.to_owned())).collect();
        if let Form::Line(before) = &self.form {
            let joined = |cells: Vec<String>| {
                let cells = cells.into_iter().zip(&self.columns).flat_map(|(cell, chosen)| [cell, chosen.behind.clone()]);
                [before.clone()].into_iter().chain(cells).collect::<String>()
            };
            let cells = |row| self.columns.iter().map(|chosen| chosen.fit((chosen.column.cell)(row, now))).collect();
            let header = (!self.noheader).then_some(header);
            for line in header.into_iter().chain(rows.iter().map(cells)) {
                lines.plain(joined(line));
            }
            return;
        }
        let mut text: Table = table(&header.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
        for (column, chosen) in text.column_iter_mut().zip(&self.columns) {
            if chosen.right {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        for row in rows {
            text.add_row(self.columns.iter().map(|chosen| chosen.fit((chosen.column.cell)(row, now))));
        }
        if self.noheader {
            lines.table_without_header(&text);
        } else {
            lines.table(&text);
        }
    }
}

impl<R> Chosen<R> {
    /// A cell in the size that was asked for: cut, or filled on the side where there is room.
    fn fit(&self, cell: String) -> String {
        let Some(size) = self.size else { return cell };
        let plain = anstream::adapter::strip_str(&cell).to_string();
        let count = plain.chars().count();
        if count > size {
            return plain.chars().take(size).collect();
        }
        let fill = " ".repeat(size - count);
        if self.right { format!("{fill}{cell}") } else { format!("{cell}{fill}") }
    }
}

/// Reads NAME[:[.]SIZE].
fn chosen<R>(text: &str, all: &'static [Column<R>]) -> anyhow::Result<Chosen<R>> {
    let (name, size) = match text.trim().split_once(':') {
        Some((name, size)) => (name, Some(size)),
        None => (text.trim(), None),
    };
    let column = all.iter().find(|column| column.name.eq_ignore_ascii_case(name)).ok_or_else(|| unknown(name, all))?;
    let in_table = |right, size| Chosen { column, right, size, behind: String::new() };
    let Some(size) = size else { return Ok(in_table(column.right, None)) };
    let (right, digits) = match size.strip_prefix('.') {
        Some(digits) => (true, digits),
        None => (false, size),
    };
    match digits.parse() {
        Ok(size) if (1..=WIDEST).contains(&size) => Ok(in_table(right, Some(size))),
        _ if digits.is_empty() && right => Ok(in_table(right, None)),
        _ => bail!("{size:?} behind {name} is no size: write it as {name}:12, or {name}:.12 to have it to the right"),
    }
}

/// Reads %[[.]SIZE]LETTER with any text around.
fn in_line<R>(text: &str, all: &'static [Column<R>]) -> anyhow::Result<(Form, Vec<Chosen<R>>)> {
    let mut fields = text.split('%');
    let before = fields.next().unwrap_or_default().to_owned();
    let columns = fields.map(|field| lettered(field, all)).collect::<anyhow::Result<Vec<_>>>()?;
    if columns.is_empty() {
        bail!("{:?} names no column: write %i, or %.10i to have it to the right in ten characters", job_types::text::shortened(text));
    }
    Ok((Form::Line(before), columns))
}

/// Reads what stands behind a %.
fn lettered<R>(field: &str, all: &'static [Column<R>]) -> anyhow::Result<Chosen<R>> {
    let rest = field.strip_prefix('.').unwrap_or(field);
    let of_size = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
    let (size, rest) = rest.split_at(of_size);
    let mut characters = rest.chars();
    let letter = characters.next();
    let column = all.iter().find(|column| letter.is_some() && column.letter == letter).ok_or_else(|| unknown(&format!("%{field}"), all))?;
    let size = match size.parse() {
        _ if size.is_empty() => None,
        Ok(size) if (1..=WIDEST).contains(&size) => Some(size),
        _ => bail!("{size} in %{field} is no size: 1 to {WIDEST} are"),
    };
    Ok(Chosen { column, right: field.starts_with('.'), size, behind: characters.as_str().to_owned() })
}

/// Reads an order. squeue also takes letters without commas between them, as `P,t,-p` or `Pt-p`.
fn ordered<R>(text: &str, all: &'static [Column<R>]) -> anyhow::Result<Vec<(&'static Column<R>, bool)>> {
    let mut order = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (descends, name) = match part.strip_prefix('-') {
            Some(name) => (true, name),
            None => (false, part.strip_prefix('+').unwrap_or(part)),
        };
        if let Some(column) = all.iter().find(|column| column.name.eq_ignore_ascii_case(name)) {
            order.push((column, descends));
        } else {
            order.extend(letters(part, all).ok_or_else(|| unknown(name, all))?);
        }
    }
    Ok(order)
}

/// Reads squeue's letters with their signs; `None` if one of them is none.
fn letters<R>(text: &str, all: &'static [Column<R>]) -> Option<Vec<(&'static Column<R>, bool)>> {
    let mut order = Vec::new();
    let mut descends = false;
    for letter in text.chars() {
        if letter == '+' || letter == '-' {
            descends = letter == '-';
            continue;
        }
        order.push((all.iter().find(|column| column.letter == Some(letter))?, descends));
        descends = false;
    }
    (!order.is_empty()).then_some(order)
}

fn unknown<R>(name: &str, all: &[Column<R>]) -> anyhow::Error {
    let named = |column: &Column<R>| match column.letter {
        Some(letter) => format!("{} ({letter})", column.name),
        None => column.name.to_owned(),
    };
    let names: Vec<String> = all.iter().map(named).collect();
    anyhow!("there is no column {:?}; there are: {}", job_types::text::shortened(name), names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Row(i64, &'static str, Option<i64>);

    static ALL: [Column<Row>; 3] = [
        Column {
            name: "jobid",
            letter: Some('i'),
            header: "JOBID",
            right: true,
            cell: |row, _| row.0.to_string(),
            key: |row| Key::Number(row.0),
        },
        Column {
            name: "username",
            letter: Some('u'),
            header: "USER",
            right: false,
            cell: |row, _| row.1.into(),
            key: |row| Key::named(Some(row.1)),
        },
        Column {
            name: "starttime",
            letter: Some('S'),
            header: "START_TIME",
            right: false,
            cell: |_, _| "N/A".into(),
            key: |row| Key::of(row.2),
        },
    ];

    fn layout(columns: &str, sort: &str) -> anyhow::Result<Layout<Row>> {
        TableArguments { noheader: false, columns: Some(columns.to_owned()), line: None, sort: Some(sort.to_owned()) }.layout(&ALL, "jobid")
    }

    fn in_line(line: &str) -> anyhow::Result<Layout<Row>> {
        TableArguments { noheader: false, columns: None, line: Some(line.to_owned()), sort: None }.layout(&ALL, "jobid")
    }

    fn sorted(sort: &str) -> Vec<i64> {
        let mut rows = [Row(3, "b", None), Row(1, "a", Some(20)), Row(2, "b", Some(10))];
        layout("jobid", sort).unwrap().sort(&mut rows);
        rows.iter().map(|row| row.0).collect()
    }

    #[test]
    fn rows_are_ordered_by_names_and_by_squeues_letters() {
        assert_eq!((sorted("jobid"), sorted("-i"), sorted("")), (vec![1, 2, 3], vec![3, 2, 1], vec![3, 1, 2]));
        assert_eq!((sorted("-u,+i"), sorted("-ui"), sorted("-username,jobid")), (vec![2, 3, 1], vec![2, 3, 1], vec![2, 3, 1]));
    }

    #[test]
    fn what_is_not_known_comes_last_in_either_direction() {
        assert_eq!((sorted("S"), sorted("-S")), (vec![2, 1, 3], vec![1, 2, 3]));
    }

    #[test]
    fn a_size_cuts_and_fills_and_a_point_puts_to_the_right() {
        let written = |columns: &str| {
            let mut lines = Lines::default();
            layout(columns, "").unwrap().write(&mut lines, &[Row(17, "alice", None)], UnixTime(0));
            lines.text()
        };
        assert_eq!(written("JobID:4,username:3"), "JOBI  USE\n17    ali\n");
        assert_eq!(written("jobid:.6,UserName:.7"), " JOBID     USER\n    17    alice\n");
        assert_eq!(written("username,jobid"), "USER   JOBID\nalice     17\n");
    }

    #[test]
    fn a_line_has_the_text_between_its_letters_and_their_sizes() {
        let written = |line: &str| {
            let mut lines = Lines::default();
            in_line(line).unwrap().write(&mut lines, &[Row(17, "alice", None)], UnixTime(0));
            lines.text()
        };
        assert_eq!(written("%.6i %.3u|%7u|"), " JOBID USE|USER   |\n    17 ali|alice  |\n");
        assert_eq!(written("job %i of %u"), "job JOBID of USER\njob 17 of alice\n");
        for line in ["", "jobid", "%", "%.", "%.9", "%x", "%i %", "%i%%u", "%0i", "%99999i", "%99999999999999999999i"] {
            assert!(in_line(line).is_err(), "{line}");
        }
        assert!(format!("{:#}", in_line("%.8x").err().unwrap()).contains("-o: there is no column \"%.8x\"; there are: jobid (i)"));
    }

    #[test]
    fn what_is_no_column_is_told_with_those_that_there_are() {
        for (columns, sort) in [("jobid,reason", ""), ("jobid", "q"), ("jobid", "-reason"), ("", ""), ("jobid", "-"), ("jobid", "i!")] {
            let error = format!("{:#}", layout(columns, sort).err().unwrap());
            assert!(error.contains("there are: jobid (i), username (u), starttime (S)"), "{error}");
        }
        for size in ["jobid:", "jobid:x", "jobid:0", "jobid:99999", "jobid:-3"] {
            assert!(format!("{:#}", layout(size, "").err().unwrap()).contains("no size"), "{size}");
        }
    }
}
