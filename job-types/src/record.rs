//! The record that a job carries in its `admin_comment`: what was asked, what was written, and what
//! was forecast.
//!
//! It is one JSON object `{"queuecast":{...}}` of less than [`MOST_BYTES`] bytes. Slurm keeps it
//! with the job and in slurmdbd, so that the forecast can be held against what happened.

mod json;
mod seal;

use crate::options::{IfMissed, IfRefused, Key, Mode};
use crate::policy::Admission;
use crate::size::Size;
use crate::slot::SlotTold;
use crate::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};
use serde_with::{DefaultOnError, serde_as};

pub use seal::{Bearer, KEY_BYTES, SealKey, Unbelieved};

/// Version of the record.
pub const RECORD_VERSION: u32 = 1;

/// Longest record in bytes.
pub const MOST_BYTES: usize = 1023;

/// The longest record without its seal.
const MOST_UNSEALED_BYTES: usize = MOST_BYTES - seal::SEAL_BYTES;

/// The longest wait on a job's nodes, as on the node itself.
pub const LONGEST_HOLD: Seconds = Seconds(366 * 86_400);

/// The record, as it stands under the key `queuecast`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`RECORD_VERSION`].
    pub version: u32,
    /// Number of the snapshot that was used.
    pub generation: u64,
    /// When it was decided.
    pub at: UnixTime,
    /// A number by which one record is told from another of the same second and the same job sizes;
    /// absent in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<u64>,
    /// How far the decision went.
    pub mode: Mode,
    /// What the job was when it was submitted.
    pub asked: AskedFor,
    /// The partition, account and quality of service that the job named when the record was written
    /// last; absent in records of earlier versions, and where it would make the record too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub affiliation: Option<Affiliation>,
    /// What was written, or would have been in a mode below `enforce`; absent where nothing was to
    /// change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<Written>,
    /// What has been changed in the job since it was submitted; absent where nothing has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<Changed>,
    /// What was forecast for the job as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
    /// What was forecast for the job as submitted, where something was to change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<Forecast>,
    /// Why something that was in question was left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<String>,
}

/// A job as it was submitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AskedFor {
    /// Nodes, as written or as they follow from the tasks.
    pub nodes: u32,
    /// CPUs.
    pub cpus: u32,
    /// Tasks, where given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u32>,
    /// Time limit in seconds; absent where unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_s: Option<i64>,
    /// The deadline in Unix seconds; absent if the job has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<i64>,
    /// The options that its user gave, by their variables and canonical values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<(String, String)>,
}

/// The partition, account and quality of service of a job, by which its limits are bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Affiliation {
    /// The partitions, separated by commas; absent where the job names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// The account; absent where the job names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// The quality of service; absent where the job names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qos: Option<String>,
}

impl Affiliation {
    /// Whether a job that had this affiliation has it still, where `present` is what it has now. A
    /// job that has started has one of the partitions that it named. What the job did not name is
    /// taken to be another than what it has now.
    #[must_use]
    pub fn holds_for(&self, present: &Affiliation) -> bool {
        let is_among = |partition: &str| self.partition.iter().flat_map(|names| names.split(',')).any(|name| name == partition);
        let same_partition = self.partition == present.partition || present.partition.as_deref().is_some_and(is_among);
        // slurmctld does not tell apart what differs in case alone.
        let is_same = |one: &Option<String>, other: &Option<String>| match (one, other) {
            (Some(one), Some(other)) => one.eq_ignore_ascii_case(other),
            (one, other) => one == other,
        };
        same_partition && is_same(&self.account, &present.account) && is_same(&self.qos, &present.qos)
    }
}

/// Why a promise has ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum EndOfPromise {
    /// The job was made larger than it was when it got the promise, and the promise can't be given
    /// for that size.
    MadeLarger,
    /// The time limit that the promise was given for is longer than partition, quality of service
    /// and account allow now.
    BeyondLimits,
    /// Another version of queuecast wrote a reason that is not known here.
    #[serde(other)]
    Other,
}

impl EndOfPromise {
    /// The name of the reason in records and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl std::fmt::Display for EndOfPromise {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            EndOfPromise::MadeLarger => "the job is larger than it was when it got the promise, which can't be given for that size",
            EndOfPromise::BeyondLimits => "the job's time limit is longer than its partition, quality of service and account allow now",
            EndOfPromise::Other => "a reason that this version does not know",
        })
    }
}

