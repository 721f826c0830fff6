//! Memory of a fixed size for the texts that expressions make.

use crate::fault::Fault;
use std::fmt::Write as _;

/// What is left of a piece of memory that texts are put into, one behind the other.
#[derive(Debug)]
pub struct Scratch<'a> {
    rest: &'a mut [u8],
}

impl<'a> Scratch<'a> {
    /// All of `memory`.
    #[must_use]
    pub fn new(memory: &'a mut [u8]) -> Self {
        Scratch { rest: memory }
    }

    /// Texts put behind each other.
    ///
    /// # Errors
    /// [`Fault::TextsTooLong`] if there is no room.
    pub fn joined(&mut self, parts: &[&str]) -> Result<&'a str, Fault> {
        self.filled(|writer| parts.iter().all(|part| writer.write_str(part).is_ok()))
    }

    /// A formatted text.
    ///
    /// # Errors
    /// [`Fault::TextsTooLong`] if there is no room.
    pub fn formatted(&mut self, arguments: std::fmt::Arguments<'_>) -> Result<&'a str, Fault> {
        self.filled(|writer| writer.write_fmt(arguments).is_ok())
    }

    /// A text of which each character of ASCII is changed.
    ///
    /// # Errors
    /// [`Fault::TextsTooLong`] if there is no room.
    pub fn changed(&mut self, text: &str, change: fn(&mut str)) -> Result<&'a str, Fault> {
        let memory = std::mem::take(&mut self.rest);
        if memory.len() < text.len() {
            self.rest = memory;
            return Err(Fault::TextsTooLong);
        }
        let (used, rest) = memory.split_at_mut(text.len());
        self.rest = rest;
        used.copy_from_slice(text.as_bytes());
        let copy = std::str::from_utf8_mut(used).map_err(|_| Fault::Program)?;
        change(copy);
        Ok(copy)
    }

    fn filled(&mut self, fill: impl FnOnce(&mut Writer<'_>) -> bool) -> Result<&'a str, Fault> {
        let memory = std::mem::take(&mut self.rest);
        let mut writer = Writer { memory: &mut *memory, length: 0 };
        let has_room = fill(&mut writer);
        let length = writer.length;
        if !has_room {
            self.rest = memory;
            return Err(Fault::TextsTooLong);
        }
        let (used, rest) = memory.split_at_mut_checked(length).ok_or(Fault::Program)?;
        self.rest = rest;
        std::str::from_utf8(used).map_err(|_| Fault::Program)
    }
}

struct Writer<'m> {
    memory: &'m mut [u8],
    length: usize,
}

impl std::fmt::Write for Writer<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.length.checked_add(text.len()).ok_or(std::fmt::Error)?;
        self.memory.get_mut(self.length..end).ok_or(std::fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_beside_each_other_until_there_is_no_room() {
        let mut memory = [0; 12];
        let mut scratch = Scratch::new(&mut memory);
        let first = scratch.joined(&["ab", "cd"]).unwrap();
        let second = scratch.formatted(format_args!("{}", 12345)).unwrap();
        assert_eq!(scratch.joined(&["1234"]), Err(Fault::TextsTooLong));
        let third = scratch.changed("Ab", str::make_ascii_lowercase).unwrap();
        assert_eq!((first, second, third), ("abcd", "12345", "ab"));
    }
}
