//! The seal of a record: a keyed hash over its text, by which a record that queuecast wrote is told
//! from one that somebody else has brought into a job's `admin_comment`.
//!
//! A sealed record is `{"queuecast":{...},"seal":"..."}`, where the seal is 32 hexadecimal digits:
//! SipHash-2-4 of 128 bits over the user's number, the job's number or 0, and the text before the
//! seal. The submit filter knows no number of the job yet. What it writes is bound to the user and
//! to the time of submission, and holds a number of its own ([`Record::nonce`]), so that a copy in
//! another job is told from it. What the daemon writes afterwards is bound to the job as well.

use super::Record;
use crate::number::{JobId, UserId};
use crate::time::{Seconds, UnixTime};
use siphasher::sip128::{Hasher128, SipHasher24};
use std::fmt::{self, Write};
use std::hash::Hasher;

/// Length of the key in bytes.
pub const KEY_BYTES: usize = 16;

/// What stands between the record and its seal.
const BEFORE_SEAL: &str = ",\"seal\":\"";
/// What stands behind the seal.
const BEHIND_SEAL: &str = "\"}";
/// Hexadecimal digits of a seal.
const SEAL_DIGITS: usize = 32;
/// How many bytes a seal adds to a record.
pub(super) const SEAL_BYTES: usize = BEFORE_SEAL.len() + SEAL_DIGITS + BEHIND_SEAL.len() - 1;

/// The longest time after its record was written at which slurmctld may have taken a job. It waits
/// for its locks in between.
const LONGEST_SUBMISSION: Seconds = Seconds(300);
/// The longest time by which slurmctld may seem to have taken a job before its record was written,
/// as filter and slurmctld read the clock one after the other.
const CLOCK_STEP: Seconds = Seconds(5);

/// The key of seals. Only Slurm's user and root may know it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SealKey([u8; KEY_BYTES]);

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey")
    }
}

impl SealKey {
    /// The key of these bytes.
    #[must_use]
    pub const fn new(bytes: [u8; KEY_BYTES]) -> SealKey {
        SealKey(bytes)
    }

    fn seal(&self, user: UserId, job: Option<JobId>, text: &str) -> [u8; 16] {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        hasher.write(&user.0.to_le_bytes());
        hasher.write(&job.map_or(0, |job| job.0).to_le_bytes());
        hasher.write(text.as_bytes());
        hasher.finish128().as_bytes()
    }
}

