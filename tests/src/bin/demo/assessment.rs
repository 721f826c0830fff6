//! The report on whether queuecast would pay on the demonstration's cluster, from the past that
//! its slurmdbd has.

use std::path::PathBuf;

use end_to_end::{Cluster, IMPORTED, project};

/// Writes the report as a page that stays when the cluster is gone, and says the verdict. slurmctld
/// does not know the cluster that holds the imported past, so the processors are said here.
///
/// # Errors
///
/// What the command said, where it did not succeed.
pub(crate) fn write(cluster: &Cluster, processors: u32) -> Result<(PathBuf, String), String> {
    let page = project().join("target/assessment.html");
    let file = page.display().to_string();
    let processors = processors.to_string();
    let past = ["--slurmdbd", "--cluster", IMPORTED, "--since", "now-3650days", "--processors", &processors];
    let output = cluster.run("queuecast", &[&["assess", "--name", "the demonstration's cluster", "--html", &file], &past[..]].concat());
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // Up to what limits the answer.
    let verdict = text.split("\nWhat limits this answer").next().unwrap_or_default();
    Ok((page, verdict.trim().to_owned()))
}
