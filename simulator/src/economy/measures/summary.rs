//! One run in a few figures.

use serde::Serialize;

use super::{Centre, Delay};
use crate::engine::preemptive::{Job, Milliseconds, Record};
use crate::metrics::Distribution;

/// What a run comes to over all jobs that ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Jobs that ended.
    pub jobs: usize,
    /// The mean delay.
    pub mean_delay_min: f64,
    /// 95 % of the jobs are delayed by at most this.
    pub p95_delay_min: f64,
    /// The longest delay.
    pub max_delay_min: f64,
    /// The mean time until the first start: D_q.
    pub dq_min: f64,
    /// The mean time suspended: D_s.
    pub ds_min: f64,
    /// The mean time lost to others on the same nodes: D_l.
    pub dl_min: f64,
    /// The mean dilation, with t in whole minutes.
    pub mean_dilation: f64,
    /// The mean dilation, with t as it is.
    pub mean_exact_dilation: f64,
    /// How often jobs were suspended.
    pub suspensions: u64,
    /// What was paid, in credits.
    pub revenue: f64,
    /// Σ bid·n·delay, in credits.
    pub weighted_delay: f64,
    /// Σd·b/Σd of delays, as in table 7.2-I.
    pub centre_delay: Option<f64>,
    /// Σd·b/Σd of dilations with t in whole minutes, as in table 7.2-I.
    pub centre_dilation: Option<f64>,
    /// Σd·b/Σd of exact dilations.
    pub centre_exact_dilation: Option<f64>,
    /// Σd·b/Σb of delays, as in the text of 7.2.2.3.
    pub centre_delay_as_written: Option<f64>,
    /// Σd·b/Σb of dilations, as in the text of 7.2.2.3.
    pub centre_dilation_as_written: Option<f64>,
}

impl Summary {
    /// What a run comes to: jobs that ended, each with what became of it.
    #[must_use]
    pub fn of(jobs: &[(Job, Record)]) -> Self {
        let delays: Vec<Delay> = jobs.iter().map(|(job, record)| Delay::of(job, record)).collect();
        let each = || jobs.iter().zip(&delays);
        let mean = |sum: f64| if jobs.is_empty() { 0.0 } else { sum / jobs.len() as f64 };
        let mean_minutes = |part: fn(&Delay) -> Milliseconds| mean(delays.iter().map(|delay| part(delay).minutes()).sum());
        let centre = |value: fn(&Delay, &Job) -> f64| -> Centre {
            each().map(|((job, record), delay)| Centre::of(value(delay, job), record.bid.credits_per_node_minute())).sum()
        };
        let delay = Distribution::of(delays.iter().map(Delay::minutes));
        let centre_delay = centre(|delay, _| delay.minutes());
        let centre_dilation = centre(Delay::dilation);
        Self {
            jobs: jobs.len(),
            mean_delay_min: delay.mean,
            p95_delay_min: delay.p95,
            max_delay_min: delay.maximum,
            dq_min: mean_minutes(|delay| delay.queued),
            ds_min: mean_minutes(|delay| delay.suspended),
            dl_min: mean_minutes(|delay| delay.shared),
            mean_dilation: mean(each().map(|((job, _), delay)| delay.dilation(job)).sum()),
            mean_exact_dilation: mean(each().map(|((job, _), delay)| delay.exact_dilation(job)).sum()),
            suspensions: jobs.iter().map(|(_, record)| u64::from(record.suspensions)).sum(),
            revenue: jobs.iter().map(|(_, record)| record.paid).sum(),
            weighted_delay: each()
                .map(|((job, record), delay)| record.bid.credits_per_node_minute() * f64::from(job.nodes) * delay.minutes())
                .sum(),
            centre_delay: centre_delay.as_tabled(),
            centre_dilation: centre_dilation.as_tabled(),
            centre_exact_dilation: centre(Delay::exact_dilation).as_tabled(),
            centre_delay_as_written: centre_delay.as_written(),
            centre_dilation_as_written: centre_dilation.as_written(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::economy::made_up::{job, waited};

    #[test]
    fn a_run_of_two_jobs_comes_to_what_is_reckoned_by_hand() {
        let (short, long) = (job(1, 60, 1), job(1, 600, 4));
        let record = Record { suspensions: 3, paid: 7.0, ..waited(&long, 30, 2.0) };
        let summary = Summary::of(&[(short, waited(&short, 10, 5.0)), (long, record)]);
        assert_eq!((summary.jobs, summary.mean_delay_min, summary.max_delay_min), (2, 20.0, 30.0));
        assert_eq!((summary.dq_min, summary.ds_min, summary.dl_min), (20.0, 0.0, 0.0));
        assert_eq!(summary.weighted_delay, 5.0 * 10.0 + 2.0 * 4.0 * 30.0);
        assert_eq!((summary.suspensions, summary.revenue), (3, 7.0));
        assert_eq!(summary.centre_delay, Some((10.0 * 5.0 + 30.0 * 2.0) / 40.0));
        // The dilations are 11 and 4.
        assert_eq!(summary.mean_dilation, 7.5);
        assert_eq!(summary.centre_dilation, Some((11.0 * 5.0 + 4.0 * 2.0) / 15.0));
        assert_eq!(summary.centre_dilation_as_written, Some((11.0 * 5.0 + 4.0 * 2.0) / 7.0));
    }

    #[test]
    fn a_run_without_jobs_comes_to_nothing() {
        assert_eq!(Summary::of(&[]), Summary::default());
    }
}
