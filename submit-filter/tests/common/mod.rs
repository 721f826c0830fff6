//! A state directory with a snapshot of a known past, and job descriptions as slurmctld makes them.
#![allow(dead_code, unreachable_pub, unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod asking;
pub mod hostile;
pub mod running;

use job_types::job::EndedJob;
use job_types::number::UserId;
use job_types::policy::Policy;
use job_types::time::{Seconds, UnixTime};
use made_up_site::{MadeUpSite, USER, batch, ended_job, running_job};

use predictor_core::decisions::counters::Counter;
use predictor_core::decisions::refusals::SHOWN;
use predictor_core::snapshot::Snapshot;
use slurm_sys::bindings::{self, job_desc_msg_t};
use slurm_sys::memory::{CountsPage, HandOver, HandedCounts, HandedSnapshot, SealedMemory};
use snapshot_writer::PartitionState;
use std::ffi::{CStr, CString, c_char, c_int};
use std::path::{Path, PathBuf};
use std::ptr;
use std::time::{SystemTime, UNIX_EPOCH};

pub fn now() -> UnixTime {
    UnixTime(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64)
}

/// The partition `batch` with three running jobs and three that wait.
pub fn busy(published_at: UnixTime, policy: Policy) -> PartitionState {
    let running = |ends_in: i64| running_job(20, published_at - Seconds(100), published_at + Seconds(ends_in));
    PartitionState { running: vec![running(700), running(720), running(5_000)], pending_jobs: 3, pending_cpus: 300, ..batch(policy) }
}

/// A site of the partition `batch` under a policy; its snapshot has that number.
pub fn site(policy: Policy, published_at: UnixTime, generation: u64) -> MadeUpSite {
    MadeUpSite::new(published_at)
        .partition(busy(published_at, policy))
        .origin(|origin| (origin.generation, origin.site_policy) = (generation, policy))
}

/// The `n`-th job of a past on nodes of 4 CPUs.
pub fn past_job(published_at: UnixTime, n: i64, nodes: u32, limit: i64, wait: i64, run_time: i64) -> EndedJob<(), &'static str, ()> {
    ended_job(UserId(USER), published_at - Seconds(8_000_000 - n * 600), nodes, limit, wait, run_time)
}

/// A snapshot of a past of `jobs` jobs in which 16 nodes wait long and 4 do not, in one class each.
pub fn snapshot_bytes(policy: Policy, jobs: i64, published_at: UnixTime, generation: u64) -> Vec<u8> {
    let past = (0..jobs / 2).flat_map(|n| {
        let sizes = [(16, 3_600, 5_000 + n % 500, 500 + n % 40), (4, 7_200, n % 200, 1_000 + n % 90)];
        sizes.map(|(nodes, limit, wait, run_time)| past_job(published_at, n, nodes, limit, wait, run_time))
    });
    site(policy, published_at, generation).ended_jobs(past).bytes()
}

/// Puts a snapshot into place as the daemon does.
pub fn publish(directory: &Path, bytes: &[u8]) {
    let new = directory.join("snapshot.new");
    std::fs::write(&new, bytes).unwrap();
    std::fs::rename(new, directory.join("snapshot")).unwrap();
}

/// Compiles rules as the daemon does.
pub fn compiled(rules: &str) -> Vec<u8> {
    let read_file = |_: &str| Err("there are no files".to_owned());
    let source =
        rules_compiler::Source { name: "rules.toml".to_owned(), text: rules.to_owned(), is_configuration: false, read_file: &read_file };
    let compiled = rules_compiler::compile(&[source]);
    let set = compiled.rules.unwrap_or_else(|| panic!("{:?}", compiled.problems));
    site_rules::file::encode(&set).unwrap()
}

/// Compiles rules and puts them into place as the daemon does.
pub fn put_rules(directory: &Path, rules: &str) {
    put(directory, "rules", &compiled(rules));
}

/// Puts a file into place by a rename.
pub fn put(directory: &Path, name: &str, bytes: &[u8]) {
    let new = directory.join(format!("{name}.new"));
    std::fs::write(&new, bytes).unwrap();
    std::fs::rename(new, directory.join(name)).unwrap();
}

/// A job description with all numbers unset and all strings NULL, freed when dropped.
pub struct Description(pub Box<job_desc_msg_t>);

impl Description {
    pub fn unset() -> Description {
        // SAFETY: all fields are numbers and pointers, for which zero is a value; libslurm then
        // sets what is unset otherwise.
        let mut description: Box<job_desc_msg_t> = Box::new(unsafe { std::mem::zeroed() });
        // SAFETY: the pointer is to a whole job description of our own.
        unsafe { bindings::slurm_init_job_desc_msg(&raw mut *description) };
        // Which slurmctld does before it calls a plugin (src/slurmctld/proc_req.c).
        description.het_job_offset = bindings::NO_VAL;
        Description(description)
    }

