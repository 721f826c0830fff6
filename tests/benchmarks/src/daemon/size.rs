//! How large the site is that is measured.

use clap::{Args, value_parser};
use serde::Serialize;

use crate::waiting_jobs::{jobs_that_wait, whole_number};

/// Nodes with a slurmd.
pub(super) const REAL_NODES: u64 = 16;

/// The CPUs of every node.
pub(super) const CPUS: u64 = 256;

/// How many more jobs end before the refresh that is measured with more jobs.
pub(super) const MORE_JOBS: u64 = 1_000;

/// The most ended jobs that slurmdbd can be filled with: imported jobs have the numbers from
/// 50,000,000 to 67,000,000.
pub(super) const MOST_JOBS: u64 = 10_000_000;

/// How many jobs one import makes at the most.
pub(super) const MILLION: u64 = 1_000_000;

#[derive(Debug, Args)]
pub(super) struct SizeArguments {
    /// Ended jobs in slurmdbd [default: 1000000]. Above a million it has to be whole millions.
    #[arg(long, value_name = "N", value_parser = ended_jobs)]
    jobs: Option<u64>,

    /// Jobs that wait, a multiple of 20 [default: 2000].
    #[arg(long, value_name = "N", value_parser = jobs_that_wait)]
    pending: Option<u64>,

    /// Nodes of 256 CPUs [default: 16].
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(REAL_NODES..=60_000))]
    nodes: Option<u64>,

    /// The same as --jobs 10000000 --pending 200000 --nodes 20000.
    #[arg(long, conflicts_with = "check")]
    large: bool,

    /// The small form, for tests: 2,000 ended jobs, 200 that wait and 40 nodes. It looks, as
    /// always, whether each row measures what it says, and says nothing about times and memory.
    #[arg(long)]
    pub(super) check: bool,
}

/// How large the site is, and how often something is measured on it.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Size {
    /// Ended jobs in slurmdbd.
    pub(super) jobs: u64,
    /// Jobs that wait.
    pub(super) pending: u64,
    pub(super) nodes: u64,
    /// Refreshes with no more ended jobs.
    #[serde(skip)]
    pub(super) refreshes: usize,
    /// Snapshots that slurmctld takes up.
    #[serde(skip)]
    pub(super) uptakes: usize,
}

impl Size {
    const DEFAULT: Size = Size { jobs: MILLION, pending: 2_000, nodes: REAL_NODES, refreshes: 10, uptakes: 25 };
    const LARGE: Size = Size { jobs: MOST_JOBS, pending: 200_000, nodes: 20_000, ..Size::DEFAULT };
    const SMALL: Size = Size { jobs: 2_000, pending: 200, nodes: 40, refreshes: 1, uptakes: 3 };

    /// Whether any part of it is larger than by default. The targets of times do not hold then.
    pub(super) fn is_large(&self) -> bool {
        let Size { jobs, pending, nodes, .. } = Size::DEFAULT;
        self.jobs > jobs || self.pending > pending || self.nodes > nodes
    }
}

impl SizeArguments {
    /// The size that the arguments ask for. What is asked for by itself counts before --large and
    /// --check.
    pub(super) fn size(&self) -> Size {
        let size = match (self.large, self.check) {
            (true, _) => Size::LARGE,
            (_, true) => Size::SMALL,
            _ => Size::DEFAULT,
        };
        Size {
            jobs: self.jobs.unwrap_or(size.jobs),
            pending: self.pending.unwrap_or(size.pending),
            nodes: self.nodes.unwrap_or(size.nodes),
            ..size
        }
    }
}

fn ended_jobs(text: &str) -> Result<u64, String> {
    let jobs = whole_number(text, 1_000..=MOST_JOBS)?;
    if jobs > MILLION && jobs % MILLION != 0 {
        return Err("above a million it has to be whole millions".to_owned());
    }
    Ok(jobs)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        size: SizeArguments,
    }

    fn size(arguments: &[&str]) -> Option<[u64; 3]> {
        let line = Line::try_parse_from([&["benchmark"], arguments].concat()).ok()?;
        let Size { jobs, pending, nodes, .. } = line.size.size();
        Some([jobs, pending, nodes])
    }

    #[test]
    fn what_is_asked_for_by_itself_counts_before_the_large_form() {
        assert_eq!(size(&[]), Some([1_000_000, 2_000, 16]));
        assert_eq!(size(&["--large"]), Some([10_000_000, 200_000, 20_000]));
        assert_eq!(size(&["--pending", "40", "--large"]), Some([10_000_000, 40, 20_000]));
        assert_eq!(size(&["--check"]), Some([2_000, 200, 40]));
    }

    #[test]
    fn numbers_that_can_not_be_made_are_refused() {
        assert_eq!(size(&["--jobs", "2000000"]), Some([2_000_000, 2_000, 16]));
        for arguments in [["--jobs", "1500000"], ["--jobs", "999"], ["--pending", "50"], ["--pending", "20"], ["--nodes", "15"]] {
            assert_eq!(size(&arguments), None, "{arguments:?}");
        }
    }

    #[test]
    fn a_site_is_large_that_is_larger_than_the_default_in_any_way() {
        assert!(!Size::DEFAULT.is_large());
        assert!(Size::SMALL.is_large(), "it has more nodes");
        assert!(Size { pending: 2_020, ..Size::DEFAULT }.is_large());
    }
}
