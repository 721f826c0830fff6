//! Writes a snapshot from a fitted history and the present state of the cluster.

use super::coming_records::{self, ComingJob};
use super::deadline_records;
use super::layout::sections::{SECTIONS, Sections};
use super::layout::{
    self, CHECKSUM_AT, ExpectedEndRecord, Header, LAYOUT_VERSION, MAGIC, NO_RECORD, PartitionRecord, SectionRecord, SiteRecord,
    UserSizeRecord, checksum,
};
use super::limit_records::LimitRecords;
use super::model_records::ModelRecords;
use super::plan_records::PlanRecords;
use super::reserved_records::{self, ReservedCpus};
use super::submission_records::SeenSubmissions;
use super::text::Text;
use super::wait_records::WaitClassRecords;
use crate::decisions::limits::{AccountingLimits, PartitionLimits};
use crate::decisions::set_aside::{MOST_SET_ASIDE, SetAside};
use crate::decisions::shared_nodes::{SharedNode, SharingJob};
use crate::forecasts::forecast::{RunTimeForecast, RunTimeModel, RunTimeRange, UserSize};
use crate::forecasts::queue_plan::QueuePlan;
use crate::forecasts::wait_model::{FittedPast, WaitModel};
use job_types::number::{PartitionIndex, UserId};
use job_types::policy::{Admission, Policy};
use job_types::size::{Size, Unit};
use job_types::time::{Seconds, UnixTime};
use std::collections::HashMap;
use std::sync::Arc;
use zerocopy::IntoBytes;

/// A partition as slurmctld describes it now.
#[derive(Clone, Debug)]
pub struct PartitionState {
    /// Its name.
    pub name: String,
    /// What the site allows in it.
    pub policy: Policy,
    /// Whether jobs that name no partition go there.
    pub is_default: bool,
    /// Whether jobs get whole nodes.
    pub whole_nodes: bool,
    /// CPUs of its nodes.
    pub cpus: u32,
    /// Its nodes.
    pub nodes: u32,
    /// Longest time limit; `None` is unlimited.
    pub max_time: Option<Seconds>,
    /// Time limit of a job that gives none; `None` is `max_time`.
    pub default_time: Option<Seconds>,
    /// Its running jobs.
    pub running: Vec<RunningJob>,
    /// How many of its pending jobs are eligible.
    pub pending_jobs: u32,
    /// CPUs that these ask for.
    pub pending_cpus: u64,
    /// Jobs that were submitted for it and become eligible later, in any order.
    pub coming: Vec<ComingJob>,
    /// What its jobs with virtual reservations take, in any order.
    pub reserved: Vec<ReservedCpus>,
    /// What it allows one job besides.
    pub limits: PartitionLimits,
    /// What Slurm's own reservations take of its nodes, in any order; of more than
    /// [`MOST_SET_ASIDE`] those that begin first are kept.
    pub set_aside: Vec<SetAside>,
    /// Its nodes whose CPUs jobs share, where jobs are admitted to it by shares.
    pub shared_nodes: Vec<SharedNodeState>,
}

/// A node whose CPUs jobs share, and that takes jobs.
#[derive(Clone, Debug)]
pub struct SharedNodeState {
    /// Its name.
    pub name: String,
    /// Its CPUs.
    pub cpus: u32,
    /// How many jobs may share each.
    pub jobs_to_a_cpu: u16,
    /// The jobs that it has, and those that will have it.
    pub jobs: Vec<SharingJob>,
}

impl SharedNodeState {
    fn record(&self, text: &mut Text) -> SharedNode {
        let name = text.add(&self.name);
        let mut record = SharedNode::idle(self.cpus, self.jobs_to_a_cpu, (name.offset.get(), name.length.get()));
        self.jobs.iter().for_each(|job| record.add(*job));
        record
    }
}

