//! The options of sbatch on this command line, from the table of sbatch's options.
//!
//! They are only collected here, in the order in which they were given:
//! [`rules_compiler::command_line`] reads them together with the script and the environment.

use std::io;

use crate::slurm_release::own_release;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use rules_compiler::command_line::{SbatchOption, Takes, sbatch_options};
use slurm_conf::duration;

use super::effect::{Effect, effect};
use super::{script, standard_input};

/// Stands for the value of an option that can have one and was given none.
const NO_VALUE: &str = "\0";

/// How long the first bytes of a script on standard input may take, where it alone describes the
/// job.
const FIRST_BYTES_MILLISECONDS: u16 = 2_000;

const HEADING: &str = "The job, by options of sbatch";

/// The options that forecasts are made from, with their placeholders and what they are, as help
/// texts show them. All others of sbatch are read as well.
const SHOWN: [(&str, &str, &str); 17] = [
    ("partition", "NAMES", "The partition, or several separated by commas [default: the cluster's default partition]"),
    ("account", "NAME", "The account [default: that of the user's last job]"),
    ("qos", "NAME", "The quality of service [default: that of the user's last job]"),
    ("nodes", "N[-MAX]", "Nodes: a number, or the least and the most, as 2-8"),
    ("ntasks", "N", "Tasks"),
    ("cpus-per-task", "N", "CPUs of each task"),
    ("ntasks-per-node", "N", "Tasks on each node"),
    ("exclusive", "user|mcs", "Ask for whole nodes, or share them with jobs of the same user or label only"),
    ("mem", "SIZE", "Memory of each node, as 64G"),
    ("gres", "LIST", "Generic resources of each node, as gpu:2"),
    ("gpus", "[TYPE:]N", "GPUs of the whole job"),
    ("constraint", "LIST", "Features that the nodes must have"),
    ("time", "TIME", "Time limit: minutes, hours:minutes:seconds, days-hours, 90m, ..., or UNLIMITED [default: the partition's]"),
    ("time-min", "TIME", "The shortest time limit that the job can do with"),
    ("begin", "TIME", "When the job may begin at the earliest: 18:00, 2026-03-27T14:30, now+2hours"),
    ("deadline", "TIME", "When the job must have ended"),
    ("wrap", "COMMAND", "The command that the script consists of, in the place of a script"),
];

/// Options of the commands that describe jobs.
const OF_COMMANDS: [&str; 9] = ["at", "between", "by", "format", "json", "plot", "probability", "state-directory", "user"];

/// The job, as sbatch is told of it: by options, a script, or both.
#[derive(Debug, Clone, Default)]
pub(crate) struct JobArguments {
    /// Whose past is looked at.
    pub(super) user: Option<String>,
    /// The options as sbatch takes them, each in one word with its value, in their order.
    pub(super) options: Vec<String>,
    /// The script and its arguments.
    pub(super) script: Vec<String>,
}

impl JobArguments {
    /// Whether a user is named.
    pub(crate) fn is_of_another_user(&self) -> bool {
        self.user.is_some()
    }

    /// The options for sbatch; which user's past is looked at is none of them.
    pub(crate) fn for_sbatch(&self) -> &[String] {
        &self.options
    }

