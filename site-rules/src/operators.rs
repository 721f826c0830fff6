//! The operators and functions of expressions: which kinds of values they take, and what they make
//! of them. The compiler, the verification of a program and its evaluation all go by these.

use crate::calendar::{LONGEST_DURATION, MOMENTS, Rfc3339};
use crate::fault::Fault;
use crate::scratch::Scratch;
use crate::steps::Steps;
use crate::value::{Kind, Resources, Texts, Value};
use job_types::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};

/// What is made of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unary {
    /// `!x`.
    Not,
    /// `-x`.
    Negate,
    /// `size(x)`: the characters of a text, or the elements of a list.
    Size,
    /// `x.lowerAscii()`.
    LowerAscii,
    /// `x.upperAscii()`.
    UpperAscii,
    /// `x.trim()`: without white space at both ends.
    Trim,
    /// `int(x)`.
    ToInteger,
    /// `double(x)`.
    ToReal,
    /// `string(x)`.
    ToText,
    /// `x.getHours()` of a duration: all of it in whole hours.
    WholeHours,
    /// `x.getMinutes()` of a duration: all of it in whole minutes.
    WholeMinutes,
    /// `x.getSeconds()` of a duration.
    WholeSeconds,
    /// `x.getMilliseconds()` of a duration: always 0, as durations are whole seconds.
    Milliseconds,
}

/// What is made of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Binary {
    /// `a + b`.
    Add,
    /// `a - b`.
    Subtract,
    /// `a * b`.
    Multiply,
    /// `a / b`.
    Divide,
    /// `a % b`.
    Remainder,
    /// `a == b`.
    Equal,
    /// `a != b`.
    NotEqual,
    /// `a < b`.
    Less,
    /// `a <= b`.
    LessOrEqual,
    /// `a > b`.
    Greater,
    /// `a >= b`.
    GreaterOrEqual,
    /// `a.startsWith(b)`.
    StartsWith,
    /// `a.endsWith(b)`.
    EndsWith,
    /// `a.contains(b)`.
    Contains,
    /// `a in b`, where `b` is a list.
    In,
    /// `a[b]`, where `a` is a list.
    Element,
    /// Whether either is true, where both must have a value: for `x in [a, b]`.
    Either,
    /// `math.least(a, b)`.
    Least,
    /// `math.greatest(a, b)`.
    Greatest,
    /// `a.split(b)`.
    Split,
    /// `a.join(b)`, where `a` is a list.
    Join,
    /// `a.indexOf(b)`: the place of the first `b` in characters, or -1.
    IndexOf,
    /// `a.lastIndexOf(b)`: the place of the last `b` in characters, or -1.
    LastIndexOf,
    /// `a.charAt(b)`: the character at a place; nothing behind the last.
    CharAt,
    /// `a.substring(b)`: all from a place on.
    From,
}

/// What is made of three values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ternary {
    /// `a.replace(b, c)`: each `b` by `c`.
    Replace,
    /// `a.substring(b, c)`: from a place up to another.
    Substring,
}

impl Ternary {
    /// The kind of the result for kinds of operands; `None` where there is no such operation.
    #[must_use]
    pub fn result(self, operands: [Kind; 3]) -> Option<Kind> {
        use Kind::{Integer, Text};
        match (self, operands) {
            (Ternary::Replace, [Text, Text, Text]) | (Ternary::Substring, [Text, Integer, Integer]) => Some(Text),
            _ => None,
        }
    }

    /// Applies it.
    ///
    /// # Errors
    /// The [`Fault`]s of places that are not there, and of texts that are too long.
    pub fn apply<'a>(self, operands: [Value<'a>; 3], scratch: &mut Scratch<'a>) -> Result<Value<'a>, Fault> {
        match (self, operands) {
            (Ternary::Replace, [Value::Text(text), Value::Text(old), Value::Text(new)]) => {
                if old == new || memchr::memmem::find(text.as_bytes(), old.as_bytes()).is_none() {
                    return Ok(Value::Text(text));
                }
                scratch.replaced(text, old, new).map(Value::Text)
            }
            (Ternary::Substring, [Value::Text(text), Value::Integer(begin), Value::Integer(end)]) => {
                let bounds = offset(text, begin)?..offset(text, end)?;
                text.get(bounds).map(Value::Text).ok_or(Fault::NoSuchElement)
            }
            _ => Err(Fault::Program),
        }
    }
}