/// A running job, as far as its end is to be expected. A snapshot keeps no more of it: not the
/// account, the quality of service and the moment of eligibility of `job_types::job::RunningJob`.
#[derive(Clone, Copy, Debug)]
pub struct RunningJob {
    /// Numeric id of the user.
    pub user: UserId,
    /// Nodes and CPUs.
    pub size: Size,
    /// When it started.
    pub start: UnixTime,
    /// How long it waits on its nodes for a reserved time from then on, before it runs.
    pub waits_on_nodes: Seconds,
    /// When its time limit ends it; `None` is never.
    pub limit_end: Option<UnixTime>,
}

/// Where a snapshot comes from.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// Name of the cluster.
    pub cluster: String,
    /// What is wrong with the configuration file, empty if nothing.
    pub configuration_error: String,
    /// Number of this snapshot.
    pub generation: u64,
    /// When it is published.
    pub published_at: UnixTime,
    /// Age beyond which it is not to be used.
    pub maximum_age: Seconds,
    /// Confidence with which the history was fitted.
    pub confidence: f64,
    /// Policy of partitions that are not among those given.
    pub site_policy: Policy,
    /// When slurmdbd was last read; `None` if never.
    pub accounting_read_at: Option<UnixTime>,
    /// When slurmctld was last read; `None` if never.
    pub controller_read_at: Option<UnixTime>,
    /// By how much slurmctld's clock was ahead of the daemon's then; nothing where that is not
    /// known.
    pub controller_ahead: Seconds,
    /// When the configuration in force was loaded.
    pub configuration_loaded_at: UnixTime,
    /// What accounting allows jobs.
    pub limits: Arc<AccountingLimits>,
    /// Which submissions have become jobs lately.
    pub submissions: Arc<SeenSubmissions>,
}

