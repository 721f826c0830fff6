//! The place where the share of a job is set on this node.

use std::fmt;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use slurm_sys::process::own_user;

use super::weight::Weight;

/// How often a cgroup is tried to be removed: for a fifth of a second, because the end of a step
/// waits for it.
const TRIES_TO_LEAVE: usize = 5;
const BETWEEN_TRIES_TO_LEAVE: Duration = Duration::from_millis(40);

/// The mode of a cgroup of our own: everybody may see it, as the kernel's others.
const MODE_OF_OWN: u32 = 0o755;

/// What the share of a job is set by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The job's cgroup of version 2, as Slurm's plugin makes it (src/plugins/cgroup/v2:
    /// `slurmstepd.scope/job_7/step_0`).
    Version2(PathBuf),
    /// The job's cgroup of version 1, as Slurm's plugin makes it where `cpu` and `cpuacct` are
    /// mounted as one (src/plugins/cgroup/v1: `slurm/uid_1000/job_7/step_0`), and that of its user
    /// above.
    Version1 {
        /// The job's.
        job: PathBuf,
        /// The cgroup of the job's user, which competes with those of other users.
        user: Option<PathBuf>,
    },
    /// A cgroup of version 1 of our own, into which the job's processes are moved: Slurm makes none
    /// with the controller `cpu`.
    Own(PathBuf),
    /// The `nice` of the job's processes, and why.
    Nice(&'static str),
}

impl Place {
    /// Finds it from what the kernel says of the mounts (`/proc/self/mountinfo`), of the cgroups of
    /// slurmstepd and of one of its tasks (`/proc/PID/cgroup`).
    pub(crate) fn find(mounts: &str, of_daemon: &str, of_task: &str, job: u32, own_name: &str) -> Place {
        let version_1 = mount(mounts, "cgroup", Some("cpu"));
        if let (Some(mount), Some(daemon), Some(task)) = (version_1, hierarchy(of_daemon, Some("cpu")), hierarchy(of_task, Some("cpu"))) {
            let name = format!("job_{job}");
            return match up_to(&mount.directory_of(task), |component| component == name) {
                Some(job) => {
                    let user = job.parent().filter(|user| named(user, "uid_")).map(Path::to_path_buf);
                    Place::Version1 { job, user }
                }
                None => Place::Own(mount.directory_of(daemon).join(own_name)),
            };
        }
        let (Some(mount), Some(task)) = (mount(mounts, "cgroup2", None), hierarchy(of_task, None)) else {
            return Place::Nice("this node has no cgroups that share CPUs");
        };
        // The job's name has become another in the latest releases; that of the step below it has
        // not. A user to whom the tree is delegated may have one by such a name as well, but not
        // one that slurmstepd is in.
        let of_daemon = hierarchy(of_daemon, None).map(|daemon| mount.directory_of(daemon));
        let of_task = mount.directory_of(task);
        let is_step = |component: &str| component.starts_with("step_");
        let common = of_daemon.and_then(|daemon| up_to(&daemon, is_step)).filter(|step| of_task.starts_with(step));
        match common.or_else(|| up_to(&of_task, is_step)).as_deref().and_then(Path::parent) {
            Some(job) => Place::Version2(job.to_path_buf()),
            None => Place::Nice("Slurm makes no cgroups on this node"),
        }
    }

