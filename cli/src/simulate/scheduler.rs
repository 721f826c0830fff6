//! Which scheduler.

use clap::{Args, ValueEnum};
use simulator::engine::backfill::{self, Conservative, Easy, InOrder};
use simulator::engine::estimates::{LastTwo, Requested};
use simulator::engine::order::{FirstCome, ShortestFirst};
use simulator::engine::{Backfill, Estimates, Order, Scheduler};

/// The scheduler and its parts.
#[derive(Debug, Args)]
pub(super) struct SchedulerArguments {
    /// Who may start now.
    #[arg(long, value_enum, default_value_t)]
    scheduler: Kind,

    /// Who comes first in the queue.
    #[arg(long, value_enum, default_value_t)]
    order: OrderKind,

    /// What the scheduler expects jobs to run.
    #[arg(long, value_enum, default_value_t)]
    estimates: EstimatesKind,

    /// Of EASY: in which order the jobs behind the first are tried.
    #[arg(long, value_enum, default_value_t)]
    candidates: CandidatesKind,
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
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum OrderKind {
    /// The first to come.
    #[default]
    Fcfs,
    /// The shortest expected run time.
    Shortest,
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
        }
    }

    /// A scheduler that has seen nothing yet.
    pub(super) fn scheduler(&self) -> Scheduler {
        let order: Box<dyn Order> = match self.order {
            OrderKind::Fcfs => Box::new(FirstCome),
            OrderKind::Shortest => Box::new(ShortestFirst),
        };
        let candidates = match self.candidates {
            CandidatesKind::Queue => backfill::Candidates::InOrder,
            CandidatesKind::Shortest => backfill::Candidates::ShortestFirst,
        };
        let backfill: Box<dyn Backfill> = match self.scheduler {
            Kind::Fcfs => Box::new(InOrder),
            Kind::Easy => Box::new(Easy::new(candidates)),
            Kind::Conservative => Box::new(Conservative::new()),
        };
        let estimates: Box<dyn Estimates> = match self.estimates {
            EstimatesKind::Requested => Box::new(Requested),
            EstimatesKind::LastTwo => Box::<LastTwo>::default(),
        };
        Scheduler { order, backfill, estimates }
    }
}
