//! What the report says: the texts, tables and pictures of each section.

use std::collections::BTreeMap;

use command_parts::log_file;
use command_parts::output::count;
use simulator::assessment::verdict::{percent, signed_percent, time};
use simulator::assessment::{Forecasts, Molded, Molding, NotSaid, Past, RunTimeForecasts, Schedulers, WaitClass};
use simulator::evaluation::IN_FORCE;

use super::Report;
use super::document::{Block, Cell, Document, Item, Section, Table, size_name, who_uses_it};
use super::picture;

/// The most queues that a table names.
const MOST_QUEUES: usize = 25;

/// The whole report.
///
/// # Errors
///
/// A picture can't be drawn.
pub(super) fn document(report: &Report) -> anyhow::Result<Document> {
    let found = &report.found;
    let item = |item: &NotSaid| Item { about: item.about.to_owned(), what: item.why.clone() };
    let mut sections = vec![read(report)];
    if found.past.says_waits {
        sections.push(waits(&found.past)?);
    }
    if let Some(forecasts) = &found.forecasts {
        sections.push(self::forecasts(forecasts)?);
    }
    if let Some(run_times) = &found.run_times {
        sections.push(run_times_alone(run_times));
    }
    if let Some(molding) = &found.molding {
        sections.push(self::molding(molding)?);
    }
    if let Some(schedulers) = &found.schedulers {
        sections.push(self::schedulers(schedulers)?);
    }
    let opening = "Each of these follows from what was read. What bears on the answer itself stands beside it above.";
    let blocks = vec![Block::Text(opening.to_owned()), Block::List(found.not_said.iter().map(item).collect())];
    sections.push(Section { id: "not-said", title: "What can't be said from this past, and why", blocks });
    let past = &found.past;
    let jobs = [past.records, past.users].map(|number| count(number as u64));
    Ok(Document {
        title: format!("Would queuecast pay on {}?", report.past_of),
        rests_on: format!(
            "From {} jobs of {} users in {:.0} days, on {} processors.",
            jobs[0],
            jobs[1],
            past.days,
            count(past.processors.into())
        ),
        verdict: found.verdict.clone(),
        limits: found.not_said.iter().filter(|item| item.is_weighty).map(item).collect(),
        sections,
    })
}

fn cells<const N: usize>(cells: [String; N]) -> Vec<Cell> {
    cells.into_iter().map(Cell::from).collect()
}

fn names<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}

fn jobs(number: usize) -> String {
    count(number as u64)
}

fn read(report: &Report) -> Section {
    let past = &report.found.past;
    let row = |what: &str, figure: String| cells([what.to_owned(), figure]);
    let mut rows = vec![
        row("jobs that were read", jobs(past.records)),
        row("that ran, and of which enough is known to forecast them", jobs(past.ran)),
        row("that were cancelled in the queue, or ended at once", jobs(past.did_not_run)),
        row("left out: not known when they left the queue, or how large they were", jobs(past.left_out)),
        row("users", jobs(past.users)),
        row("queues and partitions", jobs(past.queues)),
        row("processors", count(past.processors.into())),
        row("days from the first submission to the last end", format!("{:.0}", past.days)),
        row("of the processors' time, used by these jobs", percent(past.utilisation)),
    ];
    if past.without_limit > 0 {
        rows.push(row("without a time limit", jobs(past.without_limit)));
    }
    let table = Table { caption: "Jobs, users and processors".to_owned(), header: names(["", "figure"]), rows };
    let mut blocks = vec![Block::Table(table)];
    let of_reading = log_file::lines(&report.remarks).into_iter().map(|what| Item { about: "as it was read".to_owned(), what });
    let of_settings = report.not_modelled.iter().map(|setting| Item { about: "in slurm.conf".to_owned(), what: setting.to_string() });
    let items: Vec<Item> = of_reading.chain(of_settings).collect();
    if !items.is_empty() {
        blocks.push(Block::List(items));
    }
    Section { id: "read", title: "What was read", blocks }
}

fn sizes(class: &WaitClass) -> String {
    class.at_least_processors.map_or_else(|| "all".to_owned(), |least| size_name(least, class.at_most_processors))
}

