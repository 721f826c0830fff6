//! A small cluster with a known past, as a snapshot.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use predictor_core::history::{EndedJob, History, HistoryLimits};
use predictor_core::options::Mode;
use predictor_core::policy::Policy;
use predictor_core::size::Size;
use predictor_core::snapshot::{Origin, PartitionState, RunningJob, Snapshot, write};
use predictor_core::time::{Seconds, UnixTime};

pub const NOW: UnixTime = UnixTime(1_800_000_000);
pub const USER: u32 = 1000;

pub fn policy() -> Policy {
    Policy { mode: Mode::Enforce, ..Policy::default() }
}

/// A job of the past on so many nodes of 4 CPUs, `ago` seconds before [`NOW`].
pub fn past_job(user: u32, nodes: u32, limit: i64, ago: i64, wait: i64, run_time: i64) -> EndedJob<'static> {
    let eligible = UnixTime(NOW.0 - ago);
    let start = eligible + Seconds(wait);
    EndedJob {
        user,
        partition: "batch",
        size: Size { nodes, cpus: nodes * 4 },
        limit: Some(Seconds(limit)),
        eligible,
        start: Some(start),
        end: start + Seconds(run_time),
        suspended: Seconds::ZERO,
    }
}

pub fn partition(policy: Policy) -> PartitionState {
    PartitionState {
        name: "batch".into(),
        policy,
        is_default: true,
        whole_nodes: true,
        cpus: 256,
        nodes: 64,
        max_time: Some(Seconds(2 * 86_400)),
        default_time: Some(Seconds(3_600)),
        running: Vec::new(),
        pending_jobs: 0,
        pending_cpus: 0,
    }
}

pub fn origin() -> Origin {
    Origin {
        cluster: "test".into(),
        generation: 7,
        published_at: NOW,
        maximum_age: Seconds(600),
        confidence: 0.95,
        site_policy: policy(),
        ..Origin::default()
    }
}

pub fn history(jobs: impl IntoIterator<Item = EndedJob<'static>>) -> History {
    let mut history = History::new(HistoryLimits::default());
    for job in jobs {
        assert!(history.push(&job), "{job:?}");
    }
    history.fit(0.95, |_| Some(256));
    history
}

pub fn snapshot(jobs: impl IntoIterator<Item = EndedJob<'static>>, partition: &PartitionState) -> Snapshot<Vec<u8>> {
    Snapshot::open(write(&mut history(jobs), std::slice::from_ref(partition), &origin(), None)).unwrap()
}

pub fn running(nodes: u32, ends_in: i64) -> RunningJob {
    RunningJob { user: 1, size: Size { nodes, cpus: nodes * 4 }, start: UnixTime(NOW.0 - 600), limit_end: Some(UnixTime(NOW.0 + ends_in)) }
}
