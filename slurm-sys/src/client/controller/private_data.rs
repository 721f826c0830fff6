//! What users may not see of each other.

use super::Answer;
use crate::client::error::ClientError;
use crate::client::start::PrivateData;

/// `PrivateData` as slurmctld has it now.
///
/// # Errors
/// As [`super::jobs`].
pub fn private_data() -> Result<PrivateData, ClientError> {
    let answer = Answer::configuration()?;
    // SAFETY: not null (checked by `ask`).
    Ok(PrivateData::from_raw(unsafe { (*answer.message).private_data }.into()))
}
