//! Regular expressions, in the syntax of the crate `regex`, compiled to automata.

use regex_automata::dfa::StartKind;
use regex_automata::dfa::dense;
use regex_automata::nfa::thompson;
use regex_syntax::hir::{Capture, Hir, HirKind, Look, Repetition};
use site_rules::pattern::Pattern;

/// The most bytes of an automaton.
const LARGEST: usize = 4 << 20;

/// The most bytes of what an automaton is made of, so that `((a{999}){999}){999}` is refused early.
const LARGEST_SOURCE: usize = 1 << 20;

/// Compiles a regular expression to an automaton. `\b` and its like count letters, digits and `_`
/// of ASCII as parts of words, as an automaton can't know those of Unicode.
///
/// # Errors
/// Says what is wrong with it.
pub fn pattern(source: &str) -> Result<Pattern, String> {
    let wrong = |reason: String| format!("the regular expression {source:?} can't be used: {reason}");
    let parsed = regex_syntax::parse(source).map_err(|error| {
        let said = error.to_string();
        wrong(said.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned())
    })?;
    let too_large = |_| wrong("it is too large; \\w and the like are smaller as (?-u:\\w), which are of ASCII".to_owned());
    let nfa = thompson::Compiler::new()
        .configure(thompson::Config::new().nfa_size_limit(Some(LARGEST_SOURCE)))
        .build_from_hir(&with_ascii_words(parsed))
        .map_err(|error| too_large(error.to_string()))?;
    let configuration =
        dense::Config::new().dfa_size_limit(Some(LARGEST)).determinize_size_limit(Some(4 * LARGEST)).start_kind(StartKind::Unanchored);
    let automaton = dense::Builder::new().configure(configuration).build_from_nfa(&nfa).map_err(|error| too_large(error.to_string()))?;
    let (bytes, padding) = automaton.to_bytes_native_endian();
    Pattern::from_bytes(bytes.get(padding..).unwrap_or_default()).map_err(|error| error.to_string())
}

/// Replaces ends of words by those of ASCII.
fn with_ascii_words(hir: Hir) -> Hir {
    let all = |hirs: Vec<Hir>| hirs.into_iter().map(with_ascii_words).collect();
    match hir.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(class) => Hir::class(class),
        HirKind::Look(look) => Hir::look(match look {
            Look::WordUnicode => Look::WordAscii,
            Look::WordUnicodeNegate => Look::WordAsciiNegate,
            Look::WordStartUnicode => Look::WordStartAscii,
            Look::WordEndUnicode => Look::WordEndAscii,
            Look::WordStartHalfUnicode => Look::WordStartHalfAscii,
            Look::WordEndHalfUnicode => Look::WordEndHalfAscii,
            other => other,
        }),
        HirKind::Repetition(Repetition { min, max, greedy, sub }) => {
            Hir::repetition(Repetition { min, max, greedy, sub: Box::new(with_ascii_words(*sub)) })
        }
        HirKind::Capture(Capture { index, name, sub }) => Hir::capture(Capture { index, name, sub: Box::new(with_ascii_words(*sub)) }),
        HirKind::Concat(hirs) => Hir::concat(all(hirs)),
        HirKind::Alternation(hirs) => Hir::alternation(all(hirs)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn patterns_are_found_anywhere() {
        for (source, found, missed) in [
            ("^gpu[0-9]+$", "gpu12", "xgpu12"),
            (r"\bcuda\b", "with cuda and more", "barracuda"),
            (r"(?m)^\s*(srun|mpirun)\b", "#!/bin/sh\n  srun ./a", "#!/bin/sh\necho srun"),
            (r"(?i)gpu", "My-GPU", "cpu"),
            (r"^\w+@\w+\.\w{2,10}$", "ann@example.org", "ann at example.org"),
            ("é+", "éé", "ee"),
        ] {
            let pattern = pattern(source).unwrap();
            assert!(pattern.is_in(found) && !pattern.is_in(missed), "{source}");
        }
    }

    #[test]
    fn what_is_wrong_or_too_large_is_refused() {
        for (source, reason) in [
            ("(", "unclosed group"),
            ("a{999}{999}", "too large"),
            ("(a|b)*a(a|b){20}", "too large"),
            (r"(a)\1", "backreferences are not supported"),
        ] {
            let error = pattern(source).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
