//! Reads a snapshot as it lies in memory.

use super::layout::sections::{self, SECTIONS, Section, SectionShape};
use super::layout::{
    self, ExpectedEndRecord, FreedRecord, Header, LAYOUT_VERSION, MAGIC, OF_ONE_LIMIT, ONE_USERS, PartitionRecord, RunTimeModelRecord,
    ScoreRecord, SectionRecord, SiteRecord, TextRecord, checksum,
};
use super::numbers::{Numbered, unit_number};
use crate::decisions::Timeliness;
use crate::decisions::limits::NodeSizes;
use crate::decisions::shared_nodes::SharedNode;
use crate::decisions::site::{Demand, Partition};
use crate::decisions::slurm_reservations::{MOST_SLURM_RESERVATIONS, SlurmReservation};
use crate::forecasts::forecast::{PERCENTILES, RunTimeForecast, RunTimeForecaster, RunTimeQuestion};
use crate::forecasts::levels::{KNOTS, Levels};
use crate::forecasts::promise::Shortfalls;
use crate::forecasts::reliability::{PartitionScore, WaitSourceReason};
use crate::forecasts::run_time_models::{self, LikeJobs};
use job_types::number::{PartitionIndex, UserId};
use job_types::policy::Policy;
use job_types::record::WaitSource;
use job_types::size::Unit;
use job_types::time::{Seconds, UnixTime};
use std::ops::Range;
use thiserror::Error;
use zerocopy::FromBytes;
use zerocopy::little_endian::{F32, U32};

/// What a snapshot says of itself in its first [`HEADER_LENGTH`] bytes, before the rest of it is
/// read or checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announced {
    /// The length of the whole snapshot in bytes.
    pub length: u64,
    /// The snapshot's generation, which is its number.
    pub generation: u64,
    /// The snapshot's checksum, which with the generation tells it from any other.
    pub checksum: u64,
}

impl Announced {
    /// Reads the beginning of a snapshot.
    ///
    /// # Errors
    /// As [`Snapshot::open`], as far as the header shows it.
    pub fn of(start: &[u8]) -> Result<Announced, SnapshotError> {
        let (header, _) = header(start)?;
        Ok(Announced { length: header.length.get(), generation: header.generation.get(), checksum: header.checksum.get() })
    }
}

/// Length of the header in bytes.
pub const HEADER_LENGTH: usize = size_of::<Header>();

fn header(all: &[u8]) -> Result<(&Header, &[u8]), SnapshotError> {
    let (header, rest) = Header::ref_from_prefix(all).map_err(|_| SnapshotError::Length)?;
    if header.magic != MAGIC {
        return Err(SnapshotError::Magic);
    }
    if header.version.get() != LAYOUT_VERSION {
        return Err(SnapshotError::Version { found: header.version.get() });
    }
    Ok((header, rest))
}

/// Why bytes are not a snapshot that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SnapshotError {
    /// Shorter or longer than its header says, or than a header.
    #[error("the snapshot is cut short or damaged: its length is not what its header says")]
    Length,
    /// The file is not a snapshot.
    #[error("the file is not a snapshot of queuecast")]
    Magic,
    /// The snapshot has another layout.
    #[error(
        "the snapshot has layout version {found}, this program reads version {LAYOUT_VERSION}: install plugin and daemon of one release"
    )]
    Version {
        /// The version found.
        found: u32,
    },
    /// The checksum is wrong, so that the file is damaged.
    #[error("the snapshot is damaged: its checksum is not what its header says")]
    Checksum,
    /// A section lies outside, is missing, or has records of another size.
    #[error("the snapshot's table of sections is not what layout version {LAYOUT_VERSION} has")]
    Sections,
}

