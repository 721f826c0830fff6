//! Writing records of the past into slurmdbd: accounts, users, associations, and jobs that ended
//! long ago.
//!
//! Everything goes through slurmdbd's own protocol, as `sacctmgr` does it, so that no password of
//! the database is needed. Jobs go in as the text of an archive, which slurmdbd loads for
//! `SlurmUser` and administrators (`sacctmgr archive load`;
//! src/plugins/accounting_storage/mysql/as_mysql_archive.c).
//!
//! An [`AccountingWriter`] is one transaction at a time: what is not committed is gone when it is
//! dropped, or when its connection breaks. What libslurm prints is kept off standard error while it
//! works; errors say what it would have said.

mod error;
mod quiet;
mod text;

use job_types::cluster_name::is_cluster_name;
use job_types::number::JobId;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;

pub use self::error::WriteError;
use self::error::{error_of, last_error};
use self::quiet::quietly;
pub use self::text::{EndState, PastJob, TimeLimit, job_insertion};
use crate::client;
use crate::client::library::libslurm;
use crate::client::list::{OwnedList, RecordList, TextList, c_text};
use crate::client::value::owned_text;
use crate::job_number::selected_job;
use crate::{bindings, errno};

/// A cluster that slurmdbd knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownCluster {
    /// The cluster's name.
    pub name: String,
    /// Whether a slurmctld has ever registered there, so that jobs of a real cluster are recorded
    /// under this name. slurmdbd forgets the address of a slurmctld that has gone, but never the
    /// version of its messages (src/plugins/accounting_storage/mysql/as_mysql_cluster.c).
    pub is_live: bool,
}

/// A user in an account of a cluster, or the account itself where there is no user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Association {
    /// slurmdbd's number for it, which jobs carry.
    pub id: u32,
    /// Name of the account.
    pub account: String,
    /// Name of the user; `None` for the account itself.
    pub user: Option<String>,
    /// The one partition for which the association holds; `None` if it holds for all.
    pub partition: Option<String>,
}

/// An association to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAssociation<'a> {
    /// Name of the account.
    pub account: &'a str,
    /// The user; `None` makes the account known to the cluster.
    pub user: Option<&'a str>,
    /// Whether this becomes the user's default account.
    pub is_default: bool,
}

/// What is known of one job, enough to recognise a record that was written here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobMark {
    /// The job's name.
    pub name: String,
    /// The job's system comment.
    pub system_comment: String,
}

/// A connection to slurmdbd that may change records.
#[derive(Debug)]
pub struct AccountingWriter {
    connection: *mut c_void,
}

impl AccountingWriter {
    /// Connects to the slurmdbd that slurm.conf names.
    ///
    /// # Errors
    ///
    /// [`WriteError::Client`] where slurm.conf cannot be used or names no slurmdbd,
    /// [`WriteError::Refused`] where slurmdbd does not answer.
    pub fn open() -> Result<Self, WriteError> {
        client::start::require_slurmdbd()?;
        client::last_error::forget();
        // SAFETY: libslurm is initialised; null asks for no flags.
        let connection = quietly(|| unsafe { libslurm().slurmdb_connection_get(ptr::null_mut()) });
        if connection.is_null() {
            return Err(last_error("answer"));
        }
        Ok(Self { connection })
    }

    /// The clusters that slurmdbd knows.
    ///
    /// # Errors
    ///
    /// Where slurmdbd does not answer.
    pub fn clusters(&mut self) -> Result<Vec<KnownCluster>, WriteError> {
        let connection = self.connection;
        // SAFETY: the connection is open; a null condition asks for all; the list is ours from
        // here.
        let received = receive("list its clusters", || unsafe { libslurm().slurmdb_clusters_get(connection, ptr::null_mut()) })?;
        let mut clusters = Vec::new();
        let add = |cluster: &bindings::slurmdb_cluster_rec_t| {
            // SAFETY: the name is null or null-terminated.
            let name = unsafe { owned_text(cluster.name) };
            clusters.extend(name.map(|name| KnownCluster { name, is_live: cluster.rpc_version != 0 }));
        };
        // SAFETY: slurmdbd answers with a list of such records.
        unsafe { received.for_each_record(add) };
        Ok(clusters)
    }

