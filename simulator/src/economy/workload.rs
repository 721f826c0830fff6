//! The jobs of a log that can bid.

use crate::swf::Log;
use crate::workload::{FOR_REPLAY, LoggedJob};

use super::year::{Shape, published, year};
use crate::engine::preemptive::{Job, Milliseconds};

/// The user of a job of which the log does not say whose it is.
const NOBODY: u32 = u32::MAX;

/// The jobs of a log that can bid for nodes of its machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Bidders {
    /// In the order of their submissions; those of one moment in the log's order.
    pub jobs: Vec<Job>,
    /// Their numbers in the log.
    pub numbers: Vec<u64>,
    /// The nodes of the machine.
    pub nodes: u32,
    /// Jobs that are left out, because they never ran or want more nodes than there are (5.2.3.2).
    pub ineligible: usize,
    /// Whether the log says of each of the jobs whose it is.
    pub has_users: bool,
}

/// A log of which nothing can be replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoBidders {
    /// The machine is smaller than a node.
    #[error("the machine of the log has {processors} processors, fewer than a node of --node-processors")]
    NoNode {
        /// Processors of the machine.
        processors: u32,
    },
    /// No job could run.
    #[error(
        "none of its {jobs} jobs says when it was submitted, how long it ran and on how many processors (fields 2, 4 and 5), \
         on no more than the machine has"
    )]
    None {
        /// The jobs of the log.
        jobs: usize,
    },
    /// The part that is wanted lies behind the last job.
    #[error("fewer than {from} of its jobs can bid; choose a smaller --from")]
    NoPart {
        /// The first job that is wanted.
        from: usize,
    },
}

impl Bidders {
    /// Reads the jobs `from` to `to` of a log, counted from 1 among those that can bid, of a
    /// machine of so many processors. Sizes count nodes of `node_processors`.
    ///
    /// # Errors
    ///
    /// [`NoBidders`].
    pub fn of(log: &Log, processors: u32, node_processors: u32, (from, to): (usize, usize)) -> Result<Self, NoBidders> {
        let node_processors = node_processors.max(1);
        let nodes = processors / node_processors;
        if nodes == 0 {
            return Err(NoBidders::NoNode { processors });
        }
        let mut eligible: Vec<(u64, Job)> = log.records.iter().filter_map(|record| job(record, node_processors)).collect();
        eligible.retain(|(_, job)| job.nodes <= nodes);
        if eligible.is_empty() {
            return Err(NoBidders::None { jobs: log.records.len() });
        }
        let ineligible = log.records.len() - eligible.len();
        eligible.sort_by_key(|(_, job)| job.submit);
        Self::part(eligible.into_iter(), nodes, ineligible, (from, to))
    }

    /// The jobs `from` to `to` of the made-up year of a seed, on its machine.
    ///
    /// # Errors
    ///
    /// [`NoBidders::NoPart`].
    pub fn of_year(seed: u64, part: (usize, usize)) -> Result<Self, NoBidders> {
        Self::part((1..).zip(year(&Shape::default(), seed)), published::NODES, 0, part)
    }

    fn part(all: impl Iterator<Item = (u64, Job)>, nodes: u32, ineligible: usize, (from, to): (usize, usize)) -> Result<Self, NoBidders> {
        let (numbers, jobs): (Vec<u64>, Vec<Job>) = all.take(to).skip(from.saturating_sub(1)).unzip();
        if jobs.is_empty() {
            return Err(NoBidders::NoPart { from });
        }
        let has_users = jobs.iter().all(|job| job.user != NOBODY);
        Ok(Self { jobs, numbers, nodes, ineligible, has_users })
    }
}

/// A record as a job, with its number in the log; `None` where it lacks what a replay needs.
fn job(record: &crate::swf::Record, node_processors: u32) -> Option<(u64, Job)> {
    let logged = LoggedJob::from(record);
    if logged.first_lack(&FOR_REPLAY).is_some() {
        return None;
    }
    let milliseconds = |seconds: i64| Some(Milliseconds(u64::try_from(seconds).ok()?.checked_mul(1_000)?));
    let job = Job {
        user: logged.user.map_or(NOBODY, |user| user.0),
        submit: milliseconds(logged.submit?.0)?,
        run_time: milliseconds(logged.run_time?.0)?,
        nodes: logged.allocated?.div_ceil(node_processors),
        is_io_bound: false,
    };
    Some((record.job_number, job))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::swf::Reader;

    fn log(jobs: &str) -> Log {
        Reader::new(jobs.as_bytes()).unwrap().into_log().unwrap()
    }

    const JOBS: &str = "1 50 5 60 4 -1 -1 4 90 -1 1 3 1 -1 1 -1 -1 -1\n\
                        2 9 5 70 9 -1 -1 9 -1 -1 1 4 1 -1 1 -1 -1 -1\n\
                        3 7 5 -1 4 -1 -1 4 -1 -1 5 4 1 -1 1 -1 -1 -1\n\
                        4 8 5 10 3 -1 -1 3 -1 -1 1 -1 1 -1 1 -1 -1 -1\n";

    #[test]
    fn jobs_that_never_ran_or_are_larger_than_the_machine_are_left_out_and_counted() {
        let bidders = Bidders::of(&log(JOBS), 8, 1, (1, usize::MAX)).unwrap();
        assert_eq!((bidders.numbers, bidders.ineligible, bidders.has_users), (vec![4, 1], 2, false));
        let whole = Job { user: 3, submit: Milliseconds(50_000), run_time: Milliseconds(60_000), nodes: 4, is_io_bound: false };
        assert_eq!(bidders.jobs[1], whole);
    }

    #[test]
    fn sizes_count_whole_nodes() {
        let bidders = Bidders::of(&log(JOBS), 12, 2, (1, usize::MAX)).unwrap();
        assert_eq!(bidders.nodes, 6);
        assert_eq!(bidders.jobs.iter().map(|job| job.nodes).collect::<Vec<_>>(), [2, 5, 2]);
    }

    #[test]
    fn a_part_of_the_jobs_is_counted_among_those_that_can_bid() {
        let bidders = Bidders::of(&log(JOBS), 12, 1, (2, 2)).unwrap();
        assert_eq!(bidders.numbers, [2]);
        assert_eq!(Bidders::of(&log(JOBS), 12, 1, (4, 9)), Err(NoBidders::NoPart { from: 4 }));
    }

    #[test]
    fn the_made_up_year_is_bid_on_whole_or_in_part() {
        let bidders = Bidders::of_year(1, (11, 20)).unwrap();
        assert_eq!((bidders.nodes, bidders.numbers.first(), bidders.jobs.len()), (106, Some(&11), 10));
    }

    #[test]
    fn a_log_without_anything_to_bid_on_is_refused() {
        let error = Bidders::of(&log(JOBS), 2, 1, (1, usize::MAX)).unwrap_err();
        assert!(error.to_string().starts_with("none of its 4 jobs"), "{error}");
        assert_eq!(Bidders::of(&log(JOBS), 2, 4, (1, usize::MAX)).unwrap_err(), NoBidders::NoNode { processors: 2 });
    }
}
