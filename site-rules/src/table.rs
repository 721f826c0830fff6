//! Tables that rules look things up in.

use crate::value::{Kind, Resources, TextList, Texts, Value};
use job_types::time::Seconds;
use serde::{Deserialize, Serialize};

/// A table with a text for a key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The keys, ascending.
    pub keys: Vec<Box<str>>,
    /// The columns beside the key, each with a value for each key.
    pub columns: Vec<Column>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Column {
    /// Values of type `bool`.
    Truths(Vec<bool>),
    /// Values of type `int`.
    Integers(Vec<i64>),
    /// Values of type `double`.
    Reals(Vec<f64>),
    /// Values of type `string`.
    Texts(Vec<Box<str>>),
    /// Values of type `duration`, in seconds.
    Durations(Vec<i64>),
    /// Values of type `list(string)`.
    Lists(Vec<Vec<Box<str>>>),
    /// Lists of resources, such as `cpu=64,gres/gpu:a100=8`.
    Resources(Vec<Box<str>>),
}

impl Column {
    /// The kind of its values.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Column::Truths(_) => Kind::Truth,
            Column::Integers(_) => Kind::Integer,
            Column::Reals(_) => Kind::Real,
            Column::Texts(_) => Kind::Text,
            Column::Durations(_) => Kind::Duration,
            Column::Lists(_) => Kind::Texts,
            Column::Resources(_) => Kind::Resources,
        }
    }

    fn length(&self) -> usize {
        match self {
            Column::Truths(values) => values.len(),
            Column::Integers(values) | Column::Durations(values) => values.len(),
            Column::Reals(values) => values.len(),
            Column::Texts(values) | Column::Resources(values) => values.len(),
            Column::Lists(values) => values.len(),
        }
    }

    fn value(&self, row: usize) -> Option<Value<'_>> {
        Some(match self {
            Column::Truths(values) => Value::Truth(*values.get(row)?),
            Column::Integers(values) => Value::Integer(*values.get(row)?),
            Column::Reals(values) => Value::Real(*values.get(row)?),
            Column::Texts(values) => Value::Text(values.get(row)?),
            Column::Durations(values) => Value::Duration(Seconds(*values.get(row)?)),
            Column::Lists(values) => Value::Texts(Texts::Listed(values.get(row)? as &dyn TextList)),
            Column::Resources(values) => Value::Resources(Resources(values.get(row)?)),
        })
    }
}

impl Table {
    /// Whether a key is in it.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.row(key).is_some()
    }

    /// The value of a key in a column.
    #[must_use]
    pub fn value(&self, key: &str, column: u16) -> Option<Value<'_>> {
        self.columns.get(usize::from(column))?.value(self.row(key)?)
    }

    /// Whether [`Table::value`] can rely on it.
    #[must_use]
    pub fn is_well_formed(&self) -> bool {
        self.keys.is_sorted_by(|one, next| one < next) && self.columns.iter().all(|column| column.length() == self.keys.len())
    }

    fn row(&self, key: &str) -> Option<usize> {
        self.keys.binary_search_by(|other| (**other).cmp(key)).ok()
    }
}
