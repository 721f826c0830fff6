//! What Prometheus is told, in the OpenMetrics text format, on a loopback address.

pub(crate) mod changes;
pub(crate) mod deadlines;
pub(crate) mod filter_counters;
pub(crate) mod firm_slots;
pub(crate) mod guard;
pub(crate) mod kept_sums;
pub(crate) mod listener;
pub(crate) mod named_partitions;
pub(crate) mod promises;
pub(crate) mod rule_counters;
pub(crate) mod rules;

use std::fmt;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use job_types::record::WaitSource;
use job_types::time::UnixTime;
use predictor_core::decisions::counters::Counted;
use predictor_core::forecasts::reliability::{DECISION_LEVELS, PartitionScore};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use rules_compiler::in_force::LoadState;
use simulator::guard::state::Guard;

use crate::clock::now;
use crate::failure::Failure;
use crate::known::cluster::{Cluster, Ended};
use crate::message::Learnt;
use crate::metrics::changes::ChangeMetrics;
use crate::metrics::deadlines::DeadlineMetrics;
use crate::metrics::firm_slots::FirmSlotMetrics;
use crate::metrics::guard::GuardMetrics;
use crate::metrics::promises::PromiseMetrics;
use crate::metrics::rules::RuleMetrics;
use crate::publish::publisher::Published;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The service that a reading comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    Accounting,
    Controller,
}