/// A checked snapshot over the bytes `B`, such as a mapped file.
#[derive(Debug)]
pub struct Snapshot<B> {
    bytes: B,
    generation: u64,
    checksum: u64,
    published_at: UnixTime,
    sections: [Range<usize>; SECTIONS.len()],
    transparent: bool,
    /// When CPUs of the cluster become free, by time limits and as expected: decoded once, to be
    /// looked at often.
    pub(super) ends_by_limit: Vec<(i64, f32)>,
    pub(super) ends_expected: Vec<(i64, f32)>,
    /// The bounds of each class of waits, and of each row of the default's table: decoded once
    /// likewise.
    pub(super) class_bounds_s: Vec<[u32; PERCENTILES]>,
    pub(super) row_bounds_s: Vec<[u32; PERCENTILES]>,
}

/// Where a snapshot comes from.
#[derive(Clone, Debug)]
pub struct Provenance<'a> {
    /// Name of the cluster.
    pub cluster: &'a str,
    /// What is wrong with the configuration file, empty if nothing.
    pub configuration_error: &'a str,
    /// Ended jobs in the history.
    pub ended_jobs: u64,
    /// End of the first and of the last of them.
    pub ends: Option<(UnixTime, UnixTime)>,
    /// When slurmdbd was last read.
    pub accounting_read_at: Option<UnixTime>,
    /// When slurmctld was last read.
    pub controller_read_at: Option<UnixTime>,
    /// The time from which on all submissions that became jobs are known; `None` if it is not
    /// known.
    pub submissions_since: Option<UnixTime>,
    /// How many seconds slurmctld's clock was ahead of the daemon's when slurmctld was last read.
    pub controller_ahead: Seconds,
    /// When the configuration in force was loaded.
    pub configuration_loaded_at: UnixTime,
    /// Age beyond which the snapshot is not to be used.
    pub maximum_age: Seconds,
    /// Confidence of the bounds.
    pub confidence: f64,
    /// Policy of partitions that the snapshot does not know.
    pub site_policy: Policy,
    /// Classes with a distribution of waits.
    pub wait_classes: usize,
    /// Users' sizes with run times.
    pub user_sizes: usize,
}

impl<B: AsRef<[u8]>> Snapshot<B> {
    /// Checks length, version and checksum, and takes the snapshot.
    ///
    /// # Errors
    /// Says what is wrong with the bytes; they are not read any further then.
    pub fn open(bytes: B) -> Result<Snapshot<B>, SnapshotError> {
        let all = bytes.as_ref();
        let (header, rest) = header(all)?;
        if usize::try_from(header.length.get()) != Ok(all.len()) {
            return Err(SnapshotError::Length);
        }
        if header.checksum.get() != checksum(all) {
            return Err(SnapshotError::Checksum);
        }
        if header.sections.get() as usize != SECTIONS.len() {
            return Err(SnapshotError::Sections);
        }
        let (table, _) = <[SectionRecord]>::ref_from_prefix_with_elems(rest, SECTIONS.len()).map_err(|_| SnapshotError::Sections)?;
        let mut sections: [Range<usize>; SECTIONS.len()] = std::array::from_fn(|_| 0..0);
        for ((place, shape), record) in sections.iter_mut().zip(SECTIONS).zip(table) {
            *place = section(shape, record, all.len()).ok_or(SnapshotError::Sections)?;
        }
        let (generation, published_at) = (header.generation.get(), UnixTime(header.published_at.get()));
        let checksum = header.checksum.get();
        let mut snapshot = Snapshot {
            bytes,
            generation,
            checksum,
            published_at,
            sections,
            transparent: false,
            ends_by_limit: Vec::new(),
            ends_expected: Vec::new(),
            class_bounds_s: Vec::new(),
            row_bounds_s: Vec::new(),
        };
        if snapshot.site().is_none() {
            return Err(SnapshotError::Sections);
        }
        let freed = |ends: &[FreedRecord]| ends.iter().map(|end| (end.at.get(), end.cpus.get())).collect();
        let ends_by_limit = freed(snapshot.records(sections::EndsByLimit));
        let ends_expected = freed(snapshot.records(sections::EndsExpected));
        (snapshot.ends_by_limit, snapshot.ends_expected) = (ends_by_limit, ends_expected);
        let classes = snapshot.records(sections::WaitClasses).iter().map(|class| class.bounds_s.map(U32::get)).collect();
        let rows = snapshot.records(sections::BoundRows).iter().map(|row| row.bounds_s.map(U32::get)).collect();
        (snapshot.class_bounds_s, snapshot.row_bounds_s) = (classes, rows);
        snapshot.transparent =
            snapshot.provenance().site_policy.is_transparent() || snapshot.partitions().any(|partition| partition.policy.is_transparent());
        Ok(snapshot)
    }

