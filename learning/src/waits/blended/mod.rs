//! The default forecast of waits, as it is learnt: a distribution, from members that are weighed by
//! their recent errors ([`predictor_core::forecasts::blend`]).
//!
//! The distribution is that of the waits that followed forecasts like this one, so that it has
//! whatever mass at zero the waits have. Its levels are corrected on line: where a bound that
//! should hold nine times in ten held less often lately, a higher one is told. In both, the
//! outcomes of a bag of tasks count for less than as many others.

mod bags;
mod default;
mod outcomes;
mod renewal;
mod retraining;

pub use default::{BlendedForecast, BlendedWaits, Settings};
pub use retraining::{Retrained, Retraining};
