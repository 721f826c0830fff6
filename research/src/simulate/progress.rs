//! A bar on a terminal while a long log is replayed.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use simulator::engine::policy::{Policy, Submitted};
use simulator::engine::{Cluster, Job, JobIndex, Record};

/// Submissions between two looks at the bar.
const INTERVAL: u32 = 1 << 12;

/// A policy whose progress is shown.
pub(super) struct Shown<P> {
    policy: P,
    bar: ProgressBar,
}

impl<P> Shown<P> {
    pub(super) fn new(jobs: usize, policy: P) -> Self {
        let bar = ProgressBar::with_draw_target(Some(jobs as u64), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{wide_bar} {percent:>3} % of the jobs submitted, about {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { policy, bar }
    }
}

impl<P> Drop for Shown<P> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl<P: Policy> Policy for Shown<P> {
    fn submit(&mut self, index: JobIndex, job: &Job, cluster: &Cluster) -> Submitted {
        if index.is_multiple_of(INTERVAL) {
            self.bar.set_position(u64::from(index));
        }
        self.policy.submit(index, job, cluster)
    }

    fn started(&mut self, index: JobIndex, job: &Job, record: &Record) {
        self.policy.started(index, job, record);
    }

    fn ended(&mut self, index: JobIndex, job: &Job, record: &Record) {
        self.policy.ended(index, job, record);
    }
}
