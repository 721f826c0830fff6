//! The options that choose the scheduler.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, ValueEnum};
use simulator::engine::backfill::{self, Conservative, Easy, InOrder, Slurm, SlurmParameters};
use simulator::engine::estimates::{LastTwo, Requested};
use simulator::engine::order::{Associations, FirstCome, Multifactor, PrioritySettings, ShortestFirst};
use simulator::engine::{Backfill, Estimates, Order, Scheduler};
use simulator::workload::Workload;

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
    /// priorities and the SchedulerParameters. All users have equal shares.
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

    /// A scheduler that has seen nothing yet.
    ///
    /// # Errors
    ///
    /// Slurm's settings can't be read; what is wrong is named.
    pub(super) fn scheduler(&self, workload: &Workload) -> anyhow::Result<Scheduler> {
        let configuration = self.configuration()?;
        let written = self.slurm_parameters.as_deref();
        let parameters = written.or_else(|| configuration.as_deref().and_then(scheduler_parameters)).unwrap_or_default();
        let parameters = SlurmParameters::parse(parameters)?;
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
                let settings = PrioritySettings::parse(configuration.as_deref().unwrap_or_default())?;
                let first = workload.jobs.first().map(|job| job.submit).unwrap_or_default();
                Box::new(Multifactor::new(settings, Associations::of_users(&workload.jobs), workload.processors, first))
            }
        };
        let estimates: Box<dyn Estimates> = match self.estimates {
            EstimatesKind::Requested => Box::new(Requested),
            EstimatesKind::LastTwo => Box::<LastTwo>::default(),
        };
        Ok(Scheduler { order, backfill, estimates })
    }

    fn configuration(&self) -> anyhow::Result<Option<String>> {
        let read = |path: &PathBuf| fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()));
        self.slurm_conf.as_ref().map(read).transpose()
    }
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
