//! The layout of a snapshot: a header, a table of sections, and sections of records of fixed size.
//!
//! All numbers are little-endian and unaligned, so that a record has no padding and the layout is the same everywhere. A snapshot is
//! never changed once it has its name. Any change of this file is a new [`LAYOUT_VERSION`]; a golden file in the tests holds the present one.

use super::model::RELIABILITY_LEVELS;
use crate::binomial::PERCENTILES;
use crate::forecast::RunTimeRange;
use crate::trees::NodeRecord;
use crate::waits::blended::MEMBERS;
use std::mem::size_of;
use zerocopy::little_endian::{F32, F64, I64, U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// First bytes of every snapshot.
pub const MAGIC: [u8; 8] = *b"QCASTSNP";

/// Version of this layout.
pub const LAYOUT_VERSION: u32 = 4;

/// Stands for "none" in a 32-bit number of seconds: an unlimited time limit, an absent default.
pub const NONE_S: u32 = u32::MAX;

/// Stands for "none" in an index of a record.
pub const NO_RECORD: u32 = u32::MAX;

/// First record of a snapshot.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: [u8; 8],
    /// [`LAYOUT_VERSION`].
    pub version: U32,
    /// Number of entries in the table of sections, which follows the header.
    pub sections: U32,
    /// Number of this snapshot, one more than the last of the same state directory.
    pub generation: U64,
    /// Time of publication in Unix seconds.
    pub published_at: I64,
    /// Length of the whole snapshot in bytes.
    pub length: U64,
    /// XXH3-64 of the whole snapshot but these eight bytes.
    pub checksum: U64,
}

/// Where the checksum stands.
pub const CHECKSUM_AT: std::ops::Range<usize> = 40..48;

/// What a section holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum SectionKind {
    /// One [`SiteRecord`].
    Site = 1,
    /// [`PartitionRecord`]s, in the order of their indices.
    Partitions = 2,
    /// [`WaitClassRecord`]s, by partition.
    WaitClasses = 3,
    /// [`UserSizeRecord`]s, ascending.
    UserSizes = 4,
    /// [`RunTimeRange`]s.
    RunTimeRanges = 5,
    /// [`ExpectedEndRecord`]s, by partition, each partition's ascending.
    ExpectedEnds = 6,
    /// UTF-8 text that [`TextRecord`]s point into.
    Text = 7,
    /// One [`ModelRecord`], or none where no waits have been learnt from.
    Model = 8,
    /// Indices of the trees' first nodes, of the first forest and then of the second; each forest's are counted from its own first node.
    ForestRoots = 9,
    /// [`NodeRecord`]s, of the first forest and then of the second.
    ForestNodes = 10,
    /// [`BoundRowRecord`]s, ascending.
    BoundRows = 11,
    /// [`GroupRecord`]s, ascending.
    Groups = 12,
    /// [`OpenGroupRecord`]s, of the groups that have jobs which wait or run.
    OpenGroups = 13,
    /// [`FreedRecord`]s by the time limits of the cluster's running jobs, ascending.
    EndsByLimit = 14,
    /// [`FreedRecord`]s by their expected run times, ascending.
    EndsExpected = 15,
    /// [`UserRecord`]s, ascending.
    Users = 16,
    /// [`NameRecord`]s of the accounts, ascending.
    Accounts = 17,
    /// [`NameRecord`]s of the qualities of service, ascending.
    QualitiesOfService = 18,
    /// [`ScoreRecord`]s, ascending by partition.
    Scores = 19,
    /// One [`PlanRecord`], or none where no plan was made in time.
    Plan = 20,
    /// [`PlannedJobRecord`]s, in the order in which the jobs are served.
    PlannedJobs = 21,
    /// [`PlannedPartitionRecord`]s, ascending by partition.
    PlannedPartitions = 22,
    /// [`FreeRecord`]s, by partition, each partition's ascending.
    FreeCpus = 23,
    /// Sizes of the grids in CPUs, by partition, each partition's ascending.
    PlanSizes = 24,
    /// Time limits of the grids in seconds, likewise.
    PlanLimits = 25,
    /// [`StartRecord`]s of the grids, by partition, size and limit.
    PlanStarts = 26,
    /// [`LimitsRecord`]s, each once, that [`QosRecord`]s and [`AssociationRecord`]s point to.
    Limits = 27,
    /// [`QosRecord`]s of the qualities of service.
    QosRules = 28,
    /// [`AssociationRecord`]s, ascending by user, then account, then partition.
    Associations = 29,
    /// [`WaitRegionRecord`]s, by partition.
    WaitRegions = 30,
}

