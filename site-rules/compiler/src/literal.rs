//! Durations, moments and amounts of memory as they are written in rules.

use site_rules::calendar::{LONGEST_DURATION, MOMENTS};

/// Reads an amount of memory as Slurm's options take it (src/common/read_config.c,
/// `str_to_mbytes`), such as `64G`: a number with K, M, G, T or P for powers of 1024; without a
/// suffix they are megabytes, as in Slurm. Returns bytes.
///
/// # Errors
/// What was expected.
pub fn bytes(text: &str) -> Result<i64, String> {
    let expected = || format!("{text:?} is not an amount of memory: use a whole number with K, M, G, T or P, as in 64G");
    let text = text.trim();
    let (digits, unit) = match text.find(|character: char| !character.is_ascii_digit()) {
        Some(end) => text.split_at(end),
        None => (text, "M"),
    };
    let shift = match unit.to_ascii_uppercase().as_str() {
        "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        "T" | "TB" | "TIB" => 40,
        "P" | "PB" | "PIB" => 50,
        _ => return Err(expected()),
    };
    let number: i64 = digits.parse().map_err(|_| expected())?;
    number.checked_mul(1 << shift).ok_or_else(|| format!("{text:?} is too much memory"))
}

/// Reads a time limit in Slurm's forms; returns seconds.
///
/// # Errors
/// What was expected.
pub fn limit(text: &str) -> Result<i64, String> {
    let seconds = slurm_conf::duration::parse(text).map_err(|error| error.to_string())?;
    if seconds > LONGEST_DURATION { Err(format!("{text:?} is too long a duration")) } else { Ok(seconds) }
}

/// Reads a duration in CEL's form, such as `1h30m`, of whole seconds; returns seconds.
///
/// # Errors
/// What was expected.
pub fn duration(text: &str) -> Result<i64, String> {
    let expected =
        || format!("{text:?} is not a duration of whole seconds: write duration('1h30m'), or limit('1-12:00:00') for Slurm's forms");
    let (sign, mut rest) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    if rest == "0" {
        return Ok(0);
    }
    let mut seconds = 0_i64;
    while !rest.is_empty() {
        let end = rest.find(|character: char| !character.is_ascii_digit()).ok_or_else(expected)?;
        let (digits, after) = rest.split_at(end);
        let unit = match after.chars().next() {
            Some('h') => 3_600,
            Some('m') if !after.starts_with("ms") => 60,
            Some('s') => 1,
            _ => return Err(expected()),
        };
        let number: i64 = digits.parse().map_err(|_| expected())?;
        seconds = number.checked_mul(unit).and_then(|part| seconds.checked_add(part)).ok_or_else(expected)?;
        rest = &after[1..];
    }
    if text.is_empty() || seconds > LONGEST_DURATION { Err(expected()) } else { Ok(sign * seconds) }
}

/// Reads a moment as RFC 3339 has it; returns Unix seconds.
///
/// # Errors
/// What was expected.
pub fn moment(text: &str) -> Result<i64, String> {
    let expected = || format!("{text:?} is not a time of whole seconds: write timestamp('2026-11-23T09:00:00+01:00')");
    let timestamp: jiff::Timestamp = text.parse().map_err(|_| expected())?;
    let is_usable = timestamp.subsec_nanosecond() == 0 && MOMENTS.contains(&timestamp.as_second());
    if is_usable { Ok(timestamp.as_second()) } else { Err(expected()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_as_slurm_reads_it() {
        assert_eq!(["64G", "1", "512K", "2t", "100B"].map(|text| bytes(text).unwrap()), [64 << 30, 1 << 20, 512 << 10, 2 << 40, 100]);
        for wrong in ["", "G", "1.5G", "-1G", "64X", "9999999999999P"] {
            bytes(wrong).unwrap_err();
        }
    }

    #[test]
    fn durations_are_read_in_both_forms() {
        assert_eq!(["1h30m", "90s", "-2m", "0"].map(|text| duration(text).unwrap()), [5_400, 90, -120, 0]);
        assert_eq!(["1-12", "30", "1:00:00"].map(|text| limit(text).unwrap()), [129_600, 1_800, 3_600]);
        for wrong in ["", "1", "1.5s", "10ms", "1-12:00:00", "h"] {
            duration(wrong).unwrap_err();
        }
    }

    #[test]
    fn moments_have_their_offset() {
        assert_eq!(moment("2026-11-23T09:10:00Z"), Ok(1_795_425_000));
        assert_eq!(moment("2026-11-23T10:10:00+01:00"), Ok(1_795_425_000));
        moment("2026-11-23").unwrap_err();
    }
}
