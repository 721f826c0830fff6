//! The layout of a snapshot: a header, a table of sections, and sections of records of fixed size.
//!
//! All numbers are little-endian and unaligned, so that a record has no padding and the layout is
//! the same everywhere. A snapshot is never changed once it has its name. Any change of this module
//! is a new [`LAYOUT_VERSION`]; a golden file in the tests holds the present one.

mod history;
mod limits;
mod model;
mod plan;
mod site;

pub use history::{ExpectedEndRecord, UserSizeRecord, WaitClassRecord, WaitRegionRecord};
pub use limits::{AssociationRecord, CapsRecord, LimitsRecord, QosRecord};
pub use model::{BoundRowRecord, FreedRecord, GroupRecord, ModelRecord, NameRecord, OpenGroupRecord, ScoreRecord, SumRecord, UserRecord};
pub use plan::{FreeRecord, PlanRecord, PlannedJobRecord, PlannedPartitionRecord, StartRecord};
pub use site::{PartitionRecord, PolicyRecord, SiteRecord};

use crate::forecast::RunTimeRange;
use crate::trees::NodeRecord;
use std::mem::size_of;
use zerocopy::little_endian::{I64, U32, U64};
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
    /// Indices of the trees' first nodes, of the first forest and then of the second; each forest's
    /// are counted from its own first node.
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
