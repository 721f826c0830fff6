//! What a job that was changed gained, by the forecast and in fact.

use crate::submissions::FinishedSubmission;
use job_types::record::Forecast;
use job_types::time::Seconds;
use std::fmt;

/// A change, and what became of it.
#[derive(Debug)]
pub(crate) struct Gain {
    name: String,
    is_molded: bool,
    is_deferred: bool,
    /// Forecast response as the job was written.
    as_written: Seconds,
    /// Forecast response as it was changed.
    as_changed: Seconds,
    /// The time from the submission to the end of the job.
    took: Seconds,
}

impl Gain {
    /// What a submission gained that was molded or deferred; `None` of all others.
    pub(crate) fn of(submission: &FinishedSubmission) -> Option<Gain> {
        let record = submission.record.as_ref()?;
        let written = record.written.as_ref()?;
        if written.reserved_at.is_some() || record.asked.deadline.is_some() {
            return None;
        }
        let response = |forecast: &Forecast| Some(Seconds(forecast.wait_s? + forecast.run_s));
        let gain = Gain {
            name: submission.name(),
            is_molded: written.cpus.is_some(),
            is_deferred: written.begin.is_some(),
            as_written: response(record.instead_of.as_ref()?)?,
            as_changed: response(record.forecast.as_ref()?)?,
            took: Seconds(submission.ended - submission.submitted),
        };
        (gain.is_molded || gain.is_deferred).then_some(gain)
    }

    /// Whether the job got another size.
    pub(crate) fn is_molded(&self) -> bool {
        self.is_molded
    }

    /// Whether the job was done sooner than was forecast for it as it was written.
    pub(crate) fn paid(&self) -> bool {
        self.took < self.as_written
    }
}

impl fmt::Display for Gain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Gain { name, as_written, as_changed, took, .. } = self;
        let change = if self.is_molded { "molded" } else { "deferred" };
        write!(f, "{name}, {change}: done after {took}; the forecast was {as_changed}, and {as_written} as it was written")
    }
}
