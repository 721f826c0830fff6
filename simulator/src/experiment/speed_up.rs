//! How much faster a computation runs on more processors.

use job_types::time::Seconds;

/// How much faster a computation runs on `n` processors than on one.
///
/// Both curves never fall as processors are added, and the gain of each further processor never
/// grows: a job never runs longer on more processors, and on fewer never longer than in proportion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SpeedUp {
    /// A. Downey, "A Parallel Workload Model and Its Implications for Processor Allocation",
    /// HPDC 1997.
    Downey {
        /// Average parallelism, at least 1.
        parallelism: f64,
        /// Coefficient of variance of the parallelism: 0 is linear up to the average parallelism,
        /// and flat beyond.
        variance: f64,
    },
    /// G. Amdahl, "Validity of the Single Processor Approach to Achieving Large Scale Computing
    /// Capabilities", AFIPS 1967.
    Amdahl {
        /// Part of the work that runs on one processor alone, 0 to 1.
        serial_part: f64,
    },
}

impl SpeedUp {
    /// Speed on so many processors, as a multiple of that on one.
    #[must_use]
    pub fn at(&self, processors: u32) -> f64 {
        let n = f64::from(processors.max(1));
        match *self {
            Self::Downey { parallelism, variance } => downey(n, parallelism.max(1.0), variance.max(0.0)),
            Self::Amdahl { serial_part } => 1.0 / (serial_part + (1.0 - serial_part) / n),
        }
    }

    /// Run time on `to` processors of what runs for `run_time` on `from`, at least one second,
    /// rounded to the nearest.
    #[must_use]
    pub fn run_time(&self, run_time: Seconds, from: u32, to: u32) -> Seconds {
        if from == to {
            return run_time;
        }
        Seconds((run_time.0 as f64 * self.at(from) / self.at(to)).round() as i64).max(Seconds(1))
    }
}

/// Downey's speed-up on `n` processors (equations 1 and 2 of his paper, for low and high variance;
/// at a variance of 1 they agree).
fn downey(n: f64, a: f64, variance: f64) -> f64 {
    if variance <= 1.0 {
        if n <= a {
            a * n / (a + variance * (n - 1.0) / 2.0)
        } else if n <= 2.0 * a - 1.0 {
            a * n / (variance * (a - 0.5) + n * (1.0 - variance / 2.0))
        } else {
            a
        }
    } else if n <= a + a * variance - variance {
        n * a * (variance + 1.0) / (variance * (n + a - 1.0) + a)
    } else {
        a
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn downey_at(parallelism: f64, variance: f64, processors: u32) -> f64 {
        SpeedUp::Downey { parallelism, variance }.at(processors)
    }

    #[test]
    fn downeys_curve_by_hand() {
        // Low variance, below A, between A and 2 A - 1, and beyond.
        assert!((downey_at(8.0, 0.5, 4) - 32.0 / 8.75).abs() < 1e-12);
        assert!((downey_at(8.0, 0.5, 12) - 96.0 / (3.75 + 9.0)).abs() < 1e-12);
        assert_eq!(downey_at(8.0, 0.5, 64), 8.0);
        // High variance, and beyond A + A s - s = 22.
        assert!((downey_at(8.0, 2.0, 4) - 96.0 / 30.0).abs() < 1e-12);
        assert!((downey_at(8.0, 2.0, 22) - 8.0).abs() < 1e-12);
        assert_eq!(downey_at(8.0, 2.0, 23), 8.0);
        // Without variance the speed-up is linear up to A. On one processor it is one.
        assert_eq!((downey_at(8.0, 0.0, 5), downey_at(8.0, 0.0, 9), downey_at(8.0, 1.5, 1)), (5.0, 8.0, 1.0));
    }

    #[test]
    fn amdahls_curve_by_hand() {
        let curve = SpeedUp::Amdahl { serial_part: 0.1 };
        assert!((curve.at(9) - 5.0).abs() < 1e-12);
        assert_eq!(curve.run_time(Seconds(900), 1, 9), Seconds(180));
        assert_eq!(curve.run_time(Seconds(123), 7, 7), Seconds(123));
    }

    proptest! {
        #[test]
        fn nothing_runs_longer_on_more_processors_or_beyond_proportion_on_fewer(
            parallelism in 1.0f64..5_000.0, variance in 0.0f64..2.0, serial_part in 0.0f64..1.0, n in 1u32..4_000, more in 1u32..4_000,
        ) {
            for curve in [SpeedUp::Downey { parallelism, variance }, SpeedUp::Amdahl { serial_part }] {
                let (few, many) = (curve.at(n), curve.at(n + more));
                prop_assert!(many >= few * (1.0 - 1e-12));
                prop_assert!(many <= few * f64::from(n + more) / f64::from(n) * (1.0 + 1e-12));
            }
        }
    }
}
