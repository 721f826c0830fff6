//! Jobs with anything in their fields.

use job_types::time::{Seconds, UnixTime};
use rand::Rng;
use rand::rngs::SmallRng;
use site_rules::derived;
use site_rules::field::{FIELDS, FieldNumber, Fields, Name};
use site_rules::value::{Kind, Resources, Texts, Value};

/// Texts that users write.
const WORDS: [&str; 14] = [
    "gpu3",
    "gpu",
    "short",
    "gres/gpu:a100:2,gres/shard:4",
    "gpu:a100:4",
    "simulation-of-proteins",
    "physics",
    "/scratch/physics/ann",
    "training-atoms",
    "long",
    "n[1-4]",
    "matlab:1",
    "a&b",
    "60",
];

/// Texts that nobody should write.
const HOSTILE: [&str; 25] = [
    "gres:gpu:a100(S:0-1):8",
    "gpu:-1",
    "gpu:a100:",
    "gpu:18446744073709551616",
    "gpu=2k",
    ",,,:::,gpu:",
    "/projects/cfd/../../etc",
    "a&b|c",
    "[a*4]",
    "n[1-1000000]",
    "n[1-",
    "{job.partition}",
    "{",
    "}}{{",
    "'",
    "\"",
    "\\",
    "%s%n",
    "é",
    "ß\u{301}",
    "\u{202e}",
    "\u{feff}",
    "\n\r\t",
    "9223372036854775808",
    "-9223372036854775808",
];

/// A job as somebody hostile would describe it.
pub(crate) struct AnyJob {
    values: Vec<Option<Written>>,
    environment: Option<String>,
}

enum Written {
    Truth(bool),
    Integer(i64),
    Real(f64),
    Text(String),
    Duration(i64),
    Moment(i64),
    Texts(String),
    Resources(String),
}

impl AnyJob {
    /// Each field that may be absent is there in one job of two. One value of a thousand is of
    /// another kind than its field, which no plugin hands over.
    pub(crate) fn new(random: &mut SmallRng) -> AnyJob {
        const KINDS: [Kind; 8] =
            [Kind::Truth, Kind::Integer, Kind::Real, Kind::Text, Kind::Duration, Kind::Moment, Kind::Texts, Kind::Resources];
        let mut value = |field: &site_rules::field::Field| {
            if field.may_be_absent && random.random_bool(0.5) {
                return None;
            }
            let kind = if random.random_ratio(1, 1_000) { KINDS[random.random_range(0..KINDS.len())] } else { field.kind };
            Some(match kind {
                Kind::Truth => Written::Truth(random.random()),
                Kind::Integer => Written::Integer(integer(random)),
                Kind::Real => Written::Real(f64::from_bits(random.random())),
                Kind::Text if !field.words.is_empty() => Written::Text(field.words[random.random_range(0..field.words.len())].to_owned()),
                Kind::Text => Written::Text(text(random)),
                Kind::Duration => Written::Duration(integer(random)),
                Kind::Moment => Written::Moment(integer(random)),
                Kind::Texts => Written::Texts(text(random)),
                Kind::Resources => Written::Resources(text(random)),
                Kind::Variables => return None,
            })
        };
        let values = FIELDS.iter().map(&mut value).collect();
        AnyJob { values, environment: random.random_bool(0.5).then(|| text(random)) }
    }
}

/// Small numbers, and the ends of what there is.
fn integer(random: &mut SmallRng) -> i64 {
    match random.random_range(0..8) {
        0 => random.random(),
        1 => [i64::MIN, i64::MAX, -1, 0, 4_294_967_294, 4_294_967_295, 1 << 62][random.random_range(0..7)],
        2 => random.random_range(0..1_i64 << 40),
        _ => random.random_range(0..200_000),
    }
}

/// A few words, sometimes cut, sometimes thousands of bytes long.
fn text(random: &mut SmallRng) -> String {
    let word = |random: &mut SmallRng| match random.random_range(0..3) {
        0 => HOSTILE[random.random_range(0..HOSTILE.len())],
        _ => WORDS[random.random_range(0..WORDS.len())],
    };
    match random.random_range(0..30) {
        0 => word(random).repeat(random.random_range(1..2_000)),
        1 => (0..random.random_range(0..40)).map(|_| random.random::<char>()).collect(),
        2 => String::new(),
        3..=6 => {
            let mut text = format!("{}{}{}", word(random), [",", ":", " ", "=", "&"][random.random_range(0..5)], word(random));
            let cut = random.random_range(0..=text.len());
            text.truncate((0..=cut).rev().find(|place| text.is_char_boundary(*place)).unwrap_or(0));
            text
        }
        _ => word(random).to_owned(),
    }
}

impl Fields for AnyJob {
    fn field(&self, field: FieldNumber) -> Option<Value<'_>> {
        let name = field.name()?;
        if name.is_derived() && name != Name::GpuTypes {
            return derived::value(name, self);
        }
        self.values.get(usize::from(field.0))?.as_ref().map(|written| match written {
            Written::Truth(truth) => Value::Truth(*truth),
            Written::Integer(number) => Value::Integer(*number),
            Written::Real(number) => Value::Real(*number),
            Written::Text(text) => Value::Text(text),
            Written::Duration(seconds) => Value::Duration(Seconds(*seconds)),
            Written::Moment(at) => Value::Moment(UnixTime(*at)),
            Written::Texts(text) => Value::Texts(Texts::Separated(text, ' ')),
            Written::Resources(text) => Value::Resources(Resources(text)),
        })
    }

    fn variable(&self, name: &str) -> Option<&str> {
        if name.len().is_multiple_of(2) { self.environment.as_deref() } else { None }
    }
}
