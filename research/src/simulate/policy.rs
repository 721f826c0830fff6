//! Which policy stands in front of the scheduler.

use clap::{Args, ValueEnum};
use simulator::engine::policy::AsSubmitted;
use simulator::engine::{Job, Policy};
use simulator::experiment::{Counted, Hold, Method, Options, Protocol, RequestedFeatures, experiment_policy};

/// The policy, and what it cannot know.
#[derive(Debug, Args)]
pub(super) struct PolicyArguments {
    /// What happens to jobs before the scheduler sees them.
    #[arg(long, value_enum, default_value_t)]
    policy: Kind,

    /// What a job runs at another size.
    #[arg(long, value_enum, default_value_t)]
    protocol: ProtocolKind,

    /// The part of the jobs whose users leave the choice to the policy, 0 to 1.
    #[arg(long, value_name = "PART", default_value_t = 1.0, value_parser = part)]
    adoption: f64,

    /// Where random numbers begin: the curves of speed-up, and who leaves the choice to the policy.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Nothing: they are submitted as they were.
    #[default]
    AsSubmitted,
    /// They are molded as the plugin molds them.
    Molding,
    /// They are molded and deferred as the plugin does where users ask for both.
    Deferral,
    /// They are molded as Hariharan et al. 2020 have it.
    PaperMolding,
    /// They are molded and held back, with those behind them, as Hariharan et al. 2020 have it.
    PaperDeferral,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum ProtocolKind {
    /// One of the user's own run times at that size.
    Paper,
    /// What the same computation takes there, along a speed-up curve.
    #[default]
    WorkConserving,
}

fn part(text: &str) -> Result<f64, String> {
    let parsed = text.parse::<f64>().ok().filter(|part| (0.0..=1.0).contains(part));
    parsed.ok_or_else(|| "a part is a number from 0 to 1".to_owned())
}

impl PolicyArguments {
    /// What the report calls it.
    pub(super) fn name(&self) -> &'static str {
        match self.policy {
            Kind::AsSubmitted => "as-submitted",
            Kind::Molding => "molding",
            Kind::Deferral => "deferral",
            Kind::PaperMolding => "paper-molding",
            Kind::PaperDeferral => "paper-deferral",
        }
    }

    /// Whether it decides anything, by what it sees of a job.
    pub(super) fn decides(&self) -> bool {
        self.policy != Kind::AsSubmitted
    }

    /// A policy that has seen nothing yet.
    pub(super) fn policy(&self, jobs: &[Job], processors: u32) -> Box<dyn Policy> {
        let method = match self.policy {
            Kind::AsSubmitted => return Box::new(AsSubmitted),
            Kind::Molding => Method::Default(RequestedFeatures::default()),
            Kind::Deferral => Method::Default(RequestedFeatures { deferral: true, ..RequestedFeatures::default() }),
            Kind::PaperMolding => Method::PaperMolding,
            Kind::PaperDeferral => Method::PaperDeferral(Hold::Queue, Counted::FromSubmission),
        };
        let protocol = match self.protocol {
            ProtocolKind::Paper => Protocol::Paper,
            ProtocolKind::WorkConserving => Protocol::WorkConserving,
        };
        let options = Options { protocol, method, adoption: self.adoption, seed: self.seed, ..Options::default() };
        Box::new(experiment_policy(jobs, processors, 0, &options))
    }
}
