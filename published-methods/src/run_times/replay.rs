//! A predictor goes through the past in order of time.

use job_types::job::EndedJob;
use job_types::time::UnixTime;
use learning::run_times::{ArrivingJob, RunTimePrediction, RunTimePredictor};
use learning::sweep::{Event, EventKind};

/// Tells `predictor` the `events` of the `jobs` (see [`learning::sweep::events`]) that happen
/// before `until`, all of them where that is `None`, and asks it about each job as it arrives. What
/// it says is handed to `arrived` and each end, after the predictor was told of it, to `ended`,
/// both with the index of the job.
pub(super) fn replay<P: RunTimePredictor + ?Sized>(
    jobs: &[EndedJob],
    events: &[Event],
    until: Option<UnixTime>,
    predictor: &mut P,
    mut arrived: impl FnMut(usize, Option<RunTimePrediction>),
    mut ended: impl FnMut(usize),
) {
    for event in events.iter().take_while(|event| until.is_none_or(|until| event.at < until)) {
        let index = event.job as usize;
        let Some(past) = jobs.get(index) else { continue };
        let job = ArrivingJob::new(event.job, past);
        match event.kind {
            EventKind::Arrival => arrived(index, predictor.predict(&job)),
            EventKind::Start => predictor.starts(&job, event.at),
            EventKind::End | EventKind::EndAtOnce => {
                predictor.ends(&job, event.at, past.run_time());
                ended(index);
            }
        }
    }
}
