//! Weights of the members.

use super::members::MEMBERS;

/// Shares of the members, which sum to 1.
pub type Weights = [f32; MEMBERS];

/// The weighted mean of the members' forecasts, as the square root of seconds.
#[must_use]
pub fn blend(forecasts: &[f32; MEMBERS], weights: &Weights) -> f32 {
    forecasts.iter().zip(weights).map(|(forecast, weight)| forecast * weight).sum()
}
