//! Lists of nodes as Slurm writes them: `n[1-3,07],login`.

use thiserror::Error;

/// No list names more nodes than this.
const MOST_NODES: usize = 100_000;

/// What is wrong with a list of nodes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{list:?} is not a list of nodes such as n[1-3,7],m1: {reason}")]
pub(crate) struct NodeListError {
    list: String,
    reason: &'static str,
}

/// The names that a list stands for, in its order.
///
/// # Errors
/// [`NodeListError`] for brackets that do not match, ranges that are not numbers, and too many
/// names.
pub(crate) fn expand(list: &str) -> Result<Vec<String>, NodeListError> {
    let error = |reason| NodeListError { list: list.to_owned(), reason };
    let mut names = Vec::new();
    for part in split(list).map_err(error)? {
        names.extend(expand_one(part).map_err(error)?);
        if names.len() > MOST_NODES {
            return Err(error("it names too many"));
        }
    }
    if names.is_empty() { Err(error("it names none")) } else { Ok(names) }
}

/// Splits at the commas that stand outside of brackets.
fn split(list: &str) -> Result<Vec<&str>, &'static str> {
    let mut parts = Vec::new();
    let (mut begin, mut inside) = (0, false);
    for (at, character) in list.char_indices().chain([(list.len(), ',')]) {
        match (character, inside) {
            ('[', false) => inside = true,
            (']', true) => inside = false,
            ('[', true) | (']', false) => return Err("its brackets do not match"),
            (',', false) => {
                let part = list.get(begin..at).unwrap_or_default().trim();
                // Whoever runs the commands would take it for an option.
                if part.starts_with('-') {
                    return Err("a name begins with a dash");
                }
                parts.extend((!part.is_empty()).then_some(part));
                begin = at + 1;
            }
            _ => {}
        }
    }
    if inside { Err("its brackets do not match") } else { Ok(parts) }
}

/// The names of one part, which may have several brackets.
fn expand_one(part: &str) -> Result<Vec<String>, &'static str> {
    let Some((before, rest)) = part.split_once('[') else {
        return Ok(vec![part.to_owned()]);
    };
    let (ranges, behind) = rest.split_once(']').ok_or("its brackets do not match")?;
    let tails = expand_one(behind)?;
    let mut names = Vec::new();
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |digits: &str| digits.parse::<usize>().map_err(|_| "a range is not of numbers");
        let (first_number, last_number) = (number(first)?, number(last)?);
        let count = last_number.checked_sub(first_number).ok_or("a range runs backwards")?.saturating_add(1);
        if count.saturating_mul(tails.len()) > MOST_NODES {
            return Err("it names too many");
        }
        let width = first.len();
        names.extend(
            (first_number..=last_number).flat_map(|number| tails.iter().map(move |tail| format!("{before}{number:0width$}{tail}"))),
        );
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_become_names_in_their_order() {
        let expanded = |list| expand(list).unwrap().join(" ");
        assert_eq!(expanded("n1"), "n1");
        assert_eq!(expanded("n[1-3,07],login"), "n1 n2 n3 n07 login");
        assert_eq!(expanded("n[08-11]"), "n08 n09 n10 n11");
        assert_eq!(expanded("r[1-2]n[1,3]-x, m"), "r1n1-x r1n3-x r2n1-x r2n3-x m");
    }

    #[test]
    fn what_is_not_a_list_is_refused() {
        for list in ["", ",", "n[1", "n1]", "n[a-b]", "n[1-999999999]", "n[[1]]", "-n", "n[3-1]"] {
            assert!(expand(list).is_err(), "{list}");
        }
    }
}
