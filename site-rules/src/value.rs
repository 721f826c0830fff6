//! Values that expressions are evaluated with. None of them owns anything.

use crate::licenses;
use crate::resources;
pub use crate::resources::Resource;
use job_types::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The kind of a value, known when rules are loaded. It is shown by its name in the Common
/// Expression Language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::Display)]
pub enum Kind {
    /// `bool`.
    #[strum(serialize = "bool")]
    Truth,
    /// `int`: a number, or an amount of memory in bytes.
    #[strum(serialize = "int")]
    Integer,
    /// `double`.
    #[strum(serialize = "double")]
    Real,
    /// `string`.
    #[strum(serialize = "string")]
    Text,
    /// `duration`, in whole seconds.
    #[strum(serialize = "duration")]
    Duration,
    /// `timestamp`, in whole seconds.
    #[strum(serialize = "timestamp")]
    Moment,
    /// `list(string)`.
    #[strum(serialize = "list(string)")]
    Texts,
    /// A list of generic resources, such as those of `--gres`.
    #[strum(serialize = "list(resource)")]
    Resources,
    /// `map(string, string)`, such as an environment.
    #[strum(serialize = "map(string, string)")]
    Variables,
}

/// A value, borrowed from what it is read of.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// `bool`.
    Truth(bool),
    /// `int`.
    Integer(i64),
    /// `double`.
    Real(f64),
    /// `string`.
    Text(&'a str),
    /// `duration`.
    Duration(Seconds),
    /// `timestamp`.
    Moment(UnixTime),
    /// `list(string)`.
    Texts(Texts<'a>),
    /// A list of generic resources.
    Resources(Resources<'a>),
}

/// A list of texts.
#[derive(Clone, Copy, Debug)]
pub enum Texts<'a> {
    /// What stands between separators in one text; empty parts are left out.
    Separated(&'a str, char),
    /// A list of its own.
    Listed(&'a dyn TextList),
    /// What an expression has made: behind each text stands a zero byte, which none of them holds.
    Ended(&'a str),
    /// What stands between separators in one text, with its empty parts; the characters of the text
    /// where the separator is empty.
    Split(&'a str, &'a str),
    /// The names of the licences in a request for them ([`crate::licenses`]).
    Licenses(&'a str),
}

/// A list of texts that are kept elsewhere, such as the arguments of a script.
pub trait TextList: std::fmt::Debug {
    /// The text at a place; `None` behind the last.
    fn text(&self, place: usize) -> Option<&str>;

    /// How many bytes it is to go through to read the text at a place, found without doing so;
    /// `None` behind the last. Of a text that may not be read it is more than any budget has.
    fn work(&self, place: usize) -> Option<usize> {
        self.text(place).map(str::len)
    }
}

/// Generic resources as Slurm writes them, for example `gres/gpu:a100:2,gres/shard:4`.
#[derive(Clone, Copy, Debug)]
pub struct Resources<'a>(pub &'a str);

impl Value<'_> {
    /// What kind of value it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Value::Truth(_) => Kind::Truth,
            Value::Integer(_) => Kind::Integer,
            Value::Real(_) => Kind::Real,
            Value::Text(_) => Kind::Text,
            Value::Duration(_) => Kind::Duration,
            Value::Moment(_) => Kind::Moment,
            Value::Texts(_) => Kind::Texts,
            Value::Resources(_) => Kind::Resources,
        }
    }
}

/// Shows a value whole, as logs and tests do: durations and timestamps as their seconds, lists with
/// bars between their texts. What messages show to users is shorter.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Truth(truth) => truth.fmt(f),
            Value::Integer(number) => number.fmt(f),
            Value::Real(number) => number.fmt(f),
            Value::Text(text) | Value::Resources(Resources(text)) => f.write_str(text),
            Value::Duration(Seconds(seconds)) => write!(f, "{seconds}s"),
            Value::Moment(UnixTime(seconds)) => write!(f, "@{seconds}"),
            Value::Texts(texts) => texts.iter().enumerate().try_for_each(|(place, text)| {
                let bar = if place == 0 { "" } else { "|" };
                write!(f, "{bar}{text}")
            }),
        }
    }
}

