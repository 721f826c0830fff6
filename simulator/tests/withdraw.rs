//! What becomes of the others when a job is taken back before it has started.

use job_types::time::{Seconds, UnixTime};
use simulator::engine::backfill::{Conservative, Easy, InOrder};
use simulator::engine::estimates::Requested;
use simulator::engine::order::FirstCome;
use simulator::engine::policy::AsSubmitted;
use simulator::engine::{Backfill, Job, Machine, Scheduler, Simulation};

fn job(submit: i64, processors: u32, run_time: i64) -> Job {
    Job { submit: UnixTime(submit), processors, run_time: Seconds(run_time), estimate: Seconds(run_time), ..Job::default() }
}

#[test]
fn those_behind_a_job_that_is_taken_back_start_at_that_moment() {
    // The second waits for all of the machine, and the third behind it; beside the first there is
    // room for the third alone.
    let jobs = [job(0, 3, 1_000), job(10, 4, 100), job(20, 1, 5_000)];
    let backfills: [Box<dyn Backfill>; 3] = [Box::new(Easy::default()), Box::new(Conservative::new()), Box::new(InOrder)];
    for backfill in backfills {
        let mut scheduler = Scheduler { order: Box::new(FirstCome), backfill, estimates: Box::new(Requested) };
        let (machine, mut policy) = (Machine::new(4), AsSubmitted);
        let mut simulation = Simulation::new(&jobs, &machine, &mut scheduler, &mut policy);
        while simulation.next_moment().is_some_and(|next| next < UnixTime(200)) {
            simulation.step().unwrap();
        }
        assert!(simulation.withdraw(1, UnixTime(200)) && !simulation.withdraw(1, UnixTime(200)));
        assert!(!simulation.withdraw(0, UnixTime(200)), "it runs");
        while simulation.step().unwrap() {}
        let records = simulation.into_records();
        assert_eq!((records[0].start, records[2].start), (UnixTime(0), UnixTime(200)));
    }
}
