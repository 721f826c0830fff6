//! Regular expressions, compiled to automata where rules are loaded.

use regex_automata::Input;
use regex_automata::dfa::Automaton;
use regex_automata::dfa::dense::DFA;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zerocopy::IntoBytes;

/// A regular expression as a deterministic automaton: it takes one step for each byte of a text,
/// whatever the expression, and no memory.
#[derive(Clone)]
pub struct Pattern(DFA<Vec<u32>>);

/// Why bytes are not a pattern.
#[derive(Debug, thiserror::Error)]
#[error("a regular expression can't be read")]
pub struct PatternError;

impl Pattern {
    /// Reads the automaton that `regex_automata` has written in the byte order of this machine.
    ///
    /// # Errors
    /// [`PatternError`] if these are not the bytes of one; the bytes are checked so that a search
    /// with it can't fail.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PatternError> {
        // The automaton is read in place, of memory that is aligned for its numbers.
        let mut aligned = vec![0_u32; bytes.len().div_ceil(size_of::<u32>())];
        let place = aligned.as_mut_bytes().get_mut(..bytes.len()).ok_or(PatternError)?;
        place.copy_from_slice(bytes);
        let (automaton, _) = DFA::from_bytes(place).map_err(|_| PatternError)?;
        Ok(Pattern(automaton.to_owned()))
    }

    /// Whether it is found anywhere in a text.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        // A search can fail at bytes that an automaton is told to give up at, and none is.
        self.0.try_search_fwd(&Input::new(text).earliest(true)).is_ok_and(|found| found.is_some())
    }
}

impl std::fmt::Debug for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pattern({} bytes)", self.0.memory_usage())
    }
}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = vec![0; self.0.write_to_len()];
        let length = self.0.write_to_native_endian(&mut bytes).map_err(S::Error::custom)?;
        serializer.serialize_bytes(bytes.get(..length).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = <&[u8]>::deserialize(deserializer)?;
        Pattern::from_bytes(bytes).map_err(D::Error::custom)
    }
}
