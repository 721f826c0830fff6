//! `queuecast evaluate placement`: where reservations are placed inside windows, and what that does
//! to jobs (Röblitz and Rzadca 2006, section 5).

mod cells;
mod picture;
mod published;
mod statements;
mod text;

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueEnum};
use command_parts::duration::between;
use command_parts::failure::Failure;
use command_parts::log_file::{self, LogFileOptions, read_log};
use indicatif::{MultiProgress, ProgressDrawTarget};
use job_types::time::Seconds;
use queue_plan::placement::{Moving, Probing};
use serde::Serialize;
use simulator::experiment::{PlacementMethod, PlacementOptions, PlacementPreference, PlacementRunTimes, Placements, SoundJobs, placements};
use simulator::remarks::Remarks;
use simulator::workload::machine;
use slurm_conf::duration::DAY_SECONDS;

use self::published::Published;
use super::run::{self, CommonArguments, OfLogs};

/// The longest book-ahead, window and gap, in seconds.
const LONGEST: i64 = 365 * DAY_SECONDS;

/// Replay a log with one job of ten asking for a reservation inside a window, and show where it is
/// placed, and what that does to the other jobs.
///
/// Of the log's first jobs that ran for no longer than they had asked for, one of each ten in a row
/// is drawn and asks for a reservation instead (Röblitz and Rzadca 2006, 5.1): of its size, for as
/// long as it ran, at some time from --book-ahead after its submission on, in a --window of starts.
/// The others are scheduled first come, first served, with EASY backfilling, around reservations
/// that come and go. Each method ranks slots of the window, and the best that is free is reserved.
///
/// Each --book-ahead is replayed with each --window, by each --method, for each of --seeds draws.
/// Jobs that wait longer than without any reservation are delayed.
///
/// --plot draws utilisation and backlog without reservations (figure 2), success rates (figure 3),
/// how the waits that are added grow over time at the widest window (figure 4), and the machine
/// around the job that is delayed the longest (figure 5).
///
/// Exit status: 0 if there is an answer; 2 for wrong usage, or a log that can't be read or lacks
/// what is asked for, such as time limits.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// How slots are ranked; several are separated by commas.
    #[arg(long, value_enum, value_name = "METHOD", value_delimiter = ',', default_value = "load,what-if,movable,earliest")]
    method: Vec<MethodName>,

    /// Times from the submission of a request to the first start that it allows.
    #[arg(long, value_name = "DURATION", value_delimiter = ',', default_value = "0h,2h,4h,6h,12h,24h",
        value_parser = between::<0, LONGEST>)]
    book_ahead: Vec<Seconds>,

    /// Times from the first start that a request allows to the last.
    #[arg(long, value_name = "DURATION", value_delimiter = ',', default_value = "0h,1h,2h,5h,10h,30h",
        value_parser = between::<0, LONGEST>)]
    window: Vec<Seconds>,

    /// How many draws, from --seed on. Means over draws stand with their standard errors.
    #[arg(long, value_name = "N", default_value = "1")]
    seeds: NonZeroU32,

    /// How many of the log's jobs are replayed, from its first on.
    #[arg(long, value_name = "N", default_value = "2000")]
    jobs: NonZeroUsize,

    /// How many of the log's processors a node has: sizes count whole nodes. SDSC Blue Horizon has
    /// nodes of 8 processors.
    #[arg(long, value_name = "N", default_value = "1")]
    node_processors: NonZeroU32,

    /// Give jobs that ask for more nodes than this so many (5.4).
    #[arg(long, value_name = "N")]
    most_nodes: Option<NonZeroU32>,

    /// At most so many slots of a window are looked at. What-if looks at one more: the start that
    /// the reservation would have as a job.
    #[arg(long, value_name = "N", default_value = "20")]
    slots: NonZeroUsize,

    /// The least time from one slot's start to the next one's.
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = between::<1, LONGEST>)]
    gap: Seconds,

    /// The weight of the makespan in what-if, from 0 to 1; the rest is that of the mean completion
    /// time.
    #[arg(long, value_name = "W", default_value_t = 0.5, value_parser = weight)]
    makespan_weight: f64,

    /// Which of slots that are equally good is reserved: that decides alone with --method earliest.
    #[arg(long, value_enum, value_name = "WHICH", default_value_t)]
    prefer: PreferenceName,

    /// How long before its start a slot no longer moves, with --method movable or oracle.
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = between::<0, LONGEST>)]
    notice: Seconds,

    /// How often slots are ranked anew, with --method movable or oracle; they also are when a job
    /// ends so long before its estimate.
    #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = between::<60, LONGEST>)]
    move_every: Seconds,

    /// By how much the jobs that run and wait have to end sooner for a slot to move, all together.
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = between::<1, LONGEST>)]
    least_gain: Seconds,

    /// How long jobs run in the plans of what-if, movable, oracle and earliest-delaying-nobody.
    /// Jobs are scheduled by what was requested, whatever this says. Without it estimated, and
    /// actual with --method oracle.
    #[arg(long, value_enum, value_name = "WHICH")]
    run_times: Option<RunTimesName>,

    /// Keep a request that can't be granted open until its window has passed. Without it the first
    /// answer is final.
    #[arg(long)]
    patience: bool,

    #[command(flatten)]
    common: CommonArguments,
}

