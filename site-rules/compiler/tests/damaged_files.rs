//! No file makes a plugin panic, whatever stands in it.

#![allow(clippy::unwrap_used)]

mod fifty;

use proptest::prelude::*;
use site_rules::file::{decode, encode};
use std::sync::LazyLock;
use xxhash_rust::xxh3::xxh3_64;

static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| encode(&fifty::rules()).unwrap());

/// The bytes of the checksum, behind which the rules stand.
const CHECKSUM: std::ops::Range<usize> = 24..32;

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_rules_with_a_right_checksum_are_refused_or_applied(
        changes in proptest::collection::vec((any::<u32>(), any::<u8>()), 1..4),
        cut in proptest::option::weighted(0.1, any::<u32>()),
    ) {
        let mut bytes = BYTES.clone();
        let place = |number: u32, length: usize| CHECKSUM.end + usize::try_from(number).unwrap() % (length - CHECKSUM.end);
        for (at, byte) in changes {
            let at = place(at, bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(place(cut, bytes.len()));
        }
        let checksum = xxh3_64(&bytes[CHECKSUM.end..]);
        bytes[CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
        if let Ok(rules) = decode(&bytes) {
            let mut memory = site_rules::scratch::Memory::default();
            fifty::apply_any(&rules, &mut memory);
        }
    }

    #[test]
    fn any_bytes_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(decode(&bytes).is_err());
    }
}
