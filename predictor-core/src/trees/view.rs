//! Evaluation of a forest in place.

use super::NodeRecord;
use zerocopy::little_endian::U32;

/// The most forks that are passed in a tree on the way to a leaf. A deeper tree adds nothing to the forecast.
pub const MOST_STEPS: usize = 256;

/// How many walks of one row are under way at once: each waits for memory most of its time, so several share the processor.
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
        let mut forecast = [self.base];
        self.add::<1, LANES, LANES>(&[features], &mut forecast);
        forecast[0]
    }

    /// The forecasts for several rows, into `forecasts`, as [`ForestView::predict`] gives them; each tree is fetched once
    /// for as many of them as share the walks. What one of the two slices has more than the other is left alone.
    pub fn predict_many(&self, rows: &[&[f32]], forecasts: &mut [f64]) {
        let count = rows.len().min(forecasts.len());
        let (mut rows, mut forecasts) = (rows.get(..count).unwrap_or_default(), forecasts.get_mut(..count).unwrap_or_default());
        forecasts.fill(self.base);
        loop {
            // What is left is taken in as few passes as there are, each with about as many walks under way.
            let taken = match rows.len() {
                0 => return,
                1 => self.add::<1, 8, 8>(rows, forecasts),
                2 => self.add::<2, 8, 16>(rows, forecasts),
                3 => self.add::<3, 5, 15>(rows, forecasts),
                4 => self.add::<4, 4, 16>(rows, forecasts),
                5 => self.add::<5, 3, 15>(rows, forecasts),
                6 | 7 => self.add::<6, 2, 12>(rows, forecasts),
                _ => self.add::<8, 2, 16>(rows, forecasts),
            };
            rows = rows.get(taken..).unwrap_or_default();
            forecasts = std::mem::take(&mut forecasts).get_mut(taken..).unwrap_or_default();
        }
    }

    /// Adds what the trees say of the first `ROWS` rows to their forecasts, tree by tree in their order, with so many `TREES` walked at once. `WALKS` is
    /// the product of the two. Returns how many rows were taken.
    fn add<const ROWS: usize, const TREES: usize, const WALKS: usize>(&self, rows: &[&[f32]], forecasts: &mut [f64]) -> usize {
        const { assert!(ROWS * TREES == WALKS) };
        let (Some(rows), Some(forecasts)) = (rows.first_chunk::<ROWS>(), forecasts.first_chunk_mut::<ROWS>()) else { return rows.len() };
        let (groups, rest) = self.roots.as_chunks::<TREES>();
        let walked: [&[f32]; WALKS] = std::array::from_fn(|walk| rows[walk % ROWS]);
        for roots in groups {
            let values = self.walk(std::array::from_fn(|walk| roots[walk / ROWS].get()), walked);
            for values in values.as_chunks::<ROWS>().0 {
                for (forecast, value) in forecasts.iter_mut().zip(values) {
                    *forecast += f64::from(*value);
                }
            }
        }
        for root in rest {
            let values = self.walk([root.get(); ROWS], *rows);
            for (forecast, value) in forecasts.iter_mut().zip(values) {
                *forecast += f64::from(value);
            }
        }
        ROWS
    }

    /// The values of the leaves that walks from the `roots` reach, each for its own row of features; 0 where one reaches none.
    #[inline]
    fn walk<const WALKS: usize>(&self, roots: [u32; WALKS], rows: [&[f32]; WALKS]) -> [f32; WALKS] {
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
