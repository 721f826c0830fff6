//! The library's trees, turned into flat records.

use super::TrainingError;
use forust_ml::gradientbooster::GradientBooster;
use forust_ml::tree::Tree;
use predictor_core::forecasts::trees::{Forest, NodeRecord};
use std::collections::VecDeque;
use zerocopy::little_endian::U32;

/// The forest of a trained `booster`; `used` holds the number of each feature that the booster was
/// given.
pub(super) fn flatten(booster: &GradientBooster, used: &[u16]) -> Result<Forest, TrainingError> {
    let mut forest = Forest { base: booster.base_score, ..Forest::default() };
    for (number, tree) in booster.trees.iter().enumerate() {
        let root = u32::try_from(forest.nodes.len()).map_err(|_| TrainingError::Tree(number))?;
        forest.roots.push(U32::new(root));
        append(tree, used, &mut forest.nodes).ok_or(TrainingError::Tree(number))?;
    }
    Ok(forest)
}

/// Appends the tree's nodes level by level, which makes siblings neighbours and sets them after
/// their parent; `None` where it is no tree.
fn append(tree: &Tree, used: &[u16], nodes: &mut Vec<NodeRecord>) -> Option<()> {
    let root = nodes.len();
    nodes.push(NodeRecord::default());
    let mut waiting = VecDeque::from([(root, 0)]);
    while let Some((place, number)) = waiting.pop_front() {
        let node = tree.nodes.get(number)?;
        let record = if node.is_leaf {
            NodeRecord::leaf(node.weight_value)
        } else {
            let children = nodes.len();
            nodes.extend([NodeRecord::default(); 2]);
            if nodes.len() - root > tree.nodes.len() {
                return None;
            }
            waiting.extend([(children, node.left_child), (children + 1, node.right_child)]);
            NodeRecord::fork(*used.get(node.split_feature)?, below(node.split_value), u16::try_from(children - place).ok()?)
        };
        *nodes.get_mut(place)? = record;
    }
    Some(())
}

/// The largest single-precision number below `threshold`. The library sends what is below a
/// threshold to the left, a flat tree what is at most its own: each single-precision feature goes
/// the same way at either.
fn below(threshold: f64) -> f32 {
    let nearest = threshold as f32;
    if f64::from(nearest) >= threshold { nearest.next_down() } else { nearest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_becomes_the_single_precision_number_below_it() {
        let above_one = 1f32.next_up();
        assert_eq!(below(1.0), 1f32.next_down());
        assert_eq!(below(1.0 + 1e-12), 1.0);
        assert_eq!(below(f64::from(above_one) - 1e-12), 1.0);
        assert_eq!(below(-1.0), (-1f32).next_down());
        assert!(below(0.0) < 0.0 && below(0.0) > -1e-44);
    }
}
