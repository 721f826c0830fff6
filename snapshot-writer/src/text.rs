//! The section of texts, which other records refer to.

use predictor_core::snapshot::layout::TextRecord;

/// The texts of a snapshot that is being written, one after the other.
#[derive(Default)]
pub(super) struct Text(Vec<u8>);

impl Text {
    /// Adds a text, and says where it lies.
    pub(super) fn add(&mut self, text: &str) -> TextRecord {
        let offset = self.0.len() as u32;
        self.0.extend_from_slice(text.as_bytes());
        TextRecord { offset: offset.into(), length: (text.len() as u32).into() }
    }
    /// The bytes of the section.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}
