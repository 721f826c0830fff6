//! From what a user wrote, as options or as environment variables, to what the user asked for.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;

use jiff::tz::TimeZone;
use predictor_core::options::{Asked, Key, OPTIONS, UserOption};
use slurm_conf::{duration, moment};

/// A submission that cannot go on: one line that says what was given and what is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "queuecast: {}", self.0)
    }
}

impl std::error::Error for Refused {}

impl Refused {
    /// Where an option cannot be passed on.
    pub(crate) fn because(option: &UserOption, fault: &dyn fmt::Display) -> Self {
        Self(format!("--{}: {fault}", option.name))
    }
}

/// Reads all options, each from the command line if it stands there, else from its environment
/// twin.
///
/// `on_command_line` gives the value of an option, `1` for a flag. `in_environment` gives a
/// variable; an empty one counts as absent. `now` is in Unix seconds, `zone` is the user's time
/// zone.
///
/// An option on the command line needs its companion ([`UserOption::needs`]). A twin without one
/// asks for nothing: users keep twins in their profiles as defaults, and a job that does not use
/// them must pass.
///
/// # Errors
/// The first value that is none of those accepted.
pub(crate) fn read(
    on_command_line: impl Fn(&UserOption) -> Option<OsString>,
    in_environment: impl Fn(&str) -> Option<OsString>,
    now: i64,
    zone: &TimeZone,
) -> Result<Asked, Refused> {
    let mut asked = Asked::default();
    let mut twins = Vec::new();
    for option in &OPTIONS {
        if let Some(value) = on_command_line(option) {
            set(&mut asked, option, &value, now, zone).map_err(|fault| Refused(format!("--{}: {fault}", option.name)))?;
        } else if let Some(value) = in_environment(option.variable).filter(|value| !value.is_empty()) {
            set(&mut asked, option, &value, now, zone)
                .map_err(|fault| Refused(format!("{} in the environment: {fault}", option.variable)))?;
            twins.push(option.key);
        }
    }
    while let Some(lonely) = asked.unaccompanied() {
        if !twins.contains(&lonely.option.key) {
            return Err(Refused(lonely.to_string()));
        }
        asked.unset(lonely.option.key);
    }
    Ok(asked)
}

/// Takes over one value as users write it.
fn set(asked: &mut Asked, option: &UserOption, value: &OsStr, now: i64, zone: &TimeZone) -> Result<(), String> {
    let text = value.to_str().ok_or("the value is not UTF-8 text")?.trim();
    let canonical: Cow<'_, str> = match option.key {
        Key::ReserveAt => {
            let wanted = moment::parse(text, now, zone).map_err(|error| error.to_string())?;
            if wanted < now {
                return Err(format!("{text:?} lies in the past"));
            }
            wanted.to_string().into()
        }
        Key::MaxDefer => duration::parse(text).map_err(|error| error.to_string())?.to_string().into(),
        Key::EarlyStart | Key::Mode => text.to_ascii_lowercase().into(),
        Key::AutoMold | Key::AutoDefer | Key::MoldSizes | Key::SuccessProbability => text.into(),
    };
    asked.set(option.variable, &canonical).map_err(|error| error.reason())
}
