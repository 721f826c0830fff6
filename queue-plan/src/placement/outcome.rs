//! What the jobs of a plan come to.

use job_types::time::Seconds;

/// What the jobs that run and wait come to in a plan, of which two are compared (section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// When the last of them ends, in seconds from now (C_max, equation 2).
    pub makespan: Seconds,
    /// The sum over them of the seconds from now until each ends; over their number it is the mean
    /// completion time (C_avg, equation 3).
    pub completions: Seconds,
}
