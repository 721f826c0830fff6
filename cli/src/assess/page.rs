//! What all pages of the report have: their style, and how text is written in them.

use job_types::text::is_obeyed;

/// Text as HTML shows it.
pub(super) fn escaped(text: impl AsRef<str>) -> String {
    let mut escaped = String::with_capacity(text.as_ref().len());
    let mut rest = text.as_ref().chars();
    let mut last = ' ';
    while let Some(character) = rest.next() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // A figure and its sign or unit stay in a line.
            ' ' if rest.as_str().starts_with('%') || last.is_ascii_digit() && is_unit(rest.as_str()) => escaped.push('\u{a0}'),
            // What is obeyed and not shown has no place in a page.
            obeyed if is_obeyed(obeyed) && obeyed != '\n' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
        last = character;
    }
    escaped
}

/// Whether a text begins with the unit of a time.
fn is_unit(text: &str) -> bool {
    let word = text.split(|character: char| !character.is_ascii_alphabetic()).next().unwrap_or_default();
    ["s", "min", "h", "days"].contains(&word)
}

/// The style of the page, in light and dark and on paper.
pub(super) const STYLE: &str = "\
:root { color-scheme: light dark; --text: #1c2126; --soft: #59636e; --line: #d5dbe1; --back: #ffffff; --box: #f5f7f9;
  --good: #0b7a53; --some: #9a6700; --bad: #a8322a; --open: #47617d; --heat: #d55e00; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e8ec; --soft: #a1abb5; --line: #39424b; --back: #14181c;
  --box: #1d2329; --good: #4cc38a; --some: #e0ad4c; --bad: #f0857b; --open: #8fb3d9; --heat: #e07a2e; }
  figure svg { filter: invert(0.91) hue-rotate(180deg); } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1.2rem 1.2rem 4rem; }
h1 { font-size: 1.25rem; margin: 0; } h2 { font-size: 1.3rem; margin: 2.4rem 0 0.5rem; } h3 { font-size: 1rem; margin: 1rem 0 0.2rem; }
.rests { color: var(--soft); margin: 0.1rem 0 1rem; }
.verdict { background: var(--box); border-left: 0.4rem solid var(--open); border-radius: 0.3rem; padding: 1rem 1.2rem; }
.verdict h2 { font-size: 1.6rem; margin: 0 0 0.3rem; color: var(--open); } .verdict p { margin: 0.3rem 0; font-size: 1.06rem; }
.pays { border-color: var(--good); } .pays h2 { color: var(--good); }
.partly { border-color: var(--some); } .partly h2 { color: var(--some); }
.not { border-color: var(--bad); } .not h2 { color: var(--bad); }
.findings { display: grid; grid-template-columns: repeat(auto-fit, minmax(19rem, 1fr)); gap: 0.8rem; margin: 1rem 0 0; }
.findings div { background: var(--back); border: 1px solid var(--line); border-radius: 0.3rem; padding: 0.6rem 0.8rem; }
dt { color: var(--soft); font-size: 0.9rem; } dd { margin: 0; font-size: 0.88rem; } .figure { font-size: 1.5rem; font-weight: 600; }
.findings table { font-size: 0.84rem; margin-top: 0.3rem; width: 100%; } .findings th, .findings td { padding: 0.15rem 0 0.15rem 0.6rem; }
.findings thead th { font-weight: 400; color: var(--soft); } .findings tbody th { min-width: 0; padding-left: 0; overflow-wrap: normal; }
.findings tr:last-child > * { border-bottom: 0; }
ul { padding-left: 1.2rem; margin: 0.3rem 0; } li { margin: 0.25rem 0; } .verdict li { font-size: 0.93rem; }
nav { display: flex; flex-wrap: wrap; gap: 0.3rem 1.2rem; margin: 1rem 0; } nav a, a { color: var(--open); }
.scrolls { overflow-x: auto; margin: 1rem 0; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.92rem; }
caption { text-align: left; color: var(--soft); padding-bottom: 0.3rem; }
th, td { padding: 0.22rem 0.7rem; border-bottom: 1px solid var(--line); text-align: right; } th { font-weight: 600; }
th:first-child { text-align: left; } tbody th { font-weight: 400; overflow-wrap: anywhere; min-width: 8rem; }
td { white-space: nowrap; }
.shaded { background: color-mix(in srgb, var(--heat) var(--shade), transparent); }
figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; } figcaption { color: var(--soft); font-size: 0.92rem; }
@media print { main { max-width: none; padding: 0; } nav { display: none; } figure, tr, .verdict, .findings div { break-inside: avoid; }
  h2 { break-after: avoid; } .scrolls { overflow: visible; } .shaded, .verdict { print-color-adjust: exact; } }
";
