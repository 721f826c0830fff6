//! Slurm's numbers of errors by their names, of the headers that this is built for.

use std::ffi::c_int;

/// All that begin with `ESLURM_`, in the order of their names.
const NUMBERS: &[(&str, c_int)] = include!(concat!(env!("OUT_DIR"), "/error_numbers.rs"));

/// The number of an error, such as `ESLURM_INVALID_TIME_LIMIT`; `None` where this release of Slurm
/// has none of that name.
#[must_use]
pub fn of(name: &str) -> Option<c_int> {
    let place = NUMBERS.binary_search_by_key(&name, |(name, _)| name).ok()?;
    NUMBERS.get(place).map(|(_, number)| *number)
}

/// All names, in their order.
pub fn names() -> impl Iterator<Item = &'static str> {
    NUMBERS.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings;

    #[test]
    fn names_lead_to_the_numbers_of_the_headers() {
        assert_eq!(of("ESLURM_INVALID_TIME_LIMIT"), Some(bindings::ESLURM_INVALID_TIME_LIMIT as c_int));
        assert_eq!(of("ESLURM_ACCESS_DENIED"), Some(bindings::ESLURM_ACCESS_DENIED as c_int));
        assert_eq!(of("ESLURM_NO_SUCH_ERROR"), None);
        assert!(NUMBERS.is_sorted_by(|(one, _), (next, _)| one < next) && NUMBERS.len() > 100);
    }
}