    /// All bytes of the snapshot.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// The snapshot's generation, which is its number.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The snapshot's checksum, which with the generation tells it from any other.
    #[must_use]
    pub fn checksum(&self) -> u64 {
        self.checksum
    }

    /// The length of the snapshot in bytes.
    #[must_use]
    pub fn length(&self) -> usize {
        self.bytes.as_ref().len()
    }

    /// When the snapshot was published.
    #[must_use]
    pub fn published_at(&self) -> UnixTime {
        self.published_at
    }

    /// How old it is; never negative.
    #[must_use]
    pub fn age(&self, now: UnixTime) -> Seconds {
        (now - self.published_at).max(Seconds::ZERO)
    }

    /// Returns whether decisions may be made from the snapshot at `now`.
    #[must_use]
    pub fn timeliness(&self, now: UnixTime) -> Timeliness {
        let longest = Seconds(self.site().map_or(-1, |site| i64::from(site.maximum_age_s.get())));
        Timeliness::of(self.published_at, now, longest)
    }

    /// Whether a job can be rewritten whose user asked for nothing.
    #[must_use]
    pub fn has_transparent_policy(&self) -> bool {
        self.transparent
    }

    /// Returns where the snapshot comes from: its cluster, what it was made from, and its settings.
    #[must_use]
    pub fn provenance(&self) -> Provenance<'_> {
        let default = SiteRecord::default();
        let site = self.site().unwrap_or(&default);
        let moment = |seconds: i64| (seconds != 0).then_some(UnixTime(seconds));
        Provenance {
            cluster: self.text(site.cluster),
            configuration_error: self.text(site.configuration_error),
            ended_jobs: site.ended_jobs.get(),
            ends: moment(site.oldest_end.get()).zip(moment(site.newest_end.get())),
            accounting_read_at: moment(site.accounting_read_at.get()),
            controller_read_at: moment(site.controller_read_at.get()),
            submissions_since: moment(site.submissions_since.get()),
            controller_ahead: Seconds(site.controller_ahead_s.get()),
            configuration_loaded_at: UnixTime(site.configuration_loaded_at.get()),
            maximum_age: Seconds(i64::from(site.maximum_age_s.get())),
            confidence: f64::from(site.confidence.get()),
            site_policy: Policy::from(&site.policy),
            wait_classes: self.records(sections::WaitClasses).len(),
            user_sizes: self.records(sections::RunTimeModels).iter().filter(|record| like_jobs(record).is_users_size()).count(),
        }
    }

    /// All partitions.
    pub fn partitions(&self) -> impl Iterator<Item = Partition<'_>> {
        (0u16..).zip(self.partition_records()).map(|(index, record)| self.partition_of(PartitionIndex(index), record))
    }

    pub(super) fn partition_records(&self) -> &[PartitionRecord] {
        self.records(sections::Partitions)
    }

    pub(super) fn partition_record(&self, index: PartitionIndex) -> Option<&PartitionRecord> {
        self.partition_records().get(usize::from(index.0))
    }

    pub(super) fn partition_of<'a>(&'a self, index: PartitionIndex, record: &'a PartitionRecord) -> Partition<'a> {
        let (least_cpus, most_cpus) = (record.least_node_cpus.get(), record.most_node_cpus.get());
        Partition {
            index,
            name: self.text(record.name),
            policy: Policy::from(&record.policy),
            cpus: record.cpus.get(),
            nodes: record.nodes.get(),
            whole_nodes: record.whole_nodes == 1,
            max_time: layout::seconds(record.max_time_s),
            own_default_time: layout::seconds(record.default_time_s),
            least_nodes: record.least_nodes.get(),
            most_nodes: layout::number(record.most_nodes),
            most_cpus_per_node: layout::number(record.most_cpus_per_node),
            node_sizes: layout::number(record.usable_nodes).map(|usable| NodeSizes { usable, least_cpus, most_cpus }),
            slurm_reservations: self.slurm_reservations(record),
            shared_nodes: self.shared_nodes(record),
            demand: Demand {
                running_jobs: record.running_jobs.get(),
                pending_jobs: record.pending_jobs.get(),
                running_cpus: record.running_cpus.get(),
                pending_cpus: record.pending_cpus.get(),
            },
        }
    }

    /// What Slurm's own reservations take of a partition, no more of it than is looked at.
    fn slurm_reservations(&self, record: &PartitionRecord) -> &[SlurmReservation] {
        let all = self.records(sections::SlurmReservations);
        let first = record.first_slurm_reservation.get() as usize;
        let count = (record.slurm_reservations.get() as usize).min(MOST_SLURM_RESERVATIONS);
        all.get(first..first.saturating_add(count)).unwrap_or(&[])
    }

    /// The nodes of a partition whose CPUs jobs share.
    fn shared_nodes(&self, record: &PartitionRecord) -> &[SharedNode] {
        let all = self.records(sections::SharedNodes);
        let first = record.first_shared_node.get() as usize;
        all.get(first..first.saturating_add(record.shared_nodes.get() as usize)).unwrap_or(&[])
    }

    /// The name of a node whose CPUs jobs share.
    #[must_use]
    pub fn shared_node_name(&self, node: &SharedNode) -> &str {
        let (offset, length) = node.name();
        self.text(TextRecord { offset: offset.into(), length: length.into() })
    }

    /// The expected ends of the running jobs of a partition, ascending.
    pub(super) fn ends(&self, partition: PartitionIndex) -> &[ExpectedEndRecord] {
        let Some(record) = self.partition_record(partition) else { return &[] };
        let ends = self.records(sections::ExpectedEnds);
        let first = record.first_end.get() as usize;
        ends.get(first..first.saturating_add(record.ends.get() as usize)).unwrap_or(&[])
    }

    /// CPUs of the running jobs of a partition that are expected to end after one moment and until
    /// another.
    pub(super) fn freed_between(&self, partition: PartitionIndex, after: UnixTime, until: UnixTime) -> u64 {
        let ends = self.ends(partition);
        let freed = |moment: UnixTime| {
            let ended = ends.partition_point(|end| end.at.get() <= moment.0);
            ended.checked_sub(1).and_then(|last| ends.get(last)).map_or(0, |last| last.freed.get())
        };
        u64::from(freed(until).saturating_sub(freed(after)))
    }

    /// How well the default forecasts of waits have done, by partition; none without a model.
    pub fn scores(&self) -> impl Iterator<Item = PartitionScore> + '_ {
        self.records(sections::Scores).iter().map(score_of)
    }

    /// How well the default forecasts of waits have done in the partition of that index, and which
    /// are in force there; `None` where that was not measured.
    #[must_use]
    pub fn score(&self, partition: PartitionIndex) -> Option<PartitionScore> {
        self.score_record(partition).map(score_of)
    }

    pub(super) fn score_record(&self, partition: PartitionIndex) -> Option<&ScoreRecord> {
        let scores = self.records(sections::Scores);
        scores.get(scores.binary_search_by_key(&partition.0, |score| score.partition.get()).ok()?)
    }

    /// How promises of a class were kept; `None` where none was given.
    pub(super) fn promises_of(&self, partition: PartitionIndex, class: u8) -> Option<(Levels, Shortfalls)> {
        let promises = self.records(sections::Promises);
        let place = promises.binary_search_by_key(&(partition.0, class), |promise| (promise.partition.get(), promise.class)).ok()?;
        let promise = promises.get(place)?;
        let numbers = |stored: [F32; KNOTS.len()]| stored.map(|number| f64::from(number.get()));
        Some((Levels::from(numbers(promise.levels)), Shortfalls::from(numbers(promise.shortfalls))))
    }

    fn site(&self) -> Option<&SiteRecord> {
        self.records(sections::Site).first()
    }

    /// The records of a section, in the order of the layout.
    pub fn records<S: Section>(&self, _section: S) -> &[S::Record] {
        let bytes = self.sections.get(S::PLACE).and_then(|range| self.bytes.as_ref().get(range.clone()));
        bytes.and_then(|bytes| <[S::Record]>::ref_from_bytes(bytes).ok()).unwrap_or(&[])
    }

    /// The text that a record points to; empty where it points outside.
    #[must_use]
    pub fn text(&self, record: TextRecord) -> &str {
        let start = record.offset.get() as usize;
        let bytes = self.records(sections::Text).get(start..start.saturating_add(record.length.get() as usize));
        bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or("")
    }

    /// The forecast of the run-time model of some jobs.
    fn run_time_model(&self, like: &LikeJobs) -> Option<RunTimeForecast<'_>> {
        let models = self.records(sections::RunTimeModels);
        let record = models.get(models.binary_search_by_key(like, like_jobs).ok()?)?;
        let ranges = self.records(sections::RunTimeRanges);
        let first = record.first_range.get() as usize;
        let ranges = ranges.get(first..first.checked_add(record.ranges.get() as usize)?).filter(|ranges| !ranges.is_empty())?;
        Some(RunTimeForecast { jobs: record.jobs.get(), longest_limit: layout::seconds(record.longest_limit_s), ranges })
    }
}

