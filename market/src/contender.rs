//! A job that wants to run, and its place among the others.

use std::cmp::Reverse;

use crate::{Bid, Milliseconds, Presence, Retention};

/// A job that wants to run, or to go on running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contender {
    /// Its place in the order of submission, which no other contender has.
    pub submission: u64,
    /// What it bids.
    pub bid: Bid,
    /// How many nodes it runs on, at least 1.
    pub nodes: u32,
    /// Whether and where it runs.
    pub standing: Standing,
}

/// Whether and where a job runs. Nodes are numbers from 0 on, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Standing {
    /// It has not run yet.
    #[default]
    Queued,
    /// It runs.
    Running {
        /// On these nodes.
        on: Box<[u32]>,
        /// Since it was started, or resumed.
        since: Milliseconds,
    },
    /// It has run, and will run again on the same nodes.
    Suspended {
        /// On these nodes.
        on: Box<[u32]>,
    },
}

impl Standing {
    /// The nodes that it has; none while it is queued.
    #[must_use]
    pub fn nodes(&self) -> &[u32] {
        match self {
            Standing::Queued => &[],
            Standing::Running { on, .. } | Standing::Suspended { on } => on,
        }
    }

    /// Since when it runs, if it does.
    #[must_use]
    pub fn running_since(&self) -> Option<Milliseconds> {
        match self {
            Standing::Running { since, .. } => Some(*since),
            Standing::Queued | Standing::Suspended { .. } => None,
        }
    }

    /// In which way it is on its nodes.
    pub(crate) fn presence(&self) -> Option<Presence> {
        match self {
            Standing::Queued => None,
            Standing::Running { .. } => Some(Presence::Running),
            Standing::Suspended { .. } => Some(Presence::Suspended),
        }
    }

    /// Whether it runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        matches!(self, Standing::Running { .. })
    }
}

/// A contender in a market, until it leaves. Numbers are given again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContenderId(pub(crate) u32);

impl ContenderId {
    /// As an index: small, because those who have left are replaced.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A job that could not run if it were alone (Geweke 2000, 5.2.3.2: ineligible).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{wanted} nodes are wanted and the machine has {machine}")]
pub struct NeverFits {
    /// The nodes that it wants.
    pub wanted: u32,
    /// The nodes that there are.
    pub machine: u32,
}

/// A place in the order in which contenders are gone through; the least comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// Whoever runs and may not be suspended yet comes first.
    may_be_suspended: bool,
    ranked_as: Reverse<Bid>,
    submission: u64,
    /// Whose place it is.
    pub(crate) id: ContenderId,
}

impl Place {
    /// The place of a contender at a moment, if it runs since `running_since`.
    pub(crate) fn of(
        id: ContenderId,
        contender: &Contender,
        running_since: Option<Milliseconds>,
        now: Milliseconds,
        retention: &Retention,
    ) -> Place {
        let protected = |since| now < since + retention.least_run_time;
        Place {
            may_be_suspended: !running_since.is_some_and(protected),
            ranked_as: Reverse(if running_since.is_some() { retention.ranked_as(contender.bid) } else { contender.bid }),
            submission: contender.submission,
            id,
        }
    }

    /// Whether it may not be suspended yet.
    pub(crate) fn is_protected(&self) -> bool {
        !self.may_be_suspended
    }
}