/// What was written into the job.
#[serde_as]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Written {
    /// Nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// CPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// Tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u32>,
    /// Time limit in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_s: Option<i64>,
    /// Begin time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin: Option<i64>,
    /// The reserved time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved_at: Option<i64>,
    /// The time until which the job waits on its nodes, in Unix seconds; absent if it does not
    /// wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_until: Option<i64>,
    /// The user's own time limit in seconds at the size that was written, without padding and
    /// without the time that goes by while others have the CPUs. Reservations have it, and jobs
    /// that are admitted with a share of their nodes. Without it a reservation is not changed any
    /// more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_limit_s: Option<i64>,
    /// The rule by which the job was admitted with its deadline. Absent if the job was not
    /// admitted, or if another version wrote a rule that is not known here.
    #[serde_as(deserialize_as = "DefaultOnError")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admitted_by: Option<Admission>,
    /// The deadline of an admitted job in Unix seconds. It is to be kept, and was taken out of
    /// Slurm's own field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<i64>,
    /// The wanted probability. For a reservation it is the one that its user asked for, or else the
    /// site's. For an admitted job it is the one that its rule wants; absent if the rule wants
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<f64>,
    /// What becomes of a job with a reservation if its time passes without a start.
    #[serde(default, skip_serializing_if = "is_run")]
    pub if_missed: IfMissed,
    /// The window, from and until when in Unix seconds, in which a firm slot is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<(i64, i64)>,
    /// How long before its start the slot is to move no more, in seconds; absent where the site
    /// says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice_s: Option<i64>,
    /// What becomes of the job where there is no slot for it.
    #[serde(default, skip_serializing_if = "stays")]
    pub if_refused: IfRefused,
}

fn is_run(if_missed: &IfMissed) -> bool {
    *if_missed == IfMissed::Run
}

fn stays(if_refused: &IfRefused) -> bool {
    *if_refused == IfRefused::Run
}

/// What has been changed in a job since it was submitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Changed {
    /// The number of times that the job was changed.
    pub count: u32,
    /// When it was changed last, or was left alone from then on, by the daemon's clock.
    pub at: UnixTime,
    /// The begin time that was written last, where it was ever changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin: Option<i64>,
    /// The time limit in seconds that was written last, where it was ever changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_s: Option<i64>,
    /// The probability of running at the reserved time that was forecast with the last change of
    /// the begin time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// The reserved time has passed without a start, and the job is being cancelled for it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub missed: bool,
    /// The job is being cancelled because one that it belongs together with on another cluster has
    /// its nodes.
    #[serde(default, skip_serializing_if = "is_false")]
    pub withdrawn: bool,
    /// Somebody else has changed the job, which is left alone from then on.
    #[serde(default, skip_serializing_if = "is_false")]
    pub stopped: bool,
    /// The factor of the site (`site_factor` of Slurm) of an admitted job, as it was written last
    /// for the job's place in the order by deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site_factor: Option<i64>,
    /// The part of the factor that is for the order by deadline; the rest was there before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<i64>,
    /// The priority that the job had right before the factor was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u32>,
    /// The probability of being done by the deadline that the user of an admitted job was told last
    /// since the submission. Absent if nothing was told or nothing was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_probability: Option<f64>,
    /// The number of times that the job had been put back into the queue when its user was told.
    /// Absent if nothing was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_restarts: Option<u32>,
    /// The deadline of Slurm's own, in Unix seconds, by which an admitted job is ended because it
    /// is really late; absent unless it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<i64>,
    /// Nodes for which the promise was renewed, because the user made the job larger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// CPUs for which the promise was renewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// Why the promise has ended before its time; the job is an ordinary one from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<EndOfPromise>,
    /// How far the job's firm slot has come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<SlotTold>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// What was forecast for a job.
#[serde_as]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// Median of the wait from the decision on, a deferral included, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_s: Option<i64>,
    /// Bound on it that holds with 95 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_95_s: Option<i64>,
    /// Past jobs that the wait rests on.
    pub wait_jobs: u32,
    /// The source of the wait's forecast. Absent if there was no forecast, none was needed, or
    /// another version wrote a source that is not known here.
    #[serde_as(deserialize_as = "DefaultOnError")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_from: Option<WaitSource>,
    /// Point forecast of the run time in seconds.
    pub run_s: i64,
    /// Shortest and longest run time in seconds.
    pub run_range_s: (i64, i64),
    /// Past jobs that the run time rests on; 0 where it is the time limit.
    pub run_jobs: u32,
    /// Probability of running at the reserved time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservation_probability: Option<f64>,
    /// Probability of being done by the deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_probability: Option<f64>,
}

/// The method whose forecasts of waits are in force in a partition. The later ones know more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "lowercase")]
pub enum WaitSource {
    /// No method, because there is no history.
    #[default]
    #[serde(rename = "none")]
    #[strum(serialize = "none")]
    Nothing,
    /// The bounds of QBETS on the waits of the job's class.
    Qbets,
    /// The default: a blend of trees and recent waits, with bounds from what followed forecasts
    /// like it.
    Blended,
}

impl WaitSource {
    /// All of them.
    pub const ALL: [WaitSource; 3] = [WaitSource::Nothing, WaitSource::Qbets, WaitSource::Blended];

