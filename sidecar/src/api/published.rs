//! The snapshot that is published, and what is told from it.

use std::path::Path;
use std::sync::Arc;

use daemon_api::Predict;
use forecast_report::{PRIVACY_NOTE, Prediction, QueueReport, UnknownPartition, WaitingJob, situation};
use job_types::number::UserId;
use job_types::time::UnixTime;
use predictor_core::decisions::{NodeRange, Submission, TimeLimit};
use predictor_core::snapshot::Snapshot;
use snapshot_writer::for_reader;

use super::applicant::is_operator;
use super::background::failed;
use super::refused::{Refused, one_of};

/// The snapshot that is published.
#[derive(Debug)]
pub(super) struct Published {
    snapshot: Arc<Snapshot<Vec<u8>>>,
    /// Whether users' jobs are private, so that each user may see another part of it.
    hides_jobs: bool,
}

/// What one user may see of a snapshot.
struct Seen {
    snapshot: Arc<Snapshot<Vec<u8>>>,
    /// What is to be known of what is left out.
    note: Option<String>,
}

impl Published {
    /// A snapshot; `None` if the bytes are none.
    pub(super) fn new(bytes: Vec<u8>, hides_jobs: bool) -> Option<Self> {
        Some(Self { snapshot: Arc::new(Snapshot::open(bytes).ok()?), hides_jobs })
    }

    /// Whether users' jobs are private.
    pub(super) fn hides_jobs(&self) -> bool {
        self.hides_jobs
    }

    /// The bytes of the snapshot: where users' jobs are private, with what is a user's of them.
    pub(super) fn bytes_of(&self, user: UserId) -> Vec<u8> {
        if self.hides_jobs { for_reader(&*self.snapshot, Some(user)) } else { self.snapshot.as_bytes().to_vec() }
    }

    /// What a user may see of it. Operators may read the file with the whole of it.
    fn seen_by(&self, user: UserId) -> Result<Seen, Refused> {
        if !self.hides_jobs || is_operator(user) {
            return Ok(Seen { snapshot: Arc::clone(&self.snapshot), note: None });
        }
        let own = Snapshot::open(self.bytes_of(user)).map_err(|error| {
            tracing::error!(%error, "the snapshot of one user can't be made: the API does not answer from it");
            failed()
        })?;
        Ok(Seen { snapshot: Arc::new(own), note: Some(PRIVACY_NOTE.to_owned()) })
    }

    /// The jobs that wait, as far as a user may see them. Users are told by their numbers: the
    /// names of many may take long to find out.
    ///
    /// # Errors
    /// By a fault of ours alone.
    pub(super) fn queue(&self, user: UserId, now: UnixTime) -> Result<QueueReport<WaitingJob>, Refused> {
        let Seen { snapshot, note } = self.seen_by(user)?;
        Ok(QueueReport::of(&snapshot, now, note, |_| None, Some))
    }

    /// What is forecast of a job of a user's. `off` is the file that switches the submit filter
    /// off, where there is one.
    ///
    /// # Errors
    /// The job has another partition than there are, or a deadline that has passed.
    pub(super) fn predict(&self, user: UserId, wanted: &Predict, off: Option<&Path>, now: UnixTime) -> Result<Prediction, Refused> {
        if wanted.deadline().is_some_and(|deadline| deadline <= now) {
            return Err(Refused::wrong("deadline", format!("a time after the present, which is {}", now.0)));
        }
        let Seen { snapshot, note } = self.seen_by(user)?;
        let submission = submission(user, wanted);
        let situation = situation(&snapshot, &submission, now).map_err(|unknown| wrong_partition(&unknown))?;
        let by: Vec<UnixTime> = wanted.by.iter().copied().map(UnixTime).collect();
        let mut prediction = Prediction::of(&situation, None, &by, off);
        prediction.notes.splice(..0, note);
        Ok(prediction)
    }
}

fn wrong_partition(unknown: &UnknownPartition) -> Refused {
    let known: Vec<&str> = unknown.known().iter().map(String::as_str).collect();
    Refused::wrong("partition", one_of(&known))
}