    /// The names of all accounts.
    ///
    /// # Errors
    ///
    /// Where slurmdbd does not answer.
    pub fn accounts(&mut self) -> Result<BTreeSet<String>, WriteError> {
        let connection = self.connection;
        // SAFETY: as in `clusters`.
        let received = receive("list its accounts", || unsafe { libslurm().slurmdb_accounts_get(connection, ptr::null_mut()) })?;
        let mut names = BTreeSet::new();
        // SAFETY: slurmdbd answers with a list of such records, whose names are null or
        // null-terminated.
        unsafe { received.for_each_record(|account: &bindings::slurmdb_account_rec_t| names.extend(owned_text(account.name))) };
        Ok(names)
    }

    /// The names of all users.
    ///
    /// # Errors
    ///
    /// Where slurmdbd does not answer.
    pub fn users(&mut self) -> Result<BTreeSet<String>, WriteError> {
        let connection = self.connection;
        // SAFETY: as in `clusters`.
        let received = receive("list its users", || unsafe { libslurm().slurmdb_users_get(connection, ptr::null_mut()) })?;
        let mut names = BTreeSet::new();
        // SAFETY: slurmdbd answers with a list of such records, whose names are null or
        // null-terminated.
        unsafe { received.for_each_record(|user: &bindings::slurmdb_user_rec_t| names.extend(owned_text(user.name))) };
        Ok(names)
    }

    /// The associations of a cluster.
    ///
    /// # Errors
    ///
    /// Where slurmdbd does not answer.
    pub fn associations(&mut self, cluster: &str) -> Result<Vec<Association>, WriteError> {
        let clusters = TextList::of(&[cluster])?;
        // SAFETY: a condition of zeroes and null pointers asks for everything.
        let mut condition: bindings::slurmdb_assoc_cond_t = unsafe { MaybeUninit::zeroed().assume_init() };
        condition.cluster_list = clusters.as_ptr();
        let connection = self.connection;
        // SAFETY: the connection is open, and the condition and all that it points to live until
        // the answer is there.
        let received = receive("list its associations", || unsafe { libslurm().slurmdb_associations_get(connection, &raw mut condition) })?;
        let mut found = Vec::new();
        let add = |association: &bindings::slurmdb_assoc_rec_t| {
            // SAFETY: the record's texts are null or null-terminated.
            let text = |text| unsafe { owned_text(text) };
            if let Some(account) = text(association.acct) {
                let (user, partition) = (text(association.user), text(association.partition));
                found.push(Association { id: association.id, account, user, partition });
            }
        };
        // SAFETY: slurmdbd answers with a list of such records.
        unsafe { received.for_each_record(add) };
        Ok(found)
    }

    /// Makes accounts that slurmdbd does not know yet.
    ///
    /// # Errors
    ///
    /// [`WriteError::Denied`] for a user who may not, [`WriteError::Refused`] where it did not
    /// work.
    pub fn add_accounts(&mut self, names: &[&str], description: &str) -> Result<(), WriteError> {
        if names.is_empty() {
            return Ok(());
        }
        let description = c_text(description)?;
        let names = names.iter().map(|name| c_text(name)).collect::<Result<Vec<_>, _>>()?;
        // SAFETY: a record of zeroes and null pointers is one in which nothing is set.
        let nothing_set = || unsafe { MaybeUninit::<bindings::slurmdb_account_rec_t>::zeroed().assume_init() };
        let mut records: Vec<bindings::slurmdb_account_rec_t> = names
            .iter()
            .map(|name| {
                let mut record = nothing_set();
                record.name = name.as_ptr().cast_mut();
                record.description = description.as_ptr().cast_mut();
                record.organization = description.as_ptr().cast_mut();
                record
            })
            .collect();
        let list = RecordList::of(&mut records);
        let connection = self.connection;
        // SAFETY: the connection is open; libslurm reads the records to send them, and they and
        // their texts live until it is done.
        done("add accounts", || unsafe { libslurm().slurmdb_accounts_add(connection, list.as_ptr()) })
    }