/// How slots are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MethodName {
    /// Free are slots after the time at which the present workload will be done, approximately
    /// (4.1).
    Load,
    /// The best is the slot with which the jobs of the present workload end soonest, as plans with
    /// a placeholder tell (4.2).
    WhatIf,
    /// As what-if, and until shortly before its start a slot still moves inside its window where
    /// jobs then end sooner, or the reservation begins as soon as there is room.
    Movable,
    /// As movable, by plans that know each job that will come, and unless --run-times says
    /// something else, how long jobs will run: a bound on what is to be had, which nobody can
    /// reach.
    Oracle,
    /// The first slot that is free (Smith, Foster and Taylor 2000).
    Earliest,
    /// The first slot that is free and with which no job that waits starts later (Heine et al.
    /// 2005).
    EarliestDelayingNobody,
}

impl MethodName {
    fn method(self) -> PlacementMethod {
        match self {
            Self::Load => PlacementMethod::Load,
            Self::WhatIf => PlacementMethod::WhatIf,
            Self::Movable => PlacementMethod::Movable,
            Self::Oracle => PlacementMethod::Oracle,
            Self::Earliest => PlacementMethod::Earliest,
            Self::EarliestDelayingNobody => PlacementMethod::EarliestDelayingNobody,
        }
    }
}

/// How long jobs run in plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RunTimesName {
    /// As long as they were requested to run at most, as published.
    Estimated,
    /// As long as the daemon forecasts, from the jobs that have ended before.
    Forecast,
    /// As long as they will, which nobody can know.
    Actual,
}

impl RunTimesName {
    fn run_times(self) -> PlacementRunTimes {
        match self {
            Self::Estimated => PlacementRunTimes::Estimated,
            Self::Forecast => PlacementRunTimes::Forecast,
            Self::Actual => PlacementRunTimes::Actual,
        }
    }
}

/// Which of slots that are equally good is reserved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum PreferenceName {
    /// The first.
    #[default]
    Earliest,
    /// The one that is nearest to the middle of the window, and of two the earlier.
    Middle,
    /// The last.
    Latest,
}

