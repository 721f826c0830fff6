//! What the site keeps users from seeing of each other, as slurmctld has it now.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use rules_compiler::in_force::FOR_ALL;
use slurm_sys::client::PrivateData;

/// What the owner of a file writes and its group reads. Of the daemon's group are those whom the
/// site lets see everything.
const FOR_GROUP: u32 = 0o640;

/// What is private, which slurmctld may say otherwise with every reconfiguration. Copies are of one
/// value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Privacy(Arc<AtomicU8>);

const JOBS: u8 = 1;
const PEOPLE: u8 = 2;

impl Privacy {
    /// What slurm.conf said at the start.
    pub(crate) fn new(private: PrivateData) -> Self {
        let privacy = Self::default();
        privacy.set(private);
        privacy
    }

    /// Takes what slurmctld says now. Returns whether that is another thing.
    pub(crate) fn set(&self, private: PrivateData) -> bool {
        let jobs = if private.jobs || private.users { JOBS } else { 0 };
        let people = if private.users || private.accounts { PEOPLE } else { 0 };
        self.0.swap(jobs | people, Ordering::Relaxed) != jobs | people
    }

    /// A number that is another one after each change.
    pub(crate) fn state(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether users are kept from seeing each other's jobs, or each other.
    pub(crate) fn hides_jobs(&self) -> bool {
        self.state() & JOBS != 0
    }

    /// Returns the mode of a file that names jobs and their users: who may read it.
    pub(crate) fn mode_of_jobs(&self) -> u32 {
        if self.hides_jobs() { FOR_GROUP } else { FOR_ALL }
    }

    /// Returns the mode of a file that names users and accounts: who may read it.
    pub(crate) fn mode_of_people(&self) -> u32 {
        if self.state() & PEOPLE != 0 { FOR_GROUP } else { FOR_ALL }
    }

    /// Returns the mode of a file that names users, accounts and jobs: who may read it.
    pub(crate) fn mode_of_all(&self) -> u32 {
        self.mode_of_jobs() & self.mode_of_people()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_for_those_whom_private_data_leaves() {
        let none = PrivateData::default();
        let privacy = Privacy::new(none);
        assert_eq!((privacy.mode_of_jobs(), privacy.mode_of_people(), privacy.mode_of_all()), (0o644, 0o644, 0o644));
        assert!(privacy.set(PrivateData { accounts: true, ..none }) && !privacy.set(PrivateData { accounts: true, ..none }));
        assert_eq!((privacy.mode_of_jobs(), privacy.mode_of_people(), privacy.mode_of_all()), (0o644, 0o640, 0o640));
        assert!(privacy.clone().set(PrivateData { jobs: true, ..none }), "copies are of one value");
        assert_eq!((privacy.mode_of_jobs(), privacy.mode_of_people(), privacy.mode_of_all()), (0o640, 0o644, 0o640));
        assert!(privacy.set(PrivateData { users: true, ..none }));
        assert_eq!((privacy.mode_of_jobs(), privacy.mode_of_people()), (0o640, 0o640));
    }
}
