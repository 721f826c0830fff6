//! What slurmctld spends on submissions, as sdiag tells it.

use anyhow::{Context, ensure};

use crate::private_cluster::PrivateCluster;

impl PrivateCluster {
    /// Has slurmctld count and time submissions afresh.
    pub(crate) fn reset_statistics(&self) -> anyhow::Result<()> {
        self.ask("sdiag", &["--reset"])?;
        Ok(())
    }

    /// The mean time in microseconds of the submissions since slurmctld counts afresh.
    ///
    /// # Errors
    ///
    /// Where slurmctld tells of another number of submissions than `count`.
    pub(crate) fn mean_submission_us(&self, count: usize) -> anyhow::Result<f64> {
        mean_us(&self.ask("sdiag", &[])?, count)
    }
}

/// The mean time of a submission in microseconds, of the total time and the count that sdiag has
/// printed: its own ave_time is cut to whole microseconds.
fn mean_us(statistics: &str, expected: usize) -> anyhow::Result<f64> {
    let line = statistics.lines().find(|line| line.split_whitespace().next() == Some("REQUEST_SUBMIT_BATCH_JOB"));
    let line = line.unwrap_or("nothing").trim();
    let number = |name: &str| line.split_whitespace().find_map(|field| field.strip_prefix(name)?.parse::<u64>().ok());
    ensure!(number("count:") == Some(expected as u64), "sdiag does not tell of {expected} submissions: {line}");
    let total_us = number("total_time:").context("sdiag tells no total time of submissions")?;
    Ok(total_us as f64 / expected as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATISTICS: &str = "Remote Procedure Call statistics by message type\n\
        \tREQUEST_PARTITION_INFO                  ( 2009) count:3      ave_time:120    total_time:360\n\
        \tREQUEST_SUBMIT_BATCH_JOB                ( 4003) count:4      ave_time:301    total_time:1206\n";

    #[test]
    fn the_mean_is_the_total_time_over_the_count() {
        assert_eq!(mean_us(STATISTICS, 4).unwrap(), 301.5);
    }

    #[test]
    fn another_number_of_submissions_is_an_error_that_says_so() {
        let error = mean_us(STATISTICS, 5).unwrap_err().to_string();
        assert!(error.contains("5 submissions: REQUEST_SUBMIT_BATCH_JOB") && error.contains("count:4"), "{error}");
        let error = mean_us("", 5).unwrap_err().to_string();
        assert!(error.contains("nothing"), "{error}");
    }
}
