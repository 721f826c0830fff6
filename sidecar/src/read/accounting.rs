//! The thread that reads ended jobs from slurmdbd.
//!
//! At the start it reads backwards, newest first, so that early snapshots already rest on what
//! matters most. From then on it reads what has ended since, and a little more: records arrive
//! late, some seconds always, and hours when slurmctld could not reach slurmdbd and hands its
//! backlog over. So a recent stretch is read again and again, a day of it every hour and what an
//! outage covered for a while after it; [`Seen`] keeps a record from being passed on twice. Where
//! slurmctld alone could not reach slurmdbd, however long, the jobs that it showed to have ended
//! say from when on to read again ([`Awaited`]).
//!
//! When the clock is set back, everything that was read is dated ahead: the reader starts afresh,
//! and says so before what it reads then.

use job_types::number::QosId;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender};
use job_types::job::{EndedJob, WaitingJob};
use job_types::promise::SlotAsked;
use job_types::record::waited_on_nodes;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use learning::{AdmissionOutcome, PromiseOutcome, RecordedForecast, Run, RunId};
use slurm_conf::configuration::HistorySettings;
use slurm_sys::client::{AccountingConnection, ClientError, EndedJobRecord, WindowWidth};

use crate::clock::ClockWatch;
use crate::clock::now;
use crate::known::awaited::Awaited;
use crate::known::checkpoint::Reading;
use crate::known::cluster::{Cluster, Ended};
use crate::known::genuine::Genuine;
use crate::known::names::{first_partition, shared};
use crate::known::seen::Seen;
use crate::message::{AccountingRead, Message};
use crate::read::earlier_clusters::{EarlierClusters, Stretch};

/// How much is read again each time.
const OVERLAP_SECONDS: i64 = 300;
/// How much is read again now and then, and how often.
const DEEP_OVERLAP_SECONDS: i64 = 86_400;
const DEEP_INTERVAL: Duration = Duration::from_secs(3_600);
/// How long after an outage its whole stretch is read again each time, while slurmctld hands its
/// backlog over.
const SETTLING: Duration = Duration::from_secs(900);
/// How often a stretch is read again from which records are awaited.
const AWAITED_INTERVAL: Duration = Duration::from_secs(60);
/// How far back records are remembered, so that those that come late can be told from those that
/// are known.
const REMEMBERED_SECONDS: i64 = 30 * 86_400;
/// How many records are remembered at most: 64 MB.
const MOST_REMEMBERED: usize = 1_000_000;

/// A request to read ended jobs from slurmdbd.
pub(crate) struct Request {
    /// The cluster as slurmctld described it last.
    pub(crate) cluster: Option<Arc<Cluster>>,
    /// Whether the answer is to say how far it has read, to be kept.
    pub(crate) keep: bool,
}

/// Reads slurmdbd each time it is asked to.
pub(crate) struct AccountingReader {
    cluster: String,
    earlier_clusters: EarlierClusters,
    connection: Option<AccountingConnection>,
    /// One shared copy of each name of a partition, an account or a quality of service.
    names: HashSet<Arc<str>>,
    /// The names of the qualities of service by the numbers that records use for them.
    qos: HashMap<QosId, Arc<str>>,
    seen: Seen,
    awaited: Awaited,
    last_awaited: Option<Instant>,
    clock: ClockWatch,
    window_seconds: i64,
    maximum_jobs: u64,
    /// What of the past is still to be read, and how many jobs at most.
    past: Option<(Range<i64>, u64)>,
    width: WindowWidth,
    /// Everything that ended from the start on and before this has been read.
    read_until: i64,
    /// The first reading is of the past alone, which ends with the second of `read_until`.
    is_first: bool,
    /// When a deep stretch was read last; `None` where it is to be read at once.
    last_deep: Option<Instant>,
    /// Since when slurmdbd has not answered.
    failing_since: Option<i64>,
    /// The time from which records are read again after an outage, in Unix seconds, and until when
    /// that is done. `None` if there was no outage.
    settling: Option<(i64, Instant)>,
    sender: Sender<Message>,
    /// The records that are believed.
    genuine: Genuine,
}

/// The main thread has ended, and so should this one.
struct Abandoned;

