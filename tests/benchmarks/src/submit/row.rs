//! The rows, and what a job of each has to be.

use std::collections::BTreeSet;

use clap::ValueEnum;
use job_types::options::Key;
use job_types::record::{Forecast, Record, Written};
use serde::Serialize;

use super::{LIMIT_SHOWN, TASKS};
use crate::submissions::{NO_PLUGIN, QUEUECAST, ShownJob};

/// What is submitted, and what slurmctld has loaded meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Row {
    /// No plugin.
    None,
    /// A job_submit.lua with empty functions.
    Lua,
    /// queuecast, of which nothing is asked, with a policy that acts on request only.
    NothingAsked,
    /// queuecast with `mold = "always"`; the snapshot has a plan of the queue, and each job is
    /// molded by it.
    MoldedPlan,
    /// The same, where the plan is not complete, so that past waits and run times decide.
    MoldedNoPlan,
    /// No plugin, and a job that is not held but becomes eligible hours later, as a reserved one
    /// does: slurmctld itself does more about such a job, as it tests whether the job could ever
    /// run.
    NoneLater,
    /// sbatch --reserve-at, which is granted; each submission asks for a time an hour behind that
    /// of the one before, so that there is room for all of them.
    ReserveAt,
    /// sbatch --auto-mold --auto-defer --reserve-at: molded and reserved (who reserves is not
    /// deferred).
    AllThree,
}

/// From the time of one reservation to that of the next, in seconds: longer than the time limit, so
/// that none is in the room of another.
const BETWEEN_RESERVATIONS_S: i64 = 3_600;

/// The wait, in seconds, that tells the two ways to forecast apart: the plan has a job of 64 tasks
/// wait for days, past waits for a minute.
const LONG_WAIT_S: i64 = 3_600;

impl Row {
    pub(crate) const ALL: [Row; 8] =
        [Row::None, Row::Lua, Row::NothingAsked, Row::MoldedPlan, Row::MoldedNoPlan, Row::NoneLater, Row::ReserveAt, Row::AllThree];

    /// The row's name in options and reports.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// The plugin that slurmctld has loaded.
    pub(crate) fn plugin(self) -> &'static str {
        match self {
            Row::None | Row::NoneLater => NO_PLUGIN,
            Row::Lua => "lua",
            Row::NothingAsked | Row::MoldedPlan | Row::MoldedNoPlan | Row::ReserveAt | Row::AllThree => QUEUECAST,
        }
    }

    /// Whose jobs the policy molds, as the setting `mold` has it.
    pub(crate) fn mold(self) -> &'static str {
        if matches!(self, Row::MoldedPlan | Row::MoldedNoPlan) { "always" } else { "asked" }
    }

    /// Whether each submission reserves a time.
    pub(crate) fn reserves(self) -> bool {
        matches!(self, Row::ReserveAt | Row::AllThree)
    }

    /// The row whose times this one's are held against.
    pub(crate) fn base(self) -> Row {
        if self.reserves() { Row::NoneLater } else { Row::None }
    }
}

/// The jobs of one row in one round, as they have to be.
#[derive(Debug)]
pub(crate) struct Expected {
    row: Row,
    /// The time at which the first job begins, or that it reserves, in Unix seconds.
    first_begin: i64,
    /// The times that jobs have reserved.
    taken: BTreeSet<i64>,
}

impl Expected {
    pub(crate) fn new(row: Row, first_begin: i64) -> Expected {
        Expected { row, first_begin, taken: BTreeSet::new() }
    }

    /// The options of sbatch for the submission with this place among the row's, counted from 0.
    /// `moment` writes a time in Unix seconds as Slurm takes it.
    ///
    /// # Errors
    ///
    /// Where `moment` fails.
    pub(crate) fn options(&self, place: usize, moment: impl Fn(i64) -> anyhow::Result<String>) -> anyhow::Result<Vec<String>> {
        let reserved_at = self.first_begin + place as i64 * BETWEEN_RESERVATIONS_S;
        Ok(match self.row {
            Row::NoneLater => vec![format!("--begin={}", moment(self.first_begin)?)],
            Row::ReserveAt => vec![format!("--reserve-at={}", moment(reserved_at)?)],
            Row::AllThree => {
                vec!["--auto-mold".to_owned(), "--auto-defer".to_owned(), format!("--reserve-at={}", moment(reserved_at)?)]
            }
            Row::None | Row::Lua | Row::NothingAsked | Row::MoldedPlan | Row::MoldedNoPlan => vec!["--hold".to_owned()],
        })
    }

    /// Whether a job is as the row says.
    pub(crate) fn is_met_by(&mut self, job: &ShownJob<'_>) -> bool {
        let record = job.record();
        let record = record.as_ref();
        let tasks = job.field("NumTasks").and_then(|tasks| tasks.parse::<u32>().ok());
        let written = record.and_then(|record| record.written.as_ref());
        let is_whole = tasks == Some(TASKS);
        let is_molded = tasks == Some(1) && written.and_then(|written| written.tasks) == Some(1);
        match self.row {
            Row::None | Row::NoneLater | Row::Lua | Row::NothingAsked => !job.line.contains("\"queuecast\":{") && is_whole,
            Row::MoldedPlan => is_molded && wait_instead_s(record).is_some_and(|wait_s| wait_s >= LONG_WAIT_S),
            Row::MoldedNoPlan => is_molded && wait_instead_s(record).is_some_and(|wait_s| (0..LONG_WAIT_S).contains(&wait_s)),
            Row::ReserveAt => self.is_reserved(job, written) && is_whole,
            Row::AllThree => self.is_reserved(job, written) && is_molded && record.is_some_and(asks_all_three),
        }
    }

