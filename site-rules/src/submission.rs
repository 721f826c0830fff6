//! What an expression is evaluated with: the job, the job as it was, who submits it, and when.

use crate::field::{Field, Fields};
use crate::value::{Kind, Texts, Value};
use job_types::number::UserId;
use job_types::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};

/// What is asked of slurmctld.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// A job is submitted.
    Submit,
    /// A job is to be modified.
    Modify,
}

/// A submission or a modification, as rules see it.
#[derive(Clone, Copy)]
pub struct Submission<'a> {
    /// Whether it is a submission or a modification.
    pub request: Request,
    /// The moment of the request.
    pub now: UnixTime,
    /// What is submitted, or asked to change.
    pub job: &'a dyn Fields,
    /// The job before any rule has written into it. It is another one than `job` where rules are
    /// asked about a job that they have judged before.
    pub asked: &'a dyn Fields,
    /// The job that is to be modified, where it is known.
    pub current: Option<Current<'a>>,
    /// The user who submits or modifies.
    pub user: User<'a>,
    /// Forecasts for the job.
    pub forecasts: &'a dyn Forecasts,
}

/// A job as the daemon read it last.
#[derive(Clone, Copy)]
pub struct Current<'a> {
    /// The job's fields.
    pub fields: &'a dyn Fields,
    /// How long ago they were read.
    pub age: Seconds,
}

/// The user who submits or modifies.
#[derive(Clone, Copy, Debug)]
pub struct User<'a> {
    /// The name, where it is known.
    pub name: Option<&'a str>,
    /// The number.
    pub id: UserId,
    /// The names of the user's groups, where they are known.
    pub groups: Option<Texts<'a>>,
    /// Whether it is root or SlurmUser.
    pub is_root: bool,
    /// Whether it is an operator or administrator of Slurm.
    pub is_operator: bool,
    /// How many jobs the user has submitted within the last hour, where it is counted.
    pub submissions_last_hour: Option<u32>,
    /// How many jobs the user has in the queue, where it is known.
    pub jobs: Option<UserJobs>,
}

/// How many jobs a user has in the queue. Each task of an array is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserJobs {
    /// Jobs that wait.
    pub pending: u32,
    /// Jobs that run or are suspended.
    pub running: u32,
}

/// Forecasts for the job that is submitted.
pub trait Forecasts {
    /// How long the job will wait at most in a partition, with the probability `quantile`; `None`
    /// where there is no forecast.
    fn wait(&self, partition: &str, quantile: f64) -> Option<Seconds>;

    /// The partition in which it is forecast to begin first.
    fn soonest_partition(&self) -> Option<&str>;
}

/// A source that has no forecasts.
#[derive(Clone, Copy, Debug)]
pub struct NoForecasts;

impl Forecasts for NoForecasts {
    fn wait(&self, _: &str, _: f64) -> Option<Seconds> {
        None
    }

    fn soonest_partition(&self) -> Option<&str> {
        None
    }
}

/// What can be read beside the fields of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Surrounding {
    /// `now`.
    Now,
    /// `kind`.
    Request,
    /// `current.known`.
    CurrentKnown,
    /// `current.age`.
    CurrentAge,
    /// `user.name`.
    UserName,
    /// `user.uid`.
    UserId,
    /// `user.groups`.
    UserGroups,
    /// `user.is_root`.
    IsRoot,
    /// `user.is_operator`.
    IsOperator,
    /// `user.submissions_last_hour`.
    SubmissionsLastHour,
    /// `forecast.soonest_partition`.
    SoonestPartition,
    /// `user.jobs_pending`.
    JobsPending,
    /// `user.jobs_running`.
    JobsRunning,
    /// `site.default_partition`, which the compiled rules hold.
    DefaultPartition,
}

/// A name that surrounds the job, in the form of a field that can't be written.
const fn read_only(name: &'static str, kind: Kind, may_be_absent: bool, meaning: &'static str) -> Field {
    let field = Field::new(name, kind, meaning);
    if may_be_absent { field.absent() } else { field }
}

