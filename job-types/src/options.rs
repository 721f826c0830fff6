//! What a user asks for at submission: the options, the variables that carry them, and their
//! values.
//!
//! [`OPTIONS`] is the one table from which the SPANK options, the command line and the manual
//! derive. A value has two forms: the one that a user writes (`--reserve-at=18:00`) and the
//! canonical one that travels in the job's control environment (`QUEUECAST_RESERVE_AT=1774630800`).
//! This module knows the canonical form only; the side that the user types on translates. Control
//! variables can be forged, so [`UserOptions::set`] takes any text.

mod given;
mod mold_sizes;

use std::fmt;
use std::str::FromStr;

use crate::text::shortened;
use crate::time::UnixTime;
use crate::window::Window;
use serde::{Deserialize, Serialize, Serializer};
use thiserror::Error;

pub use given::{Formats, Refused, read};
pub use mold_sizes::{MoldSizes, MoldSizesError};

/// The variable in a job's own environment that makes its batch step wait on the node, in Unix
/// seconds.
pub const HOLD_UNTIL_VARIABLE: &str = "QUEUECAST_HOLD_UNTIL";

/// The variable in a job's own environment that has its steps ask slurmctld for the share of the
/// node's CPUs that the job was admitted with. It says only that there is something to ask for.
pub const SHARE_VARIABLE: &str = "QUEUECAST_SHARE";

/// What all control variables and environment twins begin with.
pub const VARIABLE_PREFIX: &str = "QUEUECAST_";

/// Longest canonical value that is looked at, in bytes: 64 sizes of ten digits and their commas
/// fit.
const MOST_VALUE_BYTES: usize = 1_024;

/// Names a row of [`OPTIONS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// Choose the number of nodes.
    AutoMold,
    /// The numbers of nodes that may be chosen.
    MoldSizes,
    /// Have the nodes at a given time.
    ReserveAt,
    /// The probability with which the nodes are to be there at that time.
    SuccessProbability,
    /// What to do if the nodes are there early.
    EarlyStart,
    /// What to do if they are not there by then.
    IfMissed,
    /// Not to let salloc wait for that time.
    ShellAtOnce,
    /// Have a firm slot inside a window.
    ReserveWindow,
    /// How long before its start the slot is to move no more.
    ReserveNotice,
    /// What to do if there is no slot.
    IfRefused,
    /// Start later if that is forecast to end no later.
    AutoDefer,
    /// The longest deferral.
    MaxDefer,
    /// How far queuecast may go with this job.
    Mode,
}

/// One option that a user can give.
#[derive(Debug, PartialEq, Eq)]
pub struct UserOption {
    /// The option that this is.
    pub key: Key,
    /// The option's long name, without the leading dashes.
    pub name: &'static str,
    /// The name of the environment variable that says the same as the option, and of the control
    /// variable that carries the option's value.
    pub variable: &'static str,
    /// What stands for the option's value in a help text; `None` for a flag.
    pub placeholder: Option<&'static str>,
    /// The option without which this one means nothing.
    pub needs: Option<Key>,
    /// What the option does, in one line.
    pub help: &'static str,
}

