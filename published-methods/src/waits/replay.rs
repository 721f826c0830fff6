//! Choosing the parameters of a predictor by its errors on the validation part.

use super::WaitPredictor;
use job_types::job::Job;
use job_types::time::UnixTime;
use learning::sweep::{Arrivals, EventKind, events};
use std::ops::Range;

/// The parts of a log that parameters are chosen on (Hariharan et al. 2020, V): the waits of
/// `history` are learnt, then those of `validation` are forecast, and learnt as they start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Rows of the history that comes first.
    pub history: Range<usize>,
    /// Rows of the validation part, which follow it.
    pub validation: Range<usize>,
    /// One in this many jobs of the validation part is forecast.
    pub every: usize,
}

impl Default for Split {
    /// Jobs 10,001 to 16,000, and 16,001 to 20,000, of which a quarter are forecast.
    fn default() -> Split {
        Split { history: 10_000..16_000, validation: 16_000..20_000, every: 4 }
    }
}

impl Split {
    /// Tells the predictor of each start in order of time, and calls `ask` for each row to be
    /// forecast as it arrives, with its true wait in seconds. Rows that start only after the last
    /// row of the validation part has arrived are neither learnt nor forecast: their waits are not
    /// known by then.
    pub(super) fn replay<P: WaitPredictor>(&self, past: &Arrivals, predictor: &mut P, mut ask: impl FnMut(&mut P, usize, f64)) {
        let rows = self.history.start..self.validation.end.min(past.len());
        let jobs: Vec<Job> = rows.clone().filter_map(|row| past.job(row).copied()).collect();
        let known_at = jobs.last().map_or(UnixTime(0), |job| job.submitted().eligible);
        for event in events(jobs.iter().copied()) {
            let row = rows.start + event.job as usize;
            let wait = past.job(row).filter(|job| job.start().is_some_and(|start| start <= known_at)).and_then(|job| job.wait());
            let Some(wait) = wait else { continue };
            match event.kind {
                EventKind::Start => predictor.learn(past, row),
                EventKind::Arrival if self.validation.contains(&row) && row.is_multiple_of(self.every.max(1)) => {
                    ask(predictor, row, wait.0 as f64)
                }
                _ => {}
            }
        }
    }

    /// The mean absolute error of the predictor's point forecasts in seconds; 0 where there is
    /// nothing to forecast.
    pub(super) fn mean_absolute_error_s<P: WaitPredictor>(&self, past: &Arrivals, predictor: &mut P) -> f64 {
        let (mut sum, mut count) = (0.0, 0u32);
        self.replay(past, predictor, |predictor, row, wait_s| {
            sum += (predictor.point(past, row) - wait_s).abs();
            count += 1;
        });
        sum / f64::from(count.max(1))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use job_types::job::{EndedJob, WaitingJob};
    use job_types::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
    use job_types::size::Size;
    use job_types::time::Seconds;
    use learning::sweep::Sweep;

    /// Jobs that arrive every 1,000 s with these CPUs, time limits and waits, all in seconds.
    pub(in crate::waits) fn jobs(told: &[(u32, i64, i64)]) -> Vec<EndedJob> {
        let eligible = (0..).map(|index| UnixTime(1_000 * (index + 1)));
        let job = |((cpus, limit_s, wait_s), eligible): (&(u32, i64, i64), UnixTime)| EndedJob {
            submitted: WaitingJob {
                user: UserId(1),
                account: AccountIndex(0),
                partition: PartitionIndex(0),
                qos: QosIndex(0),
                size: Size { nodes: *cpus, cpus: *cpus },
                limit: Some(Seconds(*limit_s)),
                eligible,
            },
            allocated: None,
            start: Some(eligible + Seconds(*wait_s)),
            end: eligible + Seconds(wait_s + 30),
            suspended: Seconds::ZERO,
        };
        told.iter().zip(eligible).map(job).collect()
    }

    /// What [`jobs`] saw on a cluster of 128 CPUs, in ten bins.
    pub(in crate::waits) fn arrivals(told: &[(u32, i64, i64)]) -> Arrivals {
        Sweep::over(&jobs(told), 128, 10)
    }

    /// Some hundred jobs in a repeating pattern, of which large ones wait long.
    pub(in crate::waits) fn pattern(count: u32) -> Vec<(u32, i64, i64)> {
        (0..count)
            .map(|index| {
                let cpus = [1, 4, 64, 16][(index * index % 7 % 4) as usize];
                (cpus, 600 + 60 * i64::from(index % 5), i64::from(cpus) * 50 + i64::from(index * 37 % 90))
            })
            .collect()
    }

    /// Whether forecasts for rows of `told` stay the same when all waits that are unknown at the
    /// arrival of `row` become others.
    pub(in crate::waits) fn is_blind_to_the_future<P: WaitPredictor>(told: &[(u32, i64, i64)], row: usize, new: impl Fn() -> P) -> bool {
        let forecast = |marker_s: i64| {
            let mut jobs = jobs(told);
            let at = jobs[row].submitted.eligible;
            for job in jobs.iter_mut().filter(|job| job.start.unwrap() >= at) {
                job.start = Some(job.start.unwrap() + Seconds(marker_s));
                job.end = job.end + Seconds(marker_s);
            }
            let past = Sweep::over(&jobs, 128, 10);
            let mut predictor = new();
            for event in events(&jobs) {
                match event.kind {
                    EventKind::Start => predictor.learn(&past, event.job as usize),
                    EventKind::Arrival if event.job as usize == row => return predictor.point(&past, row),
                    EventKind::Arrival => _ = predictor.point(&past, event.job as usize),
                    _ => {}
                }
            }
            f64::NAN
        };
        let forecast_now = forecast(0);
        forecast_now > 0.0 && forecast_now.to_bits() == forecast(77_777).to_bits()
    }

    struct Constant(Vec<usize>);

    impl WaitPredictor for Constant {
        fn point(&mut self, _: &Arrivals, _: usize) -> f64 {
            10.0
        }

        fn learn(&mut self, _: &Arrivals, row: usize) {
            self.0.push(row);
        }
    }

    #[test]
    fn what_starts_after_the_validation_part_is_neither_learnt_nor_forecast() {
        // Row 3 starts 90,000 s later, row 1 before row 2 arrives, and row 4 as the last arrival.
        let past = arrivals(&[(1, 60, 5), (1, 60, 8), (1, 60, 14), (1, 60, 90_000), (1, 60, 0)]);
        let mut predictor = Constant(Vec::new());
        let split = Split { history: 0..2, validation: 2..5, every: 1 };
        // |10 - 14| and |10 - 0|.
        assert_eq!(split.mean_absolute_error_s(&past, &mut predictor), 7.0);
        assert_eq!(predictor.0, [0, 1, 2, 4]);
    }
}
