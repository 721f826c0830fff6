//! Jobs that slurmdbd has recorded or that are in the queue, as the submissions that they were.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use job_types::number::{JobId, QosId, UserId};
use job_types::time::{Seconds, UnixTime};
use rules_compiler::command_line::{self, Release, Setting};
use rules_compiler::described::{DescribedForecasts, DescribedJob, DescribedSubmission};
use site_rules::data::OwnedValue;
use site_rules::field::{FieldNumber, Name};
use site_rules::submission::Request;
use site_rules::value::Kind;
use slurm_sys::client::EndedJobRecord;
use slurm_sys::client::controller::{DescribedJob as ControllerJob, DescribedValue, QueuedJob};

use super::people::People;
use crate::user;

/// A job as it was submitted, as far as that is known.
#[derive(Debug)]
pub(super) struct RecordedJob {
    pub(super) id: JobId,
    pub(super) user: Option<String>,
    pub(super) partition: Option<String>,
    /// When it was submitted.
    pub(super) submitted: Option<UnixTime>,
    /// What is known of it without its command.
    known: BTreeMap<Name, OwnedValue>,
    user_id: UserId,
    /// The command by which it was submitted.
    pub(super) submit_line: Option<String>,
}

/// What a job's fields are taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filled {
    /// The submission is filled from the job's command alone.
    Command,
    /// The submission is filled from the job's command and, where the command says nothing, from
    /// the record.
    CommandAndRecord,
}

impl RecordedJob {
    /// Builds the submission that a job in the queue describes.
    pub(super) fn of_queued(described: ControllerJob, queued: Option<&QueuedJob>) -> Self {
        let mut known = BTreeMap::new();
        for (name, value) in described.fields {
            let Some(name) = FieldNumber::of(name).and_then(FieldNumber::name) else { continue };
            let is_list = FieldNumber::from(name).get().is_some_and(|field| field.kind == Kind::Resources);
            let value = match value {
                DescribedValue::Truth(truth) => OwnedValue::Truth(truth),
                DescribedValue::Integer(number) => OwnedValue::Integer(number),
                DescribedValue::Text(text) if is_list => OwnedValue::Resources(text),
                DescribedValue::Text(text) => OwnedValue::Text(text),
                DescribedValue::Duration(duration) => OwnedValue::Duration(duration),
                DescribedValue::Moment(moment) => OwnedValue::Moment(moment),
            };
            known.insert(name, value);
        }
        let user_id = match known.get(&Name::UserId) {
            Some(OwnedValue::Integer(number)) => UserId(u32::try_from(*number).unwrap_or(u32::MAX)),
            _ => UserId(u32::MAX),
        };
        RecordedJob {
            id: described.job_id,
            user: queued.and_then(|job| job.user.clone()).or_else(|| user::name(user_id)),
            partition: queued.and_then(|job| job.partition.clone()),
            submitted: queued.and_then(|job| job.submitted).map(UnixTime),
            known,
            user_id,
            submit_line: None,
        }
    }

    /// Builds the submission that a slurmdbd job record describes.
    pub(super) fn of(record: &EndedJobRecord<'_>, qos: &std::collections::HashMap<QosId, String>) -> Self {
        let text = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(str::to_owned).filter(|text| !text.is_empty());
        let mut known = BTreeMap::new();
        let texts = [
            (Name::Account, text(&record.account)),
            (Name::Features, text(&record.features)),
            (Name::JobName, text(&record.name)),
            (Name::Partition, text(&record.partition)),
            (Name::Qos, qos.get(&record.qos_id).cloned()),
            // An asterisk marks a key that Slurm has chosen.
            (Name::Wckey, text(&record.wckey).filter(|key| !key.starts_with('*'))),
            (Name::WorkDir, text(&record.work_dir)),
        ];
        known.extend(texts.into_iter().filter_map(|(name, text)| Some((name, OwnedValue::Text(text?)))));
        let numbers = [(Name::MinNodes, record.requested_nodes.map(i64::from)), (Name::MinCpus, Some(i64::from(record.requested_cpus)))];
        known.extend(numbers.into_iter().filter_map(|(name, number)| Some((name, OwnedValue::Integer(number?)))));
        match record.time_limit_seconds {
            Some(seconds) => known.insert(Name::TimeLimit, OwnedValue::Duration(Seconds(seconds))),
            None => known.insert(Name::TimeLimitIsUnlimited, OwnedValue::Truth(true)),
        };
        RecordedJob {
            id: record.job_id,
            user: text(&record.user).or_else(|| user::name(record.user_id)),
            partition: text(&record.partition),
            submitted: record.submitted.map(UnixTime),
            known,
            user_id: record.user_id,
            submit_line: text(&record.submit_line),
        }
    }

    /// What the record says of a field.
    pub(super) fn known(&self, name: Name) -> Option<&OwnedValue> {
        self.known.get(&name)
    }

    /// The submission, with its command as sbatch of a release reads it; without a command, of what
    /// the record says alone.
    ///
    /// # Errors
    /// Why its command is not understood.
    pub(super) fn submission(&self, filled: Filled, people: &mut People, release: Release) -> Result<DescribedSubmission, String> {
        let now = self.submitted.unwrap_or(UnixTime(0));
        let mut job = match &self.submit_line {
            Some(line) => self.of_command(line, now, release)?,
            None => DescribedJob::default(),
        };
        if filled == Filled::CommandAndRecord || self.submit_line.is_none() {
            job.fill(&self.known);
        }
        if self.submit_line.is_none() {
            // slurmdbd does not say so; slurmctld does.
            job.fill(&[(Name::IsBatch, OwnedValue::Truth(true))].into());
        }
        Ok(DescribedSubmission {
            request: Request::Submit,
            now,
            job,
            current: None,
            user: people.user(self.user_id, self.user.clone()),
            forecasts: DescribedForecasts::default(),
        })
    }

    fn of_command(&self, line: &str, now: UnixTime, release: Release) -> Result<DescribedJob, String> {
        let directory = match self.known.get(&Name::WorkDir) {
            Some(OwnedValue::Text(directory)) => directory.clone(),
            _ => "/".to_owned(),
        };
        let setting = Setting { release, now, zone: TimeZone::system(), user: self.user_id, directory, environment: BTreeMap::new() };
        // The words stand without their quotation marks: what --wrap had can't be told from what
        // came behind it.
        let mut words: Vec<String> = Vec::new();
        for word in line.split_whitespace() {
            if word == "--wrap" || word.starts_with("--wrap=") {
                words.push("--wrap=true".to_owned());
                break;
            }
            words.push(word.to_owned());
        }
        command_line::of(&words, &setting, |_| None).map_err(|error| error.to_string())
    }
}
