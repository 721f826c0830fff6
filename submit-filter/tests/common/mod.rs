//! A state directory with a snapshot of a known past, and job descriptions as slurmctld makes them.
#![allow(dead_code, unreachable_pub, unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod running;

use job_types::number::{AccountIndex, PartitionIndex, QosIndex, UserId};
use job_types::options::Mode;
use job_types::policy::Policy;
use job_types::record::WaitSource;
use job_types::size::Size;
use job_types::time::{Seconds, UnixTime};
use learning::history::{EndedJob, History, HistoryLimits};
use predictor_core::blend::BoundTable;
use predictor_core::counters::{COUNTERS, Counter};
use predictor_core::past::{FEATURES, Group, GroupKey, GroupKind, UserPast};
use predictor_core::queue_plan::QueuePlan;
use predictor_core::reliability::{PartitionScore, RELIABILITY, WaitSourceReason};
use predictor_core::snapshot::{Origin, PartitionState, RunningJob, Snapshot, write};
use predictor_core::trees::{Forest, NodeRecord};
use predictor_core::wait_model::WaitModel;
use slurm_sys::bindings::{self, job_desc_msg_t};
use slurm_sys::memory::{CountsPage, HandOver, HandedCounts, HandedSnapshot, SealedMemory};
use std::ffi::{CStr, CString, c_char, c_int};
use std::path::{Path, PathBuf};
use std::ptr;
use std::time::{SystemTime, UNIX_EPOCH};

pub const USER: u32 = 1000;

pub fn now() -> UnixTime {
    UnixTime(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64)
}

pub fn policy() -> Policy {
    Policy { mode: Mode::Enforce, ..Policy::default() }
}

/// A past of `jobs` jobs in which 16 nodes wait long and 4 do not, in one class each.
pub fn snapshot_bytes(policy: Policy, jobs: i64, published_at: UnixTime, generation: u64) -> Vec<u8> {
    let past = (0..jobs / 2).flat_map(|n| {
        let sizes = [(16, 3_600, 5_000 + n % 500, 500 + n % 40), (4, 7_200, n % 200, 1_000 + n % 90)];
        sizes.map(|(nodes, limit, wait, run_time)| past_job(published_at, n, nodes, limit, wait, run_time))
    });
    snapshot_from(policy, past, published_at, generation, None, None)
}

/// The `n`-th job of a past on nodes of 4 CPUs.
pub fn past_job(published_at: UnixTime, n: i64, nodes: u32, limit: i64, wait: i64, run_time: i64) -> EndedJob<'static> {
    let eligible = UnixTime(published_at.0 - 8_000_000 + n * 600);
    let start = eligible + Seconds(wait);
    EndedJob {
        user: UserId(USER),
        partition: "batch",
        size: Size { nodes, cpus: nodes * 4 },
        limit: Some(Seconds(limit)),
        eligible,
        start: Some(start),
        end: start + Seconds(run_time),
        suspended: Seconds::ZERO,
    }
}

/// A snapshot of a past, and of what was learnt from it.
pub fn snapshot_from(
    policy: Policy,
    past: impl IntoIterator<Item = EndedJob<'static>>,
    published_at: UnixTime,
    generation: u64,
    model: Option<&WaitModel>,
    plan: Option<&QueuePlan>,
) -> Vec<u8> {
    let mut history = History::new(HistoryLimits::default());
    for job in past {
        history.push(&job);
    }
    history.fit(0.95);
    let running = |ends_in: i64| RunningJob {
        user: UserId(1),
        size: Size { nodes: 20, cpus: 80 },
        start: UnixTime(published_at.0 - 100),
        limit_end: Some(UnixTime(published_at.0 + ends_in)),
    };
    let partition = PartitionState {
        name: "batch".into(),
        policy,
        is_default: true,
        whole_nodes: true,
        cpus: 256,
        nodes: 64,
        max_time: Some(Seconds(2 * 86_400)),
        default_time: Some(Seconds(3_600)),
        running: vec![running(700), running(720), running(5_000)],
        pending_jobs: 3,
        pending_cpus: 300,
        limits: Default::default(),
    };
    let origin = Origin {
        cluster: "test".into(),
        generation,
        published_at,
        maximum_age: Seconds(600),
        confidence: 0.95,
        site_policy: policy,
        ..Origin::default()
    };
    write(&mut history, &[partition], &origin, model, plan)
}

/// Numbers that are the same each time, evenly spread over 0 to 1.
pub struct Numbers(u64);

impl Numbers {
    pub fn new() -> Numbers {
        Numbers(1)
    }

    fn next(&mut self) -> f64 {
        // Knuth's linear congruence.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() * bound as f64) as usize
    }
}

