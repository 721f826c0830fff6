//! The texts that the project's programs print, from their sources.

use std::fs;
use std::path::Path;

use crate::project;

/// A literal of a source file, with `...` for each placeholder.
#[derive(Debug, Clone)]
pub struct Literal {
    /// Path of its source file.
    pub file: String,
    /// Text of the literal, with `...` for each placeholder.
    pub text: String,
}

/// The literals of all sources below `directories` of the project, but for tests.
///
/// # Panics
/// Where a directory can't be read.
#[must_use]
pub fn literals(directories: &[&str]) -> Vec<Literal> {
    let mut all = Vec::new();
    for directory in directories {
        let path = project().join(directory);
        if path.is_file() { read(&path, &mut all) } else { descend(&path, &mut all) }
    }
    all
}

fn descend(directory: &Path, all: &mut Vec<Literal>) {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            descend(&path, all);
        } else if path.extension().is_some_and(|ending| ending == "rs") && path.file_name().is_some_and(|name| name != "tests.rs") {
            read(&path, all);
        }
    }
}

fn read(path: &Path, all: &mut Vec<Literal>) {
    let source = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    // Unit tests stand at the end.
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let file = path.strip_prefix(project()).unwrap_or(path).display().to_string();
    all.extend(texts(source).into_iter().map(|text| Literal { file: file.clone(), text }));
}

/// The string literals of a source, with placeholders as `...`.
fn texts(source: &str) -> Vec<String> {
    let code: Vec<&str> = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let mut characters = code.chars().peekable();
    let mut all = Vec::new();
    while let Some(character) = characters.next() {
        match character {
            // A quotation mark as a character, not as the beginning of a text.
            '\'' if characters.peek() == Some(&'"') => {
                characters.next();
            }
            '"' => all.push(placeholders(&literal(&mut characters))),
            _ => {}
        }
    }
    all
}

/// The rest of a literal, up to its closing quotation mark.
fn literal(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(character) = characters.next() {
        match (character, characters.peek().copied()) {
            ('"', _) => break,
            ('\\', Some('\n')) => while characters.next_if(|next| next.is_whitespace()).is_some() {},
            ('\\', Some(escaped)) => {
                characters.next();
                text.push(if escaped == 'n' { '\n' } else { escaped });
            }
            (other, _) => text.push(other),
        }
    }
    text
}

/// A text with `...` for what is filled in.
fn placeholders(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        result.push_str(before);
        match after.split_once('}') {
            Some((_, behind)) => {
                result.push_str("...");
                rest = behind;
            }
            None => rest = after,
        }
    }
    result + rest
}

/// Whether a literal says what is documented: the parts between `...`, in order.
#[must_use]
pub fn says(literal: &str, documented: &str) -> bool {
    let mut rest = literal;
    documented.split("...").map(str::trim).filter(|part| !part.is_empty()).all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_read_with_their_placeholders() {
        let source = "// \"not this\"\nformat!(\"a {} of \\\"{b:?}\\\" \\\n     and on\", '\"', \"c\")";
        assert_eq!(texts(source), ["a ... of \"...\" and on", "c"]);
    }

    #[test]
    fn a_literal_says_its_parts_in_order() {
        assert!(says("done by ... with ...", "done by ... with ..."));
        assert!(says("done by ... with ...", "... with ..."));
        assert!(!says("with ... done by ...", "done by ... with ..."));
    }
}
