//! The sections of a snapshot, each with the type of its records: declared once, for writer and
//! reader.

use super::{
    AssociationRecord, BoundRowRecord, ComingRecord, DeadlineHistoryRecord, ExpectedEndRecord, FreeRecord, FreedRecord, GroupRecord,
    LimitsRecord, ModelRecord, NameRecord, OpenGroupRecord, PartitionRecord, PlanRecord, PlannedJobRecord, PlannedPartitionRecord,
    PriceRecord, PromiseRecord, PromisedJobRecord, QosRecord, ReservedRecord, RunTimeModelRecord, ScoreRecord, SiteRecord, StartRecord,
    SubmissionRecord, UserRecord, WaitClassRecord, WaitRegionRecord,
};
use crate::decisions::shared_nodes::SharedNode;
use crate::decisions::slurm_reservations::SlurmReservation;
use crate::forecasts::forecast::RunTimeRange;
use crate::forecasts::trees::NodeRecord;
use std::mem::size_of;
use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// A section with the type of its records, so that none is read as a record of another type.
pub trait Section {
    /// One record.
    type Record: FromBytes + IntoBytes + KnownLayout + Immutable + Unaligned + Copy;

    /// Place of the section among [`SECTIONS`].
    const PLACE: usize;
}

/// A section as the table of sections has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionShape {
    /// Number of the section.
    pub number: u32,
    /// Size of one record in bytes.
    pub record_size: usize,
}

