//! Writes a snapshot from a fitted history and the present state of the cluster.

use crate::assemble::assemble;
use crate::limits::LimitRecords;
use crate::model::ModelRecords;
use crate::plan::PlanRecords;
use crate::state::{Origin, PartitionState};
use crate::text::Text;
use crate::waits::WaitClassRecords;
use crate::{coming, deadlines, reserved};
use job_types::number::PartitionIndex;
use job_types::policy::{Admission, Policy};
use job_types::time::UnixTime;
use predictor_core::decisions::limits::{AccountingLimits, PartitionLimits};
use predictor_core::decisions::shared_nodes::SharedNode;
use predictor_core::decisions::slurm_reservations::{MOST_SLURM_RESERVATIONS, SlurmReservation};
use predictor_core::forecasts::forecast::{RunTimeRange, point};
use predictor_core::forecasts::queue_plan::QueuePlan;
use predictor_core::forecasts::run_time_models::{KnownRunTimes, LikeJobs, RunTimeModel};
use predictor_core::forecasts::wait_model::{FittedPast, WaitModel};
use predictor_core::snapshot::layout::sections::Sections;
use predictor_core::snapshot::layout::{
    self, ANY_SIZE, ExpectedEndRecord, NO_RECORD, OF_ONE_LIMIT, ONE_USERS, PartitionRecord, RunTimeModelRecord, SiteRecord,
};
use predictor_core::snapshot::unit_number;
use std::collections::HashMap;

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
    let history = &*history;
    let known_run_times = KnownRunTimes { learnt: model.map(|model| &model.run_times), kept: history.run_times() };
    let mut text = Text::default();
    let mut expected_ends: Vec<ExpectedEndRecord> = Vec::new();
    let mut slurm_reservations: Vec<SlurmReservation> = Vec::new();
    let mut shared_nodes: Vec<SharedNode> = Vec::new();
    let by_name: HashMap<&str, &PartitionState> = partitions.iter().map(|partition| (partition.name.as_str(), partition)).collect();
    let partition_records: Vec<PartitionRecord> = (0u16..)
        .zip(history.partition_names())
        .map(|(index, name)| match by_name.get(name) {
            Some(state) => {
                let (first_end, first_slurm_reservation) = (expected_ends.len(), slurm_reservations.len());
                expected_ends.extend(ends(&known_run_times, PartitionIndex(index), state, origin.published_at));
                slurm_reservations.extend(nearest(&state.slurm_reservations));
                let first_shared_node = shared_nodes.len();
                shared_nodes.extend(state.shared_nodes.iter().map(|node| node.record(&mut text)));
                PartitionRecord {
                    first_end: (first_end as u32).into(),
                    ends: ((expected_ends.len() - first_end) as u32).into(),
                    first_slurm_reservation: (first_slurm_reservation as u32).into(),
                    slurm_reservations: ((slurm_reservations.len() - first_slurm_reservation) as u32).into(),
                    first_shared_node: (first_shared_node as u32).into(),
                    shared_nodes: (state.shared_nodes.len() as u32).into(),
                    ..partition_record(state, &origin.limits, &mut text)
                }
            }
            None => unknown_partition_record(name, &origin.site_policy, &mut text),
        })
        .collect();

    let learnt_classes = model.map(|model| model.classes.as_slice()).filter(|classes| !classes.is_empty());
    let classes = WaitClassRecords::from(learnt_classes.unwrap_or(history.classes()));

    let mut range_records: Vec<RunTimeRange> = Vec::new();
    let run_time_models: Vec<RunTimeModelRecord> = known_run_times
        .all()
        .map(|(like, model)| {
            let first_range = range_records.len() as u32;
            range_records.extend_from_slice(&model.ranges);
            run_time_model_record(like, model, first_range)
        })
        .collect();

    let of_partition = |(index, name): (u16, &str)| {
        let state = by_name.get(name)?;
        Some(coming::records(Some(PartitionIndex(index)), state.coming.iter().copied(), origin.published_at))
    };
    let mut coming: Vec<_> = (0u16..).zip(history.partition_names()).filter_map(of_partition).flatten().collect();
    let of_cluster = partitions.iter().flat_map(|state| state.coming.iter().copied());
    coming.extend(coming::records(None, of_cluster, origin.published_at));
    let of_partition = |(index, name): (u16, &str)| {
        let state = by_name.get(name)?;
        Some(reserved::records(Some(PartitionIndex(index)), state.reserved.iter().copied(), origin.published_at))
    };
    let mut reserved: Vec<_> = (0u16..).zip(history.partition_names()).filter_map(of_partition).flatten().collect();
    let of_cluster = partitions.iter().flat_map(|state| state.reserved.iter().copied());
    reserved.extend(reserved::records(None, of_cluster, origin.published_at));
    // What is not learnt yet is what is taken before anything is known.
    let learnt_of = |index: PartitionIndex| {
        let found = model.and_then(|model| model.deadlines.iter().find(|(partition, _)| *partition == index));
        found.map(|(_, history)| *history).unwrap_or_default()
    };
    let admits = |(index, name): (u16, &str)| {
        let state = by_name.get(name).filter(|state| state.policy.admission == Admission::Probability);
        state.map(|_| (PartitionIndex(index), learnt_of(PartitionIndex(index))))
    };
    let deadline_histories = deadlines::history_records((0u16..).zip(history.partition_names()).filter_map(admits));
    let promised_jobs = plan.map(|plan| deadlines::promised_records(&plan.promised)).unwrap_or_default();
    let (submissions, submissions_since) = origin.submissions.records();
    let submissions_since = submissions_since.unwrap_or_default().0.into();
    let site = SiteRecord { submissions_since, ..site_record(history, origin, &mut text) };
    let model = model.map(|model| ModelRecords::of(model, &mut text)).unwrap_or_default();
    let plan = plan.map(PlanRecords::from).unwrap_or_default();
    let limits = LimitRecords::of(&origin.limits, &history.partition_names(), &mut text);
    let sections = Sections {
        site: &[site],
        partitions: &partition_records,
        slurm_reservations: &slurm_reservations,
        shared_nodes: &shared_nodes,
        wait_classes: &classes.classes,
        wait_regions: &classes.regions,
        run_time_models: &run_time_models,
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
        prices: &plan.prices,
        limits: &limits.limits,
        qos_rules: &limits.qos,
        associations: &limits.associations,
        text: text.bytes(),
    };
    assemble(origin.generation, origin.published_at, &sections)
}

