//! The ended jobs in slurmdbd.

use std::fmt::Write;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};
use end_to_end::IMPORTED;
use serde::Deserialize;

use super::SCRIPT;
use super::size::{CPUS, MILLION, MORE_JOBS};
use crate::private_cluster::{PrivateCluster, own_name};

/// The workload. A queue that grows and shrinks for weeks, as with more load, keeps bounds from
/// holding lately, and what is learnt is not in force then.
const MODEL: [&str; 7] = ["--embedded", "--processors", "4096", "--model-users", "1000", "--load", "0.5"];

/// How many seconds before now the first of the jobs is submitted at the earliest, so that all of
/// them lie within the year that `queuecastd` reads.
const LONGEST_PAST_S: f64 = 340.0 * 86_400.0;

/// The number of the first imported job.
const FIRST_JOB_ID: u64 = 50_000_000;

/// By how much job numbers and times differ from one copy of the million to the next.
const COPY_JOB_IDS: u64 = MILLION;
const COPY_SECONDS: u64 = 3_571;

/// What `queuecast import-swf` says of the jobs that it would import, in Unix seconds.
#[derive(Debug, Deserialize)]
struct Planned {
    first_submit: i64,
    last_end: i64,
}

impl PrivateCluster {
    /// Fills slurmdbd with so many jobs, and returns how many seconds that took. Where the cluster
    /// was kept by an earlier run its jobs are taken as they are, and 0 is returned.
    ///
    /// # Errors
    ///
    /// Where slurmdbd does not take them, or has others.
    pub(super) fn provide_history(&self, jobs: u64) -> anyhow::Result<u64> {
        let filled = self.cluster.path("filled");
        if filled.exists() {
            // What earlier runs have added to the import, and their own jobs.
            self.sql(&format!("DELETE FROM {IMPORTED}_job_table WHERE id_job >= {FIRST_JOB_ID} + {jobs}"))?;
            self.sql("DELETE FROM queuecast_job_table")?;
            let there = self.sql(&format!("SELECT COUNT(*) FROM {IMPORTED}_job_table WHERE time_end > 0"))?;
            let directory = self.cluster.directory().display();
            ensure!(there.trim() == jobs.to_string(), "slurmdbd of the cluster in {directory} has {} ended jobs, not {jobs}", there.trim());
            return Ok(0);
        }
        eprintln!("{SCRIPT}: fills slurmdbd with {jobs} jobs");
        let began = Instant::now();
        self.ask("sacctmgr", &["--immediate", "--quiet", "add", "cluster", IMPORTED])?;
        self.import_model(jobs.min(MILLION))?;
        if jobs > MILLION {
            self.copy_million(jobs / MILLION)?;
        }
        fs::write(filled, "")?;
        let took_s = began.elapsed().as_secs();
        eprintln!("{SCRIPT}: that took {took_s} s");
        Ok(took_s)
    }

    /// Adds [`MORE_JOBS`] jobs with the waits and run times of the model that ended within the last
    /// minute: `queuecastd` does not look further back at each refresh.
    pub(super) fn add_more_jobs(&self) -> anyhow::Result<()> {
        let mut command = self.cluster.prepare("queuecast");
        command.arg("import-swf").args(MODEL).args(["--into", "swf", "--model-jobs", &MORE_JOBS.to_string(), "--seed", "2"]);
        let log = self.cluster.path("jobs/more.swf");
        fs::write(&log, ended_within_a_minute(&self.printed(&mut command)?)?)?;
        let mut command = self.cluster.prepare("queuecast");
        self.run(into_slurmdbd(command.arg("import-swf").arg(log)))?;
        Ok(())
    }

    fn import_model(&self, jobs: u64) -> anyhow::Result<()> {
        let import = || {
            let mut command = self.cluster.prepare("queuecast");
            into_slurmdbd(command.arg("import-swf").args(MODEL).args(["--model-jobs", &jobs.to_string()]));
            command
        };
        let planned: Planned = serde_json::from_str(&self.printed(import().arg("--dry-run"))?).context("queuecast import-swf --dry-run")?;
        // The model says how often jobs come by the machine's size.
        let scale = (LONGEST_PAST_S / (planned.last_end - planned.first_submit) as f64).min(1.0);
        let mut command = import();
        command.args(["--time-scale", &format!("{scale:.6}")]);
        // It takes minutes, and may tell at a terminal how far it is.
        let said = self.printed(command.stderr(Stdio::inherit())).context("the history was not imported")?;
        fs::write(self.cluster.path("log/import.out"), said)?;
        Ok(())
    }