    /// Makes users that slurmdbd does not know yet, each with a default account. Never for a user
    /// that it knows: that would reset the user's admin level.
    ///
    /// # Errors
    ///
    /// As [`AccountingWriter::add_accounts`].
    pub fn add_users(&mut self, users: &[(&str, &str)]) -> Result<(), WriteError> {
        if users.is_empty() {
            return Ok(());
        }
        let texts = users.iter().map(|(name, account)| Ok((c_text(name)?, c_text(account)?))).collect::<Result<Vec<_>, WriteError>>()?;
        // SAFETY: as in `add_accounts`; zero is SLURMDB_ADMIN_NOTSET.
        let nothing_set = || unsafe { MaybeUninit::<bindings::slurmdb_user_rec_t>::zeroed().assume_init() };
        let mut records: Vec<bindings::slurmdb_user_rec_t> = texts
            .iter()
            .map(|(name, account)| {
                let mut record = nothing_set();
                record.name = name.as_ptr().cast_mut();
                record.default_acct = account.as_ptr().cast_mut();
                record.uid = bindings::NO_VAL;
                record
            })
            .collect();
        let list = RecordList::of(&mut records);
        let connection = self.connection;
        // SAFETY: as in `add_accounts`.
        done("add users", || unsafe { libslurm().slurmdb_users_add(connection, list.as_ptr()) })
    }

