//! Puts the sections of a snapshot together, with its header and its checksum.

use job_types::time::UnixTime;
use predictor_core::snapshot::layout::sections::{SECTIONS, Sections};
use predictor_core::snapshot::layout::{CHECKSUM_AT, Header, LAYOUT_VERSION, MAGIC, SectionRecord, checksum};
use zerocopy::IntoBytes;

/// The bytes of a snapshot of these sections.
pub(super) fn assemble(generation: u64, published_at: UnixTime, sections: &Sections<'_>) -> Vec<u8> {
    let sections = sections.bytes();
    let mut offset = size_of::<Header>() + SECTIONS.len() * size_of::<SectionRecord>();
    let length = offset + sections.iter().map(|section| section.len()).sum::<usize>();
    let header = Header {
        magic: MAGIC,
        version: LAYOUT_VERSION.into(),
        sections: (SECTIONS.len() as u32).into(),
        generation: generation.into(),
        published_at: published_at.0.into(),
        length: (length as u64).into(),
        checksum: 0.into(),
    };
    let mut snapshot = Vec::with_capacity(length);
    snapshot.extend_from_slice(header.as_bytes());
    for (shape, section) in SECTIONS.into_iter().zip(sections) {
        let record = SectionRecord {
            number: shape.number.into(),
            record_size: (shape.record_size as u32).into(),
            offset: (offset as u64).into(),
            count: ((section.len() / shape.record_size) as u64).into(),
        };
        snapshot.extend_from_slice(record.as_bytes());
        offset += section.len();
    }
    for section in sections {
        snapshot.extend_from_slice(section);
    }
    let checksum = checksum(&snapshot);
    if let Some(place) = snapshot.get_mut(CHECKSUM_AT) {
        place.copy_from_slice(&checksum.to_le_bytes());
    }
    snapshot
}
