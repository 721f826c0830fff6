//! Values that expressions are evaluated with. None of them owns anything.

use job_types::time::{Seconds, UnixTime};

/// The kind of a value, known when rules are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `bool`.
    Truth,
    /// `int`: a number, or an amount of memory in bytes.
    Integer,
    /// `double`.
    Real,
    /// `string`.
    Text,
    /// `duration`, in whole seconds.
    Duration,
    /// `timestamp`, in whole seconds.
    Moment,
    /// `list(string)`.
    Texts,
    /// A list of generic resources, such as those of `--gres`.
    Resources,
    /// `map(string, string)`, such as an environment.
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
}

/// A list of texts that are kept elsewhere, such as the arguments of a script.
pub trait TextList: std::fmt::Debug {
    /// The text at a place; `None` behind the last.
    fn text(&self, place: usize) -> Option<&str>;
}

/// Generic resources as Slurm writes them, for example `gres/gpu:a100:2,gres/shard:4`.
#[derive(Clone, Copy, Debug)]
pub struct Resources<'a>(pub &'a str);