fn wait_row(name: String, class: &WaitClass) -> Vec<Cell> {
    let waited = class.wait_s.as_ref().map(|wait| [wait.mean, wait.median, wait.p75, wait.p95].map(time));
    let mut row = vec![Cell::from(name), Cell::from(jobs(class.jobs))];
    row.extend(waited.unwrap_or_else(|| std::array::from_fn(|_| "-".to_owned())).map(Cell::from));
    row.push(class.waited_an_hour.map_or_else(|| Cell::from("-".to_owned()), |part| Cell { text: percent(part), shade: part }));
    row.extend([time(class.run_s.mean), percent(class.part_of_work)].map(Cell::from));
    row
}

const WAIT_HEADER: [&str; 9] = ["", "jobs", "mean wait", "median", "75 % within", "95 % within", "over an hour", "mean run", "of the work"];

fn waits(past: &Past) -> anyhow::Result<Section> {
    let with_name = |name: &'static str| {
        let mut header = names(WAIT_HEADER);
        header[0] = name.to_owned();
        header
    };
    let queue = |class: &WaitClass| class.queue.clone().unwrap_or_else(|| "all".to_owned());
    let mut by_queue: Vec<Vec<Cell>> = past.by_queue.iter().take(MOST_QUEUES).map(|class| wait_row(queue(class), class)).collect();
    by_queue.push(wait_row("all".to_owned(), &past.all));
    let by_size = past.by_size.iter().map(|class| wait_row(sizes(class), class)).collect();
    let mut blocks = vec![
        Block::Picture(picture::waits_by_size(past)?),
        Block::Table(Table {
            caption: "Waits by processors that were asked for".to_owned(),
            header: with_name("processors"),
            rows: by_size,
        }),
        Block::Table(Table {
            caption: "Waits by partition and queue, those with the most jobs first".to_owned(),
            header: with_name("partition"),
            rows: by_queue,
        }),
    ];
    if past.queues > 1 {
        blocks.push(Block::Table(by_both(past)));
    }
    if past.queues > MOST_QUEUES {
        blocks.push(Block::Text(format!("{} more queues are not shown; --format json has all of them.", jobs(past.queues - MOST_QUEUES))));
    }
    Ok(Section { id: "waits", title: "How long who waits", blocks })
}

/// Mean waits by queue and size, darker where they are longer.
fn by_both(past: &Past) -> Table {
    let header = std::iter::once("partition".to_owned()).chain(past.by_size.iter().map(sizes)).collect();
    let longest = past.by_queue_and_size.iter().map(WaitClass::mean_wait).fold(60.0, f64::max);
    let cell = |queue: &WaitClass, size: &WaitClass| {
        let is_here = |class: &&WaitClass| class.queue == queue.queue && class.at_least_processors == size.at_least_processors;
        past.by_queue_and_size.iter().find(is_here).map_or_else(Cell::default, |class| Cell {
            text: time(class.mean_wait()),
            shade: (class.mean_wait().max(1.0).ln() / longest.ln()).powi(3) * 0.8,
        })
    };
    let row = |queue: &WaitClass| {
        let name = Cell::from(queue.queue.clone().unwrap_or_default());
        std::iter::once(name).chain(past.by_size.iter().map(|size| cell(queue, size))).collect()
    };
    let rows = past.by_queue.iter().take(MOST_QUEUES).map(row).collect();
    Table { caption: "Mean wait by partition and processors, the longer the darker".to_owned(), header, rows }
}

/// The levels of bounds.
const LEVELS: [&str; 4] = ["0.5", "0.75", "0.9", "0.95"];

/// What methods are called, queuecast's own last.
const WAIT_METHODS: [(&str, &str); 5] = [
    ("zero", "nobody waits"),
    ("knn", "nearest neighbours"),
    ("qbets", "QBETS"),
    ("best", "queuecast's default"),
    (IN_FORCE, "queuecast, in force"),
];
const RUN_TIME_METHODS: [(&str, &str); 4] =
    [("requested", "time limit"), ("baseline", "like jobs"), ("last_two", "the user's last two"), ("best", "queuecast")];

