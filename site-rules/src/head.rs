//! The head that compiled rules and the data beside them have in common in their files: it tells
//! what follows, for which list of fields it was written, and whether it is damaged.

use crate::field::{FIELDS, Field};
use thiserror::Error;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Bytes of the head: the first bytes, the layout, a number that is 0, the fields' fingerprint and
/// the checksum of what follows.
const LENGTH: usize = 32;

/// A kind of file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// The first bytes.
    pub(crate) magic: [u8; 8],
    /// Changes whenever what follows is kept in another form.
    pub(crate) layout: u32,
    /// The largest file, in bytes.
    pub(crate) largest: usize,
}

/// Why a file is not one of that kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum HeadError {
    /// It does not begin as such a file does.
    #[error("it does not begin as such a file does")]
    Other,
    /// It was written by another release.
    #[error("it was written by a release that keeps it in layout {0}")]
    Layout(u32),
    /// It refers to another list of fields.
    #[error("it was written by a release that knows other fields")]
    Fields,
    /// It is damaged.
    #[error("it is damaged: its checksum is wrong")]
    Checksum,
    /// It is too large.
    #[error("it takes more than {0} bytes")]
    TooLarge(usize),
}

/// A number that tells lists of fields apart by their names and kinds, and by which may be written.
#[must_use]
pub fn fingerprint(fields: &[Field]) -> u64 {
    let mut hash = Xxh3::new();
    for field in fields {
        hash.update(field.name.as_bytes());
        hash.update(&[0, field.kind as u8, u8::from(field.may_be_absent), u8::from(field.is_writable)]);
    }
    hash.digest()
}

impl Head {
    /// How many bytes may follow the head.
    pub(crate) const fn most(&self) -> usize {
        self.largest.saturating_sub(LENGTH)
    }

    /// The file with this content.
    ///
    /// # Errors
    /// Where it is too large.
    pub(crate) fn sealed(&self, content: &[u8]) -> Result<Vec<u8>, HeadError> {
        if content.len() > self.most() {
            return Err(HeadError::TooLarge(self.largest));
        }
        let mut bytes = Vec::with_capacity(LENGTH + content.len());
        bytes.extend(self.magic);
        bytes.extend(self.layout.to_le_bytes());
        bytes.extend(0_u32.to_le_bytes());
        bytes.extend(fingerprint(FIELDS).to_le_bytes());
        bytes.extend(xxh3_64(content).to_le_bytes());
        bytes.extend(content);
        Ok(bytes)
    }

    /// The content of a file.
    ///
    /// # Errors
    /// Where it is not of this kind and layout, or damaged.
    pub(crate) fn content<'b>(&self, bytes: &'b [u8]) -> Result<&'b [u8], HeadError> {
        if bytes.len() > self.largest {
            return Err(HeadError::TooLarge(self.largest));
        }
        let (head, content) = bytes.split_first_chunk::<LENGTH>().ok_or(HeadError::Other)?;
        let number = |from: usize| head.get(from..from + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes);
        if !head.starts_with(&self.magic) {
            return Err(HeadError::Other);
        }
        let layout = number(8);
        if layout != u64::from(self.layout) {
            return Err(HeadError::Layout(u32::try_from(layout & u64::from(u32::MAX)).unwrap_or(u32::MAX)));
        }
        if number(16) != fingerprint(FIELDS) {
            return Err(HeadError::Fields);
        }
        if number(24) != xxh3_64(content) {
            return Err(HeadError::Checksum);
        }
        Ok(content)
    }

    /// The content of a file that was taken already.
    pub(crate) fn unchecked_content<'b>(&self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        bytes.get(LENGTH..)
    }
}
