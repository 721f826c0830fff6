//! The keys of a request, and the readers of their values.

use serde_json::{Map, Value};

use crate::refusal::Refusal;

/// The most bytes of a name.
const MOST_NAME_BYTES: usize = 256;
/// The latest moment that can be named: the end of the year 9999.
pub(crate) const LATEST: i64 = 253_402_300_799;

/// The keys of a request with their values.
pub(crate) type Keys = Map<String, Value>;

/// Reads an object that has none but the known keys.
///
/// # Errors
/// The bytes are no JSON object, or a key is not known.
pub(crate) fn object(bytes: &[u8], known: &[&str]) -> Result<Keys, Refusal> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| Refusal::because(format!("the request is no JSON: {error}")))?;
    let Value::Object(keys) = value else { return Err(Refusal::because("the request is no JSON object")) };
    if let Some(unknown) = keys.keys().find(|key| !known.contains(&key.as_str())) {
        let shown: String = unknown.chars().take(64).collect();
        return Err(Refusal::of_key(&shown, format!("this key is not known; the keys are {}", known.join(", "))));
    }
    Ok(keys)
}

/// A name of Slurm's: text without control characters.
///
/// # Errors
/// The value is another one.
pub(crate) fn name(keys: &Keys, key: &str) -> Result<Option<String>, Refusal> {
    match keys.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.is_empty() && text.len() <= MOST_NAME_BYTES && !text.chars().any(char::is_control) => {
            Ok(Some(text.clone()))
        }
        Some(_) => Err(Refusal::of_key(key, format!("a name of 1 to {MOST_NAME_BYTES} bytes, or null"))),
    }
}

/// A whole number from `least` to `most`.
///
/// # Errors
/// The value is another one.
pub(crate) fn number(keys: &Keys, key: &str, least: i64, most: i64) -> Result<Option<i64>, Refusal> {
    match keys.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_i64().filter(|number| (least..=most).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(Refusal::of_key(key, format!("a whole number from {least} to {most}"))),
        },
    }
}

/// A whole number from 1 to `most`.
///
/// # Errors
/// The value is another one.
pub(crate) fn count(keys: &Keys, key: &str, most: u32) -> Result<Option<u32>, Refusal> {
    Ok(number(keys, key, 1, most.into())?.and_then(|number| u32::try_from(number).ok()))
}

/// A time in Unix seconds.
///
/// # Errors
/// The value is another one.
pub(crate) fn moment_or_none(keys: &Keys, key: &str) -> Result<Option<i64>, Refusal> {
    number(keys, key, 0, LATEST)
}

/// A time in Unix seconds, which is needed.
///
/// # Errors
/// There is none, or the value is another one.
pub(crate) fn moment(keys: &Keys, key: &str) -> Result<i64, Refusal> {
    moment_or_none(keys, key)?.ok_or_else(|| Refusal::of_key(key, "this key is needed: a time in Unix seconds"))
}

/// A list of at most so many times in Unix seconds.
///
/// # Errors
/// The value is another one.
pub(crate) fn moments(keys: &Keys, key: &str, most: usize) -> Result<Vec<i64>, Refusal> {
    let wrong = || Refusal::of_key(key, format!("a list of at most {most} whole numbers from 0 to {LATEST}"));
    match keys.get(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(times)) if times.len() <= most => {
            let time = |time: &Value| time.as_i64().filter(|time| (0..=LATEST).contains(time)).ok_or_else(wrong);
            times.iter().map(time).collect()
        }
        Some(_) => Err(wrong()),
    }
}

/// Whether something is so; without the key it is not.
///
/// # Errors
/// The value is another one.
pub(crate) fn truth(keys: &Keys, key: &str) -> Result<bool, Refusal> {
    match keys.get(key) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(truth)) => Ok(*truth),
        Some(_) => Err(Refusal::of_key(key, "true or false")),
    }
}
