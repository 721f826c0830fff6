//! The options that choose the scheduler.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::{Args, ValueEnum};
use simulator::engine::backfill::{self, Conservative, Easy, InOrder, Slurm, SlurmParameters};
use simulator::engine::estimates::{LastTwo, Requested};
use simulator::engine::order::{Associations, FirstCome, Multifactor, PrioritySettings, ShortestFirst};
use simulator::engine::{Backfill, Departure, Estimates, Order, Scheduler};
use simulator::workload::Workload;
use slurm_conf::SlurmSettings;

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
        let site = self.slurm_conf.as_deref().map(SiteSettings::read).transpose()?;
        let mut not_modelled = Vec::new();
        let mut parameters = SlurmParameters::default();
        if let Some(site) = &site {
            not_modelled.clone_from(&site.others);
            if self.slurm_parameters.is_none() {
                parameters = site.parameters.clone();
                not_modelled.extend(site.not_of_scheduler.iter().cloned());
            }
        }
        if let Some(written) = &self.slurm_parameters {
            // Whoever types a parameter wants it.
            parameters = SlurmParameters::parse(written).context("--slurm-parameters")?;
        }
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
        let default_order = if site.is_some() { OrderKind::Multifactor } else { OrderKind::Fcfs };
        let order: Box<dyn Order> = match self.order.unwrap_or(default_order) {
            OrderKind::Fcfs => Box::new(FirstCome),
            OrderKind::Shortest => Box::new(ShortestFirst),
            OrderKind::Multifactor => {
                let settings = site.map_or_else(PrioritySettings::default, |site| {
                    not_modelled.extend(site.not_of_priorities);
                    site.priorities
                });
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
}

/// What a file says of a site's own scheduler, as far as the simulation has it, and where the
/// simulation does not go by it as it is written.
#[derive(Debug)]
pub struct SiteSettings {
    /// The parameters of its schedulers; Slurm's defaults where the file has none.
    pub parameters: SlurmParameters,
    /// The settings of its priorities; Slurm's defaults where the file has none.
    pub priorities: PrioritySettings,
    /// Whether the file has `SchedulerParameters`, and settings of priorities.
    pub says: (bool, bool),
    /// Whether all included files could be read.
    pub is_whole: bool,
    not_of_scheduler: Vec<NotModelled>,
    not_of_priorities: Vec<NotModelled>,
    others: Vec<NotModelled>,
}

impl From<&SlurmSettings> for SiteSettings {
    fn from(site: &SlurmSettings) -> Self {
        let written = site.get("SchedulerParameters");
        let (parameters, not_of_scheduler) = SlurmParameters::of_site(written.unwrap_or_default());
        let (priorities, not_of_priorities) = PrioritySettings::of_site(site);
        let told = |departures: Vec<Departure>| departures.into_iter().map(NotModelled::from).collect();
        Self {
            parameters,
            priorities,
            says: (written.is_some(), PrioritySettings::are_in(site)),
            is_whole: site.problems.is_empty(),
            not_of_scheduler: told(not_of_scheduler),
            not_of_priorities: told(not_of_priorities),
            others: not_modelled::other_settings(site),
        }
    }
}

impl SiteSettings {
    /// Reads a slurm.conf with what it includes, or what `scontrol show config` printed.
    ///
    /// # Errors
    ///
    /// The file can't be read, or says nothing of Slurm; it is named.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let site = SlurmSettings::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let found = Self::from(&site);
        ensure!(
            found.says != (false, false) || ["ClusterName", "SlurmctldHost", "SchedulerType"].iter().any(|key| site.get(key).is_some()),
            "{} says nothing of Slurm's scheduler, priorities or cluster: is this a slurm.conf, or what `scontrol show config` prints?",
            path.display()
        );
        Ok(found)
    }

    /// Returns the ways in which the simulation departs from the file as it is written.
    pub fn not_modelled(&self) -> Vec<NotModelled> {
        [&self.others, &self.not_of_scheduler, &self.not_of_priorities].into_iter().flatten().cloned().collect()
    }
}
