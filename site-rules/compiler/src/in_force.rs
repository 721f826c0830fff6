//! The rules that are in force: the file in the state directory that the plugin takes up, and
//! beside it what became of the rules when they were last compiled.
//!
//! Each file is written whole under another name, forced to the disk, and renamed, so that a reader
//! sees the one before or the new one, also after a crash.

use crate::compile::Compiled;
use crate::problem::Severity;
use crate::site_tables::SiteTables;
use serde::{Deserialize, Serialize};
use site_rules::file::{self, FileError, LARGEST};
use site_rules::rules::RuleSet;
use slurm_conf::state_directory::{RULES, RULES_STATE, RULES_TABLES};
use slurm_conf::trusted::{Lasting, is_damage, present, put as put_whole, read_owned};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Names of files that are being written begin so.
pub const UNFINISHED: &str = "rules.new";

/// The mode of files that all may read and their owner alone may write.
pub const FOR_ALL: u32 = 0o644;

/// The most that is read of what became of the rules, in bytes.
const LARGEST_STATE: usize = 1 << 20;

/// The most that is read of tables, in bytes.
const LARGEST_TABLES: usize = 256 << 20;

/// The most problems that are kept.
const MOST_PROBLEMS: usize = 50;

/// The program that puts rules in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Loader {
    /// The daemon.
    #[serde(rename = "queuecastd")]
    Daemon,
    /// An administrator by the command.
    #[serde(rename = "queuecast filter load")]
    Command,
}

impl Loader {
    /// The program or command, for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Loader::Daemon => "queuecastd",
            Loader::Command => "queuecast filter load",
        }
    }
}

/// What became of the rules when they were last compiled, and which are in force.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadState {
    /// When they were last compiled, in Unix seconds.
    pub compiled_at: i64,
    /// What keeps the files from being in force, one problem a line, as `file:line:column: error:
    /// what`; empty if nothing does.
    pub errors: Vec<String>,
    /// What else there is to say of them, likewise.
    pub warnings: Vec<String>,
    /// The rules that are in force; `None` where there are none.
    pub in_force: Option<InForce>,
}

/// The rules that are in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InForce {
    /// The time from which on the rules are in force, in Unix seconds.
    pub since: i64,
    /// The program that put the rules in force.
    pub by: Loader,
    /// The number by which the rules are told from others: XXH3-64 of the file, in hexadecimal
    /// digits.
    pub number: String,
    /// The number of rules.
    pub rules: usize,
    /// The files that the rules were compiled from, in order.
    pub files: Vec<String>,
}

impl LoadState {
    /// Whether the files are not what is in force, because they can't be.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Takes over what was found wrong.
    pub fn take_problems(&mut self, compiled: &Compiled) {
        let of = |severity| {
            let all = compiled.problems.iter().filter(move |problem| problem.severity == severity);
            let mut shown: Vec<String> = all.clone().take(MOST_PROBLEMS).map(ToString::to_string).collect();
            let more = all.count() - shown.len();
            if more > 0 {
                shown.push(format!("and {more} more, which `queuecast filter check` shows"));
            }
            shown
        };
        (self.errors, self.warnings) = (of(Severity::Error), of(Severity::Warning));
    }
}

/// Why rules can't be read or put in place.
#[derive(Debug, Error)]
pub enum InForceError {
    /// The file can't be read or written.
    #[error("{}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Something else lies in the place of the file, or it does not hold what it should.
    #[error("{}: {reason}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The file does not hold rules of this release.
    #[error("{}: {source}", .path.display())]
    Rules {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: FileError,
    },
}

impl InForceError {
    fn file(path: PathBuf, source: io::Error) -> Self {
        if is_damage(&source) { Self::Damaged { path, reason: source.to_string() } } else { Self::File { path, source } }
    }

    /// The file that is damaged, if it is; otherwise the system could not look.
    #[must_use]
    pub fn damaged(&self) -> Option<&Path> {
        match self {
            Self::File { .. } => None,
            Self::Damaged { path, .. } | Self::Rules { path, .. } => Some(path),
        }
    }
}

/// The rules that are in force, with their number; `None` where there are none.
///
/// # Errors
/// [`InForceError`] where the file can't be read, or is none of this release.
pub fn read(directory: &Path) -> Result<Option<(RuleSet, u64)>, InForceError> {
    let Some((path, bytes)) = read_file(directory, RULES, LARGEST)? else { return Ok(None) };
    match file::decode(&bytes) {
        Ok(rules) => Ok(Some((rules, file::number(&bytes)))),
        Err(source) => Err(InForceError::Rules { path, source }),
    }
}

/// The number that a set of rules would have in force.
///
/// # Errors
/// [`FileError`] where it can't be kept in a file.
pub fn number_of(rules: &RuleSet) -> Result<u64, FileError> {
    file::encode(rules).map(|bytes| file::number(&bytes))
}

/// A number of rules as it is written.
#[must_use]
pub fn written(number: u64) -> String {
    format!("{number:016x}")
}

/// Puts rules in force, for whom may read the tables of users and accounts that are there: rules
/// hold rows of them where they ask for them. Returns their number.
///
/// # Errors
/// [`InForceError`]; the rules before stay in force.
pub fn put(directory: &Path, rules: &RuleSet) -> Result<u64, InForceError> {
    let mode = [RULES_TABLES, RULES].iter().find_map(|name| fs::symlink_metadata(directory.join(name)).ok());
    put_for(directory, rules, mode.map_or(FOR_ALL, |metadata| metadata.permissions().mode() & FOR_ALL))
}

