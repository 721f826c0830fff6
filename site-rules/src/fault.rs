//! What can go wrong while an expression is evaluated.

use thiserror::Error;

/// Why an expression has no value for this job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// The result of an operation on numbers, durations or timestamps is beyond what they hold.
    #[error("a number, duration or timestamp went beyond its range")]
    Overflow,
    /// An integer was divided by zero, or the remainder of such a division was asked for.
    #[error("a division by zero")]
    DivisionByZero,
    /// A value can't be converted, such as the text `12x` to an integer.
    #[error("a value that can't be converted")]
    Conversion,
    /// A number that is none, such as 0.0 / 0.0, was compared with another.
    #[error("a number that is none was compared")]
    NotComparable,
    /// A list or table has no such element.
    #[error("no element at this place or of this name")]
    NoSuchElement,
    /// A value was read that is absent.
    #[error("a value that is absent")]
    Absent,
    /// The job that is to be modified is not known, or not known yet.
    #[error("the job as it is now is not known")]
    CurrentUnknown,
    /// The texts that were made are longer than the memory that evaluation has for them.
    #[error("texts that are too long")]
    TextsTooLong,
    /// The expression, or all rules together, took more steps than they may.
    #[error("more steps than the budget allows")]
    Budget,
    /// The program is not what it was verified to be.
    #[error("an error of queuecast in the compiled rules")]
    Program,
}

impl Fault {
    /// Whether `&&` and `||` may go on in spite of it, as CEL has it: `fault || true` is true. What
    /// bounds evaluation itself ends it.
    #[must_use]
    pub fn can_be_absorbed(self) -> bool {
        !matches!(self, Fault::Budget | Fault::Program | Fault::TextsTooLong)
    }
}