/// All sections, in the order in which they are written.
pub const SECTIONS: [SectionKind; 30] = [
    SectionKind::Site,
    SectionKind::Partitions,
    SectionKind::WaitClasses,
    SectionKind::WaitRegions,
    SectionKind::UserSizes,
    SectionKind::RunTimeRanges,
    SectionKind::ExpectedEnds,
    SectionKind::Model,
    SectionKind::ForestRoots,
    SectionKind::ForestNodes,
    SectionKind::BoundRows,
    SectionKind::Groups,
    SectionKind::OpenGroups,
    SectionKind::EndsByLimit,
    SectionKind::EndsExpected,
    SectionKind::Users,
    SectionKind::Accounts,
    SectionKind::QualitiesOfService,
    SectionKind::Scores,
    SectionKind::Plan,
    SectionKind::PlannedJobs,
    SectionKind::PlannedPartitions,
    SectionKind::FreeCpus,
    SectionKind::PlanSizes,
    SectionKind::PlanLimits,
    SectionKind::PlanStarts,
    SectionKind::Limits,
    SectionKind::QosRules,
    SectionKind::Associations,
    SectionKind::Text,
];

/// One entry of the table of sections.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct SectionRecord {
    /// A [`SectionKind`].
    pub kind: U32,
    /// Size of one record in bytes.
    pub record_size: U32,
    /// Distance of the section from the beginning of the snapshot in bytes.
    pub offset: U64,
    /// Number of records.
    pub count: U64,
}

/// A piece of the text section.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct TextRecord {
    /// Distance from the beginning of the section in bytes.
    pub offset: U32,
    /// Length in bytes.
    pub length: U32,
}

/// What the site allows in a partition.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct PolicyRecord {
    /// Mode, 0 to 3: off, observe, advise, enforce.
    pub mode: u8,
    /// When jobs are molded, 0 to 2: never, where asked, always.
    pub mold: u8,
    /// When jobs are deferred, likewise.
    pub defer: u8,
    /// Whether virtual reservations are given, 0 or 1.
    pub reserve: u8,
    /// Default of an early start, 0 or 1: wait, run.
    pub early_start: u8,
    /// Unused, zero.
    pub reserved: [u8; 3],
    /// Default probability of a virtual reservation.
    pub success_probability: F32,
    /// By which part a deferred response must be shorter.
    pub defer_threshold: F32,
    /// Longest deferral in seconds.
    pub max_defer_s: U32,
}

/// The site as a whole, and where the snapshot comes from.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct SiteRecord {
    /// Policy of partitions that the snapshot does not know.
    pub policy: PolicyRecord,
    /// Age in seconds beyond which the snapshot is not to be used.
    pub maximum_age_s: U32,
    /// Confidence of the bounds.
    pub confidence: F32,
    /// Name of the cluster.
    pub cluster: TextRecord,
    /// What is wrong with the configuration file, empty if nothing.
    pub configuration_error: TextRecord,
    /// Ended jobs in the history.
    pub ended_jobs: U64,
    /// End of the first of them in Unix seconds, 0 if none.
    pub oldest_end: I64,
    /// End of the last of them.
    pub newest_end: I64,
    /// When slurmdbd was last read in Unix seconds, 0 if never.
    pub accounting_read_at: I64,
    /// When slurmctld was last read.
    pub controller_read_at: I64,
    /// When the configuration in force was loaded.
    pub configuration_loaded_at: I64,
}