/// The bytes of a snapshot. The history must be fitted; partitions that slurmctld does not know any
/// more keep their index and get no CPUs. Without a `model` waits are forecast by the history's
/// classes alone, and run times by what the history makes of them. A `plan` knows the partitions by
/// the history's indices.
#[must_use]
pub fn write(
    history: &mut impl FittedPast,
    partitions: &[PartitionState],
    origin: &Origin,
    model: Option<&WaitModel>,
    plan: Option<&QueuePlan>,
) -> Vec<u8> {
    for partition in partitions {
        history.partition_index(&partition.name);
    }
    let associated = origin.limits.associations.iter().filter_map(|association| association.partition.as_ref());
    for partition in associated {
        history.partition_index(partition);
    }
    let mut text = Text::default();
    let mut expected_ends: Vec<ExpectedEndRecord> = Vec::new();
    let mut set_aside: Vec<SetAside> = Vec::new();
    let mut shared_nodes: Vec<SharedNode> = Vec::new();
    let by_name: HashMap<&str, &PartitionState> = partitions.iter().map(|partition| (partition.name.as_str(), partition)).collect();
    let partition_records: Vec<PartitionRecord> = (0u16..)
        .zip(history.partition_names())
        .map(|(index, name)| match by_name.get(name) {
            Some(state) => {
                let (first_end, first_set_aside) = (expected_ends.len(), set_aside.len());
                expected_ends.extend(ends(history, model, PartitionIndex(index), state, origin.published_at));
                set_aside.extend(nearest(&state.set_aside));
                let first_shared_node = shared_nodes.len();
                shared_nodes.extend(state.shared_nodes.iter().map(|node| node.record(&mut text)));
                PartitionRecord {
                    first_end: (first_end as u32).into(),
                    ends: ((expected_ends.len() - first_end) as u32).into(),
                    first_set_aside: (first_set_aside as u32).into(),
                    set_aside: ((set_aside.len() - first_set_aside) as u32).into(),
                    first_shared_node: (first_shared_node as u32).into(),
                    shared_nodes: (state.shared_nodes.len() as u32).into(),
                    ..partition_record(state, &origin.limits, &mut text)
                }
            }
            None => unknown_partition_record(name, &origin.site_policy, &mut text),
        })
        .collect();

    let learnt_classes = model.map(|model| model.classes.as_slice()).filter(|classes| !classes.is_empty());
    let classes = WaitClassRecords::of(learnt_classes.unwrap_or(history.classes()));

    let mut range_records: Vec<RunTimeRange> = Vec::new();
    let user_records: Vec<UserSizeRecord> = history
        .run_times()
        .iter()
        .map(|(key, fitted)| {
            let model = learnt(model, key).unwrap_or(fitted);
            let first_range = range_records.len() as u32;
            range_records.extend_from_slice(&model.ranges);
            UserSizeRecord {
                user: key.user.0.into(),
                partition: key.partition.0.into(),
                unit: unit_number(key.unit),
                reserved: 0,
                count: key.count.into(),
                jobs: model.jobs.into(),
                longest_limit_s: model.longest_limit_s.into(),
                first_range: first_range.into(),
                ranges: (model.ranges.len() as u32).into(),
            }
        })
        .collect();

    let of_partition = |(index, name): (u16, &str)| {
        let state = by_name.get(name)?;
        Some(coming_records::records(Some(PartitionIndex(index)), state.coming.iter().copied(), origin.published_at))
    };
    let mut coming: Vec<_> = (0u16..).zip(history.partition_names()).filter_map(of_partition).flatten().collect();
    let of_cluster = partitions.iter().flat_map(|state| state.coming.iter().copied());
    coming.extend(coming_records::records(None, of_cluster, origin.published_at));
    let of_partition = |(index, name): (u16, &str)| {
        let state = by_name.get(name)?;
        Some(reserved_records::records(Some(PartitionIndex(index)), state.reserved.iter().copied(), origin.published_at))
    };
    let mut reserved: Vec<_> = (0u16..).zip(history.partition_names()).filter_map(of_partition).flatten().collect();
    let of_cluster = partitions.iter().flat_map(|state| state.reserved.iter().copied());
    reserved.extend(reserved_records::records(None, of_cluster, origin.published_at));
    // What is not learnt yet is what is taken before anything is known.
    let learnt_of = |index: PartitionIndex| {
        let found = model.and_then(|model| model.deadlines.iter().find(|(partition, _)| *partition == index));
        found.map(|(_, history)| *history).unwrap_or_default()
    };
    let admits = |(index, name): (u16, &str)| {
        let state = by_name.get(name).filter(|state| state.policy.admission == Admission::Probability);
        state.map(|_| (PartitionIndex(index), learnt_of(PartitionIndex(index))))
    };
    let deadline_histories = deadline_records::history_records((0u16..).zip(history.partition_names()).filter_map(admits));
    let promised_jobs = plan.map(|plan| deadline_records::promised_records(&plan.promised)).unwrap_or_default();
    let (submissions, submissions_since) = origin.submissions.records();
    let submissions_since = submissions_since.unwrap_or_default().0.into();
    let site = SiteRecord { submissions_since, ..site_record(history, origin, &mut text) };
    let model = model.map(|model| ModelRecords::of(model, &mut text)).unwrap_or_default();
    let plan = plan.map(PlanRecords::of).unwrap_or_default();
    let limits = LimitRecords::of(&origin.limits, &history.partition_names(), &mut text);
    let sections = Sections {
        site: &[site],
        partitions: &partition_records,
        set_aside: &set_aside,
        shared_nodes: &shared_nodes,
        wait_classes: &classes.classes,
        wait_regions: &classes.regions,
        user_sizes: &user_records,
        run_time_ranges: &range_records,
        expected_ends: &expected_ends,
        model: &model.model,
        forest_roots: &model.roots,
        forest_nodes: &model.nodes,
        bound_rows: &model.bound_rows,
        groups: &model.groups,
        open_groups: &model.open_groups,
        ends_by_limit: &model.ends_by_limit,
        ends_expected: &model.ends_expected,
        users: &model.users,
        accounts: &model.accounts,
        qualities_of_service: &model.qos,
        scores: &model.scores,
        promises: &model.promises,
        coming: &coming,
        reserved: &reserved,
        deadline_histories: &deadline_histories,
        promised_jobs: &promised_jobs,
        submissions: &submissions,
        plan: &plan.plan,
        planned_jobs: &plan.jobs,
        planned_partitions: &plan.partitions,
        free_cpus: &plan.free,
        plan_sizes: &plan.sizes,
        plan_limits: &plan.limits,
        plan_starts: &plan.starts,
        limits: &limits.limits,
        qos_rules: &limits.qos,
        associations: &limits.associations,
        text: text.bytes(),
    };
    assemble(origin.generation, origin.published_at, &sections)
}

