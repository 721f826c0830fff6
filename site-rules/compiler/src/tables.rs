//! Tables to look things up in: from files, or in the rules themselves.

use crate::document::{Document, Entry, Section};
use crate::expression::check::TableNames;
use crate::literal;
use crate::site_tables::divided;
use site_rules::table::{Column, Table};
use site_rules::value::Kind;
use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};

/// The most rows of all tables together.
const MOST_ROWS: usize = 200_000;

/// The column of a table that has one value for each key, without a name.
const VALUE: &str = "value";

/// Reads the text of a file that a rule file names, relative to where that stands.
pub type ReadFile<'r> = dyn Fn(&str) -> Result<String, String> + Sync + 'r;

/// A value of a table.
#[derive(Clone, Debug)]
enum Cell {
    Truth(bool),
    Integer(i64),
    Real(f64),
    Text(String),
    Duration(i64),
    List(Vec<String>),
}

impl Cell {
    fn kind(&self) -> Kind {
        match self {
            Cell::Truth(_) => Kind::Truth,
            Cell::Integer(_) => Kind::Integer,
            Cell::Real(_) => Kind::Real,
            Cell::Text(_) => Kind::Text,
            Cell::Duration(_) => Kind::Duration,
            Cell::List(_) => Kind::Texts,
        }
    }
}

/// Rows by key, each with its cells by column.
type Rows = BTreeMap<String, BTreeMap<String, Cell>>;

/// How the texts of a column are read.
#[derive(Clone, Copy)]
enum Reading {
    Truth,
    Integer,
    Real,
    Text,
    /// A duration in one of Slurm's forms.
    Duration,
    /// An amount of memory as options have it; kept in bytes.
    Memory,
    /// Texts between commas.
    List,
}

/// The names by which a column is given its reading.
const READINGS: [(&str, Reading); 7] = [
    ("bool", Reading::Truth),
    ("int", Reading::Integer),
    ("double", Reading::Real),
    ("string", Reading::Text),
    ("duration", Reading::Duration),
    ("memory", Reading::Memory),
    ("list", Reading::List),
];

/// Reads a table of `[tables]`.
pub(crate) fn table(name: &str, entry: Entry<'_>, read_file: &ReadFile<'_>) -> Option<(Table, TableNames)> {
    let section = entry.section("a table with file or rows")?;
    section.knows(&["file", "key", "kinds", "rows"]);
    let rows = match (section.get("file"), section.get("rows")) {
        (Some(file), None) => from_file(section, file, read_file)?,
        (None, Some(rows)) => {
            let mut rows = from_toml(rows.section("rows by their keys")?)?;
            read_texts(section, &mut rows)?;
            rows
        }
        _ => return entry.error("a table has either file = \"...\" or rows = { ... }"),
    };
    finished(name, entry, &rows)
}

fn from_file(section: Section<'_>, file: Entry<'_>, read_file: &ReadFile<'_>) -> Option<Rows> {
    let path = file.text("the name of a file in quotes")?;
    let text = match read_file(path) {
        Ok(text) => text,
        Err(message) => return file.error(format!("{path} can't be read: {message}")),
    };
    if path.ends_with(".csv") {
        return from_csv(section, file, &text);
    }
    if !path.ends_with(".toml") {
        return file.error("a table is in a file that ends with .csv or .toml");
    }
    let document = Document::new(path, &text);
    let parsed = match DeTable::parse(&text) {
        Ok(parsed) => parsed,
        Err(error) => return file.error(format!("{path}: {}", error.message())),
    };
    let rows = from_toml(Section { document: &document, table: parsed.get_ref(), at: 0 });
    let first = document.into_problems().into_iter().next();
    match (rows, first) {
        (Some(mut rows), None) => {
            read_texts(section, &mut rows)?;
            Some(rows)
        }
        (_, problem) => file.error(problem.map_or_else(|| format!("{path} can't be used"), |problem| problem.to_string())),
    }
}

fn from_csv(section: Section<'_>, file: Entry<'_>, text: &str) -> Option<Rows> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(text.as_bytes());
    let headers = match reader.headers() {
        Ok(headers) => headers.clone(),
        Err(error) => return file.error(format!("the first line has no names of columns: {error}")),
    };
    let key = match section.get("key") {
        Some(key) => {
            let name = key.text("the name of the column with the keys")?;
            match headers.iter().position(|header| header == name) {
                Some(place) => place,
                None => {
                    return key.error(format!("the file has no column {name}; it has {}", headers.iter().collect::<Vec<_>>().join(", ")));
                }
            }
        }
        None => 0,
    };
    let kinds = kinds(section, &headers.iter().collect::<Vec<_>>())?;
    let mut rows = Rows::new();
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => return file.error(error.to_string()),
        };
        let line = record.position().map_or(0, csv::Position::line);
        let mut row = BTreeMap::new();
        for (place, (column, text)) in headers.iter().zip(&record).enumerate() {
            if place == key {
                continue;
            }
            let kind = kinds.get(column).copied().unwrap_or(Reading::Text);
            match cell(text, kind) {
                Ok(cell) => drop(row.insert(column.to_owned(), cell)),
                Err(message) => return file.error(format!("line {line}, column {column}: {message}")),
            }
        }
        let key = record.get(key).unwrap_or_default();
        if rows.insert(key.to_owned(), row).is_some() {
            return file.error(format!("line {line}: the key {key:?} stands twice"));
        }
    }
    Some(rows)
}

