//! What the daemon's guard has found, for the commands that show it.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use job_types::time::Seconds;
use simulator::guard::state::{Act, Guard, GuardError, PolicyStanding, Standing};
use slurm_conf::state_directory::GUARD;
use slurm_conf::trusted::read_owned;
use thiserror::Error;

use crate::installation::Installation;

/// The most that is read, in bytes: many times what 1,000 partitions take.
const LARGEST: usize = 256 << 20;

/// What the guard has found, and what the site lets it do.
#[derive(Debug)]
pub(crate) struct GuardFile {
    /// What the site lets it do, by its configuration as it is now.
    pub(crate) act: Act,
    /// What it has found; `None` where it has not run yet.
    pub(crate) guard: Option<Guard>,
}

/// Why what the guard has found can't be read.
#[derive(Debug, Error)]
pub(crate) enum GuardFileError {
    /// The system does not let it be read, or others could have written it.
    #[error("{}: {}", .0.display(), .1)]
    Unreadable(PathBuf, io::Error),
    /// It is not what a guard writes.
    #[error("{}: {}", .0.display(), .1)]
    Damaged(PathBuf, GuardError),
}

impl GuardFile {
    /// Reads what the guard has found from the state directory.
    ///
    /// # Errors
    /// The file is there and can't be used.
    pub(crate) fn of(installation: &Installation) -> Result<Self, GuardFileError> {
        let path = installation.directory.join(GUARD);
        let guard = match read_owned(&path, LARGEST) {
            Ok(text) => Some(Guard::read(&text).map_err(|error| GuardFileError::Damaged(path, error))?),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(GuardFileError::Unreadable(path, error)),
        };
        let act = installation.guard_act.or(guard.as_ref().map(|guard| guard.act)).unwrap_or_default();
        Ok(Self { act, guard })
    }

    /// The policies that were judged, in the order of their partitions. None while the guard is
    /// off: nothing is held back then, and what was found becomes old.
    pub(crate) fn policies(&self) -> &[PolicyStanding] {
        match (&self.guard, self.act) {
            (None, _) | (_, Act::Off) => &[],
            (Some(guard), _) => &guard.policies,
        }
    }

    /// Whether submissions are decided about as in `observe` because of how a policy stands.
    pub(crate) fn is_held_back(&self, standing: &PolicyStanding) -> bool {
        self.guard.as_ref().is_some_and(|guard| self.act != Act::Off && guard.is_held_back(&standing.partition, standing.policy))
    }

    /// Why the last replay gave no answer; `None` where it gave one, or none was tried.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.guard.as_ref().filter(|_| self.act != Act::Off)?.last_try.as_ref()?.failure.as_deref()
    }

    /// How the policies stand, in one line without a stop.
    pub(crate) fn verdict(&self) -> String {
        if self.act == Act::Off {
            return "off: [guard] act in queuecast.toml lets nothing be replayed, and policies stand as the site has set them".to_owned();
        }
        let Some(guard) = self.guard.as_ref().filter(|guard| guard.last_try.is_some()) else {
            return "has not replayed anything yet: queuecastd does where molding or deferral is enforced, once in every [guard] interval"
                .to_owned();
        };
        if guard.last_success.is_none() {
            return "no replay has given an answer yet, and policies stand as the site has set them".to_owned();
        }
        if guard.policies.is_empty() {
            return "judges nothing: neither molding nor deferral is enforced in any partition".to_owned();
        }
        let bad: Vec<&PolicyStanding> = guard.policies.iter().filter(|found| found.standing == Standing::Bad).collect();
        let named = |found: &&PolicyStanding| format!("{} in {}", found.policy.name(), found.partition);
        let names = bad.iter().map(named).collect::<Vec<_>>().join(", ");
        match (bad.is_empty(), self.act) {
            (true, _) => format!("every policy that is enforced stands, by replays of the last {}", Seconds(guard.window_s)),
            (false, Act::Warn) => format!("warns of {names}, and lets it stand ([guard] act)"),
            (false, _) => format!("holds back {names}"),
        }
    }
}
