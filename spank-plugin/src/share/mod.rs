//! The plugin in slurmstepd: gives an admitted job its share of the node's CPUs and renews that
//! share while the step runs, without anybody in the middle.
//!
//! A variable in the job's environment says only that there is something to ask for
//! ([`SHARE_VARIABLE`]). Users can forge it, so that everything else comes from the record in the
//! job's `admin_comment`, which slurmctld has and no user can write. A node that has the key of
//! records' seals believes no other record than one that queuecast wrote for the job.
//!
//! The work is done by a thread of slurmstepd's, so that nothing of Slurm's waits for it: slurmctld
//! may be away. It begins its work once all tasks are forked, however long that takes, and ends
//! with the step. Until then it only waits, and takes no lock that a forked task could need.

pub(crate) mod directory;
pub(crate) mod place;
pub(crate) mod processes;
pub(crate) mod signal;
pub(crate) mod weight;
pub(crate) mod work;

use std::error::Error;
use std::fs;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use job_types::number::JobId;
use job_types::options::SHARE_VARIABLE;
use job_types::promise::Promise;
use job_types::record::{Bearer, Record};
use slurm_conf::Configuration;
use slurm_conf::state_directory::RECORD_KEY;
use slurm_spank::SpankHandle;
use slurm_sys::allocation::RunningJob;
use slurm_sys::{allocation, log, process, record_key};

use place::Place;
use processes::{Process, Usage};
use signal::Signal;
use weight::{Weight, share};
use work::Work;

/// Every how many seconds the share is renewed: it changes slowly, with what remains of the run
/// time and of the time until the deadline.
const RENEWAL: Duration = Duration::from_secs(5);

/// Longest time between two attempts to ask slurmctld, while it is away.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// How long the end of a step waits for the thread, which is then left to itself.
const LONGEST_WAIT_FOR_END: Duration = Duration::from_secs(1);

/// The argument in plugstack.conf with which shares are set by `nice` although there are cgroups.
const BY_NICE: &str = "share_by=nice";

/// The thread of a step.
#[derive(Debug)]
pub(crate) struct Sharing {
    told: Arc<Told>,
    thread: Thread,
}

/// What the thread and the callbacks of Slurm tell each other. No locks: a callback may run in a
/// copy of slurmstepd, in which nobody would give one back.
#[derive(Debug)]
struct Told {
    /// Given once all tasks are forked, or the step is over before that.
    tasks_are_forked: Signal,
    is_over: AtomicBool,
    has_ended: AtomicBool,
}

/// What the thread knows of its step.
#[derive(Clone, Copy, Debug)]
struct Step {
    job: JobId,
    /// Which of the job's nodes this is.
    node: u32,
    /// CPUs of the job on this node.
    cpus: u32,
    by_nice: bool,
}

/// What a job was admitted with, from its record.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Admitted {
    /// When the job began, in Unix seconds.
    start: f64,
    /// When it is to be done, or when its time limit ends it if that is sooner; in Unix seconds.
    end: f64,
    /// How long it runs with its CPUs to itself, by its user's estimate.
    expected_s: f64,
}

impl Sharing {
    /// Starts the thread, if the step's job may have a share.
    pub(crate) fn start(spank: &SpankHandle<'_>) -> Result<Option<Sharing>, Box<dyn Error>> {
        if spank.getenv_lossy(SHARE_VARIABLE)?.is_none_or(|value| value.is_empty()) {
            return Ok(None);
        }
        let step = Step {
            job: JobId(spank.job_id()?),
            node: spank.job_nodeid()?,
            cpus: u32::from(spank.job_ncpus()?),
            by_nice: spank.plugin_argv()?.contains(&BY_NICE),
        };
        // The thread may outlive the step's last callback by the time of one request.
        if !process::stay_loaded() {
            return Err("the share of the job's CPUs can't be renewed: the plugin can't be kept loaded".into());
        }
        let tasks_are_forked = Signal::new()?;
        let told = Arc::new(Told { tasks_are_forked, is_over: AtomicBool::new(false), has_ended: AtomicBool::new(false) });
        let for_thread = Arc::clone(&told);
        let run = move || {
            let ended = catch_unwind(AssertUnwindSafe(|| renew(step, &for_thread)));
            if ended.is_err() {
                log::error("queuecast: internal error, the share of the job's CPUs is not renewed any more");
            }
            for_thread.has_ended.store(true, Ordering::Release);
        };
        let thread = thread::Builder::new().name("queuecast".to_owned()).spawn(run)?.thread().clone();
        Ok(Some(Sharing { told, thread }))
    }

