//! A job description as slurmctld hands it to a `job_submit` plugin, without sentinel values and
//! pointers.
//!
//! What is unset in C (NULL, `NO_VAL`) is `None` here. Strings that are not UTF-8 read as absent.

use crate::bindings::{self, INFINITE, NO_VAL, job_desc_msg_t};
use crate::sentinel::{count, moment, written};
use crate::text::{SlurmText, allocate, borrow};
use job_types::number::UserId;
use std::ffi::c_char;
use std::hash::{DefaultHasher, Hasher};

/// A job description that belongs to slurmctld.
#[derive(Debug)]
pub struct JobDescription<'a>(pub(crate) &'a mut job_desc_msg_t);

/// Names a list of `NAME=value` strings of a job description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variables {
    /// The job's own environment; filled for batch jobs only.
    Environment,
    /// What SPANK plugins set for the job's prolog and epilog.
    Control,
}

/// A list of texts of a job description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListField {
    /// The name of the script and its arguments.
    Argv,
    /// The job's environment, as `NAME=value`; filled for batch jobs only.
    Environment,
    /// What SPANK plugins set for prolog and epilog, as `NAME=value`.
    SpankJobEnv,
}

/// Whether a string of a description begins with these bytes, none of which may be NUL.
fn begins(entry: *const c_char, bytes: impl Iterator<Item = u8>) -> bool {
    // SAFETY: a string of the description ends with NUL, which is none of the bytes that it is
    // compared with, as the first comparison sees: the comparison ends there at the latest.
    !entry.is_null() && bytes.enumerate().all(|(place, byte)| byte != 0 && unsafe { *entry.add(place) } as u8 == byte)
}

