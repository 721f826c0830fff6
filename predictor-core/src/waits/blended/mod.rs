//! The default forecast of waits: a distribution, from members that are weighed by their recent errors.
//!
//! The members forecast the square root of the wait, whose errors a few very long waits do not rule. Two are forests of boosted trees over
//! all that a job sees as it arrives, one trained on the square root and one on the logarithm of the waits; one is the recent wait
//! of jobs like it; one is zero, which is best on an idle machine. Their weighted mean is the point forecast.
//!
//! The distribution is that of the waits that followed forecasts like this one, so that it has whatever mass at zero the waits have. Its
//! levels are corrected on line: where a bound that should hold nine times in ten held less often lately, a higher one is told.

mod levels;
mod members;
mod outcomes;
mod weights;

#[cfg(feature = "training")]
mod default;
#[cfg(feature = "training")]
mod renewal;
#[cfg(feature = "training")]
mod retraining;

pub use levels::{KNOTS, Levels};
pub use members::{MEMBERS, Member, member_forecasts, members_of};
pub use outcomes::{BoundTable, ForecastOutcome, row_of};
pub use weights::{Weights, blend};

#[cfg(feature = "training")]
pub use default::{BlendedForecast, BlendedWaits, Settings};
#[cfg(feature = "training")]
pub use retraining::{Retrained, Retraining};