/// A partition.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct PartitionRecord {
    /// Its name.
    pub name: TextRecord,
    /// What the site allows in it.
    pub policy: PolicyRecord,
    /// 1 if jobs that name no partition go there.
    pub is_default: u8,
    /// 1 if jobs get whole nodes.
    pub whole_nodes: u8,
    /// Unused, zero.
    pub reserved: [u8; 2],
    /// CPUs, 0 if slurmctld does not know the partition.
    pub cpus: U32,
    /// Nodes.
    pub nodes: U32,
    /// Longest time limit in seconds, [`NONE_S`] if unlimited.
    pub max_time_s: U32,
    /// Time limit of a job that gives none, [`NONE_S`] if it is `max_time_s`.
    pub default_time_s: U32,
    /// Running jobs.
    pub running_jobs: U32,
    /// Pending jobs that are eligible.
    pub pending_jobs: U32,
    /// CPUs of the running jobs.
    pub running_cpus: U64,
    /// CPUs of the pending jobs that are eligible.
    pub pending_cpus: U64,
    /// First of its records among the expected ends.
    pub first_end: U32,
    /// How many they are.
    pub ends: U32,
    /// Fewest nodes of a job, 0 for no such limit.
    pub least_nodes: U32,
    /// Most nodes of a job, [`NONE_S`] for no such limit.
    pub most_nodes: U32,
    /// Most CPUs of a job on each node, likewise.
    pub most_cpus_per_node: U32,
    /// Index of its quality of service, [`NO_RECORD`] if it has none.
    pub qos: U32,
    /// Nodes that take jobs now, [`NONE_S`] where nothing is known of the nodes.
    pub usable_nodes: U32,
    /// CPUs of the smallest of them.
    pub least_node_cpus: U32,
    /// CPUs of the largest of all its nodes.
    pub most_node_cpus: U32,
}

/// The waits of one class.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct WaitClassRecord {
    /// Index of the partition.
    pub partition: U16,
    /// Unused, zero.
    pub reserved: [u8; 2],
    /// How often its waits have changed.
    pub changes: U32,
    /// Jobs that the bounds rest on.
    pub jobs: U32,
    /// Median wait in seconds.
    pub median_s: U32,
    /// Upper bounds in seconds on the percentiles 1 to 99, ascending, all bits set where there is none.
    pub bounds_s: [U32; PERCENTILES],
}

/// A rectangle of sizes and time limits, and the class that its jobs belong to. Those of a
/// partition hold every job once.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct WaitRegionRecord {
    /// Index of the partition.
    pub partition: U16,
    /// Unused, zero.
    pub reserved: [u8; 2],
    /// Place of the class among the [`WaitClassRecord`]s.
    pub class: U32,
    /// Fewest CPUs.
    pub first_cpus: U32,
    /// Most CPUs.
    pub last_cpus: U32,
    /// Shortest time limit in seconds.
    pub first_limit_s: U32,
    /// Longest time limit in seconds; all bits set where it holds jobs without one.
    pub last_limit_s: U32,
}

/// The run times of one user at one size.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct UserSizeRecord {
    /// Numeric id of the user.
    pub user: U32,
    /// Index of the partition.
    pub partition: U16,
    /// 0 where `count` is nodes, 1 where it is CPUs.
    pub unit: u8,
    /// Unused, zero.
    pub reserved: u8,
    /// The size.
    pub count: U32,
    /// Jobs that the ranges rest on.
    pub jobs: U32,
    /// Their longest time limit in seconds, [`NONE_S`] if one was unlimited.
    pub longest_limit_s: U32,
    /// First of its records among the ranges.
    pub first_range: U32,
    /// How many they are.
    pub ranges: U32,
}

/// When a running job is expected to end.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct ExpectedEndRecord {
    /// Unix seconds.
    pub at: I64,
    /// CPUs that it holds.
    pub cpus: U32,
    /// CPUs of the partition's running jobs that are expected to have ended by then, this one's among them.
    pub freed: U32,
}

/// The default predictor of waits, apart from what is in sections of its own.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct ModelRecord {
    /// Weights of the members.
    pub weights: [F32; MEMBERS],
    /// What each forest forecasts before any tree adds to it.
    pub bases: [F64; 2],
    /// How many trees each forest has.
    pub trees: [U32; 2],
    /// How many nodes.
    pub nodes: [U32; 2],
    /// CPUs of the cluster.
    pub cpus: U32,
    /// 1 if the forests are there, 0 if none have been trained.
    pub has_forests: u8,
    /// Unused, zero.
    pub reserved: u8,
    /// How many features the forests were trained on: [`FEATURES`](crate::past::FEATURES). A reader that makes another number does not use
    /// the model.
    pub features: U16,
}

/// Bounds on the wait for a range of point forecasts.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct BoundRowRecord {
    /// Up to which point forecast, as the square root of seconds; the last also for all above.
    pub up_to: F32,
    /// Outcomes that the bounds rest on.
    pub outcomes: U32,
    /// Part of them that did not wait at all.
    pub at_once: F32,
    /// Median of the outcomes in seconds, as corrected.
    pub median_s: U32,
    /// Upper bounds in seconds on the percentiles 1 to 99, ascending.
    pub bounds_s: [U32; PERCENTILES],
}

