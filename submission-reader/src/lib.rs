//! The one reader of a submission: it makes of the fields of a job what decisions are about.
//!
//! The submit filter reads a job description with it, and `queuecast predict` and `reserve` read
//! the job that an sbatch command line describes. Both hand over the same fields
//! ([`site_rules::field::Fields`]) that rules read, so that a job is tied to its size, kept from
//! starting, or bound to certain nodes for the same reasons wherever it is read.

use job_types::number::UserId;
use job_types::options::UserOptions;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::{FixedSizeReason, NodeRange, OutsidePlan, Placement, StartBlocker, Submission, TimeLimit};
use site_rules::field::{FieldNumber, Fields, Name};
use site_rules::value::{Resources, Value};

/// The user of a job whose user is not set. Slurm gives nobody this number.
const NO_USER: UserId = UserId(u32::MAX);

/// The submission that a job's fields describe, of a user who asks for `asked`.
///
/// Of a text that is not UTF-8 `job` may give nothing: it counts as given where [`Fields::has`]
/// says so.
pub fn submission<F: Fields + ?Sized>(job: &F, asked: UserOptions) -> Submission<'_> {
    let job = Job(job);
    Submission {
        user: job.number(Name::UserId).map_or(NO_USER, UserId),
        partition: job.text(Name::Partition),
        account: job.text(Name::Account),
        qos: job.text(Name::Qos),
        nodes: job.nodes(),
        tasks: job.number(Name::NumTasks),
        tasks_per_node: job.number(Name::NtasksPerNode),
        cpus_per_task: job.number(Name::CpusPerTask),
        min_cpus: job.number(Name::MinCpus),
        whole_nodes: job.is(Name::Exclusive),
        limit: job.limit(),
        shortest_limit: job.span(Name::TimeMin),
        begin: job.moment(Name::BeginTime),
        deadline: job.moment(Name::Deadline),
        is_array: job.has(Name::ArrayInx),
        is_immediate: job.is(Name::Immediate),
        is_interactive: job.is(Name::IsInteractive),
        chooses_clusters: job.has(Name::ClusterFeatures),
        obstacle: StartBlocker::first(|obstacle| job.is_kept_by(obstacle)),
        placement: Placement::first(|placement| job.is_placed_by(placement)),
        outside_plan: OutsidePlan::first(|what| job.asks_outside_plan(what)),
        tie: FixedSizeReason::first(|tie| job.is_tied_by(tie)),
        asked,
    }
}

/// A job whose fields are read as what they are known to be.
struct Job<'a, F: ?Sized>(&'a F);

