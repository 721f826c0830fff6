//! The jobs of slurmctld, as they are held against what a row says.

use anyhow::ensure;
use job_types::record::Record;

use crate::private_cluster::PrivateCluster;

/// A job as `scontrol --oneliner show jobs` shows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShownJob<'a> {
    /// The line of the job.
    pub(crate) line: &'a str,
}

impl<'a> ShownJob<'a> {
    /// A field, such as `TimeLimit`, up to the first blank in it.
    pub(crate) fn field(&self, name: &str) -> Option<&'a str> {
        self.line.split_whitespace().find_map(|field| field.strip_prefix(name)?.strip_prefix('='))
    }

    /// The record that queuecast has written into the job.
    pub(crate) fn record(&self) -> Option<Record> {
        let (_, comment) = self.line.split_once(" AdminComment=")?;
        Record::parse(comment)
    }

    fn number(&self) -> Option<u64> {
        self.field("JobId")?.parse().ok()
    }
}

impl PrivateCluster {
    /// Fails unless so many jobs from the job with the number `first` on are as a row says. Shows
    /// the last job in that case.
    pub(crate) fn require_as_named(
        &self,
        row: &str,
        first: u64,
        count: usize,
        mut is_as_named: impl FnMut(&ShownJob<'_>) -> bool,
    ) -> anyhow::Result<()> {
        let shown = self.ask("scontrol", &["--oneliner", "show", "jobs"])?;
        let jobs = jobs_from(&shown, first);
        let as_named = jobs.iter().filter(|job| is_as_named(job)).count();
        let last = jobs.last().map_or("there is none", |job| job.line);
        ensure!(as_named == count, "{row}: {as_named} of {count} jobs are as the row says; the last one is\n{last}");
        Ok(())
    }
}

/// The jobs from the job with the number `first` on, in the order in which they are shown.
fn jobs_from(shown: &str, first: u64) -> Vec<ShownJob<'_>> {
    let jobs = shown.lines().map(|line| ShownJob { line });
    jobs.filter(|job| job.number().is_some_and(|number| number >= first)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOWN: &str = "JobId=7 JobName=queued Partition=long\nJobId=8 JobName=job.sh TimeLimit=04:00:00 Partition=long\n\n";

    #[test]
    fn jobs_before_the_first_that_counts_are_left_out() {
        let jobs = jobs_from(SHOWN, 8);
        assert_eq!(jobs.len(), 1);
        assert_eq!(jobs[0].field("JobName"), Some("job.sh"));
    }

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let job = jobs_from(SHOWN, 8)[0];
        assert_eq!(job.field("TimeLimit"), Some("04:00:00"));
        assert_eq!(job.field("Limit"), None);
        assert_eq!(job.field("Time"), None);
    }
}
