//! What follows from several fields of a job.
//!
//! It is computed from the other fields wherever these are read of, so that it is the same for a
//! job description, for a command line, and for a job of which rules have written fields.
//!
//! Slurm counts what a job asks for in `gres_job_state_validate` (src/interfaces/gres.c; up to
//! 22.05 src/common/gres.c). Here too a job without a number of nodes has at least one.

use crate::field::{COUNTED_LISTS, FieldNumber, Fields, GpuCounts, Name};
use crate::resources::{self, GPU, Gpus, Resource};
use crate::value::{Resources, Texts, Value};
use std::cell::OnceCell;

/// The lists of resources in which GPUs can stand.
pub const RESOURCE_FIELDS: [Name; 4] = [Name::TresPerJob, Name::TresPerNode, Name::TresPerSocket, Name::TresPerTask];

impl Name {
    /// Whether it follows from other fields, by [`value`]; `gpu_types` by [`gpu_types`].
    #[must_use]
    pub const fn is_derived(self) -> bool {
        matches!(
            self,
            Name::ArraySize
                | Name::Cpus
                | Name::CpusPerGpu
                | Name::Exclusive
                | Name::GpuTypes
                | Name::Gpus
                | Name::GpusPerNode
                | Name::GpusPerSocket
                | Name::GpusPerTask
                | Name::HasUntypedGpus
                | Name::IsArray
                | Name::IsHeld
                | Name::IsInteractive
                | Name::LicenseNames
                | Name::MemPerGpu
                | Name::Memory
                | Name::Partitions
                | Name::QosNames
                | Name::Tasks
        )
    }

    /// The fields that a derived one is computed of; none for one that is not derived.
    #[must_use]
    pub fn depends_on(self) -> &'static [Name] {
        /// [`COUNTED_LISTS`], and behind them what tasks, nodes, CPUs and memory are counted from.
        const ALL: &[Name] = &[
            Name::TresPerJob,
            Name::TresPerNode,
            Name::TresPerSocket,
            Name::TresPerTask,
            Name::CpusPerTres,
            Name::MemPerTres,
            Name::NumTasks,
            Name::NtasksPerTres,
            Name::CpusPerTask,
            Name::MaxNodes,
            Name::MemoryPerCpu,
            Name::MemoryPerNode,
            Name::MinCpus,
            Name::MinNodes,
            Name::NtasksPerNode,
            Name::NtasksPerSocket,
            Name::Overcommit,
            Name::PnMinCpus,
            Name::SocketsPerNode,
        ];
        match self {
            Name::ArraySize | Name::IsArray => &[Name::ArrayInx],
            Name::Exclusive => &[Name::Shared],
            Name::IsHeld => &[Name::Priority],
            Name::IsInteractive => &[Name::IsBatch],
            Name::LicenseNames => &[Name::Licenses],
            Name::Partitions => &[Name::Partition],
            Name::QosNames => &[Name::Qos],
            Name::GpuTypes => &RESOURCE_FIELDS,
            Name::CpusPerGpu | Name::GpusPerSocket | Name::GpusPerTask | Name::MemPerGpu => &COUNTED_LISTS,
            Name::HasUntypedGpus => ALL.split_at(COUNTED_LISTS.len() + 2).0,
            Name::Cpus | Name::Gpus | Name::GpusPerNode | Name::Memory | Name::Tasks => ALL,
            _ => &[],
        }
    }

    /// The fields that a job has no longer where this one is written: they stand in the same place
    /// of `job_desc_msg_t`. A truth among them is false then.
    #[must_use]
    pub fn displaces(self) -> &'static [Name] {
        match self {
            Name::MemoryPerNode => &[Name::MemoryPerCpu, Name::MemIsZero],
            Name::MemoryPerCpu => &[Name::MemoryPerNode, Name::MemIsZero],
            Name::CoreSpec => &[Name::ThreadSpec],
            Name::ThreadSpec => &[Name::CoreSpec],
            Name::TimeLimit => &[Name::TimeLimitIsUnlimited],
            _ => &[],
        }
    }
}

/// What a job has in a field that is derived; `None` where it is absent, is not derived, or is
/// `gpu_types`.
pub fn value<F: Fields + ?Sized>(name: Name, job: &F) -> Option<Value<'_>> {
    let job = Job::from(job);
    match name {
        Name::ArraySize => job.text(Name::ArrayInx).and_then(resources::array_size).map(Value::Integer),
        Name::Cpus => Some(Value::Integer(job.cpus())),
        Name::CpusPerGpu => job.per_gpu(Name::CpusPerTres).map(Value::Integer),
        Name::Exclusive => Some(Value::Truth(job.text(Name::Shared) == Some("none"))),
        Name::Gpus => Some(Value::Integer(job.gpus())),
        Name::GpusPerNode => job.gpus_per_node().map(Value::Integer),
        Name::GpusPerSocket => job.gpus_in(Name::TresPerSocket).map(Value::Integer),
        Name::GpusPerTask => job.gpus_in(Name::TresPerTask).map(Value::Integer),
        Name::HasUntypedGpus => Some(Value::Truth(job.has_untyped_gpus())),
        Name::IsArray => Some(Value::Truth(job.text(Name::ArrayInx).is_some())),
        Name::IsHeld => Some(Value::Truth(job.integer(Name::Priority) == Some(0))),
        Name::IsInteractive => Some(Value::Truth(!job.truth(Name::IsBatch))),
        Name::LicenseNames => Some(Value::Texts(Texts::Licenses(job.text(Name::Licenses).unwrap_or_default()))),
        Name::MemPerGpu => job.per_gpu(Name::MemPerTres).map(|mebibytes| Value::Integer(mebibytes.saturating_mul(1 << 20))),
        Name::Memory => job.memory().map(Value::Integer),
        Name::Partitions => Some(Value::Texts(Texts::Separated(job.text(Name::Partition).unwrap_or_default(), ','))),
        Name::QosNames => Some(Value::Texts(Texts::Separated(job.text(Name::Qos).unwrap_or_default(), ','))),
        Name::Tasks => Some(Value::Integer(job.tasks())),
        _ => None,
    }
}

