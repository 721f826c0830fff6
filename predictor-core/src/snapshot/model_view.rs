//! The default predictor of waits as it lies in a snapshot.

use super::layout::sections::{self, Section};
use super::layout::{BoundRowRecord, GroupRecord, NO_RECORD, NameRecord, OpenGroupRecord, SumRecord, UserRecord};
use super::reader::Snapshot;
use crate::forecasts::blend::Weights;
use crate::forecasts::forecast::PERCENTILES;
use crate::forecasts::past::{FEATURES, Group, GroupKey, Recent, Sum};
use crate::forecasts::trees::ForestView;
use job_types::number::UserId;
use zerocopy::little_endian::{F32, U32};

/// The default predictor of waits, as far as a snapshot holds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelSummary {
    /// Trees of the two forests together; 0 until they are trained.
    pub trees: usize,
    /// Weights of the members, in the order of
    /// [`Member::ALL`](crate::forecasts::blend::Member::ALL).
    pub weights: Weights,
    /// Rows of bounds, by point forecast.
    pub bound_rows: usize,
    /// Groups of jobs.
    pub groups: usize,
    /// CPUs of the cluster.
    pub cpus: u32,
}

/// The model's records.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModelView<'a> {
    pub(super) cpus: u32,
    pub(super) weights: Weights,
    pub(super) forests: Option<[ForestView<'a>; 2]>,
    pub(super) bound_rows: &'a [BoundRowRecord],
    row_bounds_s: &'a [[u32; PERCENTILES]],
    groups: &'a [GroupRecord],
    open_groups: &'a [OpenGroupRecord],
    users: &'a [UserRecord],
}

impl<B: AsRef<[u8]>> Snapshot<B> {
    /// The default predictor of waits; `None` where nothing has been learnt.
    #[must_use]
    pub fn model(&self) -> Option<ModelSummary> {
        let model = self.model_view()?;
        Some(ModelSummary {
            trees: model.forests.map_or(0, |forests| forests.iter().map(|forest| forest.roots.len()).sum()),
            weights: model.weights,
            bound_rows: model.bound_rows.len(),
            groups: model.groups.len(),
            cpus: model.cpus,
        })
    }

    pub(super) fn model_view(&self) -> Option<ModelView<'_>> {
        let record = self.records(sections::Model).first()?;
        if usize::from(record.features.get()) != FEATURES {
            return None;
        }
        let forests = || {
            let (roots, nodes) = (self.records(sections::ForestRoots), self.records(sections::ForestNodes));
            let [trees, nodes_of] = [record.trees, record.nodes].map(|counts| counts.map(|count| count.get() as usize));
            let (first_roots, roots) = roots.split_at_checked(trees[0])?;
            let (first_nodes, nodes) = nodes.split_at_checked(nodes_of[0])?;
            let bases = record.bases.map(|base| base.get());
            Some([
                ForestView { roots: first_roots, nodes: first_nodes, base: bases[0] },
                ForestView { roots: roots.get(..trees[1])?, nodes: nodes.get(..nodes_of[1])?, base: bases[1] },
            ])
        };
        Some(ModelView {
            cpus: record.cpus.get(),
            weights: record.weights.map(F32::get),
            forests: (record.has_forests == 1).then(forests).flatten(),
            bound_rows: self.records(sections::BoundRows),
            row_bounds_s: &self.row_bounds_s,
            groups: self.records(sections::Groups),
            open_groups: self.records(sections::OpenGroups),
            users: self.records(sections::Users),
        })
    }

    /// The index that stands for a name.
    pub(super) fn index_of(&self, names: impl Section<Record = NameRecord>, name: &str) -> Option<u32> {
        let names = self.records(names);
        let place = names.binary_search_by(|record| self.text(record.name).cmp(name)).ok()?;
        names.get(place).map(|record| record.index.get())
    }
}

impl<'a> ModelView<'a> {
    /// The group as it was published; an empty one where there is none.
    pub(super) fn group(&self, key: &GroupKey) -> Group {
        let wanted = (key.kind as u8, key.values);
        let key_of = |record: &GroupRecord| (record.kind, record.values.map(U32::get));
        let record = self.groups.binary_search_by(|record| key_of(record).cmp(&wanted)).ok().and_then(|place| self.groups.get(place));
        let Some(record) = record else { return Group::default() };
        let recent = Recent {
            last: record.last.map(F32::get),
            fast: record.fast.get(),
            slow: record.slow.get(),
            at_once: record.at_once.get(),
            starts: record.starts.get(),
            started_at: record.started_at.get(),
            arrived_at: record.arrived_at.get(),
        };
        let open = record.open.get();
        let open = (open != NO_RECORD).then(|| self.open_groups.get(open as usize)).flatten();
        open.map_or(Group { recent, ..Group::default() }, |open| Group {
            waiting: (&open.waiting).into(),
            running: (&open.running).into(),
            recent,
            oldest: open.oldest.get(),
        })
    }

    pub(super) fn user(&self, user: UserId) -> Option<&'a UserRecord> {
        self.users.get(self.users.binary_search_by_key(&user.0, |record| record.user.get()).ok()?)
    }

    /// The row for a point forecast, as the square root of seconds, with its bounds: the first that
    /// reaches up to it, or the last.
    pub(super) fn bounds(&self, root: f32) -> Option<(&'a BoundRowRecord, &'a [u32; PERCENTILES])> {
        let row = self.bound_rows.partition_point(|row| row.up_to.get() < root);
        let row = row.min(self.bound_rows.len().checked_sub(1)?);
        Some((self.bound_rows.get(row)?, self.row_bounds_s.get(row)?))
    }
}

impl From<&SumRecord> for Sum {
    fn from(record: &SumRecord) -> Sum {
        Sum {
            jobs: record.jobs.get(),
            cpus: record.cpus.get(),
            limits_s: record.limits_s.get(),
            work: record.work.get(),
            expected_work: record.expected_work.get(),
            since: record.since.get(),
            cpus_since: record.cpus_since.get(),
        }
    }
}
