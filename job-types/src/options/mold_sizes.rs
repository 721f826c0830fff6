//! The numbers of nodes among which a job may be molded.

use std::fmt;
use std::str::FromStr;

use arrayvec::ArrayVec;
use thiserror::Error;

/// Numbers of nodes that a user allows: a list of them, or a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoldSizes(Sizes);

#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "a box would allocate where the submit filter reads what a user gave")]
enum Sizes {
    /// Ascending, each once, none zero, at least one.
    List(ArrayVec<u32, { MoldSizes::MOST_LISTED }>),
    /// Every number from the first to the second, both included, neither zero.
    Range(u32, u32),
}

/// Why a text names no sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MoldSizesError {
    /// An entry is no number, or the text is neither a list nor a range.
    #[error("use {}", MoldSizes::ACCEPTED)]
    Form,
    /// A size is zero, or has more than 32 bits.
    #[error("each size is a number of nodes from 1 to {}", u32::MAX)]
    Size,
    /// A range ends before it begins.
    #[error("the range ends before it begins")]
    Order,
    /// A list has too many entries.
    #[error("at most {} sizes can be listed; use a range", MoldSizes::MOST_LISTED)]
    TooMany,
}

impl MoldSizes {
    /// Most sizes that a list can have.
    pub const MOST_LISTED: usize = 64;

    /// The accepted forms, in words that end a message.
    pub const ACCEPTED: &str = "a list of node counts, as 1,2,4, or a range of them, as 2-16";

    /// A range of sizes, both ends included.
    ///
    /// # Errors
    /// If an end is zero or the range ends before it begins.
    pub fn range(smallest: u32, largest: u32) -> Result<Self, MoldSizesError> {
        if smallest == 0 || largest == 0 {
            return Err(MoldSizesError::Size);
        }
        if smallest > largest {
            return Err(MoldSizesError::Order);
        }
        Ok(Self(Sizes::Range(smallest, largest)))
    }

    /// A list of sizes, in any order.
    ///
    /// # Errors
    /// If it is empty, has a zero, or more than [`Self::MOST_LISTED`] different entries.
    pub fn list(sizes: impl IntoIterator<Item = u32>) -> Result<Self, MoldSizesError> {
        let mut sorted = ArrayVec::new();
        for size in sizes {
            insert(&mut sorted, size)?;
        }
        if sorted.is_empty() {
            return Err(MoldSizesError::Form);
        }
        Ok(Self(Sizes::List(sorted)))
    }

    /// Whether a job may be given that number of nodes.
    #[must_use]
    pub fn contains(&self, nodes: u32) -> bool {
        match &self.0 {
            Sizes::List(list) => list.binary_search(&nodes).is_ok(),
            Sizes::Range(smallest, largest) => (*smallest..=*largest).contains(&nodes),
        }
    }

    /// The sizes to try: a list's entries, ascending.
    ///
    /// A range has none by itself. It only bounds what is tried; which sizes those are is the
    /// decision's affair.
    #[must_use]
    pub fn candidates(&self) -> &[u32] {
        match &self.0 {
            Sizes::List(list) => list,
            Sizes::Range(..) => &[],
        }
    }

    /// Smallest and largest size.
    #[must_use]
    pub fn bounds(&self) -> (u32, u32) {
        match &self.0 {
            Sizes::List(list) => (list.first().copied().unwrap_or(u32::MAX), list.last().copied().unwrap_or(u32::MAX)),
            Sizes::Range(smallest, largest) => (*smallest, *largest),
        }
    }
}

/// Puts a size in its place, once.
fn insert(sorted: &mut ArrayVec<u32, { MoldSizes::MOST_LISTED }>, size: u32) -> Result<(), MoldSizesError> {
    if size == 0 {
        return Err(MoldSizesError::Size);
    }
    match sorted.binary_search(&size) {
        Ok(_) => Ok(()),
        Err(place) => sorted.try_insert(place, size).map_err(|_| MoldSizesError::TooMany),
    }
}

fn number(digits: &str) -> Result<u32, MoldSizesError> {
    let digits = digits.trim_ascii();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(MoldSizesError::Form);
    }
    digits.parse().map_err(|_| MoldSizesError::Size)
}

impl FromStr for MoldSizes {
    type Err = MoldSizesError;

    fn from_str(text: &str) -> Result<Self, MoldSizesError> {
        if let Some((smallest, largest)) = text.split_once('-') {
            return Self::range(number(smallest)?, number(largest)?);
        }
        let mut sorted = ArrayVec::new();
        for entry in text.split(',') {
            insert(&mut sorted, number(entry)?)?;
        }
        Ok(Self(Sizes::List(sorted)))
    }
}

impl fmt::Display for MoldSizes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Sizes::List(list) => {
                for (place, size) in list.iter().enumerate() {
                    if place > 0 {
                        formatter.write_str(",")?;
                    }
                    write!(formatter, "{size}")?;
                }
                Ok(())
            }
            Sizes::Range(smallest, largest) => write!(formatter, "{smallest}-{largest}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_sorted_and_each_size_is_there_once() {
        let sizes: MoldSizes = "4,1,2,4".parse().unwrap();
        assert_eq!(sizes.candidates(), [1, 2, 4]);
        assert_eq!(sizes.to_string(), "1,2,4");
        assert_eq!(sizes.bounds(), (1, 4));
        assert!(sizes.contains(2) && !sizes.contains(3));
    }

    #[test]
    fn a_range_contains_its_ends_and_offers_nothing_by_itself() {
        let sizes: MoldSizes = "2-16".parse().unwrap();
        assert!(sizes.candidates().is_empty());
        assert!(sizes.contains(2) && sizes.contains(16) && !sizes.contains(1) && !sizes.contains(17));
        assert_eq!(sizes.to_string(), "2-16");
    }

    #[test]
    fn what_names_no_sizes_is_refused() {
        use MoldSizesError::{Form, Order, Size, TooMany};
        for (text, reason) in [
            ("", Form),
            (",", Form),
            ("1,", Form),
            ("1,,2", Form),
            ("a", Form),
            ("-", Form),
            ("1-", Form),
            ("1-2-3", Form),
            ("1-2,4", Form),
            ("+1", Form),
            ("0", Size),
            ("0-4", Size),
            ("4294967296", Size),
            ("4-2", Order),
        ] {
            assert_eq!(text.parse::<MoldSizes>(), Err(reason), "{text}");
        }
        let most: Vec<u32> = (1..=64).collect();
        assert_eq!(MoldSizes::list(most.iter().copied()).map(|sizes| sizes.candidates().len()), Ok(64));
        assert_eq!(MoldSizes::list(1..=65), Err(TooMany));
        assert_eq!(MoldSizes::list([]), Err(Form));
    }
}
