//! A file of rules as TOML, with the places of what stands in it.

use crate::problem::{Problem, Severity, line_and_column, suggestion};
use std::cell::RefCell;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A file that is compiled, and what is found wrong with it.
pub(crate) struct Document<'d> {
    pub(crate) name: &'d str,
    pub(crate) text: &'d str,
    problems: RefCell<Vec<Problem>>,
}

impl<'d> Document<'d> {
    pub(crate) fn new(name: &'d str, text: &'d str) -> Self {
        Document { name, text, problems: RefCell::default() }
    }

    /// Notes an error at a place; nothing can be made of what stands there.
    pub(crate) fn error<T>(&self, offset: usize, message: impl Into<String>) -> Option<T> {
        self.note(Severity::Error, offset, message.into());
        None
    }

    /// Notes a warning at a place.
    pub(crate) fn warn(&self, offset: usize, message: impl Into<String>) {
        self.note(Severity::Warning, offset, message.into());
    }

    fn note(&self, severity: Severity, offset: usize, message: String) {
        let (line, column) = line_and_column(self.text, offset);
        self.problems.borrow_mut().push(Problem { severity, file: self.name.to_owned(), line, column, message });
    }

    pub(crate) fn into_problems(self) -> Vec<Problem> {
        let mut problems = self.problems.into_inner();
        problems.sort_by_key(|problem| (problem.line, problem.column));
        problems
    }
}

/// A table of a document.
#[derive(Clone, Copy)]
pub(crate) struct Section<'d> {
    pub(crate) document: &'d Document<'d>,
    pub(crate) table: &'d DeTable<'d>,
    /// The place in the document at which the table begins.
    pub(crate) at: usize,
}

/// A value of a document.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'d> {
    pub(crate) document: &'d Document<'d>,
    pub(crate) value: &'d Spanned<DeValue<'d>>,
}

impl<'d> Section<'d> {
    /// What stands under a key.
    pub(crate) fn get(self, key: &str) -> Option<Entry<'d>> {
        self.table.get(key).map(|value| Entry { document: self.document, value })
    }

    /// All keys, with their places and what stands under them.
    pub(crate) fn entries(self) -> impl Iterator<Item = (&'d str, usize, Entry<'d>)> {
        let document = self.document;
        self.table.iter().map(move |(key, value)| (&**key.get_ref(), key.span().start, Entry { document, value }))
    }

    /// Notes each key that is none of those that are known.
    pub(crate) fn knows(self, known: &[&str]) {
        for (key, at, _) in self.entries() {
            if !known.contains(&key) {
                let remedy = match suggestion(key, known.iter().copied()) {
                    closest if closest.is_empty() => format!("; known are {}", known.join(", ")),
                    closest => closest,
                };
                self.document.error::<()>(at, format!("unknown key {key}{remedy}"));
            }
        }
    }
}

impl<'d> Entry<'d> {
    pub(crate) fn span(self) -> Range<usize> {
        self.value.span()
    }

    pub(crate) fn at(self) -> usize {
        self.span().start
    }

    pub(crate) fn error<T>(self, message: impl Into<String>) -> Option<T> {
        self.document.error(self.at(), message)
    }

    /// Says which type is expected here.
    pub(crate) fn expected<T>(self, what: &str) -> Option<T> {
        self.error(format!("{what} is expected here, not a TOML {}", self.value.get_ref().type_str()))
    }

    pub(crate) fn text(self, what: &str) -> Option<&'d str> {
        self.value.get_ref().as_str().or_else(|| self.expected(what))
    }

    pub(crate) fn truth(self) -> Option<bool> {
        self.value.get_ref().as_bool().or_else(|| self.expected("true or false"))
    }

    pub(crate) fn integer(self, what: &str) -> Option<i64> {
        let Some(integer) = self.value.get_ref().as_integer() else { return self.expected(what) };
        i64::from_str_radix(integer.as_str(), integer.radix()).ok().or_else(|| self.error("this number is too large"))
    }

    pub(crate) fn section(self, what: &str) -> Option<Section<'d>> {
        match self.value.get_ref().as_table() {
            Some(table) => Some(Section { document: self.document, table, at: self.at() }),
            None => self.expected(what),
        }
    }

    pub(crate) fn list(self, what: &str) -> Option<Vec<Entry<'d>>> {
        let Some(list) = self.value.get_ref().as_array() else { return self.expected(what) };
        Some(list.iter().map(|value| Entry { document: self.document, value }).collect())
    }

    /// Reads one of a few words.
    pub(crate) fn word<T: Copy>(self, words: &[(&str, T)]) -> Option<T> {
        let names = || words.iter().map(|(name, _)| format!("\"{name}\"")).collect::<Vec<_>>().join(" or ");
        let word = self.text(&names())?;
        match words.iter().find(|(name, _)| *name == word) {
            Some((_, value)) => Some(*value),
            None => self.error(format!("{} is expected here, not {word:?}", names())),
        }
    }

    /// The place in the file of a place in a text that stands here in quotes.
    pub(crate) fn place_in_text(self, offset: usize) -> usize {
        let span = self.span();
        let raw = self.document.text.get(span.clone()).unwrap_or_default();
        let quotes = if raw.starts_with("'''") || raw.starts_with("\"\"\"") { 3 } else { 1 };
        let opening = quotes + usize::from(quotes == 3 && raw.get(3..).is_some_and(|rest| rest.starts_with('\n')));
        let has_escapes = raw.starts_with('"') && raw.contains('\\');
        // Escapes make places in the text differ from those in the file.
        if has_escapes { span.start } else { (span.start + opening + offset).min(span.end) }
    }
}