    /// Gives the job a weight, or only this step's `processes`, with their process `groups`, where
    /// another step of the job gives it to all (`is_for_job`).
    pub(crate) fn set(&self, is_for_job: bool, weight: Weight, processes: &[u32], groups: &[u32]) -> io::Result<()> {
        match self {
            Place::Version2(_) | Place::Version1 { .. } if !is_for_job => Ok(()),
            Place::Version2(job) => {
                let file = job.join("cpu.weight");
                if !file.exists()
                    && let Some(above) = job.parent()
                {
                    fs::write(above.join("cgroup.subtree_control"), "+cpu")?;
                }
                write_existing(&file, weight.version_2())
            }
            Place::Version1 { job, user } => {
                write_existing(&job.join("cpu.shares"), weight.version_1())?;
                user.as_deref().map_or(Ok(()), share_of_user)
            }
            Place::Own(directory) => {
                match DirBuilder::new().mode(MODE_OF_OWN).create(directory) {
                    // The umask is the job's, and may have left others the right to make more in
                    // it, which could then not be removed.
                    Ok(()) => fs::set_permissions(directory, Permissions::from_mode(MODE_OF_OWN))?,
                    // If the tree is delegated, the job's user may have been there before, and
                    // would write the share.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        if fs::symlink_metadata(directory)?.uid() != own_user().0 {
                            return Err(io::Error::other("the cgroup is another user's"));
                        }
                    }
                    Err(error) => return Err(error),
                }
                if is_for_job {
                    write_existing(&directory.join("cpu.shares"), weight.version_1())?;
                }
                let inside = fs::read_to_string(directory.join("cgroup.procs"))?;
                let is_inside = |process: &u32| inside.lines().any(|line| line.parse() == Ok(*process));
                for process in processes.iter().filter(|process| !is_inside(process)) {
                    // A process that has ended since needs no share.
                    match write_existing(&directory.join("cgroup.procs"), *process) {
                        Err(error) if !slurm_sys::process::is_gone(&error) => return Err(error),
                        _ => {}
                    }
                }
                Ok(())
            }
            Place::Nice(_) => {
                for group in groups {
                    slurm_sys::process::set_nice_of_group(*group, weight.nice())?;
                }
                for process in processes {
                    // If the kernel groups processes by session, the processes of one session
                    // compete with others as one (sched(7), autogroups). Such a group has a `nice`
                    // of its own.
                    let file = PathBuf::from(format!("/proc/{process}/autogroup"));
                    if file.exists() {
                        let _ = write_existing(&file, weight.nice());
                    }
                }
                Ok(())
            }
        }
    }

    /// Removes a cgroup of our own, if nothing is in it any more: other steps of the job may be. A
    /// process that was killed leaves it some moments after that.
    pub(crate) fn leave(&self) {
        let Place::Own(directory) = self else { return };
        for _ in 0..TRIES_TO_LEAVE {
            match fs::remove_dir(directory) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => thread::sleep(BETWEEN_TRIES_TO_LEAVE),
                _ => return,
            }
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Version2(job) | Place::Version1 { job, .. } | Place::Own(job) => write!(f, "{}", job.display()),
            Place::Nice(why) => f.write_str(why),
        }
    }
}

/// The share of a user's cgroup, which is that of all the user's jobs on the node together.
fn share_of_user(user: &Path) -> io::Result<()> {
    let shares_of = |job: &Path| fs::read_to_string(job.join("cpu.shares")).ok()?.trim().parse::<u32>().ok();
    let jobs = fs::read_dir(user)?.filter_map(Result::ok).map(|entry| entry.path()).filter(|job| named(job, "job_"));
    let sum = jobs.filter_map(|job| shares_of(&job)).fold(0, u32::saturating_add);
    write_existing(&user.join("cpu.shares"), sum.clamp(2, 262_144))
}

/// Writes a number into a file of the kernel's, which is never made here.
fn write_existing(file: &Path, number: impl std::fmt::Display) -> io::Result<()> {
    use std::io::Write;
    fs::OpenOptions::new().write(true).open(file)?.write_all(number.to_string().as_bytes())
}

fn named(directory: &Path, prefix: &str) -> bool {
    directory.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(prefix))
}

/// A directory's ancestor, or itself, whose name is as wished.
fn up_to(directory: &Path, wish: impl Fn(&str) -> bool) -> Option<PathBuf> {
    let is_wished = |ancestor: &&Path| ancestor.file_name().and_then(|name| name.to_str()).is_some_and(&wish);
    directory.ancestors().find(is_wished).map(Path::to_path_buf)
}

/// A mounted hierarchy of cgroups.
#[derive(Debug)]
struct Mount<'a> {
    /// What of the hierarchy is mounted, `/` but in a namespace.
    root: &'a str,
    point: &'a str,
}

impl Mount<'_> {
    /// The directory of a cgroup that the kernel names by its path in the hierarchy.
    fn directory_of(&self, path: &str) -> PathBuf {
        let below = Path::new(path).strip_prefix(self.root).unwrap_or(Path::new(path).strip_prefix("/").unwrap_or(Path::new("")));
        Path::new(self.point).join(below)
    }
}

/// The first mount of a type, with a controller among its options where one is asked for
/// (proc_pid_mountinfo(5)).
fn mount<'a>(mounts: &'a str, kind: &str, controller: Option<&str>) -> Option<Mount<'a>> {
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut fields = before.split(' ').skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        let mut of_file_system = after.split(' ');
        let found = of_file_system.next()? == kind;
        let options = of_file_system.nth(1).unwrap_or_default();
        let has_controller = controller.is_none_or(|controller| options.split(',').any(|option| option == controller));
        (found && has_controller).then_some(Mount { root, point })
    })
}

/// The path of a process in the hierarchy of a controller, or in that of version 2
/// (cgroups(7), `/proc/PID/cgroup`).
fn hierarchy<'a>(of_process: &'a str, controller: Option<&str>) -> Option<&'a str> {
    of_process.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let found = match controller {
            Some(controller) => controllers.split(',').any(|name| name == controller),
            None => controllers.is_empty(),
        };
        // A cgroup outside of what this process sees has a path that leads out of the mount.
        found.then_some(path).filter(|path| !path.split('/').any(|component| component == ".."))
    })
}
