//! All that is forecast of a described job, and what the submit filter would do with it.

use std::path::Path;

use job_types::time::UnixTime;
use serde::Serialize;

use crate::filter::FilterReport;
use crate::forecast::{DoneReport, RunTimeReport, WaitReport};
use crate::job::JobReport;
use crate::plan::PlanReport;
use crate::situation::{Situation, notes};
use crate::trajectory::TrajectoryReport;

/// The whole report.
#[derive(Debug, Serialize)]
pub struct Prediction {
    /// The number of the snapshot.
    pub generation: u64,
    /// How old it is, in seconds.
    pub snapshot_age_s: i64,
    /// The cluster whose snapshot it is.
    pub cluster: String,
    /// The job as it would be submitted.
    pub job: JobReport,
    /// How long it would wait; `None` where nothing is known of waits in its partition.
    pub wait: Option<WaitReport>,
    /// What the plan of the queue says of it; `None` without a plan.
    pub plan: Option<PlanReport>,
    /// How long it would run.
    pub run_time: RunTimeReport,
    /// How probably it is done by its deadline, and by other times.
    pub done: Vec<DoneReport>,
    /// What the submit filter would do with it.
    pub filter: FilterReport,
    /// For a reserved time, the probability of having the nodes then.
    pub trajectory: Option<TrajectoryReport>,
    /// What else is to be known.
    pub notes: Vec<String>,
}

impl Prediction {
    /// What is forecast of a job by now, and of its being done by some times. `off` is the file
    /// that switches the filter off, where there is one.
    #[must_use]
    pub fn of(situation: &Situation<'_>, user_name: Option<String>, by: &[UnixTime], off: Option<&Path>) -> Self {
        let snapshot = situation.forecasts;
        let filter = FilterReport::of(situation, off);
        Self {
            generation: snapshot.generation(),
            snapshot_age_s: snapshot.age(situation.now).0,
            cluster: snapshot.provenance().cluster.to_owned(),
            job: JobReport::of(situation, user_name),
            wait: WaitReport::of(situation),
            plan: PlanReport::of(situation),
            run_time: RunTimeReport::of(situation),
            done: DoneReport::all(situation, by),
            trajectory: TrajectoryReport::of(situation, filter.decided_size()),
            filter,
            notes: notes(situation),
        }
    }
}
