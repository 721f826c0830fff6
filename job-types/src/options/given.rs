//! Reads what a user asked for from options or environment variables.

use super::{Key, OPTIONS, Unaccompanied, UserOption, UserOptions};
use crate::time::{Seconds, UnixTime};
use crate::window::{FARTHEST_AHEAD, Window, WindowFault, WindowNeeds};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use thiserror::Error;

/// Why what a user gave asks for nothing that can be done: what was given, and what is accepted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refused {
    /// The value of an option on the command line.
    #[error("--{}: {fault}", .option.name)]
    OnCommandLine {
        /// The option.
        option: &'static UserOption,
        /// What is wrong with the value.
        fault: String,
    },
    /// The value of an environment twin.
    #[error("{} in the environment: {fault}", .option.variable)]
    InEnvironment {
        /// The option.
        option: &'static UserOption,
        /// What is wrong with the value.
        fault: String,
    },
    /// An option without the one that it needs.
    #[error(transparent)]
    Unaccompanied(#[from] Unaccompanied),
}

/// How users write a moment, a duration and a window of two moments, which are Slurm's formats: the
/// readers give Unix seconds, seconds and the window.
#[derive(Clone, Copy, Debug)]
pub struct Formats<M, D, W> {
    /// Reads a moment.
    pub moment: M,
    /// Reads a duration.
    pub duration: D,
    /// Reads a window.
    pub window: W,
}

/// Reads all options, each from the command line if it stands there, else from its environment
/// twin.
///
/// `on_command_line` gives the value of an option, `1` for a flag. `in_environment` gives a
/// variable; an empty one counts as absent. `now` is in Unix seconds.
///
/// An option on the command line needs its companion ([`UserOption::needs`]). A twin without one
/// asks for nothing: users keep twins in their profiles as defaults, and a job that does not use
/// them must pass. A window from its twin is marked as a default for the same reason
/// ([`UserOptions::is_default_window`]).
///
/// # Errors
/// The first value that is none of those accepted, or a window in which no slot can lie, with the
/// nearest one in which one can.
pub fn read<M, D, W, E, F, G>(
    on_command_line: impl Fn(&UserOption) -> Option<OsString>,
    in_environment: impl Fn(&str) -> Option<OsString>,
    now: i64,
    formats: &Formats<M, D, W>,
) -> Result<UserOptions, Refused>
where
    M: Fn(&str) -> Result<i64, E>,
    D: Fn(&str) -> Result<i64, F>,
    W: Fn(&str) -> Result<Window, G>,
    E: Display,
    F: Display,
    G: Display,
{
    let canonical = |option: &UserOption, value: &OsStr| -> Result<String, String> {
        let text = value.to_str().ok_or("the value is not UTF-8 text")?.trim();
        let canonical: Cow<'_, str> = match option.key {
            Key::ReserveAt => {
                let wanted = (formats.moment)(text).map_err(|error| error.to_string())?;
                if wanted < now {
                    return Err(format!("{text:?} lies in the past"));
                }
                wanted.to_string().into()
            }
            Key::ReserveWindow => super::written((formats.window)(text).map_err(|error| error.to_string())?, false).into(),
            Key::MaxDefer | Key::ReserveNotice => (formats.duration)(text).map_err(|error| error.to_string())?.to_string().into(),
            Key::EarlyStart | Key::IfMissed | Key::IfRefused | Key::SuccessProbability | Key::Mode => text.to_ascii_lowercase().into(),
            Key::AutoMold | Key::AutoDefer | Key::ShellAtOnce | Key::MoldSizes => text.into(),
        };
        Ok(canonical.into_owned())
    };
    let mut asked = UserOptions::default();
    let mut set =
        |option: &'static UserOption, value: &OsStr| asked.set(option.variable, &canonical(option, value)?).map_err(|error| error.reason());
    let mut twins = Vec::new();
    for option in &OPTIONS {
        if let Some(value) = on_command_line(option) {
            set(option, &value).map_err(|fault| Refused::OnCommandLine { option, fault })?;
        } else if let Some(value) = in_environment(option.variable).filter(|value| !value.is_empty()) {
            set(option, &value).map_err(|fault| Refused::InEnvironment { option, fault })?;
            twins.push(option.key);
        }
    }
    while let Some(lonely) = asked.unaccompanied() {
        if !twins.contains(&lonely.option.key) {
            return Err(lonely.into());
        }
        asked.unset(lonely.option.key);
    }
    asked.is_default_window = asked.reserve_window.is_some() && twins.contains(&Key::ReserveWindow);
    if let Some((key, fault)) = window_fault(&asked, now) {
        let option = key.option();
        return Err(if twins.contains(&key) { Refused::InEnvironment { option, fault } } else { Refused::OnCommandLine { option, fault } });
    }
    Ok(asked)
}

/// Returns why no slot can lie in the window, as far as that is known without the job and the site,
/// and the option that is wrong.
fn window_fault(asked: &UserOptions, now: i64) -> Option<(Key, String)> {
    let needs = WindowNeeds { duration: Seconds::ZERO, notice: asked.reserve_notice.map(Seconds), ahead: FARTHEST_AHEAD };
    let refused = asked.reserve_window?.open(&needs, UnixTime(now)).err()?;
    let key = match refused.fault {
        WindowFault::NoticeTooLong { .. } => Key::ReserveNotice,
        WindowFault::Past | WindowFault::TooFar { .. } | WindowFault::TooShort { .. } => Key::ReserveWindow,
    };
    Some((key, refused.to_string()))
}
