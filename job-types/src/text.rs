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
    fn thousands_stand_apart() {
        assert_eq!([0, 999, 1_000, 17_784, 1_234_567].map(count), ["0", "999", "1,000", "17,784", "1,234,567"]);
    }
}
