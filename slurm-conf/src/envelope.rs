//! The envelope of files in the state directory whose content is for queuecast's own programs
//! alone. It tells what kind of file it is, by which release it was written and whether it is
//! damaged.
//!
//! The content begins behind a head of [`HEAD_BYTES`]: 8 bytes that name the kind, the layout as a
//! number of 4 bytes, 4 bytes that are 0, the fingerprint of what the content refers to, and the
//! XXH3-64 checksum of the content. Numbers are little-endian.

use crate::trusted::read_owned;
use std::io;
use std::path::Path;
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

/// The length of the head in bytes.
pub const HEAD_BYTES: usize = 32;

/// A kind of file.
#[derive(Clone, Copy, Debug)]
pub struct Envelope {
    magic: [u8; 8],
    layout: u32,
    fingerprint: u64,
    largest: usize,
}

/// Why a file is not one of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EnvelopeError {
    /// The file does not begin as a file of that kind does.
    #[error("it does not begin as such a file does")]
    Other,
    /// The file was written by another release.
    #[error("it was written by a release that keeps it in layout {0}")]
    Layout(u32),
    /// The file's content refers to what is not the same here.
    #[error("it was written by another release")]
    Fingerprint,
    /// The file is damaged.
    #[error("it is damaged: its checksum is wrong")]
    Checksum,
    /// The file is too large.
    #[error("it takes more than {0} bytes")]
    TooLarge(usize),
}

impl Envelope {
    /// The kind of file that begins with `magic`, of at most `largest` bytes. `layout` changes
    /// whenever the content is kept in another form.
    #[must_use]
    pub const fn new(magic: [u8; 8], layout: u32, largest: usize) -> Envelope {
        Envelope { magic, layout, fingerprint: 0, largest }
    }

    /// Returns the kind of file with a fingerprint of what its content refers to. The content means
    /// something only if that has the same fingerprint.
    #[must_use]
    pub const fn referring_to(self, fingerprint: u64) -> Envelope {
        Envelope { fingerprint, ..self }
    }

    /// How many bytes a file may have.
    #[must_use]
    pub const fn largest(&self) -> usize {
        self.largest
    }

    /// How many bytes a content may have.
    #[must_use]
    pub const fn most(&self) -> usize {
        self.largest.saturating_sub(HEAD_BYTES)
    }

    /// The head of a content with this checksum.
    #[must_use]
    pub fn head(&self, checksum: u64) -> [u8; HEAD_BYTES] {
        let mut head = [0; HEAD_BYTES];
        let numbers = [u64::from_le_bytes(self.magic), self.layout.into(), self.fingerprint, checksum];
        for (place, number) in head.as_chunks_mut::<8>().0.iter_mut().zip(numbers) {
            *place = number.to_le_bytes();
        }
        head
    }

    /// The file with this content.
    ///
    /// # Errors
    /// [`EnvelopeError::TooLarge`].
    pub fn sealed(&self, content: &[u8]) -> Result<Vec<u8>, EnvelopeError> {
        if content.len() > self.most() {
            return Err(EnvelopeError::TooLarge(self.largest));
        }
        Ok([self.head(xxh3_64(content)).as_slice(), content].concat())
    }

    /// The content of a file.
    ///
    /// # Errors
    /// Where it is not of this kind and layout, refers to something else, or is damaged.
    pub fn content<'b>(&self, bytes: &'b [u8]) -> Result<&'b [u8], EnvelopeError> {
        if bytes.len() > self.largest {
            return Err(EnvelopeError::TooLarge(self.largest));
        }
        let (head, content) = bytes.split_first_chunk::<HEAD_BYTES>().ok_or(EnvelopeError::Other)?;
        let Ok([magic, layout, fingerprint, checksum]) = <[[u8; 8]; 4]>::try_from(head.as_chunks::<8>().0) else {
            return Err(EnvelopeError::Other);
        };
        if magic != self.magic {
            return Err(EnvelopeError::Other);
        }
        let layout = u64::from_le_bytes(layout);
        if layout != u64::from(self.layout) {
            return Err(EnvelopeError::Layout(u32::try_from(layout & u64::from(u32::MAX)).unwrap_or(u32::MAX)));
        }
        if u64::from_le_bytes(fingerprint) != self.fingerprint {
            return Err(EnvelopeError::Fingerprint);
        }
        if u64::from_le_bytes(checksum) != xxh3_64(content) {
            return Err(EnvelopeError::Checksum);
        }
        Ok(content)
    }

    /// Reads the content of a file that [`read_owned`] reads; `None` where it is none of this kind
    /// and release, or damaged. The daemon writes over some files, so that a look that comes in
    /// between is taken again.
    ///
    /// # Errors
    /// As [`read_owned`].
    pub fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        self.read_by(|| read_owned(path, self.largest))
    }

    fn read_by(&self, look: impl Fn() -> io::Result<Vec<u8>>) -> io::Result<Option<Vec<u8>>> {
        let content = |bytes: Vec<u8>| self.content(&bytes).map(<[u8]>::to_vec).ok();
        match content(look()?) {
            Some(content) => Ok(Some(content)),
            None => look().map(content),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::cell::Cell;

    const KIND: Envelope = Envelope::new(*b"QCTEST01", 3, 100);

    #[test]
    fn what_was_sealed_is_read_and_any_other_byte_or_length_is_not() {
        let bytes = KIND.sealed(b"content").unwrap();
        assert_eq!(KIND.content(&bytes), Ok(b"content".as_slice()));
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 1;
            assert!(KIND.content(&changed).is_err(), "byte {place}");
            assert!(KIND.content(&bytes[..place]).is_err(), "{place} bytes");
        }
        assert_eq!(KIND.content(&[0; 101]), Err(EnvelopeError::TooLarge(100)));
        assert_eq!((KIND.most(), KIND.sealed(&[0; 69])), (68, Err(EnvelopeError::TooLarge(100))));
    }

    #[test]
    fn another_kind_layout_or_fingerprint_is_told_from_damage() {
        let bytes = KIND.sealed(b"content").unwrap();
        assert_eq!(Envelope::new(*b"QCTEST02", 3, 100).content(&bytes), Err(EnvelopeError::Other));
        assert_eq!(Envelope::new(*b"QCTEST01", 4, 100).content(&bytes), Err(EnvelopeError::Layout(3)));
        assert_eq!(KIND.referring_to(7).content(&bytes), Err(EnvelopeError::Fingerprint));
        let mut damaged = bytes.clone();
        damaged[38] ^= 1;
        assert_eq!(KIND.content(&damaged), Err(EnvelopeError::Checksum));
    }

    #[test]
    fn a_file_that_is_just_being_written_is_looked_at_again() {
        let whole = KIND.sealed(b"content").unwrap();
        let looks = Cell::new(0);
        let look = || Ok(whole[..if looks.replace(looks.get() + 1) == 0 { 20 } else { whole.len() }].to_vec());
        assert_eq!(KIND.read_by(look).unwrap().unwrap(), b"content");
        assert_eq!(KIND.read_by(|| Ok(vec![1; 40])).unwrap(), None);
    }
}
