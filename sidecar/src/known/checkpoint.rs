//! What was learnt, on disk, so that a restart goes on where it was.
//!
//! One file in the state directory, for its owner's eyes only: in an envelope that says by which
//! sources it was written, what it is of, how far slurmdbd had been read, the history and the
//! learner. It is written whole under another name and then renamed. A file of other sources, of
//! another cluster or of other settings, one that is damaged, too old or dated ahead is not taken
//! up: then everything is read and learnt again, and the snapshot that an earlier daemon published
//! stays in force meanwhile, until it is too old.

use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use learning::history::History;
use learning::{Learner, SOURCES};
use predictor_core::decisions::MOST_AHEAD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use slurm_conf::configuration::HistorySettings;
use slurm_conf::envelope::{Envelope, EnvelopeError, HEAD_BYTES};
use slurm_conf::trusted::{Lasting, Replacement, is_damage, present, read_owned};
use thiserror::Error;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::known::awaited::Awaited;
use crate::known::seen::Seen;

/// The name of the file while it is being written.
pub(crate) const UNFINISHED: &str = "learnt.new";
/// The most bytes of a file that is written or read. A year of 10 million jobs comes to less than a
/// third of it.
const MOST_BYTES: usize = 1 << 30;
/// What is older is not taken up: so many jobs will have ended that to learn from them is as much
/// work as to begin anew.
const OLDEST_SECONDS: i64 = 7 * 86_400;

/// What the file is of; another one's is not taken up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Subject {
    cluster: String,
    pub(crate) window_seconds: i64,
    maximum_jobs: u64,
    earlier_clusters: Vec<String>,
}

impl Subject {
    pub(crate) fn new(cluster: String, settings: &HistorySettings) -> Self {
        Self {
            cluster,
            window_seconds: settings.window_seconds,
            maximum_jobs: settings.maximum_jobs,
            earlier_clusters: settings.earlier_clusters.clone(),
        }
    }
}

/// How far slurmdbd had been read.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Reading {
    /// Everything that ended before this has been read.
    pub(crate) until: i64,
    pub(crate) seen: Seen,
    pub(crate) awaited: Awaited,
}

/// What an earlier daemon left.
pub(crate) struct Kept {
    /// When it was kept, in Unix seconds.
    pub(crate) at: i64,
    pub(crate) reading: Reading,
    pub(crate) history: History,
    pub(crate) learner: Learner,
}

/// Why what an earlier daemon left is not taken up.
#[derive(Debug, Error)]
pub(crate) enum NotTaken {
    /// It is whole, and of no use here, or the system could not look.
    #[error("{0}")]
    Unfit(String),
    /// Something else lies in its place, or it was changed or cut short.
    #[error("{0}")]
    Damaged(String),
}

/// The envelope of what these sources of the learner have written.
fn envelope() -> Envelope {
    Envelope::new(*b"QCLEARNT", 1, MOST_BYTES).referring_to(xxh3_64(SOURCES.as_bytes()))
}

/// Reads what an earlier daemon left; `None` where there is nothing.
///
/// # Errors
/// Why it is not taken up.
pub(crate) fn read(path: &Path, subject: &Subject, now: i64) -> Result<Option<Kept>, NotTaken> {
    let bytes = match present(read_owned(path, MOST_BYTES)) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(None),
        Err(error) if is_damage(&error) => return Err(NotTaken::Damaged(error.to_string())),
        Err(error) => return Err(NotTaken::Unfit(error.to_string())),
    };
    let content = envelope().content(&bytes).map_err(|error| match error {
        EnvelopeError::Layout(_) | EnvelopeError::Fingerprint => {
            NotTaken::Unfit("it was written by another version of queuecastd".to_owned())
        }
        error => NotTaken::Damaged(error.to_string()),
    })?;
    taken(content, subject, now).map_err(NotTaken::Unfit)
}

/// Takes up a content that is whole.
fn taken(content: &[u8], subject: &Subject, now: i64) -> Result<Option<Kept>, String> {
    let ((found, at), rest): ((Subject, i64), _) = part(content)?;
    if found != *subject {
        return Err(format!("it is of cluster {:?} or of other settings of [history]", found.cluster));
    }
    // A file that is dated further ahead than this was written by a clock that was wrong.
    if at - now > MOST_AHEAD.0 {
        return Err(format!("it is dated {} s ahead", at - now));
    }
    if now - at > OLDEST_SECONDS {
        return Err(format!("it is {} days old", (now - at) / 86_400));
    }
    let (reading, rest) = part(rest)?;
    let (history, rest) = part(rest)?;
    let (learner, _) = part(rest)?;
    Ok(Some(Kept { at, reading, history, learner }))
}