fn figure(value: Option<&f64>, unit_s: f64) -> String {
    value.map_or_else(|| "-".to_owned(), |value| time(value * unit_s))
}

fn held(value: Option<&f64>, nominal: &str) -> Cell {
    let Some(value) = value else { return Cell::from("-") };
    let apart = nominal.parse::<f64>().map_or(0.0, |nominal| (value - nominal).abs());
    // What is as far off as what the verdict allows begins to stand out.
    Cell { text: percent(*value), shade: if apart > 0.05 { (2.0 * apart).min(0.8) } else { 0.0 } }
}

const HOUR_S: f64 = 3_600.0;
const MINUTE_S: f64 = 60.0;

fn forecasts(found: &Forecasts) -> anyhow::Result<Section> {
    let (waits, run_times) = (&found.waits, &found.run_times);
    let opening = format!(
        "The last {} jobs were forecast again, each from what was known when it was submitted; the {} before them were only learnt from. A bound of 90 % is a time that nine in ten waits should not exceed: where it holds more rarely, users are promised too much, where it holds more often, too little. In force is what users would have been told: queuecast's default, or QBETS in a partition and time in which that was better; for {} of the jobs it was the default.",
        jobs(found.jobs),
        jobs(found.history_jobs),
        percent(waits.in_force.get("blended").copied().unwrap_or(0.0))
    );
    let errors = |methods: &[(&str, &str)], mean: &dyn Fn(&str) -> String, median: &dyn Fn(&str) -> String| -> Vec<Vec<Cell>> {
        let row = |(key, name): &(&str, &str)| cells([(*name).to_owned(), mean(key), median(key)]);
        methods.iter().filter(|(key, _)| mean(key) != "-").map(row).collect()
    };
    let header = names(["forecast by", "mean error", "median error"]);
    let wait_errors = errors(&WAIT_METHODS, &|key| figure(waits.aae_hours.get(key), HOUR_S), &|key| {
        figure(waits.median_ae_hours_by_method.get(key), HOUR_S)
    });
    let run_time_errors = errors(&RUN_TIME_METHODS, &|key| figure(run_times.aae_minutes.get(key), MINUTE_S), &|key| {
        figure(run_times.median_ae_minutes.get(key), MINUTE_S)
    });
    let part_header = |what: &str| {
        let mut header = vec![what.to_owned()];
        header.extend(names([
            "jobs",
            "no bounds",
            "mean error",
            "in force",
            "neighbours'",
            "median error",
            "50 % held",
            "75 %",
            "90 %",
            "95 %",
            "run time: mean error",
            "90 %",
            "95 %",
        ]));
        header
    };
    let row = |name: String, wait: &simulator::evaluation::PartReport, run_time: Option<&simulator::evaluation::RunTimePartReport>| {
        let mut row = cells([
            name,
            jobs(wait.jobs),
            jobs(wait.jobs_without_bounds),
            figure(wait.aae_hours.get("best"), HOUR_S),
            figure(wait.aae_hours.get(IN_FORCE), HOUR_S),
            figure(wait.aae_hours.get("knn"), HOUR_S),
            figure(wait.median_ae_hours_by_method.get("best"), HOUR_S),
        ]);
        row.extend(LEVELS.map(|level| held(wait.coverage.get(level), level)));
        row.push(figure(run_time.and_then(|part| part.aae_minutes.get("best")), MINUTE_S).into());
        row.extend(["0.9", "0.95"].map(|level| held(run_time.and_then(|part| part.pit_coverage.get(level)), level)));
        row
    };
    let of_queue = |name: &str| run_times.by_queue.iter().find(|queue| queue.queue == name).map(|queue| &queue.part);
    let of_size = |least: u32| run_times.by_size.iter().find(|size| size.at_least_processors == least).map(|size| &size.part);
    let mut queues: Vec<_> = waits.by_queue.iter().collect();
    queues.sort_by_key(|queue| std::cmp::Reverse(queue.part.jobs));
    let by_queue =
        queues.into_iter().take(MOST_QUEUES).map(|queue| row(queue.queue.clone(), &queue.part, of_queue(&queue.queue))).collect();
    let by_size = waits
        .by_size
        .iter()
        .map(|size| row(size_name(size.at_least_processors, size.at_most_processors), &size.part, of_size(size.at_least_processors)));
    let of_waits = |name: &str, coverage: &BTreeMap<&'static str, f64>| {
        let mut row = vec![Cell::from(name)];
        row.extend(LEVELS.map(|level| held(coverage.get(level), level)));
        row
    };
    let mut of_run_times = vec![Cell::from("run times")];
    of_run_times.extend(LEVELS.map(|level| held(run_times.pit_coverage.get(level), level)));
    let of_qbets: Vec<Cell> = std::iter::once(Cell::from("waits, by QBETS"))
        .chain(LEVELS.map(|level| Cell::from(waits.qbets_coverage.get(level).copied().map_or_else(|| "-".to_owned(), percent))))
        .collect();
    let coverage = Table {
        caption: "How often bounds held".to_owned(),
        header: names(["bound of", "50 %", "75 %", "90 %", "95 %"]),
        rows: vec![
            of_waits("waits, by default", &waits.coverage),
            of_waits("waits, in force", &waits.in_force_coverage),
            of_qbets,
            of_run_times,
        ],
    };
    let blocks = vec![
        Block::Text(opening),
        Block::Table(Table { caption: "Waits: how far forecasts were off".to_owned(), header: header.clone(), rows: wait_errors }),
        Block::Table(Table { caption: "Run times: how far forecasts were off".to_owned(), header, rows: run_time_errors }),
        Block::Table(coverage),
        Block::Picture(picture::reliability(found)?),
        Block::Picture(picture::errors_by_wait(waits)?),
        Block::Table(Table { caption: "Waits by partition and queue".to_owned(), header: part_header("partition"), rows: by_queue }),
        Block::Table(Table {
            caption: "Waits by processors that were asked for".to_owned(),
            header: part_header("processors"),
            rows: by_size.collect(),
        }),
    ];
    Ok(Section { id: "forecasts", title: "How well waits and run times would have been forecast", blocks })
}

