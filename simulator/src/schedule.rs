//! Start times for the jobs of a workload.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// One rigid job, as a scheduler sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// Submission, in seconds from the beginning of the workload.
    pub submit_time_seconds: u64,
    /// Processors, at least 1.
    pub processors: u64,
    /// How long it runs once it has started.
    pub run_time_seconds: u64,
    /// What the scheduler is told that it runs; a job that runs longer is expected to end at any moment.
    pub time_limit_seconds: u64,
}

/// Why a workload cannot be scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("job {index} wants {wanted} processors of a machine that has {available}")]
pub struct DoesNotFit {
    /// Its place among the jobs, from 0.
    pub index: usize,
    /// Its size.
    pub wanted: u64,
    /// The machine's size.
    pub available: u64,
}

/// Start times, in seconds, in the order of `jobs`, under first come first served with EASY backfilling: the first waiting job has
/// a reservation at the earliest moment at which enough processors are expected to be free, and a later job may overtake if it
/// fits now and does not delay that (D. Lifka, "The ANL/IBM SP Scheduling System", JSSPP 1995; A. Mu'alem and D. Feitelson,
/// "Utilization, Predictability, Workloads, and User Runtime Estimates in Scheduling the IBM SP2 with Backfilling", IEEE TPDS 12(6),
/// 2001). What ends and what is submitted at one instant is seen before anything is started at it.
///
/// # Errors
///
/// [`DoesNotFit`] for a job larger than the machine.
pub fn easy(jobs: &[Job], processors: u64) -> Result<Vec<u64>, DoesNotFit> {
    if let Some((index, job)) = jobs.iter().enumerate().find(|(_, job)| job.processors > processors) {
        return Err(DoesNotFit { index, wanted: job.processors, available: processors });
    }
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|&index| jobs[index].submit_time_seconds);
    let mut machine = Machine { jobs, free: processors, ends: BinaryHeap::new(), expected_ends: BTreeSet::new() };
    let mut starts = vec![0; jobs.len()];
    let mut waiting: Vec<usize> = Vec::new();
    let mut arrivals = order.into_iter().peekable();
    loop {
        let next_arrival = arrivals.peek().map(|&index| jobs[index].submit_time_seconds);
        let next_end = machine.ends.peek().map(|&Reverse((end, _))| end);
        let Some(now) = next_arrival.into_iter().chain(next_end).min() else {
            return Ok(starts);
        };
        machine.release_ended(now);
        while let Some(index) = arrivals.next_if(|&index| jobs[index].submit_time_seconds == now) {
            waiting.push(index);
        }
        machine.start_what_may(now, &mut waiting, |index| starts[index] = now);
    }
}

struct Machine<'a> {
    jobs: &'a [Job],
    free: u64,
    /// Running jobs by the moment at which they will end.
    ends: BinaryHeap<Reverse<(u64, usize)>>,
    /// Running jobs by the moment at which their limit ends.
    expected_ends: BTreeSet<(u64, usize)>,
}

impl Machine<'_> {
    fn release_ended(&mut self, now: u64) {
        while let Some(&Reverse((end, index))) = self.ends.peek() {
            if end > now {
                break;
            }
            self.ends.pop();
            let job = &self.jobs[index];
            self.free += job.processors;
            let start = end - job.run_time_seconds;
            self.expected_ends.remove(&(start + job.time_limit_seconds, index));
        }
    }

    fn start(&mut self, now: u64, index: usize) {
        let job = &self.jobs[index];
        self.free -= job.processors;
        self.ends.push(Reverse((now + job.run_time_seconds, index)));
        self.expected_ends.insert((now + job.time_limit_seconds, index));
    }

    /// When the job is expected to fit, and how many processors are then left over beside it.
    fn reservation(&self, now: u64, index: usize) -> (u64, u64) {
        let wanted = self.jobs[index].processors;
        let mut free = self.free;
        for &(expected_end, running) in &self.expected_ends {
            free += self.jobs[running].processors;
            if free >= wanted {
                return (expected_end.max(now), free - wanted);
            }
        }
        (now, free.saturating_sub(wanted))
    }

    fn start_what_may(&mut self, now: u64, waiting: &mut Vec<usize>, mut started: impl FnMut(usize)) {
        let heads = waiting
            .iter()
            .take_while(|&&index| {
                let fits = self.jobs[index].processors <= self.free;
                if fits {
                    self.start(now, index);
                    started(index);
                }
                fits
            })
            .count();
        waiting.drain(..heads);
        let Some(&head) = waiting.first() else {
            return;
        };
        let (reserved_at, mut left_over) = self.reservation(now, head);
        let mut position = 1;
        // The queue is closed up in one pass: `kept` is where the next job that goes on waiting belongs.
        let mut kept = 1;
        while position < waiting.len() && self.free > 0 {
            let index = waiting[position];
            let job = &self.jobs[index];
            let ends_in_time = now + job.time_limit_seconds <= reserved_at;
            if job.processors <= self.free && (ends_in_time || job.processors <= left_over) {
                if !ends_in_time {
                    left_over -= job.processors;
                }
                self.start(now, index);
                started(index);
            } else {
                waiting[kept] = index;
                kept += 1;
            }
            position += 1;
        }
        waiting.drain(kept..position);
    }
}

#[cfg(test)]
mod tests {
    use super::{DoesNotFit, Job, easy};

    fn job(submit_time_seconds: u64, processors: u64, run_time_seconds: u64, time_limit_seconds: u64) -> Job {
        Job { submit_time_seconds, processors, run_time_seconds, time_limit_seconds }
    }

    // Start times worked out by hand on a machine of 4 processors.

    #[test]
    fn a_short_job_overtakes_one_that_has_to_wait() {
        let jobs = [job(0, 3, 100, 100), job(1, 4, 10, 10), job(2, 1, 98, 98)];
        assert_eq!(easy(&jobs, 4).unwrap(), [0, 100, 2]);
    }

    #[test]
    fn a_job_that_would_delay_the_first_does_not_overtake() {
        let jobs = [job(0, 3, 100, 100), job(1, 4, 10, 10), job(2, 1, 98, 99)];
        assert_eq!(easy(&jobs, 4).unwrap(), [0, 100, 110]);
    }

    #[test]
    fn a_long_job_overtakes_on_processors_that_the_first_leaves_over() {
        let jobs = [job(0, 3, 100, 100), job(1, 3, 10, 10), job(2, 1, 500, 500), job(3, 1, 500, 500)];
        assert_eq!(easy(&jobs, 4).unwrap(), [0, 100, 2, 110]);
    }

    #[test]
    fn a_job_that_ends_early_lets_the_next_start_at_once() {
        let jobs = [job(0, 4, 50, 100), job(0, 4, 10, 10)];
        assert_eq!(easy(&jobs, 4).unwrap(), [0, 50]);
    }

    #[test]
    fn a_job_past_its_limit_is_expected_to_end_at_any_moment() {
        let jobs = [job(0, 3, 100, 10), job(1, 4, 10, 10), job(50, 1, 10, 10)];
        assert_eq!(easy(&jobs, 4).unwrap(), [0, 100, 110]);
    }

    #[test]
    fn submissions_need_not_be_in_order() {
        let jobs = [job(5, 4, 10, 10), job(0, 4, 10, 10)];
        assert_eq!(easy(&jobs, 4).unwrap(), [10, 0]);
    }

    #[test]
    fn a_job_larger_than_the_machine_is_refused() {
        assert_eq!(easy(&[job(0, 5, 1, 1)], 4), Err(DoesNotFit { index: 0, wanted: 5, available: 4 }));
    }
}