    /// The name of the source in records, reports, metrics and logs.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[derive(Deserialize)]
struct Envelope {
    queuecast: Record,
}

impl Record {
    /// The record without its seal, and without the parts that can be spared where it would be too
    /// long with it.
    #[must_use]
    pub fn to_json(&self) -> Option<String> {
        let json = json::envelope(self);
        if json.len() <= MOST_UNSEALED_BYTES {
            return Some(json);
        }
        let mut record = self.clone();
        let shorter: [fn(&mut Record); 4] = [
            |record| record.left.clear(),
            |record| record.instead_of = None,
            |record| record.asked.options.retain(|(_, value)| value.len() < 32),
            |record| record.affiliation = None,
        ];
        for shorten in shorter {
            shorten(&mut record);
            let json = json::envelope(&record);
            if json.len() <= MOST_UNSEALED_BYTES {
                return Some(json);
            }
        }
        None
    }

    /// The record in an `admin_comment`, which may have other text behind it.
    #[must_use]
    pub fn parse(comment: &str) -> Option<Record> {
        Record::split(comment).map(|(record, _)| record)
    }

    /// The record in an `admin_comment`, and what somebody else has written behind it.
    #[must_use]
    pub fn split(comment: &str) -> Option<(Record, &str)> {
        let mut values = serde_json::Deserializer::from_str(comment).into_iter::<Envelope>();
        let record = values.next()?.ok()?.queuecast;
        Some((record, comment.get(values.byte_offset()..)?))
    }

    /// The begin time that was written into the job last, if any was.
    #[must_use]
    pub fn last_begin(&self) -> Option<UnixTime> {
        let changed = self.changed.as_ref().and_then(|changed| changed.begin);
        changed.or_else(|| self.written.as_ref()?.begin).map(UnixTime)
    }

    /// The time limit that was written into the job last, if any was.
    #[must_use]
    pub fn last_limit(&self) -> Option<Seconds> {
        let changed = self.changed.as_ref().and_then(|changed| changed.limit_s);
        changed.or_else(|| self.written.as_ref()?.limit_s).map(Seconds)
    }

    /// The size that the job's promise was given for last.
    #[must_use]
    pub fn promised_size(&self) -> Size {
        let changed = self.changed.as_ref();
        let written = self.written.as_ref();
        let nodes = changed.and_then(|changed| changed.nodes).or_else(|| written?.nodes);
        let cpus = changed.and_then(|changed| changed.cpus).or_else(|| written?.cpus);
        Size { nodes: nodes.unwrap_or(self.asked.nodes), cpus: cpus.unwrap_or(self.asked.cpus) }
    }

    /// Why the job's promise has ended before its time; `None` where it has not.
    #[must_use]
    pub fn end_of_promise(&self) -> Option<EndOfPromise> {
        self.changed.as_ref()?.ended
    }

    /// How long the job waits on its nodes for its reserved time if it starts at `start`
    /// ([`hold_on_nodes`]).
    #[must_use]
    pub fn wait_on_nodes(&self, start: UnixTime, limit: Option<Seconds>) -> Seconds {
        let has_shell_at_once = self.asked.options.iter().any(|(name, _)| name == Key::ShellAtOnce.option().variable);
        let written = self.written.as_ref().filter(|_| self.mode == Mode::Enforce && !has_shell_at_once);
        let hold_until = written.and_then(|written| written.hold_until);
        hold_until.map_or(Seconds::ZERO, |hold_until| hold_on_nodes(UnixTime(hold_until), start, limit))
    }