impl SealKey {
    /// What is put behind a number in a name that everybody sees, so that only whoever knows the
    /// key can have made the name: 16 hexadecimal digits. `what` tells one kind of name from
    /// another.
    #[must_use]
    pub fn proof(&self, what: &str, number: u64) -> String {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        hasher.write(b"name");
        hasher.write(what.as_bytes());
        hasher.write(&number.to_le_bytes());
        let bytes = hasher.finish128().as_bytes();
        bytes.iter().take(8).fold(String::new(), |mut text, byte| {
            // Writing into a string does not fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

/// The job that carries a record, as slurmctld or slurmdbd has it.
#[derive(Clone, Copy, Debug)]
pub struct Bearer {
    /// The number of the user whose job it is.
    pub user: UserId,
    /// The job's number.
    pub job: JobId,
    /// When the job was submitted, or put back into the queue.
    pub submitted: Option<UnixTime>,
    /// Whether the job was certainly never put back into the queue, so that `submitted` is the time
    /// of its submission.
    pub is_first_run: bool,
}

/// Why a record is not taken for one that queuecast wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unbelieved {
    /// The record has no seal: it is of a version that wrote none, or of somebody else.
    Unsealed,
    /// The record's seal is not the one that this key gives for this job.
    OtherSeal,
    /// The record was written for a job that was submitted at another time.
    OtherTime,
}

impl Record {
    /// The record as it is written, with its seal. `job` is the number of the job, which the submit
    /// filter does not know. `None` where it would be too long.
    #[must_use]
    pub fn sealed(&self, key: &SealKey, user: UserId, job: Option<JobId>) -> Option<String> {
        let mut text = self.to_json()?;
        // The brace that ends the envelope.
        text.pop()?;
        let seal = key.seal(user, job, &text);
        text.push_str(BEFORE_SEAL);
        for byte in seal {
            // Writing into a string does not fail.
            let _ = write!(text, "{byte:02x}");
        }
        text.push_str(BEHIND_SEAL);
        Some(text)
    }

    /// The record that a job carries, with what somebody else has written behind it, if queuecast
    /// wrote it into that job. `None` where there is no record.
    ///
    /// # Errors
    /// Why it is not believed.
    pub fn of_job<'a>(comment: &'a str, key: &SealKey, bearer: &Bearer) -> Option<Result<(Record, &'a str), Unbelieved>> {
        let (record, rest) = Record::split(comment)?;
        let text = comment.get(..comment.len() - rest.len())?;
        Some(believe(&record, text, key, bearer).map(|()| (record, rest)))
    }
}

fn believe(record: &Record, text: &str, key: &SealKey, bearer: &Bearer) -> Result<(), Unbelieved> {
    let (sealed, given) = parts(text).ok_or(Unbelieved::Unsealed)?;
    let is_the_daemons = record.changed.is_some();
    let seal = key.seal(bearer.user, is_the_daemons.then_some(bearer.job), sealed);
    // All digits are compared, wherever the first difference is.
    let differences = seal.iter().zip(given.as_bytes().chunks_exact(2)).fold(0, |differences, (byte, digits)| {
        let digits = std::str::from_utf8(digits).ok().and_then(|digits| u8::from_str_radix(digits, 16).ok());
        differences | digits.map_or(u8::MAX, |given| given ^ byte)
    });
    if differences != 0 {
        return Err(Unbelieved::OtherSeal);
    }
    let Some(submitted) = bearer.submitted.filter(|_| !is_the_daemons) else { return Ok(()) };
    let after = submitted - record.at;
    let is_in_time = after >= Seconds(-CLOCK_STEP.0) && (!bearer.is_first_run || after <= LONGEST_SUBMISSION);
    is_in_time.then_some(()).ok_or(Unbelieved::OtherTime)
}

/// What a seal is over, and the seal.
fn parts(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start().strip_suffix(BEHIND_SEAL)?;
    let place = text.len().checked_sub(SEAL_DIGITS)?;
    let seal = text.get(place..).filter(|seal| seal.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
    Some((text.get(..place)?.strip_suffix(BEFORE_SEAL)?, seal))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Mode;
    use crate::record::{AskedFor, Changed, MOST_BYTES, RECORD_VERSION, Written};

    const KEY: SealKey = SealKey([7; KEY_BYTES]);
    const USER: UserId = UserId(1_000);
    const JOB: JobId = JobId(42);
    const BEARER: Bearer = Bearer { user: USER, job: JOB, submitted: Some(UnixTime(5_001)), is_first_run: true };

    fn record() -> Record {
        Record {
            version: RECORD_VERSION,
            generation: 7,
            at: UnixTime(5_000),
            nonce: Some(9),
            mode: Mode::Enforce,
            asked: AskedFor { nodes: 2, cpus: 8, ..AskedFor::default() },
            affiliation: None,
            written: Some(Written { limit_s: Some(600), ..Written::default() }),
            changed: None,
            forecast: None,
            instead_of: None,
            left: Vec::new(),
        }
    }

    fn found(comment: &str, key: &SealKey, bearer: &Bearer) -> Result<Record, Unbelieved> {
        Record::of_job(comment, key, bearer).unwrap().map(|(record, _)| record)
    }

    #[test]
    fn what_was_sealed_is_believed_of_its_user_and_of_nobody_else() {
        let sealed = record().sealed(&KEY, USER, None).unwrap();
        assert_eq!(Record::parse(&sealed), Some(record()), "a reader without the key reads it all the same");
        assert_eq!(found(&sealed, &KEY, &BEARER), Ok(record()));
        let behind = format!("{sealed} ours");
        assert_eq!(Record::of_job(&behind, &KEY, &BEARER).unwrap().unwrap().1, " ours");
        let other = Err(Unbelieved::OtherSeal);
        assert_eq!(found(&sealed, &KEY, &Bearer { user: UserId(1_001), ..BEARER }), other);
        assert_eq!(found(&sealed, &SealKey([8; KEY_BYTES]), &BEARER), other);
    }

    #[test]
    fn each_digit_and_each_byte_of_it_counts() {
        let sealed = record().sealed(&KEY, USER, None).unwrap();
        for place in 0..sealed.len() {
            let mut bytes = sealed.clone().into_bytes();
            bytes[place] = if bytes[place] == b'1' { b'2' } else { b'1' };
            let changed = String::from_utf8(bytes).unwrap();
            let found = Record::of_job(&changed, &KEY, &BEARER);
            assert!(!matches!(found, Some(Ok(_))), "{changed}");
        }
        assert_eq!(found(&record().to_json().unwrap(), &KEY, &BEARER), Err(Unbelieved::Unsealed));
        assert!(Record::of_job("for the paper", &KEY, &BEARER).is_none());
    }

    #[test]
    fn what_the_filter_sealed_is_of_a_job_that_was_submitted_then_and_a_requeue_makes_no_difference() {
        let sealed = record().sealed(&KEY, USER, None).unwrap();
        let at = |submitted, is_first_run| found(&sealed, &KEY, &Bearer { submitted: Some(UnixTime(submitted)), is_first_run, ..BEARER });
        assert!(at(5_000, true).is_ok() && at(5_300, true).is_ok());
        assert_eq!((at(5_301, true), at(4_990, true)), (Err(Unbelieved::OtherTime), Err(Unbelieved::OtherTime)));
        assert!(at(90_000, false).is_ok(), "slurmctld gives a job that it puts back into the queue another time");
        assert_eq!(at(4_990, false), Err(Unbelieved::OtherTime));
    }

    #[test]
    fn what_the_daemon_sealed_is_of_that_job_alone() {
        let changed = Record { changed: Some(Changed { count: 1, ..Changed::default() }), ..record() };
        let sealed = changed.sealed(&KEY, USER, Some(JOB)).unwrap();
        assert_eq!(found(&sealed, &KEY, &Bearer { submitted: Some(UnixTime(90_000)), ..BEARER }), Ok(changed));
        assert_eq!(found(&sealed, &KEY, &Bearer { job: JobId(43), ..BEARER }), Err(Unbelieved::OtherSeal));
    }

    #[test]
    fn with_its_seal_a_record_is_no_longer_than_records_may_be() {
        let long = Record { left: vec!["x".repeat(MOST_BYTES)], ..record() };
        for length in 0..MOST_BYTES {
            let sealed = Record { left: vec!["x".repeat(length)], ..record() }.sealed(&KEY, USER, None).unwrap();
            assert!(sealed.len() <= MOST_BYTES, "{}", sealed.len());
        }
        assert_eq!(found(&long.sealed(&KEY, USER, None).unwrap(), &KEY, &BEARER).unwrap().left, Vec::<String>::new());
        assert!(!format!("{KEY:?}").contains('7'), "a key is not printed");
    }
}