    /// A batch job on so many nodes, as sbatch makes it.
    pub fn batch(nodes: u32, tasks: u32) -> Description {
        let mut description = Description::unset();
        description.0.user_id = USER;
        description.0.min_nodes = nodes;
        description.0.max_nodes = nodes;
        description.0.num_tasks = tasks;
        description.0.min_cpus = tasks;
        description.0.time_limit = 60;
        // Which the library sets where a job is really submitted (src/api/submit.c).
        description.0.alloc_sid = 1;
        description.0.script = text("#!/bin/sh\n");
        description.0.partition = text("batch");
        description.environment(&[&format!("SLURM_NTASKS={tasks}"), "HOME=/root", &format!("SLURM_NPROCS={tasks}")]);
        description
    }

    pub fn of_user(mut self, user: u32) -> Description {
        self.0.user_id = user;
        self
    }

    /// Describes the job as `--test-only` sends it.
    pub fn only_tested(mut self) -> Description {
        self.0.alloc_sid = bindings::NO_VAL;
        self
    }

    pub fn environment(&mut self, entries: &[&str]) {
        (self.0.environment, self.0.env_size) = list(entries);
    }

    pub fn free_environment(&mut self) {
        free_list(&mut self.0.environment, self.0.env_size);
        self.0.env_size = 0;
    }

    pub fn control(&mut self, entries: &[&str]) {
        (self.0.spank_job_env, self.0.spank_job_env_size) = list(entries);
    }

    pub fn with_control(mut self, entries: &[&str]) -> Description {
        self.control(entries);
        self
    }

    pub fn variable(&self, name: &str) -> Option<String> {
        (0..self.0.env_size as usize).find_map(|index| {
            // SAFETY: the list has `env_size` entries, each NULL or a string.
            let entry = read(unsafe { *self.0.environment.add(index) })?;
            entry.strip_prefix(name)?.strip_prefix('=').map(str::to_owned)
        })
    }
}

impl Drop for Description {
    fn drop(&mut self) {
        let description = &mut *self.0;
        free_list(&mut description.environment, description.env_size);
        free_list(&mut description.spank_job_env, description.spank_job_env_size);
        for field in [
            &mut description.script,
            &mut description.partition,
            &mut description.admin_comment,
            &mut description.array_inx,
            &mut description.req_nodes,
        ] {
            free(field);
        }
    }
}

pub fn text(text: &str) -> *mut c_char {
    let text = CString::new(text).unwrap();
    // SAFETY: the argument is a string.
    unsafe { bindings::slurm_xstrdup(text.as_ptr()) }
}

pub fn read(text: *const c_char) -> Option<String> {
    // SAFETY: NULL or a string.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

pub fn free(field: &mut *mut c_char) {
    // SAFETY: NULL or a string of Slurm's allocator.
    unsafe { bindings::slurm_xfree(ptr::from_mut(field).cast()) };
}

fn free_list(list: &mut *mut *mut c_char, count: u32) {
    if !list.is_null() {
        for index in 0..count as usize {
            // SAFETY: the list has `count` entries of Slurm's allocator.
            unsafe { free(&mut *list.add(index)) };
        }
        // SAFETY: the list itself came from Slurm's allocator.
        unsafe { bindings::slurm_xfree(ptr::from_mut(list).cast()) };
    }
}

pub fn list(entries: &[&str]) -> (*mut *mut c_char, u32) {
    // SAFETY: xcalloc takes any count and size.
    let memory = unsafe { bindings::slurm_xcalloc(entries.len() + 1, 8, true, false, c"".as_ptr(), 0, c"".as_ptr()) };
    let memory = memory.cast::<*mut c_char>();
    for (index, entry) in entries.iter().enumerate() {
        // SAFETY: there is room for one entry more than there are.
        unsafe { *memory.add(index) = text(entry) };
    }
    (memory, entries.len() as u32)
}

/// The built plugin, loaded as slurmctld loads it.
pub struct Plugin {
    loaded: libloading::os::unix::Library,
}

type Submit = unsafe extern "C" fn(*mut job_desc_msg_t, u32, *mut *mut c_char) -> c_int;

impl Plugin {
    pub fn path() -> PathBuf {
        Plugin::built("libjob_submit_queuecast.so")
    }

    /// Returns the path of the same plugin with a line that panics (`submit-filter/panicking`).
    pub fn panicking_path() -> PathBuf {
        Plugin::built("libjob_submit_panicking.so")
    }

    fn built(name: &str) -> PathBuf {
        let program = std::env::current_exe().unwrap();
        let folder = program.parent().unwrap();
        [folder.join(name), folder.parent().unwrap().join(name)].into_iter().find(|path| path.exists()).expect("the plugin is built")
    }

    /// Opens the plugin, with libslurm's symbols in place of slurmctld's.
    pub fn open() -> Plugin {
        Plugin::open_from(&Plugin::path())
    }

    /// Opens the plugin that panics.
    pub fn open_panicking() -> Plugin {
        Plugin::open_from(&Plugin::panicking_path())
    }

    /// Opens the plugin at a path.
    pub fn open_from(path: &Path) -> Plugin {
        use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LAZY, RTLD_NOW};
        // SAFETY: loading libslurm and the plugin runs no code of theirs.
        let slurm = unsafe { Library::open(Some("libslurm.so"), RTLD_NOW | RTLD_GLOBAL) }.unwrap();
        std::mem::forget(slurm);
        // SAFETY: as above.
        Plugin { loaded: unsafe { Library::open(Some(path), RTLD_LAZY) }.unwrap() }
    }

    /// Unloads it, as far as nothing else holds it.
    pub fn close(self) {
        self.loaded.close().unwrap();
    }

    pub fn call(&self, name: &str) -> c_int {
        // SAFETY: `init` and `fini` take nothing and return an int.
        unsafe { self.loaded.get::<unsafe extern "C" fn() -> c_int>(name.as_bytes()).unwrap()() }
    }

    pub fn number(&self, name: &str) -> u32 {
        // SAFETY: the symbol is a 32-bit number.
        unsafe { **self.loaded.get::<*const u32>(name.as_bytes()).unwrap() }
    }

    pub fn string(&self, name: &str) -> String {
        // SAFETY: the symbol is a NUL-terminated string.
        unsafe { CStr::from_ptr(*self.loaded.get::<*const c_char>(name.as_bytes()).unwrap()) }.to_str().unwrap().to_owned()
    }

    pub fn submit(&self, description: &mut Description) -> (c_int, Option<String>) {
        self.submit_raw(&raw mut *description.0)
    }

    pub fn submit_raw(&self, description: *mut job_desc_msg_t) -> (c_int, Option<String>) {
        let mut message = ptr::null_mut();
        // SAFETY: the symbol has this signature.
        let submit = unsafe { self.loaded.get::<Submit>(b"job_submit") }.unwrap();
        // SAFETY: a description and a place for a message, both our own.
        let answer = unsafe { submit(description, 0, &raw mut message) };
        let said = read(message);
        free(&mut message);
        (answer, said)
    }

    pub fn submit_symbol(&self) -> Submit {
        // SAFETY: the symbol has this signature; the plugin stays loaded.
        *unsafe { self.loaded.get::<Submit>(b"job_submit") }.unwrap()
    }
}