fn part<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8]), String> {
    postcard::take_from_bytes(bytes).map_err(|error| format!("it cannot be read: {error}"))
}

/// Counts and sums up what is written.
struct Summed {
    replacement: Replacement,
    sum: Xxh3,
    length: usize,
    /// What kept the last bytes from being written: the encoder says only that they were not.
    failed: Option<io::Error>,
}

impl Summed {
    fn write_some(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.length + bytes.len() > MOST_BYTES {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "what was learnt is more than 1 GiB"));
        }
        let written = self.replacement.file.write(bytes)?;
        self.sum.update(bytes.get(..written).unwrap_or_default());
        self.length += written;
        Ok(written)
    }
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_some(bytes).inspect_err(|error| self.failed = Some(same(error)))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.replacement.file.flush()
    }
}

/// Builds the same I/O error once more, because errors cannot be cloned.
fn same(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or_else(|| io::Error::new(error.kind(), error.to_string()), io::Error::from_raw_os_error)
}

/// The file while it is being written. What the main thread knows comes first; the learner adds its
/// part, and puts the file in place.
pub(crate) struct Keeping {
    writer: BufWriter<Summed>,
}

impl Keeping {
    /// Begins with all but the learner.
    ///
    /// # Errors
    /// The file can't be written.
    pub(crate) fn begin(path: PathBuf, subject: &Subject, now: i64, reading: &Reading, history: &History) -> io::Result<Self> {
        let unfinished = path.with_file_name(UNFINISHED);
        let mut replacement = Replacement::begin(path, unfinished, 0o600)?;
        // The head is known last.
        replacement.file.write_all(&[0; HEAD_BYTES])?;
        let writer = BufWriter::with_capacity(1 << 20, Summed { replacement, sum: Xxh3::new(), length: HEAD_BYTES, failed: None });
        let mut keeping = Self { writer };
        keeping.add(&(subject, now))?;
        keeping.add(reading)?;
        keeping.add(history)?;
        Ok(keeping)
    }

    fn add<T: Serialize>(&mut self, value: &T) -> io::Result<()> {
        let added = postcard::to_io(value, &mut self.writer).map(drop);
        added.map_err(|error| self.writer.get_mut().failed.take().unwrap_or_else(|| io::Error::other(error)))
    }

    /// Adds the learner and puts the file in place. Returns its length in bytes.
    ///
    /// # Errors
    /// The file can't be written; the one before stays.
    pub(crate) fn finish(mut self, learner: &Learner) -> io::Result<usize> {
        self.add(learner)?;
        let Summed { replacement, sum, length, .. } = self.writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        replacement.file.write_all_at(&envelope().head(sum.digest()), 0)?;
        replacement.place(Lasting::OnDisk)?;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::job::{EndedJob, WaitingJob};
    use job_types::number::{JobId, UserId};
    use job_types::size::Size;
    use job_types::time::{Seconds, UnixTime};
    use learning::LearnerSettings;
    use learning::history::HistoryLimits;
    use std::fs::{self, File};
    use std::os::unix::fs::PermissionsExt;

    const NOW: i64 = 1_800_000_000;

    fn settings(earlier_clusters: &[&str]) -> HistorySettings {
        let earlier_clusters = earlier_clusters.iter().map(|name| (*name).to_owned()).collect();
        HistorySettings { window_seconds: 86_400, maximum_jobs: 1_000, earlier_clusters }
    }

    fn subject(cluster: &str) -> Subject {
        Subject::new(cluster.to_owned(), &settings(&[]))
    }

    fn kept_at(path: &Path, at: i64) {
        let mut history = History::new(HistoryLimits::default());
        for name in ["short", "long"] {
            let job = EndedJob {
                submitted: WaitingJob {
                    user: UserId(7),
                    account: (),
                    partition: name,
                    qos: (),
                    size: Size { nodes: 1, cpus: 4 },
                    limit: Some(Seconds(600)),
                    eligible: UnixTime(at - 300),
                },
                allocated: None,
                start: Some(UnixTime(at - 200)),
                end: UnixTime(at - 100),
                suspended: Seconds::ZERO,
            };
            assert!(history.push(&job));
        }
        let mut seen = Seen::new(at - 1_000, 100);
        seen.insert(JobId(5), at - 300, at - 100);
        let mut awaited = Awaited::default();
        awaited.insert(JobId(6), at - 300, at - 50);
        let keeping = Keeping::begin(path.to_owned(), &subject("one"), at, &Reading { until: at, seen, awaited }, &history).unwrap();
        keeping.finish(&Learner::new(LearnerSettings::default())).unwrap();
    }

    fn refusal(path: &Path, cluster: &str, now: i64) -> String {
        read(path, &subject(cluster), now).err().expect("it is refused").to_string()
    }

    #[test]
    fn what_was_kept_is_taken_up_with_its_partitions_by_name_and_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("learnt");
        assert!(read(&path, &subject("one"), NOW).unwrap().is_none(), "there is nothing yet");
        kept_at(&path, NOW);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
        let mut kept = read(&path, &subject("one"), NOW + 60).unwrap().unwrap();
        assert_eq!((kept.at, kept.reading.until, kept.history.ended_jobs()), (NOW, NOW, 2));
        assert_eq!(kept.history.partition_names(), ["short", "long"]);
        assert!(kept.reading.seen.knows(JobId(5), NOW - 300, NOW - 100) && !kept.reading.seen.knows(JobId(6), NOW - 300, NOW - 50));
        assert_eq!(kept.reading.awaited.since(std::time::Instant::now()), Some(NOW - 50));
    }

