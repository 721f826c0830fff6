//! Times and durations spelt out beside their numbers in JSON.

use job_types::time::{Seconds, UnixTime};
use serde_json::{Map, Value};

use super::{duration, moment};

/// What the record of a job is under: it is told as the job carries it.
const RECORD: &str = "record";
/// What a key has behind it that spells out the number beside it.
const SUFFIX: &str = "_text";
/// Keys of moments that do not end as those of moments do.
const MOMENTS: [&str; 9] = ["begin", "started", "submitted", "eligible", "ended", "since", "until", "deadline", "at"];
/// How the other keys of moments end.
const ENDS: [&str; 4] = ["_at", "_start", "_end", "_since"];

/// Puts beside each duration in whole seconds, whose key ends with `_s`, and beside each moment the
/// same as Slurm would write it: `limit_s` 6420 has `limit_text` "1:47:00" with it.
pub(super) fn spell_out(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(spell_out),
        Value::Object(map) => {
            let texts: Vec<(String, Value)> = map.iter().filter_map(|(key, value)| text(key, value)).collect();
            map.iter_mut().filter(|(key, _)| *key != RECORD).for_each(|(_, value)| spell_out(value));
            for (key, value) in texts {
                if !map.contains_key(&key) {
                    let _ = map.insert(key, value);
                }
            }
        }
        _ => {}
    }
}

/// The text of a number, of several by name or in a row, and the key that it stands under.
fn text(key: &str, value: &Value) -> Option<(String, Value)> {
    if let Some(name) = key.strip_suffix("_s") {
        return Some((format!("{name}{SUFFIX}"), each(value, &|seconds| duration(Seconds(seconds)))?));
    }
    let is_moment = MOMENTS.contains(&key) || ENDS.iter().any(|end| key.ends_with(end));
    is_moment.then(|| Some((format!("{key}{SUFFIX}"), each(value, &|at| moment(UnixTime(at)))?))).flatten()
}

/// Returns the value with a text for each whole number; `None` if it has none.
fn each(value: &Value, show: &dyn Fn(i64) -> String) -> Option<Value> {
    match value {
        Value::Number(number) => number.as_i64().map(|number| show(number).into()),
        Value::Array(values) => values.iter().map(|value| each(value, show)).collect::<Option<Vec<_>>>().map(Value::Array),
        Value::Object(map) => {
            let texts: Map<String, Value> = map.iter().filter_map(|(key, value)| Some((key.clone(), each(value, show)?))).collect();
            (!texts.is_empty()).then_some(Value::Object(texts))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn spelt_out(mut value: Value) -> Value {
        spell_out(&mut value);
        value
    }

    #[test]
    fn durations_stand_beside_their_seconds() {
        let said = spelt_out(json!({ "limit_s": 6_420, "range_s": [45, 187_200], "bounds_s": { "0.5": 60, "0.9": null }, "wait_s": null }));
        assert_eq!((&said["limit_s"], &said["limit_text"]), (&json!(6_420), &json!("1:47:00")));
        assert_eq!((&said["range_text"], &said["bounds_text"]), (&json!(["0:45", "2-04:00:00"]), &json!({ "0.5": "1:00" })));
        assert_eq!(said.get("wait_text"), None);
    }

    #[test]
    fn moments_stand_beside_their_seconds_however_deep() {
        let said = spelt_out(json!({ "jobs": [{ "expected_start": 1_774_618_220, "nodes": 4, "started": null }] }));
        assert_eq!(said["jobs"][0]["expected_start_text"], moment(UnixTime(1_774_618_220)));
        assert_eq!(said["jobs"][0].as_object().unwrap().len(), 4);
    }

    #[test]
    fn a_record_and_what_has_the_name_already_stay_as_they_are() {
        let told = json!({ "record": { "at": 1_774_618_220, "asked": { "limit_s": 60 } }, "mean_s": 1.5 });
        assert_eq!(spelt_out(told.clone()), told);
        assert_eq!(spelt_out(json!({ "a_s": 1, "a_text": "b" }))["a_text"], "b");
    }
}