impl Unary {
    /// The kind of the result for a kind of operand; `None` where there is no such operation.
    #[must_use]
    pub fn result(self, operand: Kind) -> Option<Kind> {
        use Kind::{Duration, Integer, Moment, Real, Text, Texts, Truth};
        match (self, operand) {
            (Unary::Not, Truth) => Some(Truth),
            (Unary::Negate, Integer | Real) => Some(operand),
            (Unary::Size, Text | Texts | Kind::Resources)
            | (Unary::ToInteger, Integer | Real | Text | Moment)
            | (Unary::WholeHours | Unary::WholeMinutes | Unary::WholeSeconds | Unary::Milliseconds, Duration) => Some(Integer),
            (Unary::LowerAscii | Unary::UpperAscii | Unary::Trim, Text)
            | (Unary::ToText, Truth | Integer | Real | Text | Duration | Moment) => Some(Text),
            (Unary::ToReal, Integer | Real | Text) => Some(Real),
            _ => None,
        }
    }

    /// Applies it.
    ///
    /// # Errors
    /// The [`Fault`]s of conversions and ranges.
    pub fn apply<'a>(self, operand: Value<'a>, scratch: &mut Scratch<'a>) -> Result<Value<'a>, Fault> {
        Ok(match (self, operand) {
            (Unary::Not, Value::Truth(truth)) => Value::Truth(!truth),
            (Unary::Negate, Value::Integer(number)) => Value::Integer(number.checked_neg().ok_or(Fault::Overflow)?),
            (Unary::Negate, Value::Real(number)) => Value::Real(-number),
            (Unary::Size, Value::Text(text)) => integer(text.chars().count()),
            (Unary::Size, Value::Texts(texts)) => integer(texts.iter().count()),
            (Unary::Size, Value::Resources(resources)) => integer(resources.iter().count()),
            (Unary::LowerAscii, Value::Text(text)) => Value::Text(scratch.changed(text, str::make_ascii_lowercase)?),
            (Unary::UpperAscii, Value::Text(text)) => Value::Text(scratch.changed(text, str::make_ascii_uppercase)?),
            (Unary::Trim, Value::Text(text)) => Value::Text(text.trim()),
            (Unary::ToInteger, value) => Value::Integer(to_integer(value)?),
            (Unary::ToReal, value) => Value::Real(to_real(value)?),
            (Unary::ToText, value) => Value::Text(to_text(value, scratch)?),
            (Unary::WholeHours, Value::Duration(duration)) => Value::Integer(duration.0 / 3_600),
            (Unary::WholeMinutes, Value::Duration(duration)) => Value::Integer(duration.0 / 60),
            (Unary::WholeSeconds, Value::Duration(duration)) => Value::Integer(duration.0),
            (Unary::Milliseconds, Value::Duration(_)) => Value::Integer(0),
            _ => return Err(Fault::Program),
        })
    }
}

impl Binary {
    /// The kind of the result for kinds of operands; `None` where there is no such operation.
    #[must_use]
    pub fn result(self, left: Kind, right: Kind) -> Option<Kind> {
        use Kind::{Duration, Integer, Moment, Real, Text, Texts, Truth};
        match (self, left, right) {
            (Binary::Add, Integer, Integer)
            | (Binary::Subtract | Binary::Multiply | Binary::Divide | Binary::Remainder, Integer, Integer) => Some(Integer),
            (Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide, Real, Real) => Some(Real),
            (Binary::Add, Text, Text) | (Binary::Element, Texts, Integer) => Some(Text),
            (Binary::Add | Binary::Subtract, Duration, Duration) | (Binary::Subtract, Moment, Moment) => Some(Duration),
            (Binary::Add, Duration, Moment) | (Binary::Add | Binary::Subtract, Moment, Duration) => Some(Moment),
            (Binary::Multiply | Binary::Divide, Duration, Integer | Real) | (Binary::Multiply, Integer | Real, Duration) => Some(Duration),
            (Binary::Least | Binary::Greatest, Integer | Real | Text | Duration | Moment, _) if left == right => Some(left),
            (Binary::Split, Text, Text) => Some(Texts),
            (Binary::Join, Texts | Kind::Resources, Text) | (Binary::CharAt | Binary::From, Text, Integer) => Some(Text),
            (Binary::IndexOf | Binary::LastIndexOf, Text, Text) => Some(Integer),
            (
                Binary::Equal | Binary::NotEqual | Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual,
                Truth | Integer | Real | Text | Duration | Moment,
                _,
            ) if left == right => Some(Truth),
            (Binary::Either, Truth, Truth)
            | (Binary::StartsWith | Binary::EndsWith | Binary::Contains, Text, Text)
            | (Binary::In, Text, Texts) => Some(Truth),
            _ => None,
        }
    }

