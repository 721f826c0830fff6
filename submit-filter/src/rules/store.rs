//! Takes up the compiled rules and what the daemon knows of users and jobs, from their files in the
//! state directory.
//!
//! Rules are the site's policy and don't lapse: a file that can't be used leaves those in force
//! that were good last, and so does a directory that is gone. A copy of these is kept in the
//! directory for the next start of slurmctld. Whoever takes the site's rules out of force removes
//! their file, and the copy goes with it, also where slurmctld was down meanwhile. A submission
//! takes all that it is judged by at once, so that no other rules come in between.

use super::counting::Counting;
use crate::watch::{DirectoryState, Identity, Switch, Watch};
use job_types::time::UnixTime;
use parking_lot::{Mutex, RwLock};
use site_rules::data::{self, DataError, DataFile};
use site_rules::field::FieldNumber;
use site_rules::file::{self, FileError};
use site_rules::let_through::LetThrough;
use site_rules::program::Instruction;
use site_rules::rules::RuleSet;
use site_rules::submission::Surrounding;
use site_rules::throttle::Throttle;
use slurm_conf::state_directory::{HAND_OVER, RULES, RULES_DATA, RULES_IN_FORCE, RULES_OFF};
use slurm_conf::trusted::{is_there, open_trusted, read_start};
use slurm_sys::memory::HandOver;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// The rules that requests are judged by, with what is known of users and jobs.
#[derive(Clone, Debug)]
pub(crate) struct InForce {
    pub(crate) rules: Arc<Rules>,
    pub(crate) data: Option<Arc<DataFile>>,
}

impl InForce {
    /// Whether there are any rules.
    pub(crate) fn has_rules(&self) -> bool {
        !self.rules.set.rules.is_empty()
    }
}

/// A set of rules that was taken up.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) set: RuleSet,
    /// The number by which the file is known.
    pub(crate) number: u64,
    /// The fields that rules ask of the job that is to be modified, as it is.
    pub(crate) current_fields: Vec<FieldNumber>,
    /// Whether rules ask how many jobs a user has submitted, and how many the user has.
    pub(crate) asks_for_submissions: bool,
    pub(crate) asks_for_jobs: bool,
}