impl AccountingReader {
    /// A reader that has read nothing by `now`.
    pub(crate) fn new(cluster: String, settings: &HistorySettings, now: i64, sender: Sender<Message>, genuine: Genuine) -> Self {
        Self {
            earlier_clusters: EarlierClusters::new(&settings.earlier_clusters, &cluster),
            cluster,
            connection: None,
            names: HashSet::new(),
            qos: HashMap::new(),
            seen: Seen::new(now - REMEMBERED_SECONDS, MOST_REMEMBERED),
            awaited: Awaited::default(),
            last_awaited: None,
            clock: ClockWatch::new(now, Instant::now()),
            window_seconds: settings.window_seconds,
            maximum_jobs: settings.maximum_jobs,
            // The window includes this second. The next reading takes what is still to come of it.
            past: Some((now - settings.window_seconds..now + 1, settings.maximum_jobs)),
            width: WindowWidth::new(),
            read_until: now,
            is_first: true,
            last_deep: Some(Instant::now()),
            failing_since: None,
            settling: None,
            sender,
            genuine,
        }
    }

    /// Goes on where an earlier daemon was.
    pub(crate) fn resume(&mut self, reading: Reading) {
        let Reading { until, seen, awaited } = reading;
        (self.read_until, self.seen, self.awaited) = (until, seen, awaited);
        (self.past, self.is_first) = (None, false);
        // What came late while no daemon ran.
        self.last_deep = None;
    }

    /// Forgets everything, because it was read while the clock was ahead.
    fn start_afresh(&mut self, now: i64) {
        self.seen = Seen::new(now - REMEMBERED_SECONDS, MOST_REMEMBERED);
        (self.awaited, self.last_awaited) = (Awaited::default(), None);
        self.past = Some((now - self.window_seconds..now + 1, self.maximum_jobs));
        (self.width, self.read_until, self.is_first) = (WindowWidth::new(), now, true);
        (self.last_deep, self.failing_since, self.settling) = (Some(Instant::now()), None, None);
    }

    /// Reads at each request, until the main thread has dropped its end.
    pub(crate) fn run(mut self, requests: &Receiver<Request>) {
        for request in requests {
            let asked_at = now();
            if let Some(by) = self.clock.look(asked_at, Instant::now()) {
                self.start_afresh(asked_at);
                if self.sender.send(Message::ClockSetBack { by: Seconds(by) }).is_err() {
                    return;
                }
            } else if let Some(cluster) = &request.cluster {
                self.await_records(cluster);
            }
            let answer = match self.read(asked_at) {
                Ok(Err(Abandoned)) => return,
                Ok(Ok(())) => Ok(AccountingRead { until: UnixTime(self.read_until), reading: request.keep.then(|| self.reading()) }),
                Err(error) => Err(error),
            };
            self.note(asked_at, answer.is_ok());
            if self.sender.send(Message::Accounting(answer)).is_err() {
                return;
            }
        }
    }

    /// How far it has read.
    fn reading(&self) -> Reading {
        Reading { until: self.read_until, seen: self.seen.clone(), awaited: self.awaited.clone() }
    }

    /// Takes note of the jobs that slurmctld shows to have ended, whose records may be long in
    /// coming.
    fn await_records(&mut self, cluster: &Cluster) {
        for job in &cluster.ended {
            let (id, submitted, ended) = (job.id.job, job.id.submitted, job.job.end.0);
            if !self.seen.knows(id, submitted, ended) {
                self.awaited.insert(id, submitted, ended);
            }
        }
    }

    /// Remembers since when slurmdbd has been away, and what an outage covered.
    fn note(&mut self, asked_at: i64, answered: bool) {
        if !answered {
            self.failing_since.get_or_insert(asked_at);
        } else if let Some(since) = self.failing_since.take() {
            self.settling = Some((since, Instant::now() + SETTLING));
        }
    }

    fn read(&mut self, now: i64) -> Result<Result<(), Abandoned>, ClientError> {
        self.genuine.renew();
        if self.connection.is_none() {
            self.connection = Some(AccountingConnection::open()?);
        }
        if self.qos.is_empty() || self.is_deep() {
            self.read_names()?;
        }
        if !std::mem::replace(&mut self.is_first, false)
            && let Err(abandoned) = self.read_recent(now)?
        {
            return Ok(Err(abandoned));
        }
        self.read_past()
    }

    /// Whether it is time for a deep stretch.
    fn is_deep(&self) -> bool {
        self.last_deep.is_none_or(|last| last.elapsed() >= DEEP_INTERVAL)
    }

    /// Reads the names of the qualities of service, and which clusters there are, which change
    /// hardly ever.
    fn read_names(&mut self) -> Result<(), ClientError> {
        let Self { connection: Some(connection), earlier_clusters, names, qos, .. } = self else { return Ok(()) };
        earlier_clusters.renew(connection)?;
        *qos = connection.qos_names()?.into_iter().map(|(id, name)| (id, shared(&name, names))).collect();
        Ok(())
    }

