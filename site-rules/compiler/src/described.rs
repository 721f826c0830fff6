//! Jobs and submissions that are described from outside: by a command line, a test, or a record.

use job_types::number::UserId;
use job_types::time::{Seconds, UnixTime};
use site_rules::data::OwnedValue;
use site_rules::derived;
use site_rules::field::{FieldNumber, Fields, Name, variable};
use site_rules::submission::{Current, Forecasts, Request, Submission, User, UserJobs};
use site_rules::value::{Kind, TextList, Texts, Value};
use std::collections::BTreeMap;

/// A value, borrowed.
#[must_use]
pub fn borrowed(value: &OwnedValue) -> Value<'_> {
    value.borrowed()
}

/// A job with the fields that something says of it; what follows from several is computed.
#[derive(Clone, Debug, Default)]
pub struct DescribedJob {
    values: BTreeMap<Name, OwnedValue>,
    environment: BTreeMap<String, String>,
    gpu_types: Vec<String>,
}

impl DescribedJob {
    /// A job with these fields, and with these variables in its environment.
    #[must_use]
    pub fn new(mut values: BTreeMap<Name, OwnedValue>, environment: BTreeMap<String, String>) -> Self {
        for (name, value) in &mut values {
            lower(*name, value);
        }
        let mut job = DescribedJob { values, environment, gpu_types: Vec::new() };
        job.note_gpu_types();
        job
    }

    /// Writes a field, or makes it absent, as a rule does it: what stands in the same place of a
    /// job description is gone then.
    pub fn write(&mut self, name: Name, value: Option<OwnedValue>) {
        match value {
            Some(OwnedValue::Text(entry)) if name == Name::Environment => drop(match variable(&entry) {
                (name, Some(value)) => self.environment.insert(name.to_owned(), value.to_owned()),
                (name, None) => self.environment.remove(name),
            }),
            value => self.write_field(name, value),
        }
    }

    fn write_field(&mut self, name: Name, value: Option<OwnedValue>) {
        match value {
            Some(mut value) => {
                lower(name, &mut value);
                self.values.insert(name, value)
            }
            None => self.values.remove(&name),
        };
        for displaced in name.displaces() {
            self.values.remove(displaced);
        }
        self.note_gpu_types();
    }

    /// Gives it the fields that nothing was said of yet, in another form of the same either.
    pub fn fill(&mut self, known: &BTreeMap<Name, OwnedValue>) {
        let is_said = |values: &BTreeMap<Name, OwnedValue>, name: &Name| {
            let is_other = |other: &&Name| name.displaces().contains(other) || other.displaces().contains(name);
            values.contains_key(name) || values.iter().any(|(other, value)| is_other(&other) && *value != OwnedValue::Truth(false))
        };
        for (name, value) in known {
            if !is_said(&self.values, name) {
                let mut value = value.clone();
                lower(*name, &mut value);
                self.values.insert(*name, value);
            }
        }
        self.note_gpu_types();
    }

    fn note_gpu_types(&mut self) {
        self.gpu_types = derived::gpu_types(self).map(Into::into).collect();
    }
}

impl Fields for DescribedJob {
    fn field(&self, field: FieldNumber) -> Option<Value<'_>> {
        let name = field.name()?;
        if name == Name::GpuTypes {
            return Some(Value::Texts(Texts::Listed(&self.gpu_types as &dyn TextList)));
        }
        if name.is_derived() {
            return derived::value(name, self);
        }
        match self.values.get(&name) {
            // An empty text is none, as in the plugin.
            Some(OwnedValue::Text(text) | OwnedValue::Resources(text)) if text.is_empty() => None,
            Some(value) => Some(borrowed(value)),
            // What is always there is false, nothing, or an empty list where it is not said.
            None => field.get().filter(|field| !field.may_be_absent).and_then(|field| nothing(field.kind)),
        }
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str)
    }
}

/// Puts a name that Slurm compares without regard to case in small letters, as the plugin does
/// before rules see it.
pub(crate) fn lower(name: Name, value: &mut OwnedValue) {
    if let (true, OwnedValue::Text(text)) = (name.is_caseless(), value) {
        text.make_ascii_lowercase();
    }
}

/// A value of nothing, of what is always there.
fn nothing(kind: Kind) -> Option<Value<'static>> {
    match kind {
        Kind::Truth => Some(Value::Truth(false)),
        Kind::Integer => Some(Value::Integer(0)),
        Kind::Texts => Some(Value::Texts(Texts::Separated("", ','))),
        _ => None,
    }
}

/// A user who submits or modifies.
#[derive(Clone, Debug)]
pub struct DescribedUser {
    /// The name, where it is known.
    pub name: Option<String>,
    /// The number.
    pub id: UserId,
    /// The names of the groups, where they are known.
    pub groups: Option<Vec<String>>,
    /// Whether it is root or SlurmUser.
    pub is_root: bool,
    /// Whether it is an operator or administrator of Slurm.
    pub is_operator: bool,
    /// How many jobs the user has submitted within the last hour, where it is counted.
    pub submissions_last_hour: Option<u32>,
    /// How many jobs the user has in the queue, where it is known.
    pub jobs: Option<UserJobs>,
}

/// Forecasts that are given beforehand.
#[derive(Clone, Debug, Default)]
pub struct DescribedForecasts {
    /// The wait in each partition, whatever the quantile.
    pub waits: BTreeMap<String, Seconds>,
    /// The partition in which the job is forecast to begin first.
    pub soonest_partition: Option<String>,
}

impl Forecasts for DescribedForecasts {
    fn wait(&self, partition: &str, _: f64) -> Option<Seconds> {
        self.waits.get(partition).copied()
    }

    fn soonest_partition(&self) -> Option<&str> {
        self.soonest_partition.as_deref()
    }
}

/// A submission or a modification.
#[derive(Clone, Debug)]
pub struct DescribedSubmission {
    /// Whether it is a submission or a modification.
    pub request: Request,
    /// The moment of the request.
    pub now: UnixTime,
    /// What is submitted, or asked to change.
    pub job: DescribedJob,
    /// The job as it is, and how long ago that was read.
    pub current: Option<(DescribedJob, Seconds)>,
    /// The user who submits or modifies.
    pub user: DescribedUser,
    /// Forecasts for it.
    pub forecasts: DescribedForecasts,
}

impl DescribedSubmission {
    /// Returns the request as rules see it.
    #[must_use]
    pub fn submission(&self) -> Submission<'_> {
        Submission {
            request: self.request,
            now: self.now,
            job: &self.job,
            asked: &self.job,
            current: self.current.as_ref().map(|(job, age)| Current { fields: job, age: *age }),
            user: User {
                name: self.user.name.as_deref(),
                id: self.user.id,
                groups: self.user.groups.as_ref().map(|groups| Texts::Listed(groups as &dyn TextList)),
                is_root: self.user.is_root,
                is_operator: self.user.is_operator,
                submissions_last_hour: self.user.submissions_last_hour,
                jobs: self.user.jobs,
            },
            forecasts: &self.forecasts,
        }
    }
}
