//! The upper edge of a graph of delay against bid as line segments, and the ratio of two such edges
//! (7.2.2.5).

/// A new end of a segment may lie lower than the last, but by less than three minutes of delay for
/// each credit of bid.
const LOWEST_SLOPE: f64 = -3.0;

/// A point: a bid and a delay in minutes, or another figure against the bid.
pub type Point = (f64, f64);

/// The ends of line segments, in the order of their bids, each bid once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Segments {
    ends: Vec<Point>,
}

impl Segments {
    /// The upper edge of these points.
    ///
    /// It begins at the left or right end of the graph, whichever is lower (the left one where both
    /// are as high), and goes to the other: from the end of the last segment to the highest point
    /// at the next bid, if that does not fall too steeply, or else at the one after it.
    #[must_use]
    pub fn upper_edge(points: impl IntoIterator<Item = Point>) -> Self {
        let mut highest = highest_at_each_bid(points);
        let starts_at_the_right = match (highest.first(), highest.last()) {
            (Some(left), Some(right)) => right.1 < left.1,
            _ => false,
        };
        if starts_at_the_right {
            highest.reverse();
        }
        let mut ends: Vec<Point> = Vec::new();
        for point in highest {
            let follows = ends.last().is_none_or(|last| (point.1 - last.1) / (point.0 - last.0).abs() > LOWEST_SLOPE);
            if follows {
                ends.push(point);
            }
        }
        if starts_at_the_right {
            ends.reverse();
        }
        Self { ends }
    }

    /// The ends of the segments, in the order of their bids.
    #[must_use]
    pub fn ends(&self) -> &[Point] {
        &self.ends
    }

    /// The value at a bid; `None` left and right of all segments.
    #[must_use]
    pub fn at(&self, bid: f64) -> Option<f64> {
        let next = self.ends.partition_point(|end| end.0 < bid);
        let &(right, value) = self.ends.get(next)?;
        if right == bid {
            return Some(value);
        }
        let &(left, from) = self.ends.get(next.checked_sub(1)?)?;
        Some(from + (value - from) * (bid - left) / (right - left))
    }

    /// This edge divided by another, at each bid at which a segment of either ends. Where one of
    /// them has no value or the other is 0 there is none.
    #[must_use]
    pub fn ratio(&self, denominator: &Self) -> Vec<Point> {
        let mut bids: Vec<f64> = self.ends.iter().chain(&denominator.ends).map(|end| end.0).collect();
        bids.sort_unstable_by(f64::total_cmp);
        bids.dedup();
        let at = |bid| {
            let below = denominator.at(bid).filter(|value| *value != 0.0)?;
            Some((bid, self.at(bid)? / below))
        };
        bids.into_iter().filter_map(at).collect()
    }
}

/// The highest point at each bid, in the order of bids.
fn highest_at_each_bid(points: impl IntoIterator<Item = Point>) -> Vec<Point> {
    let mut points: Vec<Point> = points.into_iter().collect();
    points.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(other.1.total_cmp(&one.1)));
    points.dedup_by(|later, earlier| later.0 == earlier.0);
    points
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_edge_starts_at_the_lower_end_and_passes_over_steep_falls() {
        // From the left: 10 at 1 falls to 5 at 2 (by 5 for a credit, too steep), and to 5 at 3 by
        // 2.5 for each.
        let edge = Segments::upper_edge([(0.0, 1.0), (1.0, 10.0), (1.0, 3.0), (2.0, 5.0), (3.0, 5.0)]);
        assert_eq!(edge.ends(), [(0.0, 1.0), (1.0, 10.0), (3.0, 5.0)]);
        // From the right, where 1 is lower than 10: no step is a fall.
        let edge = Segments::upper_edge([(0.0, 10.0), (1.0, 6.0), (2.0, 1.0)]);
        assert_eq!(edge.ends(), [(0.0, 10.0), (1.0, 6.0), (2.0, 1.0)]);
    }

    #[test]
    fn a_fall_of_three_minutes_for_a_credit_is_too_steep() {
        let edge = Segments::upper_edge([(0.0, 0.0), (1.0, 9.0), (2.0, 6.0), (3.0, 3.1)]);
        assert_eq!(edge.ends(), [(0.0, 0.0), (1.0, 9.0), (3.0, 3.1)]);
    }

    #[test]
    fn an_edge_is_straight_between_its_ends_and_nothing_beside_them() {
        let edge = Segments::upper_edge([(1.0, 2.0), (3.0, 6.0)]);
        assert_eq!([0.9, 1.0, 2.5, 3.0, 3.1].map(|bid| edge.at(bid)), [None, Some(2.0), Some(5.0), Some(6.0), None]);
        assert_eq!(Segments::upper_edge([]).at(1.0), None);
    }

    #[test]
    fn a_ratio_is_told_at_every_end_of_a_segment_but_over_nothing() {
        let above = Segments::upper_edge([(0.0, 4.0), (4.0, 8.0)]);
        let below = Segments::upper_edge([(0.0, 0.0), (2.0, 2.0), (4.0, 4.0), (5.0, 5.0)]);
        assert_eq!(above.ratio(&below), [(2.0, 3.0), (4.0, 2.0)]);
    }

    proptest! {
        #[test]
        fn an_edge_divided_by_itself_is_one(points in prop::collection::vec((0_u8..20, 1_u8..100), 1..60)) {
            let edge = Segments::upper_edge(points.iter().map(|&(bid, delay)| (f64::from(bid), f64::from(delay))));
            prop_assert!(!edge.ends().is_empty());
            prop_assert!(edge.ends().is_sorted_by(|one, other| one.0 < other.0));
            prop_assert!(edge.ratio(&edge).iter().all(|point| point.1 == 1.0));
            prop_assert_eq!(edge.ratio(&edge).len(), edge.ends().len());
        }
    }
}