/// Forecasts of run times, where the past says no waits.
fn run_times_alone(found: &RunTimeForecasts) -> Section {
    let opening = format!(
        "The past does not say how long jobs waited. The run times of its last {} jobs were forecast again, each as if every job before had started when it was submitted; the {} before them were only learnt from.",
        jobs(found.jobs),
        jobs(found.history_jobs)
    );
    let run_times = &found.run_times;
    let row = |(key, name): &(&str, &str)| {
        let errors = [run_times.aae_minutes.get(key), run_times.median_ae_minutes.get(key)];
        let [mean, median] = errors.map(|error| figure(error, MINUTE_S));
        cells([(*name).to_owned(), mean, median])
    };
    let rows = RUN_TIME_METHODS.iter().filter(|(key, _)| run_times.aae_minutes.contains_key(key)).map(row).collect();
    let mut of_run_times = vec![Cell::from("run times")];
    of_run_times.extend(LEVELS.map(|level| held(run_times.pit_coverage.get(level), level)));
    let blocks = vec![
        Block::Text(opening),
        Block::Table(Table {
            caption: "Run times: how far forecasts were off".to_owned(),
            header: names(["forecast by", "mean error", "median error"]),
            rows,
        }),
        Block::Table(Table {
            caption: "How often bounds held".to_owned(),
            header: names(["bound of", "50 %", "75 %", "90 %", "95 %"]),
            rows: vec![of_run_times],
        }),
    ];
    Section { id: "run-times", title: "How well run times would have been forecast", blocks }
}

