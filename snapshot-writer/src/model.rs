//! The records of what was learnt of waits.

use crate::text::Text;
use predictor_core::forecasts::blend::BoundTable;
use predictor_core::forecasts::past::{FEATURES, Group, GroupKey, Sum, UserPast};
use predictor_core::forecasts::promise::PromiseLevels;
use predictor_core::forecasts::reliability::PartitionScore;
use predictor_core::forecasts::trees::NodeRecord;
use predictor_core::forecasts::wait_model::WaitModel;
use predictor_core::snapshot::Numbered;
use predictor_core::snapshot::layout::{
    BoundRowRecord, FreedRecord, GroupRecord, ModelRecord, NO_RECORD, NameRecord, OpenGroupRecord, PromiseRecord, ScoreRecord, SumRecord,
    UserRecord,
};
use zerocopy::little_endian::U32;

/// Index of the 50th percentile among the bounds.
const MEDIAN: usize = 49;

#[derive(Default)]
pub(super) struct ModelRecords {
    pub(super) model: Vec<ModelRecord>,
    pub(super) roots: Vec<U32>,
    pub(super) nodes: Vec<NodeRecord>,
    pub(super) bound_rows: Vec<BoundRowRecord>,
    pub(super) groups: Vec<GroupRecord>,
    pub(super) open_groups: Vec<OpenGroupRecord>,
    pub(super) ends_by_limit: Vec<FreedRecord>,
    pub(super) ends_expected: Vec<FreedRecord>,
    pub(super) users: Vec<UserRecord>,
    pub(super) accounts: Vec<NameRecord>,
    pub(super) qos: Vec<NameRecord>,
    pub(super) scores: Vec<ScoreRecord>,
    pub(super) promises: Vec<PromiseRecord>,
}

impl ModelRecords {
    pub(super) fn of(model: &WaitModel, text: &mut Text) -> ModelRecords {
        let mut records = ModelRecords::default();
        let mut record = ModelRecord {
            weights: model.weights.map(Into::into),
            cpus: model.cpus.into(),
            features: (FEATURES as u16).into(),
            ..ModelRecord::default()
        };
        if let Some(forests) = &model.forests {
            record.has_forests = 1;
            record.bases = forests.each_ref().map(|forest| forest.base.into());
            record.trees = forests.each_ref().map(|forest| (forest.roots.len() as u32).into());
            record.nodes = forests.each_ref().map(|forest| (forest.nodes.len() as u32).into());
            for forest in forests {
                records.roots.extend_from_slice(&forest.roots);
                records.nodes.extend_from_slice(&forest.nodes);
            }
        }
        records.model.push(record);
        records.bound_rows = bound_rows(&model.table);
        records.add_groups(&model.groups);
        let freed = |(at, cpus): &(i64, f32)| FreedRecord { at: (*at).into(), cpus: (*cpus).into() };
        records.ends_by_limit = model.ends_by_limit.iter().map(freed).collect();
        records.ends_expected = model.ends_expected.iter().map(freed).collect();
        records.users = model.users.iter().map(user_record).collect();
        records.users.sort_unstable_by_key(|user| user.user.get());
        records.accounts = name_records(&model.accounts, text);
        records.qos = name_records(&model.qos, text);
        records.scores = model.scores.iter().map(score_record).collect();
        records.scores.sort_unstable_by_key(|score| score.partition.get());
        records.promises = model.promises.iter().map(promise_record).collect();
        records.promises.sort_unstable_by_key(|promise| (promise.partition.get(), promise.class));
        records
    }

    fn add_groups(&mut self, groups: &[(GroupKey, Group)]) {
        let mut sorted: Vec<&(GroupKey, Group)> = groups.iter().collect();
        sorted.sort_unstable_by_key(|(key, _)| *key);
        self.groups.reserve(sorted.len());
        for (key, group) in sorted {
            let mut open = NO_RECORD;
            // Most groups have no waiting and no running job, so half of the record would be zeros.
            if group.waiting != Sum::default() || group.running != Sum::default() || group.oldest != 0.0 {
                open = self.open_groups.len() as u32;
                self.open_groups.push(OpenGroupRecord {
                    waiting: sum_record(&group.waiting),
                    running: sum_record(&group.running),
                    oldest: group.oldest.into(),
                });
            }
            let recent = &group.recent;
            self.groups.push(GroupRecord {
                kind: key.kind as u8,
                reserved: [0; 3],
                values: key.values.map(Into::into),
                last: recent.last.map(Into::into),
                fast: recent.fast.into(),
                slow: recent.slow.into(),
                at_once: recent.at_once.into(),
                starts: recent.starts.into(),
                started_at: recent.started_at.into(),
                arrived_at: recent.arrived_at.into(),
                open: open.into(),
            });
        }
    }
}

fn sum_record(sum: &Sum) -> SumRecord {
    SumRecord {
        jobs: sum.jobs.into(),
        cpus: sum.cpus.into(),
        limits_s: sum.limits_s.into(),
        work: sum.work.into(),
        expected_work: sum.expected_work.into(),
        since: sum.since.into(),
        cpus_since: sum.cpus_since.into(),
    }
}

fn bound_rows(table: &BoundTable) -> Vec<BoundRowRecord> {
    let rows = table.up_to.iter().zip(&table.bounds_s).zip(&table.outcomes).zip(&table.at_once);
    rows.map(|(((up_to, bounds_s), outcomes), at_once)| BoundRowRecord {
        up_to: (*up_to).into(),
        outcomes: (*outcomes).into(),
        at_once: (*at_once).into(),
        median_s: bounds_s.get(MEDIAN).copied().unwrap_or(0).into(),
        bounds_s: bounds_s.map(Into::into),
    })
    .collect()
}

fn user_record(past: &UserPast) -> UserRecord {
    UserRecord {
        user: past.user.0.into(),
        account: past.account.0.into(),
        qos: past.qos.0.into(),
        has_run_times: past.last_two_s.is_some().into(),
        reserved: 0,
        last_two_s: past.last_two_s.unwrap_or_default().map(Into::into),
    }
}

/// The names, ascending, each with its index.
fn name_records(names: &[String], text: &mut Text) -> Vec<NameRecord> {
    let mut sorted: Vec<(&String, u32)> = names.iter().zip(0u32..).collect();
    sorted.sort_unstable();
    sorted.into_iter().map(|(name, index)| NameRecord { name: text.add(name), index: index.into() }).collect()
}

fn score_record(score: &PartitionScore) -> ScoreRecord {
    ScoreRecord {
        partition: score.partition.0.into(),
        source: score.source.number(),
        reason: score.reason.number(),
        jobs: score.jobs.into(),
        median_error_s: score.median_error_s.into(),
        pinball_s: score.pinball_s.into(),
        reliability: score.reliability.map(Into::into),
    }
}

fn promise_record(promise: &PromiseLevels) -> PromiseRecord {
    PromiseRecord {
        partition: promise.partition.0.into(),
        class: promise.class,
        reserved: 0,
        levels: promise.levels.published().map(|level| (level as f32).into()),
        shortfalls: promise.shortfalls.published().map(|shortfall| (shortfall as f32).into()),
    }
}