fn section(shape: SectionShape, record: &SectionRecord, length: usize) -> Option<Range<usize>> {
    if record.number.get() != shape.number || record.record_size.get() as usize != shape.record_size {
        return None;
    }
    let start = usize::try_from(record.offset.get()).ok()?;
    let end = start.checked_add(usize::try_from(record.count.get()).ok()?.checked_mul(shape.record_size)?)?;
    (end <= length).then_some(start..end)
}

impl<B: AsRef<[u8]>> RunTimeForecaster for Snapshot<B> {
    fn run_time(&self, asked: &RunTimeQuestion) -> Option<RunTimeForecast<'_>> {
        run_time_models::forecast(asked, |like| self.run_time_model(like))
    }

    fn past_sizes(&self, user: UserId, partition: PartitionIndex, unit: Unit) -> impl Iterator<Item = u32> + '_ {
        let models = self.records(sections::RunTimeModels);
        let first = models.partition_point(|record| like_jobs(record) < LikeJobs::of_size(user, partition, unit, 0));
        let of_user = models.get(first..).unwrap_or(&[]).iter().map(like_jobs);
        let theirs = of_user.map_while(move |like| {
            let (of, count) = like.size?;
            ((like.user, like.partition, of) == (Some(user), partition, unit)).then_some((count, like.limit_s))
        });
        theirs.filter_map(|(count, limit_s)| limit_s.is_none().then_some(count))
    }
}

/// The jobs that a model of run times is of.
fn like_jobs(record: &RunTimeModelRecord) -> LikeJobs {
    let unit = Unit::ALL.into_iter().find(|unit| unit_number(*unit) == record.unit);
    LikeJobs {
        user: (record.shared & ONE_USERS != 0).then(|| UserId(record.user.get())),
        partition: PartitionIndex(record.partition.get()),
        size: unit.map(|unit| (unit, record.count.get())),
        limit_s: (record.shared & OF_ONE_LIMIT != 0).then(|| record.limit_s.get()),
    }
}

fn score_of(record: &ScoreRecord) -> PartitionScore {
    PartitionScore {
        partition: PartitionIndex(record.partition.get()),
        jobs: record.jobs.get(),
        median_error_s: record.median_error_s.get(),
        pinball_s: record.pinball_s.get(),
        reliability: record.reliability.map(|part| part.get()),
        source: WaitSource::of_number(record.source),
        reason: WaitSourceReason::of_number(record.reason),
    }
}
