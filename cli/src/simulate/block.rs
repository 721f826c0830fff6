//! Blocks, as users write them.

use job_types::time::{Seconds, UnixTime};
use simulator::engine::Block;

/// Reads a block: `START-END:PROCESSORS` in hours, as in `24-48:64`. The times are seconds since
/// the first submission.
pub(super) fn block(text: &str) -> Result<Block, String> {
    let parts = text.split_once(':').and_then(|(hours, processors)| {
        let (start, end) = hours.split_once('-')?;
        Some((start.parse::<f64>().ok()?, end.parse::<f64>().ok()?, processors.parse::<u32>().ok()?))
    });
    match parts {
        Some((start, end, processors)) if 0.0 <= start && start < end && end < 1e9 => {
            Ok(Block { start: UnixTime((start * 3_600.0) as i64), end: UnixTime((end * 3_600.0) as i64), processors })
        }
        _ => Err("a block is START-END:PROCESSORS, in hours since the first submission, as in 24-48:64".to_owned()),
    }
}

/// The blocks in the log's own time.
pub(super) fn from(begin: UnixTime, blocks: &[Block]) -> Vec<Block> {
    let moved = |at: UnixTime| begin + Seconds(at.0);
    let moved = |block: &Block| Block { start: moved(block.start), end: moved(block.end), processors: block.processors };
    blocks.iter().map(moved).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_a_time_and_a_size() {
        assert_eq!(block("1-2.5:8"), Ok(Block { start: UnixTime(3_600), end: UnixTime(9_000), processors: 8 }));
        for wrong in ["", "1-2", "2-1:8", "1-2:x", "-1-2:8", "a-b:8"] {
            assert!(block(wrong).is_err(), "{wrong}");
        }
        assert_eq!(from(UnixTime(100), &[block("0-1:2").unwrap()])[0].start, UnixTime(100));
    }
}
