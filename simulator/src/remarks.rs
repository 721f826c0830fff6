//! What reading a log left out or took as not known.

use std::borrow::Cow;

use serde::Serialize;

/// One thing that was left out, taken as not known or supposed while a log was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remark {
    /// How many records of the log the remark is about; `None` if it is about the log as a whole.
    pub records: Option<u64>,
    /// What is to be said of them, to follow a number of records: "with an undefined status"; a
    /// sentence without its stop where it is about the log as a whole.
    pub what: Cow<'static, str>,
}

/// What reading a log left out or took as not known, in the order in which it is to be told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Remarks(Vec<Remark>);

impl Remarks {
    /// Adds what is to be said of so many records; nothing of none.
    pub fn count(&mut self, records: u64, what: impl Into<Cow<'static, str>>) {
        if records > 0 {
            self.0.push(Remark { records: Some(records), what: what.into() });
        }
    }

    /// Adds what is to be said of the log as a whole.
    pub fn note(&mut self, what: impl Into<Cow<'static, str>>) {
        self.0.push(Remark { records: None, what: what.into() });
    }

    /// Adds what another reading has to say.
    pub fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// Each remark, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Remark> {
        self.0.iter()
    }

    /// Whether there is nothing to be said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