/// A group of jobs: what they have in common, and the waits of the latest.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct GroupRecord {
    /// What they have in common, 0 to 7: see [`Kinship`](crate::past::Kinship).
    pub kinship: u8,
    /// Unused, zero.
    pub reserved: [u8; 3],
    /// The values.
    pub values: [U32; 3],
    /// The latest wait and the one before, as square roots of seconds.
    pub last: [F32; 2],
    /// Mean over some three jobs, likewise.
    pub fast: F32,
    /// Mean over some thirty jobs, likewise.
    pub slow: F32,
    /// Share of those that waited no longer than a minute.
    pub at_once: F32,
    /// How many jobs have started.
    pub starts: F32,
    /// When the latest started in Unix seconds, 0 if none did.
    pub started_at: F64,
    /// When the latest arrived, likewise.
    pub arrived_at: F64,
    /// Index of its [`OpenGroupRecord`], [`NO_RECORD`] if none of its jobs waits or runs.
    pub open: U32,
}

/// Sums over the jobs of a group that wait, or that run: see [`Sum`](crate::past::Sum).
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct SumRecord {
    /// How many.
    pub jobs: F64,
    /// Their CPUs.
    pub cpus: F64,
    /// Their time limits in seconds.
    pub limits_s: F64,
    /// CPUs times time limit.
    pub work: F64,
    /// CPUs times expected run time.
    pub expected_work: F64,
    /// The moments since which they wait or run, in Unix seconds.
    pub since: F64,
    /// CPUs times those moments.
    pub cpus_since: F64,
}

/// The jobs of a group that wait and run.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct OpenGroupRecord {
    /// Those that wait.
    pub waiting: SumRecord,
    /// Those that run.
    pub running: SumRecord,
    /// Since when the first of those that wait does, in Unix seconds; 0 if none waits.
    pub oldest: F64,
}

/// CPUs that are free from a moment on, beyond those that are free now.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct FreedRecord {
    /// The moment in Unix seconds.
    pub at: I64,
    /// CPUs of all jobs that end until then.
    pub cpus: F32,
}

/// A user.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct UserRecord {
    /// Numeric id.
    pub user: U32,
    /// Index of the account of the user's latest job.
    pub account: U32,
    /// Index of its quality of service.
    pub qos: U16,
    /// 1 if there are run times.
    pub has_run_times: u8,
    /// Unused, zero.
    pub reserved: u8,
    /// Run times of the last two jobs that ended, in seconds, the last first.
    pub last_two_s: [F32; 2],
}

/// A name with the index that stands for it.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct NameRecord {
    /// The name.
    pub name: TextRecord,
    /// The index.
    pub index: U32,
}

/// How well the default forecasts have done in a partition: see [`PartitionScore`](super::PartitionScore).
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct ScoreRecord {
    /// Index of the partition.
    pub partition: U16,
    /// Which forecasts are in force, 0 to 2: none, those of QBETS, the default's.
    pub source: u8,
    /// Why, 0 to 3: not trained, too few jobs, not calibrated, calibrated.
    pub reason: u8,
    /// Jobs that were forecast and have started.
    pub jobs: U32,
    /// Median absolute error in seconds.
    pub median_error_s: F32,
    /// Mean pinball loss in seconds.
    pub pinball_s: F32,
    /// Part of the jobs that waited at most as long as the bounds at 0.05 to 0.95.
    pub reliability: [F32; RELIABILITY_LEVELS],
}

/// A plan of the queue: see [`QueuePlan`](super::QueuePlan).
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct PlanRecord {
    /// As of when, in Unix seconds.
    pub at: I64,
    /// How many jobs wait.
    pub pending_jobs: U32,
    /// 1 if every job was placed for which there is room at all.
    pub is_complete: u8,
    /// Unused, zero.
    pub reserved: [u8; 3],
}

