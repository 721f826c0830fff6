//! Generic resources in all forms in which Slurm takes them, read without allocating.
//!
//! Up to 22.05 sbatch sends `gres:gpu:a100:2`, from 23.02 on `gres/gpu:a100:2`, and in
//! `tres_per_task` `gres/gpu:a100=2`, beside what is none, such as `cpu=4` (`xfmt_tres` in
//! src/common/proc_args.c, `slurm_option_update_tres_per_task` in src/common/slurm_opt.c). A user
//! writes `gpu`, `gpu:2`, `gpu:a100` or `gpu:a100:2`, several separated by commas.
//!
//! What is read follows `_get_next_gres` (src/common/gres.c) and, since 23.02,
//! `slurm_get_next_tres` (src/common/slurm_protocol_defs.c), also in what nobody means, so that no
//! text gives a job what is not read here: the word `gres` counts wherever it stands in a part, and
//! numbers wrap. What Slurm refuses is read as something all the same.

use crate::fault::Fault;
use crate::scratch::Scratch;

/// A generic resource that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Resource<'a> {
    /// What the resource is, such as `gpu`. What is no generic resource keeps its prefix: `cpu`,
    /// `license/matlab`.
    pub kind: &'a str,
    /// The type of the resource, such as `a100`; empty where none is asked for.
    pub subtype: &'a str,
    /// How many of the resource are asked for; at least 1.
    pub count: i64,
    /// The resource as it stands in the list, without what Slurm shows in brackets.
    pub text: &'a str,
}

/// Two resources that ask for the same are equal, in whatever form they stand.
impl PartialEq for Resource<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, self.subtype, self.count) == (other.kind, other.subtype, other.count)
    }
}

impl Eq for Resource<'_> {}

impl<'a> Resource<'a> {
    /// Replaces the resource's type, or takes it away if `subtype` is empty, in the form in which
    /// the resource stands.
    ///
    /// # Errors
    /// [`Fault::Conversion`] if no type can have this name, and [`Fault::TextsTooLong`] if there is
    /// no room.
    pub fn with_type(&self, subtype: &str, scratch: &mut Scratch<'a>) -> Result<&'a str, Fault> {
        let is_name = |text: &str| !text.contains([',', ':', '=', '(', ')', '/', '\0']) && !text.contains(char::is_whitespace);
        // A type that is a number would be read as one.
        if !is_name(subtype) || number(subtype).is_some_and(|_| !subtype.is_empty()) {
            return Err(Fault::Conversion);
        }
        let (before, count) = self.around_type()?;
        let colon = if subtype.is_empty() { "" } else { ":" };
        scratch.joined(&[before, colon, subtype, count])
    }

    /// Replaces the resource's number, in the form in which the resource stands.
    ///
    /// # Errors
    /// [`Fault::Conversion`] for a number below 1, and [`Fault::TextsTooLong`] if there is no room.
    pub fn with_count(&self, count: i64, scratch: &mut Scratch<'a>) -> Result<&'a str, Fault> {
        if count < 1 {
            return Err(Fault::Conversion);
        }
        let (_, before) = self.around_type()?;
        let named = self.text.strip_suffix(before).ok_or(Fault::Program)?;
        let separator = if before.starts_with('=') { '=' } else { ':' };
        scratch.formatted(format_args!("{named}{separator}{count}"))
    }

    /// What stands before the type, and the number behind it with its separator, if there is one.
    fn around_type(&self) -> Result<(&'a str, &'a str), Fault> {
        let length = |text: &str| text.len();
        let named = length(self.kind) + if self.subtype.is_empty() { 0 } else { 1 + length(self.subtype) };
        let behind_kind = Self::place(self.text, self.kind).ok_or(Fault::Program)?;
        let begin = behind_kind - length(self.kind);
        let count = self.text.get(begin + named..).ok_or(Fault::Program)?;
        Ok((self.text.get(..behind_kind).ok_or(Fault::Program)?, count))
    }

    /// Returns the place at which the kind ends in the text.
    fn place(text: &str, kind: &str) -> Option<usize> {
        let begin = match text.find(MARK) {
            Some(place) => {
                let behind = place + MARK.len();
                behind + usize::from(text.get(behind..)?.starts_with(['/', ':']))
            }
            None => 0,
        };
        text.get(begin..)?.starts_with(kind).then(|| begin + kind.len())
    }
}

/// What marks a generic resource.
const MARK: &str = "gres";

/// The resource at a cursor, which is 0 at first and is put behind that resource; `None` behind
/// the last. What is asked for 0 times is passed over.
pub fn next<'a>(text: &'a str, cursor: &mut usize) -> Option<Resource<'a>> {
    loop {
        let rest = text.get(*cursor..).filter(|rest| !rest.is_empty())?;
        let part = rest.split(',').next().unwrap_or(rest);
        *cursor = cursor.saturating_add(part.len()).saturating_add(1).min(text.len());
        if let Some(resource) = read(part).filter(|resource| resource.count > 0) {
            return Some(resource);
        }
    }
}

