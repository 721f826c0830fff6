//! Deadlines counted by partition, by user, by rule, and by the probability that was promised.

use std::collections::BTreeMap;

use job_types::promise::PromiseState;
use job_types::time::UnixTime;
use serde::Serialize;

use super::promise::AdmittedJob;
use crate::report::class::rounded;
use crate::report::interval::Interval;
use crate::report::kept::{DecidedPromise, KeptPromises, by_partition_and_class};

/// What became of some deadlines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Counts {
    /// Whose they are; `None` where they are all.
    pub(super) name: Option<String>,
    pub(super) admitted: u64,
    /// Submissions that were refused; `None` where that is not known.
    pub(super) refused: Option<u64>,
    pub(super) kept: u64,
    pub(super) missed: u64,
    pub(super) withdrawn: u64,
    pub(super) open: u64,
    /// The probability that was promised, in the mean of those kept and missed that have one.
    pub(super) promised: Option<f64>,
    /// The part of the kept and missed deadlines that was kept; `None` if there are none.
    pub(super) kept_part: Option<f64>,
    /// The interval of `kept_part`.
    #[serde(flatten)]
    pub(super) interval: Interval,
}

impl Counts {
    fn of(name: Option<String>, jobs: &[&AdmittedJob], refused: Option<u64>, now: UnixTime) -> Self {
        let in_state = |state| jobs.iter().filter(|job| job.state(now) == state).count() as u64;
        let [open, kept, missed, withdrawn] = PromiseState::ALL.map(in_state);
        let promised: Vec<f64> = jobs.iter().filter(|job| job.state(now).is_kept().is_some()).filter_map(|job| job.promised()).collect();
        Self {
            name,
            admitted: jobs.len() as u64,
            refused,
            kept,
            missed,
            withdrawn,
            open,
            promised: mean(&promised).map(rounded),
            kept_part: (kept + missed > 0).then(|| rounded(kept as f64 / (kept + missed) as f64)),
            interval: Interval::of(kept, kept + missed),
        }
    }

    /// Whether so few were kept that chance does not explain it.
    pub(super) fn is_broken(&self) -> bool {
        self.promised.is_some_and(|promised| self.interval.is_below(promised))
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// All together.
pub(super) fn all<'a>(jobs: impl Iterator<Item = &'a AdmittedJob>, refused: Option<u64>, now: UnixTime) -> Counts {
    Counts::of(None, &jobs.collect::<Vec<_>>(), refused, now)
}

/// Counts jobs by what `name` says of each, in the order of the names, with how many were refused
/// under each name, if that is known.
pub(super) fn by<'a>(
    jobs: impl Iterator<Item = &'a AdmittedJob>,
    refused: Option<&BTreeMap<String, u64>>,
    now: UnixTime,
    name: impl Fn(&AdmittedJob) -> String,
) -> Vec<Counts> {
    let mut groups: BTreeMap<String, Vec<&AdmittedJob>> = BTreeMap::new();
    for name in refused.into_iter().flat_map(BTreeMap::keys) {
        groups.entry(name.clone()).or_default();
    }
    for job in jobs {
        groups.entry(name(job)).or_default().push(job);
    }
    let refused = |name: &str| refused.map(|refused| refused.get(name).copied().unwrap_or(0));
    groups.into_iter().map(|(name, group)| Counts::of(Some(name.clone()), &group, refused(&name), now)).collect()
}

/// How often deadlines were kept that were promised with about the same probability.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Row {
    #[serde(flatten)]
    pub(super) kept: KeptPromises,
    pub(super) deadlines: u64,
}

/// Counts the deadlines that are decided and were promised with a probability, by partition and
/// class, and then those of all partitions together by class.
pub(super) fn reliability<'a>(jobs: impl Iterator<Item = &'a AdmittedJob>, now: UnixTime) -> Vec<Row> {
    let decided = jobs.filter_map(|job| {
        let (promised, is_kept) = job.promised().zip(job.state(now).is_kept())?;
        Some((DecidedPromise { partition: &job.partition, promised, is_kept }, ()))
    });
    by_partition_and_class(decided).map(|(kept, _)| Row { deadlines: kept.promises, kept }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::promise::test_job;
    use super::*;
    use job_types::job::Ending;

    /// Jobs whose deadline is at 1,000, as they look at 2,000.
    const NOW: UnixTime = UnixTime(2_000);

    fn jobs() -> Vec<AdmittedJob> {
        let ended = |partition, promised, at, how| test_job(partition, promised, UnixTime(1_000), Some((UnixTime(at), how)));
        vec![
            ended("b", 0.96, 900, Ending::Completed),
            ended("b", 0.98, 1_100, Ending::Completed),
            ended("a", 0.9, 900, Ending::Completed),
            ended("a", 0.9, 900, Ending::Cancelled),
            test_job("a", 0.9, UnixTime(3_000), None),
            test_job("a", 0.99, UnixTime(1_500), None),
        ]
    }

    #[test]
    fn every_admitted_job_is_in_one_column_and_the_kept_part_is_of_those_decided() {
        let jobs = jobs();
        let counts = all(jobs.iter(), None, NOW);
        assert_eq!((counts.admitted, counts.kept, counts.missed, counts.withdrawn, counts.open), (6, 2, 2, 1, 1));
        assert_eq!((counts.promised, counts.kept_part), (Some(0.9575), Some(0.5)));
        let refused = BTreeMap::from([("b".to_owned(), 7), ("c".to_owned(), 3)]);
        let by_partition = by(jobs.iter(), Some(&refused), NOW, |job| job.partition.clone());
        let found: Vec<_> = by_partition
            .iter()
            .map(|counts| (counts.name.as_deref().unwrap(), counts.admitted, counts.missed, counts.refused.unwrap()))
            .collect();
        assert_eq!(found, [("a", 4, 1, 0), ("b", 2, 1, 7), ("c", 0, 0, 3)]);
        let by_rule = by(jobs.iter(), None, NOW, |job| job.rule().as_str().to_owned());
        assert_eq!((by_rule.len(), by_rule[0].refused), (1, None));
    }

    #[test]
    fn nothing_decided_has_no_share() {
        let open = [test_job("a", 0.9, UnixTime(3_000), None)];
        let counts = all(open.iter(), None, NOW);
        assert_eq!((counts.promised, counts.kept_part, counts.interval.lower, counts.is_broken()), (None, None, None, false));
    }

    #[test]
    fn reliability_is_by_partition_and_probability_and_then_of_all() {
        let jobs = jobs();
        let rows = reliability(jobs.iter(), NOW);
        let found: Vec<_> =
            rows.iter().map(|row| (row.kept.partition.as_deref(), row.kept.class.from, row.deadlines, row.kept.kept)).collect();
        assert_eq!(
            found,
            [(Some("a"), 0.9, 1, 1), (Some("a"), 0.95, 1, 0), (Some("b"), 0.95, 2, 1), (None, 0.9, 1, 1), (None, 0.95, 3, 1)]
        );
    }

    #[test]
    fn only_what_chance_does_not_explain_is_called_broken() {
        let counts = |kept: usize, count: usize| {
            let job = |n| test_job("a", 0.95, UnixTime(1_000), Some((UnixTime(if n < kept { 900 } else { 1_100 }), Ending::Completed)));
            let jobs: Vec<_> = (0..count).map(job).collect();
            (all(jobs.iter(), None, NOW).is_broken(), reliability(jobs.iter(), NOW)[0].kept.is_broken())
        };
        assert_eq!((counts(9, 10), counts(900, 1_000), counts(0, 1)), ((false, false), (true, true), (false, false)));
    }
}
