//! The output of the simulator Batsim (P.-F. Dutot, M. Mercier, M. Poquet and O. Richard, "Batsim:
//! a Realistic Language-Independent Resources and Jobs Management Systems Simulator", JSSPP 2016):
//! the columns of `jobs.csv` and the keys of `schedule.json` that evalys reads.

use std::io::{self, Write};

use job_types::time::{Seconds, UnixTime};
use serde::Serialize;

use super::allocate;
use crate::engine::{Job, Record};
use crate::metrics::{Summary, series, slowdown};

/// One line of `jobs.csv`. Times in seconds.
#[derive(Debug, Serialize)]
struct Line<'a> {
    job_id: u32,
    workload_name: &'a str,
    /// The application's number, empty where the log has none.
    profile: Option<u32>,
    submission_time: UnixTime,
    requested_number_of_resources: u32,
    requested_time: Seconds,
    success: u8,
    final_state: &'static str,
    starting_time: UnixTime,
    execution_time: Seconds,
    finish_time: UnixTime,
    waiting_time: Seconds,
    turnaround_time: Seconds,
    stretch: f64,
    allocated_resources: String,
}

/// Writes `jobs.csv`: one line a job, with the processors that it had. `jobs` and `records` are in
/// the same order.
///
/// # Errors
///
/// What the output says.
pub fn write_jobs(output: impl Write, workload: &str, jobs: &[Job], records: &[Record], processors: u32) -> io::Result<()> {
    let mut lines = csv::Writer::from_writer(output);
    for ((job, record), allocation) in jobs.iter().zip(records).zip(allocate(records, processors)) {
        lines.serialize(Line {
            job_id: job.number,
            workload_name: workload,
            profile: (job.executable != u32::MAX).then_some(job.executable),
            submission_time: record.submit,
            requested_number_of_resources: record.processors,
            requested_time: record.estimate,
            success: 1,
            final_state: "COMPLETED_SUCCESSFULLY",
            starting_time: record.start,
            execution_time: record.occupied(),
            finish_time: record.end,
            waiting_time: record.wait(),
            turnaround_time: record.response(),
            stretch: slowdown(record),
            allocated_resources: allocation.to_string(),
        })?;
    }
    lines.flush()
}

/// What `schedule.json` says of the whole schedule. Times in seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Schedule {
    /// Processors of the machine.
    pub nb_computing_machines: u32,
    /// Jobs.
    pub nb_jobs: usize,
    /// Jobs that ended.
    pub nb_jobs_finished: usize,
    /// Jobs that ended well: the engine ends every job at its run time.
    pub nb_jobs_success: usize,
    /// Jobs that were killed.
    pub nb_jobs_killed: usize,
    /// Jobs that were refused.
    pub nb_jobs_rejected: usize,
    /// The part of the ended jobs that ended well.
    pub success_rate: f64,
    /// The last end, from the beginning of the workload.
    pub makespan: UnixTime,
    /// Mean wait.
    pub mean_waiting_time: f64,
    /// Longest wait.
    pub max_waiting_time: f64,
    /// Mean response.
    pub mean_turnaround_time: f64,
    /// Longest response.
    pub max_turnaround_time: f64,
    /// Mean slowdown.
    pub mean_slowdown: f64,
    /// Largest slowdown.
    pub max_slowdown: f64,
    /// Processors in use, on average from the first submission to the last end.
    pub mean_machines_running: f64,
    /// The most processors in use.
    pub max_machines_running: u64,
    /// Processor seconds in use.
    pub time_computing: f64,
    /// Processor seconds idle, from the first submission to the last end.
    pub time_idle: f64,
}

impl Schedule {
    /// Builds the schedule from these records on a machine with this many processors.
    #[must_use]
    pub fn of(records: &[Record], processors: u32) -> Self {
        let all = Summary::of(records, processors);
        let there = f64::from(processors) * all.makespan.0 as f64;
        Self {
            nb_computing_machines: processors,
            nb_jobs: records.len(),
            nb_jobs_finished: records.len(),
            nb_jobs_success: records.len(),
            nb_jobs_killed: 0,
            nb_jobs_rejected: 0,
            success_rate: 1.0,
            makespan: records.iter().map(|record| record.end).max().unwrap_or_default(),
            mean_waiting_time: all.wait_s.mean,
            max_waiting_time: all.wait_s.maximum,
            mean_turnaround_time: all.response_s.mean,
            max_turnaround_time: all.response_s.maximum,
            mean_slowdown: all.slowdown.mean,
            max_slowdown: all.slowdown.maximum,
            mean_machines_running: all.utilisation * f64::from(processors),
            max_machines_running: series(records).used_processors.into_iter().max().unwrap_or(0),
            time_computing: all.utilisation * there,
            time_idle: (1.0 - all.utilisation) * there,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDS: [Record; 2] = [Record::made_up([0, 0, 10], 20, 3), Record::made_up([5, 10, 20], 30, 2)];

    #[test]
    fn a_job_is_a_line_with_its_processors() {
        let jobs = [1, 2].map(|number| Job { number, executable: 7, ..Job::default() });
        let mut written = Vec::new();
        write_jobs(&mut written, "log", &jobs, &RECORDS, 4).unwrap();
        let expected = "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,\
            starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources\n\
            1,log,7,0,3,20,1,COMPLETED_SUCCESSFULLY,0,10,10,0,10,1.0,0-2\n\
            2,log,7,5,2,30,1,COMPLETED_SUCCESSFULLY,10,10,20,5,15,1.5,0-1\n";
        assert_eq!(String::from_utf8(written).unwrap(), expected);
    }

    #[test]
    fn the_schedule_sums_up_the_jobs() {
        let schedule = Schedule::of(&RECORDS, 4);
        assert_eq!((schedule.makespan, schedule.mean_waiting_time, schedule.max_slowdown), (UnixTime(20), 2.5, 1.5));
        assert_eq!((schedule.time_computing, schedule.time_idle, schedule.max_machines_running), (50.0, 30.0, 3));
    }
}