    /// When it was written into the job last.
    #[must_use]
    pub fn last_at(&self) -> UnixTime {
        self.changed.as_ref().map_or(self.at, |changed| changed.at)
    }
}

/// How long a job's program stood still between its start and `until` (its end, or now) because it
/// waited on its nodes for its reserved time: what of [`wait_on_nodes`] lies before `until`.
#[must_use]
pub fn waited_on_nodes(comment: Option<&str>, start: UnixTime, limit: Option<Seconds>, until: UnixTime) -> Seconds {
    wait_on_nodes(comment, start, limit).min((until - start).max(Seconds::ZERO))
}

/// How long a job that has started waits on its nodes for its reserved time, all in all.
///
/// `comment` is the job's `admin_comment`; a job whose record is not there, or that nothing was
/// written into, did not wait; nor did one whose user wanted the shell at once. What makes no wait
/// on the node makes none here ([`hold_on_nodes`]).
#[must_use]
pub fn wait_on_nodes(comment: Option<&str>, start: UnixTime, limit: Option<Seconds>) -> Seconds {
    // Most jobs carry no record, and some a long comment of their own.
    let record = comment.filter(|comment| comment.starts_with('{') && comment.contains("\"hold_until\"")).and_then(Record::parse);
    record.map_or(Seconds::ZERO, |record| record.wait_on_nodes(start, limit))
}

/// How long a job that starts at a time waits on its nodes until another; not at all where that is
/// more than [`LONGEST_HOLD`] later, or not before the job's time limit.
#[must_use]
pub fn hold_on_nodes(hold_until: UnixTime, start: UnixTime, limit: Option<Seconds>) -> Seconds {
    let longest = limit.map_or(LONGEST_HOLD, |limit| limit.min(LONGEST_HOLD));
    let hold = hold_until.0.saturating_sub(start.0);
    if hold < longest.0 { Seconds(hold.max(0)) } else { Seconds::ZERO }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: UnixTime = UnixTime(1_000_000);
    const LIMIT: Option<Seconds> = Some(Seconds(3_600));

    fn comment(mode: &str, hold_until: i64) -> String {
        let asked = r#""asked":{"nodes":1,"cpus":1}"#;
        format!(
            r#"{{"queuecast":{{"version":1,"generation":7,"at":999000,"mode":"{mode}",{asked},"written":{{"hold_until":{hold_until}}}}}}} ours"#
        )
    }

    fn waited(comment: &str, until: i64) -> i64 {
        waited_on_nodes(Some(comment), START, LIMIT, UnixTime(until)).0
    }

    #[test]
    fn what_was_written_last_is_the_last_change_or_else_what_was_written_at_the_submission() {
        let written = Written { begin: Some(100), limit_s: Some(600), ..Written::default() };
        let asked = AskedFor::default();
        let record = Record {
            version: RECORD_VERSION,
            generation: 7,
            at: UnixTime(50),
            nonce: None,
            mode: Mode::Enforce,
            asked,
            affiliation: None,
            written: Some(written),
            changed: None,
            forecast: None,
            instead_of: None,
            left: Vec::new(),
        };
        let last = |record: &Record| (record.last_begin(), record.last_limit(), record.last_at());
        assert_eq!(last(&record), (Some(UnixTime(100)), Some(Seconds(600)), UnixTime(50)));
        let changed = Changed { count: 1, at: UnixTime(70), limit_s: Some(540), ..Changed::default() };
        let record = Record { changed: Some(changed), ..record };
        assert_eq!(last(&record), (Some(UnixTime(100)), Some(Seconds(540)), UnixTime(70)));
    }

    #[test]
    fn what_somebody_else_wrote_stands_behind_the_record() {
        let comment = comment("enforce", 5);
        assert_eq!(Record::split(&comment).map(|(_, rest)| rest), Some(" ours"));
        assert_eq!(Record::split("ours"), None);
        assert_eq!(Record::split(&comment.replace("999000", "\"soon\"")), None, "a record of which a value is none");
    }

    #[test]
    fn a_job_that_waited_on_its_nodes_stood_still_from_its_start_to_its_reserved_time() {
        assert_eq!(waited(&comment("enforce", START.0 + 600), START.0 + 900), 600);
    }

    #[test]
    fn a_job_that_ended_before_its_reserved_time_stood_still_to_its_end() {
        assert_eq!(waited(&comment("enforce", START.0 + 600), START.0 + 200), 200);
    }

    #[test]
    fn a_job_that_started_after_its_reserved_time_did_not_wait() {
        assert_eq!(waited(&comment("enforce", START.0 - 600), START.0 + 900), 0);
    }

    #[test]
    fn what_makes_no_wait_on_the_node_makes_none_in_what_is_learnt() {
        let end = START.0 + 900;
        assert_eq!(waited(&comment("advise", START.0 + 600), end), 0, "nothing was written");
        assert_eq!(waited(&comment("enforce", START.0 + 3_600), end), 0, "not before the time limit");
        assert_eq!(waited(r#"{"queuecast":{"hold_until":"#, end), 0, "half a record");
        assert_eq!(waited("\"hold_until\" of somebody else", end), 0);
        let at_once = r#""asked":{"options":[["QUEUECAST_SHELL_AT_ONCE","1"]],"nodes":1,"#;
        assert_eq!(waited(&comment("enforce", START.0 + 600).replace(r#""asked":{"nodes":1,"#, at_once), end), 0, "the shell at once");
        let unlimited = |hold_until| waited_on_nodes(Some(&comment("enforce", hold_until)), START, None, UnixTime(i64::MAX)).0;
        assert_eq!(unlimited(START.0 + 366 * 86_400 - 1), 366 * 86_400 - 1);
        assert_eq!(unlimited(START.0 + 366 * 86_400), 0);
        assert_eq!(unlimited(i64::MAX), 0);
        assert_eq!(unlimited(i64::MIN), 0);
        assert_eq!(waited_on_nodes(None, START, LIMIT, UnixTime(end)), Seconds::ZERO);
    }
}
