//! Draws a workload log from the model.

use job_types::time::{Seconds, UnixTime};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::users::{Run, Users};
use super::{Arrivals, InvalidOption, Kind, Mix, Model};
use crate::engine::backfill::Easy;
use crate::engine::estimates::Requested;
use crate::engine::order::FirstCome;
use crate::engine::policy::AsSubmitted;
use crate::engine::{self, Job, Machine, Scheduler};
use crate::swf::{Header, Log, Record, Status};

/// The workload that is to be made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Jobs in the log.
    pub jobs: u64,
    /// Processors of the machine.
    pub processors: u64,
    /// Users.
    pub users: u64,
    /// The share of the machine that the jobs ask for, from the first submission to the last;
    /// `None` leaves the arrivals as published. From about 0.9 on the queue grows without end.
    pub load: Option<f64>,
    /// Which of the published parameter sets.
    pub mix: Mix,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { jobs: 20_000, processors: 128, users: 64, load: Some(0.75), mix: Mix::default(), seed: 1 }
    }
}

/// A job as the published model has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelJob {
    /// Seconds from a midnight.
    pub submit_time_seconds: f64,
    /// Batch or interactive.
    pub kind: Kind,
    /// Processors that it asks for.
    pub processors: u64,
    /// The exponential of the model's logarithm, not rounded.
    pub run_time_seconds: f64,
}

/// The random numbers of one purpose, so that a change in one does not move the others.
fn random(seed: u64, purpose: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(purpose);
    random
}

const FOR_JOBS: u64 = 0;
const FOR_USERS: u64 = 1;
const FOR_ARRIVALS: u64 = 2;

/// One kind of jobs and its arrivals.
struct Stream {
    arrivals: Arrivals,
    random: ChaCha8Rng,
    /// The interarrival that led to `next_seconds`.
    interarrival: f64,
    next_seconds: f64,
}

impl Stream {
    fn draw_next(&mut self) {
        self.interarrival = self.arrivals.draw_interarrival(&mut self.random);
        self.next_seconds = self.arrivals.advance(self.interarrival);
    }
}

fn models(mix: Mix, processors: u64) -> Result<Vec<(Kind, Model)>, InvalidOption> {
    mix.streams().iter().map(|(kind, parameters)| Ok((*kind, Model::new(parameters, processors)?))).collect()
}

/// The arrivals of all kinds, merged: the stream, the interarrival within it, and the moment.
fn merged_arrivals(mix: Mix, seed: u64) -> Result<impl Iterator<Item = (usize, f64, f64)>, InvalidOption> {
    let mut streams = Vec::new();
    for (number, (_, parameters)) in (0..).zip(mix.streams()) {
        let arrivals = Arrivals::new(&parameters.arrivals)?;
        let random = random(seed, FOR_ARRIVALS + number);
        let mut stream = Stream { arrivals, random, interarrival: 0.0, next_seconds: 0.0 };
        stream.draw_next();
        streams.push(stream);
    }
    Ok(std::iter::from_fn(move || {
        let next = (0..streams.len()).min_by(|&a, &b| streams[a].next_seconds.total_cmp(&streams[b].next_seconds))?;
        let stream = &mut streams[next];
        let arrival = (next, stream.interarrival, stream.next_seconds);
        stream.draw_next();
        Some(arrival)
    }))
}

/// Jobs as the published model draws them, each by itself, in the order of submission.
///
/// # Errors
///
/// [`InvalidOption`] for a machine without processors.
pub fn jobs(mix: Mix, processors: u64, count: usize, seed: u64) -> Result<Vec<ModelJob>, InvalidOption> {
    let models = models(mix, processors)?;
    let mut random = random(seed, FOR_JOBS);
    Ok(merged_arrivals(mix, seed)?
        .take(count)
        .map(|(stream, _, submit_time_seconds)| {
            let (kind, model) = &models[stream];
            let processors = model.size(&mut random);
            let run_time_seconds = model.log_run_time(processors, &mut random).exp();
            ModelJob { submit_time_seconds, kind: *kind, processors, run_time_seconds }
        })
        .collect())
}

/// A submission before its time is settled.
struct Submission {
    stream: usize,
    interarrival: f64,
    submit_time_seconds: f64,
    run: Run,
}

/// A whole log: jobs of users, with time limits, queues and waits.
///
/// # Errors
///
/// [`InvalidOption`] if a count is zero or the load is not a positive number.
pub fn workload(options: &Options) -> Result<Log, InvalidOption> {
    if options.load.is_some_and(|load| !(load.is_finite() && load > 0.0)) {
        return Err(InvalidOption("the load has to be a positive number, such as 0.75"));
    }
    if options.jobs == 0 {
        return Err(InvalidOption("a workload needs at least one job"));
    }
    let count = usize::try_from(options.jobs).map_err(|_| InvalidOption("so many jobs do not fit into memory"))?;
    let models = models(options.mix, options.processors)?;
    let mut users = Users::new(options.users, &models, options.processors, &mut random(options.seed, FOR_USERS))?;
    let mut random = random(options.seed, FOR_JOBS);
    let mut submissions: Vec<Submission> = merged_arrivals(options.mix, options.seed)?
        .take(count)
        .map(|(stream, interarrival, submit_time_seconds)| {
            let (kind, model) = &models[stream];
            let run = users.next_run(*kind, model, &mut random);
            Submission { stream, interarrival, submit_time_seconds, run }
        })
        .collect();
    if let Some(load) = options.load {
        scale_arrivals(&mut submissions, options, load)?;
    }
    let records = scheduled(&submissions, options.processors)?;
    let kinds: Vec<Kind> = models.iter().map(|(kind, _)| *kind).collect();
    let records = (1..)
        .zip(&submissions)
        .zip(&records)
        .map(|((number, submission), scheduled)| record(number, kinds[submission.stream], &submission.run, scheduled))
        .collect();
    Ok(Log { header: header(options), records })
}

