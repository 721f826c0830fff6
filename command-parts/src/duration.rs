//! Lengths of time on the command line, in the one form that all options and settings take:
//! [`slurm_conf::duration`].

use job_types::time::Seconds;
use slurm_conf::duration::{self, DurationError};

/// Reads a length of time.
///
/// # Errors
///
/// The text is no length of time.
pub fn any(text: &str) -> Result<Seconds, DurationError> {
    duration::parse(text).map(Seconds)
}

/// Reads a length of time from `LEAST` to `MOST` seconds.
///
/// # Errors
///
/// The text is no length of time, or one outside of the range; what to use instead is said.
pub fn between<const LEAST: i64, const MOST: i64>(text: &str) -> Result<Seconds, String> {
    let length = any(text).map_err(|error| error.to_string())?;
    if !(LEAST..=MOST).contains(&length.0) {
        return Err(format!("use a duration from {} to {}", duration::suffixed(LEAST), duration::suffixed(MOST)));
    }
    Ok(length)
}

/// Reads two lengths of time with a hyphen between them, of which the first is the shorter: a part
/// of a log, counted from its first submission.
pub fn range(text: &str) -> Option<(Seconds, Seconds)> {
    let (from, to) = text.split_once('-')?;
    let (from, to) = (any(from).ok()?, any(to).ok()?);
    (from < to).then_some((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_is_within_its_bounds() {
        let read = between::<1, 3_600>;
        assert_eq!([read("30s"), read("30"), read("1h")], [30, 1_800, 3_600].map(|seconds| Ok(Seconds(seconds))));
        for wrong in ["0s", "61", "2h"] {
            assert_eq!(read(wrong), Err("use a duration from 1s to 1h".to_owned()), "{wrong}");
        }
        assert!(read("soon").unwrap_err().contains("hours:minutes:seconds"));
    }

    #[test]
    fn a_range_has_its_lengths_in_order() {
        assert_eq!(range("24h-2d"), Some((Seconds(86_400), Seconds(172_800))));
        assert_eq!(range("90-2:00:00"), Some((Seconds(5_400), Seconds(7_200))));
        for wrong in ["", "1h", "2h-1h", "1h-1h", "-1h-2h", "1h-x"] {
            assert_eq!(range(wrong), None, "{wrong}");
        }
    }
}
