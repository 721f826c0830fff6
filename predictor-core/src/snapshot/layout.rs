//! The layout of a snapshot: a header, a table of sections, and sections of records of fixed size.
//!
//! All numbers are little-endian and unaligned, so that a record has no padding and the layout is the same everywhere. A snapshot is
//! never changed once it has its name. Any change of this file is a new [`LAYOUT_VERSION`]; a golden file in the tests holds the present one.

use crate::binomial::PERCENTILES;
use crate::forecast::RunTimeRange;
use std::mem::size_of;
use zerocopy::little_endian::{F32, I64, U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// First bytes of every snapshot.
pub const MAGIC: [u8; 8] = *b"QCASTSNP";

/// Version of this layout.
pub const LAYOUT_VERSION: u32 = 1;

/// Stands for "none" in a 32-bit number of seconds: an unlimited time limit, an absent default.
pub const NONE_S: u32 = u32::MAX;

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
    /// [`WaitClassRecord`]s, ascending.
    WaitClasses = 3,
    /// [`UserSizeRecord`]s, ascending.
    UserSizes = 4,
    /// [`RunTimeRange`]s.
    RunTimeRanges = 5,
    /// [`ExpectedEndRecord`]s, by partition, each partition's ascending.
    ExpectedEnds = 6,
    /// UTF-8 text that [`TextRecord`]s point into.
    Text = 7,
}

/// All sections, in the order in which they are written.
pub const SECTIONS: [SectionKind; 7] = [
    SectionKind::Site,
    SectionKind::Partitions,
    SectionKind::WaitClasses,
    SectionKind::UserSizes,
    SectionKind::RunTimeRanges,
    SectionKind::ExpectedEnds,
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
}

/// The waits of one class.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct WaitClassRecord {
    /// Index of the partition.
    pub partition: U16,
    /// Size class.
    pub size: u8,
    /// Limit class.
    pub limit: u8,
    /// Pressure level.
    pub pressure: u8,
    /// Unused, zero.
    pub reserved: [u8; 3],
    /// Jobs that the bounds rest on.
    pub jobs: U32,
    /// Median wait in seconds.
    pub median_s: U32,
    /// Upper bounds in seconds on the percentiles 1 to 99, ascending, all bits set where there is none.
    pub bounds_s: [U32; PERCENTILES],
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
}

/// Size in bytes of a record of a section.
#[must_use]
pub const fn record_size(kind: SectionKind) -> usize {
    match kind {
        SectionKind::Site => size_of::<SiteRecord>(),
        SectionKind::Partitions => size_of::<PartitionRecord>(),
        SectionKind::WaitClasses => size_of::<WaitClassRecord>(),
        SectionKind::UserSizes => size_of::<UserSizeRecord>(),
        SectionKind::RunTimeRanges => size_of::<RunTimeRange>(),
        SectionKind::ExpectedEnds => size_of::<ExpectedEndRecord>(),
        SectionKind::Text => 1,
    }
}

const _: () = {
    assert!(size_of::<Header>() == 48);
    assert!(std::mem::offset_of!(Header, checksum) == CHECKSUM_AT.start);
    assert!(size_of::<SectionRecord>() == 24);
    assert!(size_of::<PolicyRecord>() == 20);
    assert!(size_of::<SiteRecord>() == 92);
    assert!(size_of::<PartitionRecord>() == 80);
    assert!(size_of::<WaitClassRecord>() == 412);
    assert!(size_of::<UserSizeRecord>() == 28);
    assert!(size_of::<RunTimeRange>() == 12);
    assert!(size_of::<ExpectedEndRecord>() == 12);
};

/// XXH3-64 of a snapshot but the bytes of its checksum.
#[must_use]
pub fn checksum(snapshot: &[u8]) -> u64 {
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    hash.update(snapshot.get(..CHECKSUM_AT.start).unwrap_or(snapshot));
    hash.update(snapshot.get(CHECKSUM_AT.end..).unwrap_or(&[]));
    hash.digest()
}