/// All options, in the order in which help texts show them; each stands at the place that its
/// [`Key`] has.
pub static OPTIONS: [UserOption; 13] = [
    UserOption {
        key: Key::AutoMold,
        name: "auto-mold",
        variable: "QUEUECAST_AUTO_MOLD",
        placeholder: None,
        needs: None,
        help: "run on the number of nodes that is forecast to finish first",
    },
    UserOption {
        key: Key::MoldSizes,
        name: "mold-sizes",
        variable: "QUEUECAST_MOLD_SIZES",
        placeholder: Some("LIST|MIN-MAX"),
        needs: Some(Key::AutoMold),
        help: "numbers of nodes that --auto-mold may choose, as 1,2,4 or 2-16",
    },
    UserOption {
        key: Key::ReserveAt,
        name: "reserve-at",
        variable: "QUEUECAST_RESERVE_AT",
        placeholder: Some("TIME"),
        needs: None,
        help: "have the nodes at TIME, written as for --begin",
    },
    UserOption {
        key: Key::SuccessProbability,
        name: "success-probability",
        variable: "QUEUECAST_SUCCESS_PROBABILITY",
        placeholder: Some("P|best"),
        needs: Some(Key::ReserveAt),
        help: "probability, between 0 and 1, with which --reserve-at is to succeed, or the best there is",
    },
    UserOption {
        key: Key::EarlyStart,
        name: "early-start",
        variable: "QUEUECAST_EARLY_START",
        placeholder: Some("wait|run"),
        needs: Some(Key::ReserveAt),
        help: "if the nodes of --reserve-at are there early, wait on them or run at once",
    },
    UserOption {
        key: Key::IfMissed,
        name: "if-missed",
        variable: "QUEUECAST_IF_MISSED",
        placeholder: Some("run|cancel"),
        needs: Some(Key::ReserveAt),
        help: "if the job has not started by its reserved time, run it later or cancel it",
    },
    UserOption {
        key: Key::ShellAtOnce,
        name: "shell-at-once",
        variable: "QUEUECAST_SHELL_AT_ONCE",
        placeholder: None,
        needs: Some(Key::ReserveAt),
        help: "have salloc start its shell as soon as the nodes are there, and not at the reserved time",
    },
    UserOption {
        key: Key::ReserveWindow,
        name: "reserve-window",
        variable: "QUEUECAST_RESERVE_WINDOW",
        placeholder: Some("EARLIEST,LATEST"),
        needs: None,
        help: "reserve nodes for the job between two times, each written as for --begin",
    },
    UserOption {
        key: Key::ReserveNotice,
        name: "reserve-notice",
        variable: "QUEUECAST_RESERVE_NOTICE",
        placeholder: Some("DURATION"),
        needs: Some(Key::ReserveWindow),
        help: "how long before its start the slot of --reserve-window moves no more",
    },
    UserOption {
        key: Key::IfRefused,
        name: "if-refused",
        variable: "QUEUECAST_IF_REFUSED",
        placeholder: Some("run|cancel"),
        needs: Some(Key::ReserveWindow),
        help: "if there is no slot for --reserve-window, run the job as any other or cancel it",
    },
    UserOption {
        key: Key::AutoDefer,
        name: "auto-defer",
        variable: "QUEUECAST_AUTO_DEFER",
        placeholder: None,
        needs: None,
        help: "begin later where the job is forecast to be done sooner that way",
    },
    UserOption {
        key: Key::MaxDefer,
        name: "max-defer",
        variable: "QUEUECAST_MAX_DEFER",
        placeholder: Some("DURATION"),
        needs: Some(Key::AutoDefer),
        help: "longest delay that --auto-defer may choose, written as for --time or as 30s, 10m, 2h, 1d",
    },
    UserOption {
        key: Key::Mode,
        name: "queuecast",
        variable: "QUEUECAST_MODE",
        placeholder: Some("off|observe|advise|enforce"),
        needs: None,
        help: "how far queuecast may go with this job, at most as far as the site lets it",
    },
];

impl Key {
    /// The row of [`OPTIONS`] for this key.
    #[must_use]
    pub fn option(self) -> &'static UserOption {
        match self {
            Self::AutoMold => &OPTIONS[0],
            Self::MoldSizes => &OPTIONS[1],
            Self::ReserveAt => &OPTIONS[2],
            Self::SuccessProbability => &OPTIONS[3],
            Self::EarlyStart => &OPTIONS[4],
            Self::IfMissed => &OPTIONS[5],
            Self::ShellAtOnce => &OPTIONS[6],
            Self::ReserveWindow => &OPTIONS[7],
            Self::ReserveNotice => &OPTIONS[8],
            Self::IfRefused => &OPTIONS[9],
            Self::AutoDefer => &OPTIONS[10],
            Self::MaxDefer => &OPTIONS[11],
            Self::Mode => &OPTIONS[12],
        }
    }
}

impl UserOption {
    /// The option with that control variable.
    #[must_use]
    pub fn by_variable(variable: &str) -> Option<&'static Self> {
        OPTIONS.iter().find(|option| option.variable == variable)
    }

    /// Returns the values that the option takes, in words that end a message.
    #[must_use]
    pub fn accepted(&self) -> &'static str {
        match self.key {
            Key::AutoMold | Key::AutoDefer | Key::ShellAtOnce => "1 or 0",
            Key::MoldSizes => MoldSizes::ACCEPTED,
            Key::ReserveAt => "a time, as Unix seconds",
            Key::SuccessProbability => "a number greater than 0 and less than 1, as 0.95, or best",
            Key::EarlyStart => "wait or run",
            Key::IfMissed | Key::IfRefused => "run or cancel",
            Key::ReserveWindow => "two times, the later one last, as Unix seconds with a comma between them",
            Key::MaxDefer | Key::ReserveNotice => "a number of seconds, not negative",
            Key::Mode => "off, observe, advise or enforce",
        }
    }
}

