//! Values with their ranges: each error says what is allowed.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::net::SocketAddr;
use std::path::PathBuf;

use serde::de::{Deserialize, Deserializer, Error};

use crate::duration;

/// A duration in Slurm's or the suffixed form, from `LEAST` to `MOST` seconds.
#[derive(Debug)]
pub(super) struct Duration<const LEAST: i64, const MOST: i64>(pub(super) i64);

impl<'de, const LEAST: i64, const MOST: i64> Deserialize<'de> for Duration<LEAST, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let seconds = duration::parse(&text).map_err(D::Error::custom)?;
        if !(LEAST..=MOST).contains(&seconds) {
            let (least, most) = (duration::suffixed(LEAST), duration::suffixed(MOST));
            return Err(not_allowed(&text, format!("a duration from {least} to {most}")));
        }
        Ok(Self(seconds))
    }
}

/// A whole number from `LEAST` to `MOST`.
#[derive(Debug)]
pub(super) struct Count<const LEAST: u64, const MOST: u64>(pub(super) u64);

impl<'de, const LEAST: u64, const MOST: u64> Deserialize<'de> for Count<LEAST, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        let count = u64::try_from(number).ok().filter(|count| (LEAST..=MOST).contains(count));
        count.map(Self).ok_or_else(|| not_allowed(number, format!("a whole number from {LEAST} to {MOST}")))
    }
}

/// A fraction; the bounds are thousandths, and included.
#[derive(Debug)]
pub(super) struct Fraction<const LEAST: u32, const MOST: u32>(pub(super) f64);

impl<'de, const LEAST: u32, const MOST: u32> Deserialize<'de> for Fraction<LEAST, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        let [least, most] = [LEAST, MOST].map(|thousandths| f64::from(thousandths) / 1_000.0);
        if !(least..=most).contains(&number) {
            return Err(not_allowed(number, format!("a number from {least} to {most}")));
        }
        Ok(Self(number))
    }
}

/// A list of names of partitions, users and the like: at least one, each once.
#[derive(Debug)]
pub(super) struct Names(pub(super) Vec<String>);

/// More names are better said by an account or a quality of service.
const MOST_NAMES: usize = 1_000;

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let names = Vec::<String>::deserialize(deserializer)?;
        if names.is_empty() || names.len() > MOST_NAMES {
            return Err(not_allowed(
                format_args!("a list of {} names", names.len()),
                format_args!("1 to {MOST_NAMES} names, or leave the key out where it is about all"),
            ));
        }
        let is_name = |name: &str| !name.is_empty() && !name.chars().any(|character| character.is_whitespace() || character.is_control());
        let mut known = BTreeSet::new();
        match names.iter().find(|name| !is_name(name) || !known.insert(name.as_str())) {
            Some(name) => {
                let name = job_types::text::shortened(name);
                Err(not_allowed(format_args!("{name:?}"), "names without blanks, each once"))
            }
            None => Ok(Self(names)),
        }
    }
}

/// An address of this machine's loopback interface, or `"off"`.
#[derive(Debug)]
pub(super) struct Listen(pub(super) Option<SocketAddr>);

impl<'de> Deserialize<'de> for Listen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "off" {
            return Ok(Self(None));
        }
        let address = text.parse::<SocketAddr>().ok().filter(|address| address.ip().is_loopback());
        match address {
            Some(address) => Ok(Self(Some(address))),
            None => Err(not_allowed(
                format_args!("{text:?}"),
                r#"a loopback address with a port, such as "127.0.0.1:9487" or "[::1]:9487", or "off""#,
            )),
        }
    }
}

/// An absolute path.
#[derive(Debug)]
pub(super) struct AbsolutePath(pub(super) PathBuf);

impl<'de> Deserialize<'de> for AbsolutePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let path = PathBuf::deserialize(deserializer)?;
        if !path.is_absolute() {
            return Err(not_allowed(format_args!("{path:?}"), "an absolute path"));
        }
        Ok(Self(path))
    }
}

/// What is written, and what may be written in its place.
pub(super) fn not_allowed<E: Error>(found: impl Display, allowed: impl Display) -> E {
    E::custom(format_args!("{found} is not allowed: use {allowed}"))
}
