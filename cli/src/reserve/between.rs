//! `queuecast reserve --between`: a firm slot, which queuecastd has Slurm reserve where it hurts
//! others least; without a job by the daemon's API, with one by sbatch.

mod text;

use forecast_report::{JobReport, situation};
use std::ffi::OsString;
use std::process::{ExitCode, Output};

use anyhow::{Context, ensure};
use command_parts::failure::Failure;
use command_parts::output;
use daemon_api::{FirmSlot, Preferred, Probe, Refusal, Reserve, SlotRefused, SlotWindow};
use job_types::slot::SlotState;
use job_types::time::UnixTime;
use serde::Serialize;

use super::{Arguments, sbatch};
use crate::api::{self, NotAnswered};
use crate::asked::AskedArguments;
use crate::described::check_clusters;
use crate::described::given::remarks;
use crate::slot;

/// The whole report.
#[derive(Debug, Serialize)]
struct Report {
    id: Option<u64>,
    name: Option<String>,
    job_id: Option<u32>,
    state: SlotState,
    start: Option<i64>,
    end: Option<i64>,
    nodes: u32,
    window: SlotWindow,
    fixed_at: Option<i64>,
    refused: Option<SlotRefused>,
    /// Only --parts has some.
    parts: [u64; 0],
    charged_node_s: Option<i64>,
    /// By when it has to be confirmed, where it is a part.
    confirm_by: Option<i64>,
    notes: Vec<String>,
    #[serde(skip)]
    partition: Option<String>,
    #[serde(skip)]
    account: Option<String>,
    #[serde(skip)]
    job: JobReport,
    /// What sbatch said, beside the number of the job.
    #[serde(skip)]
    said: String,
    #[serde(skip)]
    now: UnixTime,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments, now: UnixTime) -> Result<ExitCode, Failure> {
    let (window, prefer) = arguments.window.read(now).map_err(Failure::Input)?;
    check(arguments, prefer).map_err(Failure::Input)?;
    let more: Vec<String> = arguments.sbatch.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut described = arguments.job.clone();
    // If a command of sbatch follows `--`, it describes the job.
    let not_read = if more.is_empty() { described.take_standard_input().context("standard input").map_err(Failure::Input)? } else { None };
    let job = described.job(&more, &AskedArguments::default(), now).map_err(Failure::Input)?;
    let installation = arguments.installation.find();
    let snapshot = installation.needed_snapshot()?;
    check_clusters(&job, &snapshot).map_err(Failure::Input)?;
    let submission = job.submission();
    let situation = situation(&snapshot, &submission, now).map_err(|unknown| Failure::Input(unknown.into()))?;
    let probe = slot::request(&submission, &situation, window, prefer).map_err(Failure::Input)?;
    let mut report = Report {
        id: None,
        name: None,
        job_id: None,
        state: SlotState::Asked,
        start: None,
        end: None,
        nodes: probe.nodes,
        window: SlotWindow { earliest: probe.earliest, latest: probe.latest },
        fixed_at: None,
        refused: None,
        parts: [],
        charged_node_s: None,
        confirm_by: None,
        notes: remarks(&job).into_iter().chain(not_read.map(str::to_owned)).collect(),
        partition: probe.partition.clone(),
        account: probe.account.clone(),
        job: JobReport::of(&situation, job.user_name.clone()),
        said: String::new(),
        now,
    };
    if arguments.sbatch.is_empty() {
        let wanted = Reserve { probe, notice_s: arguments.notice.map(|notice| notice.0), together: arguments.together() };
        let slot: FirmSlot = api::post(&installation.reach(), daemon_api::RESERVE, &wanted).map_err(not_granted)?;
        report.take(slot);
    } else {
        let output = sbatch::run("sbatch", submitting(arguments, &probe).iter()).map_err(Failure::Input)?;
        report.take_submission(&output);
    }
    output::tell(arguments.format, &report, text::text)?.print()?;
    Ok(ExitCode::from(u8::from(report.is_refused())))
}

/// Refuses what no slot can be asked for with.
fn check(arguments: &Arguments, prefer: Preferred) -> anyhow::Result<()> {
    ensure!(!arguments.job.is_of_another_user(), "--user: a slot is reserved for those who ask, by their own accounts; leave it out");
    let has_job = !arguments.sbatch.is_empty();
    ensure!(
        !has_job || prefer == Preferred::Earliest,
        "--prefer: sbatch can't be told which of equally good slots is the best; leave it out, or reserve the slot without a job"
    );
    Ok(())
}

/// Why there is no slot. What is wrong with the request is wrong usage; another refusal is an
/// answer.
fn not_granted(error: NotAnswered) -> Failure {
    match error {
        NotAnswered::Refused(Refusal { key: None, .. }) => Failure::No(error.into()),
        error => Failure::Input(slot::by_option(error)),
    }
}

/// The arguments of sbatch for a job with a slot in the window.
fn submitting(arguments: &Arguments, probe: &Probe) -> Vec<OsString> {
    let window = format!("--reserve-window=uts{},uts{}", probe.earliest, probe.latest);
    let notice = arguments.notice.map(|notice| format!("--reserve-notice={}s", notice.0));
    let own = ["--parsable".to_owned(), window].into_iter().chain(notice);
    let described = arguments.job.for_sbatch().iter().cloned();
    own.chain(described).map(OsString::from).chain(arguments.sbatch.iter().cloned()).collect()
}

impl Report {
    /// Takes over what the daemon answers.
    fn take(&mut self, slot: FirmSlot) {
        self.charged_node_s = slot.start.map(|_| slot.charged_node_s);
        self.confirm_by = slot.confirm_by;
        (self.id, self.name, self.job_id, self.state) = (Some(slot.id), slot.name, slot.job_id, slot.state);
        (self.start, self.end, self.fixed_at, self.refused) = (slot.start, slot.end, slot.fixed_at, slot.refused);
        (self.nodes, self.window, self.partition, self.account) = (slot.nodes, slot.window, Some(slot.partition), slot.account);
    }

    /// Takes over what sbatch has done.
    fn take_submission(&mut self, output: &Output) {
        self.said = sbatch::said(output);
        self.job_id = job_in(&String::from_utf8_lossy(&output.stdout)).filter(|_| output.status.success());
        if !output.status.success() {
            let reason = if self.said.is_empty() { "sbatch has refused the job".to_owned() } else { std::mem::take(&mut self.said) };
            self.state = SlotState::Refused;
            self.refused = Some(SlotRefused { reason, nearest: None });
        } else if self.job_id.is_none() {
            self.notes.push("sbatch printed no job: look for it with squeue".to_owned());
        }
    }

    /// Whether there is no slot.
    fn is_refused(&self) -> bool {
        self.refused.is_some() || self.state.is_over()
    }

    /// The options with which a job runs in the reservation.
    fn options(&self) -> Option<String> {
        let name = self.name.as_ref()?;
        let of = |option: &str, value: &Option<String>| value.as_ref().map(|value| format!(" --{option}={value}")).unwrap_or_default();
        Some(format!("--reservation={name}{}{}", of("partition", &self.partition), of("account", &self.account)))
    }
}

/// The job that sbatch has printed, as `12` or as `12;east`.
fn job_in(printed: &str) -> Option<u32> {
    printed.trim().split(';').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_job_is_what_sbatch_prints_before_the_cluster() {
        assert_eq!([job_in("12\n"), job_in("12;east\n"), job_in(""), job_in("x;east")], [Some(12), Some(12), None, None]);
    }
}