    /// Applies it.
    ///
    /// # Errors
    /// The [`Fault`]s of ranges, of division by zero, and of elements that are not there.
    pub fn apply<'a>(self, left: Value<'a>, right: Value<'a>, scratch: &mut Scratch<'a>) -> Result<Value<'a>, Fault> {
        match self {
            Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide | Binary::Remainder => self.calculate(left, right, scratch),
            Binary::Equal | Binary::NotEqual => {
                let are_equal = match (left, right) {
                    // Real numbers are compared by `==`, by which a number that is none equals
                    // nothing.
                    (Value::Real(left), Value::Real(right)) => left == right,
                    _ => order(left, right)?.is_eq(),
                };
                Ok(Value::Truth(are_equal == (self == Binary::Equal)))
            }
            Binary::Less => Ok(Value::Truth(order(left, right)?.is_lt())),
            Binary::LessOrEqual => Ok(Value::Truth(order(left, right)?.is_le())),
            Binary::Greater => Ok(Value::Truth(order(left, right)?.is_gt())),
            Binary::GreaterOrEqual => Ok(Value::Truth(order(left, right)?.is_ge())),
            Binary::StartsWith | Binary::EndsWith | Binary::Contains => {
                let (Value::Text(text), Value::Text(part)) = (left, right) else { return Err(Fault::Program) };
                Ok(Value::Truth(match self {
                    Binary::StartsWith => text.starts_with(part),
                    Binary::EndsWith => text.ends_with(part),
                    // The search takes linear time whatever stands in both, unlike `str::contains`.
                    _ => memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some(),
                }))
            }
            Binary::Either => {
                let (Value::Truth(left), Value::Truth(right)) = (left, right) else { return Err(Fault::Program) };
                Ok(Value::Truth(left || right))
            }
            Binary::In => {
                let (Value::Text(text), Value::Texts(texts)) = (left, right) else { return Err(Fault::Program) };
                Ok(Value::Truth(texts.iter().any(|other| other == text)))
            }
            Binary::Element => {
                let (Value::Texts(texts), Value::Integer(place)) = (left, right) else { return Err(Fault::Program) };
                let place = usize::try_from(place).map_err(|_| Fault::NoSuchElement)?;
                texts.iter().nth(place).map(Value::Text).ok_or(Fault::NoSuchElement)
            }
            Binary::Least => Ok(if order(right, left)?.is_lt() { right } else { left }),
            Binary::Greatest => Ok(if order(right, left)?.is_gt() { right } else { left }),
            Binary::Split | Binary::Join | Binary::IndexOf | Binary::LastIndexOf | Binary::CharAt | Binary::From => {
                self.of_texts(left, right, scratch)
            }
        }
    }

    fn of_texts<'a>(self, left: Value<'a>, right: Value<'a>, scratch: &mut Scratch<'a>) -> Result<Value<'a>, Fault> {
        let place = |text: &str, found: Option<usize>| match found {
            Some(offset) => integer(text.get(..offset).unwrap_or_default().chars().count()),
            None => Value::Integer(-1),
        };
        Ok(match (self, left, right) {
            (Binary::Split, Value::Text(text), Value::Text(separator)) => Value::Texts(Texts::Split(text, separator)),
            (Binary::Join, Value::Texts(texts), Value::Text(separator)) => Value::Text(scratch.listed(|| texts.iter(), separator)?),
            (Binary::Join, Value::Resources(resources), Value::Text(separator)) => {
                Value::Text(scratch.listed(|| resources.iter().map(|resource| resource.text), separator)?)
            }
            (Binary::IndexOf, Value::Text(text), Value::Text(part)) => place(text, memchr::memmem::find(text.as_bytes(), part.as_bytes())),
            (Binary::LastIndexOf, Value::Text(text), Value::Text(part)) => {
                place(text, memchr::memmem::rfind(text.as_bytes(), part.as_bytes()))
            }
            (Binary::CharAt, Value::Text(text), Value::Integer(at)) => {
                let rest = text.get(offset(text, at)?..).unwrap_or_default();
                Value::Text(rest.get(..rest.chars().next().map_or(0, char::len_utf8)).unwrap_or_default())
            }
            (Binary::From, Value::Text(text), Value::Integer(begin)) => {
                Value::Text(text.get(offset(text, begin)?..).ok_or(Fault::NoSuchElement)?)
            }
            _ => return Err(Fault::Program),
        })
    }

    fn calculate<'a>(self, left: Value<'a>, right: Value<'a>, scratch: &mut Scratch<'a>) -> Result<Value<'a>, Fault> {
        match (self, left, right) {
            (Binary::Add, Value::Text(left), Value::Text(right)) => Ok(Value::Text(scratch.joined(&[left, right])?)),
            (_, Value::Integer(left), Value::Integer(right)) => self.of_integers(left, right).map(Value::Integer),
            (_, Value::Real(left), Value::Real(right)) => match self {
                Binary::Add => Ok(Value::Real(left + right)),
                Binary::Subtract => Ok(Value::Real(left - right)),
                Binary::Multiply => Ok(Value::Real(left * right)),
                Binary::Divide => Ok(Value::Real(left / right)),
                _ => Err(Fault::Program),
            },
            (Binary::Add, Value::Duration(left), Value::Duration(right)) => duration(left.0.checked_add(right.0)),
            (Binary::Subtract, Value::Duration(left), Value::Duration(right)) => duration(left.0.checked_sub(right.0)),
            (Binary::Subtract, Value::Moment(left), Value::Moment(right)) => duration(left.0.checked_sub(right.0)),
            (Binary::Add, Value::Moment(at), Value::Duration(by)) | (Binary::Add, Value::Duration(by), Value::Moment(at)) => {
                moment(at.0.checked_add(by.0))
            }
            (Binary::Subtract, Value::Moment(at), Value::Duration(by)) => moment(at.0.checked_sub(by.0)),
            (Binary::Multiply, Value::Duration(span), Value::Integer(times))
            | (Binary::Multiply, Value::Integer(times), Value::Duration(span)) => duration(span.0.checked_mul(times)),
            (Binary::Divide, Value::Duration(_), Value::Integer(0)) => Err(Fault::DivisionByZero),
            (Binary::Divide, Value::Duration(span), Value::Integer(by)) => duration(span.0.checked_div(by)),
            // Durations are whole seconds: what is less is left out.
            (Binary::Multiply, Value::Duration(span), Value::Real(times))
            | (Binary::Multiply, Value::Real(times), Value::Duration(span)) => {
                duration(to_integer(Value::Real(span.0 as f64 * times)).ok())
            }
            (Binary::Divide, Value::Duration(span), Value::Real(by)) => duration(to_integer(Value::Real(span.0 as f64 / by)).ok()),
            _ => Err(Fault::Program),
        }
    }

    fn of_integers(self, left: i64, right: i64) -> Result<i64, Fault> {
        let divides = matches!(self, Binary::Divide | Binary::Remainder);
        if divides && right == 0 {
            return Err(Fault::DivisionByZero);
        }
        let result = match self {
            Binary::Add => left.checked_add(right),
            Binary::Subtract => left.checked_sub(right),
            Binary::Multiply => left.checked_mul(right),
            Binary::Divide => left.checked_div(right),
            Binary::Remainder => left.checked_rem(right),
            _ => return Err(Fault::Program),
        };
        result.ok_or(Fault::Overflow)
    }
}

