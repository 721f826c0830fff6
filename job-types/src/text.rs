//! Texts of strangers, and numbers, in messages.

/// A number with a comma between the thousands, as people read it.
#[must_use]
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Whether a terminal or a page obeys a character in the place of showing it: control characters,
/// and marks that change the direction of the text around them (Unicode's bidirectional ones), by
/// which a name can look like another.
#[must_use]
pub fn is_obeyed(character: char) -> bool {
    let turns = matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || character.is_control()
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_a_cursor_or_turns_the_direction_is_obeyed_and_letters_are_shown() {
        assert!(['\u{1b}', '\n', '\u{9b}', '\u{202e}', '\u{2066}', '\u{200f}'].into_iter().all(is_obeyed));
        assert!(!['a', 'é', 'ש', ' ', '\u{301}'].into_iter().any(is_obeyed));
    }

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([0, 999, 1_000, 17_784, 1_234_567].map(count), ["0", "999", "1,000", "17,784", "1,234,567"]);
    }
}
