//! Memory of a fixed size for the texts that expressions make.

use crate::fault::Fault;
use std::fmt::Write as _;

/// What [`Memory`] has at once, in bytes: little enough that a thread's stack, of which Slurm keeps
/// 16 KiB from one request to the next, does not grow by it.
const AT_ONCE: usize = 2 << 10;

/// What it has beyond that, in bytes; as much again is for rules that are only observed.
const BEYOND: usize = 64 << 10;

/// Memory for the texts of one request. What most requests need is on the stack; only for more than
/// that is anything allocated, once. Rules that are only observed have none on the stack: what they
/// need is allocated, once as well.
#[derive(Debug)]
pub struct Memory {
    at_once: [u8; AT_ONCE],
    beyond: Option<Box<[u8]>>,
    /// Memory of rules that are only observed, so that they take nothing from the others.
    observed: Option<Box<[u8]>>,
}

impl Default for Memory {
    fn default() -> Self {
        Memory { at_once: [0; AT_ONCE], beyond: None, observed: None }
    }
}

/// What is left of a piece of memory that texts are put into, one behind the other.
#[derive(Debug)]
pub struct Scratch<'a> {
    rest: &'a mut [u8],
    beyond: Option<&'a mut Option<Box<[u8]>>>,
}

impl<'a> Scratch<'a> {
    /// All of `memory` but what is for rules that are only observed.
    #[must_use]
    pub fn new(memory: &'a mut Memory) -> Self {
        Scratch::pair(memory).0
    }

    /// All of `memory`: for the rules that apply, and for those that are only observed.
    #[must_use]
    pub fn pair(memory: &'a mut Memory) -> (Self, Self) {
        let applied = Scratch { rest: &mut memory.at_once, beyond: Some(&mut memory.beyond) };
        (applied, Scratch { rest: &mut [], beyond: Some(&mut memory.observed) })
    }

    /// All of `memory`, and nothing beyond it.
    #[must_use]
    pub fn within(memory: &'a mut [u8]) -> Self {
        Scratch { rest: memory, beyond: None }
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
        let used = self.bytes(text.len())?;
        used.copy_from_slice(text.as_bytes());
        let copy = std::str::from_utf8_mut(used).map_err(|_| Fault::Program)?;
        change(copy);
        Ok(copy)
    }

