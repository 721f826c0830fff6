//! Made-up reports for tests.

use job_types::policy::Others;
use simulator::experiment::{Changed, Comparison, ReplayOutcome, ResponseChange, WorkClass};

use super::{PolicyReport, ProtocolName, PublishedOutcome, PublishedOutcomes, ReplayedJobs, SchedulerName, SpeedUpName};

fn outcome(wait_minutes: f64, run_minutes: f64, p95_minutes: f64, rest: f64) -> ReplayOutcome {
    ReplayOutcome {
        mean_wait_s: wait_minutes * 60.0,
        mean_run_s: run_minutes * 60.0,
        mean_response_s: (wait_minutes + run_minutes) * 60.0,
        p95_response_s: p95_minutes * 60.0,
        slowest_tenth_response_s: 1_000.0 * (1.0 - rest / 2.0),
        worst_tenth_slowdown: 100.0 * (1.0 - rest),
        utilisation: 0.75,
    }
}

/// Returns reports on one log by both protocols.
pub(super) fn reports() -> Vec<PolicyReport> {
    let report = |protocol| PolicyReport {
        replayed: ReplayedJobs {
            log: "SDSC-SP2".to_owned(),
            file: "SDSC-SP2.swf".to_owned(),
            jobs: 54_000,
            processors: 128,
            remarks: simulator::remarks::Remarks::default(),
            from: 10_001,
            to: 30_000,
        },
        protocol,
        policy: "best",
        speedup: Some(SpeedUpName::Downey),
        adoption: 1.0,
        scheduler: SchedulerName::Easy,
        refresh_s: 0,
        without: Vec::new(),
        first_runs: false,
        min_gain: 0.05,
        min_gain_time_s: 60,
        policy_others: Others::Ignore,
        jitter_s: 0,
        published: Some(PublishedOutcomes {
            baseline: PublishedOutcome::from([198.0, 133.0, 331.0]),
            ours: PublishedOutcome::from([147.0, 98.0, 245.0]),
            source: "table VIII".to_owned(),
            remark: None,
        }),
        found: Comparison {
            baseline: outcome(130.0, 120.0, 2_000.0, 0.0),
            ours: outcome(100.0, 120.0, 1_000.0, 0.2),
            changed: Changed { smaller: 30, larger: 20, deferred: 0, cut_by_limit: 1 },
            unmolded_jobs: 150,
            unmolded_baseline_response_s: 1_000.0,
            unmolded_response_s: 950.0,
            adopters: change(200, 1_100.0, 900.0),
            others: change(0, 0.0, 0.0),
            by_work: [0.0, 1.0, 10.0]
                .map(|at_least_processor_hours| WorkClass {
                    at_least_processor_hours,
                    jobs: 10,
                    baseline_response_s: 600.0 * (1.0 + at_least_processor_hours),
                    response_s: 500.0 * (1.0 + at_least_processor_hours),
                })
                .to_vec(),
            agreement: None,
        },
    };
    vec![report(ProtocolName::Paper), report(ProtocolName::WorkConserving)]
}

fn change(jobs: usize, baseline_response_s: f64, response_s: f64) -> ResponseChange {
    let (baseline_p95_response_s, p95_response_s) = (5.0 * baseline_response_s, 5.0 * response_s);
    ResponseChange { jobs, baseline_response_s, response_s, baseline_p95_response_s, p95_response_s }
}
