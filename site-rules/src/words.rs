//! Values in words for people, in messages.

use crate::calendar::Rfc3339;
use crate::fault::Fault;
use crate::operators::charge_element;
use crate::steps::Steps;
use crate::value::{Texts, Value};
use job_types::text::is_obeyed;
use std::fmt::Write as _;

/// The longest text of a user's that is put into a message, in characters.
const LONGEST: usize = 200;

/// Puts a value behind a text: durations as Slurm shows a time limit, texts without control
/// characters and shortened, lists with commas.
pub fn put(message: &mut String, value: Value<'_>) {
    // Writing into a text can't fail.
    let _ = match value {
        Value::Truth(truth) => write!(message, "{truth}"),
        Value::Integer(number) => write!(message, "{number}"),
        Value::Real(number) => write!(message, "{number}"),
        Value::Text(text) => {
            put_text(message, text);
            Ok(())
        }
        Value::Duration(duration) => put_duration(message, duration.0),
        Value::Moment(at) => write!(message, "{}", Rfc3339(at)),
        Value::Texts(texts) => {
            for (place, text) in texts.iter().take(LONGEST).enumerate() {
                if place > 0 {
                    message.push_str(", ");
                }
                put_text(message, text);
            }
            Ok(())
        }
        Value::Resources(resources) => {
            put_text(message, resources.0);
            Ok(())
        }
    };
}

/// Takes what it is to put a value into a message.
///
/// # Errors
/// [`Fault::Budget`] if it is more than is left.
pub(crate) fn charge(value: &Value<'_>, steps: &mut Steps) -> Result<(), Fault> {
    match value {
        Value::Texts(Texts::Listed(list)) => {
            (0..LONGEST).map_while(|place| list.work(place)).try_for_each(|bytes| charge_element(bytes, steps))
        }
        // A message shows of each text no more than some bytes a character.
        Value::Texts(texts) => texts.iter().take(LONGEST).try_for_each(|text| charge_element(text.len().min(LONGEST * 4), steps)),
        _ => Ok(()),
    }
}

fn put_text(message: &mut String, text: &str) {
    message.extend(text.chars().take(LONGEST).map(|character| if is_obeyed(character) { ' ' } else { character }));
    if text.chars().nth(LONGEST).is_some() {
        message.push_str("...");
    }
}

fn put_duration(message: &mut String, seconds: i64) -> std::fmt::Result {
    let sign = if seconds < 0 { "-" } else { "" };
    let seconds = seconds.unsigned_abs();
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    message.push_str(sign);
    if days > 0 {
        write!(message, "{days}-")?;
    }
    write!(message, "{hours:02}:{minutes:02}:{:02}", seconds % 60)
}