impl<'a> JobDescription<'a> {
    /// Takes the description that slurmctld passed to the plugin.
    ///
    /// # Safety
    /// `description` is NULL or a valid job description that nobody else uses during `'a`, with
    /// strings and arrays of Slurm's allocator.
    pub unsafe fn from_raw(description: *mut job_desc_msg_t) -> Option<JobDescription<'a>> {
        // SAFETY: as the caller promises.
        unsafe { description.as_mut() }.map(JobDescription)
    }

    fn string(&self, text: *const c_char) -> Option<&str> {
        // SAFETY: strings of the description live and stay as they are while it is borrowed;
        // setters take it mutably.
        unsafe { borrow(text) }
    }

    fn is_given(&self, text: *const c_char) -> bool {
        // SAFETY: a string of the description that is not NULL has at least its end.
        !text.is_null() && unsafe { *text } != 0
    }

    /// Numeric id of the job's user.
    #[must_use]
    pub fn user(&self) -> UserId {
        UserId(self.0.user_id)
    }

    /// Name of the job.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.string(self.0.name)
    }

    /// The partition, or several separated by commas.
    #[must_use]
    pub fn partition(&self) -> Option<&str> {
        self.string(self.0.partition).filter(|name| !name.is_empty())
    }

    /// The fewest nodes that the job accepts; `None` where it does not say.
    #[must_use]
    pub fn min_nodes(&self) -> Option<u32> {
        count(self.0.min_nodes)
    }

    /// The fewest CPUs that the job accepts; `None` where it does not say.
    #[must_use]
    pub fn min_cpus(&self) -> Option<u32> {
        count(self.0.min_cpus)
    }

    /// Whether it asks for no time limit.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        self.0.time_limit == INFINITE
    }

    /// When the job must have ended, in Unix seconds.
    #[must_use]
    pub fn deadline(&self) -> Option<i64> {
        moment(self.0.deadline)
    }

    /// Whether it is a batch job.
    #[must_use]
    pub fn is_batch(&self) -> bool {
        !self.0.script.is_null() || !self.0.script_buf.is_null()
    }

    /// Whether it is only asked when the job would run, as `--test-only` does. Slurm's library
    /// notes the session of who submits in every request that makes a job, and in no request that
    /// tests one (src/api/submit.c and allocate.c). A client of another make can send either in
    /// either place, so that nothing may rest on it that would hurt others.
    #[must_use]
    pub fn is_only_tested(&self) -> bool {
        self.0.alloc_sid == NO_VAL
    }

    /// Whether it is a copy that another cluster of a federation has sent. That cluster has given
    /// the job its number, and its own plugins have seen it before (src/slurmctld/fed_mgr.c).
    #[must_use]
    pub fn is_sibling_copy(&self) -> bool {
        self.0.fed_siblings_viable != 0
    }

    /// Whether it says on which clusters of a federation it may run.
    #[must_use]
    pub fn chooses_clusters(&self) -> bool {
        self.is_given(self.0.cluster_features)
    }

    /// Whether it is an entry of somebody's scrontab.
    #[must_use]
    pub fn is_cron(&self) -> bool {
        !self.0.crontab_entry.is_null()
    }

    /// The administrator's comment.
    #[must_use]
    pub fn admin_comment(&self) -> Option<&str> {
        self.string(self.0.admin_comment).filter(|comment| !comment.is_empty())
    }

    pub(crate) fn list_of(&self, field: ListField) -> &[*mut c_char] {
        let (list, entries) = match field {
            ListField::Argv => (self.0.argv, self.0.argc),
            ListField::Environment => (self.0.environment, self.0.env_size),
            ListField::SpankJobEnv => (self.0.spank_job_env, self.0.spank_job_env_size),
        };
        let Some(entries) = count(entries).filter(|_| !list.is_null()) else {
            return &[];
        };
        // SAFETY: slurmctld unpacks the list with so many entries, and it lives as long as the
        // description.
        unsafe { std::slice::from_raw_parts(list, entries as usize) }
    }

    fn list(&self, which: Variables) -> &[*mut c_char] {
        self.list_of(match which {
            Variables::Environment => ListField::Environment,
            Variables::Control => ListField::SpankJobEnv,
        })
    }

    /// The variables of a list whose names begin with `prefix`, as names and values; entries that
    /// are NULL, not UTF-8 or without `=` are passed over. Of the others only the first bytes are
    /// looked at.
    pub fn variables<'s>(&'s self, which: Variables, prefix: &'s str) -> impl Iterator<Item = (&'s str, &'s str)> {
        let of_prefix = self.list(which).iter().filter(move |entry| begins(**entry, prefix.bytes()));
        of_prefix.filter_map(|entry| self.string(*entry)?.split_once('='))
    }

    /// Whether the job's environment has a variable of that name.
    #[must_use]
    pub fn has_variable(&self, name: &str) -> bool {
        self.place_of(name).is_some()
    }

    /// Returns the place of a variable in the job's environment: the last one, if there are
    /// several. Only the names are looked at, so that a long environment costs little.
    #[must_use]
    pub fn place_of(&self, name: &str) -> Option<usize> {
        self.list(Variables::Environment).iter().rposition(|entry| begins(*entry, name.bytes().chain([b'='])))
    }

    /// Sets fewest and most nodes. Here as in what sets other numbers, one that C would read as
    /// unset or unlimited is written as the greatest that it reads as a number.
    pub fn set_nodes(&mut self, nodes: u32) {
        self.0.min_nodes = written(nodes);
        self.0.max_nodes = written(nodes);
    }

    /// Sets the nodes that the job is to run on, by a list of names, and no others beside them.
    pub fn set_required_nodes(&mut self, names: SlurmText, count: u32) {
        names.put_into(&mut self.0.req_nodes);
        self.set_nodes(count);
    }

    /// Sets the tasks.
    pub fn set_tasks(&mut self, tasks: u32) {
        self.0.num_tasks = written(tasks);
    }

    /// Sets the fewest CPUs.
    pub fn set_min_cpus(&mut self, cpus: u32) {
        self.0.min_cpus = written(cpus);
    }

    /// Sets the time limit in minutes.
    pub fn set_time_limit(&mut self, minutes: u32) {
        self.0.time_limit = written(minutes);
    }

    /// Sets the shortest time limit in minutes.
    pub fn set_time_min(&mut self, minutes: u32) {
        self.0.time_min = written(minutes);
    }

    /// Takes the deadline out: 0 is none, which is what sbatch sends without the option
    /// (`slurm_init_job_desc_msg` in src/api/init_msg.c).
    pub fn clear_deadline(&mut self) {
        self.0.deadline = 0;
    }

    /// Sets when the job may begin, in Unix seconds.
    pub fn set_begin_time(&mut self, begin: i64) {
        self.0.begin_time = begin;
    }

    /// Sets the administrator's comment.
    pub fn set_admin_comment(&mut self, comment: SlurmText) {
        comment.put_into(&mut self.0.admin_comment);
    }

    /// Replaces a variable of the job's environment, where it is set, by `entry`, which is
    /// `NAME=value`. Returns whether it was set. Where it stands several times, the last is
    /// replaced and the others are taken out, so that every reader of the environment finds one
    /// value.
    pub fn replace_variable(&mut self, name: &str, entry: SlurmText) -> bool {
        let Some(last) = self.place_of(name) else { return false };
        self.put_variable(last, entry);
        self.remove_variables(name, Some(last));
        true
    }

    fn put_variable(&mut self, place: usize, entry: SlurmText) {
        // SAFETY: the callers take `place` of the list of the environment, which belongs to the
        // description.
        entry.put_into(unsafe { &mut *self.0.environment.add(place) });
    }

    /// Sets a variable of the job's environment to `entry`, which is `NAME=value`, or takes it out
    /// where there is none; afterwards it is there once at most. A job without an environment, as
    /// those of salloc and srun are, gets none, and without memory for a longer list a variable
    /// that was not there is not added.
    pub fn set_variable(&mut self, name: &str, entry: Option<SlurmText>) {
        match entry {
            Some(entry) => match self.place_of(name) {
                Some(last) => {
                    self.put_variable(last, entry);
                    self.remove_variables(name, Some(last));
                }
                None => drop(self.add_variables(vec![entry])),
            },
            None => self.remove_variables(name, None),
        }
    }

    /// Takes out each entry of a variable but the one in the place that stays; those behind move
    /// up.
    fn remove_variables(&mut self, name: &str, stays: Option<usize>) {
        let count = self.list(Variables::Environment).len();
        let mut kept = 0;
        for place in 0..count {
            if stays != Some(place) && self.is_variable_at(place, name) {
                // SAFETY: `place` lies in the list of the environment, which belongs to the
                // description.
                crate::text::free(unsafe { &mut *self.0.environment.add(place) });
            } else {
                if kept != place {
                    // SAFETY: both places lie in the list, and are two of its entries; the one that
                    // is kept is NULL, as its string was freed or has moved up.
                    unsafe { std::ptr::swap(self.0.environment.add(kept), self.0.environment.add(place)) };
                }
                kept += 1;
            }
        }
        if kept < count {
            self.0.env_size = u32::try_from(kept).unwrap_or(u32::MAX);
        }
    }

    fn is_variable_at(&self, place: usize, name: &str) -> bool {
        self.list(Variables::Environment).get(place).is_some_and(|at| begins(*at, name.bytes().chain([b'='])))
    }

    /// Adds `entries` to the job's environment; `false`, with nothing changed, where it has none or
    /// there is no memory.
    pub fn add_variables(&mut self, entries: Vec<SlurmText>) -> bool {
        let present = self.list(Variables::Environment).len();
        if present == 0 {
            return false;
        }
        let (Some(count), Some(size)) = (present.checked_add(entries.len()), u32::try_from(present + entries.len()).ok()) else {
            return false;
        };
        // One more, as slurmctld's own lists end with NULL.
        let Some(list) = allocate(count + 1, size_of::<*mut c_char>()) else { return false };
        let list = list.cast::<*mut c_char>();
        // SAFETY: the new list has room for `count + 1` entries, the old one has `present`; they do
        // not overlap.
        unsafe { std::ptr::copy_nonoverlapping(self.0.environment, list, present) };
        for (place, entry) in entries.into_iter().enumerate() {
            // SAFETY: `present + place` is below `count`; the slot is NULL, as the memory was
            // zeroed.
            entry.put_into(unsafe { &mut *list.add(present + place) });
        }
        let mut old = std::mem::replace(&mut self.0.environment, list).cast();
        self.0.env_size = size;
        // SAFETY: the old list came from Slurm's allocator; its strings are in the new one.
        unsafe { bindings::slurm_xfree(&raw mut old) };
        true
    }
}