/// The fewest GPUs of a type that a job can run with, counted as `gpus` is.
#[must_use]
pub fn gpus_of_type<F: Fields + ?Sized>(job: &F, subtype: &str) -> i64 {
    Job::from(job).gpus_where(|gpu| gpu.subtype == subtype)
}

/// How many licences of a name a job asks for.
#[must_use]
pub fn licenses<F: Fields + ?Sized>(job: &F, name: &str) -> i64 {
    crate::licenses::count(Job::from(job).text(Name::Licenses).unwrap_or_default(), name)
}

/// The types of the GPUs that a job asks for, as they are named.
pub fn gpu_types<F: Fields + ?Sized>(job: &F) -> impl Iterator<Item = &str> {
    RESOURCE_FIELDS.into_iter().flat_map(move |field| gpu_types_of(Job::from(job).list(field)))
}

/// The types of the GPUs in one list of resources.
pub fn gpu_types_of(text: &str) -> impl Iterator<Item = &str> {
    resources::all(text).filter(is_gpu).map(|gpu| gpu.subtype).filter(|name| !name.is_empty())
}

fn is_gpu(resource: &Resource<'_>) -> bool {
    resource.kind == GPU
}

/// A job as what follows from its fields is computed of.
struct Job<'a, F: ?Sized> {
    fields: &'a F,
    counts: OnceCell<GpuCounts>,
}

impl<'a, F: Fields + ?Sized> From<&'a F> for Job<'a, F> {
    fn from(fields: &'a F) -> Self {
        Job { fields, counts: OnceCell::new() }
    }
}