/// A forest of `trees` trees of `leaves` leaves each, grown by splitting leaves at random, with
/// leaves that add up to about 60.
fn forest(trees: usize, leaves: usize, numbers: &mut Numbers) -> Forest {
    let mut forest = Forest::default();
    for _ in 0..trees {
        let mut children: Vec<Option<(usize, usize)>> = vec![None];
        while children.len() < 2 * leaves - 1 {
            let node = numbers.below(children.len());
            if children[node].is_none() {
                children[node] = Some((children.len(), children.len() + 1));
                children.extend([None; 2]);
            }
        }
        forest.roots.push((forest.nodes.len() as u32).into());
        let mut order = vec![0];
        let mut place = 0;
        while place < order.len() {
            forest.nodes.push(match children[order[place]] {
                Some((left, right)) => {
                    let offset = (order.len() - place) as u16;
                    order.extend([left, right]);
                    // Features span orders of magnitude.
                    NodeRecord::fork(numbers.below(FEATURES) as u16, 10f64.powf(6.0 * numbers.next()) as f32, offset)
                }
                None => NodeRecord::leaf((120.0 * numbers.next() / trees as f64) as f32),
            });
            place += 1;
        }
    }
    forest
}

/// A model as large as those that the daemon learns: two forests of 100 trees with 32 leaves, so
/// many groups, and 10,000 running jobs.
pub fn large_model(published_at: UnixTime, groups: u32) -> WaitModel {
    let mut numbers = Numbers::new();
    let forests = [forest(100, 32, &mut numbers), forest(100, 32, &mut numbers)];
    let mut table = BoundTable::default();
    for row in 0..32u32 {
        table.up_to.push(row as f32 * 4.0);
        table.bounds_s.push(std::array::from_fn(|percentile| row * 40 * (percentile as u32 + 1)));
        table.outcomes.push(250);
        table.at_once.push(0.1);
    }
    let mut keyed = Vec::new();
    for n in 0..groups {
        let kind = GroupKind::ALL[n as usize % GroupKind::ALL.len()];
        let mut group = Group::default();
        group.recent.fast = (n % 97) as f32;
        group.recent.started_at = published_at.0 as f64 - f64::from(n);
        group.running.cpus = f64::from(n % 7);
        let values = match kind {
            GroupKind::Cluster => continue,
            GroupKind::User | GroupKind::UserPartition | GroupKind::UserRequest => [USER - 500 + n % 1_000, n / 8_000, 0],
            _ => [n / 8, 0, 0],
        };
        keyed.push((GroupKey { kind, values }, group));
    }
    let ends = |step: i64| (1..=10_000).map(|n| (published_at.0 + n * step, n as f32)).collect();
    WaitModel {
        forests: Some(forests),
        weights: [0.0, 0.4, 0.4, 0.2],
        table,
        groups: keyed,
        cpus: 20_000,
        ends_by_limit: ends(20),
        ends_expected: ends(10),
        users: vec![UserPast { user: UserId(USER), last_two_s: Some([500.0, 700.0]), account: AccountIndex(1), qos: QosIndex(0) }],
        accounts: vec!["physics".into(), "chemistry".into()],
        qos: vec!["normal".into()],
        classes: Vec::new(),
        scores: vec![PartitionScore {
            partition: PartitionIndex(0),
            jobs: 5_000,
            median_error_s: 100.0,
            pinball_s: 50.0,
            reliability: RELIABILITY.map(|level| level as f32),
            source: WaitSource::Blended,
            reason: WaitSourceReason::Calibrated,
        }],
        run_times: std::collections::BTreeMap::new(),
    }
}

/// Puts a snapshot into place as the daemon does.
pub fn publish(directory: &Path, bytes: &[u8]) {
    let new = directory.join("snapshot.new");
    std::fs::write(&new, bytes).unwrap();
    std::fs::rename(new, directory.join("snapshot")).unwrap();
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

    /// The same as `--test-only` sends it.
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
        for field in [&mut description.script, &mut description.partition, &mut description.admin_comment, &mut description.array_inx] {
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

fn list(entries: &[&str]) -> (*mut *mut c_char, u32) {
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

    /// The same source with a line that panics (`submit-filter/panicking`).
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

    /// The same for the one that panics.
    pub fn open_panicking() -> Plugin {
        Plugin::open_from(&Plugin::panicking_path())
    }

    /// The same for a plugin at a path.
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
        let directory = tempfile::tempdir().unwrap();
        let configuration = directory.path().join("queuecast.toml");
        std::fs::write(&configuration, format!("state_directory = {:?}\n", directory.path())).unwrap();
        // SAFETY: called before other threads of the test look at the environment.
        unsafe { std::env::set_var("QUEUECAST_CONF", &configuration) };
        let page = CountsPage::create(c"counts", COUNTERS.len()).unwrap();
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
