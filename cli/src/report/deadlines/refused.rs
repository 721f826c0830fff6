//! Submissions that were refused for their deadlines, as the daemon has added them up.

use std::collections::BTreeMap;

use job_types::time::UnixTime;
use predictor_core::decisions::refusals::{Refusals, Refused};

use super::super::past::{Past, PastArguments};
use crate::installation::Installation;
use crate::selection::Selection;
use crate::user;

/// The name for users beyond the most that are told apart, and for what is not known.
const OTHERS: &str = "(others)";

/// What was refused in a stretch of the past, by partition, rule and user.
#[derive(Debug)]
pub(super) struct RefusedJobs {
    counts: Vec<(Refused, u64)>,
    /// The time from which whole days are counted.
    pub(super) since: UnixTime,
}

impl RefusedJobs {
    /// Reads what was refused in the requested partitions and days. Returns `None` and adds a note
    /// if that can't be read.
    pub(super) fn of(
        installation: &Installation,
        past: Past,
        arguments: &PastArguments,
        whose: &Selection,
        notes: &mut Vec<String>,
    ) -> Option<Self> {
        if whose.has_accounts() {
            notes.push("of jobs that were refused the account is not kept; how many of these accounts were is not known".to_owned());
            return None;
        }
        let is_wanted = |refused: &Refused| {
            let is_meant = refused.user.map_or(!whose.has_users(), |user| whose.means_user(user));
            is_meant && arguments.wanted(Some(refused.partition.as_deref().unwrap_or_default())).is_some()
        };
        let why = match installation.refusals() {
            Ok(Some(refusals)) => return Some(Self::counted(&refusals, past, is_wanted)),
            Ok(None) => "damaged, or of another release".to_owned(),
            Err(error) => error.to_string(),
        };
        notes.push(format!("{}: {why}; whose jobs were refused is not known", installation.refusals_path().display()));
        None
    }

    fn counted(refusals: &Refusals, past: Past, is_wanted: impl Fn(&Refused) -> bool) -> Self {
        let counts = refusals.counts(past.since).filter(|(refused, _)| is_wanted(refused));
        let day = past.since.0 - past.since.0.rem_euclid(86_400);
        Self { counts: counts.map(|(refused, count)| (refused.clone(), count)).collect(), since: refusals.since().max(UnixTime(day)) }
    }

    /// All of them.
    pub(super) fn all(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    pub(super) fn by_partition(&self) -> BTreeMap<String, u64> {
        self.by(|refused| refused.partition.clone())
    }

    pub(super) fn by_rule(&self) -> BTreeMap<String, u64> {
        self.by(|refused| refused.by.clone())
    }

    pub(super) fn by_user(&self) -> BTreeMap<String, u64> {
        self.by(|refused| refused.user.map(|user| user::name(user).unwrap_or_else(|| user.to_string())))
    }

    fn by(&self, name: impl Fn(&Refused) -> Option<String>) -> BTreeMap<String, u64> {
        let mut sums = BTreeMap::new();
        for (refused, count) in &self.counts {
            *sums.entry(name(refused).unwrap_or_else(|| OTHERS.to_owned())).or_default() += count;
        }
        sums
    }
}