    /// A text in which each `old` is replaced by `new`; where `old` is empty, `new` is put around
    /// all characters.
    ///
    /// # Errors
    /// [`Fault::TextsTooLong`] if there is no room.
    pub fn replaced(&mut self, text: &str, old: &str, new: &str) -> Result<&'a str, Fault> {
        if old.is_empty() {
            return self.listed(|| text.split(old), new);
        }
        // The search takes linear time whatever stands in both, unlike `str::split`.
        let finder = memchr::memmem::Finder::new(old);
        let parts = || {
            let ends = finder.find_iter(text.as_bytes()).chain([text.len()]);
            ends.scan(0, |begin, end| {
                let part = text.get(*begin..end);
                *begin = end.saturating_add(old.len());
                part
            })
        };
        self.listed(parts, new)
    }

    /// Texts with a separator between them.
    ///
    /// # Errors
    /// [`Fault::TextsTooLong`] if there is no room.
    pub fn listed<'t, T: Iterator<Item = &'t str>>(&mut self, texts: impl Fn() -> T, separator: &str) -> Result<&'a str, Fault> {
        self.filled(|writer| {
            texts().enumerate().all(|(place, text)| {
                let before = if place == 0 { "" } else { separator };
                writer.write_str(before).is_ok() && writer.write_str(text).is_ok()
            })
        })
    }

    /// Takes `length` bytes, to be filled bit by bit.
    ///
    /// # Errors
    /// [`Fault::TextsTooLong`] if there is no room.
    pub(crate) fn bytes(&mut self, length: usize) -> Result<&'a mut [u8], Fault> {
        if self.rest.len() < length {
            self.go_beyond()?;
        }
        let memory = std::mem::take(&mut self.rest);
        if memory.len() < length {
            self.rest = memory;
            return Err(Fault::TextsTooLong);
        }
        let (bytes, rest) = memory.split_at_mut(length);
        self.rest = rest;
        Ok(bytes)
    }

    fn filled(&mut self, fill: impl Fn(&mut Writer<'_>) -> bool) -> Result<&'a str, Fault> {
        let length = match self.try_to_fill(&fill) {
            Some(length) => length,
            None => {
                self.go_beyond()?;
                self.try_to_fill(&fill).ok_or(Fault::TextsTooLong)?
            }
        };
        let memory = std::mem::take(&mut self.rest);
        let (used, rest) = memory.split_at_mut_checked(length).ok_or(Fault::Program)?;
        self.rest = rest;
        std::str::from_utf8(used).map_err(|_| Fault::Program)
    }

    /// How many bytes were filled; `None` where there was no room.
    fn try_to_fill(&mut self, fill: impl Fn(&mut Writer<'_>) -> bool) -> Option<usize> {
        let mut writer = Writer { memory: &mut *self.rest, length: 0 };
        fill(&mut writer).then_some(writer.length)
    }

    /// Goes on in the memory beyond, if that was not done yet.
    fn go_beyond(&mut self) -> Result<(), Fault> {
        let beyond = self.beyond.take().ok_or(Fault::TextsTooLong)?;
        self.rest = beyond.insert(vec![0; BEYOND].into_boxed_slice());
        Ok(())
    }
}

/// Texts that are collected one by one: behind each stands the same byte.
#[derive(Debug, Default)]
pub(crate) struct Collected<'a> {
    memory: &'a mut [u8],
    length: usize,
}

impl<'a> Collected<'a> {
    /// Puts a text behind the others. Where there is no room, all of them go into twice the memory,
    /// so that what is collected takes at most four times its length.
    ///
    /// # Errors
    /// [`Fault::TextsTooLong`] if there is none, and [`Fault::Conversion`] for a text that has the
    /// byte in it.
    pub(crate) fn push(&mut self, text: &str, end: u8, scratch: &mut Scratch<'a>) -> Result<(), Fault> {
        const FIRST: usize = 64;
        if text.as_bytes().contains(&end) {
            return Err(Fault::Conversion);
        }
        let length = self.length.saturating_add(text.len()).saturating_add(1);
        if length > self.memory.len() {
            let more = length.max(self.memory.len().saturating_mul(2)).max(FIRST);
            let memory = scratch.bytes(more).or_else(|_| scratch.bytes(length))?;
            let collected = self.memory.get(..self.length).ok_or(Fault::Program)?;
            memory.get_mut(..self.length).ok_or(Fault::Program)?.copy_from_slice(collected);
            self.memory = memory;
        }
        let place = self.memory.get_mut(self.length..length).ok_or(Fault::Program)?;
        let (last, behind) = place.split_last_mut().ok_or(Fault::Program)?;
        behind.copy_from_slice(text.as_bytes());
        *last = end;
        self.length = length;
        Ok(())
    }

    /// All that was collected.
    ///
    /// # Errors
    /// [`Fault::Program`] if these are no texts, which can't be.
    pub(crate) fn finish(self) -> Result<&'a str, Fault> {
        let bytes: &'a [u8] = self.memory;
        std::str::from_utf8(bytes.get(..self.length).ok_or(Fault::Program)?).map_err(|_| Fault::Program)
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
        let mut scratch = Scratch::within(&mut memory);
        let first = scratch.joined(&["ab", "cd"]).unwrap();
        let second = scratch.formatted(format_args!("{}", 12345)).unwrap();
        assert_eq!(scratch.joined(&["1234"]), Err(Fault::TextsTooLong));
        let third = scratch.changed("Ab", str::make_ascii_lowercase).unwrap();
        assert_eq!((first, second, third), ("abcd", "12345", "ab"));
    }

    #[test]
    fn texts_are_collected_while_others_are_made() {
        let mut memory = [0; 1_000];
        let mut scratch = Scratch::within(&mut memory);
        let (mut one, mut other) = (Collected::default(), Collected::default());
        for number in 0..20 {
            let text = scratch.formatted(format_args!("{number}")).unwrap();
            one.push(text, b',', &mut scratch).unwrap();
            other.push("é", 0, &mut scratch).unwrap();
        }
        assert_eq!(one.push("a,b", b',', &mut scratch), Err(Fault::Conversion));
        assert_eq!(one.push(&"x".repeat(1_000), b',', &mut scratch), Err(Fault::TextsTooLong));
        assert_eq!(one.finish(), Ok("0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,"));
        assert_eq!(other.finish(), Ok("é\0".repeat(20).as_str()));
    }

    #[test]
    fn texts_that_are_too_long_for_the_stack_go_on_beyond_it_and_no_further() {
        let mut memory = Memory::default();
        let mut scratch = Scratch::new(&mut memory);
        let first = scratch.joined(&["ab"]).unwrap();
        let long = "A".repeat(AT_ONCE);
        let second = scratch.changed(&long, str::make_ascii_lowercase).unwrap();
        let third = scratch.joined(&[&long, "c"]).unwrap();
        assert_eq!((first, second.len(), third.len()), ("ab", AT_ONCE, AT_ONCE + 1));
        assert_eq!(scratch.joined(&[&"d".repeat(BEYOND)]), Err(Fault::TextsTooLong));
        assert_eq!(scratch.joined(&["e"]), Ok("e"));
    }
}
