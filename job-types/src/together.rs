//! Slots of several clusters that are had together or not at all, as a transaction in two phases
//! (Gray 1978): each cluster reserves its part provisionally; one of them decides, by whether its
//! own part is confirmed in time, and what it has decided stands.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::time::Seconds;

/// For how long a part is kept that is not confirmed. After that the cluster that decides gives its
/// own back, and each other one asks it.
pub const CONFIRMED_WITHIN: Seconds = Seconds(120);

/// What several parts are known by, which whoever asks for them has drawn: 128 bits that nobody
/// else can guess, as 32 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Token(u128);

/// Which parts a slot belongs to, and which cluster decides about them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Together {
    /// What the parts are known by.
    #[serde(rename = "together")]
    pub token: Token,
    /// The cluster that decides; `None` where it is the one that reserves the part.
    pub decided_by: Option<String>,
}

/// What was decided about several parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Nothing yet: they may still be confirmed.
    Open,
    /// All are kept.
    Confirmed,
    /// All are given back, which is so as well where none of them is known.
    GivenUp,
}

impl From<u128> for Token {
    fn from(bits: u128) -> Self {
        Self(bits)
    }
}

impl From<Token> for String {
    fn from(token: Token) -> Self {
        token.to_string()
    }
}

impl TryFrom<String> for Token {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl fmt::Display for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", self.0)
    }
}

impl FromStr for Token {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let bits = Some(text).filter(|text| text.len() == 32 && text.bytes().all(is_digit));
        let bits = bits.and_then(|text| u128::from_str_radix(text, 16).ok());
        bits.map(Self).ok_or("32 lower-case hexadecimal digits, drawn at random")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_as_it_is_written_and_nothing_else_is_one() {
        for bits in [0, 7, u128::MAX] {
            let token = Token::from(bits);
            assert_eq!(token.to_string().parse(), Ok(token.clone()));
            let written = serde_json::to_string(&token).unwrap();
            assert_eq!(serde_json::from_str::<Token>(&written).unwrap(), token);
        }
        let long = "0".repeat(33);
        for text in ["", "7", "+0123456789abcdef0123456789abcde", "0123456789ABCDEF0123456789ABCDEF", &long] {
            assert!(text.parse::<Token>().is_err(), "{text}");
        }
    }
}
