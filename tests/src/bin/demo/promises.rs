//! What the demonstration holds queuecast to.

use crate::submissions::{Kind, Outcome};
use end_to_end::Cluster;
use predictor_core::options::Mode;
use predictor_core::record::Written;

/// What a promise came to: kept, or why not.
pub(crate) type Kept = Result<(), String>;

/// Seconds between a time and the first that can be seen of it in a job's output.
const NOTICE_S: i64 = 3;

/// Holds all outcomes against what was promised.
pub(crate) fn check(cluster: &Cluster, outcomes: &[Outcome]) -> Vec<(String, Kept)> {
    let mut promises = Vec::new();
    for outcome in outcomes {
        let (what, kept) = kept(outcome);
        promises.push((format!("{}: {what}", outcome.name()), kept));
    }
    let molded = outcomes.iter().filter(|outcome| outcome.is_molded()).count();
    promises.push((
        format!("a size was changed where another is forecast to finish first ({molded} jobs)"),
        demand(molded > 0, || "none was".to_owned()),
    ));
    let reserved = outcomes.iter().filter(|outcome| outcome.kind == Kind::Reserve).count();
    promises.push((
        "a reservation could be had".to_owned(),
        demand(reserved > 0, || "none within four minutes, even with probability 0.25".to_owned()),
    ));
    for outcome in outcomes.iter().filter(|outcome| outcome.record.is_some()) {
        let explained = cluster.run("queuecast", &["explain", &outcome.id, "--format", "json"]);
        let kept = demand(explained.status.success(), || String::from_utf8_lossy(&explained.stderr).into_owned());
        promises.push((format!("{}: it can be explained", outcome.name()), kept));
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

fn kept(outcome: &Outcome) -> (&'static str, Kept) {
    match outcome.kind {
        Kind::Plain => ("a job that asks for nothing is left as it is", untouched(outcome)),
        Kind::Off => ("a job whose user says off is left as it is", untouched(outcome)),
        Kind::Mold => ("its size is chosen or the reason told, and all its tasks run", molded(outcome)),
        Kind::Defer => ("it is deferred as written or the reason told", deferred(outcome)),
        Kind::Reserve => ("its nodes are there in time, and it waits on them until the time", reserved(outcome, true)),
        Kind::ReserveAndRun => ("its nodes are there in time, and it runs at once", reserved(outcome, false)),
        Kind::ReserveInVain => ("what can't be given is refused with a reason", refused(outcome)),
        Kind::Deadline => ("the probability of its deadline is told, and it is done by then", deadline(outcome)),
        Kind::MoldForDeadline => {
            ("its size is chosen for its deadline, and it is done by then", deadline(outcome).and_then(|()| molded(outcome)))
        }
    }
}

fn completed(outcome: &Outcome) -> Kept {
    demand(outcome.state == "COMPLETED", || format!("it is {}", outcome.state))
}

fn all_tasks_ran(outcome: &Outcome, tasks: u32) -> Kept {
    demand(outcome.tasks_given == tasks && outcome.tasks_run == Some(tasks), || {
        format!("of {tasks} tasks {} were given and {:?} ran", outcome.tasks_given, outcome.tasks_run)
    })
}

fn untouched(outcome: &Outcome) -> Kept {
    completed(outcome)?;
    demand(outcome.record.is_none(), || "it carries a record".to_owned())?;
    demand(outcome.said.is_empty(), || format!("sbatch said {:?}", outcome.said))?;
    all_tasks_ran(outcome, outcome.tasks)
}

/// What was written, where the record says that it was done.
fn written(outcome: &Outcome) -> Result<Option<&Written>, String> {
    let record = outcome.record.as_ref().ok_or("it carries no record")?;
    demand(record.mode == Mode::Enforce, || format!("its mode is {:?}", record.mode))?;
    Ok(record.written.as_ref())
}

fn molded(outcome: &Outcome) -> Kept {
    completed(outcome)?;
    match written(outcome)? {
        Some(written) => all_tasks_ran(outcome, written.tasks.unwrap_or(outcome.tasks))?,
        None => {
            demand(outcome.said.contains("not molded: "), || format!("no reason in {:?}", outcome.said))?;
            all_tasks_ran(outcome, outcome.tasks)?;
        }
    }
    demand(outcome.said.contains("queuecast: "), || "the user was told nothing".to_owned())
}

fn deferred(outcome: &Outcome) -> Kept {
    completed(outcome)?;
    match written(outcome)?.and_then(|written| written.begin) {
        Some(begin) => demand(outcome.started >= begin, || "it started before its begin time".to_owned()),
        None => demand(outcome.said.contains("not deferred: "), || format!("no reason in {:?}", outcome.said)),
    }
}

fn reserved(outcome: &Outcome, waits: bool) -> Kept {
    completed(outcome)?;
    let at = outcome.time.ok_or("it has no reserved time")?;
    let written = written(outcome)?.ok_or("nothing was written")?;
    let begin = written.begin.ok_or("no begin time was written")?;
    let began = outcome.began.ok_or("its script never began")?;
    demand(outcome.started >= begin, || "it started before its begin time".to_owned())?;
    demand(outcome.started <= at, || format!("it started {} s after the reserved time", outcome.started - at))?;
    let asked = outcome.record.as_ref().and_then(|record| record.asked.limit_s).unwrap_or(0);
    demand(begin + outcome.limit_s >= at + asked, || "its padded limit ends before what it asked for".to_owned())?;
    if waits {
        demand((at..=at + NOTICE_S).contains(&began), || format!("reserved for {at}, its script began at {began}"))
    } else {
        demand(began <= outcome.started + NOTICE_S, || "it did not run at once".to_owned())
    }
}

fn refused(outcome: &Outcome) -> Kept {
    demand(outcome.id.is_empty(), || "it was taken".to_owned())?;
    demand(outcome.said.contains("queuecast: no reservation: "), || format!("no reason in {:?}", outcome.said))
}

fn deadline(outcome: &Outcome) -> Kept {
    completed(outcome)?;
    let deadline = outcome.time.ok_or("it has no deadline")?;
    let record = outcome.record.as_ref().ok_or("it carries no record")?;
    let probability = record.forecast.as_ref().and_then(|forecast| forecast.deadline_probability);
    demand(probability.is_some(), || "its probability is not recorded".to_owned())?;
    demand(outcome.said.contains("by the deadline in"), || format!("its probability is not told: {:?}", outcome.said))?;
    demand(outcome.ended <= deadline, || "it was done too late".to_owned())
}