impl<'a, F: Fields + ?Sized> Job<'a, F> {
    fn value(&self, name: Name) -> Option<Value<'a>> {
        self.0.field(FieldNumber::from(name))
    }

    fn has(&self, name: Name) -> bool {
        self.0.has(FieldNumber::from(name))
    }

    fn text(&self, name: Name) -> Option<&'a str> {
        match self.value(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn number(&self, name: Name) -> Option<u32> {
        match self.value(name) {
            Some(Value::Integer(number)) => u32::try_from(number).ok(),
            _ => None,
        }
    }

    fn span(&self, name: Name) -> Option<Seconds> {
        match self.value(name) {
            Some(Value::Duration(seconds)) => Some(seconds),
            _ => None,
        }
    }

    fn moment(&self, name: Name) -> Option<UnixTime> {
        match self.value(name) {
            Some(Value::Moment(moment)) => Some(moment),
            _ => None,
        }
    }

    fn is(&self, name: Name) -> bool {
        matches!(self.value(name), Some(Value::Truth(true)))
    }

    fn nodes(&self) -> Option<NodeRange> {
        let least = self.number(Name::MinNodes)?;
        Some(NodeRange { least, most: self.number(Name::MaxNodes).unwrap_or(least).max(least) })
    }

    fn limit(&self) -> TimeLimit {
        match self.span(Name::TimeLimit) {
            Some(limit) => TimeLimit::Limited(limit),
            None if self.is(Name::TimeLimitIsUnlimited) => TimeLimit::Unlimited,
            None => TimeLimit::Unset,
        }
    }

    fn is_kept_by(&self, obstacle: StartBlocker) -> bool {
        match obstacle {
            StartBlocker::Reservation => self.has(Name::Reservation),
            StartBlocker::Dependency => self.has(Name::Dependency),
            StartBlocker::Held => self.is(Name::IsHeld),
        }
    }

    fn is_placed_by(&self, placement: Placement) -> bool {
        let has_one_of = |names: &[Name]| names.iter().any(|name| self.has(*name));
        match placement {
            Placement::Features => has_one_of(&[Name::Features, Name::ClusterFeatures]),
            Placement::ExcludedNodes => self.has(Name::ExcNodes),
            Placement::GenericResources => {
                [Name::TresPerNode, Name::TresPerSocket, Name::TresPerTask].into_iter().any(|name| self.lists_generic_resources(name))
            }
            Placement::Memory => has_one_of(&[Name::MemoryPerNode, Name::MemoryPerCpu, Name::MemPerTres]) || self.is(Name::MemIsZero),
            Placement::NodeShape => {
                let shapes = [Name::SocketsPerNode, Name::CoresPerSocket, Name::ThreadsPerCore, Name::PnMinTmpDisk, Name::ReqSwitch];
                // sbatch has a node hold the CPUs of a task, which shapes no node.
                let of_task = || self.number(Name::CpusPerTask).unwrap_or(1);
                has_one_of(&shapes) || self.is(Name::Contiguous) || self.number(Name::PnMinCpus).is_some_and(|cpus| cpus > of_task())
            }
        }
    }

    fn asks_outside_plan(&self, what: OutsidePlan) -> bool {
        match what {
            OutsidePlan::NodeList => self.is_tied_by(FixedSizeReason::NodeList),
            OutsidePlan::ExcludedNodes => self.is_placed_by(Placement::ExcludedNodes),
            OutsidePlan::Features => self.is_placed_by(Placement::Features),
            OutsidePlan::GenericResources => {
                self.is_placed_by(Placement::GenericResources) || self.is_tied_by(FixedSizeReason::GenericResourcesPerJob)
            }
            OutsidePlan::Licences => self.is_tied_by(FixedSizeReason::Licences),
            OutsidePlan::NodeShape => self.is_placed_by(Placement::NodeShape),
        }
    }

    /// Whether a list asks for generic resources. Since 23.11 sbatch also writes the CPUs of a task
    /// there, which are none.
    fn lists_generic_resources(&self, name: Name) -> bool {
        match self.value(name) {
            Some(Value::Resources(Resources(list))) => {
                list.split(',').any(|entry| !entry.is_empty() && !matches!(entry.split_once([':', '=']), Some(("cpu", _))))
            }
            _ => self.has(name),
        }
    }

    fn is_tied_by(&self, tie: FixedSizeReason) -> bool {
        match tie {
            FixedSizeReason::Heterogeneous => self.has(Name::HetJobOffset),
            FixedSizeReason::Interactive => self.is(Name::IsInteractive),
            FixedSizeReason::NodeList => self.has(Name::ReqNodes),
            FixedSizeReason::Reservation => self.has(Name::Reservation),
            FixedSizeReason::Licences => self.has(Name::Licenses),
            FixedSizeReason::GenericResourcesPerJob => self.has(Name::TresPerJob),
            FixedSizeReason::CountedFeatures => self.text(Name::Features).is_some_and(|features| features.contains('*')),
            FixedSizeReason::MostCpus => self.has(Name::MaxCpus),
            FixedSizeReason::SeveralPartitions => self.text(Name::Partition).is_some_and(|names| names.contains(',')),
        }
    }
}

#[cfg(test)]
mod tests;