/// The message that slurmctld sends back with its answer.
#[derive(Debug)]
pub struct UserMessage<'a> {
    place: Option<&'a mut *mut c_char>,
    /// Lines that the user has been told, by [`line_number`], and that are not added again.
    told: Vec<u64>,
    /// Lines that were to be added.
    said: Vec<u64>,
}

/// A number by which a line is known. Digits do not count: a time span that is told again a second
/// later is the same line.
fn line_number(line: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.bytes().filter(|byte| !byte.is_ascii_digit()).for_each(|byte| hasher.write_u8(byte));
    hasher.finish()
}

impl UserMessage<'_> {
    /// Takes the place for the message that slurmctld passed to the plugin.
    ///
    /// # Safety
    /// `place` is NULL or points to NULL or to a string of Slurm's allocator, and nobody else uses
    /// it during `'a`.
    pub unsafe fn from_raw<'a>(place: *mut *mut c_char) -> UserMessage<'a> {
        // SAFETY: as the caller promises.
        UserMessage { place: unsafe { place.as_mut() }, told: Vec::new(), said: Vec::new() }
    }

    /// Leaves out, from now on, lines that the user was told before.
    pub fn leave_out(&mut self, told: Vec<u64>) {
        self.told = told;
    }

    /// The lines that were added or left out, by which [`UserMessage::leave_out`] knows them.
    #[must_use]
    pub fn take_said(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.said)
    }

    /// What other plugins have said, as far as it is UTF-8.
    #[must_use]
    pub fn said(&self) -> Option<&str> {
        let place = self.place.as_deref()?;
        // SAFETY: the place holds NULL or a string, which lives for as long as this is borrowed.
        unsafe { borrow(*place) }.filter(|said| !said.is_empty())
    }

    /// Adds a line to what other plugins have said. Without memory for it, the user is told
    /// nothing.
    pub fn add(&mut self, line: &str) {
        let number = line_number(line);
        self.said.push(number);
        let Some(place) = self.place.as_deref_mut().filter(|_| !self.told.contains(&number)) else { return };
        // SAFETY: the place holds NULL or a string that lives until it is replaced below.
        let said = unsafe { borrow(*place) }.filter(|said| !said.is_empty());
        let message = match said {
            Some(said) => SlurmText::new(&format!("{said}\n{line}")),
            None => SlurmText::new(line),
        };
        if let Some(message) = message {
            message.put_into(place);
        }
    }
}
