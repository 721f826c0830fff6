//! Run times as they would have been on nodes that were not shared (6.2.5).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::engine::preemptive::{Job, Milliseconds};

/// Divides the run time of each job of a time-shared machine by the machine's load at the job's
/// start, which is its submission: the nodes that jobs occupy, itself among them, over the nodes
/// that there are. A load below 1 is 1.
///
/// `jobs` are in the order of submission.
pub fn undilate(jobs: &mut [Job], machine_nodes: u32) {
    // The logged end and the nodes of each job that is running.
    let mut running: BinaryHeap<Reverse<(Milliseconds, u32)>> = BinaryHeap::new();
    let mut occupied: u64 = 0;
    let mut rest = jobs;
    // Jobs that start at one moment run beside each other.
    while let Some(now) = rest.first().map(|job| job.submit) {
        while let Some(Reverse((end, nodes))) = running.peek().copied()
            && end <= now
        {
            running.pop();
            occupied -= u64::from(nodes);
        }
        let together = rest.iter().take_while(|job| job.submit == now).count();
        let (starting, later) = rest.split_at_mut(together);
        for job in starting.iter() {
            running.push(Reverse((now + job.run_time, job.nodes)));
            occupied += u64::from(job.nodes);
        }
        let load = (occupied as f64 / f64::from(machine_nodes.max(1))).max(1.0);
        for job in starting {
            job.run_time = Milliseconds((job.run_time.0 as f64 / load).round() as u64);
        }
        rest = later;
    }
}

#[cfg(test)]
mod tests {
    use super::undilate;
    use crate::economy::made_up::{at, job};

    #[test]
    fn a_run_time_is_divided_by_the_load_at_its_start() {
        // Four nodes: the first two jobs fill them, the third makes the load 1.5, and when the
        // fourth comes the first, which is logged with 100 s, has ended.
        let mut jobs = [at(0, job(1, 100, 2)), at(0, job(1, 300, 2)), at(50, job(2, 90, 2)), at(140, job(2, 60, 6))];
        undilate(&mut jobs, 4);
        assert_eq!(jobs.map(|job| job.run_time.0), [100_000, 300_000, 60_000, 30_000]);
    }

    #[test]
    fn a_machine_that_is_not_full_changes_nothing() {
        let mut jobs = [job(1, 100, 1), job(1, 7, 2)];
        let before = jobs;
        undilate(&mut jobs, 4);
        assert_eq!(jobs, before);
    }
}
