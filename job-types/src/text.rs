//! Texts of strangers in messages.

/// The beginning of a text, for a message: no message grows with what was given.
#[must_use]
pub fn shortened(text: &str) -> String {
    const MOST_CHARACTERS: usize = 48;
    let mut characters = text.chars();
    let mut start: String = characters.by_ref().take(MOST_CHARACTERS).collect();
    if characters.next().is_some() {
        start.push('…');
    }
    start
}
