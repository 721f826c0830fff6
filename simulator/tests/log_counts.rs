//! How many jobs of the public workload logs replays and forecasts count, and why they differ.
#![allow(clippy::unwrap_used)] // helpers of tests

use std::fs::File;
use std::path::Path;

use simulator::evaluation;
use simulator::swf::{Log, Reader};
use simulator::workload::{FOR_FORECAST, FOR_REPLAY, IN_QUEUE, Lack, LoggedJob};

/// How many records of a log there are, and of how many all is known that is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counts {
    records: usize,
    /// Jobs that a replay runs, in `queuecast evaluate molding` and `deferral`.
    replayed: usize,
    /// To be seen in the queue.
    in_queue: usize,
    /// Jobs that have a forecast, in `queuecast evaluate waits` and `runtimes`.
    forecast: usize,
    /// Replayed only, because nobody noted how long they waited.
    without_wait: usize,
    /// Forecast only, because nobody noted on how many processors they ran.
    without_allocation: usize,
}

impl Counts {
    fn of(log: &Log) -> Self {
        let jobs: Vec<LoggedJob> = log.records.iter().map(LoggedJob::from).collect();
        let count = |is_counted: &dyn Fn(&LoggedJob) -> bool| jobs.iter().filter(|job| is_counted(job)).count();
        let has = |job: &LoggedJob, needed: &[Lack]| job.first_lack(needed).is_none();
        Self {
            records: jobs.len(),
            replayed: count(&|job| has(job, &FOR_REPLAY)),
            in_queue: count(&|job| has(job, &IN_QUEUE)),
            forecast: count(&|job| has(job, &FOR_FORECAST)),
            without_wait: count(&|job| has(job, &FOR_REPLAY) && job.first_lack(&FOR_FORECAST) == Some(Lack::Wait)),
            without_allocation: count(&|job| has(job, &FOR_FORECAST) && job.first_lack(&FOR_REPLAY) == Some(Lack::Allocation)),
        }
    }
}

/// The logs of the Parallel Workloads Archive, counted by another program (a script that reads the
/// eighteen fields of each line).
const COUNTED: [(&str, [usize; 6]); 9] = [
    ("CEA-Curie-2011-2.1-cln", [312_826, 295_540, 312_807, 295_540, 0, 0]),
    ("DAS2-fs1-2003-1", [40_315, 38_294, 39_355, 38_293, 1, 0]),
    ("HPC2N-2002-2.2-cln", [202_871, 202_871, 202_870, 202_870, 1, 0]),
    ("KTH-SP2-1996-2.1-cln", [28_476, 28_467, 28_475, 28_467, 0, 0]),
    ("RICC-2010-2", [447_794, 447_784, 447_794, 447_784, 0, 0]),
    ("SDSC-BLUE-2000-4.2-cln", [243_306, 223_637, 243_306, 232_536, 0, 8_899]),
    ("SDSC-DS-2004-2.1-cln", [96_069, 84_893, 95_920, 84_893, 0, 0]),
    ("SDSC-Par-1996-3.1-cln", [32_135, 32_128, 31_330, 31_323, 805, 0]),
    ("SDSC-SP2-1998-4.2-cln", [59_715, 54_034, 59_715, 54_034, 0, 0]),
];

/// Set `QUEUECAST_TRACES` to a folder with the logs to run this.
#[test]
fn replays_and_forecasts_count_the_same_jobs_but_for_those_without_a_wait_or_an_allocation() {
    let Some(folder) = std::env::var_os("QUEUECAST_TRACES") else { return };
    println!("{:<24} {:>8} {:>8} {:>8} {:>8} {:>7} {:>7}", "log", "records", "replayed", "in queue", "forecast", "no wait", "no size");
    for (name, [records, replayed, in_queue, forecast, without_wait, without_allocation]) in COUNTED {
        let Ok(file) = File::open(Path::new(&folder).join(format!("{name}.swf.xz"))) else { continue };
        let log = Reader::detecting_compression(file).unwrap().into_log().unwrap();
        let found = Counts::of(&log);
        println!(
            "{name:<24} {:>8} {:>8} {:>8} {:>8} {:>7} {:>7}",
            found.records, found.replayed, found.in_queue, found.forecast, found.without_wait, found.without_allocation
        );
        assert_eq!(found, Counts { records, replayed, in_queue, forecast, without_wait, without_allocation }, "{name}");
        assert_eq!(found.replayed - found.without_wait, found.forecast - found.without_allocation, "{name}: no other reason");
        let workload = evaluation::read(&log);
        assert_eq!((workload.jobs.len(), workload.queue.len()), (found.forecast, found.in_queue), "{name}");
    }
}