/// How far queuecast goes; each mode includes those before it.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumString,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", parse_err_ty = UnknownWord, parse_err_fn = unknown_mode)]
pub enum Mode {
    /// Leave the job alone.
    Off,
    /// Decide and record; change nothing.
    Observe,
    /// Decide, record and tell the user; change nothing.
    Advise,
    /// Decide, record, tell the user and rewrite the job.
    Enforce,
}

impl Mode {
    /// The mode's name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What a job does whose nodes are there before the reserved time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, strum::Display, strum::EnumString, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", parse_err_ty = UnknownWord, parse_err_fn = unknown_early_start)]
pub enum EarlyStart {
    /// Wait on the nodes until that time.
    Wait,
    /// Run at once.
    Run,
}

impl EarlyStart {
    /// The choice's name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What becomes of a job that has not started by its reserved time.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, strum::Display, strum::EnumString, strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", parse_err_ty = UnknownWord, parse_err_fn = unknown_if_missed)]
pub enum IfMissed {
    /// It runs once it can, with its user's own time limit.
    #[default]
    Run,
    /// It is cancelled.
    Cancel,
}

impl IfMissed {
    /// The choice's name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What becomes of a job for which no firm slot is to be had.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, strum::Display, strum::EnumString, strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", parse_err_ty = UnknownWord, parse_err_fn = unknown_if_refused)]
pub enum IfRefused {
    /// It stays in the queue as any other.
    #[default]
    Run,
    /// It is cancelled.
    Cancel,
}

impl IfRefused {
    /// The choice's name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The probability with which a reservation is to be kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SuccessProbability {
    /// At least this probability: greater than 0, less than 1.
    AtLeast(f64),
    /// The highest probability that is to be had.
    Best,
}

impl SuccessProbability {
    /// The word for [`SuccessProbability::Best`].
    const BEST: &'static str = "best";

    /// The probability that is looked for. For the best one it is certainty, and whoever looks
    /// takes what comes nearest to it.
    #[must_use]
    pub fn wanted(self) -> f64 {
        match self {
            Self::AtLeast(probability) => probability,
            Self::Best => 1.0,
        }
    }
}

impl fmt::Display for SuccessProbability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(probability) => probability.fmt(formatter),
            Self::Best => formatter.write_str(Self::BEST),
        }
    }
}

impl Serialize for SuccessProbability {
    /// A number, or the word.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::AtLeast(probability) => serializer.serialize_f64(*probability),
            Self::Best => serializer.serialize_str(Self::BEST),
        }
    }
}

impl FromStr for SuccessProbability {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        if text.eq_ignore_ascii_case(Self::BEST) {
            return Ok(Self::Best);
        }
        let number = text.parse().ok().filter(|probability| *probability > 0.0 && *probability < 1.0);
        number.map(Self::AtLeast).ok_or(UnknownWord::from(Key::SuccessProbability))
    }
}

/// A word that names none of the choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("use {accepted}")]
pub struct UnknownWord {
    accepted: &'static str,
}

impl From<Key> for UnknownWord {
    fn from(key: Key) -> Self {
        UnknownWord { accepted: key.option().accepted() }
    }
}

fn unknown_mode(_: &str) -> UnknownWord {
    UnknownWord::from(Key::Mode)
}

fn unknown_early_start(_: &str) -> UnknownWord {
    UnknownWord::from(Key::EarlyStart)
}

fn unknown_if_missed(_: &str) -> UnknownWord {
    UnknownWord::from(Key::IfMissed)
}

fn unknown_if_refused(_: &str) -> UnknownWord {
    UnknownWord::from(Key::IfRefused)
}

/// What a user asked for; by default nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UserOptions {
    /// Choose the number of nodes.
    pub auto_mold: bool,
    /// The numbers of nodes that may be chosen.
    pub mold_sizes: Option<MoldSizes>,
    /// When the nodes are wanted, in Unix seconds.
    pub reserve_at: Option<i64>,
    /// The probability with which the nodes are to be there at that time.
    pub success_probability: Option<SuccessProbability>,
    /// What to do if they are there early.
    pub early_start: Option<EarlyStart>,
    /// What to do if they are not there by then.
    pub if_missed: Option<IfMissed>,
    /// Whether salloc gives its shell at once, though the nodes are there early.
    pub shell_at_once: bool,
    /// The window in which a firm slot is wanted; it ends after it begins.
    pub reserve_window: Option<Window>,
    /// Whether the window is a default from the user's environment, which asks for nothing where a
    /// job can't have a firm slot. It is false without a window.
    pub is_default_window: bool,
    /// How long before its start the slot is to move no more, in seconds; not negative.
    pub reserve_notice: Option<i64>,
    /// What to do if there is no slot.
    pub if_refused: Option<IfRefused>,
    /// Begin later where that is forecast to finish no later.
    pub auto_defer: bool,
    /// Longest such delay, in seconds; not negative.
    pub max_defer: Option<i64>,
    /// How far queuecast may go with this job; the site's mode bounds it.
    pub mode: Option<Mode>,
}

