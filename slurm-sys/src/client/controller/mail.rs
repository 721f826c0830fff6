//! How the cluster sends mail.

use std::path::PathBuf;

use super::Answer;
use crate::client::error::ClientError;
use crate::client::value;

/// `MailProg` as slurmctld has it now, which sends a mail when it is run with `-s`, a subject and
/// an address; `None` where there is none.
///
/// # Errors
/// As [`super::jobs`].
pub fn mail_program() -> Result<Option<PathBuf>, ClientError> {
    let answer = Answer::configuration()?;
    // SAFETY: not null (checked by `ask`); the text is null or null-terminated, and copied.
    Ok(unsafe { value::owned_text((*answer.message).mail_prog) }.map(PathBuf::from))
}
