//! The options that choose the scheduler.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use simulator::engine::backfill::{self, Conservative, Easy, InOrder, Slurm, SlurmParameters};
use simulator::engine::estimates::{LastTwo, Requested};
use simulator::engine::order::{Associations, FirstCome, Multifactor, PrioritySettings, ShortestFirst};
use simulator::engine::{Backfill, Estimates, Order, Scheduler};
use simulator::workload::Workload;

use super::not_modelled::{self, NotModelled};

/// The scheduler and its parts.
#[derive(Debug, Args)]
pub(super) struct SchedulerArguments {
    /// Who may start now.
    #[arg(long, value_enum, default_value_t)]
    scheduler: Kind,

    /// Who comes first in the queue [default: multifactor with --slurm-conf, or else fcfs].
    #[arg(long, value_enum)]
    order: Option<OrderKind>,

    /// What the scheduler expects jobs to run.
    #[arg(long, value_enum, default_value_t)]
    estimates: EstimatesKind,

    /// Of EASY: in which order the jobs behind the first are tried.
    #[arg(long, value_enum, default_value_t)]
    candidates: CandidatesKind,

    /// Of Slurm: parameters of its schedulers, as in slurm.conf's SchedulerParameters:
    /// `bf_window=1440,bf_resolution=60`. They win over those of --slurm-conf.
    #[arg(long, value_name = "PARAMETERS")]
    slurm_parameters: Option<String>,

    /// Of Slurm: a slurm.conf, or what `scontrol show config` prints, with the weights of
    /// priorities and the SchedulerParameters. All users have equal shares. What the simulation
    /// does not have of it is said on standard error, a line for each, and left out.
    #[arg(long, value_name = "FILE")]
    slurm_conf: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Kind {
    /// Nobody overtakes.
    Fcfs,
    /// Who does not delay the first of the queue may overtake.
    #[default]
    Easy,
    /// Who delays nobody in front may overtake.
    Conservative,
    /// Slurm's main scheduler and its backfill, each at its intervals.
    Slurm,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum OrderKind {
    /// The first to come.
    Fcfs,
    /// The shortest expected run time.
    Shortest,
    /// The highest of Slurm's multifactor priorities.
    Multifactor,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum EstimatesKind {
    /// What users asked for.
    #[default]
    Requested,
    /// The mean of the last two run times of the same user, corrected when a job outlives it.
    LastTwo,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum CandidatesKind {
    /// As they stand in the queue.
    #[default]
    Queue,
    /// The shortest expected run time first; with `--estimates last-two` this is EASY++.
    Shortest,
}

impl SchedulerArguments {
    /// What the report calls it.
    pub(super) fn name(&self) -> &'static str {
        match self.scheduler {
            Kind::Fcfs => "fcfs",
            Kind::Easy => "easy",
            Kind::Conservative => "conservative",
            Kind::Slurm => "slurm",
        }
    }

    /// A scheduler that has seen nothing yet, and what it does not have of --slurm-conf.
    ///
    /// # Errors
    ///
    /// Slurm's settings can't be read; what is wrong is named.
    pub(super) fn scheduler(&self, workload: &Workload) -> anyhow::Result<(Scheduler, Vec<NotModelled>)> {
        let configuration = self.configuration()?;
        let source = || self.slurm_conf.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        let mut not_modelled: Vec<NotModelled> = configuration.as_deref().map(not_modelled::other_settings).unwrap_or_default();
        let parameters = match &self.slurm_parameters {
            // Whoever types a parameter wants it.
            Some(written) => SlurmParameters::parse(written).context("--slurm-parameters")?,
            None => {
                let found = configuration.as_deref().and_then(scheduler_parameters).unwrap_or_default();
                let (parameters, unknown) = SlurmParameters::parse_known(found).with_context(source)?;
                not_modelled.extend(unknown.into_iter().map(NotModelled::of_scheduler));
                parameters
            }
        };
        let candidates = match self.candidates {
            CandidatesKind::Queue => backfill::Candidates::InOrder,
            CandidatesKind::Shortest => backfill::Candidates::ShortestFirst,
        };
        let backfill: Box<dyn Backfill> = match self.scheduler {
            Kind::Fcfs => Box::new(InOrder),
            Kind::Easy => Box::new(Easy::new(candidates)),
            Kind::Conservative => Box::new(Conservative::new()),
            Kind::Slurm => Box::new(Slurm::new(parameters)),
        };
        let default_order = if configuration.is_some() { OrderKind::Multifactor } else { OrderKind::Fcfs };
        let order: Box<dyn Order> = match self.order.unwrap_or(default_order) {
            OrderKind::Fcfs => Box::new(FirstCome),
            OrderKind::Shortest => Box::new(ShortestFirst),
            OrderKind::Multifactor => {
                let (settings, unknown) =
                    PrioritySettings::parse_known(configuration.as_deref().unwrap_or_default()).with_context(source)?;
                not_modelled.extend(unknown.into_iter().map(|unknown| NotModelled::of_priorities(unknown.setting)));
                let first = workload.jobs.first().map(|job| job.submit).unwrap_or_default();
                Box::new(Multifactor::new(settings, Associations::of_users(&workload.jobs), workload.processors, first))
            }
        };
        let estimates: Box<dyn Estimates> = match self.estimates {
            EstimatesKind::Requested => Box::new(Requested),
            EstimatesKind::LastTwo => Box::<LastTwo>::default(),
        };
        Ok((Scheduler { order, backfill, estimates }, not_modelled))
    }

    fn configuration(&self) -> anyhow::Result<Option<String>> {
        let read = |path: &PathBuf| fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()));
        self.slurm_conf.as_ref().map(read).transpose()
    }
}

/// What a file says of a site's own scheduler, as far as the simulation has it, and what the
/// simulation does not have of it.
///
/// # Errors
///
/// The file can't be read, or a setting that the simulation has; they are named.
pub(crate) fn site_settings(path: &Path) -> anyhow::Result<(SlurmParameters, PrioritySettings, Vec<NotModelled>)> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let source = || path.display().to_string();
    let mut not_modelled = not_modelled::other_settings(&text);
    let (parameters, unknown) = SlurmParameters::parse_known(scheduler_parameters(&text).unwrap_or_default()).with_context(source)?;
    not_modelled.extend(unknown.into_iter().map(NotModelled::of_scheduler));
    let (priorities, unknown) = PrioritySettings::parse_known(&text).with_context(source)?;
    not_modelled.extend(unknown.into_iter().map(|unknown| NotModelled::of_priorities(unknown.setting)));
    Ok((parameters, priorities, not_modelled))
}

/// The value of `SchedulerParameters` in lines of slurm.conf.
fn scheduler_parameters(configuration: &str) -> Option<&str> {
    let mut settings = configuration.lines().filter_map(|line| line.split('#').next()?.split_once('='));
    let (_, value) = settings.rfind(|(key, _)| key.trim().eq_ignore_ascii_case("SchedulerParameters"))?;
    Some(value.trim()).filter(|value| !value.is_empty() && *value != "(null)")
}

#[cfg(test)]
mod tests {
    use super::scheduler_parameters;

    #[test]
    fn the_parameters_are_found_among_other_settings() {
        let found =
            scheduler_parameters("ClusterName=x\n schedulerparameters = bf_window=60,bf_resolution=30 # note\nPriorityWeightAge=1\n");
        assert_eq!(found, Some("bf_window=60,bf_resolution=30"));
        assert_eq!(scheduler_parameters("SchedulerParameters     = (null)\n"), None);
    }
}
