//! Density-based clustering (DBSCAN: Ester, Kriegel, Sander, Xu, KDD 1996).
//!
//! A point with at least `min_points` points within `epsilon` of it, itself among them, is a core
//! point. Core points within `epsilon` of each other share a cluster, a point within `epsilon` of a
//! core point belongs to that one's cluster, and any other is an outlier.

/// The cluster of each point, numbered from 0 in the order of their first core points; `None` marks
/// an outlier.
///
/// `epsilon` is a Euclidean distance in the unit of the coordinates, which are finite. A point near
/// the core points of several clusters belongs to the one with the smallest number. Time grows with
/// the number of points times that of the points within `epsilon` along the first coordinate.
#[must_use]
pub fn clusters<const D: usize>(points: &[[f64; D]], epsilon: f64, min_points: usize) -> Vec<Option<usize>> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|a, b| first(points.get(*a)).total_cmp(&first(points.get(*b))));
    let sorted: Vec<[f64; D]> = order.iter().filter_map(|index| points.get(*index)).copied().collect();
    let mut place = vec![0; points.len()];
    for (sorted_index, index) in order.iter().enumerate() {
        if let Some(place) = place.get_mut(*index) {
            *place = sorted_index;
        }
    }
    let core: Vec<bool> = (0..sorted.len()).map(|index| neighbours(&sorted, index, epsilon).nth(min_points.max(1) - 1).is_some()).collect();
    let is_core = |index: usize| core.get(index).copied().unwrap_or(false);

    let mut labels: Vec<Option<usize>> = vec![None; sorted.len()];
    let mut clusters = 0;
    let mut frontier = Vec::new();
    for seed in place.iter().copied().filter(|index| is_core(*index)) {
        if labels.get(seed).copied().flatten().is_some() {
            continue;
        }
        frontier.push(seed);
        while let Some(index) = frontier.pop() {
            for other in neighbours(&sorted, index, epsilon) {
                if let Some(label @ None) = labels.get_mut(other) {
                    *label = Some(clusters);
                    if is_core(other) {
                        frontier.push(other);
                    }
                }
            }
        }
        clusters += 1;
    }
    place.iter().map(|index| labels.get(*index).copied().flatten()).collect()
}

/// [`clusters`] of numbers.
#[must_use]
pub fn clusters_of_numbers(numbers: &[f64], epsilon: f64, min_points: usize) -> Vec<Option<usize>> {
    let points: Vec<[f64; 1]> = numbers.iter().map(|number| [*number]).collect();
    clusters(&points, epsilon, min_points)
}

/// How many of the points are outliers, without naming the clusters. The points ascend in their
/// first coordinate; `core` is room to work in.
#[must_use]
pub fn outliers<const D: usize>(ascending: &[[f64; D]], epsilon: f64, min_points: usize, core: &mut Vec<bool>) -> usize {
    core.clear();
    core.extend((0..ascending.len()).map(|index| neighbours(ascending, index, epsilon).nth(min_points.max(1) - 1).is_some()));
    let is_core = |index: usize| core.get(index).copied().unwrap_or(false);
    (0..ascending.len()).filter(|index| !is_core(*index) && !neighbours(ascending, *index, epsilon).any(is_core)).count()
}

/// The points within `epsilon` of one, itself among them.
fn neighbours<const D: usize>(ascending: &[[f64; D]], index: usize, epsilon: f64) -> impl Iterator<Item = usize> {
    let centre = ascending.get(index).copied().unwrap_or([f64::NAN; D]);
    let near = move |point: &[f64; D]| (first(Some(point)) - first(Some(&centre))).abs() <= epsilon;
    let within = move |point: &[f64; D]| point.iter().zip(&centre).map(|(a, b)| (a - b) * (a - b)).sum::<f64>() <= epsilon * epsilon;
    let before = ascending.iter().enumerate().take(index + 1).rev();
    let after = ascending.iter().enumerate().skip(index + 1);
    let side = move |(place, point): (usize, &[f64; D])| within(point).then_some(place);
    before
        .take_while(move |(_, point)| near(point))
        .filter_map(side)
        .chain(after.take_while(move |(_, point)| near(point)).filter_map(side))
}

fn first<const D: usize>(point: Option<&[f64; D]>) -> f64 {
    point.and_then(|point| point.first()).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn two_groups_and_a_lonely_point_are_two_clusters_and_an_outlier() {
        assert_eq!(
            clusters_of_numbers(&[10.0, 1.0, 1.1, 50.0, 10.2, 1.2, 10.1], 0.15, 3),
            // The core points are 1.1 and, after it, 10.1.
            [Some(1), Some(0), Some(0), None, Some(1), Some(0), Some(1)]
        );
    }

    #[test]
    fn a_point_near_a_core_point_belongs_to_its_cluster_though_it_is_none_itself() {
        // Within 1 of 2.0 lie 1, 2 and 3, within 1 of 1.0 and 3.0 only two points each.
        assert_eq!(clusters_of_numbers(&[1.0, 2.0, 3.0], 1.0, 3), [Some(0); 3]);
        assert_eq!(clusters_of_numbers(&[1.0, 2.0, 3.0], 0.9, 2), [None; 3]);
    }

    #[test]
    fn the_distance_in_the_plane_is_euclidean() {
        // 3, 4, 5.
        assert_eq!(clusters(&[[0.0, 0.0], [3.0, 4.0]], 5.0, 2), [Some(0), Some(0)]);
        assert_eq!(clusters(&[[0.0, 0.0], [3.0, 4.0]], 4.9, 2), [None, None]);
    }

    #[test]
    fn no_points_have_no_clusters() {
        assert!(clusters_of_numbers(&[], 1.0, 2).is_empty());
    }

    proptest! {
        #[test]
        fn outliers_are_the_points_that_no_core_point_is_near(
            mut points in prop::collection::vec(prop::array::uniform2(0.0f64..1.0), 0..60),
            epsilon in 0.01f64..0.5,
            min_points in 1usize..6,
        ) {
            points.sort_by(|a, b| a[0].total_cmp(&b[0]));
            let near = |a: &[f64; 2], b: &[f64; 2]| (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2) <= epsilon * epsilon;
            let core = |a: &[f64; 2]| points.iter().filter(|b| near(a, b)).count() >= min_points;
            let expected: Vec<bool> = points.iter().map(|a| !points.iter().any(|b| core(b) && near(a, b))).collect();
            let labels = clusters(&points, epsilon, min_points);
            prop_assert_eq!(&labels.iter().map(Option::is_none).collect::<Vec<_>>(), &expected);
            let counted = outliers(&points, epsilon, min_points, &mut Vec::new());
            prop_assert_eq!(counted, expected.iter().filter(|outlier| **outlier).count());
            for (a, label_a) in points.iter().zip(&labels).filter(|(a, _)| core(a)) {
                for (b, label_b) in points.iter().zip(&labels).filter(|(b, _)| core(b)) {
                    prop_assert!(!near(a, b) || label_a == label_b);
                }
            }
        }
    }
}
