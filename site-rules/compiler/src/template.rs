//! Messages with values in them: `at most {tables.limits[job.partition].nodes} nodes`.

use crate::document::Entry;
use crate::expression::facts::Facts;
use crate::expression::read;
use crate::values::Context;
use site_rules::rules::{Piece, Template};

/// The longest message as it is written, in bytes.
const LONGEST: usize = 1_024;

impl Context<'_> {
    /// A message; `{` and `}` that mean themselves are written twice.
    pub(crate) fn template(&mut self, entry: Entry<'_>, known: &Facts) -> Option<Template> {
        let text = entry.text("a message in quotes")?;
        if text.len() > LONGEST {
            return entry.error(format!("a message has at most {LONGEST} bytes"));
        }
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            let offset = text.len() - rest.len();
            if let Some(after) = rest.strip_prefix("{{").or_else(|| rest.strip_prefix("}}")) {
                plain.push(next);
                rest = after;
                continue;
            }
            match next {
                '{' => {
                    let inner = rest.get(1..).unwrap_or_default();
                    let Some(end) = end_of_expression(inner) else {
                        return entry.document.error(entry.place_in_text(offset), "this { has no }: write {{ for the character itself");
                    };
                    if !plain.is_empty() {
                        pieces.push(self.plain(entry, &std::mem::take(&mut plain))?);
                    }
                    let (expression, after) = inner.split_at(end);
                    let node = match read(expression, self.names, known) {
                        Ok(checked) => checked.node,
                        Err(error) => return entry.document.error(entry.place_in_text(offset + 1 + error.offset), error.message),
                    };
                    pieces.push(Piece::Value(self.add(entry, &node)?));
                    rest = after.strip_prefix('}').unwrap_or(after);
                }
                '}' => return entry.document.error(entry.place_in_text(offset), "this } has no {: write }} for the character itself"),
                _ => {
                    plain.push(next);
                    rest = rest.get(next.len_utf8()..).unwrap_or_default();
                }
            }
        }
        if !plain.is_empty() {
            pieces.push(self.plain(entry, &plain)?);
        }
        Some(Template(pieces))
    }

    fn plain(&mut self, entry: Entry<'_>, text: &str) -> Option<Piece> {
        match self.emitter.text(text) {
            Ok(number) => Some(Piece::Text(number)),
            Err(message) => entry.error(message),
        }
    }
}

/// Returns the place of the brace that ends an expression, past braces in quotes.
fn end_of_expression(text: &str) -> Option<usize> {
    let mut quote = None;
    for (offset, character) in text.char_indices() {
        match (quote, character) {
            (None, '}') => return Some(offset),
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            _ => {}
        }
    }
    None
}
