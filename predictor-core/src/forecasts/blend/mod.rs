//! The blend: the default forecast of waits as it is evaluated, in the daemon and in the plugin.
//!
//! The members forecast the square root of the wait, whose errors a few very long waits do not
//! rule. Two are forests of boosted trees over all that a job sees as it arrives, one trained on
//! the square root and one on the logarithm of the waits; one is the recent wait of jobs like it;
//! one is zero, which is best on an idle machine. Their weighted mean is the point forecast, and
//! bounds go with it by [`BoundTable`]. All of it is learnt by the daemon.

mod bounds;
mod members;

pub use bounds::{BoundTable, row_of};
pub use members::{MEMBERS, Member, member_forecasts, members_of};

/// Shares of the members, which sum to 1.
pub type Weights = [f32; MEMBERS];

/// The weighted mean of the members' forecasts, as the square root of seconds.
#[must_use]
pub fn blend(forecasts: &[f32; MEMBERS], weights: &Weights) -> f32 {
    forecasts.iter().zip(weights).map(|(forecast, weight)| forecast * weight).sum()
}
