//! The report on whether queuecast would pay on the demonstration's cluster, from the past that
//! its slurmdbd has.

use std::path::PathBuf;

use end_to_end::{Cluster, project};

/// Writes the report as a page that stays when the cluster is gone, and says the verdict.
///
/// # Errors
///
/// What the command said, where it did not succeed.
pub(crate) fn write(cluster: &Cluster) -> Result<(PathBuf, String), String> {
    let page = project().join("target/assessment.html");
    let file = page.display().to_string();
    let output = cluster
        .run("queuecast", &["assess", "--slurmdbd", "--since", "now-3650days", "--name", "the demonstration's cluster", "--html", &file]);
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // Up to what limits the answer.
    let verdict = text.split("\nWhat limits this answer").next().unwrap_or_default();
    Ok((page, verdict.trim().to_owned()))
}
