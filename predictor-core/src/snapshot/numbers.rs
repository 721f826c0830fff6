//! How the domain's words are written in a snapshot: as numbers. A number that this version does
//! not know is read as the most careful word.

use super::layout::PolicyRecord;
use crate::forecasts::queue_plan::PlanObstacle;
use crate::forecasts::reliability::WaitSourceReason;
use job_types::options::{EarlyStart, IfMissed, Mode};
use job_types::policy::{Admission, HeldBack, Others, Policy, When, WithoutForecast};
use job_types::record::WaitSource;
use job_types::size::Unit;
use job_types::time::Seconds;
use zerocopy::little_endian::F32;

/// A word that a snapshot holds as a number.
pub trait Numbered {
    /// How it is written.
    fn number(self) -> u8;

    /// The word of a number; of one that this version does not know, the most careful word.
    fn of_number(number: u8) -> Self;
}

impl Numbered for WaitSource {
    fn number(self) -> u8 {
        match self {
            WaitSource::Nothing => 0,
            WaitSource::Qbets => 1,
            WaitSource::Blended => 2,
        }
    }

    fn of_number(number: u8) -> WaitSource {
        match number {
            1 => WaitSource::Qbets,
            2 => WaitSource::Blended,
            _ => WaitSource::Nothing,
        }
    }
}

impl Numbered for WaitSourceReason {
    fn number(self) -> u8 {
        match self {
            WaitSourceReason::NotTrained => 0,
            WaitSourceReason::TooFewJobs => 1,
            WaitSourceReason::NotCalibrated => 2,
            WaitSourceReason::Calibrated => 3,
            WaitSourceReason::LargerLoss => 4,
        }
    }

    fn of_number(number: u8) -> WaitSourceReason {
        match number {
            1 => WaitSourceReason::TooFewJobs,
            2 => WaitSourceReason::NotCalibrated,
            3 => WaitSourceReason::Calibrated,
            4 => WaitSourceReason::LargerLoss,
            _ => WaitSourceReason::NotTrained,
        }
    }
}

/// How a unit is written.
#[must_use]
pub fn unit_number(unit: Unit) -> u8 {
    match unit {
        Unit::Nodes => 0,
        Unit::Cpus => 1,
    }
}

impl From<&Policy> for PolicyRecord {
    fn from(policy: &Policy) -> PolicyRecord {
        let when = |when| match when {
            When::Never => 0,
            When::Asked => 1,
            When::Always => 2,
        };
        PolicyRecord {
            mode: match policy.mode {
                Mode::Off => 0,
                Mode::Observe => 1,
                Mode::Advise => 2,
                Mode::Enforce => 3,
            },
            mold: when(policy.mold),
            defer: when(policy.defer),
            reserve: policy.reserve.into(),
            early_start: match policy.early_start {
                EarlyStart::Wait => 0,
                EarlyStart::Run => 1,
            },
            if_missed: match policy.if_missed {
                IfMissed::Run => 0,
                IfMissed::Cancel => 1,
            },
            admission: match policy.admission {
                Admission::Off => 0,
                Admission::Edf => 1,
                Admission::Libra => 2,
                Admission::LibraRisk => 3,
                Admission::Probability => 4,
            },
            admission_without_forecast: match policy.admission_without_forecast {
                WithoutForecast::Pass => 0,
                WithoutForecast::Refuse => 1,
            },
            deadline_probability: (policy.deadline_probability as f32).into(),
            success_probability: (policy.success_probability as f32).into(),
            min_gain: (policy.min_gain as f32).into(),
            min_gain_time_s: policy.min_gain_time.clamped_u32().into(),
            defer_threshold: (policy.defer_threshold as f32).into(),
            max_defer_s: policy.max_defer.clamped_u32().into(),
            held_back: u8::from(policy.held_back.molding) | u8::from(policy.held_back.deferral) << 1,
            others: match policy.others {
                Others::Ignore => 0,
                Others::Sum => 1,
                Others::NotWorse => 2,
            },
            reserved: [0; 2],
        }
    }
}

impl From<&PolicyRecord> for Policy {
    /// A number that this version does not know is read as the most careful one.
    fn from(record: &PolicyRecord) -> Policy {
        let when = |number| match number {
            1 => When::Asked,
            2 => When::Always,
            _ => When::Never,
        };
        Policy {
            mode: match record.mode {
                1 => Mode::Observe,
                2 => Mode::Advise,
                3 => Mode::Enforce,
                _ => Mode::Off,
            },
            mold: when(record.mold),
            defer: when(record.defer),
            reserve: record.reserve == 1,
            early_start: if record.early_start == 1 { EarlyStart::Run } else { EarlyStart::Wait },
            if_missed: if record.if_missed == 1 { IfMissed::Cancel } else { IfMissed::Run },
            success_probability: decimal(record.success_probability),
            min_gain: decimal(record.min_gain),
            min_gain_time: Seconds(i64::from(record.min_gain_time_s.get())),
            defer_threshold: decimal(record.defer_threshold),
            max_defer: Seconds(i64::from(record.max_defer_s.get())),
            admission: match record.admission {
                1 => Admission::Edf,
                2 => Admission::Libra,
                3 => Admission::LibraRisk,
                4 => Admission::Probability,
                _ => Admission::Off,
            },
            admission_without_forecast: match record.admission_without_forecast {
                1 => WithoutForecast::Refuse,
                _ => WithoutForecast::Pass,
            },
            deadline_probability: decimal(record.deadline_probability),
            held_back: HeldBack { molding: record.held_back & 1 != 0, deferral: record.held_back & 2 != 0 },
            others: match record.others {
                0 => Others::Ignore,
                1 => Others::Sum,
                _ => Others::NotWorse,
            },
        }
    }
}

/// The number through a decimal, so that 0.95 is 0.95 again and not the nearest 32-bit number above
/// it.
fn decimal(number: F32) -> f64 {
    (f64::from(number.get()) * 1e6).round() / 1e6
}

impl PlanObstacle {
    /// How it is written: its place among all, counted from one; 0 is none.
    #[must_use]
    pub fn number(self) -> u8 {
        (1u8..).zip(PlanObstacle::ALL).find(|(_, obstacle)| **obstacle == self).map_or(0, |(number, _)| number)
    }

    /// The obstacle of a number; `None` for 0 and for one that this version does not know.
    #[must_use]
    pub fn of_number(number: u8) -> Option<PlanObstacle> {
        PlanObstacle::ALL.get(usize::from(number).checked_sub(1)?).copied()
    }
}
