//! The budget of evaluation, in steps.

use crate::fault::Fault;

/// How many bytes of a text are gone through in the time of a step, whatever stands in them: about
/// ten nanoseconds, in which a regular expression or a check for UTF-8 goes over so many.
const BYTES: usize = 16;

/// What is left of a budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps(pub u32);

impl Steps {
    /// Takes some away.
    ///
    /// # Errors
    /// [`Fault::Budget`] if there are not so many left.
    pub fn take(&mut self, steps: u32) -> Result<(), Fault> {
        let left = self.0.checked_sub(steps);
        self.0 = left.unwrap_or(0);
        left.map(|_| ()).ok_or(Fault::Budget)
    }

    /// Takes what it is to go through so many bytes once.
    ///
    /// # Errors
    /// [`Fault::Budget`] if there are not so many left.
    pub fn take_for(&mut self, bytes: usize) -> Result<(), Fault> {
        self.take(steps_for(bytes))
    }

    /// A number of bytes that is too many to be gone through with what is left. Who looks at the
    /// length of a text need not look further.
    #[must_use]
    pub fn too_many_bytes(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX).saturating_add(1).saturating_mul(BYTES)
    }
}

/// The steps of going through so many bytes once.
#[must_use]
pub fn steps_for(bytes: usize) -> u32 {
    u32::try_from(bytes / BYTES).unwrap_or(u32::MAX)
}

/// What it is to put a mark in the place of bytes that are not UTF-8, in bytes that are gone
/// through.
pub const WORK_OF_MARK: usize = 64;
