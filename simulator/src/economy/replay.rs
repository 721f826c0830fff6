//! Jobs that bid, run by the engine.

use std::collections::BTreeSet;

use crate::economy::bids::ramp::Ramp;
use crate::engine::JobIndex;
use crate::engine::preemptive::{Bid, Cycle, Desk, GivenBids, Job, Milliseconds, Record, Rules, Standing, Submission, Users, simulate};

use super::Bidders;

/// How often users look after their jobs.
const HOUR: Milliseconds = Milliseconds(3_600_000);

/// What a replay came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// Each job with what became of it, in the order of the jobs.
    pub jobs: Vec<(Job, Record)>,
    /// Cycles of the scheduler.
    pub cycles: u64,
    /// The part of the node-time from the first submission to the last end in which nodes ran
    /// anything.
    pub utilisation: f64,
}

/// How users bid in a replay.
#[derive(Debug, Clone, Copy)]
pub enum Bidding<'a> {
    /// Each job has its bid for good, in credits per node and minute.
    Given(&'a [f64]),
    /// Each job's bid rises while it waits.
    Rising(Ramp),
}

/// Runs all jobs of a log, which all come to their end.
#[must_use]
pub fn replay(bidders: &Bidders, bidding: Bidding<'_>, rules: &Rules) -> Replay {
    let jobs = &bidders.jobs;
    let mut watched = Watched::default();
    let mut observe = |cycle: &Cycle| watched.cycle(cycle);
    let records = match bidding {
        Bidding::Given(bids) => {
            let bids: Vec<Bid> = bids.iter().map(|bid| Bid::nearest(*bid)).collect();
            simulate(jobs, bidders.nodes, rules, &mut GivenBids(&bids), &mut observe)
        }
        Bidding::Rising(ramp) => simulate(jobs, bidders.nodes, rules, &mut Impatient { ramp, next: BTreeSet::new() }, &mut observe),
    };
    let first = jobs.iter().map(|job| job.submit).min().unwrap_or_default();
    let last = records.iter().filter_map(|record| record.end).max().unwrap_or_default();
    let node_time = (last - first).0 as f64 * f64::from(bidders.nodes);
    let utilisation = if node_time > 0.0 { watched.busy_node_milliseconds / node_time } else { 0.0 };
    Replay { jobs: jobs.iter().copied().zip(records).collect(), cycles: watched.cycles, utilisation }
}

/// What is counted of the cycles.
#[derive(Debug, Default)]
struct Watched {
    cycles: u64,
    busy_node_milliseconds: f64,
    /// Nodes that are busy since the last cycle, and since when.
    since: Option<(Milliseconds, u32)>,
}

impl Watched {
    fn cycle(&mut self, cycle: &Cycle) {
        self.cycles += 1;
        if let Some((since, busy)) = self.since {
            self.busy_node_milliseconds += (cycle.at - since).0 as f64 * f64::from(busy);
        }
        self.since = Some((cycle.at, cycle.busy_nodes));
    }
}

/// Users who look after their jobs each hour, and bid more for one that waits then (9.1).
#[derive(Debug)]
struct Impatient {
    ramp: Ramp,
    /// When which job is looked after next, and how many times it was found waiting.
    next: BTreeSet<(Milliseconds, JobIndex, u64)>,
}

impl Users for Impatient {
    fn submission(&mut self, index: JobIndex, _: &Job, desk: &mut Desk<'_>) -> Submission {
        self.next.insert((desk.now() + HOUR, index, 0));
        Submission::Submits(Bid::nearest(self.ramp.bid(0)))
    }

    fn time(&mut self, desk: &mut Desk<'_>) {
        let now = desk.now();
        while let Some((_, job, mut waited)) = self.next.first().copied().filter(|(at, ..)| *at <= now) {
            self.next.pop_first();
            let standing = desk.standing(job);
            if !standing.is_present() {
                continue;
            }
            if standing != Standing::Running {
                waited += 1;
                desk.rebid(job, Bid::nearest(self.ramp.bid(HOUR.0.saturating_mul(waited))));
            }
            self.next.insert((now + HOUR, job, waited));
        }
    }

    fn wakes_at(&self) -> Option<Milliseconds> {
        self.next.first().map(|(at, ..)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::preemptive::SchedulerName;

    fn bidders(jobs: &[(u64, u64, u32)], nodes: u32) -> Bidders {
        let job = |&(submit, run, nodes): &(u64, u64, u32)| Job {
            user: 1,
            submit: Milliseconds(submit * 60_000),
            run_time: Milliseconds(run * 60_000),
            nodes,
            is_io_bound: false,
        };
        Bidders { jobs: jobs.iter().map(job).collect(), numbers: (1..=jobs.len() as u64).collect(), nodes, ineligible: 0, has_users: true }
    }

    #[test]
    fn a_replay_counts_the_time_in_which_nodes_run_anything() {
        let replay = replay(&bidders(&[(0, 60, 1), (0, 30, 2)], 2), Bidding::Given(&[1.0, 2.0]), &Rules::default());
        // The second runs for 30 minutes on both nodes, then the first for 60 on one.
        assert_eq!(replay.jobs.iter().map(|(_, job)| job.end.unwrap().0 / 60_000).collect::<Vec<_>>(), [90, 30]);
        assert!((replay.utilisation - 120.0 / 180.0).abs() < 1e-9, "{replay:?}");
    }

    #[test]
    fn a_job_that_bids_more_the_longer_it_waits_displaces_one_that_came_before() {
        let rules = Rules { scheduler: SchedulerName::Vickrey, ..Rules::default() };
        let ramp = Ramp { after_first_hour: 1.0, limit: 8.0 };
        let replay = replay(&bidders(&[(0, 600, 1), (10, 30, 1)], 1), Bidding::Rising(ramp), &rules);
        // An hour after its submission the second bids 1 and the first, which runs, still nothing.
        let [(_, first), (_, second)] = &replay.jobs[..] else { panic!("{replay:?}") };
        assert_eq!(second.first_start, Some(Milliseconds(70 * 60_000)));
        assert_eq!((first.suspensions, first.end), (1, Some(Milliseconds(630 * 60_000))));
    }
}