/// Puts rules in force as [`put`] does, with `mode` saying who may read them.
///
/// # Errors
/// The errors of [`put`].
pub fn put_for(directory: &Path, rules: &RuleSet, mode: u32) -> Result<u64, InForceError> {
    let path = directory.join(RULES);
    let bytes = file::encode(rules).map_err(|source| InForceError::Rules { path: path.clone(), source })?;
    put_file(directory, RULES, &bytes, mode)?;
    Ok(file::number(&bytes))
}

/// Puts the site's rules out of force. Returns whether there were any.
///
/// # Errors
/// [`InForceError`]; they stay in force.
pub fn remove(directory: &Path) -> Result<bool, InForceError> {
    let path = directory.join(RULES);
    match fs::remove_file(&path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(InForceError::File { path, source }),
    }
}

/// What became of the rules when they were last compiled; `None` where nobody has.
///
/// # Errors
/// [`InForceError`] where the file can't be read, or is damaged.
pub fn state(directory: &Path) -> Result<Option<LoadState>, InForceError> {
    read_json(directory, RULES_STATE, LARGEST_STATE)
}

/// Says what became of the rules.
///
/// # Errors
/// [`InForceError`] where it can't be written.
pub fn put_state(directory: &Path, state: &LoadState) -> Result<(), InForceError> {
    let json = serde_json::to_vec(state).map_err(|error| InForceError::File { path: directory.join(RULES_STATE), source: error.into() })?;
    put_file(directory, RULES_STATE, &json, FOR_ALL)
}

/// Qualities of service, associations, users and partitions as the daemon knew them last; `None`
/// where it never did.
///
/// # Errors
/// [`InForceError`] where the file can't be read, is damaged, or is of another release.
pub fn site_tables(directory: &Path) -> Result<Option<SiteTables>, InForceError> {
    read_json(directory, RULES_TABLES, LARGEST_TABLES)
}

/// Keeps qualities of service, associations, users and partitions.
///
/// # Errors
/// [`InForceError`] where they can't be written.
pub fn put_site_tables(directory: &Path, tables: &SiteTables, mode: u32) -> Result<(), InForceError> {
    let json =
        serde_json::to_vec(tables).map_err(|error| InForceError::File { path: directory.join(RULES_TABLES), source: error.into() })?;
    put_file(directory, RULES_TABLES, &json, mode)
}

/// A file of the directory with its path; `None` where there is none.
fn read_file(directory: &Path, name: &str, most: usize) -> Result<Option<(PathBuf, Vec<u8>)>, InForceError> {
    let path = directory.join(name);
    match present(read_owned(&path, most)) {
        Ok(bytes) => Ok(bytes.map(|bytes| (path, bytes))),
        Err(source) => Err(InForceError::file(path, source)),
    }
}

fn read_json<T: serde::de::DeserializeOwned>(directory: &Path, name: &str, most: usize) -> Result<Option<T>, InForceError> {
    let Some((path, bytes)) = read_file(directory, name, most)? else { return Ok(None) };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| InForceError::Damaged { path, reason: error.to_string() })
}

/// Puts a file that has to do with rules into the state directory.
///
/// # Errors
/// [`InForceError`] where it can't be written; the one before stays.
pub fn put_file(directory: &Path, name: &str, bytes: &[u8], mode: u32) -> Result<(), InForceError> {
    // The daemon and an administrator may write at once.
    let unfinished = directory.join(format!("{UNFINISHED}-{}-{name}", std::process::id()));
    let path = directory.join(name);
    let written = put_whole(&path, &unfinished, bytes, mode, Lasting::OnDisk);
    written.and_then(|()| File::open(directory)?.sync_all()).map_err(|source| InForceError::File { path, source })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn rules_are_in_force_until_others_take_their_place() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        assert!(read(path).unwrap().is_none());
        let rules = RuleSet { steps: 7, ..RuleSet::default() };
        let number = put_for(path, &rules, 0o640).unwrap();
        let (found, found_number) = read(path).unwrap().unwrap();
        assert_eq!((found.steps, found_number), (7, number));
        assert_eq!(fs::metadata(path.join(RULES)).unwrap().permissions().mode() & 0o777, 0o640);
        assert_ne!(number_of(&RuleSet::default()).unwrap(), number);
        assert_ne!(put(path, &RuleSet::default()).unwrap(), number);
        assert_eq!(fs::read_dir(path).unwrap().count(), 1, "nothing is left beside it");
        assert!(remove(path).unwrap() && !remove(path).unwrap() && read(path).unwrap().is_none());
    }

    #[test]
    fn a_file_of_something_else_is_no_rules_and_no_state() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        fs::write(path.join(RULES), "x").unwrap();
        assert!(read(path).unwrap_err().to_string().contains("no file of compiled rules"));
        fs::write(path.join(RULES_STATE), "x").unwrap();
        assert_eq!(state(path).unwrap_err().damaged(), Some(&*path.join(RULES_STATE)));
        fs::write(path.join(RULES_TABLES), "{\"qos\":").unwrap();
        assert_eq!(site_tables(path).unwrap_err().damaged(), Some(&*path.join(RULES_TABLES)));
    }

    #[test]
    fn what_became_of_the_rules_is_read_as_it_was_written() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(state(directory.path()).unwrap(), None);
        let in_force = InForce { since: 5, by: Loader::Command, number: "0f".to_owned(), rules: 3, files: vec!["a.toml".to_owned()] };
        let written =
            LoadState { compiled_at: 9, errors: vec!["a.toml:1:2: error: x".to_owned()], warnings: Vec::new(), in_force: Some(in_force) };
        put_state(directory.path(), &written).unwrap();
        assert_eq!(state(directory.path()).unwrap(), Some(written.clone()));
        assert!(written.is_broken());
    }
}
