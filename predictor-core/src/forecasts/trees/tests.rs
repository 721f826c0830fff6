use super::{Forest, ForestView, MOST_STEPS, NodeRecord};
use proptest::prelude::*;
use zerocopy::FromBytes;
use zerocopy::little_endian::U32;

/// A tree that is 1 up to 0.5 of feature 0 and 2 beyond, and one that is 10 up to 3 of feature 1
/// and, beyond, 20 or 30 by feature 0.
fn two_trees() -> Forest {
    let first = [NodeRecord::fork(0, 0.5, 1), NodeRecord::leaf(1.0), NodeRecord::leaf(2.0)];
    let second =
        [NodeRecord::fork(1, 3.0, 1), NodeRecord::leaf(10.0), NodeRecord::fork(0, -1.0, 1), NodeRecord::leaf(20.0), NodeRecord::leaf(30.0)];
    Forest { roots: vec![U32::new(0), U32::new(3)], nodes: [&first[..], &second[..]].concat(), base: 100.0 }
}

#[test]
fn a_row_at_the_threshold_goes_left() {
    let forest = two_trees();
    assert_eq!(forest.predict(&[0.5, 3.0]), 111.0);
    assert_eq!(forest.predict(&[0.500_000_06, 3.0]), 112.0);
    assert_eq!(forest.predict(&[0.0, 4.0]), 131.0);
    assert_eq!(forest.predict(&[-1.0, 4.0]), 121.0);
}

#[test]
fn a_missing_feature_counts_as_zero_and_one_that_is_not_a_number_goes_right() {
    let forest = two_trees();
    assert_eq!(forest.predict(&[]), 111.0);
    assert_eq!(forest.predict(&[f32::NAN, f32::NAN]), 132.0);
}

#[test]
fn a_walk_that_leaves_the_records_or_is_too_long_adds_nothing() {
    let mut forest = two_trees();
    forest.nodes.truncate(7);
    assert_eq!(forest.predict(&[0.0, 4.0]), 101.0);
    forest.roots = vec![U32::new(u32::MAX)];
    assert_eq!(forest.predict(&[0.0, 4.0]), 100.0);
    let chain = |forks: usize| {
        let mut nodes = vec![NodeRecord::fork(0, 0.0, 1); forks];
        nodes.extend([NodeRecord::leaf(1.0); 2]);
        Forest { roots: vec![U32::ZERO], nodes, base: 0.0 }.predict(&[-1.0])
    };
    assert_eq!((chain(MOST_STEPS), chain(MOST_STEPS + 1)), (1.0, 0.0));
}

#[test]
fn several_rows_are_forecast_as_each_alone() {
    let forest = two_trees();
    let rows: Vec<[f32; 2]> = (0..21).map(|index| [index as f32 / 7.0 - 1.5, (index * 5 % 8) as f32]).collect();
    let borrowed: Vec<&[f32]> = rows.iter().map(|row| &row[..]).collect();
    let mut forecasts = [f64::NAN; 22];
    forest.view().predict_many(&borrowed, &mut forecasts);
    for (row, forecast) in rows.iter().zip(forecasts) {
        assert_eq!(forecast, forest.predict(row));
    }
    assert!(forecasts[21].is_nan());
}

/// A walk as it is described, one fork after the other.
fn walked(view: &ForestView<'_>, features: &[f32]) -> f64 {
    view.roots.iter().fold(view.base, |sum, root| {
        let mut place = root.get() as usize;
        let mut steps = 0;
        let value = loop {
            let Some(node) = view.nodes.get(place) else { break 0.0 };
            match usize::from(node.children.get()) {
                0 => break node.value.get(),
                _ if steps == MOST_STEPS => break 0.0,
                children => {
                    let feature = features.get(usize::from(node.feature.get())).copied().unwrap_or(0.0);
                    place += children + usize::from(feature.is_nan() || feature > node.value.get() || node.value.get().is_nan());
                    steps += 1;
                }
            }
        };
        sum + f64::from(value)
    })
}

proptest! {
    #[test]
    fn any_bytes_are_evaluated_as_one_walk_after_the_other_would(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0u8..3], 0..512),
        roots in prop::collection::vec(prop_oneof![any::<u32>(), 0u32..64], 0..40),
        rows in prop::collection::vec(prop::collection::vec(any::<f32>(), 0..40), 0..20),
    ) {
        let (nodes, _) = <[NodeRecord]>::ref_from_prefix_with_elems(&bytes, bytes.len() / 8).unwrap();
        let roots: Vec<U32> = roots.into_iter().map(U32::new).collect();
        let view = ForestView { roots: &roots, nodes, base: 0.0 };
        let borrowed: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
        let mut forecasts = vec![0.0; rows.len()];
        view.predict_many(&borrowed, &mut forecasts);
        for (features, forecast) in rows.iter().zip(forecasts) {
            let expected = walked(&view, features);
            for forecast in [forecast, view.predict(features)] {
                prop_assert!(forecast == expected || (forecast.is_nan() && expected.is_nan()));
            }
        }
    }
}
