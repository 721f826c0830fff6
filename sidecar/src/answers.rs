//! Gives each user the snapshot without what is other users', where the site keeps users' jobs
//! private.
//!
//! Whoever connects to the socket in the state directory is sent bytes of a snapshot and nothing
//! else. The kernel says who it is. One after the other is answered, each for a bounded time: who
//! has to wait too long takes the file without anybody's jobs.

use job_types::number::UserId;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use predictor_core::snapshot::Snapshot;
use slurm_sys::process::peer_user;

/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many bytes are sent before the clock is looked at again.
const CHUNK: usize = 1 << 16;

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
    for stream in listener.incoming() {
        // Whoever hangs up early misses the answer, and nothing else.
        let answered = stream.and_then(|stream| answer(stream, latest));
        if let Err(error) = answered {
            tracing::debug!(%error, "a user's snapshot was not sent");
        }
    }
}

fn answer(mut stream: UnixStream, latest: &Latest) -> io::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    stream.set_write_timeout(Some(PATIENCE))?;
    let user = peer_user(&stream)?;
    let Some(snapshot) = latest.lock().unwrap_or_else(PoisonError::into_inner).clone() else { return Ok(()) };
    let bytes = snapshot.for_reader(Some(UserId(user)));
    for chunk in bytes.chunks(CHUNK) {
        if Instant::now() >= deadline {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.write_all(chunk)?;
    }
    Ok(())
}
