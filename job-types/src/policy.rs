//! What the site allows in a partition, as the daemon reads it from the configuration and the
//! snapshot carries it.

use crate::options::{EarlyStart, IfMissed, Mode};
use crate::time::Seconds;
use serde::{Deserialize, Serialize};

/// When a rule is applied to a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum When {
    /// The rule is applied to no job, not even if its user asks for it.
    Never,
    /// The rule is applied to jobs whose users ask for it.
    #[default]
    Asked,
    /// The rule is applied to every job that it fits, unless its user says otherwise.
    Always,
}

impl When {
    /// The word of the configuration file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The rule by which jobs with deadlines are admitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Admission {
    /// No rule: a deadline is Slurm's own, and its user is told how likely it is to be kept.
    #[default]
    Off,
    /// Earliest deadline first: refused only where its time limit does not fit before the deadline.
    Edf,
    /// Shares of nodes that jobs have in common, by time limits (Sherwani et al. 2004).
    Libra,
    /// Shares of nodes as in Libra, on nodes where no job's delay is at risk (Yeo and Buyya 2006).
    LibraRisk,
    /// The forecast probability of being done in time is at least the one that the site asks for.
    Probability,
}

impl Admission {
    /// All of them.
    pub const ALL: [Admission; 5] = [Admission::Off, Admission::Edf, Admission::Libra, Admission::LibraRisk, Admission::Probability];

    /// The word of the configuration file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether it admits jobs to nodes that jobs share in time, and to no others.
    #[must_use]
    pub fn shares_nodes(self) -> bool {
        matches!(self, Admission::Libra | Admission::LibraRisk)
    }

    /// Whether it chooses nodes where jobs share them in time.
    #[must_use]
    pub fn chooses_shared_nodes(self) -> bool {
        self.shares_nodes() || self == Admission::Probability
    }
}

/// What becomes of a job with a deadline while there is no forecast to admit it by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum WithoutForecast {
    /// It goes on as its user wrote it, without a promise; the deadline is Slurm's own.
    #[default]
    Pass,
    /// It is refused.
    Refuse,
}

impl WithoutForecast {
    /// The word of the configuration file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What a change of a job may do to those who wait.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, strum::IntoStaticStr, strum::VariantArray,
)]
pub enum Others {
    /// A job is changed wherever it gains enough, whatever that does to others.
    #[default]
    #[serde(rename = "ignore")]
    #[strum(serialize = "ignore")]
    Ignore,
    /// All others together may wait longer by what the job gains, and no more.
    #[serde(rename = "sum")]
    #[strum(serialize = "sum")]
    Sum,
    /// All others together wait no longer than without the change, within what chance moves.
    #[serde(rename = "not worse")]
    #[strum(serialize = "not worse")]
    NotWorse,
}

impl Others {
    /// All of them, the most careful one last.
    pub const ALL: &[Others] = <Others as strum::VariantArray>::VARIANTS;

    /// The word of the configuration file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The policies that the guard holds back in a partition, because they do not pay there: they are
/// treated as under [`Mode::Observe`], whatever the mode is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldBack {
    /// Whether no job is molded.
    pub molding: bool,
    /// Whether no job is deferred.
    pub deferral: bool,
}

impl HeldBack {
    /// What either of two holds back.
    #[must_use]
    pub fn or(self, other: HeldBack) -> HeldBack {
        HeldBack { molding: self.molding || other.molding, deferral: self.deferral || other.deferral }
    }
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
    /// What becomes of a job that has not started by its reserved time, where its user does not
    /// say.
    pub if_missed: IfMissed,
    /// Probability of a virtual reservation, where its user does not say.
    pub success_probability: f64,
    /// The part of its response time, 0 to 1, that a job must at least gain to be molded or
    /// deferred.
    pub min_gain: f64,
    /// The time that it must at least gain as well.
    pub min_gain_time: Seconds,
    /// What that may do to those who wait.
    pub others: Others,
    /// The part of the present response by which a deferred one must be shorter, 0 to 1.
    pub defer_threshold: f64,
    /// Longest deferral, where the user does not say.
    pub max_defer: Seconds,
    /// The rule by which jobs with deadlines are admitted.
    pub admission: Admission,
    /// What becomes of jobs with deadlines without a forecast.
    pub admission_without_forecast: WithoutForecast,
    /// Part of the admitted jobs that are to be done by their deadlines. Each has to be as likely
    /// as that, or by as much less as is learnt to suffice.
    pub deadline_probability: f64,
    /// What the guard holds back.
    pub held_back: HeldBack,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            mode: Mode::Observe,
            mold: When::Asked,
            defer: When::Asked,
            reserve: true,
            early_start: EarlyStart::Wait,
            if_missed: IfMissed::Run,
            success_probability: 0.95,
            // What is less is not worth another size or begin time to a person.
            min_gain: 0.05,
            min_gain_time: Seconds::MINUTE,
            others: Others::default(),
            // Hariharan et al. 2020, IV.B.
            defer_threshold: 0.3,
            max_defer: Seconds(12 * 3_600),
            admission: Admission::Off,
            admission_without_forecast: WithoutForecast::Pass,
            deadline_probability: 0.9,
            held_back: HeldBack::default(),
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