    /// Takes the script from standard input where sbatch would: no script is named, and nothing
    /// else describes the job. Otherwise, or if nothing comes, a note says that a script that
    /// stands there was not read.
    ///
    /// # Errors
    /// Standard input can't be read.
    pub(crate) fn take_standard_input(&mut self) -> io::Result<Option<&'static str>> {
        const NOT_READ: &str = "standard input was not read: name it as the script, with -, to have its #SBATCH lines read";
        let describes = |option: &String| option.starts_with("--wrap");
        if !self.script.is_empty() || self.options.iter().any(describes) {
            return Ok(None);
        }
        let is_all = self.options.is_empty();
        let found = standard_input::text_waits(if is_all { FIRST_BYTES_MILLISECONDS } else { 0 })?;
        if found && is_all {
            self.script = vec![script::STANDARD_INPUT.to_owned()];
        }
        Ok((found && !is_all).then_some(NOT_READ))
    }

    /// What looks like an option of this command or of sbatch and stands behind the script, where
    /// it is an argument of the script.
    pub(super) fn options_behind_script(&self) -> Vec<String> {
        let is_known = |name: &str| OF_COMMANDS.contains(&name) || taken().any(|option| option.name == name);
        let name = |word: &String| word.strip_prefix("--").map(|long| long.split_once('=').map_or(long, |(name, _)| name).to_owned());
        self.script.iter().skip(1).filter_map(name).filter(|name| is_known(name)).map(|name| format!("--{name}")).collect()
    }

    /// Adds what sbatch would be given behind these options.
    pub(crate) fn with(&self, more: &[String]) -> Vec<String> {
        // Whatever the script is called, it is no option.
        let script = (!self.script.is_empty()).then(|| "--".to_owned()).into_iter().chain(self.script.iter().cloned());
        self.options.iter().chain(more).cloned().chain(script).collect()
    }
}

/// The options that are taken on this command line: all of sbatch but those that have it print
/// something and end.
fn taken() -> impl Iterator<Item = SbatchOption> {
    sbatch_options(own_release()).filter(|option| !matches!(effect(option.name), Effect::Ends))
}

fn argument(option: SbatchOption) -> Arg {
    let argument = Arg::new(option.name).long(option.name).action(ArgAction::Append).help_heading(HEADING);
    let argument = match option.letter {
        Some(letter) => argument.short(letter),
        None => argument,
    };
    let argument = match option.takes {
        Takes::Nothing => argument.num_args(0).default_missing_value(NO_VALUE),
        Takes::Perhaps => argument.num_args(0..=1).require_equals(true).default_missing_value(NO_VALUE),
        // Whatever stands behind it is its value, as for sbatch.
        Takes::Value => argument.allow_hyphen_values(true),
    };
    match SHOWN.iter().find(|(name, ..)| *name == option.name) {
        Some((_, placeholder, help)) => argument.value_name(*placeholder).help(*help),
        None => argument.value_name("VALUE").hide(true),
    }
}

impl Args for JobArguments {
    fn augment_args(command: Command) -> Command {
        let own: Vec<(Option<String>, Option<char>)> =
            command.get_arguments().map(|argument| (argument.get_long().map(str::to_owned), argument.get_short())).collect();
        let is_own = |option: &SbatchOption| {
            let is_this = |long: &str| long == option.name || (long == "clusters" && option.name == "cluster");
            own.iter().any(|(long, _)| long.as_deref().is_some_and(is_this))
        };
        let shown = |option: &SbatchOption| SHOWN.iter().position(|(name, ..)| *name == option.name).unwrap_or(SHOWN.len());
        let mut options: Vec<SbatchOption> = taken().filter(|option| !is_own(option)).collect();
        options.sort_by_key(shown);
        let user = Arg::new("user")
            .short('u')
            .long("user")
            .value_name("USER")
            .help("Whose past run times to forecast from, by name or number [default: you]")
            .help_heading("Options");
        // What a command takes behind two dashes is the last positional argument, and clap has no
        // rest of a line before it: options behind the script are the command's there.
        let takes_rest = own.iter().all(|(long, _)| long.as_deref() != Some("at"));
        let script = Arg::new("script")
            .value_name("SCRIPT")
            .num_args(0..)
            .trailing_var_arg(takes_rest)
            .help("The script that sbatch would be given, of which the #SBATCH lines are read; - for standard input");
        options.into_iter().fold(command, |command, option| command.arg(argument(option))).arg(user).arg(script)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for JobArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut arguments = Self::default();
        arguments.update_from_arg_matches(matches)?;
        Ok(arguments)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let mut found: Vec<(usize, String)> = Vec::new();
        for option in taken() {
            // A command that has an option of its own of that name, of a type of its own, has not
            // this one.
            let Ok(Some(values)) = matches.try_get_many::<String>(option.name) else { continue };
            let places = matches.indices_of(option.name).into_iter().flatten();
            found.extend(places.zip(values).map(|(place, value)| (place, word(option, value))));
        }
        found.sort_by_key(|(place, _)| *place);
        self.options = found.into_iter().map(|(_, word)| word).collect();
        self.user = matches.get_one::<String>("user").cloned();
        self.script = matches.get_many::<String>("script").into_iter().flatten().cloned().collect();
        Ok(())
    }
}

