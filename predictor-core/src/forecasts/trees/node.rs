//! One node of a tree.

use serde::{Deserialize, Serialize};
use zerocopy::little_endian::{F32, U16};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// A fork or a leaf, eight bytes.
///
/// The two children of a fork are neighbours and come after it, so that a walk only ever moves
/// forward.
#[derive(Clone, Copy, Debug, Default, PartialEq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Serialize, Deserialize)]
#[serde(from = "(u16, u16, f32)", into = "(u16, u16, f32)")]
#[repr(C)]
pub struct NodeRecord {
    /// Index of the feature that a fork compares; 0 in a leaf.
    pub feature: U16,
    /// How many records after this one the left child stands, with the right one behind it; 0 marks
    /// a leaf.
    pub children: U16,
    /// The threshold of a fork: rows whose feature is at most this go left. The value of a leaf.
    pub value: F32,
}

impl From<(u16, u16, f32)> for NodeRecord {
    fn from((feature, children, value): (u16, u16, f32)) -> NodeRecord {
        NodeRecord { feature: feature.into(), children: children.into(), value: value.into() }
    }
}

impl From<NodeRecord> for (u16, u16, f32) {
    fn from(node: NodeRecord) -> (u16, u16, f32) {
        (node.feature.get(), node.children.get(), node.value.get())
    }
}

impl NodeRecord {
    /// A leaf that adds nothing.
    pub(super) const NOTHING: NodeRecord = NodeRecord { feature: U16::ZERO, children: U16::ZERO, value: F32::ZERO };

    /// A leaf that adds `value` to the forecast.
    #[must_use]
    pub fn leaf(value: f32) -> Self {
        NodeRecord { feature: U16::ZERO, children: U16::ZERO, value: F32::new(value) }
    }

    /// A fork on `feature` at `threshold` whose left child stands `children` records after it,
    /// which must not be 0.
    #[must_use]
    pub fn fork(feature: u16, threshold: f32, children: u16) -> Self {
        NodeRecord { feature: U16::new(feature), children: U16::new(children), value: F32::new(threshold) }
    }
}