    #[test]
    fn another_version_another_cluster_an_old_one_and_one_dated_ahead_are_refused_each_with_its_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("learnt");
        kept_at(&path, NOW);
        assert!(refusal(&path, "two", NOW).contains("cluster \"one\""));
        let with_earlier = Subject::new("one".to_owned(), &settings(&["past"]));
        assert!(read(&path, &with_earlier, NOW).err().expect("it is refused").to_string().contains("other settings of [history]"));
        assert!(refusal(&path, "one", NOW + 8 * 86_400).contains("8 days old"));
        for ahead in [61, 86_400, 2 * 86_400, 365 * 86_400] {
            assert!(refusal(&path, "one", NOW - ahead).contains(&format!("{ahead} s ahead")));
        }
        let mut bytes = fs::read(&path).unwrap();
        bytes[20] ^= 1;
        fs::write(&path, &bytes).unwrap();
        assert!(refusal(&path, "one", NOW).contains("another version"));
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        assert!(refusal(&path, "one", NOW).contains("not a regular file"));
    }

    #[test]
    fn a_file_that_was_damaged_or_cut_short_anywhere_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("learnt");
        kept_at(&path, NOW);
        let whole = fs::read(&path).unwrap();
        let is_damaged = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            matches!(read(&path, &subject("one"), NOW), Err(NotTaken::Damaged(_)))
        };
        for place in (24..whole.len()).step_by(61) {
            let mut bytes = whole.clone();
            bytes[place] ^= 0x10;
            assert!(is_damaged(&bytes) && is_damaged(&whole[..place]), "byte {place}");
        }
    }

    #[test]
    fn a_full_disk_is_called_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("learnt");
        let reading = Reading { until: NOW, seen: Seen::new(NOW, 10), awaited: Awaited::default() };
        let history = History::new(HistoryLimits::default());
        let mut keeping = Keeping::begin(path, &subject("one"), NOW, &reading, &history).unwrap();
        // Every write there fails for want of room.
        keeping.writer.get_mut().replacement.file = File::options().write(true).open("/dev/full").unwrap();
        let error = keeping.add(&vec![0_u8; 4 << 20]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull, "{error}");
    }

    #[test]
    fn a_file_that_cannot_be_finished_leaves_the_one_before_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("learnt");
        kept_at(&path, NOW);
        let before = fs::read(&path).unwrap();
        let reading = Reading { until: NOW, seen: Seen::new(NOW, 10), awaited: Awaited::default() };
        let history = History::new(HistoryLimits::default());
        drop(Keeping::begin(path.clone(), &subject("one"), NOW + 9, &reading, &history).unwrap());
        assert_eq!(fs::read(&path).unwrap(), before);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