    /// Makes so many millions of the million that slurmdbd has. Into an empty table, without
    /// looking for duplicates, MariaDB sorts each index once.
    fn copy_million(&self, millions: u64) -> anyhow::Result<()> {
        let columns = self.sql(&format!(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = 'slurm_acct_db' \
             AND table_name = '{IMPORTED}_job_table' AND column_name <> 'job_db_inx' ORDER BY ordinal_position"
        ))?;
        let columns: Vec<&str> = columns.lines().collect();
        let names: Vec<String> = columns.iter().map(|column| format!("`{column}`")).collect();
        let values: Vec<String> = columns.iter().map(|column| copied(column)).collect();
        let (names, values, last) = (names.join(","), values.join(","), millions - 1);
        self.sql(&format!(
            "CREATE TABLE {IMPORTED}_job_copy LIKE {IMPORTED}_job_table; \
             SET unique_checks = 0, foreign_key_checks = 0; \
             INSERT INTO {IMPORTED}_job_copy ({names}) SELECT {values} FROM seq_0_to_{last}, {IMPORTED}_job_table; \
             RENAME TABLE {IMPORTED}_job_table TO {IMPORTED}_job_before, {IMPORTED}_job_copy TO {IMPORTED}_job_table; \
             DROP TABLE {IMPORTED}_job_before"
        ))?;
        Ok(())
    }

    /// Runs statements in the database of slurmdbd. Rows are lines.
    fn sql(&self, statements: &str) -> anyhow::Result<String> {
        let user = own_name()?;
        let mut command = self.cluster.prepare("mariadb");
        command.args(["--no-defaults", "--user", &user, "--socket"]).arg(self.cluster.path("mariadb/socket"));
        self.printed(command.args(["--skip-column-names", "slurm_acct_db", "--execute", statements]))
    }
}

/// Has `queuecast import-swf` write into slurmdbd, and tell as JSON what it did.
fn into_slurmdbd(import: &mut Command) -> &mut Command {
    let cpus = CPUS.to_string();
    let options = ["--into", "slurmdbd", "--cluster", IMPORTED, "--cpus-per-node", &cpus, "--queues-as-partitions", "--format", "json"];
    import.args(options)
}

/// The value of a column in the copy with the number `seq`.
fn copied(column: &str) -> String {
    match column {
        "id_job" => format!("`{column}` + seq * {COPY_JOB_IDS}"),
        "time_submit" | "time_eligible" | "time_start" | "time_end" => format!("`{column}` - seq * {COPY_SECONDS}"),
        _ => format!("`{column}`"),
    }
}

/// A log whose jobs are submitted at such times that all of them end within one minute.
fn ended_within_a_minute(log: &str) -> anyhow::Result<String> {
    let mut changed = String::new();
    for (number, line) in log.lines().enumerate() {
        if line.starts_with(';') {
            writeln!(changed, "{line}")?;
            continue;
        }
        let mut fields: Vec<&str> = line.split_whitespace().collect();
        let [_, submitted, wait, run, ..] = &mut fields[..] else { continue };
        let (wait_s, run_s): (i64, i64) = (wait.parse()?, run.parse()?);
        let time = (100_000_000 - wait_s - run_s + (number % 60) as i64).to_string();
        *submitted = &time;
        writeln!(changed, "{}", fields.join(" "))?;
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_end_within_a_minute_whenever_the_model_has_them_end() {
        let log = "; MaxProcs: 4\n1 0 7 100 3 -1\n2 5000 9 50 3 -1\n";
        assert_eq!(ended_within_a_minute(log).unwrap(), "; MaxProcs: 4\n1 99999894 7 100 3 -1\n2 99999943 9 50 3 -1\n");
    }

    #[test]
    fn a_copy_has_other_numbers_and_times_and_nothing_else() {
        assert_eq!(copied("id_job"), "`id_job` + seq * 1000000");
        assert_eq!(copied("time_end"), "`time_end` - seq * 3571");
        assert_eq!(copied("timelimit"), "`timelimit`");
    }
}
