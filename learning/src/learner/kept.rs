//! What has to be kept over a restart, and of which version it is.
//!
//! A learner and a history are kept whole, by `serde`. Their fields have no meaning outside of the
//! code that wrote them, so that what was kept by other sources than these is not to be read:
//! [`SOURCES`] tells them apart, and changes with every change of this crate, of `predictor-core`
//! or of `job-types`.

use super::{Learner, LearnerSettings};

/// The sources that this crate, `predictor-core` and `job-types` were built from, as sixteen
/// hexadecimal digits.
pub const SOURCES: &str = env!("QUEUECAST_SOURCES");

impl Learner {
    /// Whether there is anything to keep: the past has been gone through.
    #[must_use]
    pub fn is_worth_keeping(&self) -> bool {
        self.is_filled()
    }

    /// A learner that was kept, to go on with these settings. What has ended since is to be told
    /// before the next refresh, in any order.
    #[must_use]
    pub fn resumed(mut self, settings: LearnerSettings) -> Learner {
        self.settings = settings;
        self
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::{NamedJob, Run, RunId};
    use super::*;
    use job_types::job::{Job, WaitingJob};
    use job_types::number::{JobId, PartitionIndex, UserId};
    use job_types::size::Size;
    use job_types::time::{Seconds, UnixTime};

    /// Few trees, which are trained quickly.
    fn settings() -> LearnerSettings {
        let mut settings = LearnerSettings::default();
        settings.waits.training.trees = 5;
        settings
    }

    fn run(job: u32, now: i64) -> Run<NamedJob<'static>> {
        let wait = i64::from(job * 7_919 % 600);
        let begin = i64::from(job) * 40;
        let (start, end) = (begin + wait, begin + wait + i64::from(job % 300) + 60);
        let waiting = Job::Waiting(WaitingJob {
            user: UserId(100 + job % 17),
            account: if job.is_multiple_of(2) { "physics" } else { "biology" },
            partition: PartitionIndex((job % 2) as u16),
            qos: "normal",
            size: Size { nodes: 1 + job % 3, cpus: 4 * (1 + job % 3) },
            limit: Some(Seconds(600 * i64::from(1 + job % 3))),
            eligible: UnixTime(begin),
        });
        let started = if start <= now { waiting.started(UnixTime(start), None) } else { waiting };
        Run {
            id: RunId { submitted: begin, job: JobId(job) },
            array: None,
            tasks: 1,
            is_held: false,
            job: if end <= now { started.ended(UnixTime(end), Seconds::ZERO) } else { started },
            recorded_forecast: None,
            promise: None,
            admission: None,
            is_in_slot: false,
            is_interrupted: false,
        }
    }

    /// Tells a learner what ended between two moments, and shows it the queue of the second.
    fn go_on(learner: &mut Learner, after: i64, now: i64) {
        let runs = (1..=(now / 40) as u32).map(|job| run(job, now));
        let (ended, live): (Vec<_>, Vec<_>) = runs.partition(|run| run.job.end().is_some());
        for run in ended {
            let Job::Ended(job) = run.job else { continue };
            assert!(job.end.0 <= after || learner.ended(&run.with(job)));
        }
        learner.refresh(live, UnixTime(now));
        if let Some(retraining) = learner.retraining() {
            learner.adopt(retraining.run().unwrap());
        }
    }

    #[test]
    fn a_learner_that_was_kept_goes_on_as_if_it_had_never_stopped() {
        let mut whole = Learner::new(settings());
        assert!(!whole.is_worth_keeping());
        whole.set_cpus(256);
        go_on(&mut whole, 0, 80_000);
        go_on(&mut whole, 80_000, 84_000);
        assert!(whole.model(0.95).forests.is_some() && whole.open_runs() > 0 && whole.is_worth_keeping());

        let bytes = postcard::to_stdvec(&whole).unwrap();
        let kept: Learner = postcard::from_bytes(&bytes).unwrap();
        let mut kept = kept.resumed(settings());
        assert_eq!(postcard::to_stdvec(&kept).unwrap().len(), bytes.len());
        for (after, now) in [(84_000, 84_400), (84_400, 130_000), (130_000, 131_000)] {
            go_on(&mut whole, after, now);
            go_on(&mut kept, after, now);
            let (whole, kept) = (whole.model(0.95), kept.model(0.95));
            assert_eq!(whole.forests, kept.forests);
            assert_eq!((whole.weights, &whole.table), (kept.weights, &kept.table));
            assert_eq!((&whole.ends_by_limit, &whole.ends_expected), (&kept.ends_by_limit, &kept.ends_expected));
            assert_eq!((&whole.accounts, &whole.qos, &whole.scores), (&kept.accounts, &kept.qos, &kept.scores));
            assert_eq!(whole.run_times, kept.run_times);
            let sorted = |model: &predictor_core::forecasts::wait_model::WaitModel| {
                let mut groups = model.groups.clone();
                groups.sort_by_key(|(key, _)| *key);
                groups
            };
            assert_eq!(sorted(&whole), sorted(&kept));
        }
    }

    #[test]
    fn what_was_cut_short_is_an_error_and_no_learner() {
        let mut learner = Learner::new(settings());
        go_on(&mut learner, 0, 30_000);
        let bytes = postcard::to_stdvec(&learner).unwrap();
        for length in (0..bytes.len()).step_by(997) {
            assert!(postcard::from_bytes::<Learner>(&bytes[..length]).is_err());
        }
    }
}
