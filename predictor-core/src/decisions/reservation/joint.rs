//! Joint reservations: the same nodes asked for on several clusters, of which the first to have
//! them serves (Nurmi, Wolski and Brevik 2008, 4.6).
//!
//! Clusters whose waits do not depend on each other all miss a time with the product of the
//! probabilities to miss it. Where they do depend on each other, as when the same users go to both,
//! the joint probability is less than what is computed here.

/// Probabilities near certainty that are asked for besides whole hundredths.
const NEAR_CERTAINTY: [f64; 2] = [0.995, 0.999];

/// The probabilities for which a cluster is asked what it would give, where its most probable
/// reservation has the probability `best`: each hundredth up to that, finer ones near certainty,
/// and the highest there is in whole thousandths, because it is asked for by its decimals.
pub fn probabilities_to_ask(best: f64) -> impl Iterator<Item = f64> {
    let highest = (best * 1_000.0).floor() / 1_000.0;
    let hundredths = (1..=99).map(|hundredths| f64::from(hundredths) / 100.0);
    let asked = hundredths.chain(NEAR_CERTAINTY).chain([highest]);
    asked.filter(move |asked| *asked > 0.0 && *asked < 1.0 && *asked <= highest)
}

/// What a reservation on one cluster is worth and costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointOption {
    /// The probability that it is kept, 0 to 1.
    pub probability: f64,
    /// What it costs, in node-seconds.
    pub node_seconds: u64,
}

/// The cheapest set of reservations that is likely enough, at most one on each cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct JointReservation {
    /// For each cluster, the place among its options of the reservation that was chosen; `None` if
    /// none was chosen there.
    pub chosen: Vec<Option<usize>>,
    /// The probability that at least one of them is kept, where clusters do not depend on each
    /// other.
    pub probability: f64,
    /// The cost of the chosen reservations together, in node-seconds.
    pub node_seconds: u64,
}

/// A set over the clusters that were looked at so far.
#[derive(Clone, Debug)]
struct Partial {
    /// The probability that all of it is missed.
    missed: f64,
    node_seconds: u64,
    chosen: Vec<Option<usize>>,
}

/// How far a joint probability may fall short of the wanted one because of rounding.
const ROUNDING: f64 = 1e-9;

/// The cheapest set of reservations of which at least one is kept with the wanted probability, at
/// most one on each cluster; of equally cheap ones the most probable. `clusters` has what is to be
/// had on each, such as the points of its trajectory.
///
/// The search is exact. It takes one cluster after the other and keeps, of the sets over those so
/// far, each that is not at once dearer and less probable than another, and of those that suffice
/// already only the cheapest.
///
/// # Errors
/// Where no set suffices: the most probable one, of equally probable ones the cheapest.
pub fn joint_reservation(clusters: &[Vec<JointOption>], wanted: f64) -> Result<JointReservation, JointReservation> {
    let most_missed = 1.0 - wanted + ROUNDING;
    let mut sets = vec![Partial { missed: 1.0, node_seconds: 0, chosen: Vec::new() }];
    for options in clusters {
        let of_interest = best_of(options);
        let mut longer = Vec::with_capacity(sets.len() * (of_interest.len() + 1));
        for set in &sets {
            let with = |chosen: Option<usize>, probability: f64, node_seconds: u64| Partial {
                missed: set.missed * (1.0 - probability),
                node_seconds: set.node_seconds.saturating_add(node_seconds),
                chosen: set.chosen.iter().copied().chain([chosen]).collect(),
            };
            longer.push(with(None, 0.0, 0));
            longer.extend(of_interest.iter().map(|(place, option)| with(Some(*place), option.probability, option.node_seconds)));
        }
        sets = undominated(longer, most_missed);
    }
    let whole =
        |set: &Partial| JointReservation { chosen: set.chosen.clone(), probability: 1.0 - set.missed, node_seconds: set.node_seconds };
    // The sets ascend in cost and in probability.
    let sufficient = sets.iter().find(|set| set.missed <= most_missed);
    match (sufficient, sets.last()) {
        (Some(set), _) => Ok(whole(set)),
        (None, Some(set)) => Err(whole(set)),
        (None, None) => Err(JointReservation { chosen: vec![None; clusters.len()], probability: 0.0, node_seconds: 0 }),
    }
}

/// The options of a cluster that are worth a look, with their places: those that are more probable
/// than all that are as cheap.
fn best_of(options: &[JointOption]) -> Vec<(usize, JointOption)> {
    let is_probability = |option: &JointOption| option.probability > 0.0 && option.probability <= 1.0;
    let mut ascending: Vec<(usize, JointOption)> =
        options.iter().copied().enumerate().filter(|(_, option)| is_probability(option)).collect();
    ascending.sort_by(|(_, one), (_, other)| one.node_seconds.cmp(&other.node_seconds).then(other.probability.total_cmp(&one.probability)));
    let mut highest = 0.0;
    ascending.retain(|(_, option)| {
        let is_higher = option.probability > highest;
        highest = option.probability.max(highest);
        is_higher
    });
    ascending
}