/// An option in one word. Time limits can be written in all forms of durations here, of which
/// sbatch takes its own alone.
fn word(option: SbatchOption, value: &str) -> String {
    let SbatchOption { name, .. } = option;
    if value == NO_VALUE {
        return format!("--{name}");
    }
    let has_unit = value.ends_with(|last: char| last.is_ascii_alphabetic());
    match duration::parse(value) {
        Ok(seconds) if has_unit && ["time", "time-min"].contains(&name) => format!("--{name}={}", duration::format(seconds)),
        _ => format!("--{name}={value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, clap::Parser)]
    #[command(infer_long_args = true)]
    struct Line {
        #[command(flatten)]
        job: JobArguments,
    }

    /// A command with an option of its own in the place of one of sbatch.
    #[derive(Debug, clap::Parser)]
    struct Submitting {
        #[arg(short = 'M', long)]
        clusters: Option<String>,

        #[arg(long)]
        at: Option<String>,

        #[command(flatten)]
        job: JobArguments,

        #[arg(last = true)]
        more: Vec<String>,
    }

    #[test]
    fn an_option_of_the_command_wins_over_that_of_sbatch() {
        let line = <Submitting as clap::Parser>::try_parse_from(["queuecast", "-M", "east", "job.sh", "-N4", "--", "-x", "y"]).unwrap();
        assert_eq!((line.clusters.as_deref(), line.more.len()), (Some("east"), 2));
        assert_eq!((line.job.options, line.job.script), (vec!["--nodes=4".to_owned()], vec!["job.sh".to_owned()]));
    }

    fn read(words: &[&str]) -> JobArguments {
        <Line as clap::Parser>::try_parse_from([&["queuecast"], words].concat()).unwrap().job
    }

    #[test]
    fn options_are_collected_in_their_order_each_in_one_word() {
        let job = read(&["-N2-4", "--ntasks", "8", "-Hv", "--exclusive", "-v", "--nice=-5", "--exclusive=user", "-Meast", "--part=gpu"]);
        let words = ["--nodes=2-4", "--ntasks=8", "--hold", "--verbose", "--exclusive", "--verbose", "--nice=-5", "--exclusive=user"];
        assert_eq!(job.options, [&words[..], &["--clusters=east", "--partition=gpu"]].concat());
        assert!(job.script.is_empty());
    }

    #[test]
    fn what_stands_behind_the_script_is_the_scripts() {
        let job = read(&["-n4", "job.sh", "-n", "8", "--unknown", "x"]);
        assert_eq!(
            (job.options, job.script),
            (vec!["--ntasks=4".to_owned()], ["job.sh", "-n", "8", "--unknown", "x"].map(str::to_owned).to_vec())
        );
    }

    #[test]
    fn a_value_may_begin_with_a_hyphen_as_for_sbatch() {
        assert_eq!(read(&["--comment", "-x", "-n", "-4"]).options, ["--comment=-x", "--ntasks=-4"]);
    }

    #[test]
    fn time_limits_with_units_are_given_to_sbatch_in_its_own_form() {
        assert_eq!(read(&["-t90m", "--time-min=1h"]).options, ["--time=1:30:00", "--time-min=1:00:00"]);
        assert_eq!(read(&["-t90", "--time=1-12"]).options, ["--time=90", "--time=1-12"]);
        assert_eq!(read(&["-tUNLIMITED"]).options, ["--time=UNLIMITED"]);
    }

    #[test]
    fn options_that_are_shown_are_sbatchs() {
        for (name, ..) in SHOWN {
            assert!(taken().any(|option| option.name == name), "{name}");
        }
    }
}
