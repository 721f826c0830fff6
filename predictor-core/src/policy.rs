//! What the site allows in a partition, as the daemon reads it from the configuration and the snapshot carries it.

use crate::options::{EarlyStart, Mode};
use crate::snapshot::layout::PolicyRecord;
use crate::time::Seconds;

/// When a rule is applied to a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum When {
    /// Not even where a user asks.
    Never,
    /// Where a user asks.
    #[default]
    Asked,
    /// To every job that the rule fits, unless its user says otherwise.
    Always,
}

/// What the site allows in a partition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// How far decisions go.
    pub mode: Mode,
    /// When jobs are molded.
    pub mold: When,
    /// When jobs are deferred.
    pub defer: When,
    /// Whether virtual reservations are given to those who ask.
    pub reserve: bool,
    /// What a reservation does that starts early, where its user does not say.
    pub early_start: EarlyStart,
    /// Probability of a virtual reservation, where its user does not say.
    pub success_probability: f64,
    /// By which part a deferred response must be shorter than the present one.
    pub defer_threshold: f64,
    /// Longest deferral, where the user does not say.
    pub max_defer: Seconds,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            mode: Mode::Observe,
            mold: When::Asked,
            defer: When::Asked,
            reserve: true,
            early_start: EarlyStart::Wait,
            success_probability: 0.95,
            // End-to-end paper, IV.B.
            defer_threshold: 0.3,
            max_defer: Seconds(12 * 3_600),
        }
    }
}

impl Policy {
    /// Whether a job can be rewritten whose user asked for nothing.
    #[must_use]
    pub fn is_transparent(&self) -> bool {
        self.mode > Mode::Off && (self.mold == When::Always || self.defer == When::Always)
    }
}

impl From<&Policy> for PolicyRecord {
    fn from(policy: &Policy) -> PolicyRecord {
        let when = |when| match when {
            When::Never => 0,
            When::Asked => 1,
            When::Always => 2,
        };
        PolicyRecord {
            mode: match policy.mode {
                Mode::Off => 0,
                Mode::Observe => 1,
                Mode::Advise => 2,
                Mode::Enforce => 3,
            },
            mold: when(policy.mold),
            defer: when(policy.defer),
            reserve: policy.reserve.into(),
            early_start: match policy.early_start {
                EarlyStart::Wait => 0,
                EarlyStart::Run => 1,
            },
            reserved: [0; 3],
            success_probability: (policy.success_probability as f32).into(),
            defer_threshold: (policy.defer_threshold as f32).into(),
            max_defer_s: policy.max_defer.clamped_u32().into(),
        }
    }
}

impl From<&PolicyRecord> for Policy {
    /// A number that this version does not know is read as the most careful one.
    fn from(record: &PolicyRecord) -> Policy {
        let when = |number| match number {
            1 => When::Asked,
            2 => When::Always,
            _ => When::Never,
        };
        Policy {
            mode: match record.mode {
                1 => Mode::Observe,
                2 => Mode::Advise,
                3 => Mode::Enforce,
                _ => Mode::Off,
            },
            mold: when(record.mold),
            defer: when(record.defer),
            reserve: record.reserve == 1,
            early_start: if record.early_start == 1 { EarlyStart::Run } else { EarlyStart::Wait },
            // Through a decimal, so that 0.95 is 0.95 again and not the nearest 32-bit number above it.
            success_probability: (f64::from(record.success_probability.get()) * 1e6).round() / 1e6,
            defer_threshold: (f64::from(record.defer_threshold.get()) * 1e6).round() / 1e6,
            max_defer: Seconds(i64::from(record.max_defer_s.get())),
        }
    }
}