    /// Whether a job has a time of its own, and a longer limit than was asked for, because the
    /// reservation is padded; and becomes eligible later.
    fn is_reserved(&mut self, job: &ShownJob<'_>, written: Option<&Written>) -> bool {
        let Some(Written { reserved_at: Some(reserved_at), begin: Some(begin), .. }) = written else { return false };
        let behind_s = reserved_at - self.first_begin;
        let is_a_time_asked_for = behind_s >= 0 && behind_s % BETWEEN_RESERVATIONS_S == 0;
        let is_padded = job.field("TimeLimit") != Some(LIMIT_SHOWN);
        let is_eligible_later = *begin > 0 && job.field("EligibleTime") != Some("Unknown");
        is_a_time_asked_for && is_padded && is_eligible_later && self.taken.insert(*reserved_at)
    }
}

/// The wait that was forecast for the job as submitted.
fn wait_instead_s(record: Option<&Record>) -> Option<i64> {
    let Forecast { wait_s, .. } = record?.instead_of.as_ref()?;
    *wait_s
}

fn asks_all_three(record: &Record) -> bool {
    let asks = |key: Key| record.asked.options.iter().any(|(variable, _)| variable == key.option().variable);
    asks(Key::AutoMold) && asks(Key::AutoDefer) && asks(Key::ReserveAt)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: i64 = 1_790_000_000;

    /// A job that slurmctld shows with so many tasks, this time limit and the record of this JSON.
    fn is_met(expected: &mut Expected, tasks: u32, limit: &str, record: Option<&str>) -> bool {
        let head = "{\"version\":1,\"generation\":7,\"at\":1789950000,\"mode\":\"enforce\"";
        let comment = record.map(|rest| format!(" AdminComment={{\"queuecast\":{head},{rest}}},\"seal\":\"0123\"}}")).unwrap_or_default();
        let line = format!("JobId=8 TimeLimit={limit} EligibleTime=2026-09-21T15:33:20 NumTasks={tasks}{comment} StdErr=/tmp/a b");
        expected.is_met_by(&ShownJob { line: &line })
    }

    fn reserving(at: i64, tasks: u32) -> String {
        let options = r#"[["QUEUECAST_AUTO_MOLD","1"],["QUEUECAST_RESERVE_AT","1"],["QUEUECAST_AUTO_DEFER","1"]]"#;
        let asked = format!(r#""asked":{{"nodes":1,"cpus":64,"tasks":64,"options":{options}}}"#);
        format!(r#"{asked},"written":{{"tasks":{tasks},"begin":{at},"reserved_at":{at}}}"#)
    }

    fn molded(wait_s: i64) -> String {
        let instead_of = format!(r#"{{"wait_s":{wait_s},"wait_jobs":9,"run_s":60,"run_range_s":[54,66],"run_jobs":9}}"#);
        format!(r#""asked":{{"nodes":1,"cpus":64,"tasks":64}},"written":{{"nodes":1,"tasks":1}},"instead_of":{instead_of}"#)
    }

    #[test]
    fn a_job_of_which_nothing_is_asked_is_whole_and_carries_no_record() {
        let mut expected = Expected::new(Row::NothingAsked, 0);
        assert!(is_met(&mut expected, 64, LIMIT_SHOWN, None));
        assert!(!is_met(&mut expected, 1, LIMIT_SHOWN, None));
        assert!(!is_met(&mut expected, 64, LIMIT_SHOWN, Some(&molded(60))));
    }

    #[test]
    fn a_plan_forecasts_a_long_wait_for_the_job_as_submitted_and_past_waits_a_short_one() {
        for (row, wait_s, other_s) in [(Row::MoldedPlan, 86_400, 60), (Row::MoldedNoPlan, 60, 86_400)] {
            let mut expected = Expected::new(row, 0);
            assert!(is_met(&mut expected, 1, LIMIT_SHOWN, Some(&molded(wait_s))), "{row:?}");
            assert!(!is_met(&mut expected, 1, LIMIT_SHOWN, Some(&molded(other_s))), "{row:?}");
            assert!(!is_met(&mut expected, 64, LIMIT_SHOWN, Some(&molded(wait_s))), "{row:?}");
        }
    }

    #[test]
    fn each_job_that_reserves_has_a_time_of_its_own_and_a_longer_limit() {
        let mut expected = Expected::new(Row::ReserveAt, FIRST);
        assert_eq!(expected.options(2, |unix_s| Ok(unix_s.to_string())).unwrap(), ["--reserve-at=1790007200"]);
        assert!(is_met(&mut expected, 64, "00:40:00", Some(&reserving(FIRST + 3_600, 64))));
        assert!(!is_met(&mut expected, 64, "00:40:00", Some(&reserving(FIRST + 3_600, 64))), "it is taken");
        assert!(!is_met(&mut expected, 64, "00:40:00", Some(&reserving(FIRST + 60, 64))), "nobody asked for it");
        assert!(!is_met(&mut expected, 64, LIMIT_SHOWN, Some(&reserving(FIRST, 64))), "it is not padded");
        assert!(is_met(&mut expected, 64, "00:40:00", Some(&reserving(FIRST, 64))));
    }

    #[test]
    fn a_job_that_asks_for_all_three_is_reserved_and_molded() {
        let mut expected = Expected::new(Row::AllThree, FIRST);
        assert!(is_met(&mut expected, 1, "00:40:00", Some(&reserving(FIRST, 1))));
        assert!(!is_met(&mut expected, 64, "00:40:00", Some(&reserving(FIRST + 3_600, 64))), "it is not molded");
    }

    #[test]
    fn reserving_rows_are_held_against_a_job_that_begins_later_without_a_plugin() {
        assert_eq!(Row::AllThree.base().name(), "none-later");
        assert_eq!(Row::MoldedNoPlan.base().name(), "none");
    }
}
