//! What is told of the guard.

use command_parts::output::{BAD, Lines, moment_and_distance};
use job_types::time::UnixTime;
use serde::Serialize;
use simulator::guard::state::{Act, Standing};

use crate::guard::GuardFile;
use crate::installation::Installation;

/// What the guard does, and what it has found against policies.
#[derive(Debug, Serialize)]
pub(super) struct GuardReport {
    /// What the site lets it do; `None` where its file can't be read.
    act: Option<Act>,
    /// Why its file can't be read.
    error: Option<String>,
    /// In one line, how the policies stand.
    verdict: Option<String>,
    /// When it last tried to replay the past.
    tried_at: Option<i64>,
    /// Why that gave no answer.
    failure: Option<String>,
    /// The policies that don't pay, or harm others.
    against: Vec<Against>,
}

/// A policy that doesn't pay in a partition, or harms others there.
#[derive(Debug, Serialize)]
struct Against {
    partition: String,
    policy: &'static str,
    /// Whether it is therefore treated as in `observe`.
    held_back: bool,
    since: i64,
    why: String,
}

impl GuardReport {
    /// What the state directory tells.
    pub(super) fn of(installation: &Installation) -> Self {
        let file = match GuardFile::of(installation) {
            Ok(file) => file,
            Err(error) => {
                let error = Some(error.to_string());
                return Self { act: None, error, verdict: None, tried_at: None, failure: None, against: Vec::new() };
            }
        };
        let bad = file.policies().iter().filter(|found| found.standing == Standing::Bad);
        let against = bad.map(|found| Against {
            partition: found.partition.clone(),
            policy: found.policy.name(),
            held_back: file.is_held_back(found),
            since: found.since.0,
            why: found.why.clone(),
        });
        Self {
            act: Some(file.act),
            error: None,
            verdict: Some(file.verdict()),
            tried_at: file.guard.as_ref().and_then(|guard| Some(guard.last_try.as_ref()?.at.0)),
            failure: file.failure().map(str::to_owned),
            against: against.collect(),
        }
    }

    /// The line for people, with one below it for each policy that something speaks against.
    pub(super) fn text(&self, lines: &mut Lines, now: UnixTime) {
        if let Some(error) = &self.error {
            lines.line("guard", format!("{BAD}can't be read{BAD:#}: {error}"));
        }
        if let Some(verdict) = &self.verdict {
            let (style, end) = if self.against.is_empty() { (String::new(), String::new()) } else { (BAD.to_string(), format!("{BAD:#}")) };
            lines.line("guard", format!("{style}{verdict}{end}"));
        }
        for found in &self.against {
            let since = moment_and_distance(UnixTime(found.since), now);
            lines.line("", format!("{} in {}, since {since}: {}", found.policy, found.partition, found.why));
        }
        if let Some(failure) = &self.failure {
            lines.line("", format!("{BAD}the last replay gave no answer{BAD:#}: {failure}"));
        }
    }
}