fn run_time_model_record(like: &LikeJobs, model: &RunTimeModel, first_range: u32) -> RunTimeModelRecord {
    let marks = [(like.user.is_some(), ONE_USERS), (like.limit_s.is_some(), OF_ONE_LIMIT)];
    RunTimeModelRecord {
        user: like.user.map_or(0, |user| user.0).into(),
        partition: like.partition.0.into(),
        unit: like.size.map_or(ANY_SIZE, |(unit, _)| unit_number(unit)),
        shared: marks.into_iter().filter_map(|(is, mark)| is.then_some(mark)).sum(),
        count: like.size.map_or(0, |(_, count)| count).into(),
        limit_s: like.limit_s.unwrap_or(0).into(),
        jobs: model.jobs.into(),
        longest_limit_s: model.longest_limit_s.into(),
        first_range: first_range.into(),
        ranges: (model.ranges.len() as u32).into(),
    }
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
        first_slurm_reservation: 0.into(),
        slurm_reservations: 0.into(),
        first_shared_node: 0.into(),
        shared_nodes: 0.into(),
    }
}

/// What is kept of Slurm's reservations in a partition, in their order.
fn nearest(slurm_reservations: &[SlurmReservation]) -> Vec<SlurmReservation> {
    let mut nearest = slurm_reservations.to_vec();
    nearest.sort_by_key(SlurmReservation::start);
    nearest.truncate(MOST_SLURM_RESERVATIONS);
    nearest.sort_by_key(SlurmReservation::order);
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
        slurm_reservations: Vec::new(),
        shared_nodes: Vec::new(),
    };
    partition_record(&state, &AccountingLimits::default(), text)
}

/// When the running jobs of a partition are expected to end: by their forecast run time, which
/// counts from when they no longer wait on their nodes, or by their time limit where they have
/// outlived that.
fn ends(known: &KnownRunTimes<'_>, partition: PartitionIndex, state: &PartitionState, now: UnixTime) -> Vec<ExpectedEndRecord> {
    let mut ends: Vec<ExpectedEndRecord> = state
        .running
        .iter()
        .filter_map(|job| {
            let limit = job.limit_end.map(|end| end - job.start - job.waits_on_nodes);
            let forecast = known.of_job(job.user, partition, job.size, limit).map(|forecast| point(&forecast.within(limit)));
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