/// All resources of a text.
pub fn all(text: &str) -> impl Iterator<Item = Resource<'_>> {
    let mut cursor = 0;
    std::iter::from_fn(move || next(text, &mut cursor))
}

/// The kind of resource that GPUs are.
pub const GPU: &str = "gpu";

/// What a list of resources says of GPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gpus {
    /// How many of any type.
    pub untyped: i64,
    /// How many of types that are named.
    pub typed: i64,
    /// The greatest number that stands with one of them; `None` where there are none.
    pub greatest: Option<i64>,
}

/// What a list says of GPUs; no number above what fits.
#[must_use]
pub fn gpus(text: &str) -> Gpus {
    all(text).filter(|resource| resource.kind == GPU).fold(Gpus::default(), |gpus, resource| {
        let (untyped, typed) = if resource.subtype.is_empty() { (resource.count, 0) } else { (0, resource.count) };
        Gpus {
            untyped: gpus.untyped.saturating_add(untyped),
            typed: gpus.typed.saturating_add(typed),
            greatest: gpus.greatest.max(Some(resource.count)),
        }
    })
}

/// How many are asked for of a kind, whatever their type; not above what fits.
#[must_use]
pub fn count(text: &str, kind: &str) -> i64 {
    all(text).filter(|resource| resource.kind == kind).fold(0, |sum, resource| sum.saturating_add(resource.count))
}

/// One part between commas.
fn read(part: &str) -> Option<Resource<'_>> {
    let (named, is_generic) = match part.find(MARK) {
        Some(place) => {
            let behind = &part[place + MARK.len()..];
            (behind.strip_prefix(['/', ':']).unwrap_or(behind), true)
        }
        None => (part, false),
    };
    // Where Slurm shows resources, it says in brackets which ones they are.
    let shown = named.find('(').map_or(named, |bracket| &named[..bracket]);
    let is_continued = !is_generic && shown.len() == named.len() && named.ends_with(')');
    if shown.is_empty() || is_continued {
        return None;
    }
    let named_length = named.len();
    let (named, count) = match shown.rfind('=').or_else(|| shown.rfind(':')) {
        Some(place) => match number(&shown[place + 1..]) {
            Some(count) => (&shown[..place], count),
            None => (shown, 1),
        },
        None => (shown, 1),
    };
    let (kind, subtype) = named.split_once(':').unwrap_or((named, ""));
    let text = part.get(..part.len() - named_length + shown.len()).unwrap_or(part);
    Some(Resource { kind, subtype, count: i64::try_from(count).unwrap_or(i64::MAX), text })
}