macro_rules! sections {
    ($($(#[$about:meta])+ $section:ident, $field:ident: $record:ty = $number:literal;)+) => {
        /// Place of each section.
        enum Place {
            $($section),+
        }

        $(
            $(#[$about])+
            #[derive(Clone, Copy, Debug)]
            pub struct $section;

            impl Section for $section {
                type Record = $record;
                const PLACE: usize = Place::$section as usize;
            }
        )+

        /// All sections, in the order in which they are written.
        pub const SECTIONS: [SectionShape; [$($number),+].len()] =
            [$(SectionShape { number: $number, record_size: size_of::<$record>() }),+];

        /// The records of all sections of a snapshot.
        #[derive(Clone, Copy, Debug)]
        pub struct Sections<'a> {
            $($(#[$about])+ pub $field: &'a [$record],)+
        }

        impl Sections<'_> {
            /// The bytes of the sections, in the order of [`SECTIONS`].
            #[must_use]
            pub fn bytes(&self) -> [&[u8]; SECTIONS.len()] {
                [$(self.$field.as_bytes()),+]
            }
        }
    };
}

// The sections stand in the order in which they are written. Their numbers are those of the order
// in which they came to the layout.
sections! {
    /// One [`SiteRecord`].
    Site, site: SiteRecord = 1;
    /// [`PartitionRecord`]s, in the order of their indices.
    Partitions, partitions: PartitionRecord = 2;
    /// What Slurm's own reservations take, by partition, each partition's in their order.
    SlurmReservations, slurm_reservations: SlurmReservation = 33;
    /// [`SharedNode`]s whose CPUs jobs share, by partition, in the order of slurmctld's node table.
    SharedNodes, shared_nodes: SharedNode = 36;
    /// [`WaitClassRecord`]s, by partition.
    WaitClasses, wait_classes: WaitClassRecord = 3;
    /// [`WaitRegionRecord`]s, by partition.
    WaitRegions, wait_regions: WaitRegionRecord = 30;
    /// [`RunTimeModelRecord`]s, ascending.
    RunTimeModels, run_time_models: RunTimeModelRecord = 4;
    /// [`RunTimeRange`]s.
    RunTimeRanges, run_time_ranges: RunTimeRange = 5;
    /// [`ExpectedEndRecord`]s, by partition, each partition's ascending.
    ExpectedEnds, expected_ends: ExpectedEndRecord = 6;
    /// One [`ModelRecord`], or none where no waits have been learnt from.
    Model, model: ModelRecord = 8;
    /// Indices of the trees' first nodes, of the first forest and then of the second; each forest's
    /// are counted from its own first node.
    ForestRoots, forest_roots: U32 = 9;
    /// [`NodeRecord`]s, of the first forest and then of the second.
    ForestNodes, forest_nodes: NodeRecord = 10;
    /// [`BoundRowRecord`]s, ascending.
    BoundRows, bound_rows: BoundRowRecord = 11;
    /// [`GroupRecord`]s, ascending.
    Groups, groups: GroupRecord = 12;
    /// [`OpenGroupRecord`]s, of the groups that have jobs which wait or run.
    OpenGroups, open_groups: OpenGroupRecord = 13;
    /// [`FreedRecord`]s by the time limits of the cluster's running jobs, ascending.
    EndsByLimit, ends_by_limit: FreedRecord = 14;
    /// [`FreedRecord`]s by their expected run times, ascending.
    EndsExpected, ends_expected: FreedRecord = 15;
    /// [`UserRecord`]s, ascending.
    Users, users: UserRecord = 16;
    /// [`NameRecord`]s of the accounts, ascending.
    Accounts, accounts: NameRecord = 17;
    /// [`NameRecord`]s of the qualities of service, ascending.
    QualitiesOfService, qualities_of_service: NameRecord = 18;
    /// [`ScoreRecord`]s, ascending by partition.
    Scores, scores: ScoreRecord = 19;
    /// [`PromiseRecord`]s, ascending by partition, then class.
    Promises, promises: PromiseRecord = 31;
    /// [`ComingRecord`]s: by partition, then of the cluster; each ascending.
    Coming, coming: ComingRecord = 32;
    /// [`ReservedRecord`]s: by partition, then of the cluster; each ascending.
    Reserved, reserved: ReservedRecord = 34;
    /// [`DeadlineHistoryRecord`]s, ascending by partition.
    DeadlineHistories, deadline_histories: DeadlineHistoryRecord = 37;
    /// [`PromisedJobRecord`]s, by partition.
    PromisedJobs, promised_jobs: PromisedJobRecord = 38;
    /// [`SubmissionRecord`]s, ascending by user, then time.
    Submissions, submissions: SubmissionRecord = 39;
    /// One [`PlanRecord`], or none where no plan was made in time.
    Plan, plan: PlanRecord = 20;
    /// [`PlannedJobRecord`]s, in the order in which the jobs are served.
    PlannedJobs, planned_jobs: PlannedJobRecord = 21;
    /// [`PlannedPartitionRecord`]s, ascending by partition.
    PlannedPartitions, planned_partitions: PlannedPartitionRecord = 22;
    /// [`FreeRecord`]s, by partition, each partition's ascending.
    FreeCpus, free_cpus: FreeRecord = 23;
    /// Sizes of the grids in CPUs, by partition, each partition's ascending.
    PlanSizes, plan_sizes: U32 = 24;
    /// Time limits of the grids in seconds, by partition, each partition's ascending.
    PlanLimits, plan_limits: U32 = 25;
    /// [`StartRecord`]s of the grids, by partition, size and limit.
    PlanStarts, plan_starts: StartRecord = 26;
    /// [`PriceRecord`]s, by partition, each partition's in the order of time.
    Prices, prices: PriceRecord = 40;
    /// [`LimitsRecord`]s, each once, that [`QosRecord`]s and [`AssociationRecord`]s point to.
    Limits, limits: LimitsRecord = 27;
    /// [`QosRecord`]s of the qualities of service.
    QosRules, qos_rules: QosRecord = 28;
    /// [`AssociationRecord`]s, ascending by user, then account, then partition.
    Associations, associations: AssociationRecord = 29;
    /// UTF-8 text that [`TextRecord`](super::TextRecord)s point into.
    Text, text: u8 = 7;
}
