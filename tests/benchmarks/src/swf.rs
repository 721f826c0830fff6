//! The little that is read of workload logs here by itself, so that the programs that are measured
//! are held against something else than themselves.

/// One job of a log in the Standard Workload Format.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Job {
    pub(crate) wait_s: f64,
    pub(crate) run_s: f64,
    pub(crate) requested_s: f64,
}

/// The lines of a log that are jobs.
pub(crate) fn records(log: &str) -> impl Iterator<Item = &str> {
    log.lines().filter(|line| !line.trim().is_empty() && !line.starts_with(';'))
}

/// The job of one line, where the line has the format's fields.
pub(crate) fn job(record: &str) -> Option<Job> {
    let fields: Option<Vec<f64>> = record.split_whitespace().map(|field| field.parse().ok()).collect();
    let fields = fields.filter(|fields| fields.len() == 18)?;
    Some(Job { wait_s: fields[2], run_s: fields[3], requested_s: fields[8] })
}

/// The mean of a figure over jobs, of which there is at least one.
pub(crate) fn mean(jobs: &[Job], figure: impl Fn(&Job) -> f64) -> f64 {
    jobs.iter().map(figure).sum::<f64>() / jobs.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "; MaxProcs: 4\n1 0 7 100 3 -1 -1 3 120 -1 1 1 1 1 1 1 -1 -1\n\n2 10 9 50 3 -1 -1 3 60 -1 1 1 1 1 1 1 -1 -1\n";

    #[test]
    fn comments_and_empty_lines_are_no_jobs() {
        let jobs: Vec<Job> = records(LOG).filter_map(job).collect();
        assert_eq!(jobs[0], Job { wait_s: 7.0, run_s: 100.0, requested_s: 120.0 });
        assert_eq!(jobs.len(), 2);
        assert!((mean(&jobs, |job| job.run_s) - 75.0).abs() < 1e-9);
    }

    #[test]
    fn a_line_with_fields_missing_is_no_job() {
        assert_eq!(job("1 0 7 100"), None);
    }
}
