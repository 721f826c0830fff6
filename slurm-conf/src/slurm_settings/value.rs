//! The values of slurm.conf as slurmctld takes them (src/common/parse_value.c, parse_time.c).

use crate::duration;

/// Reads a truth: `yes`, `up`, `true` or `1`, and `no`, `down`, `false` or `0`, in any case; `None`
/// for anything else, with which slurmctld does not start.
#[must_use]
pub fn truth(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "yes" | "up" | "true" | "1" => Some(true),
        "no" | "down" | "false" | "0" => Some(false),
        _ => None,
    }
}

/// Reads a number of 32 bits: decimal, hexadecimal behind `0x` or octal behind `0`, in units of
/// 1,024 with a `k` behind it; `UNLIMITED` and `INFINITE` are the largest. `None` for anything
/// else, with which slurmctld does not start.
#[must_use]
pub fn whole_number(text: &str) -> Option<u32> {
    if is_unlimited(text) {
        return Some(u32::MAX);
    }
    let (digits, unit) = text.strip_suffix(['k', 'K']).map_or((text, 1), |digits| (digits, 1_024));
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let number = match (hexadecimal, digits.strip_prefix('0').filter(|octal| !octal.is_empty())) {
        (Some(digits), _) => u64::from_str_radix(digits, 16),
        (None, Some(digits)) => u64::from_str_radix(digits, 8),
        (None, None) => digits.parse(),
    };
    let number = number.ok().filter(|_| is_plain)?.checked_mul(unit)?;
    u32::try_from(number).ok()
}

/// A length of time as a whole number of minutes, which is how slurmctld keeps those of priorities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Minutes {
    /// A number of minutes.
    Number(i64),
    /// `UNLIMITED`, `INFINITE` or `-1`.
    Unlimited,
}

/// Reads a length of time, such as `7-0`, and rounds it up to minutes; `None` for what is none,
/// with which slurmctld does not start.
#[must_use]
pub fn minutes(text: &str) -> Option<Minutes> {
    if is_unlimited(text) || text == "-1" {
        return Some(Minutes::Unlimited);
    }
    let seconds = duration::parse(text).ok()?;
    Some(Minutes::Number((seconds.saturating_add(duration::MINUTE_SECONDS - 1)).div_euclid(duration::MINUTE_SECONDS)))
}

fn is_unlimited(text: &str) -> bool {
    ["UNLIMITED", "INFINITE"].iter().any(|word| word.eq_ignore_ascii_case(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truths_are_taken_in_all_of_slurms_words() {
        assert!(["yes", "UP", "True", "1"].iter().all(|text| truth(text) == Some(true)));
        assert!(["no", "Down", "FALSE", "0"].iter().all(|text| truth(text) == Some(false)));
        assert_eq!([truth("on"), truth(""), truth("2")], [None; 3]);
    }

    #[test]
    fn numbers_are_taken_in_all_of_slurms_forms() {
        let numbers = ["1000", "2k", "0x10", "010", "0", "+5", "unlimited", "INFINITE"].map(whole_number);
        assert_eq!(numbers, [1_000, 2_048, 16, 8, 0, 5, u32::MAX, u32::MAX].map(Some));
        assert_eq!(["", "-1", "much", "1.5", "4294967296", "09", "0x", "++1"].map(whole_number), [None; 8]);
    }

    #[test]
    fn lengths_of_time_are_whole_minutes() {
        assert_eq!(minutes("14-0"), Some(Minutes::Number(14 * 1_440)));
        assert_eq!(["5", "0:01", "0"].map(minutes), [5, 1, 0].map(|minutes| Some(Minutes::Number(minutes))));
        assert_eq!(["UNLIMITED", "infinite", "-1"].map(minutes), [Some(Minutes::Unlimited); 3]);
        assert_eq!(minutes("old"), None);
    }
}
