//! The plugin on the submitting side, in sbatch, salloc and srun: reads what the user asks for and
//! hands it to slurmctld.

use job_types::number::JobId;
use std::env;
use std::error::Error;
use std::ffi::{OsStr, OsString};

use jiff::tz::TimeZone;
use job_types::options::{EarlyStart, HOLD_UNTIL_VARIABLE, Key, OPTIONS, SHARE_VARIABLE, UserOption, UserOptions};
use slurm_spank::{Context, SpankHandle, SpankOption, spank_log_error, spank_log_info, spank_log_verbose};

use slurm_sys::process;

use crate::forwarded;
use crate::given::{self, Refused};
use crate::{granted, shell};

/// What the submitting side keeps from one callback to the next.
#[derive(Debug, Default)]
pub(crate) struct Submission {
    /// Whether the command runs inside a job.
    inside_job: bool,
    /// What the user asked for, once the options are read.
    asked: UserOptions,
}

/// Makes the options known; Slurm has not read the command line yet.
pub(crate) fn register_options(spank: &mut SpankHandle<'_>) -> Result<(), Box<dyn Error>> {
    for option in &OPTIONS {
        let registered = SpankOption::new(option.name).usage(option.help);
        spank.register_option(match option.placeholder {
            Some(placeholder) => registered.takes_value(placeholder),
            None => registered,
        })?;
    }
    Ok(())
}

impl Submission {
    pub(crate) fn init(&mut self, spank: &mut SpankHandle<'_>) -> Result<(), Box<dyn Error>> {
        self.inside_job = env::var_os("SLURM_JOB_ID").is_some();
        if self.inside_job {
            // Slurm reads these as if the user had given the outer job's options once more.
            forwarded::variables().for_each(|variable| process::remove_variable(&variable));
        }
        if spank.context()? == Context::Local {
            // srun passes its environment on to its step. Only a grant makes a step wait.
            process::remove_variable(HOLD_UNTIL_VARIABLE);
        }
        let is_step_of_a_job = self.inside_job && spank.context()? == Context::Local;
        if !is_step_of_a_job {
            // What an outer job was admitted with is not the new job's.
            process::remove_variable(SHARE_VARIABLE);
            // The filter has no environment to write to but that of a batch job.
            if !is_command("sbatch") && env::args().any(|argument| argument.starts_with("--deadline")) {
                process::set_variable(SHARE_VARIABLE, "1");
            }
        }
        if is_command("scrontab") { Ok(()) } else { register_options(spank) }
    }

    /// Checks the options and puts them into the job's control environment; an error is for the
    /// user and ends the command.
    pub(crate) fn init_post_opt(&mut self, spank: &mut SpankHandle<'_>) -> Result<(), Box<dyn Error>> {
        let is_step_of_a_job = self.inside_job && spank.context()? == Context::Local;
        let in_environment = |variable: &str| if is_step_of_a_job { None } else { env::var_os(variable) };
        self.asked =
            given::read(|option| on_command_line(spank, option), in_environment, jiff::Timestamp::now().as_second(), &TimeZone::system())?;
        let is_salloc = is_command("salloc");
        if !is_salloc && self.asked.shell_at_once {
            let option = Key::ShellAtOnce.option();
            if on_command_line(spank, option).is_some() {
                return Err(Refused::because(option, &"only salloc has a shell").into());
            }
            self.asked.unset(Key::ShellAtOnce);
        }
        for option in &OPTIONS {
            match self.asked.canonical_value(option.key) {
                Some(value) => spank.job_control_setenv(option.variable, value, true),
                // srun copies an outer job's control variables from the environment before any
                // plugin sees them.
                None => spank.job_control_unsetenv(option.variable),
            }
            .map_err(|error| Refused::because(option, &error))?;
        }
        if is_step_of_a_job && !self.asked.is_empty() {
            spank_log_info!("queuecast: this job has its nodes already; the options of queuecast change nothing for a step");
        }
        let shell_waits = is_salloc && self.may_wait() && !self.asked.shell_at_once;
        if shell_waits && !shell::waits_for_its_time() {
            spank_log_error!("queuecast: no memory: the shell begins as soon as the nodes are there");
        }
        Ok(())
    }

    /// Whether this job waits on its nodes for its time, as far as its user has a say.
    fn may_wait(&self) -> bool {
        self.asked.reserve_at.is_some() && self.asked.early_start != Some(EarlyStart::Run)
    }

    /// Passes on what slurmctld granted to this job. It is called in srun, once the allocation is
    /// made and before the step is launched.
    pub(crate) fn local_user_init(&mut self, spank: &mut SpankHandle<'_>) -> Result<(), Box<dyn Error>> {
        if self.inside_job || !self.may_wait() || spank.job_stepid()? != 0 {
            return Ok(());
        }
        match granted::hold(JobId(spank.job_id()?)) {
            Some(grant) => process::set_variable(HOLD_UNTIL_VARIABLE, &grant.until.to_string()),
            None => spank_log_verbose!("queuecast: slurmctld granted no wait to this job"),
        }
        Ok(())
    }
}

/// Whether the command that loaded the plugin has that name.
///
/// Only salloc has a shell. scrontab reads a plugin's options but neither calls the plugin once it
/// has nor sends a control environment (src/scrontab/scrontab.c). There each would be accepted and
/// do nothing; unknown, it is refused.
fn is_command(name: &str) -> bool {
    env::current_exe().is_ok_and(|program| program.file_name() == Some(OsStr::new(name)))
}

/// An option's value where the user gave it on the command line or in a script's directive.
fn on_command_line(spank: &SpankHandle<'_>, option: &UserOption) -> Option<OsString> {
    if !spank.is_option_set(option.name) {
        return None;
    }
    if option.placeholder.is_none() {
        return Some(OsString::from("1"));
    }
    Some(spank.get_option_value_os(option.name).as_deref().unwrap_or(OsStr::new("")).to_owned())
}
