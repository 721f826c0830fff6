//! What can't be said from a past, and why: each item follows from the data.

use job_types::text::count;
use serde::Serialize;

use super::FEWEST_JOBS;
use super::forecasts::Forecasts;
use super::molding::Under;
use super::past::Past;
use super::schedulers::{Schedule, Schedulers, SiteScheduler};
use super::verdict::{self, FEWEST_WITH_BOUNDS, percent, time};
use crate::evaluation::PartReport;
use crate::swf::Log;

/// Something that can't be said, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotSaid {
    /// The subject of the limitation.
    pub about: &'static str,
    /// What can't be said, and why.
    pub why: String,
    /// Whether the limitation bears on the verdict itself, so that it belongs beside the verdict.
    pub is_weighty: bool,
}

/// A past that is shorter than this does not show a cluster's year.
const A_SEASON_DAYS: f64 = 90.0;

/// The list for this past.
pub(super) fn of(
    log: &Log,
    past: &Past,
    forecasts: Option<&Forecasts>,
    schedulers: Option<&Schedulers>,
    scheduler: &SiteScheduler,
) -> Vec<NotSaid> {
    let mut found = Vec::new();
    let mut add = |is_weighty: bool, about: &'static str, why: String| found.push(NotSaid { about, why, is_weighty });
    let known = |field: fn(&crate::swf::Record) -> bool| log.records.iter().filter(|record| field(record)).count();

    if past.ran < FEWEST_JOBS {
        add(
            true,
            "forecasts, molding and schedulers",
            format!("{} jobs ran: fewer than {FEWEST_JOBS} are only described.", count(past.ran)),
        );
    } else if past.ran < verdict::FEWEST_JOBS {
        add(
            true,
            "the answer",
            format!("{} jobs ran. The figures below are those of so few, and the next as many may look otherwise.", count(past.ran)),
        );
    }
    if let Some(schedulers) = schedulers {
        let own = if schedulers.is_site_known { Under::Site } else { Under::SlurmDefaults };
        for (about, under) in [("what molding and other settings would do", own), ("what molding would do under EASY", Under::Easy)] {
            let why = under.schedule(schedulers).and_then(|schedule| unlike(schedulers, schedule, under.how()));
            if let Some(why) = why {
                add(true, about, why);
            }
        }
    }
    if !past.says_waits {
        add(
            true,
            "waits",
            "The past does not say how long jobs waited. So waits are not forecast, no replay can be held against what happened, and run times are forecast as if every job had started when it was submitted.".to_owned(),
        );
    }
    if past.queues > 1 {
        add(
            true,
            "partitions",
            format!(
                "The jobs are of {} queues or partitions, and the past does not say which nodes each has. Replays let all of them run on all {} processors. Forecasts know them apart.",
                count(past.queues),
                count(past.processors as usize)
            ),
        );
    }
    if past.days < A_SEASON_DAYS {
        add(
            false,
            "other times of the year",
            format!("The past goes over {:.1} days. What is before deadlines, terms or holidays may not be in it.", past.days),
        );
    }
    if !past.says_processors {
        add(
            true,
            "the size of the machine",
            format!(
                "The past does not say it: it is taken to be {}, as large as the largest job. Give it with --processors.",
                count(past.processors as usize)
            ),
        );
    }
    if past.without_limit > 0 {
        let part = percent(past.without_limit as f64 / past.replayable.max(1) as f64);
        add(
            2 * past.without_limit > past.replayable,
            "time limits",
            format!(
                "{} of the jobs replayed ({part}) have no time limit. A scheduler in the replay knows how long they run, which backfills better than any cluster can.",
                count(past.without_limit)
            ),
        );
    }
    if past.larger_than_machine > 0 {
        add(
            false,
            "jobs larger than the machine",
            format!("{} jobs had more processors than the machine has. In replays they get all of it.", count(past.larger_than_machine)),
        );
    }
    let memory = known(|record| record.requested_memory_kilobytes.is_some_and(|memory| memory > 0.0));
    let of_memory = if memory == 0 {
        "The past does not say how much memory jobs ask for.".to_owned()
    } else {
        format!("{} jobs say how much memory they ask for, which replays do not count.", count(memory))
    };
    add(
        false,
        "memory",
        format!(
            "{of_memory} A job that waits for memory is taken to wait for processors, and one that is molded to fewer nodes may lack it."
        ),
    );
    add(false, "generic resources and features", "The past does not say which jobs ask for GPUs, licences or nodes of a kind: replays give them any processors. queuecast itself leaves the sizes of such jobs alone or makes them smaller only.".to_owned());
    add(
        false,
        "nodes",
        "Replays count processors and not nodes: that a job finds enough of them, but on too many nodes, does not happen there.".to_owned(),
    );
    let dependent = known(|record| record.preceding_job.is_some());
    add(
        false,
        "dependencies and holds",
        if dependent == 0 {
            "The past does not say which jobs waited for others, for a begin time or on hold. That time counts as waiting in the queue where the past counts it.".to_owned()
        } else {
            format!("{} jobs name one that they waited for. Replays submit them when their users did.", count(dependent))
        },
    );
    let priorities = match (scheduler.known.is_some(), scheduler.priorities.is_some()) {
        (true, true) => {
            "Replays order jobs by the site's weights, but all users have equal shares in them, and limits of accounts and qualities of service are not known."
        }
        _ => "Replays serve jobs in the order in which they came: the site's priorities are not known. --slurm-conf reads them.",
    };
    add(false, "priorities and limits", priorities.to_owned());
    add(
        false,
        "what a job runs at another size",
        "It is in no past. Molding is replayed with curves of speed-up that are drawn around the sizes that users ask for (Downey 1997), three times. Programs that run at one size only are not known, and neither is how many users would ask.".to_owned(),
    );
    if past.serial > 0 {
        let part = percent(past.serial as f64 / past.ran.max(1) as f64);
        add(
            2 * past.serial > past.ran,
            "jobs on one processor",
            format!("{} jobs ({part}) ask for one processor. Molding can't make them smaller.", count(past.serial)),
        );
    }
    if past.left_out > 0 {
        add(
            false,
            "jobs that were left out",
            format!("Of {} jobs it is not known when they left the queue, or how large they were.", count(past.left_out)),
        );
    }
    if let Some(forecasts) = forecasts {
        let used = forecasts.history_jobs + forecasts.jobs;
        if used < past.ran {
            add(
                false,
                "the earlier jobs",
                format!(
                    "Forecasts are held against the last {} of {} jobs, with {} before those as their history; replays take the last as well. A cluster that has changed is judged by its present.",
                    count(forecasts.jobs),
                    count(past.ran),
                    count(forecasts.history_jobs)
                ),
            );
        }
        let small = |part: &PartReport| part.jobs - part.jobs_without_bounds < FEWEST_WITH_BOUNDS;
        let queues: Vec<&str> =
            forecasts.waits.by_queue.iter().filter(|queue| small(&queue.part)).map(|queue| queue.queue.as_str()).collect();
        if !queues.is_empty() && forecasts.waits.by_queue.len() > 1 {
            add(
                false,
                "bounds in small queues",
                format!(
                    "Fewer than {FEWEST_WITH_BOUNDS} jobs had bounds in {}: how often bounds hold there is not known to a few parts of a hundred.",
                    listed(&queues)
                ),
            );
        }
    }
    found
}

/// How a replay differs from what happened, where jobs wait less than half as long in it as they
/// did, or more than twice.
fn unlike(schedulers: &Schedulers, schedule: &Schedule, how: &str) -> Option<String> {
    let logged = schedulers.logged_wait_s.as_ref()?;
    let ratio = verdict::wait_ratio(schedulers, schedule).filter(|ratio| !(0.5..=2.0).contains(ratio))?;
    let reason = if ratio < 1.0 {
        "something held jobs back that the replay does not have: limits of users and accounts, partitions with nodes of their own, reservations, dependencies, downtimes"
    } else {
        "the replay schedules worse than the cluster did, or has less room: other settings or priorities, jobs that share nodes, a machine that has grown"
    };
    Some(format!(
        "Replayed {how}, the last {} jobs wait {} in the mean; in fact they waited {}. So {reason}. Take the figures for a direction, not for a size.",
        count(schedulers.jobs),
        time(schedule.wait_s.mean),
        time(logged.mean)
    ))
}

/// The first names of a list, and how many more there are.
fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 5;
    let shown = names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}
