//! The layout of a snapshot: a header, a table of sections, and sections of records of fixed size.
//!
//! All numbers are little-endian and unaligned, so that a record has no padding and the layout is
//! the same everywhere. A snapshot is never changed once it has its name. Any change of this module
//! is a new [`LAYOUT_VERSION`]; a golden file in the tests of `snapshot-writer` holds the present
//! one.

mod deadlines;
mod history;
mod limits;
mod model;
mod plan;
pub mod sections;
mod site;

pub use deadlines::{DeadlineHistoryRecord, PromisedJobRecord};
pub use history::{ANY_SIZE, ExpectedEndRecord, OF_ONE_LIMIT, ONE_USERS, RunTimeModelRecord, WaitClassRecord, WaitRegionRecord};
pub use limits::{ALL_PARTITIONS, AssociationRecord, CapsRecord, LimitsRecord, QosRecord};
pub use model::{
    BoundRowRecord, ComingRecord, FreedRecord, GroupRecord, ModelRecord, NameRecord, OpenGroupRecord, PromiseRecord, ReservedRecord,
    ScoreRecord, SumRecord, UserRecord,
};
pub use plan::{FreeRecord, PlanRecord, PlannedJobRecord, PlannedPartitionRecord, PriceRecord, StartRecord};
pub use site::{PartitionRecord, PolicyRecord, SiteRecord, SubmissionRecord};

use crate::decisions::shared_nodes::SharedNode;
use crate::decisions::slurm_reservations::SlurmReservation;
use crate::forecasts::forecast::RunTimeRange;
use crate::forecasts::trees::NodeRecord;
use job_types::time::Seconds;
use std::mem::size_of;
use zerocopy::little_endian::{I64, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// First bytes of every snapshot.
pub const MAGIC: [u8; 8] = *b"QCASTSNP";

/// Version of this layout.
pub const LAYOUT_VERSION: u32 = 17;

/// Stands for "none" in a 32-bit number of seconds: an unlimited time limit, an absent default.
pub const NONE_S: u32 = u32::MAX;

/// Stands for "none" in an index of a record.
pub const NO_RECORD: u32 = u32::MAX;

/// A number as a record has it: [`NONE_S`] for none, and the greatest below that for what is
/// greater.
#[must_use]
pub fn number_or_none(number: Option<u32>) -> U32 {
    number.map_or(NONE_S, |number| number.min(NONE_S - 1)).into()
}

/// The number that [`number_or_none`] has written.
#[must_use]
pub fn number(record: U32) -> Option<u32> {
    Some(record.get()).filter(|number| *number != NONE_S)
}

/// A duration as a record has it in seconds, [`NONE_S`] where there is none.
#[must_use]
pub fn seconds_or_none(duration: Option<Seconds>) -> U32 {
    number_or_none(duration.map(Seconds::clamped_u32))
}

/// The duration that [`seconds_or_none`] has written.
#[must_use]
pub fn seconds(record: U32) -> Option<Seconds> {
    number(record).map(|seconds| Seconds(i64::from(seconds)))
}

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

/// The bytes at which the checksum stands.
pub const CHECKSUM_AT: std::ops::Range<usize> = 40..48;

/// One entry of the table of sections.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct SectionRecord {
    /// Number of the section, as [`sections`] has it.
    pub number: U32,
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

const _: () = {
    assert!(size_of::<Header>() == 48);
    assert!(std::mem::offset_of!(Header, checksum) == CHECKSUM_AT.start);
    assert!(size_of::<SectionRecord>() == 24);
    assert!(size_of::<PolicyRecord>() == 36);
    assert!(size_of::<SiteRecord>() == 124);
    assert!(size_of::<SubmissionRecord>() == 20);
    assert!(size_of::<PartitionRecord>() == 140);
    assert!(size_of::<SlurmReservation>() == 28);
    assert!(size_of::<WaitClassRecord>() == 412);
    assert!(size_of::<WaitRegionRecord>() == 24);
    assert!(size_of::<RunTimeModelRecord>() == 32);
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
    assert!(size_of::<PromiseRecord>() == 76);
    assert!(size_of::<ComingRecord>() == 40);
    assert!(size_of::<ReservedRecord>() == 20);
    assert!(size_of::<DeadlineHistoryRecord>() == 396);
    assert!(size_of::<PromisedJobRecord>() == 40);
    assert!(size_of::<PlanRecord>() == 16);
    assert!(size_of::<PlannedJobRecord>() == 56);
    assert!(size_of::<PlannedPartitionRecord>() == 36);
    assert!(size_of::<FreeRecord>() == 12);
    assert!(size_of::<StartRecord>() == 12);
    assert!(size_of::<PriceRecord>() == 20);
    assert!(size_of::<LimitsRecord>() == 84);
    assert!(size_of::<QosRecord>() == 32);
    assert!(size_of::<AssociationRecord>() == 24);
    assert!(size_of::<SharedNode>() == 56);
};

/// XXH3-64 of a snapshot but the bytes of its checksum.
#[must_use]
pub fn checksum(snapshot: &[u8]) -> u64 {
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    hash.update(snapshot.get(..CHECKSUM_AT.start).unwrap_or(snapshot));
    hash.update(snapshot.get(CHECKSUM_AT.end..).unwrap_or(&[]));
    hash.digest()
}
