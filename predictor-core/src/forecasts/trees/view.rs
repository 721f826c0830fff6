//! Evaluation of a forest in place.

use super::NodeRecord;
use zerocopy::little_endian::U32;

/// The most forks that are passed in a tree on the way to a leaf. A deeper tree adds nothing to the
/// forecast.
pub const MOST_STEPS: usize = 256;

/// How many walks are under way at once: each waits for memory most of its time, so several share
/// the processor.
const LANES: usize = 8;

/// How many features of a row are looked at; those beyond count as 0.
pub const MOST_FEATURES: usize = 127;

/// A row as it is walked by: with zeros in the place of what it lacks, so that each step finds a
/// feature without asking whether there is one.
type Row = [f32; MOST_FEATURES + 1];

/// A forest in borrowed records, for instance of a memory-mapped snapshot.
///
/// The records are not trusted. Whatever they hold, evaluation ends, does not panic and reads
/// nothing outside of them: a walk only moves forward, at most [`MOST_STEPS`] times, and one that
/// leaves the records adds nothing. A feature that a row lacks counts as 0, and one that is not a
/// number goes right. The forecast of a forest that was not trained here may be infinite or not a
/// number.
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

    /// The forecasts for several rows, into `forecasts`, as [`ForestView::predict`] gives them;
    /// each tree is fetched once for several of them. What one of the two slices has more than the
    /// other is left alone.
    pub fn predict_many(&self, rows: &[&[f32]], forecasts: &mut [f64]) {
        let count = rows.len().min(forecasts.len());
        let (rows, forecasts) = (rows.get(..count).unwrap_or_default(), forecasts.get_mut(..count).unwrap_or_default());
        forecasts.fill(self.base);
        let rows: Vec<Row> = rows.iter().map(|features| padded(features)).collect();
        let (row_groups, row_rest) = rows.as_chunks::<LANES>();
        let (forecast_groups, forecast_rest) = forecasts.as_chunks_mut::<LANES>();
        for roots in self.roots.chunks(LANES) {
            // Many rows share the walks through one tree, few rows go through several trees at
            // once.
            for root in roots {
                for (rows, forecasts) in row_groups.iter().zip(&mut *forecast_groups) {
                    let values = self.walk([root.get(); LANES], |lane| &rows[lane]);
                    for (forecast, value) in forecasts.iter_mut().zip(values) {
                        *forecast += f64::from(value);
                    }
                }
            }
            // The last group may have fewer trees. A walk from a place that there is not adds
            // nothing.
            let roots: [u32; LANES] = std::array::from_fn(|lane| roots.get(lane).map_or(u32::MAX, |root| root.get()));
            for (features, forecast) in row_rest.iter().zip(&mut *forecast_rest) {
                for value in self.walk(roots, |_| features) {
                    *forecast += f64::from(value);
                }
            }
        }
    }

    /// The values of the leaves that walks from the `roots` reach, each by the row of its lane; 0
    /// where one reaches none.
    #[inline(always)]
    fn walk<'a>(&self, roots: [u32; LANES], row: impl Fn(usize) -> &'a Row) -> [f32; LANES] {
        let mut places = roots.map(|root| root as usize);
        let mut nodes = places.map(|place| self.node(place));
        for _ in 0..MOST_STEPS {
            let mut moved = 0;
            for lane in 0..LANES {
                let node = nodes[lane];
                let children = usize::from(node.children.get());
                let feature = row(lane)[usize::from(node.feature.get()).min(MOST_FEATURES)];
                // Written so that it compiles to no branch: which child is next cannot be foretold.
                // A leaf stays where it is. What is not a number goes right.
                let left = feature <= node.value.get();
                places[lane] += children + usize::from(!left & (children != 0));
                nodes[lane] = self.node(places[lane]);
                moved |= children;
            }
            if moved == 0 {
                break;
            }
        }
        nodes.map(|node| if node.children.get() == 0 { node.value.get() } else { 0.0 })
    }

    #[inline(always)]
    fn node(&self, place: usize) -> NodeRecord {
        self.nodes.get(place).copied().unwrap_or(NodeRecord::NOTHING)
    }
}

fn padded(features: &[f32]) -> Row {
    let mut row = [0.0; MOST_FEATURES + 1];
    for (place, feature) in row.iter_mut().take(MOST_FEATURES).zip(features) {
        *place = *feature;
    }
    row
}
