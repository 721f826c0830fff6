//! The report of a comparison, as text and as JSON.

use comfy_table::{CellAlignment, Table, presets};
use end_to_end::comparison::{Difference, Happened, Replay, Site, replay, submission_priorities};
use std::fmt::Write;

/// The figures of a comparison.
pub(crate) struct Report {
    version: String,
    jobs: usize,
    backfilled: usize,
    mean_wait_s: f64,
    /// Jobs whose priority at submission is that of slurmctld to one.
    equal_priorities: usize,
    priorities: Vec<i64>,
    replays: Vec<(Replay, Difference, f64, Vec<i64>)>,
}

impl Report {
    /// Simulates the submissions under each scheduler.
    pub(crate) fn of(site: &Site, happened: &[Happened]) -> Report {
        let real: Vec<i64> = happened.iter().map(|job| job.start_seconds).collect();
        let mean_wait = |starts: &[i64]| {
            let waits = starts.iter().zip(happened).map(|(start, job)| (start - job.submit_seconds) as f64);
            waits.sum::<f64>() / happened.len().max(1) as f64
        };
        let by_model = submission_priorities(site, happened);
        let equal = by_model.iter().zip(happened).filter(|(model, job)| (*model - i64::from(job.submission_priority)).abs() <= 1);
        let simulate = |which: Replay| {
            let starts = replay(site, happened, which);
            (which, Difference::of(&starts, &real), mean_wait(&starts), starts)
        };
        Report {
            version: site.printed.version.clone(),
            jobs: happened.len(),
            backfilled: happened.iter().filter(|job| job.was_backfilled).count(),
            mean_wait_s: mean_wait(&real),
            equal_priorities: equal.count(),
            priorities: by_model,
            replays: Replay::ALL.map(simulate).into(),
        }
    }

    /// The report as a table.
    pub(crate) fn text(&self) -> String {
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED);
        table.set_header(["simulated under", "median s", "mean s", "p95 s", "max s", "later by s", "within 2 s", "mean wait s"]);
        for (which, difference, mean_wait, _) in &self.replays {
            let Difference { median_s, mean_s, p95_s, max_s, mean_later_s, within_2_s, .. } = difference;
            table.add_row([
                which.name().to_owned(),
                format!("{median_s:.0}"),
                format!("{mean_s:.1}"),
                format!("{p95_s:.0}"),
                format!("{max_s:.0}"),
                format!("{mean_later_s:+.1}"),
                format!("{:.0} %", 100.0 * within_2_s),
                format!("{mean_wait:.1}"),
            ]);
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        format!(
            "{}: {} jobs, {} of them backfilled, mean wait {:.1} s; the model's priority at submission is slurmctld's to 1 for {}\n\
             difference of start times, simulated against real\n{table}\n",
            self.version, self.jobs, self.backfilled, self.mean_wait_s, self.equal_priorities
        )
    }

    /// The report as one JSON object.
    pub(crate) fn json(&self) -> serde_json::Value {
        let replays: serde_json::Map<String, serde_json::Value> = self
            .replays
            .iter()
            .map(|(which, difference, mean_wait, _)| {
                let key = which.name().replace(", ", "_").replace(' ', "_");
                (key, serde_json::json!({ "difference": difference, "mean_wait_s": mean_wait }))
            })
            .collect();
        serde_json::json!({
            "slurm": self.version,
            "jobs": self.jobs,
            "jobs_backfilled": self.backfilled,
            "equal_priorities": self.equal_priorities,
            "mean_wait_s": self.mean_wait_s,
            "simulated": replays,
        })
    }

    /// Real against simulated start times, as SVG.
    pub(crate) fn picture(&self, happened: &[Happened]) -> Result<String, Box<dyn std::error::Error>> {
        let real: Vec<i64> = happened.iter().map(|job| job.start_seconds).collect();
        let simulated: Vec<(Replay, &[i64])> = self.replays.iter().map(|(which, .., starts)| (*which, starts.as_slice())).collect();
        crate::picture::starts(&real, &simulated, happened.iter().map(|job| job.submit_seconds).min().unwrap_or(0))
    }

    /// A line for each job.
    pub(crate) fn csv(&self, happened: &[Happened]) -> String {
        let mut lines = "id,submit_s,user,nodes,limit_s,run_s,completing_s,priority,model_priority,backfilled,start_s".to_owned();
        for (which, ..) in &self.replays {
            let _ = write!(lines, ",{}_s", which.name().replace(", ", "_").replace(' ', "_"));
        }
        for (place, job) in happened.iter().enumerate() {
            let figures = [
                i64::from(job.id),
                job.submit_seconds,
                i64::from(job.user),
                i64::from(job.nodes),
                job.limit_seconds,
                job.end_seconds - job.start_seconds,
                job.released_seconds - job.end_seconds,
                i64::from(job.submission_priority),
                self.priorities.get(place).copied().unwrap_or_default(),
                i64::from(job.was_backfilled),
                job.start_seconds,
            ];
            let simulated = self.replays.iter().map(|(.., starts)| starts.get(place).copied().unwrap_or_default());
            let line: Vec<String> = figures.into_iter().chain(simulated).map(|figure| figure.to_string()).collect();
            let _ = write!(lines, "\n{}", line.join(","));
        }
        lines + "\n"
    }
}
