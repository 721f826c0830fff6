//! Daemons that run on this host, by what the system tells of their processes.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::slurm::Slurm;

/// The process of this cluster's slurmctld on this host.
///
/// By its file of process numbers, which systemd's unit does without; otherwise by what the system
/// lists, if the process was started on the same slurm.conf.
pub(super) fn slurmctld(slurm: &Slurm) -> Option<u32> {
    let named = fs::read_to_string(&slurm.slurmctld_pid_file).ok().and_then(|text| text.trim().parse().ok());
    if let Some(process) = named.filter(|&process| is_called(process, "slurmctld")) {
        return Some(process);
    }
    let mut all: Vec<u32> = fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    all.sort_unstable();
    all.into_iter().find(|&process| is_called(process, "slurmctld") && is_of_this_host(process) && is_on(process, slurm.path.as_deref()))
}

/// Whether a process runs on this host itself, not in a container: it has no other number there.
fn is_of_this_host(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    numbers.is_none_or(|numbers| numbers.split_whitespace().count() <= 1)
}

/// Whether a process runs a program of this name.
pub(super) fn is_called(process: u32, name: &str) -> bool {
    fs::read_to_string(format!("/proc/{process}/comm")).is_ok_and(|called| called.trim_end() == name)
}

/// Whether a slurmctld was started on this slurm.conf: with `-f` and the file, or without and the
/// file is the usual one.
fn is_on(process: u32, slurm_conf: Option<&Path>) -> bool {
    let Ok(line) = fs::read(format!("/proc/{process}/cmdline")) else { return false };
    let words: Vec<&[u8]> = line.split(|&byte| byte == 0).collect();
    let file = words.iter().position(|word| *word == b"-f").and_then(|place| words.get(place + 1));
    match (file, slurm_conf) {
        (Some(file), Some(slurm_conf)) => *file == slurm_conf.as_os_str().as_bytes(),
        (Some(_), None) => false,
        (None, _) => std::env::var_os("SLURM_CONF").is_none_or(|named| named.is_empty()),
    }
}

/// A file that a process has mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mapped {
    pub(super) path: PathBuf,
    pub(super) inode: u64,
    /// Whether another file, or none, has its name now.
    pub(super) is_gone: bool,
}

/// The files named `file_name` that a process has mapped.
///
/// # Errors
/// In words, where the caller may not look or the process has ended.
pub(super) fn mapped(process: u32, file_name: &str) -> Result<Vec<Mapped>, String> {
    let maps = fs::read(format!("/proc/{process}/maps")).map_err(|error| refusal(process, &error))?;
    let mut found: Vec<Mapped> = Vec::new();
    for line in String::from_utf8_lossy(&maps).lines() {
        let Some(mapped) = mapped_in(line) else { continue };
        if mapped.path.file_name().is_some_and(|name| name == file_name) && !found.contains(&mapped) {
            found.push(mapped);
        }
    }
    Ok(found)
}

/// Whether the file that a process runs has been replaced since it was started.
///
/// # Errors
/// As [`mapped`].
pub(super) fn has_been_replaced(process: u32) -> Result<bool, String> {
    let program = fs::read_link(format!("/proc/{process}/exe")).map_err(|error| refusal(process, &error))?;
    Ok(program.as_os_str().as_bytes().ends_with(b" (deleted)"))
}

fn refusal(process: u32, error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => format!("only root and its user may look into process {process}"),
        _ => format!("process {process}: {error}"),
    }
}

/// A line of /proc/PID/maps: address, permissions, offset, device, inode, and the path where there
/// is one.
fn mapped_in(line: &str) -> Option<Mapped> {
    let mut rest = line;
    let mut inode = 0;
    for field in 0..5 {
        let (value, behind) = rest.trim_start().split_once(' ')?;
        if field == 4 {
            inode = value.parse().ok()?;
        }
        rest = behind;
    }
    let path = rest.trim_start();
    let existing = path.strip_suffix(" (deleted)");
    let path = PathBuf::from(existing.unwrap_or(path));
    let same = || fs::metadata(&path).is_ok_and(|metadata| metadata.ino() == inode);
    let is_gone = existing.is_some() || !same();
    path.is_absolute().then_some(Mapped { path, inode, is_gone })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapped_file_is_told_from_one_that_has_been_replaced() {
        let line = "7f00-7f10 r-xp 00002000 fe:01 1234                       /lib/slurm dir/job_submit_queuecast.so (deleted)";
        let path = PathBuf::from("/lib/slurm dir/job_submit_queuecast.so");
        assert_eq!(mapped_in(line), Some(Mapped { path, inode: 1234, is_gone: true }));
        assert_eq!(mapped_in("7ffd-7ffe r-xp 00000000 00:00 0                          [vdso]"), None);
        assert_eq!(mapped_in("7ffd-7ffe r-xp 00000000 00:00 0 "), None);
    }

    #[test]
    fn the_files_of_a_live_process_are_found() {
        let program = std::env::current_exe().unwrap();
        let found = mapped(std::process::id(), program.file_name().unwrap().to_str().unwrap()).unwrap();
        assert_eq!(found.len(), 1);
        assert!(!found[0].is_gone && found[0].path == program);
        assert_eq!(has_been_replaced(std::process::id()), Ok(false));
        assert!(is_of_this_host(std::process::id()));
    }
}