/// A job that waits, and when it is expected to start.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct PlannedJobRecord {
    /// Its number.
    pub job: U32,
    /// Numeric id of its user.
    pub user: U32,
    /// Index of its partition.
    pub partition: U16,
    /// Why no start is expected: the place in [`PlanObstacle::ALL`](super::PlanObstacle::ALL) counted from 1; 0 if one is.
    pub obstacle: u8,
    /// Unused, zero.
    pub reserved: u8,
    /// Nodes of one task.
    pub nodes: U32,
    /// CPUs of one task.
    pub cpus: U32,
    /// How many tasks of an array it stands for.
    pub tasks: U32,
    /// Time limit in seconds, [`NONE_S`] if unlimited.
    pub limit_s: U32,
    /// slurmctld's priority.
    pub priority: U32,
    /// When it starts if jobs end early, in Unix seconds; 0 if no start is expected.
    pub lower: I64,
    /// When it is expected to, likewise.
    pub expected: I64,
    /// When it starts if jobs run to their time limits, likewise.
    pub upper: I64,
}

/// What a plan says of a partition.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct PlannedPartitionRecord {
    /// Index of the partition.
    pub partition: U16,
    /// Unused, zero.
    pub reserved: [u8; 2],
    /// CPUs of a node, on average, rounded up.
    pub cpus_per_node: U32,
    /// First of its records among the free CPUs.
    pub first_free: U32,
    /// How many they are.
    pub free: U32,
    /// First of the sizes of its grid.
    pub first_size: U32,
    /// How many they are.
    pub sizes: U32,
    /// First of the limits of its grid.
    pub first_limit: U32,
    /// How many they are.
    pub limits: U32,
    /// First of the starts of its grid: sizes times limits, those of one size together.
    pub first_start: U32,
}

/// CPUs that are free from a moment on.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct FreeRecord {
    /// The moment in Unix seconds.
    pub at: I64,
    /// How many.
    pub cpus: U32,
}

/// When a job of the grid would start, in seconds after the plan was made; [`NONE_S`] if there is never room.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct StartRecord {
    /// If jobs end early.
    pub lower_s: U32,
    /// As they are expected to end.
    pub expected_s: U32,
    /// If jobs run to their time limits.
    pub upper_s: U32,
}

/// Caps on a job: see [`Caps`](crate::limits::Caps).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct CapsRecord {
    /// Longest time limit in seconds, [`NONE_S`] for no such cap.
    pub wall_s: U32,
    /// Most CPUs, likewise.
    pub cpus: U32,
    /// Most nodes, likewise.
    pub nodes: U32,
    /// Most CPUs on each node, likewise.
    pub cpus_per_node: U32,
    /// Most CPUs times minutes of time limit, all bits set for no such cap.
    pub cpu_minutes: U64,
    /// 1 if another resource is capped.
    pub other: u8,
    /// 1 if another resource times minutes is.
    pub other_minutes: u8,
    /// Unused, zero.
    pub reserved: [u8; 2],
}

/// Limits on a job: see [`JobLimits`](crate::limits::JobLimits).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct LimitsRecord {
    /// On each job.
    pub job: CapsRecord,
    /// On all jobs together.
    pub group: CapsRecord,
    /// On all jobs of a user or of an account.
    pub member: CapsRecord,
}

/// A quality of service: see [`Qos`](crate::limits::Qos).
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct QosRecord {
    /// Its name.
    pub name: TextRecord,
    /// Slurm's number of it.
    pub id: U32,
    /// Index of its limits.
    pub limits: U32,
    /// Fewest CPUs of a job, 0 for no such limit.
    pub least_cpus: U32,
    /// Fewest nodes, likewise.
    pub least_nodes: U32,
    /// By what an association's caps are multiplied.
    pub limit_factor: F32,
    /// Bits, from the lowest: goes before the partition's; the partition's longest time limit, most
    /// nodes and fewest nodes do not hold; another resource has a least amount.
    pub flags: u8,
    /// Unused, zero.
    pub reserved: [u8; 3],
}

/// An association: see [`AssociationLimits`](crate::limits::AssociationLimits).
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct AssociationRecord {
    /// Numeric id of the user, [`NO_RECORD`] for that of an account itself.
    pub user: U32,
    /// The account.
    pub account: TextRecord,
    /// Index of the partition that it is about, all bits set if it is about all.
    pub partition: U16,
    /// 1 if it is that of the user's jobs that name no account.
    pub is_default: u8,
    /// Unused, zero.
    pub reserved: u8,
    /// Number of the quality of service of jobs that name none, [`NO_RECORD`] if there is none.
    pub default_qos: U32,
    /// Index of its limits.
    pub limits: U32,
}

