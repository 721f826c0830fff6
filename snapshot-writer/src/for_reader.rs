//! The part of a snapshot that one user may see where a site keeps users' jobs private.

use crate::assemble::assemble;
use job_types::number::UserId;
use predictor_core::forecasts::forecast::RunTimeRange;
use predictor_core::forecasts::past::GroupKind;
use predictor_core::snapshot::layout::sections::{self, Section, Sections};
use predictor_core::snapshot::layout::{
    AssociationRecord, GroupRecord, NO_RECORD, NameRecord, ONE_USERS, OpenGroupRecord, RunTimeModelRecord,
};
use predictor_core::snapshot::{ROOT_ACCOUNT, Snapshot};
use std::collections::BTreeSet;

/// The bytes of a snapshot like this one without what is other users': their pending jobs,
/// their past and their accounts. With no user, without anybody's.
///
/// What stays tells nothing of single users: partitions and what is in demand there, when CPUs
/// come free, waits by class of job, run times of sizes and limits that several users asked for,
/// and the trees.
#[must_use]
pub fn for_reader<B: AsRef<[u8]>>(snapshot: &Snapshot<B>, user: Option<UserId>) -> Vec<u8> {
    let is_own = |other: u32| user == Some(UserId(other));
    let (models, ranges) = own_run_times(snapshot, is_own);
    let users = own(snapshot, sections::Users, |record| is_own(record.user.get()));
    let is_own_account = |account: u32| users.iter().any(|user| user.account.get() == account);
    let (groups, open_groups) = groups_without_others(snapshot, is_own, is_own_account);
    let accounts = own(snapshot, sections::Accounts, |record| is_own_account(record.index.get()));
    let jobs = own(snapshot, sections::PlannedJobs, |record| is_own(record.user.get()));
    let associations = associations_without_others(snapshot, is_own);
    let submissions = own(snapshot, sections::Submissions, |record| is_own(record.user.get()));
    let text = text_without_accounts(snapshot, &accounts, &associations);
    // Whoever adds a section says here whether it tells of single users.
    let sections = Sections {
        run_time_models: &models,
        run_time_ranges: &ranges,
        groups: &groups,
        open_groups: &open_groups,
        users: &users,
        accounts: &accounts,
        planned_jobs: &jobs,
        associations: &associations,
        submissions: &submissions,
        text: &text,
        site: snapshot.records(sections::Site),
        partitions: snapshot.records(sections::Partitions),
        slurm_reservations: snapshot.records(sections::SlurmReservations),
        shared_nodes: snapshot.records(sections::SharedNodes),
        wait_classes: snapshot.records(sections::WaitClasses),
        wait_regions: snapshot.records(sections::WaitRegions),
        expected_ends: snapshot.records(sections::ExpectedEnds),
        model: snapshot.records(sections::Model),
        forest_roots: snapshot.records(sections::ForestRoots),
        forest_nodes: snapshot.records(sections::ForestNodes),
        bound_rows: snapshot.records(sections::BoundRows),
        ends_by_limit: snapshot.records(sections::EndsByLimit),
        ends_expected: snapshot.records(sections::EndsExpected),
        qualities_of_service: snapshot.records(sections::QualitiesOfService),
        scores: snapshot.records(sections::Scores),
        promises: snapshot.records(sections::Promises),
        coming: snapshot.records(sections::Coming),
        reserved: snapshot.records(sections::Reserved),
        deadline_histories: snapshot.records(sections::DeadlineHistories),
        // The records of promised jobs hold no job number and no user.
        promised_jobs: snapshot.records(sections::PromisedJobs),
        plan: snapshot.records(sections::Plan),
        planned_partitions: snapshot.records(sections::PlannedPartitions),
        free_cpus: snapshot.records(sections::FreeCpus),
        plan_sizes: snapshot.records(sections::PlanSizes),
        plan_limits: snapshot.records(sections::PlanLimits),
        plan_starts: snapshot.records(sections::PlanStarts),
        prices: snapshot.records(sections::Prices),
        limits: snapshot.records(sections::Limits),
        qos_rules: snapshot.records(sections::QosRules),
    };
    assemble(snapshot.generation(), snapshot.published_at(), &sections)
}