impl<'a> Texts<'a> {
    /// The texts in their order.
    pub fn iter(self) -> impl Iterator<Item = &'a str> {
        let mut cursor = 0;
        std::iter::from_fn(move || self.next(&mut cursor))
    }

    /// The text at a cursor, which is 0 at first and is put behind that text.
    pub(crate) fn next(self, cursor: &mut usize) -> Option<&'a str> {
        match self {
            Texts::Separated(text, separator) => loop {
                let rest = text.get(*cursor..).filter(|rest| !rest.is_empty())?;
                let part = rest.split(separator).next().unwrap_or(rest);
                *cursor = cursor.saturating_add(part.len()).saturating_add(separator.len_utf8()).min(text.len());
                if !part.is_empty() {
                    return Some(part);
                }
            },
            Texts::Listed(list) => {
                let text = list.text(*cursor)?;
                *cursor = cursor.saturating_add(1);
                Some(text)
            }
            Texts::Ended(text) => {
                let (part, _) = text.get(*cursor..)?.split_once(END)?;
                *cursor = cursor.saturating_add(part.len()).saturating_add(END.len_utf8());
                Some(part)
            }
            Texts::Split(text, "") => {
                let rest = text.get(*cursor..)?;
                let part = rest.get(..rest.chars().next()?.len_utf8())?;
                *cursor = cursor.saturating_add(part.len());
                Some(part)
            }
            Texts::Split(text, separator) => {
                let rest = text.get(*cursor..)?;
                let end = match separator.as_bytes() {
                    [byte] => memchr::memchr(*byte, rest.as_bytes()),
                    bytes => memchr::memmem::find(rest.as_bytes(), bytes),
                };
                let part = end.and_then(|end| rest.get(..end)).unwrap_or(rest);
                // Behind the last part it is behind the text.
                let behind = if part.len() == rest.len() { 1 } else { separator.len() };
                *cursor = cursor.saturating_add(part.len()).saturating_add(behind);
                Some(part)
            }
            Texts::Licenses(text) => licenses::next(text, cursor).map(|license| license.name),
        }
    }
}

/// What stands behind each text of [`Texts::Ended`].
pub const END: char = '\0';

impl<'a> Resources<'a> {
    /// The resources in their order.
    pub fn iter(self) -> impl Iterator<Item = Resource<'a>> {
        let mut cursor = 0;
        std::iter::from_fn(move || self.next(&mut cursor))
    }

    /// The resource at a cursor, which is 0 at first and is put behind that resource.
    pub(crate) fn next(self, cursor: &mut usize) -> Option<Resource<'a>> {
        resources::next(self.0, cursor)
    }
}

impl<T: AsRef<str> + fmt::Debug> TextList for Vec<T> {
    fn text(&self, place: usize) -> Option<&str> {
        self.get(place).map(AsRef::as_ref)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_text_leave_out_empty_ones() {
        for (text, parts) in [("a,b", &["a", "b"][..]), (",a,,b,", &["a", "b"]), ("", &[]), (",", &[]), ("ä,ö", &["ä", "ö"])] {
            assert_eq!(Texts::Separated(text, ',').iter().collect::<Vec<_>>(), parts, "{text}");
        }
    }

    #[test]
    fn what_is_split_or_made_keeps_its_empty_texts() {
        for (text, separator, parts) in [
            ("a,b", ",", &["a", "b"][..]),
            (",a,,b,", ",", &["", "a", "", "b", ""]),
            ("", ",", &[""]),
            ("a--b", "--", &["a", "b"]),
            ("äö", "", &["ä", "ö"]),
            ("", "", &[]),
        ] {
            assert_eq!(Texts::Split(text, separator).iter().collect::<Vec<_>>(), parts, "{text} by {separator}");
        }
        for (text, parts) in [("", &[][..]), ("\0", &[""]), ("a\0\0ö\0", &["a", "", "ö"])] {
            assert_eq!(Texts::Ended(text).iter().collect::<Vec<_>>(), parts, "{text:?}");
        }
    }
}