/// Size in bytes of a record of a section.
#[must_use]
pub const fn record_size(kind: SectionKind) -> usize {
    match kind {
        SectionKind::Site => size_of::<SiteRecord>(),
        SectionKind::Partitions => size_of::<PartitionRecord>(),
        SectionKind::WaitClasses => size_of::<WaitClassRecord>(),
        SectionKind::WaitRegions => size_of::<WaitRegionRecord>(),
        SectionKind::UserSizes => size_of::<UserSizeRecord>(),
        SectionKind::RunTimeRanges => size_of::<RunTimeRange>(),
        SectionKind::ExpectedEnds => size_of::<ExpectedEndRecord>(),
        SectionKind::Model => size_of::<ModelRecord>(),
        SectionKind::ForestRoots => size_of::<U32>(),
        SectionKind::ForestNodes => size_of::<NodeRecord>(),
        SectionKind::BoundRows => size_of::<BoundRowRecord>(),
        SectionKind::Groups => size_of::<GroupRecord>(),
        SectionKind::OpenGroups => size_of::<OpenGroupRecord>(),
        SectionKind::EndsByLimit | SectionKind::EndsExpected => size_of::<FreedRecord>(),
        SectionKind::Users => size_of::<UserRecord>(),
        SectionKind::Accounts | SectionKind::QualitiesOfService => size_of::<NameRecord>(),
        SectionKind::Scores => size_of::<ScoreRecord>(),
        SectionKind::Plan => size_of::<PlanRecord>(),
        SectionKind::PlannedJobs => size_of::<PlannedJobRecord>(),
        SectionKind::PlannedPartitions => size_of::<PlannedPartitionRecord>(),
        SectionKind::FreeCpus => size_of::<FreeRecord>(),
        SectionKind::PlanSizes | SectionKind::PlanLimits => size_of::<U32>(),
        SectionKind::PlanStarts => size_of::<StartRecord>(),
        SectionKind::Limits => size_of::<LimitsRecord>(),
        SectionKind::QosRules => size_of::<QosRecord>(),
        SectionKind::Associations => size_of::<AssociationRecord>(),
        SectionKind::Text => 1,
    }
}

const _: () = {
    assert!(size_of::<Header>() == 48);
    assert!(std::mem::offset_of!(Header, checksum) == CHECKSUM_AT.start);
    assert!(size_of::<SectionRecord>() == 24);
    assert!(size_of::<PolicyRecord>() == 20);
    assert!(size_of::<SiteRecord>() == 92);
    assert!(size_of::<PartitionRecord>() == 108);
    assert!(size_of::<WaitClassRecord>() == 412);
    assert!(size_of::<WaitRegionRecord>() == 24);
    assert!(size_of::<UserSizeRecord>() == 28);
    assert!(size_of::<RunTimeRange>() == 12);
    assert!(size_of::<ExpectedEndRecord>() == 16);
    assert!(size_of::<ModelRecord>() == 56);
    assert!(size_of::<NodeRecord>() == 8);
    assert!(size_of::<BoundRowRecord>() == 412);
    assert!(size_of::<GroupRecord>() == 60);
    assert!(size_of::<SumRecord>() == 56);
    assert!(size_of::<OpenGroupRecord>() == 120);
    assert!(size_of::<FreedRecord>() == 12);
    assert!(size_of::<UserRecord>() == 20);
    assert!(size_of::<NameRecord>() == 12);
    assert!(size_of::<ScoreRecord>() == 92);
    assert!(size_of::<PlanRecord>() == 16);
    assert!(size_of::<PlannedJobRecord>() == 56);
    assert!(size_of::<PlannedPartitionRecord>() == 36);
    assert!(size_of::<FreeRecord>() == 12);
    assert!(size_of::<StartRecord>() == 12);
    assert!(size_of::<LimitsRecord>() == 84);
    assert!(size_of::<QosRecord>() == 32);
    assert!(size_of::<AssociationRecord>() == 24);
};

/// XXH3-64 of a snapshot but the bytes of its checksum.
#[must_use]
pub fn checksum(snapshot: &[u8]) -> u64 {
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    hash.update(snapshot.get(..CHECKSUM_AT.start).unwrap_or(snapshot));
    hash.update(snapshot.get(CHECKSUM_AT.end..).unwrap_or(&[]));
    hash.digest()
}
