//! What the methods are called for people, and in which order they stand.

use command_parts::plot::Series;
use simulator::evaluation::{ByMethod, IN_FORCE};

/// The methods that have a name of their own, by key, in the order of the tables.
const NAMES: [(&str, &str); 13] = [
    ("zero", "predict 0"),
    ("requested", "requested time"),
    ("last_two", "user's last two"),
    ("baseline", "baseline"),
    ("knn", "k nearest"),
    ("qbets", "QBETS"),
    ("smith", "Smith et al."),
    ("ibl", "IBL"),
    ("li", "Li et al."),
    ("apq", "APQ"),
    ("range_sets", "rangeSets"),
    (DEFAULT, "queuecast"),
    (IN_FORCE, "in force"),
];

/// The key of the default.
pub(super) const DEFAULT: &str = "best";

/// What a method is called.
pub(super) fn name(key: &str) -> String {
    let known = NAMES.iter().find(|(known, _)| *known == key);
    known.map_or_else(|| key.replace('_', " "), |(_, name)| (*name).to_owned())
}

/// The keys in the order of the tables: the simple and the published methods, then others, such as
/// the members of the default, then the default, then what is in force.
pub(super) fn ordered<'a>(keys: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let others = NAMES.len();
    let place = |key: &str| match NAMES.iter().position(|(known, _)| *known == key) {
        None => others,
        Some(_) if key == DEFAULT => others + 1,
        Some(_) if key == IN_FORCE => others + 2,
        Some(place) => place,
    };
    let mut keys: Vec<&str> = keys.into_iter().collect();
    keys.sort_by_key(|key| (place(key), *key));
    keys.dedup();
    keys
}

/// Errors by class of jobs as lines of a diagram: for each class its jobs and the errors by method.
/// Classes without jobs have no point.
pub fn series<'a>(classes: impl Iterator<Item = (usize, &'a ByMethod<f64>)> + Clone) -> Vec<Series<(usize, f64)>> {
    let keys = ordered(classes.clone().flat_map(|(_, errors)| errors.keys().copied()));
    let one = |key: &str| Series {
        name: name(key),
        points: classes
            .clone()
            .enumerate()
            .filter(|(_, (jobs, _))| *jobs > 0)
            .filter_map(|(class, (_, errors))| Some((class, *errors.get(key)?)))
            .collect(),
        is_ours: key == DEFAULT,
    };
    keys.into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_methods_come_first_and_the_default_and_what_is_in_force_last() {
        assert_eq!(
            ordered(["in_force", "best", "trees", "apq", "knn", "zero", "apq"]),
            ["zero", "knn", "apq", "trees", "best", "in_force"]
        );
        assert_eq!(["knn", "best", "last_started"].map(name), ["k nearest", "queuecast", "last started"]);
    }
}
