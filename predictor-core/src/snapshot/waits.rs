//! Forecasts of waits from a snapshot: the blend where it is in force, else the bounds of the job's
//! class.

use super::coming_view::{PRESENT_TELLS, coming_until};
use super::layout::{WaitRegionRecord, sections};
use super::model_view::ModelView;
use super::numbers::Numbered;
use super::reader::Snapshot;
use super::reserved_view::reserved_at;
use crate::decisions::site::{Demand, Partition};
use crate::forecasts::blend::{MEMBERS, blend, members_of};
use crate::forecasts::deadline_history::DeadlineHistory;
use crate::forecasts::forecast::{
    Association, Claims, FreePlan, JobShape, Moment, QueueForecaster, WaitClass, WaitForecast, WaitForecaster,
};
use crate::forecasts::past::{Ends, FEATURES, FeatureInputs, Group, GroupKey, GroupKind, expected_run_time_s, let_running_end};
use crate::forecasts::price::Prices;
use crate::forecasts::promise::{PromiseShape, level_to_ask, probability_to_tell};
use crate::forecasts::promised_job::PromisedJob;
use crate::forecasts::reliability::WaitSourceReason;
use job_types::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
use job_types::record::WaitSource;
use job_types::time::{Seconds, UnixTime};
use std::borrow::Cow;
use zerocopy::little_endian::F32;

/// The groups of one job as they were published. Most of them are those of the job asked about
/// before it as well, which saves looking for them.
struct FoundGroups {
    keys: [GroupKey; GroupKind::ALL.len()],
    groups: [Group; GroupKind::ALL.len()],
}

impl<B: AsRef<[u8]>> WaitForecaster for Snapshot<B> {
    /// Forecasts by the blend where that is in force, and otherwise from the waits of the job's
    /// class.
    fn wait(&self, job: &JobShape, moment: Option<&Moment>) -> Option<WaitForecast<'_>> {
        self.waits(&[(*job, moment.copied())]).pop().flatten()
    }

    fn waits(&self, asked: &[(JobShape, Option<Moment>)]) -> Vec<Option<WaitForecast<'_>>> {
        let model = self.model_view().filter(|model| !model.bound_rows.is_empty());
        // The features lie in the heap, whose memory stays with the process. slurmctld makes a
        // thread for each submission, and what a thread uses of its stack beyond the last 16 KiB is
        // given back when it ends, and fetched from the kernel again for the next.
        let mut features: Vec<f32> = Vec::new();
        let mut places = Vec::new();
        let mut found = None;
        let mut forecasts = Vec::with_capacity(asked.len());
        for (place, (job, moment)) in asked.iter().enumerate() {
            let source = self.source(job.partition);
            let moment = moment.as_ref().filter(|moment| moment.at - moment.now <= PRESENT_TELLS);
            forecasts.push(match (source, &model, moment) {
                (Some(WaitSource::Nothing), ..) => None,
                (Some(WaitSource::Blended), Some(model), Some(moment)) => {
                    if places.is_empty() {
                        features.reserve_exact((asked.len() - place) * FEATURES);
                    }
                    places.push(place);
                    self.write_features(model, job, moment, &mut found, &mut features);
                    None
                }
                _ => self.by_class(job),
            });
        }
        if let Some(model) = &model {
            for (place, members) in places.into_iter().zip(members(model, &features)) {
                if let Some(forecast) = forecasts.get_mut(place) {
                    *forecast = model.forecast(&members);
                }
            }
        }
        forecasts
    }

    fn level_to_ask(&self, promise: &PromiseShape, wanted: f64) -> f64 {
        level_to_ask(promise, wanted, |class| self.promises_of(promise.partition, class).map(|(levels, _)| levels))
    }

    fn probability_to_tell(&self, promise: &PromiseShape, wanted: f64, forecast: f64) -> f64 {
        probability_to_tell(promise, wanted, forecast, |class| self.promises_of(promise.partition, class))
    }

    fn reserved_part(&self, partition: PartitionIndex, cpus: u32, moment: &Moment) -> f64 {
        let reserved = self.records(sections::Reserved);
        let part = |of: Option<PartitionIndex>, all: u32| {
            let claimed = if of.is_some() { &moment.claimed.partition } else { &moment.claimed.cluster };
            let others = reserved_at(reserved, of, moment.at).saturating_add(claimed.reserved_at(moment.at));
            if others > 0 && all > 0 { (others as f64 + f64::from(cpus)) / f64::from(all) } else { 0.0 }
        };
        let of_partition = self.partition_record(partition).map_or(0.0, |record| part(Some(partition), record.cpus.get()));
        let of_cluster = self.model_view().map_or(0.0, |model| part(None, model.cpus));
        of_partition.max(of_cluster)
    }

    fn fallback(&self, partition: PartitionIndex) -> Option<WaitSourceReason> {
        let score = self.score_record(partition)?;
        (WaitSource::of_number(score.source) != WaitSource::Blended).then(|| WaitSourceReason::of_number(score.reason))
    }

    fn association(&self, user: UserId, account: Option<&str>, qos: Option<&str>) -> Association {
        let model = self.model_view();
        let usual = model.and_then(|model| model.user(user)).map_or_else(Association::default, |user| Association {
            account: AccountIndex(user.account.get()),
            qos: QosIndex(user.qos.get()),
        });
        let unknown = Association::default();
        Association {
            account: account.map_or(usual.account, |name| self.index_of(sections::Accounts, name).map_or(unknown.account, AccountIndex)),
            qos: qos.map_or(usual.qos, |name| {
                let index = self.index_of(sections::QualitiesOfService, name);
                index.and_then(|index| u16::try_from(index).ok()).map_or(unknown.qos, QosIndex)
            }),
        }
    }
}