/// What becomes of the jobs under first come, first served with EASY backfilling.
fn scheduled(submissions: &[Submission], processors: u64) -> Result<Vec<engine::Record>, InvalidOption> {
    const TOO_LARGE: InvalidOption = InvalidOption("so large a machine, or so long a job, can't be scheduled");
    let seconds = |seconds: u64| i64::try_from(seconds).map(Seconds).map_err(|_| TOO_LARGE);
    let size = |processors: u64| u32::try_from(processors).map_err(|_| TOO_LARGE);
    let job = |submission: &Submission| {
        let run = &submission.run;
        Ok(Job {
            submit: UnixTime(submission.submit_time_seconds as i64),
            run_time: seconds(run.run_time_seconds)?,
            estimate: seconds(run.time_limit_seconds)?,
            processors: size(run.processors)?,
            ..Job::default()
        })
    };
    let jobs = submissions.iter().map(job).collect::<Result<Vec<Job>, InvalidOption>>()?;
    let mut easy = Scheduler { order: Box::new(FirstCome), backfill: Box::new(Easy::default()), estimates: Box::new(Requested) };
    engine::simulate(&jobs, &Machine::new(size(processors)?), &mut easy, &mut AsSubmitted)
        .map_err(|_| InvalidOption("the model drew a job larger than the machine"))
}

/// Stretches or compresses the interarrival times until the jobs ask for the wanted share of the
/// machine. The daily cycle stays.
fn scale_arrivals(submissions: &mut [Submission], options: &Options, load: f64) -> Result<(), InvalidOption> {
    let work: f64 = submissions.iter().map(|job| job.run.processors as f64 * job.run.run_time_seconds as f64).sum();
    let wanted_span = work / (load * options.processors as f64);
    let mut factor = 1.0;
    // The span grows nearly in proportion to the factor: a few rounds settle it.
    for _ in 0..4 {
        let first = submissions.iter().map(|job| job.submit_time_seconds).fold(f64::INFINITY, f64::min);
        let last = submissions.iter().map(|job| job.submit_time_seconds).fold(0.0, f64::max);
        let span = last - first;
        if span <= 0.0 {
            return Ok(());
        }
        factor *= wanted_span / span;
        let mut arrivals = Vec::new();
        for (_, parameters) in options.mix.streams() {
            arrivals.push(Arrivals::new(&parameters.arrivals)?);
        }
        // The jobs within a stream stay in order under any factor.
        for job in submissions.iter_mut() {
            job.submit_time_seconds = arrivals[job.stream].advance(job.interarrival * factor);
        }
    }
    submissions.sort_by(|a, b| a.submit_time_seconds.total_cmp(&b.submit_time_seconds));
    Ok(())
}

const SHORT_SECONDS: u64 = 2 * 3600;
const MEDIUM_SECONDS: u64 = 12 * 3600;
const QUEUES: [&str; 4] = ["interactive", "short", "medium", "long"];

/// The queue of a job, by kind and time limit; its number is the place in [`QUEUES`].
fn queue(kind: Kind, time_limit_seconds: u64) -> u64 {
    match (kind, time_limit_seconds) {
        (Kind::Interactive, _) => 0,
        (Kind::Batch, ..=SHORT_SECONDS) => 1,
        (Kind::Batch, ..=MEDIUM_SECONDS) => 2,
        (Kind::Batch, _) => 3,
    }
}

fn record(number: u64, kind: Kind, run: &Run, scheduled: &engine::Record) -> Record {
    Record {
        job_number: number,
        submit_time_seconds: u64::try_from(scheduled.submit.0).ok(),
        wait_time_seconds: u64::try_from(scheduled.wait().0).ok(),
        run_time_seconds: Some(run.run_time_seconds),
        allocated_processors: Some(run.processors),
        requested_processors: Some(run.processors),
        requested_time_seconds: Some(run.time_limit_seconds),
        status: Some(if run.completed { Status::Completed } else { Status::Failed }),
        user: Some(run.user),
        group: Some(run.group),
        executable: Some(run.application),
        queue: Some(queue(kind, run.time_limit_seconds)),
        partition: Some(1),
        ..Record::default()
    }
}

fn header(options: &Options) -> Header {
    let mut header = Header::new();
    let mut push = |key: &str, value: String| header.push(key, &value);
    push("Version", "2.2".into());
    push("Computer", "a model of a parallel machine".into());
    push("Note", "made by the Lublin-Feitelson workload model (JPDC 63(11), 2003), with users, estimates and EASY backfilling".into());
    let mix = match options.mix {
        Mix::Typeless => "all jobs alike",
        Mix::BatchAndInteractive => "batch and interactive jobs",
    };
    let load = options.load.map_or("as published".into(), |load| load.to_string());
    push("Note", format!("{mix}; users {}, load {load}, seed {}", options.users, options.seed));
    push("MaxJobs", options.jobs.to_string());
    push("MaxRecords", options.jobs.to_string());
    push("Preemption", "No".into());
    // A Monday at midnight: the daily cycle begins there.
    push("UnixStartTime", "1704067200".into());
    push("TimeZoneString", "UTC".into());
    push("MaxNodes", options.processors.to_string());
    push("MaxProcs", options.processors.to_string());
    push("MaxQueues", QUEUES.len().to_string());
    for (number, name) in QUEUES.iter().enumerate() {
        push("Queue", format!("{number}  {name}"));
    }
    push("MaxPartitions", "1".into());
    push("Partition", "1  batch".into());
    header
}
