//! What the demonstration holds queuecast to.

use crate::gain::Gain;
use crate::submissions::{FinishedSubmission, Kind};
use end_to_end::Cluster;
use job_types::options::Mode;
use job_types::record::{Record, Written};

/// What a promise came to: kept, or why not.
pub(crate) type Kept = Result<(), String>;

/// Seconds between a time and the first that can be seen of it in a job's output.
const NOTICE_S: i64 = 3;

/// Holds all submissions against what was promised.
pub(crate) fn check(cluster: &Cluster, submissions: &[FinishedSubmission], gains: &[Gain]) -> Vec<(String, Kept)> {
    let mut promises = Vec::new();
    for submission in submissions {
        let (what, kept) = kept(submission);
        promises.push((format!("{}: {what}", submission.name()), kept));
    }
    let molded: Vec<&Gain> = gains.iter().filter(|gain| gain.is_molded()).collect();
    let paid = molded.iter().filter(|gain| gain.paid()).count();
    promises.push((
        format!("a molding pays: done sooner than was forecast as it was written ({paid} of {} jobs)", molded.len()),
        demand(paid > 0, || "no job was".to_owned()),
    ));
    let reserved = submissions.iter().filter(|submission| submission.kind == Kind::Reserve).count();
    promises.push((
        "a reservation could be had".to_owned(),
        demand(reserved > 0, || "none within five minutes, even with probability 0.25".to_owned()),
    ));
    for submission in submissions.iter().filter(|submission| submission.record.is_some()) {
        let explained = cluster.run("queuecast", &["explain", &submission.id, "--format", "json"]);
        let kept = demand(explained.status.success(), || String::from_utf8_lossy(&explained.stderr).into_owned());
        promises.push((format!("{}: it can be explained", submission.name()), kept));
    }
    let status = cluster.run("queuecast", &["status", "--format", "json"]);
    promises.push((
        "queuecast status finds all in order".to_owned(),
        demand(status.status.success(), || String::from_utf8_lossy(&status.stderr).into_owned()),
    ));
    promises
}

fn demand(kept: bool, why: impl FnOnce() -> String) -> Kept {
    if kept { Ok(()) } else { Err(why()) }
}

fn kept(submission: &FinishedSubmission) -> (&'static str, Kept) {
    match submission.kind {
        Kind::Plain => ("a job that asks for nothing is left as it is", untouched(submission)),
        Kind::Off => ("a job whose user says off is left as it is", untouched(submission)),
        Kind::Mold => ("its size is chosen or the reason told, and all its tasks run", molded(submission)),
        Kind::Defer => ("it is deferred as written or the reason told", deferred(submission)),
        Kind::Reserve => ("its nodes are there in time, and it waits on them until the time", reserved(submission, true)),
        Kind::ReserveAndRun => ("its nodes are there in time, and it runs at once", reserved(submission, false)),
        Kind::ReserveInVain => ("what can't be given is refused with a reason", refused(submission)),
        Kind::Deadline => ("the probability of its deadline is told, and it is done by then", deadline(submission)),
        Kind::MoldForDeadline => {
            ("its size is chosen for its deadline, and it is done by then", deadline(submission).and_then(|()| molded(submission)))
        }
    }
}

fn completed(submission: &FinishedSubmission) -> Kept {
    demand(submission.state == "COMPLETED", || format!("it is {}", submission.state))
}

fn all_tasks_ran(submission: &FinishedSubmission, tasks: u32) -> Kept {
    demand(submission.tasks_given == tasks && submission.tasks_run == Some(tasks), || {
        format!("of {tasks} tasks {} were given and {:?} ran", submission.tasks_given, submission.tasks_run)
    })
}

fn untouched(submission: &FinishedSubmission) -> Kept {
    completed(submission)?;
    demand(submission.record.is_none(), || "it carries a record".to_owned())?;
    demand(submission.said.is_empty(), || format!("sbatch said {:?}", submission.said))?;
    all_tasks_ran(submission, submission.tasks)
}

/// What was written, where the record says that it was done.
fn written(submission: &FinishedSubmission) -> Result<Option<&Written>, String> {
    let record = submission.record.as_ref().ok_or("it carries no record")?;
    demand(record.mode == Mode::Enforce, || format!("its mode is {:?}", record.mode))?;
    Ok(record.written.as_ref())
}

fn molded(submission: &FinishedSubmission) -> Kept {
    completed(submission)?;
    match written(submission)? {
        Some(written) => all_tasks_ran(submission, written.tasks.unwrap_or(submission.tasks))?,
        None => {
            demand(submission.said.contains("not molded: "), || format!("no reason in {:?}", submission.said))?;
            all_tasks_ran(submission, submission.tasks)?;
        }
    }
    demand(submission.said.contains("queuecast: "), || "the user was told nothing".to_owned())
}

fn deferred(submission: &FinishedSubmission) -> Kept {
    completed(submission)?;
    match written(submission)?.and_then(|written| written.begin) {
        Some(begin) => demand(submission.started >= begin, || "it started before its begin time".to_owned()),
        None => demand(submission.said.contains("not deferred: "), || format!("no reason in {:?}", submission.said)),
    }
}

fn reserved(submission: &FinishedSubmission, waits: bool) -> Kept {
    completed(submission)?;
    let at = submission.time.ok_or("it has no reserved time")?;
    written(submission)?.ok_or("nothing was written")?;
    // The daemon may have moved it since.
    let begin = submission.record.as_ref().and_then(Record::last_begin).ok_or("no begin time was written")?.0;
    let began = submission.began.ok_or("its script never began")?;
    demand(submission.started >= begin, || "it started before its begin time".to_owned())?;
    demand(submission.started <= at, || format!("it started {} s after the reserved time", submission.started - at))?;
    let asked = submission.record.as_ref().and_then(|record| record.asked.limit_s).unwrap_or(0);
    let from = if waits { at } else { submission.started };
    demand(submission.started + submission.limit_s >= from + asked, || "its limit ends before what it asked for".to_owned())?;
    if waits {
        demand((at..=at + NOTICE_S).contains(&began), || format!("reserved for {at}, its script began at {began}"))
    } else {
        demand(began <= submission.started + NOTICE_S, || "it did not run at once".to_owned())
    }
}

fn refused(submission: &FinishedSubmission) -> Kept {
    demand(submission.id.is_empty(), || "it was taken".to_owned())?;
    demand(submission.said.contains("queuecast: no reservation: "), || format!("no reason in {:?}", submission.said))
}

fn deadline(submission: &FinishedSubmission) -> Kept {
    completed(submission)?;
    let deadline = submission.time.ok_or("it has no deadline")?;
    let record = submission.record.as_ref().ok_or("it carries no record")?;
    let probability = record.forecast.as_ref().and_then(|forecast| forecast.deadline_probability);
    demand(probability.is_some(), || "its probability is not recorded".to_owned())?;
    demand(submission.said.contains("by the deadline in"), || format!("its probability is not told: {:?}", submission.said))?;
    demand(submission.ended <= deadline, || "it was done too late".to_owned())
}
