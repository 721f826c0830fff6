//! What replays of the past do not know.

use super::state::NotKnown;
use crate::assessment::{Known, SiteScheduler};
use crate::engine::Departure;
use crate::engine::backfill::SlurmParameters;
use crate::engine::order::PrioritySettings;
use slurm_conf::SlurmSettings;

/// The site's scheduler as a slurm.conf has it, and what a replay does not have of that.
#[must_use]
pub fn scheduler_of(site: &SlurmSettings) -> (SiteScheduler, Vec<NotKnown>) {
    let written = site.get("SchedulerParameters");
    let (parameters, departures) = SlurmParameters::of_site(written.unwrap_or_default());
    let (priorities, of_priorities) = PrioritySettings::of_site(site);
    let known =
        Known { is_whole: site.problems.is_empty(), has_parameters: written.is_some(), has_priorities: PrioritySettings::are_in(site) };
    let not_known = departures.into_iter().chain(of_priorities).map(|departure| NotKnown {
        about: "the scheduler".to_owned(),
        why: match departure {
            Departure::NotModelled(setting) => format!("the replay has no {setting}, and goes without it"),
            Departure::NotTaken(what) => what,
        },
    });
    (SiteScheduler { parameters, priorities: Some(priorities), known: Some(known) }, not_known.collect())
}

/// What no replay of the guard knows.
#[must_use]
pub fn always() -> Vec<NotKnown> {
    let all = [
        ("admission and reservations", "they are not judged: no record says what jobs that were refused would have done"),
        (
            "run times at other sizes",
            "no past says what a job would have run at another size: it is drawn, along a curve of speed-up for each application",
        ),
        (
            "who uses it",
            "those who use it are drawn by their share of the jobs; that others than these users would have used it is not known",
        ),
        (
            "what was changed already",
            "a job that was molded or deferred is replayed as it ran, because what it would have run as written is not known",
        ),
        (
            "nodes",
            "each partition is replayed by itself, as so many CPUs as it has now: what its jobs and those of others that have the same nodes \
             do to each other is not seen, nor are nodes that were down",
        ),
        ("what did not run", "jobs that were cancelled before they started are left out, and so are dependencies and holds"),
    ];
    all.into_iter().map(|(about, why)| NotKnown { about: about.to_owned(), why: why.to_owned() }).collect()
}