/// How the columns are read that `kinds` names.
fn kinds(section: Section<'_>, columns: &[&str]) -> Option<BTreeMap<String, Reading>> {
    let Some(given) = section.get("kinds") else { return Some(BTreeMap::new()) };
    let given = given.section("kinds of columns, as in { nodes = \"int\" }")?;
    given.knows(columns);
    given.entries().map(|(column, _, kind)| Some((column.to_owned(), kind.word(&READINGS)?))).collect()
}

/// Reads the texts of rows of TOML as `kinds` says.
fn read_texts(section: Section<'_>, rows: &mut Rows) -> Option<()> {
    let columns: Vec<String> = rows.values().next().map(|row| row.keys().cloned().collect()).unwrap_or_default();
    let kinds = kinds(section, &columns.iter().map(String::as_str).collect::<Vec<_>>())?;
    for (key, row) in rows {
        for (column, read) in row {
            if let (Cell::Text(text), Some(reading)) = (&*read, kinds.get(column)) {
                match cell(text, *reading) {
                    Ok(cell) => *read = cell,
                    Err(message) => return section.document.error(section.at, format!("{column} of {key:?}: {message}")),
                }
            }
        }
    }
    Some(())
}

fn cell(text: &str, reading: Reading) -> Result<Cell, String> {
    match reading {
        Reading::Truth => text.parse().map(Cell::Truth).map_err(|_| format!("{text:?} is neither true nor false")),
        Reading::Integer => text.parse().map(Cell::Integer).map_err(|_| format!("{text:?} is no whole number")),
        Reading::Real => text.parse().map(Cell::Real).map_err(|_| format!("{text:?} is no number")),
        Reading::Duration => literal::limit(text).map(Cell::Duration),
        Reading::Memory => literal::bytes(text).map(Cell::Integer),
        Reading::List => Ok(Cell::List(divided(text))),
        Reading::Text => Ok(Cell::Text(text.to_owned())),
    }
}

fn from_toml(section: Section<'_>) -> Option<Rows> {
    let mut rows = Rows::new();
    for (key, _, entry) in section.entries() {
        let mut row = BTreeMap::new();
        match entry.value.get_ref() {
            DeValue::Table(_) => {
                for (column, _, value) in entry.section("a row")?.entries() {
                    row.insert(column.to_owned(), cell_of(value)?);
                }
            }
            _ => drop(row.insert(VALUE.to_owned(), cell_of(entry)?)),
        }
        rows.insert(key.to_owned(), row);
    }
    Some(rows)
}

fn cell_of(entry: Entry<'_>) -> Option<Cell> {
    match entry.value.get_ref() {
        DeValue::Array(_) => {
            let texts = entry.list("a list of texts")?.into_iter().map(|text| Some(text.text("a text in quotes")?.to_owned()));
            texts.collect::<Option<Vec<String>>>().map(Cell::List)
        }
        DeValue::String(text) => Some(Cell::Text(text.to_string())),
        DeValue::Boolean(truth) => Some(Cell::Truth(*truth)),
        DeValue::Integer(_) => entry.integer("a whole number").map(Cell::Integer),
        DeValue::Float(number) => number.as_str().parse().ok().map(Cell::Real).or_else(|| entry.error("this is no number")),
        _ => entry.expected("a text, a number, true or false, or a list of texts"),
    }
}

/// Rows of which all have the same columns of the same kinds.
fn finished(name: &str, entry: Entry<'_>, rows: &Rows) -> Option<(Table, TableNames)> {
    let Some(first) = rows.values().next() else { return entry.error(format!("tables.{name} has no rows")) };
    if rows.len() > MOST_ROWS {
        return entry.error(format!("a table has at most {MOST_ROWS} rows"));
    }
    let mut columns = Vec::new();
    for (column, cell) in first {
        let kind = cell.kind();
        let mut values = empty(kind);
        for (key, row) in rows {
            match row.get(column) {
                Some(cell) if cell.kind() == kind => push(&mut values, cell),
                Some(cell) => return entry.error(format!("tables.{name}: {column} of {key:?} is of type {}, not {kind}", cell.kind())),
                None => return entry.error(format!("tables.{name}: {key:?} has no {column}")),
            }
        }
        columns.push((column.clone(), values));
    }
    if let Some((key, _)) = rows.iter().find(|(_, row)| row.len() != columns.len()) {
        return entry.error(format!("tables.{name}: {key:?} has other columns than the others"));
    }
    let names = columns.iter().map(|(column, values)| (column.clone(), values.kind())).collect();
    let table = Table {
        keys: rows.keys().map(|key| key.as_str().into()).collect(),
        columns: columns.into_iter().map(|(_, values)| values).collect(),
    };
    Some((table, TableNames { name: name.to_owned(), columns: names, sparse: Vec::new() }))
}

fn empty(kind: Kind) -> Column {
    match kind {
        Kind::Truth => Column::Truths(Vec::new()),
        Kind::Integer => Column::Integers(Vec::new()),
        Kind::Real => Column::Reals(Vec::new()),
        Kind::Duration => Column::Durations(Vec::new()),
        Kind::Texts => Column::Lists(Vec::new()),
        _ => Column::Texts(Vec::new()),
    }
}

fn push(column: &mut Column, cell: &Cell) {
    match (column, cell) {
        (Column::Truths(values), Cell::Truth(truth)) => values.push(*truth),
        (Column::Integers(values), Cell::Integer(number)) => values.push(*number),
        (Column::Reals(values), Cell::Real(number)) => values.push(*number),
        (Column::Durations(values), Cell::Duration(seconds)) => values.push(*seconds),
        (Column::Texts(values), Cell::Text(text)) => values.push(text.as_str().into()),
        (Column::Lists(values), Cell::List(list)) => values.push(list.iter().map(|text| text.as_str().into()).collect()),
        // The kinds were compared before.
        _ => {}
    }
}
