//! A job that is described on the command line: what it would be as a submission.

pub(crate) mod arguments;
pub(crate) mod effect;
pub(crate) mod given;
pub(crate) mod job;
mod plugins;
mod script;
mod standard_input;
pub(crate) mod trajectory;

use anyhow::bail;
use command_parts::output::count;
use forecast_report::JobReport;
use job_types::size::Unit;
use job_types::time::Seconds;
use predictor_core::snapshot::Snapshot;

/// The job in a line for people.
pub(crate) fn line_of(job: &JobReport) -> String {
    let plural = |number: u32, unit: Unit| format!("{} {}", count(number.into()), unit.word(number));
    let mut text = format!("{}, {}", plural(job.nodes, Unit::Nodes), plural(job.cpus, Unit::Cpus));
    if let Some(tasks) = job.tasks {
        text.push_str(&format!(", {} {}", count(tasks.into()), if tasks == 1 { "task" } else { "tasks" }));
    }
    let limit = job.limit_s.map_or("no time limit".to_owned(), |limit| format!("time limit {}", Seconds(limit)));
    let user = job.user_name.as_ref().map_or_else(|| job.user.to_string(), |name| format!("{name} ({})", job.user));
    text.push_str(&format!(" in {}, {limit}, user {user}", job.partition));
    text
}

/// Refuses a job that is meant for other clusters than the one whose snapshot this is.
pub(crate) fn check_clusters(job: &job::Job, snapshot: &Snapshot<Vec<u8>>) -> anyhow::Result<()> {
    let own = snapshot.provenance().cluster;
    match job.clusters() {
        None => Ok(()),
        Some(named) if named == own => Ok(()),
        Some(named) if named.contains(',') || named.eq_ignore_ascii_case("all") => {
            bail!("--clusters: sbatch chooses one of {named}; name one, whose forecast it is to be (this snapshot is of {own})")
        }
        Some(named) => {
            bail!("--clusters: this snapshot is of cluster {own}; name the state directory of {named} with --state-directory")
        }
    }
}