fn molding(found: &Molding) -> anyhow::Result<Section> {
    let opening = format!(
        "Molding runs a job on the number of processors on which it is forecast to be done first. The last {} jobs are replayed with it and without, {}; the {} before them are history. A job is the same computation at every size: how well it runs there is drawn for each application, three times, because no past says it.",
        jobs(found.jobs),
        found.by_scheduler.iter().map(|molded| molded.under.how()).collect::<Vec<_>>().join(" and "),
        jobs(found.history_jobs)
    );
    let mut blocks = vec![Block::Text(opening), Block::Picture(picture::molding(found)?)];
    blocks.extend(found.by_scheduler.iter().map(|molded| Block::Table(molded_table(molded))));
    blocks.push(Block::Text("\"The others\" are the jobs whose users don't use it: what stands there above 0 is the price that they pay. Users are drawn job by job, so that both groups are alike.".to_owned()));
    Ok(Section { id: "molding", title: "What molding would do, and its price", blocks })
}

fn molded_table(molded: &Molded) -> Table {
    let mut rows = Vec::new();
    for adoption in &molded.adoptions {
        let who = who_uses_it(adoption);
        for (place, draw) in adoption.draws.iter().enumerate() {
            let change = |from: f64, to: f64| signed_percent(if from > 0.0 { to / from - 1.0 } else { 0.0 });
            let of_others =
                if draw.others.jobs > 0 { change(draw.others.baseline_response_s, draw.others.response_s) } else { "-".to_owned() };
            rows.push(cells([
                format!("{who}, draw {}", place + 1),
                time(draw.baseline.mean_response_s),
                time(draw.ours.mean_response_s),
                change(draw.baseline.mean_response_s, draw.ours.mean_response_s),
                change(draw.baseline.p95_response_s, draw.ours.p95_response_s),
                change(draw.adopters.baseline_response_s, draw.adopters.response_s),
                of_others,
                jobs(draw.changed.smaller),
                jobs(draw.changed.larger),
            ]));
        }
    }
    let header = names([
        "",
        "mean response",
        "with molding",
        "change",
        "95th percentile",
        "those who use it",
        "the others",
        "made smaller",
        "larger",
    ]);
    Table { caption: format!("From submission to end, without molding and with it, {}", molded.under.how()), header, rows }
}

fn schedulers(found: &Schedulers) -> anyhow::Result<Section> {
    let first = if found.is_site_known { "the site's own settings" } else { "Slurm's default settings, because no slurm.conf was given" };
    let opening = format!(
        "The last {} jobs are replayed under {first}, with one setting changed at a time, and under other schedulers; the {} before them fill the machine. Moving every submission by up to a minute changes the mean response by up to {}: smaller differences say nothing. Slurm's schedulers are a model here, which was held against a real Slurm on a small cluster only.",
        jobs(found.jobs),
        jobs(found.history_jobs),
        percent(found.chance)
    );
    let own_s = found.schedules.first().map_or(0.0, |first| first.response_s.mean);
    let mut rows: Vec<Vec<Cell>> = found
        .schedules
        .iter()
        .map(|schedule| {
            let change = schedule.response_s.mean / own_s.max(1.0) - 1.0;
            let apart = if change.abs() > found.chance { signed_percent(change) } else { format!("({})", signed_percent(change)) };
            cells([
                format!("{}: {}", schedule.name, schedule.what),
                time(schedule.wait_s.mean),
                time(schedule.wait_s.median),
                time(schedule.wait_s.p95),
                format!("{:.1}", schedule.bounded_slowdown.mean),
                time(schedule.response_s.mean),
                apart,
            ])
        })
        .collect();
    if let Some(logged) = &found.logged_wait_s {
        let mut in_fact = cells([time(logged.mean), time(logged.median), time(logged.p95)]);
        in_fact.insert(0, Cell::from("for comparison: what was waited in fact"));
        in_fact.extend(["", "", ""].map(Cell::from));
        rows.push(in_fact);
    }
    let header = names(["", "mean wait", "median wait", "95 % within", "mean slowdown", "mean response", "change"]);
    let blocks = vec![
        Block::Text(opening),
        Block::Picture(picture::schedulers(found)?),
        Block::Table(Table {
            caption: "Waits and responses by scheduler and setting; changes in brackets are within chance".to_owned(),
            header,
            rows,
        }),
    ];
    Ok(Section { id: "schedulers", title: "What other settings and schedulers would do", blocks })
}
