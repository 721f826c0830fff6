//! The summary of an import.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use command_parts::output::moment;
use job_types::time::UnixTime;
use serde::Serialize;
use simulator::remarks::Remarks;

use super::names::Names;
use super::past::{Machine, Selected, Skipped};
use super::slurmdbd::Written;

/// What was read and what was written. Times are Unix seconds.
#[derive(Debug, Serialize)]
pub(super) struct Summary<'a> {
    log: &'a str,
    jobs: usize,
    jobs_never_started: usize,
    users: usize,
    accounts: usize,
    first_submit: Option<i64>,
    last_end: Option<i64>,
    processors: Option<u64>,
    cpus_per_node: u32,
    skipped: BTreeMap<&'static str, u64>,
    /// What was left out of the log before that, or taken as not known.
    remarks: &'a Remarks,
    /// `None` after a dry run.
    written: Option<Written>,
    wall_s: f64,
    #[serde(skip)]
    skipped_reasons: &'a BTreeMap<Skipped, u64>,
}

impl<'a> Summary<'a> {
    /// Sums an import up.
    pub(super) fn new(
        log: &'a str,
        machine: Machine,
        (selected, remarks): (&'a Selected, &'a Remarks),
        names: &Names,
        written: Option<Written>,
        wall: Duration,
    ) -> Self {
        let jobs = &selected.jobs;
        Self {
            log,
            jobs: jobs.len(),
            jobs_never_started: jobs.iter().filter(|job| job.started.is_none()).count(),
            users: names.user_names().len(),
            accounts: names.account_names().len(),
            first_submit: jobs.iter().map(|job| job.submitted).min(),
            last_end: jobs.iter().map(|job| job.ended).max(),
            processors: machine.processors,
            cpus_per_node: machine.cpus_per_node,
            remarks,
            skipped: selected.skipped.iter().map(|(reason, &count)| (reason.key(), count)).collect(),
            written,
            wall_s: wall.as_secs_f64(),
            skipped_reasons: &selected.skipped,
        }
    }

    /// The summary for people.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let verb = if self.written.is_some() { "imported" } else { "would import" };
        let _ = writeln!(text, "{verb} {} jobs of {} ({} never started)", self.jobs, self.log, self.jobs_never_started);
        let _ = writeln!(text, "  users      {}, in {} accounts", self.users, self.accounts);
        if let (Some(first), Some(last)) = (self.first_submit, self.last_end) {
            let _ = writeln!(text, "  time       from {} to {}", moment(UnixTime(first)), moment(UnixTime(last)));
        }
        let machine = self.processors.map_or("processors not known".into(), |processors| format!("{processors} processors"));
        let _ = writeln!(text, "  machine    {machine}, {} to a node", self.cpus_per_node);
        let skipped: u64 = self.skipped_reasons.values().sum();
        let _ = writeln!(text, "  left out   {skipped}{}", skipped_text(self.skipped_reasons));
        if let Some(written) = &self.written {
            let _ = writeln!(text, "  cluster    {}", written.cluster);
            let _ = writeln!(text, "  job ids    {} to {}", written.first_job_id, written.last_job_id);
            let (users, accounts) = (written.new_users, written.new_accounts);
            let _ = writeln!(text, "  new        {users} users and {accounts} accounts in slurmdbd");
        } else {
            let _ = writeln!(text, "  nothing was written (--dry-run)");
        }
        let _ = writeln!(text, "  took       {:.1} s", self.wall_s);
        text
    }
}

/// The reasons and how often each: `: wait not known 805`; empty if there are none.
pub(super) fn skipped_text(skipped: &BTreeMap<Skipped, u64>) -> String {
    let reasons: Vec<String> = skipped.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
    if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join(", ")) }
}