impl Source {
    /// The name of the daemon that answers.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Accounting => "slurmdbd",
            Self::Controller => "slurmctld",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SourceLabel {
    source: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabel {
    state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EventLabel {
    event: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PartitionLabel {
    partition: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SourceOfPartitionLabel {
    partition: String,
    source: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LevelLabel {
    partition: String,
    level: &'static str,
}

type Shares = Family<LevelLabel, Gauge<f64, AtomicU64>>;

/// What is counted and measured.
#[derive(Debug)]
pub(crate) struct Metrics {
    generation: Gauge,
    length: Gauge,
    publishing: Histogram,
    publish_errors: Counter,
    ended_jobs: Counter,
    jobs: Family<StateLabel, Gauge>,
    source_up: Family<SourceLabel, Gauge>,
    source_errors: Family<SourceLabel, Counter>,
    controller_ahead: Gauge,
    configuration_good: Gauge,
    learner_up: Gauge,
    learning: Histogram,
    late_events: Counter,
    planning: Histogram,
    plans_missed: Counter,
    coverage: Shares,
    jobs_scored: Family<PartitionLabel, Gauge>,
    median_error: Family<PartitionLabel, Gauge<f64, AtomicU64>>,
    forecasts_in_force: Family<SourceOfPartitionLabel, Gauge>,
    changes: ChangeMetrics,
    promises: PromiseMetrics,
    deadlines: DeadlineMetrics,
    firm_slots: FirmSlotMetrics,
    rules: RuleMetrics,
    guard: GuardMetrics,
    ages: Arc<Ages>,
}

/// When things last happened, as Unix seconds; 0 is never. At each scrape their ages follow.
#[derive(Debug, Default)]
struct Ages {
    published: AtomicI64,
    accounting: AtomicI64,
    controller: AtomicI64,
}

impl Metrics {
    /// All metrics at zero, in a registry of their own.
    pub(crate) fn new(counters_file: PathBuf, rule_counters_file: PathBuf) -> (Self, Registry) {
        let mut registry = Registry::with_prefix("queuecast");
        let metrics = Self {
            generation: Gauge::default(),
            length: Gauge::default(),
            publishing: Histogram::new([0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0]),
            publish_errors: Counter::default(),
            ended_jobs: Counter::default(),
            jobs: Family::default(),
            source_up: Family::default(),
            source_errors: Family::default(),
            controller_ahead: Gauge::default(),
            configuration_good: Gauge::default(),
            learner_up: Gauge::default(),
            learning: Histogram::new([0.01, 0.05, 0.1, 0.5, 1.0, 10.0, 60.0, 300.0]),
            late_events: Counter::default(),
            planning: Histogram::new([0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 10.0]),
            plans_missed: Counter::default(),
            coverage: Family::default(),
            jobs_scored: Family::default(),
            median_error: Family::default(),
            forecasts_in_force: Family::default(),
            changes: ChangeMetrics::registered(&mut registry),
            promises: PromiseMetrics::registered(&mut registry),
            deadlines: DeadlineMetrics::registered(&mut registry),
            firm_slots: FirmSlotMetrics::registered(&mut registry),
            rules: RuleMetrics::registered(&mut registry, rule_counters_file),
            guard: GuardMetrics::registered(&mut registry),
            ages: Arc::default(),
        };
        for source in [Source::Accounting, Source::Controller].map(|source| SourceLabel { source: source.name() }) {
            metrics.source_up.get_or_create(&source).set(0);
            let _at_zero = metrics.source_errors.get_or_create(&source);
        }
        registry.register("snapshot_generation", "Number of the snapshot in place", metrics.generation.clone());
        registry.register_with_unit("snapshot", "Length of the snapshot in place", Unit::Bytes, metrics.length.clone());
        registry.register_with_unit("publishing", "Time to fit and publish one snapshot", Unit::Seconds, metrics.publishing.clone());
        registry.register("publish_errors", "Snapshots that could not be put in place", metrics.publish_errors.clone());
        registry.register("ended_jobs_read", "Records of ended jobs that were read, each once", metrics.ended_jobs.clone());
        registry.register("jobs", "Jobs in the queue", metrics.jobs.clone());
        registry.register("source_up", "Whether the source answered when it was last asked", metrics.source_up.clone());
        registry.register("source_errors", "Questions that the source did not answer", metrics.source_errors.clone());
        registry.register_with_unit(
            "controller_clock_ahead",
            "How far slurmctld's clock is ahead of this machine's",
            Unit::Seconds,
            metrics.controller_ahead.clone(),
        );
        registry.register(
            "configuration_good",
            "Whether the configuration in force is what the file says",
            metrics.configuration_good.clone(),
        );
        metrics.learner_up.set(1);
        registry.register("learner_up", "Whether waits are learnt from", metrics.learner_up.clone());
        registry.register_with_unit(
            "learning",
            "Time to learn what is new, the first time with training",
            Unit::Seconds,
            metrics.learning.clone(),
        );
        registry.register("late_events", "Arrivals, starts and ends that became known after later ones", metrics.late_events.clone());
        registry.register_with_unit("planning", "Time to plan the queue", Unit::Seconds, metrics.planning.clone());
        registry.register("plans_missed", "Snapshots that went without a plan of the queue", metrics.plans_missed.clone());
        registry.register(
            "wait_forecast_coverage",
            "Share of the latest jobs scored that waited at most as long as the default forecast's bound at this level",
            metrics.coverage.clone(),
        );
        registry.register("wait_forecast_jobs_scored", "Jobs that these shares rest on", metrics.jobs_scored.clone());
        registry.register_with_unit(
            "wait_forecast_median_error",
            "Median absolute error of the default forecast's points",
            Unit::Seconds,
            metrics.median_error.clone(),
        );
        registry.register(
            "wait_forecast_in_force",
            "Which forecasts of waits are in force in a partition: 1 for those, 0 for the others",
            metrics.forecasts_in_force.clone(),
        );
        registry.register_collector(Box::new(Arc::clone(&metrics.ages)));
        registry.register_collector(Box::new(FilterCounters { file: counters_file }));
        (metrics, registry)
    }

    /// A snapshot is in place.
    pub(crate) fn published(&self, published: &Published) {
        self.generation.set(i64::try_from(published.generation).unwrap_or(i64::MAX));
        self.length.set(i64::try_from(published.length).unwrap_or(i64::MAX));
        self.publishing.observe((published.fitting + published.writing).as_secs_f64());
        self.ages.published.store(published.published_at.0, Ordering::Relaxed);
    }

    /// A snapshot could not be put in place.
    pub(crate) fn not_published(&self) {
        self.publish_errors.inc();
    }

    /// Counts ended jobs that were read.
    pub(crate) fn read_jobs(&self, count: usize) {
        self.ended_jobs.inc_by(u64::try_from(count).unwrap_or(u64::MAX));
    }

    /// Counts submissions to a partition that were refused for their deadlines.
    pub(crate) fn refused(&mut self, partition: &str, count: u64) {
        self.deadlines.refused(partition, count);
    }

    /// Counts what became of the reservations and the deadlines of ended jobs.
    pub(crate) fn promises(&mut self, jobs: &[Ended]) {
        let runs = jobs.iter().map(|run| (run.id.job, &run.job.submitted.partition, run.promise.as_ref()));
        self.promises.count(runs, UnixTime(now()));
        self.deadlines.count(jobs.iter().map(|run| (&*run.job.submitted.partition, run.admission.as_ref())));
    }

    /// Sets what is known of the queue from slurmctld's answer.
    pub(crate) fn queue(&mut self, cluster: &Cluster) {
        self.controller_ahead.set(cluster.controller_ahead.map_or(0, |ahead| ahead.0));
        self.promises.know(cluster.partitions.iter().map(|partition| &*partition.name));
        let runs = cluster.jobs.iter().map(|job| (job.run.id.job, job.partition(), job.run.promise.as_ref()));
        self.promises.count(runs, cluster.read_at);
        let admitted = cluster.jobs.iter().filter_map(|job| Some((&**job.partition(), job.run.tasks, job.run.admission.as_ref()?)));
        self.deadlines.set(cluster.partitions.iter().map(|partition| &*partition.name), admitted);
        let count = |has_nodes| {
            let jobs = cluster.jobs.iter().filter(|job| job.run.job.start().is_some() == has_nodes);
            jobs.map(|job| i64::from(job.run.tasks)).sum()
        };
        self.jobs.get_or_create(&StateLabel { state: "running" }).set(count(true));
        self.jobs.get_or_create(&StateLabel { state: "pending" }).set(count(false));
    }

    /// A source has answered, or not.
    pub(crate) fn source(&self, source: Source, answered: bool) {
        let label = SourceLabel { source: source.name() };
        self.source_up.get_or_create(&label).set(answered.into());
        if answered {
            let age = match source {
                Source::Accounting => &self.ages.accounting,
                Source::Controller => &self.ages.controller,
            };
            age.store(now(), Ordering::Relaxed);
        } else {
            self.source_errors.get_or_create(&label).inc();
        }
    }

    /// Sets what the learner reports with a model.
    pub(crate) fn learnt(&self, learnt: &Learnt) {
        self.learning.observe(learnt.took.as_secs_f64());
        self.late_events.inc_by(u64::try_from(learnt.late).unwrap_or(u64::MAX));
    }

    /// Sets how long planning the queue took.
    pub(crate) fn planned(&self, took: Duration) {
        self.planning.observe(took.as_secs_f64());
    }

    /// A snapshot went without a plan although there is a queue.
    pub(crate) fn not_planned(&self) {
        self.plans_missed.inc();
    }

    /// Notes that nothing will be learnt any more.
    pub(crate) fn learner_died(&self) {
        self.learner_up.set(0);
    }

    /// How well the default forecasts do in a partition, and which are in force.
    pub(crate) fn score(&self, partition: &str, score: &PartitionScore) {
        let partition_label = PartitionLabel { partition: partition.to_owned() };
        self.jobs_scored.get_or_create(&partition_label).set(i64::from(score.jobs));
        self.median_error.get_or_create(&partition_label).set(f64::from(score.median_error_s));
        for (level, place) in DECISION_LEVELS {
            let share = score.reliability.get(place).copied().unwrap_or_default();
            self.coverage.get_or_create(&LevelLabel { partition: partition.to_owned(), level }).set(f64::from(share));
        }
        for source in WaitSource::ALL {
            let label = SourceOfPartitionLabel { partition: partition.to_owned(), source: source.name() };
            self.forecasts_in_force.get_or_create(&label).set((score.source == source).into());
        }
    }

    /// What is counted of changes of jobs, for the thread that makes them.
    pub(crate) fn changes(&self) -> ChangeMetrics {
        self.changes.clone()
    }

    /// What is counted of firm slots, for the thread that looks after them.
    pub(crate) fn firm_slots(&self) -> FirmSlotMetrics {
        self.firm_slots.clone()
    }

    /// What the guard has found.
    pub(crate) fn guard(&mut self, guard: &Guard) {
        self.guard.set(guard);
    }

    /// Counts a replay of the past by the guard.
    pub(crate) fn replayed(&self, has_succeeded: bool) {
        self.guard.count(has_succeeded);
    }

    /// What became of the site's own rules.
    pub(crate) fn rules(&self, state: &LoadState) {
        self.rules.set(state);
    }

    /// Notes that the site's own rules can't be taken up.
    pub(crate) fn rules_fail(&self) {
        self.rules.fail();
    }

    /// Whether the configuration in force is what the file says.
    pub(crate) fn configuration(&self, good: bool) {
        self.configuration_good.set(good.into());
    }
}

impl Collector for Ages {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let age = |moment: &AtomicI64| {
            let moment = moment.load(Ordering::Relaxed);
            (moment != 0).then(|| ConstGauge::new((now() - moment).max(0)))
        };
        if let Some(age) = age(&self.published) {
            let metric =
                encoder.encode_descriptor("snapshot_age", "Age of the snapshot in place", Some(&Unit::Seconds), MetricType::Gauge)?;
            age.encode(metric)?;
        }
        let sources = [(Source::Accounting, &self.accounting), (Source::Controller, &self.controller)];
        let mut metric =
            encoder.encode_descriptor("source_age", "Time since the source last answered", Some(&Unit::Seconds), MetricType::Gauge)?;
        for (source, moment) in sources {
            if let Some(age) = age(moment) {
                age.encode(metric.encode_family(&SourceLabel { source: source.name() })?)?;
            }
        }
        Ok(())
    }
}

/// What the filter counted, from the file that this daemon keeps. Without the file, or with a
/// damaged one, nothing is told.
#[derive(Debug)]
struct FilterCounters {
    file: PathBuf,
}

impl Collector for FilterCounters {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let Some(counted) = kept_sums::read::<Counted>(&self.file) else { return Ok(()) };
        let mut metric =
            encoder.encode_descriptor("filter_events", "What the filter inside slurmctld did, by event", None, MetricType::Counter)?;
        for (event, number) in counted.named() {
            ConstCounter::new(number).encode(metric.encode_family(&EventLabel { event })?)?;
        }
        Ok(())
    }
}

/// Serves the metrics on a thread of their own, until the process ends.
///
/// # Errors
/// The address cannot be listened on.
pub(crate) fn serve(address: SocketAddr, registry: Registry) -> Result<SocketAddr, Failure> {
    let fails = |source| Failure::Metrics { address, source };
    let listener = TcpListener::bind(address).map_err(fails)?;
    listener.set_nonblocking(true).map_err(fails)?;
    let bound = listener.local_addr().map_err(fails)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().map_err(fails)?;
    let listener = {
        let _context = runtime.enter();
        tokio::net::TcpListener::from_std(listener).map_err(fails)?
    };
    let registry = Arc::new(registry);
    let answer = move || {
        let registry = Arc::clone(&registry);
        async move { scrape(&registry) }
    };
    let router = Router::new().route("/metrics", get(answer));
    let thread = std::thread::Builder::new().name("metrics".to_owned()).spawn(move || {
        runtime.block_on(listener::serve(listener, router));
    });
    thread.map_err(|source| Failure::System { what: "start a thread", source })?;
    Ok(bound)
}

type Scraped = Result<([(axum::http::HeaderName, &'static str); 1], String), axum::http::StatusCode>;

fn scrape(registry: &Registry) -> Scraped {
    let mut answer = String::new();
    match text::encode(&mut answer, registry) {
        Ok(()) => Ok(([(CONTENT_TYPE, OPEN_METRICS)], answer)),
        Err(fmt::Error) => Err(axum::http::StatusCode::INTERNAL_SERVER_ERROR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use predictor_core::decisions::counters::{COUNTERS, Counted};
    use rules_compiler::counted::CountedRules;
    use rules_compiler::in_force::{InForce, Loader};
    use slurm_conf::state_directory::{COUNTERS_ENVELOPE, RULE_COUNTERS_ENVELOPE};
    use std::fs;
    use std::io::{Read, Write};
    use std::net::TcpStream;

    fn fetch(address: SocketAddr, path: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// How many connections to an address this machine has open at its end: established ones that
    /// a program has accepted, which have an inode (proc(5), `/proc/net/tcp`).
    fn accepted_at(address: SocketAddr) -> usize {
        let port = format!(":{:04X}", address.port());
        let connections = fs::read_to_string("/proc/self/net/tcp").unwrap();
        let is_accepted = |line: &&str| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            fields[1].ends_with(&port) && fields[3] == "01" && fields[9] != "0"
        };
        connections.lines().skip(1).filter(is_accepted).count()
    }

    #[test]
    fn metrics_are_served_beside_thousands_of_connections_that_say_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("filter-counters");
        let (_metrics, registry) = Metrics::new(file.clone(), file.with_file_name("rule-counters"));
        let address = serve("127.0.0.1:0".parse().unwrap(), registry).unwrap();
        let mut idle: Vec<TcpStream> = (0..400).map(|_| TcpStream::connect(address).unwrap()).collect();
        for stream in &mut idle {
            // Half of a request is no more than none.
            let _ = stream.write_all(b"GET /metrics HT");
        }
        assert!(fetch(address, "/metrics").starts_with("HTTP/1.1 200"));
        let kept = accepted_at(address);
        assert!(kept <= listener::MOST_CONNECTIONS, "{kept} connections are kept that say nothing");
        // None of them lasts.
        let mut last = idle.pop().unwrap();
        last.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut answer = Vec::new();
        let _ = last.read_to_end(&mut answer);
        assert!(!answer.starts_with(b"HTTP/1.1 200"));
    }

    #[test]
    fn metrics_are_served_with_the_ages_and_the_filters_counters_of_the_moment() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("filter-counters");
        let (metrics, registry) = Metrics::new(file.clone(), file.with_file_name("rule-counters"));
        let address = serve("127.0.0.1:0".parse().unwrap(), registry).unwrap();
        assert!(fetch(address, "/").starts_with("HTTP/1.1 404"));
        assert!(!fetch(address, "/metrics").contains("queuecast_filter_events"));

        let mut counted = Counted::default();
        counted.take(1, &(100..100 + COUNTERS.len() as u64).collect::<Vec<_>>());
        let bytes = COUNTERS_ENVELOPE.sealed(&counted.to_bytes()).unwrap();
        fs::write(&file, &bytes).unwrap();
        metrics.source(Source::Accounting, true);
        metrics.source(Source::Controller, false);
        metrics.read_jobs(5);
        let answer = fetch(address, "/metrics");
        for line in [
            "queuecast_filter_events_total{event=\"submissions\"} 100",
            "queuecast_filter_events_total{event=\"nothing_asked\"} 101",
            "queuecast_source_up{source=\"slurmdbd\"} 1",
            "queuecast_source_up{source=\"slurmctld\"} 0",
            "queuecast_source_errors_total{source=\"slurmctld\"} 1",
            "queuecast_ended_jobs_read_total 5",
        ] {
            assert!(answer.lines().any(|other| other == line), "{line} is not in {answer}");
        }
        assert!(answer.contains("queuecast_source_age_seconds{source=\"slurmdbd\"}"), "{answer}");
        assert!(answer.trim_end().ends_with("# EOF"), "{answer}");

        assert!(!answer.contains("queuecast_rule_events"), "nothing was counted of rules");

        fs::write(&file, &bytes[..40]).unwrap();
        assert!(!fetch(address, "/metrics").contains("queuecast_filter_events"), "a damaged file tells nothing");
    }

    #[test]
    fn metrics_of_rules_are_by_rule_and_bounded() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("rule-counters");
        let (metrics, registry) = Metrics::new(directory.path().join("filter-counters"), file.clone());
        let address = serve("127.0.0.1:0".parse().unwrap(), registry).unwrap();
        let names: Vec<String> = (0..300).map(|number| format!("rule-{number}")).collect();
        let mut counted = CountedRules::begun(5);
        counted.take(1, &names, &vec![[9, 4, 0, 2, 0, 0, 50, 1_500_000_000]; names.len()]);
        fs::write(&file, RULE_COUNTERS_ENVELOPE.sealed(&counted.to_bytes()).unwrap()).unwrap();
        let in_force = InForce { since: 77, by: Loader::Daemon, number: String::new(), rules: 300, files: Vec::new() };
        metrics.rules(&LoadState { errors: vec!["x".to_owned()], in_force: Some(in_force), ..LoadState::default() });
        let answer = fetch(address, "/metrics");
        for line in [
            "queuecast_rules 300",
            "queuecast_rules_broken 1",
            "queuecast_rules_loaded_timestamp_seconds 77",
            "queuecast_rule_events_total{rule=\"rule-0\",event=\"asked\"} 9",
            "queuecast_rule_events_total{rule=\"rule-199\",event=\"refused\"} 2",
            "queuecast_rule_events_total{rule=\"(others)\",event=\"matched\"} 400",
            "queuecast_rule_steps_total{rule=\"rule-7\"} 50",
            "queuecast_rule_time_seconds_total{rule=\"rule-7\"} 1.5",
        ] {
            assert!(answer.lines().any(|other| other == line), "{line} is not in {answer}");
        }
        assert!(!answer.contains("rule-200"), "further rules are summed");
        metrics.rules(&LoadState::default());
        assert!(fetch(address, "/metrics").lines().any(|line| line == "queuecast_rules_broken 0"));
    }
}
