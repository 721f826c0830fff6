//! What a user gave to sbatch, salloc or srun, and the line with which a submission is refused.

use std::ffi::OsString;
use std::fmt;

use jiff::tz::TimeZone;
use job_types::options::{self, Formats, UserOption, UserOptions};
use slurm_conf::{duration, moment, window};

/// A submission that cannot go on: one line that says what was given and what is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused(options::Refused);

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "queuecast: {}", self.0)
    }
}

impl std::error::Error for Refused {}

impl Refused {
    /// Returns the refusal of an option that cannot be passed on.
    pub(crate) fn because(option: &'static UserOption, fault: &dyn fmt::Display) -> Self {
        Self(options::Refused::OnCommandLine { option, fault: fault.to_string() })
    }
}

/// Reads all options as [`options::read`] does, times as Slurm's commands take them in the user's
/// `zone`.
///
/// # Errors
/// The first value that is none of those accepted.
pub(crate) fn read(
    on_command_line: impl Fn(&UserOption) -> Option<OsString>,
    in_environment: impl Fn(&str) -> Option<OsString>,
    now: i64,
    zone: &TimeZone,
) -> Result<UserOptions, Refused> {
    let formats = Formats {
        moment: |text: &str| moment::parse(text, now, zone),
        duration: duration::parse,
        window: |text: &str| window::parse(text, now, zone),
    };
    options::read(on_command_line, in_environment, now, &formats).map_err(Refused)
}
