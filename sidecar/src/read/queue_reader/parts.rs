//! What goes between the daemon and the process that reads jobs: frames, each with its length in
//! front.

use std::io::{self, Read, Write};

use job_types::number::JobId;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use slurm_sys::client::ClientError;
use slurm_sys::client::controller::{DescribedJob, KnownJob, QueuedJob};

/// The longest frame, in bytes: a described job whose texts are all as long as they may be has less
/// than 2 MiB.
const LONGEST: usize = 4 << 20;

/// What is asked.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// All jobs.
    Queue {
        /// Whether those that wait or run are wanted as they were described, too.
        is_described: bool,
    },
    /// What is known of one number.
    Job(JobId),
}

/// A part of an answer; [`Part::End`] or [`Part::Failed`] is the last.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Part {
    /// A job of the queue.
    Job(Box<QueuedJob>),
    /// A job as it was described.
    Described(Box<DescribedJob>),
    /// A record under a number.
    Known(Box<KnownJob>),
    /// The answer is complete.
    End {
        /// When slurmctld answered, by its clock; `None` if it told no time.
        answered_at: Option<i64>,
        /// Whether the process ends now.
        leaves: bool,
    },
    /// There is no answer.
    Failed {
        /// Why.
        failed: Failed,
        /// Whether the process ends now.
        leaves: bool,
    },
}

/// The errors of a question to slurmctld.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Failed {
    /// [`ClientError::Library`].
    Library(String),
    /// [`ClientError::Configuration`].
    Configuration(String),
    /// [`ClientError::Controller`] with its number.
    Controller(i32, String),
    /// Anything else, in words.
    Other(String),
}

impl From<ClientError> for Failed {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Library { message } => Self::Library(message),
            ClientError::Configuration { message } => Self::Configuration(message),
            ClientError::Controller { code, reason, .. } => Self::Controller(code, reason),
            other => Self::Other(other.to_string()),
        }
    }
}

impl From<Failed> for ClientError {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Library(message) => Self::Library { message },
            Failed::Configuration(message) => Self::Configuration { message },
            Failed::Controller(code, reason) => Self::Controller { what: "jobs", code, reason },
            Failed::Other(reason) => Self::Reader { reason: format!("failed: {reason}") },
        }
    }
}

/// Writes one frame.
///
/// # Errors
/// The frame is too long, or can't be written.
pub(super) fn write_frame<T: Serialize>(mut output: impl Write, value: &T) -> io::Result<()> {
    let bytes = postcard::to_stdvec(value).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len()).ok().filter(|_| bytes.len() <= LONGEST).ok_or(io::ErrorKind::FileTooLarge)?;
    output.write_all(&length.to_le_bytes())?;
    output.write_all(&bytes)
}

/// Reads one frame.
///
/// # Errors
/// The other end is gone, or sends what is no frame.
pub(super) fn read_frame<T: DeserializeOwned>(mut input: impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    input.read_exact(&mut length)?;
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; length];
    input.read_exact(&mut bytes)?;
    postcard::from_bytes(&bytes).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use slurm_sys::client::controller::{MOST_OF_LISTS, described_fields};

    #[test]
    fn a_described_job_with_the_longest_texts_goes_through_with_all_its_fields() {
        use slurm_sys::client::controller::DescribedValue;
        let long = |value| match value {
            // What is no UTF-8 has up to three bytes in the place of each.
            DescribedValue::Text(_) => DescribedValue::Text("\u{fffd}".repeat(MOST_OF_LISTS / 4)),
            other => other,
        };
        let fields: Vec<_> = described_fields().map(|(name, value)| (name, long(value))).collect();
        let job = DescribedJob { job_id: JobId(7), task: Some((JobId(5), 2)), fields };
        let mut bytes = Vec::new();
        write_frame(&mut bytes, &Part::Described(Box::new(job.clone()))).unwrap();
        let Part::Described(read) = read_frame(&bytes[..]).unwrap() else { panic!("another part") };
        assert_eq!(*read, job);
    }

    #[test]
    fn a_frame_that_is_too_long_or_cut_short_is_refused() {
        assert!(read_frame::<Part>(&[255; 8][..]).is_err());
        assert!(read_frame::<Part>(&[9, 0, 0, 0, 1][..]).is_err());
        assert!(write_frame(Vec::new(), &vec![0_u8; LONGEST]).is_err());
    }
}