    /// Makes associations on a cluster. An account's own association has to be there before those
    /// of its users.
    ///
    /// # Errors
    ///
    /// As [`AccountingWriter::add_accounts`].
    pub fn add_associations(&mut self, cluster: &str, associations: &[NewAssociation<'_>]) -> Result<(), WriteError> {
        if associations.is_empty() {
            return Ok(());
        }
        let cluster = c_text(cluster)?;
        let root = c_text("root")?;
        let texts = associations
            .iter()
            .map(|association| Ok((c_text(association.account)?, association.user.map(c_text).transpose()?)))
            .collect::<Result<Vec<_>, WriteError>>()?;
        let mut records: Vec<bindings::slurmdb_assoc_rec_t> = associations
            .iter()
            .zip(&texts)
            .map(|(association, (account, user))| {
                let mut record = MaybeUninit::<bindings::slurmdb_assoc_rec_t>::zeroed();
                // SAFETY: libslurm fills a record in which every number is unset; zeroes are valid
                // for all its fields before that.
                let mut record = unsafe {
                    libslurm().slurmdb_init_assoc_rec(record.as_mut_ptr(), false);
                    record.assume_init()
                };
                record.cluster = cluster.as_ptr().cast_mut();
                record.acct = account.as_ptr().cast_mut();
                match user {
                    Some(user) => record.user = user.as_ptr().cast_mut(),
                    None => record.parent_acct = root.as_ptr().cast_mut(),
                }
                record.is_def = u16::from(association.is_default);
                record
            })
            .collect();
        let list = RecordList::of(&mut records);
        let connection = self.connection;
        // SAFETY: as in `add_accounts`.
        done("add associations", || unsafe { libslurm().slurmdb_associations_add(connection, list.as_ptr()) })
    }

    /// Adds records of ended jobs. Give some thousand at a time: slurmdbd makes one statement of
    /// them, and its time for that grows with the square of their number. The database bounds a
    /// statement too (`max_allowed_packet`, 16 MiB).
    ///
    /// # Errors
    ///
    /// As [`AccountingWriter::add_accounts`].
    pub fn add_jobs(&mut self, cluster: &str, jobs: &[PastJob<'_>]) -> Result<(), WriteError> {
        if jobs.is_empty() {
            return Ok(());
        }
        self.load_archive("add job records", &job_insertion(checked_cluster(cluster)?, jobs))
    }

    fn load_archive(&mut self, doing: &'static str, archive: &str) -> Result<(), WriteError> {
        let archive = c_text(archive)?;
        let mut record = bindings::slurmdb_archive_rec_t { archive_file: ptr::null_mut(), insert: archive.as_ptr().cast_mut() };
        let connection = self.connection;
        // SAFETY: the connection is open; libslurm reads the record and its text to send them, and
        // both live until it is done.
        done(doing, || unsafe { libslurm().slurmdb_archive_load(connection, &raw mut record) })
    }

    /// Looks jobs up by their numbers, all with one question: an answer takes slurmdbd some 80 ms
    /// however small it is. Of several runs of a job, any.
    ///
    /// # Errors
    ///
    /// Where slurmdbd does not answer.
    pub fn jobs(&mut self, cluster: &str, job_ids: &[u32]) -> Result<BTreeMap<u32, JobMark>, WriteError> {
        // Macros that bindgen does not evaluate (slurm/slurmdb.h): all runs, no steps, times as
        // they were; no condition on the start.
        const EVERY_RUN_WITHOUT_STEPS: u32 = 0b111;
        const ANY_START: u32 = 1;
        if job_ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        let clusters = TextList::of(&[cluster])?;
        let mut steps: Vec<_> = job_ids.iter().map(|job_id| selected_job(JobId(*job_id), None)).collect();
        let steps = RecordList::of(&mut steps);
        // SAFETY: a condition of zeroes and null pointers asks for everything.
        let mut condition: bindings::slurmdb_job_cond_t = unsafe { MaybeUninit::zeroed().assume_init() };
        condition.cluster_list = clusters.as_ptr();
        condition.step_list = steps.as_ptr();
        condition.flags = EVERY_RUN_WITHOUT_STEPS;
        condition.db_flags = ANY_START;
        let connection = self.connection;
        // SAFETY: the connection is open, and the condition and all that it points to live until
        // the answer is there.
        let received = receive("look jobs up", || unsafe { libslurm().slurmdb_jobs_get(connection, &raw mut condition) })?;
        let mut found = BTreeMap::new();
        let add = |job: &bindings::slurmdb_job_rec_t| {
            // SAFETY: the record's texts are null or null-terminated.
            let text = |text| unsafe { owned_text(text) }.unwrap_or_default();
            found.insert(job.jobid, JobMark { name: text(job.jobname), system_comment: text(job.system_comment) });
        };
        // SAFETY: slurmdbd answers with a list of such records.
        unsafe { received.for_each_record(add) };
        Ok(found)
    }

    /// Makes everything since the last commit lasting.
    ///
    /// # Errors
    ///
    /// [`WriteError::Refused`] where it did not work; then nothing has changed.
    pub fn commit(&mut self) -> Result<(), WriteError> {
        let connection = self.connection;
        // SAFETY: the connection is open.
        done("commit the records", || unsafe { libslurm().slurmdb_connection_commit(connection, true) })
    }
}

impl Drop for AccountingWriter {
    fn drop(&mut self) {
        // SAFETY: opened in `open`, closed once. slurmdbd undoes what was not committed.
        quietly(|| unsafe { libslurm().slurmdb_connection_close(&raw mut self.connection) });
    }
}

/// A cluster's name stands in the archive between quotes, and nothing there could be escaped.
fn checked_cluster(name: &str) -> Result<&str, WriteError> {
    if is_cluster_name(name) { Ok(name) } else { Err(WriteError::ClusterName { name: name.into() }) }
}

/// Runs a call that returns one of Slurm's error numbers, or -1 and the number in errno.
fn done(doing: &'static str, call: impl FnOnce() -> c_int) -> Result<(), WriteError> {
    client::last_error::forget();
    match quietly(call) {
        0 => Ok(()),
        -1 if errno::get() != 0 => Err(last_error(doing)),
        code => Err(error_of(doing, code)),
    }
}

/// Runs a call that returns a list, or null and an error number.
fn receive(doing: &'static str, call: impl FnOnce() -> *mut bindings::xlist) -> Result<OwnedList, WriteError> {
    client::last_error::forget();
    let list = quietly(call);
    // SAFETY: the calls of this module return a list that libslurm gives away, or null.
    unsafe { OwnedList::adopt(list) }.ok_or_else(|| last_error(doing))
}
