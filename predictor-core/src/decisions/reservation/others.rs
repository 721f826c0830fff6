//! What a reservation does to those who wait: its nodes are kept from the moment at which the job
//! has them.

use super::super::molding::{self, Assumption};
use super::super::others::{Scales, Weighed};
use super::super::{Candidate, DerivedInputs, Reservation};
use crate::forecasts::forecast::Forecaster;
use crate::forecasts::price::Area;
use job_types::options::EarlyStart;
use job_types::time::Seconds;

/// Why the site forbids a reservation; `None` where it does not, and where nothing is known of what
/// its job would meet without one.
///
/// Without a reservation the user would have the job become eligible at that time, and it would
/// wait. So what is gained is that wait, and what is taken from others is the time for which the
/// nodes are held before it, in the mean of the forecast waits.
pub(in crate::decisions) fn forbid<F: Forecaster>(context: &DerivedInputs<'_, F>, given: &Reservation, job: &Candidate) -> Option<Weighed> {
    let scales = Scales::new(context);
    if !scales.are_asked() {
        return None;
    }
    let assumption = Assumption { delay: (given.at - context.now).max(Seconds::ZERO), starts_then: false };
    let (without, _) = molding::candidate(context, job.count, &assumption)?;
    let gain = without.response() - assumption.delay - without.run_time;
    let early = given.point.mean_early;
    let held = if given.early_start == EarlyStart::Run { Seconds::ZERO } else { early };
    let reserved = Area { start: given.at - early, time: held + without.run_time, cpus: job.size.cpus };
    scales.forbid(gain, without.area(context.now), reserved)
}
