//! The figures of the benchmark of rules, and whether they are as good as they should be.

use std::collections::BTreeMap;
use std::thread;

use anyhow::Context;
use serde_json::{Value, json};

use super::{Benchmark, Extent, LUA, ROWS};
use crate::format::Format;
use crate::statistics::rounded;
use crate::submissions::{NO_PLUGIN, QUEUECAST, Summary};

/// How many times as many jobs a second the rules are to let through.
const LEAST_TIMES: f64 = 5.0;

pub(super) struct Report {
    rows: BTreeMap<&'static str, Summary>,
    extent: Extent,
    processors: usize,
    lua_jobs_per_second: u64,
    queuecast_jobs_per_second: u64,
    /// How many times as many jobs a second go through the rules as through the script, to tenths.
    times: f64,
    slurm: String,
    /// The targets that were missed, one sentence each.
    pub(super) missed: Vec<String>,
}

impl Report {
    pub(super) fn new(benchmark: &Benchmark<'_>, jobs_per_second: BTreeMap<&'static str, u64>) -> anyhow::Result<Report> {
        let base = benchmark.series.get(NO_PLUGIN).context("nothing was measured without a plugin")?;
        let rows: BTreeMap<_, _> = benchmark.series.iter().map(|(row, series)| (*row, series.summary(base))).collect();
        let [lua_jobs_per_second, queuecast_jobs_per_second] =
            [LUA, QUEUECAST].map(|plugin| jobs_per_second.get(plugin).copied().unwrap_or_default());
        let mut report = Report {
            rows,
            extent: benchmark.extent,
            processors: thread::available_parallelism()?.get(),
            lua_jobs_per_second,
            queuecast_jobs_per_second,
            times: rounded(queuecast_jobs_per_second as f64 / lua_jobs_per_second as f64, 1),
            slurm: benchmark.site.setting("SLURM_VERSION")?,
            missed: Vec::new(),
        };
        report.missed = report.missed_targets();
        Ok(report)
    }

    fn missed_targets(&self) -> Vec<String> {
        let mut missed = Vec::new();
        let [script_us, rules_us] = [LUA, QUEUECAST].map(|row| self.rows[row].adds_us);
        if rules_us >= script_us {
            missed.push(format!("the rules add {rules_us:.1} us to a submission, the script {script_us:.1}"));
        }
        if self.times < LEAST_TIMES {
            let from = self.threads_on_processors();
            let times = self.times;
            missed.push(format!("from {from} {times:.1} times as many jobs go through rules as through Lua, not {LEAST_TIMES}"));
        }
        missed
    }

    pub(super) fn print(&self, format: Format) {
        match format {
            Format::Text => self.print_text(),
            Format::Json => println!("{}", self.object()),
        }
    }

    fn print_text(&self) {
        let Extent { submissions, rounds, queued, .. } = self.extent;
        let medians = format!("median of {rounds} rounds of {submissions} submissions behind {queued} jobs, in microseconds");
        println!("Ten policies in slurmctld {}: {medians}", self.slurm);
        println!("{:<12} {:>10} {:>10} {:>10}   quartiles of what it adds", "row", "median", "adds", "callback");
        for row in ROWS {
            let summary = &self.rows[row];
            let Summary { median_us, adds_us, callback_us, .. } = summary;
            println!("{row:<12} {median_us:>10.1} {adds_us:>10.1} {callback_us:>10.1}   {}", summary.quartiles());
        }
        println!();
        let Report { lua_jobs_per_second: lua, queuecast_jobs_per_second: queuecast, times, .. } = self;
        let from = self.threads_on_processors();
        println!("Jobs a second from {from}: lua {lua}, queuecast {queuecast}, {times:.1} times as many");
    }

    fn threads_on_processors(&self) -> String {
        format!("{} threads on {} processors", self.extent.threads, self.processors)
    }

    fn object(&self) -> Value {
        let Extent { submissions, rounds, queued, threads, .. } = self.extent;
        let mut object = json!({
            "threads": threads,
            "processors": self.processors,
            "lua_jobs_per_second": self.lua_jobs_per_second,
            "queuecast_jobs_per_second": self.queuecast_jobs_per_second,
            "times": self.times,
            "submissions": submissions,
            "rounds": rounds,
            "queued": queued,
            // The benchmark ends at a row that is not.
            "every_row_as_named": true,
            "within_targets": self.missed.is_empty(),
            "slurm": self.slurm,
        });
        for (row, Summary { median_us, adds_us, quartiles_us, callback_us }) in &self.rows {
            object[format!("{row}_us")] = json!(median_us);
            object[format!("{row}_adds_us")] = json!(adds_us);
            object[format!("{row}_quartiles_us")] = json!(quartiles_us);
            object[format!("{row}_callback_us")] = json!(callback_us);
        }
        object
    }
}
