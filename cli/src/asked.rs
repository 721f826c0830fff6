//! queuecast's own submission options on this command line, from the table that sbatch's come from
//! as well.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use command_parts::output;
use jiff::tz::TimeZone;
use job_types::options::{self, Formats, Key, OPTIONS, Refused, UserOption, UserOptions};
use job_types::time::UnixTime;
use slurm_conf::{duration, moment, window};

/// What a user asks of queuecast on this command line: the options as they were written.
#[derive(Debug, Default)]
pub(crate) struct AskedArguments(BTreeMap<&'static str, OsString>);

impl AskedArguments {
    /// What is asked, as at a submission: each option from the command line, or else from the
    /// script, or else from its environment twin.
    ///
    /// # Errors
    /// The first option or variable that can't be read.
    pub(crate) fn asked(&self, in_script: &BTreeMap<String, String>, now: UnixTime) -> Result<UserOptions, Refused> {
        let given = |option: &UserOption| self.0.get(option.name).cloned().or_else(|| Some(in_script.get(option.name)?.into()));
        read(given, |variable| env::var_os(variable), now.0, &TimeZone::system())
    }
}

impl Args for AskedArguments {
    fn augment_args(command: Command) -> Command {
        OPTIONS.iter().fold(command, |command, option| command.arg(argument(option)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn argument(option: &'static UserOption) -> Arg {
    let argument = Arg::new(option.name)
        .long(option.name)
        .help(format!("{} [environment: {}]", option.help, option.variable))
        .help_heading("Options of queuecast, as at a submission");
    match option.placeholder {
        Some(placeholder) => argument.value_name(placeholder).value_parser(value_parser!(OsString)),
        None => argument.action(ArgAction::SetTrue),
    }
}

impl FromArgMatches for AskedArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut arguments = Self::default();
        arguments.update_from_arg_matches(matches)?;
        Ok(arguments)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let given = |option: &UserOption| match option.placeholder {
            Some(_) => matches.get_one::<OsString>(option.name).cloned(),
            None => matches.get_flag(option.name).then(|| "1".into()),
        };
        self.0 = OPTIONS.iter().filter_map(|option| Some((option.name, given(option)?))).collect();
        Ok(())
    }
}

/// Reads all options as at a submission, times as Slurm's commands take them.
fn read(
    given: impl Fn(&UserOption) -> Option<OsString>,
    twin: impl Fn(&str) -> Option<OsString>,
    now: i64,
    zone: &TimeZone,
) -> Result<UserOptions, Refused> {
    let formats = Formats {
        moment: |text: &str| moment::parse(text, now, zone),
        duration: duration::parse,
        window: |text: &str| window::parse(text, now, zone),
    };
    options::read(given, twin, now, &formats)
}

/// Writes one option as its user would write it, from its control variable and canonical value.
pub(crate) fn as_written(variable: &str, canonical: &str) -> String {
    let Some(option) = UserOption::by_variable(variable) else { return format!("{variable}={canonical}") };
    if option.placeholder.is_none() {
        return format!("--{}", option.name);
    }
    let value = match (option.key, canonical.parse::<i64>()) {
        (Key::ReserveAt, Ok(seconds)) => output::moment_for_options(UnixTime(seconds)),
        (Key::MaxDefer | Key::ReserveNotice, Ok(seconds)) => duration::format(seconds),
        (Key::ReserveWindow, _) => window_as_written(variable, canonical),
        _ => canonical.to_owned(),
    };
    format!("--{}={value}", option.name)
}

/// Writes a window as its user would write it, from its control variable and canonical value.
fn window_as_written(variable: &str, canonical: &str) -> String {
    let mut asked = UserOptions::default();
    let _ = asked.set(variable, canonical);
    let moment = output::moment_for_options;
    asked.reserve_window.map_or_else(|| canonical.to_owned(), |window| format!("{},{}", moment(window.earliest), moment(window.latest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_from(given: &[(&str, &str)], twins: &[(&str, &str)]) -> Result<UserOptions, Refused> {
        let find = |list: &[(&str, &str)], name: &str| list.iter().find(|(other, _)| *other == name).map(|(_, value)| value.into());
        read(|option| find(given, option.name), |variable| find(twins, variable), 1_774_618_220, &TimeZone::UTC)
    }

    #[test]
    fn an_option_wins_over_its_twin() {
        let asked = read_from(&[("reserve-at", "now+1hour")], &[("QUEUECAST_RESERVE_AT", "now+2hours"), ("QUEUECAST_AUTO_MOLD", "1")]);
        let asked = asked.unwrap();
        assert_eq!((asked.reserve_at, asked.auto_mold), (Some(1_774_618_220 + 3_600), true));
    }

    #[test]
    fn an_option_without_the_one_it_needs_is_refused_and_a_twin_asks_for_nothing() {
        assert_eq!(read_from(&[("max-defer", "2h")], &[]).unwrap_err().to_string(), "--max-defer needs --auto-defer beside it");
        assert_eq!(read_from(&[], &[("QUEUECAST_MAX_DEFER", "2h")]), Ok(UserOptions::default()));
    }

    #[test]
    fn a_reserved_time_in_the_past_is_refused_as_at_a_submission() {
        let refused = read_from(&[("reserve-at", "2020-01-01")], &[]).unwrap_err().to_string();
        assert_eq!(refused, "--reserve-at: \"2020-01-01\" lies in the past");
    }

    #[test]
    fn a_canonical_value_is_shown_as_users_write_it() {
        assert_eq!(as_written("QUEUECAST_AUTO_MOLD", "1"), "--auto-mold");
        assert_eq!(as_written("QUEUECAST_MAX_DEFER", "5400"), "--max-defer=1:30:00");
        assert_eq!(as_written("QUEUECAST_MOLD_SIZES", "2-16"), "--mold-sizes=2-16");
        assert_eq!(as_written("QUEUECAST_RESERVE_NOTICE", "1800"), "--reserve-notice=30:00");
        let [earliest, latest] = [1_774_630_800, 1_774_674_000].map(|seconds| output::moment_for_options(UnixTime(seconds)));
        for canonical in ["1774630800,1774674000", "1774630800,1774674000,default"] {
            assert_eq!(as_written("QUEUECAST_RESERVE_WINDOW", canonical), format!("--reserve-window={earliest},{latest}"));
        }
        assert_eq!(as_written("QUEUECAST_RESERVE_WINDOW", "soon"), "--reserve-window=soon");
    }
}