impl PreferenceName {
    fn preference(self) -> PlacementPreference {
        match self {
            Self::Earliest => PlacementPreference::Earliest,
            Self::Middle => PlacementPreference::Middle,
            Self::Latest => PlacementPreference::Latest,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  queuecast evaluate placement SDSC-BLUE-2000-4.2-cln.swf.gz --node-processors 8 --seeds 10
      the published experiments, ten draws, beside the published figures
  queuecast evaluate placement SDSC-BLUE-2000-4.2-cln.swf.gz --node-processors 8 --most-nodes 88 --window 30h
      what large jobs have to do with the delays (5.4)
  queuecast evaluate placement LOG --method what-if,earliest-delaying-nobody --book-ahead 0h,6h --window 2h --plot placed.svg
  queuecast evaluate placement LOG --format json | jq '.summary[] | [.method, .success_rate]'

Keys of --format json (one object for one LOG; for more {\"logs\": [...]}):
  log, file, jobs, processors, remarks
                     the log: jobs that are replayed, and the machine's nodes
  settings           the options: node_processors, most_nodes, made_smaller (jobs that it made smaller),
                     slots, gap_s, makespan_weight, prefer, patience, run_times, oracle_run_times,
                     notice_s, move_every_s, least_gain_s, seed, seeds
  experiments        a list: method, seed, book_ahead_s, window_s; requested and granted;
                     high_load_requested and high_load_granted, the fifth of them with the highest
                     backlog; original_makespan_s and makespan_s, without reservations and with
                     them; delayed_jobs with the means original_wait_s and affected_wait_s and the sum
                     added_wait_s; gained_jobs; net_wait_s, by how much all jobs wait longer in the
                     mean; idle_processor_s, which jobs would have had but for reservations to come;
                     moved and early, reservations that were moved or given back
  summary            by method: success_rate; small_success_rate, where book-ahead and window are at
                     most 2 hours; high_load_success_rate, and the same of the fifth of all
                     requests of a draw, high_load_of_all_success_rate; added_wait_s by window in
                     seconds, over all book-aheads: mean and standard_error over the draws;
                     makespan_growth, the least and the most, as parts
  published          null, or summary, table_1 and source";

fn weight(text: &str) -> Result<f64, String> {
    let weight = text.parse().ok().filter(|weight| (0.0..=1.0).contains(weight));
    weight.ok_or_else(|| "a weight is from 0 to 1".to_owned())
}

/// How the experiments were made.
#[derive(Debug, Clone, Serialize)]
struct Settings {
    node_processors: u32,
    most_nodes: Option<u32>,
    made_smaller: usize,
    slots: usize,
    gap_s: i64,
    makespan_weight: f64,
    prefer: PlacementPreference,
    patience: bool,
    run_times: PlacementRunTimes,
    oracle_run_times: PlacementRunTimes,
    notice_s: i64,
    move_every_s: i64,
    least_gain_s: i64,
    seed: u64,
    seeds: u32,
}

/// What was found on one log.
#[derive(Debug, Serialize)]
struct PlacementReport {
    log: String,
    file: String,
    jobs: usize,
    processors: u32,
    settings: Settings,
    #[serde(flatten)]
    found: Placements,
    /// The same at the widest window where no job asks for more than [`SMALLER_NODES`] (5.4), and
    /// how many jobs that made smaller.
    #[serde(skip)]
    smaller: Option<(Placements, usize)>,
    published: Option<Published>,
    remarks: Remarks,
}

impl OfLogs for PlacementReport {
    fn logs(&self) -> Vec<(&str, &Remarks)> {
        vec![(&self.file, &self.remarks)]
    }
}

/// A log that is replayed.
struct Replayed {
    name: String,
    source: String,
    sound: SoundJobs,
    remarks: Remarks,
    /// The jobs without large ones, where the log is the one of which there are published figures.
    smaller: Option<SoundJobs>,
}

/// The most nodes of a job where large jobs are made smaller (5.4).
const SMALLER_NODES: u32 = 88;

impl Arguments {
    fn options(&self) -> PlacementOptions {
        PlacementOptions {
            methods: self.method.iter().map(|method| method.method()).collect(),
            book_ahead: self.book_ahead.clone(),
            windows: self.window.clone(),
            probing: Probing { slots: self.slots.get(), gap: self.gap },
            makespan_weight: self.makespan_weight,
            preference: self.prefer.preference(),
            is_patient: self.patience,
            moving: self.moving(),
            run_times: self.run_times.map(RunTimesName::run_times),
            seed: self.common.seed,
            seeds: self.seeds.get(),
        }
    }

    fn moving(&self) -> Moving {
        Moving { notice: self.notice, every: self.move_every, least: self.least_gain }
    }

    fn settings(&self, options: &PlacementOptions, made_smaller: usize) -> Settings {
        Settings {
            node_processors: self.node_processors.get(),
            most_nodes: self.most_nodes.map(NonZeroU32::get),
            made_smaller,
            slots: self.slots.get(),
            gap_s: self.gap.0,
            makespan_weight: self.makespan_weight,
            prefer: options.preference,
            patience: self.patience,
            run_times: options.run_times_of(PlacementMethod::WhatIf),
            oracle_run_times: options.run_times_of(PlacementMethod::Oracle),
            notice_s: self.notice.0,
            move_every_s: self.move_every.0,
            least_gain_s: self.least_gain.0,
            seed: self.common.seed,
            seeds: self.seeds.get(),
        }
    }

    fn read(&self, path: &Path, options: &LogFileOptions) -> anyhow::Result<Replayed> {
        let source = path.display().to_string();
        let (log, remarks) = read_log(path, options)?;
        let processors = machine(&log.header, None).with_context(|| source.clone())?;
        let most_nodes = self.most_nodes.map(NonZeroU32::get);
        let sound = |most_nodes| {
            SoundJobs::of(&log, processors, self.jobs.get(), self.node_processors.get(), most_nodes).with_context(|| source.clone())
        };
        let mut named = log.header.values("Computer").chain(log.header.values("Installation"));
        let is_blue = named.any(|value| value.to_lowercase().contains("blue horizon"));
        let is_published = is_blue && (self.node_processors.get(), self.jobs.get(), most_nodes) == (8, 2_000, None);
        Ok(Replayed {
            name: log_file::name(path),
            sound: sound(most_nodes)?,
            smaller: is_published.then(|| sound(Some(SMALLER_NODES))).transpose()?,
            source,
            remarks,
        })
    }
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let reports = reports(arguments).map_err(Failure::Input)?;
    arguments.common.report(reports, picture::draw, |reports| text::report(reports.logs()))
}

fn reports(arguments: &Arguments) -> anyhow::Result<Vec<PlacementReport>> {
    let pool = arguments.common.threads(1, None)?;
    let logs = arguments.common.read_each(|path| arguments.read(path, &arguments.common.log_file))?;
    let options = arguments.options();
    let widest = options.windows.iter().max().copied().into_iter().collect();
    let widest = PlacementOptions { windows: widest, ..options.clone() };
    let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
    let bar = run::bar(&bars, "experiments");
    let smaller = logs.iter().filter(|log| log.smaller.is_some()).count();
    bar.set_length((options.experiments() * logs.len() + widest.experiments() * smaller) as u64);
    bar.enable_steady_tick(Duration::from_millis(500));
    let made = |jobs: &SoundJobs, options: &PlacementOptions| pool.install(|| placements(jobs, options, &|| bar.inc(1)));
    let report = |log: Replayed| PlacementReport {
        jobs: log.sound.jobs.len(),
        processors: log.sound.processors,
        settings: arguments.settings(&options, log.sound.made_smaller),
        found: made(&log.sound, &options),
        published: log.smaller.is_some().then(Published::all),
        smaller: log.smaller.map(|jobs| (made(&jobs, &widest), jobs.made_smaller)),
        log: log.name,
        file: log.source,
        remarks: log.remarks,
    };
    let reports = logs.into_iter().map(report).collect();
    bar.finish_and_clear();
    Ok(reports)
}

#[cfg(test)]
mod sample;

#[cfg(test)]
mod tests {
    use super::sample::report;
    use super::{picture, text, weight};
    use crate::evaluate::picture::drawn;
    use crate::evaluate::tables::line;

    #[test]
    fn a_weight_is_a_part() {
        assert_eq!((weight("0"), weight("0.25"), weight("1")), (Ok(0.0), Ok(0.25), Ok(1.0)));
        assert!(["-0.1", "1.1", "NaN", "half"].iter().all(|text| weight(text).is_err()));
    }

    #[test]
    fn json_has_the_keys_that_are_promised() {
        let json = serde_json::to_value(report(true)).unwrap();
        let has = |value: &serde_json::Value, keys: &[&str]| {
            for key in keys {
                assert!(value.get(key).is_some(), "{key} in {value}");
            }
        };
        has(&json, &["log", "file", "jobs", "processors", "settings", "experiments", "summary", "published", "remarks"]);
        let experiment = ["method", "seed", "book_ahead_s", "window_s", "requested", "granted", "high_load_granted", "makespan_s"];
        has(&json["experiments"][0], &experiment);
        let waits =
            ["delayed_jobs", "original_wait_s", "affected_wait_s", "added_wait_s", "net_wait_s", "idle_processor_s", "moved", "early"];
        has(&json["experiments"][0], &waits);
        has(&json["summary"][0], &["method", "success_rate", "small_success_rate", "high_load_success_rate"]);
        has(&json["summary"][0]["added_wait_s"]["108000"], &["mean", "standard_error"]);
        has(&json["published"]["summary"][0], &["method", "success_rate", "small_success_rate", "high_load_success_rate"]);
        assert_eq!(json["experiments"].as_array().unwrap().len(), 6 * 2 * 3 * 2);
        assert!(serde_json::to_value(report(false)).unwrap()["published"].is_null());
    }

    #[test]
    fn the_report_has_ours_beside_what_was_published() {
        let text = text::report(&[report(true)]);
        let load = line(&text, "load ");
        assert!(load.contains("(80 %)") && load.contains("(38 %)") && load.contains("(58 %)"), "{load}");
        assert!(text.contains("(284)") && text.contains("load-Maui, as published"), "table 1");
        for said in ["5.2: what-if grants 97 %", "5.3: at 12 h", "5.4: delays get much smaller", "6: what-if grants more"] {
            let statement = text.lines().find(|line| line.contains(said)).unwrap_or_else(|| panic!("{said} in {text}"));
            assert!(statement.contains("holds: ") || statement.contains("does not hold: "), "{statement}");
        }
        let alone = text::report(&[report(false)]);
        assert!(!alone.contains('(') || !alone.contains("as published"), "{alone}");
    }

    #[test]
    fn the_picture_has_a_diagram_for_each_figure() {
        let svg = drawn(|path| picture::draw(path, &[report(false), report(false)]));
        for title in [
            "a-log: utilisation without reservations",
            "a-log: backlog without reservations",
            "Requests that were granted, movable",
            "Waits that are added at the widest window, what-if",
            "The job that is delayed the longest",
        ] {
            assert_eq!(svg.matches(title).count(), 2, "{title}");
        }
    }
}