/// What it is to begin with a text of a list or a resource, in bytes that are gone through.
const EACH: usize = 64;

/// How many times as much work it is to read a list of resources as to go through a text.
const WORK_OF_RESOURCES: usize = 32;

/// Takes what it is to go through a value once. Of a list no more is looked at than there are steps
/// for.
///
/// # Errors
/// [`Fault::Budget`] if it is more than is left.
pub(crate) fn charge(value: &Value<'_>, steps: &mut Steps) -> Result<(), Fault> {
    match value {
        Value::Text(text) => steps.take_for(text.len()),
        Value::Texts(texts) => charge_list(*texts, steps),
        Value::Resources(Resources(text)) => steps.take_for(text.len().saturating_mul(WORK_OF_RESOURCES)),
        _ => Ok(()),
    }
}

/// Takes what it is to go through a list once: all of its bytes, and each of its texts.
fn charge_list(texts: Texts<'_>, steps: &mut Steps) -> Result<(), Fault> {
    let text = match texts {
        Texts::Listed(list) => return (0..).map_while(|place| list.work(place)).try_for_each(|bytes| charge_element(bytes, steps)),
        Texts::Separated(text, _) | Texts::Ended(text) | Texts::Split(text, _) | Texts::Licenses(text) => text,
    };
    charge_element(text.len(), steps)?;
    // The texts are as many as separators are found. Each takes a step as it is found, so that
    // there are no more than steps are left.
    let bytes = text.as_bytes();
    let mut each = |_| steps.take_for(EACH);
    match texts {
        Texts::Listed(_) => Ok(()),
        Texts::Separated(_, separator) => {
            let mut place = [0; char::MAX_LEN_UTF8];
            memchr::memmem::find_iter(bytes, separator.encode_utf8(&mut place).as_bytes()).try_for_each(each)
        }
        Texts::Split(_, "") => steps.take_for(text.len().saturating_mul(EACH)),
        Texts::Split(_, separator) => memchr::memmem::find_iter(bytes, separator.as_bytes()).try_for_each(each),
        Texts::Ended(_) => memchr::memchr_iter(0, bytes).try_for_each(&mut each),
        Texts::Licenses(_) => memchr::memchr3_iter(b',', b';', b'|', bytes).try_for_each(each),
    }
}

