//! Evaluation of a forest in place.

use super::NodeRecord;
use zerocopy::little_endian::U32;

/// The most forks that are passed in a tree on the way to a leaf. A deeper tree adds nothing to the forecast.
pub const MOST_STEPS: usize = 256;

/// How many walks are under way at once: each waits for memory most of its time, so several share the processor.
const LANES: usize = 8;

/// A forest in borrowed records, for instance of a memory-mapped snapshot.
///
/// The records are not trusted. Whatever they hold, evaluation ends, does not panic and reads nothing outside of them: a walk only
/// moves forward, at most [`MOST_STEPS`] times, and one that leaves the records adds nothing. A feature that a row lacks counts as 0,
/// and one that is not a number goes right. The forecast of a forest that was not trained here may be infinite or not a number.
#[derive(Clone, Copy, Debug)]
pub struct ForestView<'a> {
    /// Index in `nodes` of each tree's first node.
    pub roots: &'a [U32],
    /// The nodes of all trees.
    pub nodes: &'a [NodeRecord],
    /// What is forecast before any tree adds to it, in the unit of the targets.
    pub base: f64,
}

impl ForestView<'_> {
    /// The forecast for one row of features, in the unit of the targets.
    #[must_use]
    pub fn predict(&self, features: &[f32]) -> f64 {
        let mut forecast = [0.0];
        self.predict_many(&[features], &mut forecast);
        forecast[0]
    }

    /// The forecasts for several rows, into `forecasts`, as [`ForestView::predict`] gives them; each tree is fetched once
    /// for several of them. What one of the two slices has more than the other is left alone.
    pub fn predict_many(&self, rows: &[&[f32]], forecasts: &mut [f64]) {
        let count = rows.len().min(forecasts.len());
        let (rows, forecasts) = (rows.get(..count).unwrap_or_default(), forecasts.get_mut(..count).unwrap_or_default());
        forecasts.fill(self.base);
        let (row_groups, row_rest) = rows.as_chunks::<LANES>();
        let (forecast_groups, forecast_rest) = forecasts.as_chunks_mut::<LANES>();
        for roots in self.roots.chunks(LANES) {
            // Many rows share the walks through one tree, few rows go through several trees at
            // once.
            for root in roots {
                for (rows, forecasts) in row_groups.iter().zip(&mut *forecast_groups) {
                    let values = self.walk([root.get(); LANES], *rows);
                    for (forecast, value) in forecasts.iter_mut().zip(values) {
                        *forecast += f64::from(value);
                    }
                }
            }
            // The last group may have fewer trees. A walk from a place that there is not adds
            // nothing.
            let roots: [u32; LANES] = std::array::from_fn(|lane| roots.get(lane).map_or(u32::MAX, |root| root.get()));
            for (features, forecast) in row_rest.iter().zip(&mut *forecast_rest) {
                for value in self.walk(roots, [features; LANES]) {
                    *forecast += f64::from(value);
                }
            }
        }
    }

    /// The values of the leaves that walks from the `roots` reach, each for its own row of features; 0 where one reaches none.
    #[inline]
    fn walk(&self, roots: [u32; LANES], rows: [&[f32]; LANES]) -> [f32; LANES] {
        let mut places = roots.map(|root| root as usize);
        for _ in 0..MOST_STEPS {
            let mut moved = 0;
            for (place, features) in places.iter_mut().zip(rows) {
                let Some(node) = self.nodes.get(*place) else { continue };
                let children = usize::from(node.children.get());
                let feature = features.get(usize::from(node.feature.get())).copied().unwrap_or(0.0);
                // Written so that it compiles to no branch: which child is next cannot be foretold. A leaf stays where it is. What is
                // not a number goes right.
                let left = feature <= node.value.get();
                *place += children + usize::from(!left & (children != 0));
                moved |= children;
            }
            if moved == 0 {
                break;
            }
        }
        places.map(|place| match self.nodes.get(place) {
            Some(node) if node.children.get() == 0 => node.value.get(),
            _ => 0.0,
        })
    }
}