/// The sets that are more probable than all that are as cheap, up to the first that suffices.
fn undominated(mut sets: Vec<Partial>, most_missed: f64) -> Vec<Partial> {
    sets.sort_by(|one, other| one.node_seconds.cmp(&other.node_seconds).then(one.missed.total_cmp(&other.missed)));
    let mut least_missed = f64::INFINITY;
    let mut suffices = false;
    sets.retain(|set| {
        let is_kept = !suffices && set.missed < least_missed;
        if is_kept {
            least_missed = set.missed;
            suffices = set.missed <= most_missed;
        }
        is_kept
    });
    sets
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn option(probability: f64, node_seconds: u64) -> JointOption {
        JointOption { probability, node_seconds }
    }

    #[test]
    fn no_more_is_asked_for_than_there_is() {
        let asked = |best| probabilities_to_ask(best).collect::<Vec<_>>();
        assert_eq!(asked(0.0316), [0.01, 0.02, 0.03, 0.031]);
        assert_eq!(asked(0.998).split_off(98), [0.99, 0.995, 0.998]);
        assert!(asked(0.0).is_empty() && asked(f64::NAN).is_empty());
        assert_eq!(asked(1.0).split_off(98), [0.99, 0.995, 0.999]);
    }

    #[test]
    fn two_reservations_of_nine_in_ten_make_one_of_ninety_nine_in_a_hundred() {
        // The example of Nurmi, Wolski and Brevik (2008, 4.6).
        let cluster = vec![option(0.9, 100)];
        let joint = joint_reservation(&[cluster.clone(), cluster], 0.99).unwrap();
        assert_eq!((joint.chosen, joint.node_seconds), (vec![Some(0), Some(0)], 200));
        assert!((joint.probability - 0.99).abs() < 1e-12);
    }

    #[test]
    fn one_cluster_alone_is_taken_where_it_is_cheaper() {
        let joint = joint_reservation(&[vec![option(0.9, 100), option(0.99, 150)], vec![option(0.9, 100)]], 0.99).unwrap();
        assert_eq!((joint.chosen, joint.node_seconds), (vec![Some(1), None], 150));
    }

    #[test]
    fn what_can_not_be_had_is_answered_with_the_most_probable() {
        let clusters = [vec![option(0.5, 10), option(0.6, 40)], Vec::new(), vec![option(0.5, 5)]];
        let joint = joint_reservation(&clusters, 0.95).unwrap_err();
        assert_eq!((joint.chosen, joint.node_seconds), (vec![Some(1), None, Some(0)], 45));
        assert!((joint.probability - 0.8).abs() < 1e-12);
        assert_eq!(joint_reservation(&[], 0.5).unwrap_err().chosen, []);
    }

    /// The cost of each set that suffices, tried one after the other.
    fn cheapest(clusters: &[Vec<JointOption>], wanted: f64, missed: f64, cost: u64) -> Option<u64> {
        let Some((options, others)) = clusters.split_first() else {
            return (1.0 - missed >= wanted - ROUNDING).then_some(cost);
        };
        let without = cheapest(others, wanted, missed, cost);
        let with =
            options.iter().filter_map(|option| cheapest(others, wanted, missed * (1.0 - option.probability), cost + option.node_seconds));
        without.into_iter().chain(with).min()
    }

    fn clusters() -> impl Strategy<Value = Vec<Vec<JointOption>>> {
        let option = (1u8..=99, 0u64..500).prop_map(|(percent, cost)| option(f64::from(percent) / 100.0, cost));
        prop::collection::vec(prop::collection::vec(option, 0..6), 1..5)
    }

    proptest! {
        #[test]
        fn no_set_that_suffices_is_cheaper(clusters in clusters(), percent in 1u8..=99) {
            let wanted = f64::from(percent) / 100.0;
            match joint_reservation(&clusters, wanted) {
                Ok(joint) => {
                    prop_assert_eq!(Some(joint.node_seconds), cheapest(&clusters, wanted, 1.0, 0));
                    // The joint probability and cost are those of the reservations that were
                    // chosen.
                    let chosen: Vec<_> = joint.chosen.iter().zip(&clusters).filter_map(|(place, options)| Some(options[(*place)?])).collect();
                    let missed: f64 = chosen.iter().map(|option| 1.0 - option.probability).product();
                    prop_assert!((1.0 - missed - joint.probability).abs() < 1e-9 && joint.probability >= wanted - 1e-6);
                    prop_assert_eq!(chosen.iter().map(|option| option.node_seconds).sum::<u64>(), joint.node_seconds);
                }
                Err(best) => {
                    prop_assert_eq!(cheapest(&clusters, wanted, 1.0, 0), None);
                    let highest = |options: &Vec<JointOption>| options.iter().map(|option| option.probability).fold(0.0, f64::max);
                    let missed: f64 = clusters.iter().map(|options| 1.0 - highest(options)).product();
                    prop_assert!((1.0 - missed - best.probability).abs() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn whole_trajectories_that_become_dear_near_certainty_are_combined() {
        let cost = |percent: u64, price: u64| 1_000 * price * percent / (100 - percent);
        let trajectory = |price| (1..=99).map(|percent| option(percent as f64 / 100.0, cost(percent, price))).collect::<Vec<_>>();
        let joint = joint_reservation(&[trajectory(3), trajectory(5), trajectory(7)], 0.99).unwrap();
        assert!(joint.probability >= 0.99 - 1e-9 && joint.chosen.iter().all(Option::is_some), "{joint:?}");
        assert!(joint.node_seconds * 4 < cost(99, 3), "{joint:?}");
    }
}
