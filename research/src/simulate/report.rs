//! What a simulation came to.

use std::time::Instant;

use serde::Serialize;
use simulator::engine::Record;
use simulator::metrics::{self, Class, Counted, Summary};
use simulator::remarks::Remarks;
use simulator::workload::Workload;

use super::not_modelled::NotModelled;

/// What a simulation came to. The means of the contract are those of [`Counted`], or over all jobs
/// where none counts.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) log: String,
    pub(super) scheduler: &'static str,
    pub(super) policy: &'static str,
    pub(super) processors: u32,
    /// Records that were left out by the rules.
    pub(super) left_out: usize,
    #[serde(flatten)]
    pub(super) counted: Counted,
    pub(super) utilisation: f64,
    pub(super) makespan_s: i64,
    pub(super) all: Summary,
    pub(super) by_size: Vec<Class>,
    pub(super) by_user: Vec<Class>,
    #[serde(flatten)]
    pub(super) told: Told,
    /// Wall-clock seconds of the whole command, reading the log included.
    pub(super) wall_s: f64,
}

/// What is to be known beside the figures, which standard error says as well.
#[derive(Debug, Serialize)]
pub(super) struct Told {
    /// What was left out of the log, or taken as not known.
    pub(super) remarks: Remarks,
    /// The ways in which the simulation departs from --slurm-conf as it is written.
    pub(super) not_modelled: Vec<NotModelled>,
}

impl Report {
    pub(super) fn of(
        log: String,
        (scheduler, policy): (&'static str, &'static str),
        workload: &Workload,
        records: &[Record],
        told: Told,
        started: Instant,
    ) -> Self {
        let (all, (counted, (by_size, by_user))) = rayon::join(
            || Summary::of(records, workload.processors),
            || {
                let classes = || rayon::join(|| metrics::by_size(records), || metrics::by_user(&workload.jobs, records));
                rayon::join(|| metrics::counted(records), classes)
            },
        );
        let counted = counted.unwrap_or(Counted {
            jobs_simulated: records.len(),
            jobs_counted: 0,
            mean_wait_s: all.wait_s.mean,
            mean_response_s: all.response_s.mean,
            mean_bounded_slowdown: all.bounded_slowdown.mean,
        });
        Self {
            log,
            scheduler,
            policy,
            processors: workload.processors,
            left_out: workload.left_out,
            counted,
            utilisation: all.utilisation,
            makespan_s: all.makespan.0,
            all,
            by_size,
            by_user,
            told,
            wall_s: started.elapsed().as_secs_f64(),
        }
    }
}
