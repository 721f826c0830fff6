//! Who runs: the border between the events and the rules.

use market::{Bid, Milliseconds, Overlap, PriceRule, Retention, WalkRule};

use super::floor::Floor;
use super::{JobIndex, Slowdown};

/// A scheduler.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, strum::Display, strum::EnumString, strum::EnumIter)]
#[strum(serialize_all = "kebab-case")]
pub enum SchedulerName {
    /// The auction as published, which stops at the first job that does not fit (Geweke 2000,
    /// 5.2.3.4).
    #[default]
    Vickrey,
    /// Strictly in the order of submission (7.2.1.6).
    Fifo,
    /// Each job starts at once on the nodes with the fewest jobs (7.2.1.6).
    Glunix,
    /// The auction, which goes on behind a job that does not fit.
    VickreyBackfill,
}

impl SchedulerName {
    /// The rule of the auction, if it is one.
    #[must_use]
    pub fn walk(self) -> Option<WalkRule> {
        match self {
            SchedulerName::Vickrey => Some(WalkRule::StopAtFirst),
            SchedulerName::VickreyBackfill => Some(WalkRule::Backfill),
            SchedulerName::Fifo | SchedulerName::Glunix => None,
        }
    }
}

/// The rules of a run. Overlap, price and retention are those of the auctions; strict order and
/// GLUnix know no suspension and no price.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rules {
    /// Who runs.
    pub scheduler: SchedulerName,
    /// What happens where a suspended job returns to nodes that are not free.
    pub overlap: Overlap,
    /// What those who run pay.
    pub price: PriceRule,
    /// What protects those who run.
    pub retention: Retention,
    /// How much longer a job takes beside others.
    pub slowdown: Slowdown,
}

/// What is paid at present.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Paid {
    pub(super) price: Bid,
    pub(super) revenue_per_minute: f64,
}

/// What the rules are told, and what they do about it once in each cycle.
pub(super) trait Scheduler {
    /// A job that fits onto the machine has been submitted.
    fn submit(&mut self, job: JobIndex, nodes: u32, bid: Bid, now: Milliseconds);

    /// A job that is present bids something else.
    fn rebid(&mut self, job: JobIndex, bid: Bid, now: Milliseconds);

    /// A job is done or withdrawn, which ran until now or not.
    fn leave(&mut self, job: JobIndex, nodes: u32, was_running: bool);

    /// All that happens at a moment has happened.
    fn cycle(&mut self, now: Milliseconds, floor: &mut Floor<'_>) -> Paid;

    /// When a cycle is due although nothing happens.
    fn wakes_at(&self) -> Option<Milliseconds> {
        None
    }
}