fn own<B: AsRef<[u8]>, S: Section>(snapshot: &Snapshot<B>, section: S, is_own: impl Fn(&S::Record) -> bool) -> Vec<S::Record> {
    snapshot.records(section).iter().filter(|record| is_own(record)).copied().collect()
}

fn own_run_times<B: AsRef<[u8]>>(snapshot: &Snapshot<B>, is_own: impl Fn(u32) -> bool) -> (Vec<RunTimeModelRecord>, Vec<RunTimeRange>) {
    let all = snapshot.records(sections::RunTimeRanges);
    let is_shown = |record: &RunTimeModelRecord| record.shared & ONE_USERS == 0 || is_own(record.user.get());
    let mut models = own(snapshot, sections::RunTimeModels, is_shown);
    let mut ranges = Vec::new();
    for model in &mut models {
        let first = model.first_range.get() as usize;
        let own = all.get(first..first.saturating_add(model.ranges.get() as usize)).unwrap_or(&[]);
        model.first_range = (ranges.len() as u32).into();
        model.ranges = (own.len() as u32).into();
        ranges.extend_from_slice(own);
    }
    (models, ranges)
}

fn groups_without_others<B: AsRef<[u8]>>(
    snapshot: &Snapshot<B>,
    is_own: impl Fn(u32) -> bool,
    is_own_account: impl Fn(u32) -> bool,
) -> (Vec<GroupRecord>, Vec<OpenGroupRecord>) {
    let of_users = [GroupKind::User, GroupKind::UserPartition, GroupKind::UserRequest].map(|kind| kind as u8);
    let mut groups = own(snapshot, sections::Groups, |record| {
        let [first, ..] = record.values;
        match record.kind {
            kind if of_users.contains(&kind) => is_own(first.get()),
            kind if kind == GroupKind::Account as u8 => is_own_account(first.get()),
            _ => true,
        }
    });
    let all = snapshot.records(sections::OpenGroups);
    let mut open_groups = Vec::new();
    for group in &mut groups {
        let open = all.get(group.open.get() as usize).filter(|_| group.open.get() != NO_RECORD);
        group.open = open.map_or(NO_RECORD, |_| open_groups.len() as u32).into();
        open_groups.extend(open);
    }
    (groups, open_groups)
}

/// The user's associations, and those of the accounts themselves that stand in where the user
/// has none: of the user's accounts, and of the root account.
fn associations_without_others<B: AsRef<[u8]>>(snapshot: &Snapshot<B>, is_own: impl Fn(u32) -> bool) -> Vec<AssociationRecord> {
    let all = snapshot.records(sections::Associations);
    let own: BTreeSet<&str> = all.iter().filter(|record| is_own(record.user.get())).map(|record| snapshot.text(record.account)).collect();
    let is_kept = |record: &AssociationRecord| {
        let account = snapshot.text(record.account);
        is_own(record.user.get()) || (record.user.get() == NO_RECORD && (account == ROOT_ACCOUNT || own.contains(account)))
    };
    all.iter().filter(|record| is_kept(record)).copied().collect()
}

/// The names, with blanks in the place of all accounts but these.
fn text_without_accounts<B: AsRef<[u8]>>(snapshot: &Snapshot<B>, accounts: &[NameRecord], associations: &[AssociationRecord]) -> Vec<u8> {
    let names = accounts.iter().map(|record| record.name).chain(associations.iter().map(|record| record.account));
    let kept: BTreeSet<usize> = names.map(|name| name.offset.get() as usize).collect();
    let all_accounts = snapshot.records(sections::Accounts).iter().map(|record| record.name);
    let all_associations = snapshot.records(sections::Associations).iter().map(|record| record.account);
    let mut text = snapshot.records(sections::Text).to_vec();
    for name in all_accounts.chain(all_associations) {
        let start = name.offset.get() as usize;
        let place = start..start.saturating_add(name.length.get() as usize);
        if let Some(name) = text.get_mut(place).filter(|_| !kept.contains(&start)) {
            name.fill(b' ');
        }
    }
    text
}
