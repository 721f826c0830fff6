//! Parsing, by the parser of the crate `cel`, of expressions that are bounded before it sees them.
//!
//! The parser calls itself for each level of nesting, and each level takes tens of kilobytes of
//! stack in a build without optimisation. So expressions are parsed on a thread with a large stack,
//! and what would nest deeply is refused by a look at the characters alone.

use crate::problem::ExpressionError;
use cel::common::ast::{IdedExpr, SourceInfo};

/// The longest expression, in bytes.
pub const LONGEST: usize = 4_096;

/// How deep brackets may be within each other.
pub const DEEPEST: usize = 16;

/// How many `?` an expression may have, as each `a ? b : c` stands within the one before.
pub const MOST_CHOICES: usize = 16;

/// How many `!` or `-` may follow each other.
const LONGEST_SIGNS: usize = 3;

/// The stack of the thread on which expressions are parsed and compiled, in bytes.
pub const STACK: usize = 64 << 20;

/// Parses an expression; to be called on a thread with a stack of [`STACK`].
///
/// # Errors
/// The first [`ExpressionError`] that the look at the characters or the parser finds.
pub fn parse(text: &str) -> Result<(IdedExpr, SourceInfo), ExpressionError> {
    check_bounds(text)?;
    // A second line of defence: what is within the bounds stays below it.
    let most_recursions = u16::try_from(2 * (DEEPEST + MOST_CHOICES)).unwrap_or(u16::MAX);
    let parser = cel::parser::Parser::new().enable_optional_syntax(true).error_recovery_limit(1).max_recursion_depth(most_recursions);
    parser.parse_with_source_info(text).map_err(|errors| first_error(text, &errors))
}

fn first_error(text: &str, errors: &cel::ParseErrors) -> ExpressionError {
    let Some(error) = errors.errors.first() else {
        return ExpressionError { offset: 0, message: "this is no expression".to_owned() };
    };
    // The parser counts lines from 1 and columns in characters from 1.
    let line = usize::try_from(error.pos.0).unwrap_or(1).max(1);
    let column = usize::try_from(error.pos.1).unwrap_or(1).max(1);
    let line_start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let rest = text.get(line_start..).unwrap_or_default();
    let in_line = rest.char_indices().nth(column - 1).map_or(rest.len(), |(offset, _)| offset);
    let message = error.msg.lines().next().unwrap_or_default().trim_start_matches("Syntax error: ");
    ExpressionError { offset: (line_start + in_line).min(text.len()), message: format!("this is no expression: {message}") }
}

/// Refuses what is too long or would nest too deeply, without a parser.
fn check_bounds(text: &str) -> Result<(), ExpressionError> {
    let too = |offset, message: String| Err(ExpressionError { offset, message });
    if text.len() > LONGEST {
        return too(0, format!("this expression is longer than {LONGEST} bytes: divide the rule, or use a table"));
    }
    let (mut depth, mut choices, mut signs) = (0_usize, 0_usize, 0_usize);
    let mut quoted_until = 0;
    let mut before = ' ';
    for (offset, character) in text.char_indices() {
        if offset < quoted_until {
            continue;
        }
        let is_raw = matches!(before, 'r' | 'R');
        before = character;
        match character {
            '\'' | '"' => quoted_until = end_of_quote(text, offset, character, is_raw),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '?' => choices += 1,
            '/' if text.get(offset..).is_some_and(|rest| rest.starts_with("//")) => {
                return too(offset, "an expression has no comments: write them in TOML, behind #".to_owned());
            }
            _ => {}
        }
        signs = match character {
            '!' | '-' => signs + 1,
            ' ' | '\t' | '\n' | '\r' => signs,
            _ => 0,
        };
        if depth > DEEPEST {
            return too(offset, format!("brackets are more than {DEEPEST} deep: divide the rule"));
        }
        if choices > MOST_CHOICES {
            return too(offset, format!("more than {MOST_CHOICES} choices (?): use a table"));
        }
        if signs > LONGEST_SIGNS {
            return too(offset, "too many signs one behind the other".to_owned());
        }
    }
    Ok(())
}

/// The place behind a text in quotes, which begins at a quotation mark: one or three of them, with
/// escapes unless it is raw.
fn end_of_quote(text: &str, start: usize, mark: char, is_raw: bool) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let triple: String = std::iter::repeat_n(mark, 3).collect();
    let closing = if rest.starts_with(&triple) { triple } else { mark.to_string() };
    let mut at = start + closing.len();
    while let Some(next) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        if rest.starts_with(&closing) {
            return at + closing.len();
        }
        at += next.len_utf8();
        if next == '\\' && !is_raw {
            at += text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn brackets_are_counted_outside_of_quotes_alone() {
        let deep = "(".repeat(DEEPEST + 1);
        for quoted in [format!("'{deep}'"), format!("\"{deep}\""), format!("'\\'{deep}'"), format!("\"\"\"a\"{deep}\"\"\"")] {
            assert_eq!(check_bounds(&quoted), Ok(()), "{quoted}");
        }
        for plain in [format!("r'\\' + {deep}"), format!("\"\"\"a\"b\"\"\" + {deep}"), format!("'\\\\' + {deep}"), format!("'' + {deep}")] {
            check_bounds(&plain).unwrap_err();
        }
    }
}
