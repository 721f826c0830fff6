//! Files of rules that were changed at random, and expressions of tokens in any order.

use rand::Rng;
use rand::rngs::SmallRng;
use site_rules::field::FIELDS;

/// What rules and expressions are made of.
const TOKENS: [&str; 60] = [
    "[[rule]]\n",
    "[rules]\n",
    "[tables.t]\n",
    "name = \"r\"\n",
    "when = ",
    "on = [\"submit\", \"modify\"]\n",
    "set",
    "default",
    "cap",
    "floor",
    "append",
    "route",
    "warn = \"{job.partition}\"\n",
    "reject = { message = \"no\" }\n",
    "stop = true\n",
    "mode = \"observe\"\n",
    "on_error = \"pass\"\n",
    "bypass = [\"root\"]\n",
    "&&",
    "||",
    "!",
    "?",
    ":",
    "==",
    "!=",
    "<=",
    ">",
    "in",
    "+",
    "-",
    "*",
    "/",
    "%",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "has(",
    "job.",
    "user.",
    "current.",
    "tables.t[",
    "forecast.wait(",
    "now.getHours('Europe/Berlin')",
    "limit(\"1-0\")",
    "bytes(\"64G\")",
    "duration('1h')",
    "timestamp('2026-11-23T09:10:00Z')",
    ".matches('(a|b)*c{2,9}')",
    ".exists(x, ",
    ".orValue(",
    ".?",
    "size(",
    "9223372036854775807",
    "1e308",
    "'",
    "\"",
    "\n",
];

fn token(random: &mut SmallRng) -> &'static str {
    if random.random_ratio(1, 4) { FIELDS[random.random_range(0..FIELDS.len())].name } else { TOKENS[random.random_range(0..TOKENS.len())] }
}

/// Some place between two characters.
fn place(text: &str, random: &mut SmallRng) -> usize {
    let at = random.random_range(0..=text.len());
    (0..=at).rev().find(|place| text.is_char_boundary(*place)).unwrap_or(0)
}

/// The text after some changes: a token put in, a stretch taken out or doubled, a digit or the name
/// of a field changed, a character changed.
pub(crate) fn changed(text: &str, other: &str, random: &mut SmallRng) -> String {
    let mut text = text.to_owned();
    for _ in 0..random.random_range(1..4) {
        let at = place(&text, random);
        let end = place(&text[at..], random) % 40;
        let end = (at + end..=text.len()).find(|place| text.is_char_boundary(*place)).unwrap_or(text.len());
        match random.random_range(0..9) {
            0 => text.insert_str(at, token(random)),
            1 => text.replace_range(at..end, ""),
            2 => {
                let stretch = text[at..end].to_owned();
                text.insert_str(at, &stretch);
            }
            3 => text.replace_range(at..end, &stretch_of(other, random)),
            4 => text.insert(at, random.random()),
            5 | 6 => {
                // Numbers, one of which becomes another.
                if let Some(digit) = text[at..].find(|letter: char| letter.is_ascii_digit()) {
                    let number = ["0", "-1", "4294967294", "9223372036854775807", "1e400", "00", "64G"][random.random_range(0..7)];
                    text.replace_range(at + digit..=at + digit, number);
                }
            }
            _ => {
                // Fields, one of which becomes another.
                if let Some(field) = text[at..].find("job.") {
                    let start = at + field + 4;
                    let end = text[start..]
                        .find(|letter: char| !letter.is_ascii_lowercase() && letter != '_')
                        .map_or(text.len(), |end| start + end);
                    text.replace_range(start..end, FIELDS[random.random_range(0..FIELDS.len())].name);
                }
            }
        }
    }
    text
}

fn stretch_of(text: &str, random: &mut SmallRng) -> String {
    let at = place(text, random);
    text[at..].chars().take(random.random_range(0..80)).collect()
}

/// Tokens in any order.
pub(crate) fn soup(random: &mut SmallRng) -> String {
    (0..random.random_range(1..30)).map(|_| token(random)).collect()
}
