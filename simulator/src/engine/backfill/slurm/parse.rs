//! Reading of parameters.

use std::ops::RangeInclusive;

/// Why parameters of Slurm's scheduler can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// This model has no such parameter.
    #[error("the model of Slurm's scheduler knows no {name}: it knows {known}")]
    Unknown {
        /// The name that was given.
        name: String,
        /// The names that are known.
        known: &'static str,
    },
    /// A value is missing.
    #[error("{name} needs a value, as in {name}=NUMBER")]
    Missing {
        /// Name of the parameter.
        name: String,
    },
    /// A value stands where none belongs.
    #[error("{name} takes no value: leave ={value} out")]
    Superfluous {
        /// Name of the parameter.
        name: String,
        /// The value that was given.
        value: String,
    },
    /// A value is no number.
    #[error("{name}: {value:?} is not a whole number")]
    NoNumber {
        /// Name of the parameter.
        name: String,
        /// The value that was given.
        value: String,
    },
    /// A value is beyond Slurm's bounds.
    #[error("{name}: {value} is out of bounds: it has to be {bounds}")]
    Bounds {
        /// Name of the parameter.
        name: String,
        /// The value that was given.
        value: i64,
        /// The values that are allowed.
        bounds: String,
    },
}

/// A whole number within bounds.
pub(super) fn number(name: &str, value: Option<&str>, bounds: RangeInclusive<i64>) -> Result<i64, ParameterError> {
    let name = || name.to_owned();
    let text = value.ok_or_else(|| ParameterError::Missing { name: name() })?;
    let value = text.parse().map_err(|_| ParameterError::NoNumber { name: name(), value: text.to_owned() })?;
    if bounds.contains(&value) {
        return Ok(value);
    }
    Err(ParameterError::Bounds { name: name(), value, bounds: format!("from {} to {}", bounds.start(), bounds.end()) })
}

/// The number with which a text begins, as C's `atoi` reads it; 0 where there is none.
pub(super) fn leading_number(text: &str) -> i64 {
    let text = text.trim_start();
    let sign = usize::from(text.starts_with(['-', '+']));
    let digits = text.bytes().skip(sign).take_while(u8::is_ascii_digit).count();
    let number = text.get(..sign + digits).filter(|_| digits > 0);
    number.map_or(0, |number| number.parse().unwrap_or(i64::MAX))
}

/// A name that stands alone.
pub(super) fn switch(name: &str, value: Option<&str>) -> Result<bool, ParameterError> {
    match value {
        None => Ok(true),
        Some(value) => Err(ParameterError::Superfluous { name: name.to_owned(), value: value.to_owned() }),
    }
}