/// Why a control variable says nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OptionError {
    /// No option has this variable.
    #[error("there is no option with the variable {variable}")]
    Unknown {
        /// The variable, shortened.
        variable: String,
    },
    /// The value is none that the option takes.
    #[error("--{option} cannot be {value:?}: use {accepted}", option = .option.name, accepted = .option.accepted())]
    Value {
        /// The option.
        option: &'static UserOption,
        /// The value, shortened.
        value: String,
    },
    /// The list or range of sizes is none.
    #[error("--mold-sizes cannot be {value:?}: {reason}")]
    Sizes {
        /// The value, shortened.
        value: String,
        /// What is wrong with it.
        reason: MoldSizesError,
    },
}

impl OptionError {
    /// What is wrong with the value and what is accepted, without the name of the option or
    /// variable.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::Unknown { .. } => self.to_string(),
            Self::Value { option, value } => format!("{value:?} is not accepted: use {}", option.accepted()),
            Self::Sizes { value, reason } => format!("{value:?} is not accepted: {reason}"),
        }
    }
}

/// An option that was given without the one that gives it a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("--{} needs --{} beside it", .option.name, .needed.name)]
pub struct Unaccompanied {
    /// The option that was given.
    pub option: &'static UserOption,
    /// The one that it needs.
    pub needed: &'static UserOption,
}

