//! A value that outlives the daemon, as JSON in a file of the state directory.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use slurm_conf::trusted::{self, Lasting, read_owned};

use crate::known::damaged::keep_aside;

/// Names of files that are being written begin as those of unfinished snapshots do, which the
/// daemon removes at its start.
const UNFINISHED: &str = "snapshot.new-";

/// How a value is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// The name of the file.
    pub(super) name: &'static str,
    /// Who may read it, as permissions of a file.
    pub(super) mode: u32,
    /// The most bytes of it that are read.
    pub(super) most_bytes: usize,
}

/// The value, and whether the file has it.
#[derive(Debug)]
pub(super) struct Kept<T> {
    path: PathBuf,
    unfinished: PathBuf,
    mode: u32,
    value: T,
    is_changed: bool,
    /// Whether the log says that it can't be written.
    is_told: bool,
}

impl<T: Serialize + DeserializeOwned> Kept<T> {
    /// The value of an earlier daemon with this state directory. `other_version` is the version of
    /// one that this release can't use. `begun` has the one that is begun with, and is told whether
    /// there was another one before, which could not be used and is kept aside.
    pub(super) fn load(
        directory: &Path,
        place: Place,
        other_version: impl FnOnce(&T) -> Option<u32>,
        begun: impl FnOnce(bool) -> T,
    ) -> Self {
        let path = directory.join(place.name);
        let value = match read(&path, place.most_bytes, other_version) {
            Ok(Some(value)) => value,
            Ok(None) => begun(false),
            Err(reason) => {
                keep_aside(&path, &reason);
                begun(true)
            }
        };
        let unfinished = directory.join(format!("{UNFINISHED}{}", place.name));
        Self { path, unfinished, mode: place.mode, value, is_changed: false, is_told: false }
    }

    /// The value.
    pub(super) fn value(&self) -> &T {
        &self.value
    }

    /// The value, to be changed.
    pub(super) fn change(&mut self) -> &mut T {
        self.is_changed = true;
        &mut self.value
    }

    /// Writes what has changed to the disk; a failure that is new is told. Returns whether all is
    /// there.
    pub(super) fn keep(&mut self, tell: impl FnOnce(&io::Error, &Path)) -> bool {
        if !self.is_changed {
            return true;
        }
        let bytes = serde_json::to_vec(&self.value).map_err(io::Error::other);
        match bytes.and_then(|bytes| trusted::put(&self.path, &self.unfinished, &bytes, self.mode, Lasting::OnDisk)) {
            Ok(()) => (self.is_changed, self.is_told) = (false, false),
            Err(error) if !self.is_told => {
                self.is_told = true;
                tell(&error, &self.path);
            }
            Err(_) => {}
        }
        !self.is_changed
    }
}

/// `None` where there is no file; the error says why there is one that can't be used.
fn read<T: DeserializeOwned>(path: &Path, most: usize, other_version: impl FnOnce(&T) -> Option<u32>) -> Result<Option<T>, String> {
    match trusted::present(read_owned(path, most)).map_err(|error| error.to_string())? {
        None => Ok(None),
        Some(bytes) => {
            let value = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
            other_version(&value).map_or(Ok(Some(value)), |version| Err(format!("it is of version {version}")))
        }
    }
}
