//! The part of a snapshot that one user may see where a site keeps users' jobs private.

use super::layout::sections::{self, Section, Sections};
use super::layout::{AssociationRecord, GroupRecord, NO_RECORD, NameRecord, OpenGroupRecord, UserSizeRecord};
use super::limit_view::ROOT_ACCOUNT;
use super::reader::Snapshot;
use super::writer::assemble;
use crate::forecasts::forecast::RunTimeRange;
use crate::forecasts::past::GroupKind;
use job_types::number::UserId;
use std::collections::BTreeSet;

impl<B: AsRef<[u8]>> Snapshot<B> {
    /// The bytes of a snapshot like this one without what is other users': their pending jobs,
    /// their past and their accounts. With no user, without anybody's.
    ///
    /// What stays tells nothing of single users: partitions and what is in demand there, when CPUs
    /// come free, waits by class of job, and the trees.
    #[must_use]
    pub fn for_reader(&self, user: Option<UserId>) -> Vec<u8> {
        let is_own = |other: u32| user == Some(UserId(other));
        let (sizes, ranges) = self.own_run_times(is_own);
        let users = self.own(sections::Users, |record| is_own(record.user.get()));
        let is_own_account = |account: u32| users.iter().any(|user| user.account.get() == account);
        let (groups, open_groups) = self.groups_without_others(is_own, is_own_account);
        let accounts = self.own(sections::Accounts, |record| is_own_account(record.index.get()));
        let jobs = self.own(sections::PlannedJobs, |record| is_own(record.user.get()));
        let associations = self.associations_without_others(is_own);
        let submissions = self.own(sections::Submissions, |record| is_own(record.user.get()));
        let text = self.text_without_accounts(&accounts, &associations);
        // Whoever adds a section says here whether it tells of single users.
        let sections = Sections {
            user_sizes: &sizes,
            run_time_ranges: &ranges,
            groups: &groups,
            open_groups: &open_groups,
            users: &users,
            accounts: &accounts,
            planned_jobs: &jobs,
            associations: &associations,
            submissions: &submissions,
            text: &text,
            site: self.records(sections::Site),
            partitions: self.records(sections::Partitions),
            set_aside: self.records(sections::NodesSetAside),
            shared_nodes: self.records(sections::SharedNodes),
            wait_classes: self.records(sections::WaitClasses),
            wait_regions: self.records(sections::WaitRegions),
            expected_ends: self.records(sections::ExpectedEnds),
            model: self.records(sections::Model),
            forest_roots: self.records(sections::ForestRoots),
            forest_nodes: self.records(sections::ForestNodes),
            bound_rows: self.records(sections::BoundRows),
            ends_by_limit: self.records(sections::EndsByLimit),
            ends_expected: self.records(sections::EndsExpected),
            qualities_of_service: self.records(sections::QualitiesOfService),
            scores: self.records(sections::Scores),
            promises: self.records(sections::Promises),
            coming: self.records(sections::Coming),
            reserved: self.records(sections::Reserved),
            deadline_histories: self.records(sections::DeadlineHistories),
            // Without a number or a user.
            promised_jobs: self.records(sections::PromisedJobs),
            plan: self.records(sections::Plan),
            planned_partitions: self.records(sections::PlannedPartitions),
            free_cpus: self.records(sections::FreeCpus),
            plan_sizes: self.records(sections::PlanSizes),
            plan_limits: self.records(sections::PlanLimits),
            plan_starts: self.records(sections::PlanStarts),
            limits: self.records(sections::Limits),
            qos_rules: self.records(sections::QosRules),
        };
        assemble(self.generation(), self.published_at(), &sections)
    }

    fn own<S: Section>(&self, section: S, is_own: impl Fn(&S::Record) -> bool) -> Vec<S::Record> {
        self.records(section).iter().filter(|record| is_own(record)).copied().collect()
    }

    fn own_run_times(&self, is_own: impl Fn(u32) -> bool) -> (Vec<UserSizeRecord>, Vec<RunTimeRange>) {
        let all = self.records(sections::RunTimeRanges);
        let mut sizes = self.own(sections::UserSizes, |record| is_own(record.user.get()));
        let mut ranges = Vec::new();
        for size in &mut sizes {
            let first = size.first_range.get() as usize;
            let own = all.get(first..first.saturating_add(size.ranges.get() as usize)).unwrap_or(&[]);
            size.first_range = (ranges.len() as u32).into();
            size.ranges = (own.len() as u32).into();
            ranges.extend_from_slice(own);
        }
        (sizes, ranges)
    }

    fn groups_without_others(
        &self,
        is_own: impl Fn(u32) -> bool,
        is_own_account: impl Fn(u32) -> bool,
    ) -> (Vec<GroupRecord>, Vec<OpenGroupRecord>) {
        let of_users = [GroupKind::User, GroupKind::UserPartition, GroupKind::UserRequest].map(|kind| kind as u8);
        let mut groups = self.own(sections::Groups, |record| {
            let [first, ..] = record.values;
            match record.kind {
                kind if of_users.contains(&kind) => is_own(first.get()),
                kind if kind == GroupKind::Account as u8 => is_own_account(first.get()),
                _ => true,
            }
        });
        let all = self.records(sections::OpenGroups);
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
    fn associations_without_others(&self, is_own: impl Fn(u32) -> bool) -> Vec<AssociationRecord> {
        let all = self.records(sections::Associations);
        let own: BTreeSet<&str> = all.iter().filter(|record| is_own(record.user.get())).map(|record| self.text(record.account)).collect();
        let is_kept = |record: &AssociationRecord| {
            let account = self.text(record.account);
            is_own(record.user.get()) || (record.user.get() == NO_RECORD && (account == ROOT_ACCOUNT || own.contains(account)))
        };
        all.iter().filter(|record| is_kept(record)).copied().collect()
    }

    /// The names, with blanks in the place of all accounts but these.
    fn text_without_accounts(&self, accounts: &[NameRecord], associations: &[AssociationRecord]) -> Vec<u8> {
        let names = accounts.iter().map(|record| record.name).chain(associations.iter().map(|record| record.account));
        let kept: BTreeSet<usize> = names.map(|name| name.offset.get() as usize).collect();
        let all_accounts = self.records(sections::Accounts).iter().map(|record| record.name);
        let all_associations = self.records(sections::Associations).iter().map(|record| record.account);
        let mut text = self.records(sections::Text).to_vec();
        for name in all_accounts.chain(all_associations) {
            let start = name.offset.get() as usize;
            let place = start..start.saturating_add(name.length.get() as usize);
            if let Some(name) = text.get_mut(place).filter(|_| !kept.contains(&start)) {
                name.fill(b' ');
            }
        }
        text
    }
}
