//! Submits the jobs of a set, one on each cluster, and tells each which others belong to it.
//!
//! Slurm's own commands are run as their user would: sbatch reads the script and its options, and
//! the plugins of each cluster decide. What belongs together is written into the comments of the
//! jobs when all have their numbers ([`job_types::joint`]); from then on the daemons know
//! everything that they need. Where this command is stopped before that, all jobs stay.

use std::ffi::OsString;

use job_types::joint::{ClusterJob, JointJobs};
use job_types::number::JobId;
use job_types::options::SuccessProbability;
use serde::Serialize;

use super::{ClusterReport, Report};
use crate::reserve::Arguments;
use crate::reserve::sbatch::{run, said};

/// How much a joint probability may be below what is wanted for the sake of rounding.
const ROUNDING: f64 = 1e-9;

/// What became of the submission on one cluster.
#[derive(Debug, Serialize)]
pub(super) struct Submitted {
    /// The job's number; absent where sbatch was refused.
    job: Option<JobId>,
    /// Whether it was taken back, because the others would not suffice.
    taken_back: bool,
    /// What sbatch said beside it.
    pub(super) said: String,
}

impl Submitted {
    /// Returns the submission in a line for people.
    pub(super) fn text(&self) -> String {
        match self.job {
            None => "refused".to_owned(),
            Some(job) if self.taken_back => format!("job {job}, taken back"),
            Some(job) => format!("job {job}"),
        }
    }
}

/// Submits the set that was chosen. Where a cluster refuses its job and the others do not suffice
/// for what is wanted, they are cancelled again.
///
/// # Errors
/// Where Slurm's commands can't be run.
pub(super) fn submit(report: &mut Report, arguments: &Arguments) -> anyhow::Result<()> {
    let at = format!("--reserve-at=uts{}", report.at.0);
    let early_start = arguments.early_start.map(|choice| format!("--early-start={choice}"));
    let described = arguments.job.for_sbatch();
    for cluster in &mut report.clusters {
        let Some(chosen) = &cluster.chosen else { continue };
        let mut own: Vec<OsString> = vec!["--parsable".into(), "-M".into(), cluster.cluster.clone().into(), at.clone().into()];
        own.push(format!("--success-probability={}", chosen.ask).into());
        own.extend(early_start.iter().map(OsString::from));
        own.extend(described.iter().map(OsString::from));
        let output = run("sbatch", own.iter().chain(&arguments.sbatch))?;
        let said = said(&output);
        let job = job_on(&String::from_utf8_lossy(&output.stdout), &cluster.cluster).filter(|_| output.status.success());
        if job.is_none() && output.status.success() {
            report.notes.push(format!("{}: sbatch printed no job of that cluster; look for one with squeue", cluster.cluster));
        }
        cluster.submission = Some(Submitted { job, taken_back: false, said });
    }
    let missed: f64 = jobs(&report.clusters).map(|(cluster, _)| 1.0 - cluster.chosen.as_ref().map_or(0.0, |chosen| chosen.ask)).product();
    let has_all = report.clusters.iter().filter_map(|cluster| cluster.submission.as_ref()).all(|submission| submission.job.is_some());
    report.submitted = has_all || matches!(report.asked, SuccessProbability::AtLeast(wanted) if 1.0 - missed >= wanted - ROUNDING);
    if !has_all {
        let is_enough = if report.submitted { "which suffices" } else { "which does not suffice: they are taken back" };
        report.notes.push(format!("not all were taken; one of those that were is kept with probability {:.3}, {is_enough}", 1.0 - missed));
    }
    if !report.submitted {
        return take_back(report);
    }
    report.probability = 1.0 - missed;
    tell(report)
}

/// The jobs that were taken.
fn jobs(clusters: &[ClusterReport]) -> impl Iterator<Item = (&ClusterReport, JobId)> {
    clusters.iter().filter_map(|cluster| Some((cluster, cluster.submission.as_ref()?.job?)))
}

/// Cancels what was submitted.
fn take_back(report: &mut Report) -> anyhow::Result<()> {
    for cluster in &mut report.clusters {
        let Some((submission, job)) = cluster.submission.as_mut().and_then(|submission| submission.job.map(|job| (submission, job))) else {
            continue;
        };
        let output = run("scancel", ["-M", &cluster.cluster, &job.to_string()].map(OsString::from).iter())?;
        submission.taken_back = output.status.success();
        if !submission.taken_back {
            let said = said(&output);
            report.notes.push(format!("job {job} on {} could not be cancelled, cancel it yourself: {said}", cluster.cluster));
        }
    }
    Ok(())
}

/// Writes into each job's comment which ones belong together.
fn tell(report: &mut Report) -> anyhow::Result<()> {
    let members = jobs(&report.clusters).map(|(cluster, job)| ClusterJob { cluster: cluster.cluster.clone(), job }).collect::<Vec<_>>();
    let Some(joint) = JointJobs::new(members.clone()) else { return Ok(()) };
    for ClusterJob { cluster, job } in members {
        let number = job.to_string();
        let shown = run("squeue", ["-M", &cluster, "-h", "-j", &number, "-o", "%k"].map(OsString::from).iter())?;
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        let before = comment(&shown);
        let change = [format!("JobId={number}"), format!("Comment={}", joint.in_comment(before))];
        let told = run(
            "scontrol",
            ["-M".into(), cluster.clone(), "update".into()].into_iter().chain(change).map(OsString::from).collect::<Vec<_>>().iter(),
        )?;
        if !told.status.success() {
            let said = said(&told);
            report.notes.push(format!("job {job} on {cluster} does not know of the others and will not be withdrawn for them: {said}"));
        }
    }
    Ok(())
}

/// The comment that squeue shows, behind the line that names the cluster.
fn comment(shown: &str) -> &str {
    let line = shown.lines().find(|line| !line.starts_with("CLUSTER: ")).unwrap_or_default().trim();
    if line == "(null)" { "" } else { line }
}

/// The job of a cluster that sbatch has printed, as `12;east`.
fn job_on(printed: &str, cluster: &str) -> Option<JobId> {
    let (number, on) = printed.trim().split_once(';')?;
    (on == cluster).then_some(JobId(number.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_counts_only_on_the_cluster_that_it_was_meant_for() {
        assert_eq!(job_on("12;east\n", "east"), Some(JobId(12)));
        for (printed, cluster) in [("12;west\n", "east"), ("12\n", "east"), ("", "east"), ("x;east", "east")] {
            assert_eq!(job_on(printed, cluster), None, "{printed}");
        }
    }

    #[test]
    fn a_comment_is_what_stands_behind_the_clusters_line() {
        assert_eq!(comment("CLUSTER: east\nmine, with blanks\n"), "mine, with blanks");
        assert_eq!(comment("CLUSTER: east\n(null)\n"), "");
        assert_eq!(comment("CLUSTER: east\n"), "");
        assert_eq!(comment("mine\n"), "mine");
    }
}