    /// Reads what has ended since the last time, and a stretch before it again.
    fn read_recent(&mut self, now: i64) -> Result<Result<(), Abandoned>, ClientError> {
        self.settling = self.settling.filter(|(_from, until)| *until > Instant::now());
        let deep = self.is_deep();
        let overlap = if deep { DEEP_OVERLAP_SECONDS } else { OVERLAP_SECONDS };
        let outage = self.settling.map(|(from, _until)| from).or(self.failing_since);
        let mut from = outage.map_or(self.read_until, |outage| outage.min(self.read_until)) - overlap;
        self.awaited.forget_before(self.seen.since());
        let awaited_since = self.awaited.since(Instant::now());
        if let Some(since) = awaited_since.filter(|_since| self.last_awaited.is_none_or(|last| last.elapsed() >= AWAITED_INTERVAL)) {
            from = from.min(since);
            self.last_awaited = Some(Instant::now());
        }
        // Clocks of several machines: records may end a little ahead of this one's.
        let mut rest = from.max(self.seen.since())..now + 1;
        while !rest.is_empty() {
            let window = self.width.first_of(&rest);
            rest.start = window.end;
            if let Err(abandoned) = self.read_window(window, Stretch::Recent)? {
                return Ok(Err(abandoned));
            }
        }
        self.read_until = now.max(self.read_until);
        if deep {
            self.last_deep = Some(Instant::now());
        }
        let needed = awaited_since.map_or(from, |since| since.min(from));
        self.seen.forget_before(needed.min(now - REMEMBERED_SECONDS));
        Ok(Ok(()))
    }

    /// Reads the past, newest first, as far as it is wanted. After a failure it goes on where it
    /// was.
    fn read_past(&mut self) -> Result<Result<(), Abandoned>, ClientError> {
        while let Some((rest, most)) = self.past.clone() {
            let window = self.width.last_of(&rest);
            let told = match self.read_window(window.clone(), Stretch::Past)? {
                Ok(told) => told,
                Err(abandoned) => return Ok(Err(abandoned)),
            };
            let rest = rest.start..window.start;
            let most = most.saturating_sub(told);
            self.past = (!rest.is_empty() && most > 0).then_some((rest, most));
            if self.past.is_none() {
                tracing::info!(jobs_left_out = most == 0, "the history of ended jobs is read");
            }
        }
        Ok(Ok(()))
    }

    /// Reads what ended in a window and tells what is new. Returns how many jobs that were.
    fn read_window(&mut self, window: Range<i64>, stretch: Stretch) -> Result<Result<u64, Abandoned>, ClientError> {
        let Self { cluster, earlier_clusters, connection: Some(connection), names, qos, seen, awaited, genuine, .. } = self else {
            return Ok(Ok(0));
        };
        let mut found = Vec::new();
        let started = Instant::now();
        let mut find = |record: EndedJobRecord<'_>| found.extend(ended(&record, names, qos, genuine));
        let records = connection.ended_jobs(cluster, window.clone(), &mut find)?;
        let records = records + earlier_clusters.read(connection, &window, stretch, &mut find)?;
        let told = not_yet_told(found, seen, awaited);
        tracing::debug!(from = window.start, to = window.end, records, new = told.len(), elapsed = ?started.elapsed(), "read ended jobs");
        self.width.learn(records);
        let count = u64::try_from(told.len()).unwrap_or(u64::MAX);
        if !told.is_empty() && self.sender.send(Message::Ended(told)).is_err() {
            return Ok(Err(Abandoned));
        }
        Ok(Ok(count))
    }
}

/// The runs that were not told before, which are noted as told. A record that is not complete is
/// not among them, and so is read again. A window is read whole before anything of it is noted:
/// where slurmdbd fails between two clusters, nothing is lost.
fn not_yet_told(mut found: Vec<Ended>, seen: &mut Seen, awaited: &mut Awaited) -> Vec<Ended> {
    found.retain(|run| {
        let (id, submitted, ended) = (run.id.job, run.id.submitted, run.job.end.0);
        awaited.told(id, submitted, ended);
        ended < seen.since() || seen.insert(id, submitted, ended)
    });
    found
}