impl<B: AsRef<[u8]>> QueueForecaster for Snapshot<B> {
    fn queue_plan(&self, partition: PartitionIndex) -> Option<FreePlan<'_>> {
        let plan = self.plan().filter(|plan| plan.is_complete)?;
        let steps: Vec<_> = plan.free(partition).collect();
        (!steps.is_empty()).then(|| FreePlan { steps: steps.into(), pending_jobs: u64::from(plan.pending_jobs) })
    }

    fn prices(&self, partition: PartitionIndex) -> Option<Prices<'_>> {
        self.prices_of(partition)
    }

    fn expected_ends(&self, partition: PartitionIndex) -> impl Iterator<Item = UnixTime> + '_ {
        self.ends(partition).iter().map(|end| UnixTime(end.at.get()))
    }

    fn promised_jobs(&self, partition: PartitionIndex) -> Cow<'_, [PromisedJob]> {
        self.jobs_with_promises(partition).into()
    }

    fn deadline_history(&self, partition: PartitionIndex) -> Option<DeadlineHistory> {
        self.history_of_deadlines(partition)
    }
}

impl<B: AsRef<[u8]>> Snapshot<B> {
    /// The features from which the default's forecasts follow ([`FeatureInputs::write_features`]),
    /// those of one job behind those of the other; `None` where nothing has been learnt.
    #[must_use]
    pub fn wait_features(&self, asked: &[(JobShape, Moment)]) -> Option<Vec<f32>> {
        let model = self.model_view()?;
        let (mut found, mut features) = (None, Vec::with_capacity(asked.len() * FEATURES));
        for (job, moment) in asked {
            self.write_features(&model, job, moment, &mut found, &mut features);
        }
        Some(features)
    }

    /// The pressure on a partition with a job of `cpus` in it: CPUs of running, eligible and
    /// claiming jobs, but of those that are expected to have ended by the moment, over those there
    /// are; `None` where slurmctld does not know the partition.
    #[must_use]
    pub fn pressure(&self, partition: &Partition<'_>, cpus: u32, moment: &Moment) -> Option<f64> {
        let Demand { running_cpus, pending_cpus, .. } = partition.demand;
        let others = running_cpus.saturating_add(pending_cpus).saturating_add(moment.claimed.partition.cpus);
        let others = others.saturating_sub(self.freed_between(partition.index, moment.now, moment.at));
        (partition.cpus > 0).then(|| (others as f64 + f64::from(cpus)) / f64::from(partition.cpus))
    }

    /// Returns the source of the forecasts that are in force in a partition; `None` if none was
    /// measured.
    fn source(&self, partition: PartitionIndex) -> Option<WaitSource> {
        self.score_record(partition).map(|score| WaitSource::of_number(score.source))
    }