/// Why a file is not taken up.
#[derive(Debug, Error)]
enum NotTaken {
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    #[error("{0}")]
    Rules(#[from] FileError),
    #[error("{0}")]
    Data(#[from] DataError),
}

/// Rules from a directory, and what is counted by them.
#[derive(Debug)]
pub(crate) struct RuleStore {
    directory: PathBuf,
    rules: PathBuf,
    data_file: PathBuf,
    hand_over: PathBuf,
    watch: Watch,
    off: Switch,
    /// Held for as long as pointers are copied.
    in_force: RwLock<Option<InForce>>,
    seen: Mutex<Seen>,
    pub(crate) counting: Counting,
    /// What users have submitted since this process began.
    pub(crate) throttle: Mutex<Throttle>,
    /// What was let through since the daemon has counted jobs.
    pub(crate) let_through: Mutex<LetThrough>,
}

/// What was looked at last.
#[derive(Debug, Default)]
struct Seen {
    /// `None` before the first look.
    rules: Option<Option<Identity>>,
    data_file: Option<Identity>,
    hand_over: Option<Identity>,
    /// What is known of users and jobs, also where there are no rules yet.
    data: Option<Arc<DataFile>>,
    /// Whether the log says that the file of rules can't be looked at.
    is_told: bool,
}

impl RuleStore {
    pub(crate) fn new(directory: &Path) -> RuleStore {
        RuleStore {
            directory: directory.to_owned(),
            rules: directory.join(RULES),
            data_file: directory.join(RULES_DATA),
            hand_over: directory.join(HAND_OVER),
            watch: Watch::new(directory),
            off: Switch::new(directory, RULES_OFF),
            in_force: RwLock::new(None),
            seen: Mutex::new(Seen::default()),
            counting: Counting::new(),
            throttle: Mutex::new(Throttle::new()),
            let_through: Mutex::new(LetThrough::new()),
        }
    }

    /// The directory that it looks at.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The present state of the directory; `None` where it can't be looked at.
    pub(crate) fn directory_state(&self, now: UnixTime) -> Option<DirectoryState> {
        self.watch.state(now)
    }

    /// The rules in force; `None` where there are none, or they are switched off. A directory in
    /// whose state nothing has changed is not looked into.
    pub(crate) fn look(&self, state: Option<DirectoryState>) -> Option<InForce> {
        let is_off = self.off.known(state).unwrap_or_else(|| {
            let is_off = self.off.is_on();
            // If the directory can't be looked at, nothing is known of it and everything stays as
            // it is.
            if is_off || (state.is_some() && self.refresh()) {
                self.off.looked_through(state, is_off);
            }
            is_off
        });
        if is_off { None } else { self.in_force.read().clone() }
    }

    /// Takes up what is new. `false` where another thread is doing so, when whoever comes meanwhile
    /// is judged by the rules before, and does not wait; or where something can't be looked at,
    /// which is tried again: what was in the way may go without a change of the directory.
    fn refresh(&self) -> bool {
        let Some(mut seen) = self.seen.try_lock() else { return false };
        let data_file = Identity::of(&self.data_file).unwrap_or(seen.data_file);
        if data_file != seen.data_file {
            seen.data_file = data_file;
            match data_file.map(|_| self.read_data()) {
                Some(Ok(data)) => {
                    // The one before is given back behind the lock.
                    let _before = seen.data.replace(data.clone());
                    if let Some(in_force) = &mut *self.in_force.write() {
                        in_force.data = Some(data);
                    }
                }
                Some(Err(error)) => {
                    error_line(&format!("what is known of users and jobs is not taken up, and what was before is used: {error}"));
                }
                // What was known stays known; its age is told to rules.
                None => {}
            }
        }
        let looked = Identity::of(&self.rules);
        if let Err(error) = &looked {
            self.keep_rules(&mut seen, error);
        }
        if let Ok(rules) = looked
            && seen.rules != Some(rules)
        {
            seen.is_told = false;
            let is_first = seen.rules.replace(rules).is_none();
            match rules {
                Some(_) => self.take_rules(seen.data.clone()),
                // There never were any, or none since their copy was removed.
                None if is_first && !self.has_copy() => {}
                None => self.remove(),
            }
        }
        let hand_over = Identity::of(&self.hand_over).unwrap_or(seen.hand_over);
        if hand_over != seen.hand_over {
            seen.hand_over = hand_over;
            // Why one can't be read is said where snapshots are taken up.
            if let Some(Ok(hand_over)) = hand_over.map(|_| HandOver::read(&self.hand_over)) {
                self.counting.take_page(&hand_over);
            }
        }
        looked.is_ok()
    }

    /// Leaves the rules in force that are, or were in force last, where their file can't be looked
    /// at: only that it is not there says that they were removed.
    fn keep_rules(&self, seen: &mut Seen, error: &io::Error) {
        if std::mem::replace(&mut seen.is_told, true) {
            return;
        }
        if self.in_force.read().is_some() {
            return error_line(&format!("{} can't be looked at, and the rules in force stay: {error}", self.rules.display()));
        }
        self.take_rules(seen.data.clone());
    }

    fn take_rules(&self, data: Option<Arc<DataFile>>) {
        let present = self.in_force.read().as_ref().map(|in_force| in_force.rules.number);
        match read_rules(&self.rules) {
            Ok((rules, bytes)) => {
                if present != Some(rules.number) {
                    self.put(rules, data);
                }
                if let Err(error) = self.keep(&bytes) {
                    error_line(&format!("the rules in force can't be kept for the next start of slurmctld: {error}"));
                }
            }
            Err(error) if present.is_some() => {
                error_line(&format!("the new rules are not used, and those before stay in force: {error}"));
            }
            Err(error) => match read_rules(&self.directory.join(RULES_IN_FORCE)) {
                Ok((rules, _)) => {
                    error_line(&format!("the rules are not used, and those that were in force last are: {error}"));
                    self.put(rules, data);
                }
                Err(_) => error_line(&format!(
                    "the rules can't be used, and NO RULE IS IN FORCE until queuecastd or `queuecast filter load` writes {} anew: {error}",
                    self.rules.display()
                )),
            },
        }
    }

    /// Whether there may be a copy of rules that were in force.
    fn has_copy(&self) -> bool {
        is_there(&self.directory.join(RULES_IN_FORCE)).unwrap_or(true)
    }

    /// Takes the rules out of force, with the copy of them.
    fn remove(&self) {
        let before = self.in_force.write().take();
        drop(before);
        self.counting.begin(0, 0);
        error_line("the file of rules was removed: no rule of the site is in force");
        if let Err(error) = fs::remove_file(self.directory.join(RULES_IN_FORCE))
            && error.kind() != io::ErrorKind::NotFound
        {
            error_line(&format!("the copy of the rules that were in force can't be removed: {error}"));
        }
    }

    fn put(&self, rules: Rules, data: Option<Arc<DataFile>>) {
        let count = rules.set.rules.len();
        slurm_sys::log::info(&format!("job_submit/queuecast: {count} rules of the site are in force, number {:016x}", rules.number));
        self.counting.begin(rules.number, count);
        let before = self.in_force.write().replace(InForce { rules: Arc::new(rules), data });
        drop(before);
    }

    fn read_data(&self) -> Result<Arc<DataFile>, NotTaken> {
        let bytes = read(&self.data_file, data::LARGEST)?;
        Ok(Arc::new(DataFile::decode(bytes)?))
    }

    /// Keeps a copy of the rules that were good.
    fn keep(&self, bytes: &[u8]) -> io::Result<()> {
        let kept = self.directory.join(RULES_IN_FORCE);
        if open_trusted(&kept).is_ok_and(|(_, metadata)| metadata.len() == bytes.len() as u64)
            && read(&kept, bytes.len()).is_ok_and(|before| before == bytes)
        {
            return Ok(());
        }
        let unfinished = kept.with_extension("new");
        // A process before this one may have left such a file.
        let _ = fs::remove_file(&unfinished);
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&unfinished)
            .and_then(|mut file| file.write_all(bytes))
            .and_then(|()| fs::rename(&unfinished, &kept));
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        written
    }

    /// Gives everything back, so that the next look is a first one. No request may be under way.
    pub(crate) fn let_go(&self) {
        *self.seen.lock() = Seen::default();
        *self.in_force.write() = None;
        self.counting.let_go();
        self.watch.forget();
        self.off.forget();
    }
}

fn read_rules(path: &Path) -> Result<(Rules, Vec<u8>), NotTaken> {
    let bytes = read(path, file::LARGEST)?;
    let set = file::decode(&bytes)?;
    let current_fields = set.fields_of_current();
    let asks_for = |all: &[Surrounding]| {
        set.program.code.iter().any(|one| matches!(one, Instruction::Read(other) | Instruction::Knows(other) if all.contains(other)))
    };
    let asks_for_submissions = asks_for(&[Surrounding::SubmissionsLastHour]);
    let asks_for_jobs = asks_for(&[Surrounding::JobsPending, Surrounding::JobsRunning]);
    Ok((Rules { set, number: file::number(&bytes), current_fields, asks_for_submissions, asks_for_jobs }, bytes))
}

/// Reads a trusted file of at most so many bytes.
fn read(path: &Path, largest: usize) -> io::Result<Vec<u8>> {
    let (file, metadata) = open_trusted(path)?;
    let length = usize::try_from(metadata.len()).ok().filter(|length| *length <= largest);
    let length = length.ok_or_else(|| io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {largest} bytes")))?;
    read_start(&file, length)
}

fn error_line(line: &str) {
    slurm_sys::log::error(&format!("job_submit/queuecast: {line}"));
}
