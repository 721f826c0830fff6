//! Blocks, as users write them.

use command_parts::duration;
use job_types::time::{Seconds, UnixTime};
use simulator::engine::Block;
use slurm_conf::duration::DAY_SECONDS;

/// Longer than any log.
pub(super) const LONGEST_LOG: Seconds = Seconds(1_000 * 365 * DAY_SECONDS);

/// Reads a block: `START-END:PROCESSORS`, as in `24h-2d:64`. The times are seconds since the first
/// submission.
pub(super) fn block(text: &str) -> Result<Block, String> {
    let parts = text.rsplit_once(':').and_then(|(times, processors)| {
        let (start, end) = duration::range(times).filter(|(_, end)| *end < LONGEST_LOG)?;
        Some(Block { start: UnixTime(start.0), end: UnixTime(end.0), processors: processors.parse().ok()? })
    });
    parts.ok_or_else(|| "a block is START-END:PROCESSORS, counted from the first submission, as in 24h-2d:64".to_owned())
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
        assert_eq!(block("1h-2h30m:8"), Ok(Block { start: UnixTime(3_600), end: UnixTime(9_000), processors: 8 }));
        for wrong in ["", "1h-2h", "2h-1h:8", "1h-2h:x", "-1h-2h:8", "a-b:8"] {
            assert!(block(wrong).is_err(), "{wrong}");
        }
        assert_eq!(from(UnixTime(100), &[block("0-1h:2").unwrap()])[0].start, UnixTime(100));
    }
}
