//! The rounds, and the measurement of one row in a round.

use std::ops::Range;
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};
use end_to_end::now;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::row::{Expected, Row};
use super::{Benchmark, PATIENCE, SCRIPT};
use crate::private_cluster::PrivateCluster;
use crate::submissions::{QUEUECAST, WARM_UP};

/// From the submission to the time at which the first job of a row begins or has its reservation,
/// in seconds.
const UNTIL_FIRST_BEGIN_S: i64 = 12 * 3_600;

/// A moment in Unix seconds, as Slurm's commands take it.
fn moment(unix_s: i64) -> anyhow::Result<String> {
    Ok(Timestamp::from_second(unix_s)?.to_zoned(TimeZone::system()).strftime("%Y-%m-%dT%H:%M:%S").to_string())
}

/// The number of submissions of which nothing was asked, as the filter has counted them.
fn count_of_nothing_asked(site: &PrivateCluster) -> u64 {
    site.report("status").ok().and_then(|status| status["counters"]["nothing_asked"].as_u64()).unwrap_or_default()
}

impl Benchmark<'_> {
    pub(super) fn measure_rows(&mut self) -> anyhow::Result<()> {
        let rounds = self.extent.rounds;
        let rows = self.extent.rows.clone();
        for round in 1..=rounds {
            for queued in self.extent.queues.clone() {
                self.site.restore_state(queued)?;
                let mut told = Vec::new();
                // Each row comes first in one round, second in the next but one, and so on.
                for place in 0..rows.len() {
                    let row = rows[(place + round) % rows.len()];
                    told.push(format!("{} {:.2}", row.name(), self.measure(row, queued)?));
                }
                eprintln!("{SCRIPT}: round {round} of {rounds} behind {queued} jobs, us: {}", told.join(", "));
            }
        }
        Ok(())
    }

    /// Measures one row of a round, and returns the mean time of its submissions in microseconds.
    fn measure(&mut self, row: Row, queued: usize) -> anyhow::Result<f64> {
        let submissions = self.extent.submissions;
        let first_begin = now() + UNTIL_FIRST_BEGIN_S;
        self.site.use_plugin(row.plugin())?;
        let is_ours = row.plugin() == QUEUECAST;
        let counted = if is_ours { self.prepare_queuecast(row)? } else { 0 };
        let first = self.submit_mark()? + 1;
        let mut expected = Expected::new(row, first_begin);
        self.submit(&expected, 0..WARM_UP)?;
        self.site.reset_statistics()?;
        self.submit(&expected, WARM_UP..WARM_UP + submissions)?;
        let mean_us = self.site.end_round(self.series.entry((queued, row)).or_default(), submissions)?;
        self.site.require_as_named(&row.name(), first, WARM_UP + submissions, |job| expected.is_met_by(job))?;
        if is_ours {
            self.forecaster.require()?;
            if row == Row::NothingAsked {
                // The job that marks the first number counts as well, as long as nothing is done to
                // all jobs.
                self.await_count(counted + (WARM_UP + submissions + 1) as u64)?;
            }
            self.forecaster.pause();
        }
        self.site.cancel(&self.user, "job.sh")?;
        self.site.require_waiting(queued)?;
        Ok(mean_us)
    }

    /// Lets queuecastd publish what the row needs. Returns how many submissions of which nothing
    /// was asked the filter has counted before.
    fn prepare_queuecast(&mut self, row: Row) -> anyhow::Result<u64> {
        self.configure(row.mold());
        if row == Row::MoldedNoPlan {
            // A plan places so many tasks of an array and no more, and is not complete where it
            // leaves some out.
            self.site.submit_with(&["--quiet", "--array=0-1999", "--begin=now+1day", "--ntasks=1", "--time=30", "job.sh"])?;
        }
        // What the row before was promised counts until the queue has been read a few seconds
        // later.
        thread::sleep(Duration::from_secs(3));
        self.forecaster.go_on();
        // The first snapshot may have been under way with what was before.
        self.forecaster.demand_snapshot("HUP")?;
        self.forecaster.demand_snapshot("USR1")?;
        self.await_plan(row != Row::MoldedNoPlan)?;
        // The filter looks closely at a directory that has just changed; see
        // submit-filter/src/watch.rs.
        thread::sleep(Duration::from_millis(200));
        // What was counted of the row before has been passed on with these snapshots.
        Ok(count_of_nothing_asked(self.site))
    }

    /// Submits a job that is not measured, and returns its number: those that follow are the row's.
    fn submit_mark(&self) -> anyhow::Result<u64> {
        let said = self.site.submit_with(&["--parsable", "--hold", "--ntasks=1", "--time=1", "job.sh"])?;
        let printed = String::from_utf8_lossy(&said.stdout);
        let number = printed.trim().split(';').next().and_then(|number| number.parse().ok());
        number.with_context(|| format!("sbatch told no job's number: {printed}"))
    }

    /// Makes these submissions of a row, by their places among all of it.
    fn submit(&self, expected: &Expected, places: Range<usize>) -> anyhow::Result<()> {
        for place in places {
            let options = expected.options(place, moment)?;
            self.site.submit_one(&options.iter().map(String::as_str).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// Waits until the snapshot's plan of the queue is complete, or is not: the first plans after
    /// queuecastd goes on may be of the queue before.
    fn await_plan(&mut self, is_complete: bool) -> anyhow::Result<()> {
        let mut found = None;
        let planned = self.site.wait(PATIENCE, || {
            found = self.site.report("queue").ok().and_then(|queue| queue["is_complete"].as_bool());
            if found == Some(is_complete) {
                return Ok(Some(()));
            }
            self.forecaster.demand_snapshot("USR1")?;
            Ok(None)
        })?;
        ensure!(planned.is_some(), "whether the plan of the queue is complete: {found:?} instead of {is_complete}");
        Ok(())
    }

    /// Waits until the filter has counted so many submissions of which nothing was asked:
    /// queuecastd passes the counts on with each snapshot.
    fn await_count(&mut self, expected: u64) -> anyhow::Result<()> {
        let mut found = 0;
        let counted = self.site.wait(PATIENCE, || {
            found = count_of_nothing_asked(self.site);
            if found == expected {
                return Ok(Some(()));
            }
            self.forecaster.demand_snapshot("USR1")?;
            Ok(None)
        })?;
        ensure!(counted.is_some(), "the filter counts {found} instead of {expected} submissions as nothing_asked");
        Ok(())
    }
}