    /// All tasks are forked.
    pub(crate) fn tasks_are_forked(&self) {
        self.told.tasks_are_forked.give();
    }

    /// Ends the thread, with the step.
    pub(crate) fn end(&self) {
        self.told.is_over.store(true, Ordering::Release);
        self.told.tasks_are_forked.give();
        self.thread.unpark();
        let begin = Instant::now();
        while !self.told.has_ended.load(Ordering::Acquire) && begin.elapsed() < LONGEST_WAIT_FOR_END {
            thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Told {
    /// Waits until all tasks are forked, however long that takes. Returns whether the step goes on.
    fn wait_for_tasks(&self) -> bool {
        match self.tasks_are_forked.wait() {
            Ok(()) => !self.is_over.load(Ordering::Acquire),
            Err(_) => false,
        }
    }

    /// Waits so long, or until the step is over. Returns whether the step goes on.
    fn wait(&self, longest: Duration) -> bool {
        let begin = Instant::now();
        loop {
            if self.is_over.load(Ordering::Acquire) {
                return false;
            }
            let left = longest.saturating_sub(begin.elapsed());
            if left.is_zero() {
                return true;
            }
            thread::park_timeout(left);
        }
    }
}

/// The thread: asks what the job was admitted with, and renews its share until the step is over.
fn renew(step: Step, told: &Told) {
    if !told.wait_for_tasks() {
        return;
    }
    let Some(admitted) = ask(step.job, told) else { return };
    let mut node = Node::new(step, admitted);
    while node.renew(unix_seconds()) && told.wait(RENEWAL) {}
    if let Some(place) = &node.place {
        place.leave();
    }
}

/// What slurmctld's record says that the job was admitted with; `None` where it was not, or the
/// step is over first.
fn ask(job: JobId, told: &Told) -> Option<Admitted> {
    let mut pause = RENEWAL;
    loop {
        if let Ok(job) = allocation::running(job) {
            let record = genuine(&job)?;
            let start = job.start?.0 as f64;
            let end = job.end.map(|end| end.0 as f64);
            return admitted(&record, start, end);
        }
        if !told.wait(pause) {
            return None;
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// The record of the step's job. Where the node has the key of records' seals, none is believed
/// that queuecast did not write for that job.
fn genuine(job: &RunningJob) -> Option<Record> {
    let comment = job.admin_comment.as_deref()?;
    let directory = Configuration::state_directory_named_in(&Configuration::path());
    match record_key::read(&directory.join(RECORD_KEY)) {
        Ok(key) => {
            let bearer = Bearer { user: job.user, job: job.id, submitted: job.submitted, is_first_run: false };
            Record::of_job(comment, &key, &bearer)?.ok().map(|(record, _)| record)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Record::parse(comment),
        Err(error) => {
            log::error(&format!("queuecast: the job's record can't be checked, and it has no share: {RECORD_KEY}: {error}"));
            None
        }
    }
}

/// A record of a lower mode says what would have been written.
fn admitted(record: &Record, start: f64, end: Option<f64>) -> Option<Admitted> {
    let promise = Promise::standing(record)?.deadline()?;
    let (deadline, estimate) = (promise.deadline.0 as f64, promise.shared_estimate?);
    Some(Admitted { start, end: end.map_or(deadline, |end| end.min(deadline)), expected_s: estimate.0 as f64 })
}

/// The job on this node, from one renewal to the next.
#[derive(Debug)]
struct Node {
    step: Step,
    admitted: Admitted,
    /// The name of the job's file and cgroup: a requeued job begins anew, and several nodes may be
    /// on one machine.
    name: String,
    node_cpus: u32,
    place: Option<Place>,
    work: Option<Work>,
    /// What is done can't be noted on this node. Each step then sets the share that follows from
    /// the plan, which is the same in all of them.
    is_by_plan: bool,
    /// When the work was looked at last, and what the processes had had of the CPUs then.
    last: Option<(Instant, Usage)>,
}

impl Node {
    fn new(step: Step, admitted: Admitted) -> Node {
        work::remove_abandoned(Path::new(work::DIRECTORY), SystemTime::now());
        let name = format!("queuecast_{}_{}_{}", step.job.0, step.node, admitted.start);
        Node { step, admitted, name, node_cpus: online_cpus(), place: None, work: None, is_by_plan: false, last: None }
    }

    /// Renews the share at a moment. `false` where it can't be set at all.
    fn renew(&mut self, now: f64) -> bool {
        let daemon = std::process::id();
        let all = processes::all();
        let processes = processes::below(daemon, &all);
        let Some(task) = processes.first() else { return true };
        if self.place.is_none() {
            let place = self.find(task.id);
            if let Place::Nice(why) = place {
                log::error(&format!("queuecast: the share of the job's CPUs is set by nice: {why}"));
            }
            self.place = Some(place);
        }
        let is_renewed_here = self.look_at_work(now, &processes);
        let weight = self.weight(now);
        let ids: Vec<u32> = processes.iter().map(|process| process.id).collect();
        let own_group = all.iter().find(|process| process.id == daemon).map(|own| own.group);
        let mut groups: Vec<u32> = processes.iter().map(|process| process.group).filter(|group| Some(*group) != own_group).collect();
        groups.sort_unstable();
        groups.dedup();
        let Some(place) = &self.place else { return true };
        match place.set(is_renewed_here, weight, &ids, &groups) {
            Ok(()) => true,
            Err(error) if matches!(place, Place::Nice(_)) => {
                log::error(&format!("queuecast: the share of the job's CPUs can't be set: {error}"));
                false
            }
            Err(error) => {
                log::error(&format!("queuecast: the share of the job's CPUs is set by nice: {place}: {error}"));
                self.place = Some(Place::Nice("its cgroup can't be written"));
                true
            }
        }
    }

    fn find(&self, task: u32) -> Place {
        if self.step.by_nice {
            return Place::Nice("plugstack.conf asks for it");
        }
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let of_task = read(&format!("/proc/{task}/cgroup"));
        Place::find(&read("/proc/self/mountinfo"), &read("/proc/self/cgroup"), &of_task, self.step.job.0, &self.name)
    }

    fn weight(&self, now: f64) -> Weight {
        // If another step renews the share, that step has noted what is done.
        let done_s = match &self.work {
            Some(work) => Some(work.done_s),
            None => work::done(Path::new(work::DIRECTORY), &self.name),
        };
        let done_s = done_s.unwrap_or_else(|| self.done_by_plan(now));
        let share = share(self.admitted.expected_s, done_s, self.admitted.end - now);
        Weight::of(share, self.step.cpus, self.node_cpus)
    }

    /// What is done of a job of which nothing is known, if it has had its share from its start on.
    fn done_by_plan(&self, now: f64) -> f64 {
        let Admitted { start, end, expected_s } = self.admitted;
        (now - start).max(0.0) * share(expected_s, 0.0, end - start).unwrap_or(1.0)
    }

    /// Takes note of what the step has done since it was looked at last. Returns whether it is this
    /// step that renews the job's share.
    fn look_at_work(&mut self, now: f64, processes: &[Process]) -> bool {
        if self.work.is_none() && !self.is_by_plan {
            match Work::take(Path::new(work::DIRECTORY), &self.name, self.done_by_plan(now)) {
                Ok(work) => self.work = work,
                Err(error) => {
                    log::error(&format!(
                        "queuecast: what is done of the job can't be noted, and is taken to go by plan: {}: {error}",
                        work::DIRECTORY
                    ));
                    self.is_by_plan = true;
                }
            }
            self.last = None;
        }
        let usage = Usage::of(processes);
        if let (Some((before, earlier)), Some(work)) = (&self.last, &mut self.work) {
            let elapsed = before.elapsed();
            let is_suspended = processes.iter().all(|process| process.is_stopped);
            let part = if is_suspended { 0.0 } else { processes::progress(earlier, &usage, elapsed, self.step.cpus).unwrap_or(1.0) };
            work.add(elapsed.as_secs_f64() * part);
        }
        self.last = Some((Instant::now(), usage));
        self.work.is_some() || self.is_by_plan
    }
}

/// How many CPUs the node has in use (sysfs, `cpu/online`: `0-3,8`); 1 where that is not said.
fn online_cpus() -> u32 {
    let text = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let count = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(last.parse::<u32>().ok()?.checked_sub(first.parse().ok()?)? + 1)
    };
    text.trim().split(',').filter_map(count).sum::<u32>().max(1)
}

fn unix_seconds() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