/// Takes what it is to replace each place of a text by another, beside going through them.
///
/// # Errors
/// [`Fault::Budget`] if it is more than is left.
pub(crate) fn charge_replacing(operands: &[Value<'_>; 3], steps: &mut Steps) -> Result<(), Fault> {
    match operands {
        [Value::Text(text), Value::Text(""), Value::Text(_)] => steps.take_for(EACH.saturating_mul(text.len().saturating_add(1))),
        [Value::Text(text), Value::Text(old), Value::Text(_)] => {
            memchr::memmem::find_iter(text.as_bytes(), old.as_bytes()).try_for_each(|_| steps.take_for(EACH))
        }
        _ => Ok(()),
    }
}

/// Takes what it is to read a text of a list of so many bytes, and to go through it.
pub(crate) fn charge_element(bytes: usize, steps: &mut Steps) -> Result<(), Fault> {
    steps.take_for(bytes.saturating_mul(2).saturating_add(EACH))
}

/// The offset of a place that is counted in characters.
fn offset(text: &str, place: i64) -> Result<usize, Fault> {
    let place = usize::try_from(place).map_err(|_| Fault::NoSuchElement)?;
    let mut offsets = text.char_indices().map(|(offset, _)| offset).chain([text.len()]);
    offsets.nth(place).ok_or(Fault::NoSuchElement)
}

fn integer(count: usize) -> Value<'static> {
    Value::Integer(i64::try_from(count).unwrap_or(i64::MAX))
}

fn duration(seconds: Option<i64>) -> Result<Value<'static>, Fault> {
    let in_range = seconds.filter(|seconds| (-LONGEST_DURATION..=LONGEST_DURATION).contains(seconds));
    in_range.map(|seconds| Value::Duration(Seconds(seconds))).ok_or(Fault::Overflow)
}

fn moment(at: Option<i64>) -> Result<Value<'static>, Fault> {
    at.filter(|at| MOMENTS.contains(at)).map(|at| Value::Moment(UnixTime(at))).ok_or(Fault::Overflow)
}

/// How two values of the same kind compare.
fn order(left: Value<'_>, right: Value<'_>) -> Result<std::cmp::Ordering, Fault> {
    Ok(match (left, right) {
        (Value::Truth(left), Value::Truth(right)) => left.cmp(&right),
        (Value::Integer(left), Value::Integer(right)) => left.cmp(&right),
        (Value::Real(left), Value::Real(right)) => left.partial_cmp(&right).ok_or(Fault::NotComparable)?,
        (Value::Text(left), Value::Text(right)) => left.cmp(right),
        (Value::Duration(left), Value::Duration(right)) => left.cmp(&right),
        (Value::Moment(left), Value::Moment(right)) => left.cmp(&right),
        _ => return Err(Fault::Program),
    })
}

fn to_integer(value: Value<'_>) -> Result<i64, Fault> {
    /// 2^63, the first number that is too large.
    const TOO_LARGE: f64 = 9_223_372_036_854_775_808.0;
    match value {
        Value::Integer(number) => Ok(number),
        Value::Real(number) if number > -TOO_LARGE && number < TOO_LARGE => Ok(number as i64),
        Value::Real(_) => Err(Fault::Overflow),
        Value::Text(text) => text.parse().map_err(|_| Fault::Conversion),
        Value::Moment(at) => Ok(at.0),
        _ => Err(Fault::Program),
    }
}