impl<'a, F: Fields + ?Sized> Job<'a, F> {
    fn get(&self, name: Name) -> Option<Value<'a>> {
        self.fields.field(FieldNumber::from(name))
    }

    /// What one of [`COUNTED_LISTS`] says of GPUs.
    fn counted(&self, name: Name) -> Gpus {
        let place = COUNTED_LISTS.iter().position(|list| *list == name);
        let counts = self.counts.get_or_init(|| self.fields.gpu_counts());
        place.and_then(|place| counts.get(place)).copied().unwrap_or_default()
    }

    fn text(&self, name: Name) -> Option<&'a str> {
        match self.get(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn integer(&self, name: Name) -> Option<i64> {
        match self.get(name) {
            Some(Value::Integer(number)) => Some(number),
            _ => None,
        }
    }

    /// A number that is one only above 0.
    fn count(&self, name: Name) -> Option<i64> {
        self.integer(name).filter(|number| *number > 0)
    }

    fn truth(&self, name: Name) -> bool {
        matches!(self.get(name), Some(Value::Truth(true)))
    }

    fn list(&self, name: Name) -> &'a str {
        match self.get(name) {
            Some(Value::Resources(Resources(text))) => text,
            _ => "",
        }
    }

    /// The GPUs in a list, `None` where there are none. Those of any type hold those of a type
    /// among them, as in `gpu:2,gpu:a100:1`.
    fn gpus_in(&self, name: Name) -> Option<i64> {
        let gpus = self.counted(name);
        Some(gpus.untyped.max(gpus.typed)).filter(|gpus| *gpus > 0)
    }

    /// What there is for each GPU.
    fn per_gpu(&self, name: Name) -> Option<i64> {
        self.counted(name).greatest
    }

    /// The fewest nodes, as given or as so many tasks of so many on each take; at least 1.
    fn nodes(&self) -> i64 {
        let taken = match (self.count(Name::NumTasks), self.count(Name::NtasksPerNode)) {
            (Some(tasks), Some(on_each)) => rounded_up(tasks, on_each),
            _ => 1,
        };
        self.count(Name::MinNodes).unwrap_or(1).max(taken)
    }

    /// The fewest tasks: as given, as so many on each node, as so many for each GPU, or one a node.
    fn tasks(&self) -> i64 {
        let on_nodes = |job: &Self| job.count(Name::NtasksPerNode).unwrap_or(1).saturating_mul(job.nodes());
        let for_gpus = |job: &Self| {
            let gpus = job.gpus_but_those_of_tasks();
            (gpus > 0).then(|| job.count(Name::NtasksPerTres).map(|tasks| tasks.saturating_mul(gpus))).flatten()
        };
        self.count(Name::NumTasks).unwrap_or_else(|| for_gpus(self).unwrap_or(0).max(on_nodes(self)))
    }

    fn gpus_but_those_of_tasks(&self) -> i64 {
        let on_nodes = self.gpus_in(Name::TresPerNode).map_or(0, |gpus| gpus.saturating_mul(self.nodes()));
        let on_sockets = self.gpus_in(Name::TresPerSocket).map_or(0, |gpus| gpus.saturating_mul(self.sockets()));
        self.gpus_in(Name::TresPerJob).unwrap_or(0).max(on_nodes).max(on_sockets)
    }

    /// The fewest sockets on all nodes; one a node where nothing is said of them.
    fn sockets(&self) -> i64 {
        let taken = match (self.count(Name::NumTasks), self.count(Name::NtasksPerSocket)) {
            (Some(tasks), Some(on_each)) if self.count(Name::SocketsPerNode).is_none() => rounded_up(tasks, on_each),
            _ => 1,
        };
        self.count(Name::SocketsPerNode).unwrap_or(1).saturating_mul(self.nodes()).max(taken)
    }

    fn gpus(&self) -> i64 {
        let for_tasks = self.gpus_in(Name::TresPerTask).map_or(0, |gpus| gpus.saturating_mul(self.tasks()));
        let gpus = self.gpus_but_those_of_tasks().max(for_tasks);
        if gpus > 0 { gpus } else { self.gpus_of_counted_tasks() }
    }

    /// The fewest GPUs of those for which something holds.
    fn gpus_where(&self, holds: impl Fn(&Resource<'a>) -> bool) -> i64 {
        let of = |name| {
            let counts = resources::all(self.list(name)).filter(is_gpu).filter(&holds).map(|gpu| gpu.count);
            counts.fold(0_i64, i64::saturating_add)
        };
        let times = |gpus: i64, number: &dyn Fn() -> i64| if gpus == 0 { 0 } else { gpus.saturating_mul(number()) };
        of(Name::TresPerJob)
            .max(times(of(Name::TresPerNode), &|| self.nodes()))
            .max(times(of(Name::TresPerSocket), &|| self.sockets()))
            .max(times(of(Name::TresPerTask), &|| self.tasks()))
    }

    /// Slurm makes GPUs of tasks that are counted by GPU where no GPUs are asked for.
    fn gpus_of_counted_tasks(&self) -> i64 {
        match (self.count(Name::NumTasks), self.count(Name::NtasksPerTres)) {
            (Some(tasks), Some(for_each)) => tasks / for_each,
            _ => 0,
        }
    }

    fn gpus_per_node(&self) -> Option<i64> {
        let gpus = self.gpus();
        if gpus == 0 {
            return Some(0);
        }
        let product = |each: Name, number: Name| Some(self.gpus_in(each)?.saturating_mul(self.count(number)?));
        let is_one = self.count(Name::MinNodes) == Some(1) && self.count(Name::MaxNodes) == Some(1);
        self.gpus_in(Name::TresPerNode)
            .or_else(|| product(Name::TresPerSocket, Name::SocketsPerNode))
            .or_else(|| product(Name::TresPerTask, Name::NtasksPerNode))
            .or(is_one.then_some(gpus))
    }

    fn has_untyped_gpus(&self) -> bool {
        let asked = RESOURCE_FIELDS.into_iter().map(|name| self.counted(name)).any(|gpus| gpus.untyped > gpus.typed);
        asked || (self.gpus_of_counted_tasks() > 0 && RESOURCE_FIELDS.into_iter().all(|name| self.gpus_in(name).is_none()))
    }

    fn cpus(&self) -> i64 {
        let nodes = self.nodes();
        // Tasks that share CPUs need no more of them than there are nodes.
        let of_tasks =
            if self.truth(Name::Overcommit) { 0 } else { self.tasks().saturating_mul(self.count(Name::CpusPerTask).unwrap_or(1)) };
        let of_gpus = self.per_gpu(Name::CpusPerTres).map_or(0, |cpus| cpus.saturating_mul(self.gpus()));
        let of_nodes = self.count(Name::PnMinCpus).unwrap_or(1).saturating_mul(nodes);
        [self.count(Name::MinCpus).unwrap_or(1), of_tasks, of_gpus, of_nodes].into_iter().fold(1, i64::max)
    }

    fn memory(&self) -> Option<i64> {
        let of_nodes = || Some(self.integer(Name::MemoryPerNode)?.saturating_mul(self.nodes()));
        let of_cpus = || Some(self.integer(Name::MemoryPerCpu)?.saturating_mul(self.cpus()));
        let of_gpus = || Some(self.per_gpu(Name::MemPerTres)?.saturating_mul(1 << 20).saturating_mul(self.gpus()));
        of_nodes().or_else(of_cpus).or_else(of_gpus)
    }
}

fn rounded_up(dividend: i64, divisor: i64) -> i64 {
    dividend / divisor + i64::from(dividend % divisor > 0)
}