/// The job as sbatch would submit it.
fn submission(user: UserId, wanted: &Predict) -> Submission<'_> {
    Submission {
        user,
        partition: wanted.partition.as_deref(),
        account: wanted.account.as_deref(),
        qos: wanted.qos.as_deref(),
        nodes: Some(NodeRange { least: wanted.nodes, most: wanted.nodes }),
        min_cpus: wanted.cpus,
        whole_nodes: wanted.cpus.is_none(),
        limit: wanted.limit().map_or(TimeLimit::Unset, TimeLimit::Limited),
        begin: wanted.begin(),
        deadline: wanted.deadline(),
        asked: wanted.asked(),
        ..Submission::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::from_snapshot::site;
    use super::*;
    use axum::http::StatusCode;
    use job_types::time::Seconds;
    use made_up_site::{NOW, USER};

    fn published(hides_jobs: bool) -> Published {
        Published::new(site(NOW).bytes(), hides_jobs).unwrap()
    }

    /// A user who is no operator, whoever runs the tests, and has no jobs.
    const OTHER: UserId = UserId(USER + 77);

    #[test]
    fn everybody_sees_the_queue_where_it_is_not_private() {
        for user in [UserId(0), UserId(USER), OTHER] {
            let queue = published(false).queue(user, NOW).unwrap();
            let told: Vec<_> = queue.jobs.iter().map(|job| (job.job_id.0, job.user.0, job.expected_start, job.obstacle)).collect();
            assert_eq!(told, [(7, USER, Some(NOW.0 + 20), None), (5, USER + 1, None, Some("held"))]);
            assert_eq!((queue.pending_jobs, queue.plan_at, queue.notes.len()), (Some(2), Some(NOW.0), 0));
        }
    }

    #[test]
    fn where_jobs_are_private_users_see_their_own_and_operators_all() {
        let published = published(true);
        let seen = |user| -> Vec<u32> { published.queue(user, NOW).unwrap().jobs.iter().map(|job| job.job_id.0).collect() };
        assert_eq!([seen(UserId(0)), seen(UserId(USER)), seen(OTHER)], [vec![7, 5], vec![7], vec![]]);
        assert_eq!(published.queue(OTHER, NOW).unwrap().notes, [PRIVACY_NOTE]);
        let past = |user, hides_jobs| {
            let published = Published::new(site(NOW).bytes(), hides_jobs).unwrap();
            let wanted = Predict { nodes: 2, limit_s: Some(3_600), ..Predict::default() };
            published.predict(user, &wanted, None, NOW).unwrap()
        };
        assert!(past(UserId(USER), true).run_time.jobs > 0, "one's own past is known");
        assert_eq!(past(OTHER, true).notes.first().map(String::as_str), Some(PRIVACY_NOTE));
        assert_eq!(past(OTHER, false).notes.iter().filter(|note| *note == PRIVACY_NOTE).count(), 0);
    }

    #[test]
    fn a_job_is_forecast_as_the_command_forecasts_it() {
        let published = published(false);
        let wanted = Predict { nodes: 2, limit_s: Some(600), by: vec![NOW.0 + 86_400], ..Predict::default() };
        let told = published.predict(UserId(USER), &wanted, None, NOW).unwrap();
        assert_eq!((told.job.nodes, told.job.cpus, told.job.limit_s, told.job.partition.as_str()), (2, 8, Some(600), "batch"));
        assert_eq!(told.plan.unwrap().start.unwrap().expected_start, NOW.0, "8 CPUs for 10 min are free");
        assert_eq!(told.filter.why.as_deref(), Some("it asks for nothing, and no policy here applies to all jobs"));
        let asks = Predict { auto_mold: true, ..wanted.clone() };
        let asks = published.predict(UserId(USER), &asks, None, NOW).unwrap();
        assert!(asks.filter.record.is_some(), "{:?}", asks.filter);
        let off = published.predict(UserId(USER), &Predict { auto_mold: true, ..wanted }, Some(Path::new("/x/off")), NOW).unwrap();
        assert_eq!(off.filter.why.as_deref(), Some("switched off by /x/off"));
        let reserved = Predict { nodes: 2, limit_s: Some(600), reserve_at: Some(NOW.0 + 14_400), ..Predict::default() };
        assert!(published.predict(UserId(USER), &reserved, None, NOW).unwrap().trajectory.is_some());
    }

    #[test]
    fn what_can_not_be_forecast_is_refused_with_its_key() {
        let published = published(false);
        let refused = |wanted: Predict| {
            let Refused(status, refusal) = published.predict(UserId(USER), &wanted, None, NOW).unwrap_err();
            assert_eq!(status, StatusCode::BAD_REQUEST);
            (refusal.key.unwrap(), refusal.allowed.unwrap())
        };
        let nowhere = Predict { partition: Some("none".to_owned()), nodes: 1, ..Predict::default() };
        assert_eq!(refused(nowhere), ("partition".to_owned(), "one of batch".to_owned()));
        let late = Predict { deadline: Some((NOW - Seconds(1)).0), nodes: 1, ..Predict::default() };
        assert_eq!(refused(late).0, "deadline");
    }
}