/// What the history needs of a record; `None` where the job was never eligible, or its record is
/// not complete.
///
/// slurmctld tells of starts in batches, some seconds late, but of an end at once. The record of a
/// short job, or of one that ended while slurmdbd was away, may so be made at its end, without
/// partition, nodes and time limit, and be completed afterwards
/// (src/plugins/accounting_storage/mysql/as_mysql_job.c, as_mysql_job_complete).
fn ended(record: &EndedJobRecord<'_>, names: &mut HashSet<Arc<str>>, qos: &HashMap<QosId, Arc<str>>, genuine: &Genuine) -> Option<Ended> {
    let eligible = UnixTime(record.eligible.or(record.started)?);
    let partition = first_partition(record.partition.as_deref()?);
    let asked = Size {
        nodes: record.requested_nodes.filter(|nodes| *nodes > 0).unwrap_or(record.allocated_nodes).max(1),
        cpus: Some(record.requested_cpus).filter(|cpus| *cpus > 0).or(record.allocated_cpus).unwrap_or(1).max(1),
    };
    let got = Size {
        nodes: Some(record.allocated_nodes).filter(|nodes| *nodes > 0).unwrap_or(asked.nodes),
        cpus: record.allocated_cpus.filter(|cpus| *cpus > 0).unwrap_or(asked.cpus),
    };
    let limit = record.time_limit_seconds.map(Seconds);
    let comment = genuine.comment(record);
    let held = wait_on_nodes(comment.as_deref(), record.started, limit, record.ended);
    let submitted = WaitingJob {
        user: record.user_id,
        account: shared(record.account.as_deref().unwrap_or_default(), names),
        partition: shared(partition, names),
        qos: qos.get(&record.qos_id).map_or_else(|| shared("", names), Arc::clone),
        size: asked,
        limit,
        eligible,
    };
    Some(Run {
        id: RunId { submitted: record.submitted.unwrap_or_default(), job: record.job_id },
        array: record.array.map(|array| array.array_job_id),
        tasks: 1,
        is_held: false,
        job: EndedJob {
            submitted,
            allocated: record.started.map(|_start| got).filter(|got| *got != asked),
            start: record.started.map(UnixTime),
            end: UnixTime(record.ended),
            suspended: Seconds(record.suspended_seconds) + held.time,
        },
        promise: comment.as_deref().and_then(|comment| PromiseOutcome::read(comment, &record.reserved_run())),
        admission: comment.as_deref().and_then(|comment| AdmissionOutcome::read(comment, UnixTime(record.ended), record.state.ending())),
        recorded_forecast: comment.as_deref().and_then(|comment| RecordedForecast::read(comment, eligible)),
        is_in_slot: comment.as_deref().is_some_and(SlotAsked::is_used_by),
        is_interrupted: record.state.is_interruption() || held.ends_with_the_job,
    })
}

/// How long an ended job waited on its nodes for its reserved time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WaitOnNodes {
    pub(crate) time: Seconds,
    /// Whether the program never began, so that the run time of the job says nothing.
    pub(crate) ends_with_the_job: bool,
}

/// Reads the wait on its nodes out of a job's `admin_comment`.
pub(crate) fn wait_on_nodes(comment: Option<&str>, started: Option<i64>, limit: Option<Seconds>, ended: i64) -> WaitOnNodes {
    let Some(started) = started else { return WaitOnNodes { time: Seconds::ZERO, ends_with_the_job: false } };
    let time = waited_on_nodes(comment, UnixTime(started), limit, UnixTime(ended));
    WaitOnNodes { time, ends_with_the_job: time > Seconds::ZERO && started + time.0 >= ended }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = r#"{"queuecast":{"version":1,"generation":7,"at":900,"mode":"enforce","asked":{"nodes":1,"cpus":1},"written":{"hold_until":1600}}}"#;

    #[test]
    fn a_job_that_ended_while_it_waited_on_its_nodes_says_nothing_of_its_run_time() {
        let held = |ended| wait_on_nodes(Some(RECORD), Some(1_000), None, ended);
        assert_eq!(held(2_000), WaitOnNodes { time: Seconds(600), ends_with_the_job: false });
        assert_eq!(held(1_600), WaitOnNodes { time: Seconds(600), ends_with_the_job: true });
        assert_eq!(held(1_200), WaitOnNodes { time: Seconds(200), ends_with_the_job: true });
        assert_eq!(wait_on_nodes(None, Some(1_000), None, 1_000), WaitOnNodes { time: Seconds::ZERO, ends_with_the_job: false });
        assert_eq!(wait_on_nodes(Some(RECORD), None, None, 1_000), WaitOnNodes { time: Seconds::ZERO, ends_with_the_job: false });
    }
}
