//! Each job does its run time in work, however its speed changes.

use market::Milliseconds;
use proptest::prelude::*;

use super::super::execution::Execution;
use super::super::{Factors, Job, Slowdown};

const NODES: u32 = 4;

/// A job that starts at a moment on these nodes, is suspended after a while and goes on later.
#[derive(Debug, Clone)]
struct Plan {
    job: Job,
    on: Vec<u32>,
    start: u64,
    suspended: (u64, u64),
}

fn plan() -> impl Strategy<Value = Plan> {
    let on = proptest::sample::subsequence((0..NODES).collect::<Vec<_>>(), 1..=NODES as usize);
    (on, 0..200_u64, 1..300_u64, 1..400_u64, 1..100_u64, any::<bool>()).prop_map(|(on, start, run_time, until, pause, is_io_bound)| {
        let job = Job { submit: Milliseconds(start), run_time: Milliseconds(run_time), nodes: on.len() as u32, user: 0, is_io_bound };
        Plan { job, on, start, suspended: (start + until, start + until + pause) }
    })
}

/// How many times as long each running job takes, found anew from where all run.
fn times(plans: &[Plan], runs: &[bool], slowdown: Slowdown) -> Vec<u32> {
    let jobs_on = |node: &u32| plans.iter().zip(runs).filter(|(plan, runs)| **runs && plan.on.contains(node)).count() as u32;
    plans.iter().map(|plan| slowdown.times(&plan.job, plan.on.iter().map(jobs_on).max().unwrap())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn work_done_is_the_run_time_of_each_job(plans in proptest::collection::vec(plan(), 1..12), by_kind: bool) {
        let slowdown = if by_kind { Slowdown::ByKind(Factors { large_from: 3, ..Factors::default() }) } else { Slowdown::One };
        let jobs: Vec<Job> = plans.iter().map(|plan| plan.job).collect();
        let mut execution = Execution::new(&jobs, NODES, slowdown);
        let (mut runs, mut is_done, mut done) = (vec![false; jobs.len()], vec![false; jobs.len()], vec![0.0; jobs.len()]);
        let mut before = 0_u32;
        // Each millisecond is gone through, and so is each moment at which something happens.
        for now in 0..20_000_u32 {
            for ((done, times), runs) in done.iter_mut().zip(times(&plans, &runs, slowdown)).zip(&runs) {
                *done += if *runs { f64::from(now - before) / f64::from(times) } else { 0.0 };
            }
            before = now;
            let moment = Milliseconds(u64::from(now));
            while let Some(job) = execution.pop_end(moment) {
                let index = job as usize;
                execution.stop(job, moment);
                execution.forget(job);
                (runs[index], is_done[index]) = (false, true);
                let late = done[index] - jobs[index].run_time.0 as f64;
                prop_assert!((-1e-3..1.0).contains(&late), "job {} is done at {} by {}", job, now, late);
            }
            for (index, plan) in plans.iter().enumerate().filter(|(index, _)| !is_done[*index]) {
                let job = index as u32;
                if plan.start == moment.0 {
                    execution.start(job, &plan.on, moment);
                    runs[index] = true;
                } else if plan.suspended.0 == moment.0 {
                    execution.stop(job, moment);
                    runs[index] = false;
                } else if plan.suspended.1 == moment.0 {
                    execution.resume(job, moment);
                    runs[index] = true;
                }
            }
            execution.find_ends(moment);
            if is_done.iter().all(|done| *done) {
                break;
            }
        }
        prop_assert!(is_done.iter().all(|done| *done));
        prop_assert_eq!(execution.busy_nodes(), 0);
    }
}