/// A state directory with a configuration that points to it, and the page that the plugin counts
/// in.
pub struct Site {
    pub directory: tempfile::TempDir,
    page: CountsPage,
}

impl Site {
    /// Makes the site and points `QUEUECAST_CONF` to its configuration.
    pub fn new() -> Site {
        Site::configured("")
    }

    /// Makes the site with these lines behind the state directory in its configuration.
    pub fn configured(behind: &str) -> Site {
        let directory = tempfile::tempdir().unwrap();
        let configuration = directory.path().join("queuecast.toml");
        std::fs::write(&configuration, format!("state_directory = {:?}\n{behind}", directory.path())).unwrap();
        // SAFETY: called before other threads of the test look at the environment.
        unsafe { std::env::set_var("QUEUECAST_CONF", &configuration) };
        let page = CountsPage::create(c"counts", SHOWN).unwrap();
        // The page alone: there is no such snapshot, so that the file is what counts.
        hand_over(directory.path(), HandedSnapshot { descriptor: page.descriptor(), generation: 0, length: 1, checksum: 0 }, &page);
        Site { directory, page }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn publish(&self, policy: Policy) {
        publish(self.path(), &snapshot_bytes(policy, 400, now(), 1));
    }

    /// Puts a snapshot into sealed memory and hands it over, as the daemon does. It can be taken
    /// until what is returned is dropped.
    pub fn hand_over(&self, bytes: &[u8]) -> SealedMemory {
        let memory = SealedMemory::of(c"snapshot", bytes).unwrap();
        hand_over(self.path(), handed(&memory, bytes), &self.page);
        memory
    }

    pub fn page(&self) -> &CountsPage {
        &self.page
    }

    pub fn counter(&self, counter: Counter) -> u64 {
        self.page.read().map_or(0, |(_, numbers)| numbers[counter.index()])
    }
}

/// How a snapshot in memory of this process is announced.
pub fn handed(memory: &SealedMemory, bytes: &[u8]) -> HandedSnapshot {
    let snapshot = Snapshot::open(bytes).unwrap();
    HandedSnapshot {
        descriptor: memory.descriptor(),
        generation: snapshot.generation(),
        length: bytes.len() as u64,
        checksum: snapshot.checksum(),
    }
}

/// Puts a hand-over by this process into place.
pub fn hand_over(directory: &Path, snapshot: HandedSnapshot, page: &CountsPage) {
    let counts = HandedCounts { descriptor: page.descriptor() };
    announce(directory, &HandOver::by_this_process(snapshot, counts).unwrap().to_string());
}

/// Puts a file into the place of a hand-over.
pub fn announce(directory: &Path, text: &str) {
    let new = directory.join("snapshot-memory.new");
    std::fs::write(&new, text).unwrap();
    std::fs::rename(new, directory.join("snapshot-memory")).unwrap();
}