/// A count as `_is_valid_number` reads it (src/common/gres.c): what `strtoull` takes, and behind it
/// nothing or a unit. `None` where it is no number, or the greatest.
#[must_use]
pub fn number(text: &str) -> Option<u64> {
    let (negative, digits, rest) = digits(text);
    let value = digits.bytes().try_fold(0_u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
    // What is too great is the greatest, which is taken as an error.
    let value = value.filter(|value| *value < u64::MAX)?;
    let value = if negative { value.wrapping_neg() } else { value };
    (value != u64::MAX).then(|| Some(value.wrapping_mul(unit(rest)?))).flatten()
}

/// The sign, the digits and the rest of what C reads as a number. Without digits all is rest.
fn digits(text: &str) -> (bool, &str, &str) {
    let behind = text.trim_start_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r']);
    let unsigned = behind.strip_prefix(['+', '-']).unwrap_or(behind);
    let end = unsigned.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(unsigned.len());
    if end == 0 { (false, "", text) } else { (behind.starts_with('-'), &unsigned[..end], &unsigned[end..]) }
}

/// The factor of a unit (`suffix_mult` in src/common/slurm_protocol_defs.c).
fn unit(suffix: &str) -> Option<u64> {
    let is = |names: [&str; 2]| names.iter().any(|name| suffix.eq_ignore_ascii_case(name));
    if suffix.is_empty() {
        return Some(1);
    }
    [["k", "kib"], ["m", "mib"], ["g", "gib"], ["t", "tib"], ["p", "pib"]]
        .into_iter()
        .zip(1..)
        .find_map(|(names, power)| is(names).then(|| 1024_u64.pow(power)))
        .or_else(|| {
            let decimal = ["kb", "mb", "gb", "tb", "pb"];
            decimal.into_iter().zip(1..).find_map(|(name, power)| suffix.eq_ignore_ascii_case(name).then(|| 1000_u64.pow(power)))
        })
}

/// How many jobs an array has, by its indices, as `slurm_parse_array_tok` reads them
/// (src/common/slurm_protocol_defs.c); an index that stands twice counts twice. `None` where Slurm
/// refuses them.
#[must_use]
pub fn array_size(indices: &str) -> Option<i64> {
    let parts = indices.split(',').filter(|part| !part.is_empty());
    parts.map(array_part).try_fold(0_i64, |sum, size| Some(sum.saturating_add(size?))).filter(|size| *size > 0)
}

fn array_part(part: &str) -> Option<i64> {
    let (first, last, step) = array_range(part)?;
    Some(((last - first) / step).saturating_add(1))
}

/// The first index, the last one and the step between them of a part of an array's indices, such as
/// `3`, `1-5` or `[0-9:3]%2`; `None` where Slurm refuses it.
#[must_use]
pub fn array_range(part: &str) -> Option<(i64, i64, i64)> {
    let part = part.strip_prefix('[').unwrap_or(part);
    let (first, rest) = array_number(part);
    let (last, step, rest) = match rest.strip_prefix('-') {
        None => (first, 1, rest),
        Some(behind) => {
            let (last, rest) = array_number(behind);
            match rest.strip_prefix(':') {
                None => (last, 1, rest),
                Some(behind) => {
                    let (step, rest) = array_number(behind);
                    (last, step, rest)
                }
            }
        }
    };
    let is_read = (rest.is_empty() || rest.starts_with('%')) && first >= 0 && last >= first && step > 0;
    is_read.then_some((first, last, step))
}

/// A number as `strtol` reads it, and what stands behind it and behind a closing bracket.
fn array_number(text: &str) -> (i64, &str) {
    let (negative, digits, rest) = digits(text);
    let add = |value: i64, digit: u8| value.saturating_mul(10).saturating_add(i64::from(digit - b'0'));
    let value = digits.bytes().fold(0, add);
    (if negative { -value } else { value }, rest.strip_prefix(']').unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &str) -> Vec<(&str, &str, i64)> {
        all(text).map(|resource| (resource.kind, resource.subtype, resource.count)).collect()
    }

    #[test]
    fn all_forms_of_a_resource_are_read() {
        for (text, expected) in [
            ("gpu", ("gpu", "", 1)),
            ("gpu:2", ("gpu", "", 2)),
            ("gpu:a100", ("gpu", "a100", 1)),
            ("gpu:a100:2", ("gpu", "a100", 2)),
            ("gres:gpu", ("gpu", "", 1)),
            ("gres:gpu:2", ("gpu", "", 2)),
            ("gres:gpu:a100:2", ("gpu", "a100", 2)),
            ("gres/gpu:2", ("gpu", "", 2)),
            ("gres/gpu=2", ("gpu", "", 2)),
            ("gres/gpu:a100=2", ("gpu", "a100", 2)),
            ("gres/gpu:a100:2", ("gpu", "a100", 2)),
            ("gres/shard:1K", ("shard", "", 1024)),
            ("gres/nvme:3gb", ("nvme", "", 3_000_000_000)),
            ("gpu:a100:2(S:0)", ("gpu", "a100", 2)),
            ("cpu=4", ("cpu", "", 4)),
            ("license/matlab=2", ("license/matlab", "", 2)),
            ("gres/gpu:h100_80gb", ("gpu", "h100_80gb", 1)),
        ] {
            assert_eq!(read_all(text), [expected], "{text}");
        }
    }

    #[test]
    fn a_resource_is_written_with_another_type_or_number_in_the_form_in_which_it_stands() {
        assert!(all("gres:gpu:a100:2").eq(all("gres/gpu:a100=2")), "in another form they are the same");
        let mut memory = [0; 1_000];
        let mut scratch = Scratch::within(&mut memory);
        for (text, typed, counted) in [
            ("gpu", "gpu:h100", "gpu:3"),
            ("gpu:2", "gpu:h100:2", "gpu:3"),
            ("gpu:a100", "gpu:h100", "gpu:a100:3"),
            ("gres:gpu:a100:2", "gres:gpu:h100:2", "gres:gpu:a100:3"),
            ("gres/gpu=2", "gres/gpu:h100=2", "gres/gpu=3"),
            ("gres/gpu:a100=2", "gres/gpu:h100=2", "gres/gpu:a100=3"),
            ("gpu:a100:2(S:0)", "gpu:h100:2", "gpu:a100:3"),
            ("cpu=4", "cpu:h100=4", "cpu=3"),
        ] {
            let resource = all(text).next().unwrap();
            assert_eq!(resource.with_type("h100", &mut scratch), Ok(typed), "{text}");
            assert_eq!(resource.with_count(3, &mut scratch), Ok(counted), "{text}");
        }
        let resource = all("gres:gpu:a100:2").next().unwrap();
        assert_eq!(resource.with_type("", &mut scratch), Ok("gres:gpu:2"));
        for name in ["a,gres:gpu:9", "a:9", "a b", "a=1", "80"] {
            assert_eq!(resource.with_type(name, &mut scratch), Err(Fault::Conversion), "{name}");
        }
        assert_eq!([0, -1].map(|count| resource.with_count(count, &mut scratch)), [Err(Fault::Conversion); 2]);
    }

    #[test]
    fn several_resources_are_read_one_by_one() {
        assert_eq!(read_all("gres/gpu:a100:2,,gres/gpu:v100:1,gres/shard=4"), [("gpu", "a100", 2), ("gpu", "v100", 1), ("shard", "", 4)]);
        assert_eq!(read_all("gpu:2(IDX:0,2-3),shard:4"), [("gpu", "", 2), ("shard", "", 4)]);
        assert_eq!(read_all("gres/gpu:0,gres/gpu:a100:0,"), []);
        assert_eq!(count("gres/gpu:a100:2,gres/gpu:1,gres/shard:9", "gpu"), 3);
    }

    #[test]
    fn what_slurm_reads_as_a_resource_is_one_wherever_its_mark_stands() {
        assert_eq!(read_all("cpu=1,gresgpu:4"), [("cpu", "", 1), ("gpu", "", 4)]);
        assert_eq!(read_all("xgres:gpu:4"), [("gpu", "", 4)]);
        assert_eq!(read_all("license/x(,gres/gpu:8,y"), [("license/x", "", 1), ("gpu", "", 8), ("y", "", 1)]);
    }

    #[test]
    fn a_count_is_read_as_c_reads_it() {
        for (text, value) in [("12", 12), (" +3", 3), ("2k", 2048), ("2KiB", 2048), ("2kb", 2000), ("1P", 1 << 50), ("0", 0), ("", 0)] {
            assert_eq!(number(text), Some(value), "{text}");
        }
        assert_eq!(number("18014398509481985k"), Some(1024));
        for text in ["a100", "80gbx", "99999999999999999999", "-1", "2 "] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn the_jobs_of_an_array_are_counted() {
        for (text, size) in [("0-15", 16), ("0-15%4", 16), ("1,3,5-7", 5), ("0-15:4", 4), ("[1-3]", 3), ("7", 1), ("0-9:3%2,20", 5)] {
            assert_eq!(array_size(text), Some(size), "{text}");
        }
        for text in ["", ",", "-1", "5-1", "1-9:0", "a", "1-2x", "1;2"] {
            assert_eq!(array_size(text), None, "{text}");
        }
        assert_eq!(array_size("0-9223372036854775807,1"), Some(i64::MAX));
    }
}