impl UserOptions {
    /// Whether the user asked for nothing at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        OPTIONS.iter().all(|option| !self.has(option.key))
    }

    /// Whether the user gave that option.
    #[must_use]
    pub fn has(&self, key: Key) -> bool {
        match key {
            Key::AutoMold => self.auto_mold,
            Key::MoldSizes => self.mold_sizes.is_some(),
            Key::ReserveAt => self.reserve_at.is_some(),
            Key::SuccessProbability => self.success_probability.is_some(),
            Key::EarlyStart => self.early_start.is_some(),
            Key::IfMissed => self.if_missed.is_some(),
            Key::ShellAtOnce => self.shell_at_once,
            Key::ReserveWindow => self.reserve_window.is_some(),
            Key::ReserveNotice => self.reserve_notice.is_some(),
            Key::IfRefused => self.if_refused.is_some(),
            Key::AutoDefer => self.auto_defer,
            Key::MaxDefer => self.max_defer.is_some(),
            Key::Mode => self.mode.is_some(),
        }
    }

    /// Takes over the value of one control variable; a variable that comes again wins.
    ///
    /// Allocates nothing but the message of an error, which is short whatever the input.
    ///
    /// # Errors
    /// [`OptionError`] if the variable is no option's or the value is not canonical; `self` is then
    /// unchanged.
    pub fn set(&mut self, variable: &str, canonical_value: &str) -> Result<(), OptionError> {
        let option = UserOption::by_variable(variable).ok_or_else(|| OptionError::Unknown { variable: shortened(variable) })?;
        let value = canonical_value;
        let refused = || OptionError::Value { option, value: shortened(value) };
        if value.len() > MOST_VALUE_BYTES {
            return Err(refused());
        }
        match option.key {
            Key::AutoMold => self.auto_mold = flag(value).ok_or_else(refused)?,
            Key::AutoDefer => self.auto_defer = flag(value).ok_or_else(refused)?,
            Key::MoldSizes => {
                let sizes = value.parse().map_err(|reason| OptionError::Sizes { value: shortened(value), reason })?;
                self.mold_sizes = Some(sizes);
            }
            Key::ReserveAt => self.reserve_at = Some(seconds(value).ok_or_else(refused)?),
            Key::MaxDefer => self.max_defer = Some(seconds(value).ok_or_else(refused)?),
            Key::SuccessProbability => self.success_probability = Some(value.parse().map_err(|_| refused())?),
            Key::EarlyStart => self.early_start = Some(value.parse().map_err(|_| refused())?),
            Key::IfMissed => self.if_missed = Some(value.parse().map_err(|_| refused())?),
            Key::ShellAtOnce => self.shell_at_once = flag(value).ok_or_else(refused)?,
            Key::ReserveWindow => {
                let (window, is_default) = window(value).ok_or_else(refused)?;
                (self.reserve_window, self.is_default_window) = (Some(window), is_default);
            }
            Key::ReserveNotice => self.reserve_notice = Some(seconds(value).ok_or_else(refused)?),
            Key::IfRefused => self.if_refused = Some(value.parse().map_err(|_| refused())?),
            Key::Mode => self.mode = Some(value.parse().map_err(|_| refused())?),
        }
        Ok(())
    }

    /// Forgets what the user asked for with that option.
    pub fn unset(&mut self, key: Key) {
        match key {
            Key::AutoMold => self.auto_mold = false,
            Key::MoldSizes => self.mold_sizes = None,
            Key::ReserveAt => self.reserve_at = None,
            Key::SuccessProbability => self.success_probability = None,
            Key::EarlyStart => self.early_start = None,
            Key::IfMissed => self.if_missed = None,
            Key::ShellAtOnce => self.shell_at_once = false,
            Key::ReserveWindow => (self.reserve_window, self.is_default_window) = (None, false),
            Key::ReserveNotice => self.reserve_notice = None,
            Key::IfRefused => self.if_refused = None,
            Key::AutoDefer => self.auto_defer = false,
            Key::MaxDefer => self.max_defer = None,
            Key::Mode => self.mode = None,
        }
    }

    /// The canonical value of one option, if the user gave it.
    #[must_use]
    pub fn canonical_value(&self, key: Key) -> Option<String> {
        match key {
            Key::AutoMold => self.auto_mold.then(|| "1".to_owned()),
            Key::MoldSizes => self.mold_sizes.as_ref().map(ToString::to_string),
            Key::ReserveAt => self.reserve_at.map(|moment| moment.to_string()),
            Key::SuccessProbability => self.success_probability.map(|probability| probability.to_string()),
            Key::EarlyStart => self.early_start.map(|choice| choice.to_string()),
            Key::IfMissed => self.if_missed.map(|choice| choice.to_string()),
            Key::ShellAtOnce => self.shell_at_once.then(|| "1".to_owned()),
            Key::ReserveWindow => self.reserve_window.map(|window| written(window, self.is_default_window)),
            Key::ReserveNotice => self.reserve_notice.map(|notice| notice.to_string()),
            Key::IfRefused => self.if_refused.map(|choice| choice.to_string()),
            Key::AutoDefer => self.auto_defer.then(|| "1".to_owned()),
            Key::MaxDefer => self.max_defer.map(|delay| delay.to_string()),
            Key::Mode => self.mode.map(|mode| mode.to_string()),
        }
    }

    /// The control variables and canonical values that say the same, for what was asked only.
    pub fn canonical(&self) -> impl Iterator<Item = (&'static str, String)> {
        OPTIONS.iter().filter_map(|option| Some((option.variable, self.canonical_value(option.key)?)))
    }

    /// The first option that was given without the one that it needs.
    #[must_use]
    pub fn unaccompanied(&self) -> Option<Unaccompanied> {
        OPTIONS.iter().find_map(|option| {
            let needed = option.needs?;
            (self.has(option.key) && !self.has(needed)).then(|| Unaccompanied { option, needed: needed.option() })
        })
    }
}

fn flag(value: &str) -> Option<bool> {
    match value {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    }
}

/// What stands behind the two times of a window that is a default from the environment.
const DEFAULT_WINDOW: &str = ",default";

/// Returns a window from its canonical value, and whether it is a default from the environment.
fn window(value: &str) -> Option<(Window, bool)> {
    let (times, is_default) = value.strip_suffix(DEFAULT_WINDOW).map_or((value, false), |times| (times, true));
    let (earliest, latest) = times.split_once(',')?;
    let window = Window { earliest: UnixTime(seconds(earliest)?), latest: UnixTime(seconds(latest)?) };
    (window.earliest < window.latest).then_some((window, is_default))
}

/// Returns the canonical value of a window.
fn written(window: Window, is_default: bool) -> String {
    let Window { earliest, latest } = window;
    format!("{},{}{}", earliest.0, latest.0, if is_default { DEFAULT_WINDOW } else { "" })
}

/// Seconds that are not negative, in plain digits.
fn seconds(value: &str) -> Option<i64> {
    if !value.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    value.parse().ok()
}

#[cfg(test)]
mod tests;