/// What was learnt of the run times of a user at a size.
fn learnt<'a>(model: Option<&'a WaitModel>, key: &UserSize) -> Option<&'a RunTimeModel> {
    model?.run_times.get(key).map(|run_times| &**run_times)
}

/// How a unit is written.
pub(super) fn unit_number(unit: Unit) -> u8 {
    match unit {
        Unit::Nodes => 0,
        Unit::Cpus => 1,
    }
}

/// The bytes of a snapshot of these sections.
pub(super) fn assemble(generation: u64, published_at: UnixTime, sections: &Sections<'_>) -> Vec<u8> {
    let sections = sections.bytes();
    let mut offset = size_of::<Header>() + SECTIONS.len() * size_of::<SectionRecord>();
    let length = offset + sections.iter().map(|section| section.len()).sum::<usize>();
    let header = Header {
        magic: MAGIC,
        version: LAYOUT_VERSION.into(),
        sections: (SECTIONS.len() as u32).into(),
        generation: generation.into(),
        published_at: published_at.0.into(),
        length: (length as u64).into(),
        checksum: 0.into(),
    };
    let mut snapshot = Vec::with_capacity(length);
    snapshot.extend_from_slice(header.as_bytes());
    for (shape, section) in SECTIONS.into_iter().zip(sections) {
        let record = SectionRecord {
            number: shape.number.into(),
            record_size: (shape.record_size as u32).into(),
            offset: (offset as u64).into(),
            count: ((section.len() / shape.record_size) as u64).into(),
        };
        snapshot.extend_from_slice(record.as_bytes());
        offset += section.len();
    }
    for section in sections {
        snapshot.extend_from_slice(section);
    }
    let checksum = checksum(&snapshot);
    if let Some(place) = snapshot.get_mut(CHECKSUM_AT) {
        place.copy_from_slice(&checksum.to_le_bytes());
    }
    snapshot
}

fn site_record(history: &impl FittedPast, origin: &Origin, text: &mut Text) -> SiteRecord {
    let (oldest_end, newest_end) = history.ends().unwrap_or_default();
    SiteRecord {
        policy: (&origin.site_policy).into(),
        maximum_age_s: origin.maximum_age.clamped_u32().into(),
        confidence: (origin.confidence as f32).into(),
        cluster: text.add(&origin.cluster),
        configuration_error: text.add(&origin.configuration_error),
        ended_jobs: history.ended_jobs().into(),
        oldest_end: oldest_end.0.into(),
        newest_end: newest_end.0.into(),
        accounting_read_at: origin.accounting_read_at.unwrap_or_default().0.into(),
        controller_read_at: origin.controller_read_at.unwrap_or_default().0.into(),
        controller_ahead_s: origin.controller_ahead.0.into(),
        configuration_loaded_at: origin.configuration_loaded_at.0.into(),
        submissions_since: 0.into(),
    }
}

