//! Bounds on the wait that go with a point forecast.

use crate::forecasts::forecast::PERCENTILES;
use serde::{Deserialize, Serialize};

/// Bounds on the wait, by the point forecast: the quantiles of the waits that followed forecasts
/// like it.
#[serde_with::serde_as]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BoundTable {
    /// Up to which forecast, as the square root of seconds, each row of `bounds_s` is for; the last
    /// also for all above. Ascending.
    pub up_to: Vec<f32>,
    /// Upper bounds in seconds on the percentiles 1 to 99, ascending.
    #[serde_as(as = "Vec<[_; PERCENTILES]>")]
    pub bounds_s: Vec<[u32; PERCENTILES]>,
    /// How many outcomes each row rests on.
    pub outcomes: Vec<u32>,
    /// Share of the outcomes of each row that did not wait at all.
    pub at_once: Vec<f32>,
}

impl BoundTable {
    /// The row for a point forecast, as the square root of seconds.
    #[must_use]
    pub fn row(&self, root: f32) -> usize {
        row_of(&self.up_to, root)
    }
}

/// The row of a table of bounds for a point forecast: the first that reaches up to it, or the last.
#[must_use]
pub fn row_of(up_to: &[f32], root: f32) -> usize {
    up_to.partition_point(|limit| *limit < root).min(up_to.len().saturating_sub(1))
}
