//! A forest that owns its records.

use super::{ForestView, NodeRecord};
use serde::{Deserialize, Serialize};
use serde_with::FromInto;
use zerocopy::little_endian::U32;

/// Trees as they are trained and published.
#[serde_with::serde_as]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Forest {
    /// Index in `nodes` of each tree's first node.
    #[serde_as(as = "Vec<FromInto<u32>>")]
    pub roots: Vec<U32>,
    /// The nodes of all trees, each tree's together, each after its parent.
    pub nodes: Vec<NodeRecord>,
    /// What is forecast before any tree adds to it, in the unit of the targets.
    pub base: f64,
}

impl Forest {
    /// The records, to be evaluated.
    #[must_use]
    pub fn view(&self) -> ForestView<'_> {
        ForestView { roots: &self.roots, nodes: &self.nodes, base: self.base }
    }

    /// The forecast for one row of features; see [`ForestView::predict`].
    #[must_use]
    pub fn predict(&self, features: &[f32]) -> f64 {
        self.view().predict(features)
    }
}
