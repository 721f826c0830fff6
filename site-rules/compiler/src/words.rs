//! Values as people write them in rules.

use site_rules::calendar::Rfc3339;
use site_rules::field::Name;
use site_rules::value::{Resources, Value};

/// The fields that are amounts of memory or disk in bytes, and which are written as `64G`.
pub(crate) const AMOUNTS: [Name; 5] = [Name::MemPerGpu, Name::Memory, Name::MemoryPerCpu, Name::MemoryPerNode, Name::PnMinTmpDisk];

/// The longest text that is shown, in characters.
const LONGEST: usize = 120;

/// A field's value in the form in which rules are written: `"64G"`, `"1-12:00:00"`, `"gpu"`, `4`.
#[must_use]
pub fn in_words(name: Name, value: Value<'_>) -> String {
    match value {
        Value::Truth(truth) => truth.to_string(),
        Value::Integer(bytes) if AMOUNTS.contains(&name) => quoted(&amount(bytes)),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => format!("{number:?}"),
        Value::Text(text) | Value::Resources(Resources(text)) => quoted(text),
        Value::Duration(duration) => quoted(&limit(duration.0)),
        Value::Moment(at) => quoted(&Rfc3339(at).to_string()),
        Value::Texts(texts) => format!("[{}]", texts.iter().take(LONGEST).map(quoted).collect::<Vec<_>>().join(", ")),
    }
}

/// A text in quotes, shortened.
fn quoted(text: &str) -> String {
    let shown: String = text.chars().take(LONGEST).collect();
    let more = if shown.len() < text.len() { "..." } else { "" };
    format!("{shown:?}{more}")
}

/// Bytes with the largest unit of which they are a whole number.
fn amount(bytes: i64) -> String {
    let unit = [(40, "T"), (30, "G"), (20, "M"), (10, "K")].into_iter().find(|(shift, _)| bytes != 0 && bytes % (1_i64 << shift) == 0);
    unit.map_or_else(|| format!("{bytes}B"), |(shift, unit)| format!("{}{unit}", bytes >> shift))
}

/// Seconds as Slurm shows a time limit.
fn limit(seconds: i64) -> String {
    let sign = if seconds < 0 { "-" } else { "" };
    let seconds = seconds.unsigned_abs();
    let days = if seconds >= 86_400 { format!("{}-", seconds / 86_400) } else { String::new() };
    format!("{sign}{days}{:02}:{:02}:{:02}", seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::time::{Seconds, UnixTime};
    use site_rules::value::Texts;

    #[test]
    fn values_are_shown_as_rules_write_them() {
        for (name, value, words) in [
            (Name::MemoryPerNode, Value::Integer(64 << 30), "\"64G\""),
            (Name::Memory, Value::Integer(1_536 << 20), "\"1536M\""),
            (Name::MinNodes, Value::Integer(4), "4"),
            (Name::TimeLimit, Value::Duration(Seconds(129_600)), "\"1-12:00:00\""),
            (Name::BeginTime, Value::Moment(UnixTime(1_795_425_000)), "\"2026-11-23T09:10:00Z\""),
            (Name::Partition, Value::Text("gpu"), "\"gpu\""),
            (Name::Partitions, Value::Texts(Texts::Separated("a,b", ',')), "[\"a\", \"b\"]"),
            (Name::TresPerNode, Value::Resources(Resources("gres/gpu:2")), "\"gres/gpu:2\""),
        ] {
            assert_eq!(in_words(name, value), words);
        }
    }
}