fn to_real(value: Value<'_>) -> Result<f64, Fault> {
    match value {
        Value::Integer(number) => Ok(number as f64),
        Value::Real(number) => Ok(number),
        Value::Text(text) => text.parse().map_err(|_| Fault::Conversion),
        _ => Err(Fault::Program),
    }
}

fn to_text<'a>(value: Value<'a>, scratch: &mut Scratch<'a>) -> Result<&'a str, Fault> {
    match value {
        Value::Text(text) => Ok(text),
        Value::Truth(truth) => Ok(if truth { "true" } else { "false" }),
        Value::Integer(number) => scratch.formatted(format_args!("{number}")),
        Value::Real(number) => scratch.formatted(format_args!("{number}")),
        Value::Duration(duration) => scratch.formatted(format_args!("{}s", duration.0)),
        Value::Moment(at) => scratch.formatted(format_args!("{}", Rfc3339(at))),
        _ => Err(Fault::Program),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(charge: impl Fn(&mut Steps) -> Result<(), Fault>) -> u32 {
        const MOST: u32 = 1_000_000;
        let mut left = Steps(MOST);
        assert_eq!(charge(&mut left), Ok(()));
        MOST - left.0
    }

    #[test]
    fn each_text_of_a_list_costs_steps_whatever_the_list_is_made_of() {
        let of = |texts: Texts<'_>| steps(|left| charge(&Value::Texts(texts), left));
        let long = "a".repeat(400);
        let parts: Vec<&str> = vec!["a"; 200];
        for (few, many) in [
            (Texts::Separated(&long, ','), Texts::Separated(&parts.join(","), ',')),
            (Texts::Separated(&long, 'ä'), Texts::Separated(&parts.join("ä"), 'ä')),
            (Texts::Split(&long, ","), Texts::Split(&parts.join(","), ",")),
            (Texts::Split(&long, "--"), Texts::Split(&parts.join("--"), "--")),
            (Texts::Split(&long, "-"), Texts::Split(&long, "")),
            (Texts::Licenses(&long), Texts::Licenses(&parts.join(";"))),
            (Texts::Ended(&long), Texts::Ended(&parts.join("\0"))),
        ] {
            assert!(of(few) < 60 && of(many) >= 4 * 199, "{many:?}: {} and {}", of(few), of(many));
        }
        let mut few = Steps(100);
        assert_eq!(charge(&Value::Texts(Texts::Separated(&parts.join(","), ',')), &mut few), Err(Fault::Budget));
    }

    #[test]
    fn each_place_that_is_replaced_costs_steps() {
        let of = |text: &str, old: &str| steps(|left| charge_replacing(&[Value::Text(text), Value::Text(old), Value::Text("")], left));
        let text = "ab".repeat(100);
        assert_eq!([of(&text, "b"), of(&text, "x"), of(&text, "ab")], [400, 0, 400]);
        assert_eq!(of(&text, ""), 4 * 201);
    }

    #[test]
    fn texts_are_split_and_replaced_at_the_places_where_the_standard_library_finds_them() {
        let mut memory = crate::scratch::Memory::default();
        let mut scratch = Scratch::new(&mut memory);
        for (text, part) in [("a--b-", "--"), ("aaa", "aa"), ("äöä", "ä"), ("", "x"), ("x", "x"), ("ab", ""), ("a,b", ",")] {
            let replaced = Ternary::Replace.apply([Value::Text(text), Value::Text(part), Value::Text("+")], &mut scratch);
            assert!(matches!(replaced, Ok(Value::Text(replaced)) if replaced == text.replace(part, "+")), "{text} {part}");
            if !part.is_empty() {
                assert!(Texts::Split(text, part).iter().eq(text.split(part)), "{text} {part}");
            }
            let place = |found: Option<usize>| found.map_or(-1, |at| text[..at].chars().count() as i64);
            for (binary, found) in [(Binary::IndexOf, text.find(part)), (Binary::LastIndexOf, text.rfind(part))] {
                let at = binary.apply(Value::Text(text), Value::Text(part), &mut scratch);
                assert!(matches!(at, Ok(Value::Integer(at)) if at == place(found)), "{binary:?} {text} {part}");
            }
        }
    }
}