/// The record of a partition, without the places of its records in other sections.
fn partition_record(state: &PartitionState, accounting: &AccountingLimits, text: &mut Text) -> PartitionRecord {
    let limits = &state.limits;
    let qos = limits.qos.as_ref().and_then(|name| accounting.qos.iter().position(|qos| qos.name.eq_ignore_ascii_case(name)));
    let nodes = limits.nodes;
    PartitionRecord {
        name: text.add(&state.name),
        policy: (&state.policy).into(),
        is_default: state.is_default.into(),
        whole_nodes: state.whole_nodes.into(),
        reserved: [0; 2],
        cpus: state.cpus.into(),
        nodes: state.nodes.into(),
        max_time_s: layout::seconds_or_none(state.max_time),
        default_time_s: layout::seconds_or_none(state.default_time),
        running_jobs: (state.running.len() as u32).into(),
        pending_jobs: state.pending_jobs.into(),
        running_cpus: state.running.iter().map(|job| u64::from(job.size.cpus)).sum::<u64>().into(),
        pending_cpus: state.pending_cpus.into(),
        first_end: 0.into(),
        ends: 0.into(),
        least_nodes: limits.least_nodes.into(),
        most_nodes: layout::number_or_none(limits.most_nodes),
        most_cpus_per_node: layout::number_or_none(limits.most_cpus_per_node),
        qos: qos.map_or(NO_RECORD, |place| place as u32).into(),
        usable_nodes: layout::number_or_none(nodes.map(|nodes| nodes.usable)),
        least_node_cpus: nodes.map_or(0, |nodes| nodes.least_cpus).into(),
        most_node_cpus: nodes.map_or(0, |nodes| nodes.most_cpus).into(),
        first_set_aside: 0.into(),
        set_aside: 0.into(),
        first_shared_node: 0.into(),
        shared_nodes: 0.into(),
    }
}

/// What is kept of what is set aside in a partition, in its order.
fn nearest(set_aside: &[SetAside]) -> Vec<SetAside> {
    let mut nearest = set_aside.to_vec();
    nearest.sort_by_key(SetAside::start);
    nearest.truncate(MOST_SET_ASIDE);
    nearest.sort_by_key(SetAside::order);
    nearest
}

fn unknown_partition_record(name: &str, policy: &Policy, text: &mut Text) -> PartitionRecord {
    let state = PartitionState {
        name: name.to_owned(),
        policy: *policy,
        is_default: false,
        whole_nodes: false,
        cpus: 0,
        nodes: 0,
        max_time: None,
        default_time: None,
        running: Vec::new(),
        pending_jobs: 0,
        pending_cpus: 0,
        coming: Vec::new(),
        reserved: Vec::new(),
        limits: PartitionLimits::default(),
        set_aside: Vec::new(),
        shared_nodes: Vec::new(),
    };
    partition_record(&state, &AccountingLimits::default(), text)
}

/// When the running jobs of a partition are expected to end: by their forecast run time, which
/// counts from when they no longer wait on their nodes, or by their time limit where they have
/// outlived that.
fn ends(
    history: &impl FittedPast,
    model: Option<&WaitModel>,
    partition: PartitionIndex,
    state: &PartitionState,
    now: UnixTime,
) -> Vec<ExpectedEndRecord> {
    let fitted = history.run_times();
    let mut ends: Vec<ExpectedEndRecord> = state
        .running
        .iter()
        .filter_map(|job| {
            let forecast = Unit::ALL
                .iter()
                .find_map(|unit| {
                    let key = UserSize { user: job.user, partition, unit: *unit, count: job.size.count(*unit) };
                    fitted.get(&key).map(|fitted| learnt(model, &key).unwrap_or(fitted))
                })
                .map(|model| RunTimeForecast { jobs: model.jobs, longest_limit: None, ranges: &model.ranges }.point());
            let at = forecast.map(|run_time| job.start + job.waits_on_nodes + run_time).filter(|at| *at > now).or(job.limit_end)?;
            Some(ExpectedEndRecord { at: at.0.into(), cpus: job.size.cpus.into(), freed: 0.into() })
        })
        .collect();
    ends.sort_unstable_by_key(|end| end.at.get());
    let mut freed = 0u32;
    for end in &mut ends {
        freed = freed.saturating_add(end.cpus.get());
        end.freed = freed.into();
    }
    ends
}
