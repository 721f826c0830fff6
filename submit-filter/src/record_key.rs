//! The key by which the records of decisions are sealed, and what of it the plugin knows.

use crate::watch::{DirectoryState, Identity, Seen};
use job_types::record::{Record, SealKey};
use parking_lot::RwLock;
use slurm_conf::state_directory::RECORD_KEY;
use slurm_sys::job_description::JobDescription;
use slurm_sys::text::SlurmText;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// What stands before a record that is not the plugin's, so that nobody reads it as one.
const NOT_OURS: &str = "(not by queuecast) ";

/// The key, as it was read last.
#[derive(Debug)]
pub(crate) struct RecordKey {
    path: PathBuf,
    known: RwLock<Option<(Identity, SealKey)>>,
    /// Whether the file was there that is known.
    seen: Seen,
    /// Whether the log says already that there is none.
    is_told: AtomicBool,
}

impl RecordKey {
    /// The key in a state directory.
    pub(crate) fn new(directory: &Path) -> RecordKey {
        RecordKey { path: directory.join(RECORD_KEY), known: RwLock::new(None), seen: Seen::default(), is_told: AtomicBool::new(false) }
    }

    /// The key in force, which is read or made where the file is not the one that was read last;
    /// `None` where it can't be had, which the log says once. In a directory in whose state nothing
    /// has changed since the key was found there it is not looked for.
    pub(crate) fn current(&self, directory: Option<DirectoryState>) -> Option<SealKey> {
        if self.seen.known(directory) != Some(true) {
            let key = self.looked_for();
            self.seen.looked_through(directory, key.is_some());
            return key;
        }
        let known = *self.known.read();
        known.map(|(_, key)| key)
    }

    fn looked_for(&self) -> Option<SealKey> {
        if let Some((known, key)) = *self.known.read() {
            match Identity::of(&self.path) {
                Ok(Some(identity)) if identity == known => return Some(key),
                // What can't be looked at says nothing of another key.
                Err(_) => return Some(key),
                Ok(_) => {}
            }
        }
        match slurm_sys::record_key::read_or_make(&self.path) {
            Ok(key) => {
                self.is_told.store(false, Ordering::Relaxed);
                *self.known.write() = Identity::of(&self.path).ok().flatten().map(|identity| (identity, key));
                Some(key)
            }
            Err(error) => {
                *self.known.write() = None;
                if !self.is_told.swap(true, Ordering::Relaxed) {
                    slurm_sys::log::error(&format!(
                        "job_submit/queuecast: no promise is given, as records of decisions can't be sealed: {}: {error}",
                        self.path.display()
                    ));
                }
                None
            }
        }
    }
}

/// A number that no other record has.
pub(crate) fn nonce() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

/// Puts a word before what parses as a record in the `admin_comment` of a submission or
/// modification, as a site's rules or another plugin may have written it there.
pub(crate) fn disarm(description: &mut JobDescription<'_>) {
    let disarmed = description.admin_comment().filter(|comment| Record::parse(comment).is_some());
    let text = disarmed.and_then(|comment| SlurmText::new(&format!("{NOT_OURS}{comment}")));
    if let Some(text) = text {
        description.set_admin_comment(text);
    }
}
