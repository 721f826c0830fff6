//! Descriptors kept back for publishing, where everything else has used up what the process may
//! have.

use std::fs::File;
use std::io;

use nix::errno::Errno;

/// How many are kept: a snapshot in memory, its files and their directory need fewer at once.
const KEPT: usize = 8;

/// Descriptors that stand for nothing until they are needed.
#[derive(Debug, Default)]
pub(crate) struct DescriptorReserve(Vec<File>);

impl DescriptorReserve {
    /// Takes as many as can be had, up to those that are kept.
    pub(crate) fn fill(&mut self) {
        while self.0.len() < KEPT
            && let Ok(file) = File::open("/dev/null")
        {
            self.0.push(file);
        }
    }

    /// Gives all back for a moment.
    pub(crate) fn release(&mut self) {
        self.0.clear();
    }
}

/// Whether there are no descriptors left, in the process or in the whole system.
pub(crate) fn are_used_up(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|number| matches!(Errno::from_raw(number), Errno::EMFILE | Errno::ENFILE))
}