impl Surrounding {
    /// All of them, with their names, kinds and meanings.
    pub const ALL: [(Surrounding, Field); 14] = [
        (Surrounding::Now, read_only("now", Kind::Moment, false, "The time of the submission.")),
        (Surrounding::Request, read_only("kind", Kind::Text, false, "`submit` or `modify`.")),
        (Surrounding::CurrentKnown, read_only("current.known", Kind::Truth, false, "Whether the job that is to be modified is known.")),
        (Surrounding::CurrentAge, read_only("current.age", Kind::Duration, false, "How long ago that job was read.")),
        (Surrounding::UserName, read_only("user.name", Kind::Text, true, "The user's name.")),
        (Surrounding::UserId, read_only("user.uid", Kind::Integer, false, "The user's number.")),
        (Surrounding::UserGroups, read_only("user.groups", Kind::Texts, true, "The names of the user's groups.")),
        (Surrounding::IsRoot, read_only("user.is_root", Kind::Truth, false, "Whether it is root or SlurmUser.")),
        (
            Surrounding::IsOperator,
            read_only("user.is_operator", Kind::Truth, false, "Whether the user is an operator or administrator of Slurm."),
        ),
        (
            Surrounding::SubmissionsLastHour,
            read_only("user.submissions_last_hour", Kind::Integer, true, "How many jobs the user has submitted within the last hour."),
        ),
        (
            Surrounding::SoonestPartition,
            read_only("forecast.soonest_partition", Kind::Text, true, "The partition in which the job is forecast to begin first."),
        ),
        (
            Surrounding::JobsPending,
            read_only("user.jobs_pending", Kind::Integer, true, "How many jobs of the user wait, each task of an array being one."),
        ),
        (
            Surrounding::JobsRunning,
            read_only("user.jobs_running", Kind::Integer, true, "How many jobs of the user run, each task of an array being one."),
        ),
        (
            Surrounding::DefaultPartition,
            read_only("site.default_partition", Kind::Text, true, "The partition of jobs that name none (`Default=YES` of slurm.conf)."),
        ),
    ];

    /// What it is.
    #[must_use]
    pub fn field(self) -> Option<&'static Field> {
        Self::ALL.iter().find(|(other, _)| *other == self).map(|(_, field)| field)
    }

    /// Reads it of a submission; `None` where it is absent, and where a submission does not have
    /// it.
    #[must_use]
    pub fn read<'a>(self, submission: &Submission<'a>) -> Option<Value<'a>> {
        let user = &submission.user;
        match self {
            Surrounding::Now => Some(Value::Moment(submission.now)),
            Surrounding::Request => Some(Value::Text(match submission.request {
                Request::Submit => "submit",
                Request::Modify => "modify",
            })),
            Surrounding::CurrentKnown => Some(Value::Truth(submission.current.is_some())),
            Surrounding::CurrentAge => submission.current.map(|current| Value::Duration(current.age)),
            Surrounding::UserName => user.name.map(Value::Text),
            Surrounding::UserId => Some(Value::Integer(i64::from(user.id.0))),
            Surrounding::UserGroups => user.groups.map(Value::Texts),
            Surrounding::IsRoot => Some(Value::Truth(user.is_root)),
            Surrounding::IsOperator => Some(Value::Truth(user.is_operator)),
            Surrounding::SubmissionsLastHour => user.submissions_last_hour.map(|count| Value::Integer(i64::from(count))),
            Surrounding::JobsPending => user.jobs.map(|jobs| Value::Integer(i64::from(jobs.pending))),
            Surrounding::JobsRunning => user.jobs.map(|jobs| Value::Integer(i64::from(jobs.running))),
            Surrounding::SoonestPartition => submission.forecasts.soonest_partition().map(Value::Text),
            Surrounding::DefaultPartition => None,
        }
    }
}
