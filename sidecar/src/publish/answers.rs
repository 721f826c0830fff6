//! Gives each user the snapshot without what is other users', where the site keeps users' jobs
//! private.
//!
//! Whoever connects to the socket in the state directory is sent bytes of a snapshot and nothing
//! else. The kernel says who it is. Some are answered side by side, few of one user, each for a
//! bounded time, however slowly it reads: who is not answered takes the file without anybody's
//! jobs.

use job_types::number::UserId;
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use predictor_core::snapshot::Snapshot;
use snapshot_writer::for_reader;

/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many are answered side by side; whoever comes then is not answered.
const MOST_READERS: usize = 32;
/// How many of them may be one user's, so that idle readers of one user delay nobody else.
const MOST_OF_A_USER: usize = 4;

type Latest = Arc<Mutex<Option<Arc<Snapshot<Vec<u8>>>>>>;

/// The snapshot that is answered from.
#[derive(Debug)]
pub(crate) struct Answers {
    latest: Latest,
}

impl Answers {
    /// Listens at a path, in a thread that lives as long as the process.
    ///
    /// # Errors
    /// Where the socket or the thread can't be made.
    pub(crate) fn start(path: &Path) -> io::Result<Self> {
        let _ = fs::remove_file(path);
        let listener = UnixListener::bind(path)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o666))?;
        let latest = Latest::default();
        let shared = Arc::clone(&latest);
        std::thread::Builder::new().name("answers".to_owned()).spawn(move || serve(&listener, &shared))?;
        Ok(Self { latest })
    }

    /// Answers from this snapshot from now on. Bytes that are none are left.
    pub(crate) fn set(&self, bytes: Vec<u8>) {
        if let Ok(snapshot) = Snapshot::open(bytes) {
            *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(snapshot));
        }
    }
}

fn serve(listener: &UnixListener, latest: &Latest) {
    let readers = Readers::default();
    for stream in listener.incoming() {
        // Whoever hangs up early misses the answer, and nothing else.
        let answered = stream.and_then(|stream| {
            let user = UserId(getsockopt(&stream, PeerCredentials)?.uid());
            let reader = readers.admit(user).ok_or(io::ErrorKind::WouldBlock)?;
            let latest = Arc::clone(latest);
            let body = move || {
                if let Err(error) = answer(stream, &reader, &latest) {
                    tracing::debug!(%error, "a user's snapshot was not sent");
                }
            };
            std::thread::Builder::new().name("answer".to_owned()).spawn(body).map(drop)
        });
        if let Err(error) = answered {
            tracing::debug!(%error, "a user's snapshot was not sent");
        }
    }
}

/// How many readers of each user are being answered.
#[derive(Debug, Default)]
struct Readers(Arc<Mutex<HashMap<UserId, usize>>>);

/// A reader who is being answered. Another gets its place once it is dropped.
#[derive(Debug)]
struct Reader {
    user: UserId,
    all: Arc<Mutex<HashMap<UserId, usize>>>,
}

impl Readers {
    /// A place for a reader of a user; `None` where there is none.
    fn admit(&self, user: UserId) -> Option<Reader> {
        let mut readers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_user = readers.get(&user).copied().unwrap_or(0);
        if of_user >= MOST_OF_A_USER || readers.values().sum::<usize>() >= MOST_READERS {
            return None;
        }
        readers.insert(user, of_user + 1);
        Some(Reader { user, all: Arc::clone(&self.0) })
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut readers = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = readers.get_mut(&self.user) {
            *count -= 1;
            if *count == 0 {
                readers.remove(&self.user);
            }
        }
    }
}

/// Takes the whole reader, which keeps its place until it is answered.
fn answer(mut stream: UnixStream, reader: &Reader, latest: &Latest) -> io::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    let Some(snapshot) = latest.lock().unwrap_or_else(PoisonError::into_inner).clone() else { return Ok(()) };
    send(&mut stream, &for_reader(&snapshot, Some(reader.user)), deadline)
}

/// Sends bytes until a moment, whether the reader takes them in large pieces or one by one.
fn send(stream: &mut UnixStream, mut rest: &[u8], deadline: Instant) -> io::Result<()> {
    while !rest.is_empty() {
        // Each write may wait no longer than is left of the whole time.
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        match stream.write(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => rest = rest.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use made_up_site::{MadeUpSite, NOW, batch, enforcing, large_model};
    use std::io::Read;
    use std::time::Duration;

    #[test]
    fn a_reader_that_takes_byte_by_byte_is_left_when_its_time_is_over() {
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        let reads = std::thread::spawn(move || {
            let mut byte = [0];
            while theirs.read(&mut byte).is_ok_and(|read| read > 0) {
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let sent = send(&mut ours, &vec![0; 1 << 26], Instant::now() + Duration::from_millis(300));
        assert!(sent.is_err_and(|error| matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)));
        let bytes = vec![7; 1 << 12];
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        send(&mut ours, &bytes, Instant::now() + PATIENCE).unwrap();
        drop(ours);
        let mut read = Vec::new();
        theirs.read_to_end(&mut read).unwrap();
        assert_eq!(read, bytes);
        drop(reads);
    }

    #[test]
    fn idle_readers_of_one_user_take_no_place_of_others() {
        let readers = Readers::default();
        let idle: Vec<Option<Reader>> = (0..2 * MOST_OF_A_USER).map(|_| readers.admit(UserId(1))).collect();
        assert_eq!(idle.iter().flatten().count(), MOST_OF_A_USER);
        let other = readers.admit(UserId(2));
        assert!(other.is_some());
        drop(idle);
        assert!(readers.admit(UserId(1)).is_some());
        let many: Vec<Option<Reader>> = (10..100).map(|user| readers.admit(UserId(user))).collect();
        assert!(many.iter().flatten().count() < MOST_READERS, "one place is taken already");
    }

    #[test]
    fn whoever_is_being_answered_keeps_the_place_until_then() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("answers");
        let answers = Answers::start(&path).unwrap();
        // Larger than what a socket takes from its writer before anybody reads.
        let snapshot = MadeUpSite::new(NOW).partition(batch(enforcing())).learnt(&large_model(NOW, 2_000)).bytes();
        assert!(snapshot.len() > 1 << 19, "{}", snapshot.len());
        answers.set(snapshot);
        let mut idle: Vec<UnixStream> = (0..2 * MOST_OF_A_USER).map(|_| UnixStream::connect(&path).unwrap()).collect();
        // The last one first: all others have come before it.
        let sizes = idle.iter_mut().rev().map(|stream| {
            let mut bytes = Vec::new();
            let _ = stream.read_to_end(&mut bytes);
            bytes.len()
        });
        assert_eq!(sizes.filter(|size| *size > 0).count(), MOST_OF_A_USER);
    }
}