    /// The bounds of the job's class, which hold whatever the present state.
    fn by_class(&self, job: &JobShape) -> Option<WaitForecast<'_>> {
        let regions = self.records(sections::WaitRegions);
        let first = regions.partition_point(|region| region.partition.get() < job.partition.0);
        let of_partition = regions.iter().skip(first).take_while(|region| region.partition.get() == job.partition.0);
        let (class, place) =
            of_partition.map(|region| (region.class(), region.class.get())).find(|(class, _)| class.holds(job.size.cpus, job.limit))?;
        let place = usize::try_from(place).ok()?;
        let record = self.records(sections::WaitClasses).get(place)?;
        Some(WaitForecast {
            source: WaitSource::Qbets,
            class: Some(class),
            jobs: record.jobs.get(),
            median: Seconds(i64::from(record.median_s.get())),
            bounds: self.class_bounds_s.get(place)?,
        })
    }

    /// What a job sees that arrives at a moment. Of the running jobs so many are taken to have
    /// ended by then as are expected to, in proportion in each of the groups; the claims wait.
    fn write_features(
        &self,
        model: &ModelView<'_>,
        job: &JobShape,
        moment: &Moment,
        found: &mut Option<FoundGroups>,
        features: &mut Vec<f32>,
    ) {
        let arriving = job.eligible_at(moment.at);
        let mut groups = FoundGroups::find(found, model, GroupKey::of(&arriving));
        let mut freed = 0.0;
        if moment.at > moment.now
            && let Some(partition) = self.partition_record(job.partition)
        {
            let of_partition = self.freed_between(job.partition, moment.now, moment.at) as f64;
            // The two are expected by different means; what the partition frees, the cluster does.
            freed = Ends { freed: &self.ends_expected }.freed_between(moment.now, moment.at).max(of_partition);
            let_running_end(&mut groups, freed, of_partition, partition.running_cpus.get() as f64);
        }
        let [cluster, partition, ..] = &mut groups;
        if moment.at > moment.now {
            let coming = self.records(sections::Coming);
            claim(cluster, &coming_until(coming, None, moment.at), moment.now);
            claim(partition, &coming_until(coming, Some(job.partition), moment.at), moment.now);
        }
        claim(cluster, &moment.claimed.cluster, moment.now);
        claim(partition, &moment.claimed.partition, moment.now);
        let last_two_s = model.user(job.user).filter(|user| user.has_run_times == 1).map(|user| user.last_two_s.map(F32::get));
        let inputs = FeatureInputs {
            now: moment.at,
            cpus: model.cpus,
            expected_s: expected_run_time_s(job.limit, last_two_s),
            groups: &groups,
            ends_by_limit: Ends { freed: &self.ends_by_limit },
            ends_expected: Ends { freed: &self.ends_expected },
        };
        inputs.write_features_after(&arriving, freed, features);
    }
}

impl FoundGroups {
    /// The groups of those keys. `found` has those that were looked for before, and then these.
    fn find(
        found: &mut Option<FoundGroups>,
        model: &ModelView<'_>,
        keys: [GroupKey; GroupKind::ALL.len()],
    ) -> [Group; GroupKind::ALL.len()] {
        let found = match found {
            Some(found) => {
                for ((old, key), group) in found.keys.iter_mut().zip(keys).zip(&mut found.groups) {
                    if *old != key {
                        (*old, *group) = (key, model.group(&key));
                    }
                }
                found
            }
            None => found.insert(FoundGroups { keys, groups: keys.map(|key| model.group(&key)) }),
        };
        found.groups
    }
}

impl WaitRegionRecord {
    fn class(&self) -> WaitClass {
        WaitClass {
            first_cpus: self.first_cpus.get(),
            last_cpus: self.last_cpus.get(),
            first_limit_s: self.first_limit_s.get(),
            last_limit_s: self.last_limit_s.get(),
        }
    }
}

impl<'a> ModelView<'a> {
    /// The blend of the members' forecasts, with the bounds that go with it.
    fn forecast(&self, members: &[f32; MEMBERS]) -> Option<WaitForecast<'a>> {
        let root = blend(members, &self.weights);
        let (row, bounds) = self.bounds(root)?;
        Some(WaitForecast {
            source: WaitSource::Blended,
            class: None,
            jobs: row.outcomes.get(),
            median: Seconds(f64::from(root * root).round() as i64),
            bounds,
        })
    }
}

/// The members' forecasts for rows of features that stand behind each other.
fn members(model: &ModelView<'_>, features: &[f32]) -> Vec<[f32; MEMBERS]> {
    let rows: Vec<&[f32]> = features.chunks_exact(FEATURES).collect();
    let Some(forests) = model.forests else {
        return rows.iter().map(|features| members_of(features, None)).collect();
    };
    let [mut roots, mut logs] = [vec![0.0; rows.len()], vec![0.0; rows.len()]];
    let [root, log] = forests;
    root.predict_many(&rows, &mut roots);
    log.predict_many(&rows, &mut logs);
    rows.iter().zip(roots.iter().zip(logs)).map(|(features, (root, log))| members_of(features, Some([*root, log]))).collect()
}

/// Adds jobs that wait since `now`.
fn claim(group: &mut Group, claims: &Claims, now: UnixTime) {
    let waiting = &mut group.waiting;
    let (jobs, cpus) = (claims.jobs as f64, claims.cpus as f64);
    waiting.jobs += jobs;
    waiting.cpus += cpus;
    waiting.limits_s += claims.limits_s as f64;
    waiting.work += claims.work as f64;
    waiting.expected_work += claims.expected_work as f64;
    waiting.since += jobs * now.0 as f64;
    waiting.cpus_since += cpus * now.0 as f64;
}
