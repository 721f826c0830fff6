//! Credentials of a munged that is made for the test.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use slurm_sys::munge::{Munge, MungeError};

/// A munged with a key of its own.
struct Munged {
    _directory: tempfile::TempDir,
    socket: PathBuf,
    process: Child,
}

impl Munged {
    fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::fs::write(path("key"), [7_u8; 64]).unwrap();
        Command::new("chmod").arg("600").arg(path("key")).status().unwrap();
        Command::new("chmod").arg("755").arg(directory.path()).status().unwrap();
        let option = |name: &str, file: &str| format!("--{name}={}", path(file).display());
        let process = Command::new("munged")
            .args(["--foreground", "--force", &option("socket", "socket"), &option("key-file", "key"), &option("seed-file", "seed")])
            .args([option("pid-file", "pid"), option("log-file", "log")])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let socket = path("socket");
        let begin = Instant::now();
        while !socket.exists() {
            assert!(begin.elapsed() < Duration::from_secs(30), "munged does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        Self { _directory: directory, socket, process }
    }
}

impl Drop for Munged {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_credential_tells_its_maker_and_what_is_in_it_once() {
    let munged = Munged::start();
    let munge = Munge::new(Some(&munged.socket)).unwrap();
    let credential = munge.encode(b"a\0b").unwrap();
    let decoded = munge.decode(&credential).unwrap();
    assert_eq!((decoded.user.0, decoded.payload.as_slice()), (nix::unistd::getuid().as_raw(), &b"a\0b"[..]));
    assert_eq!(munge.decode(&credential), Err(MungeError::Replayed));
    assert_eq!(munge.decode(&munge.encode(b"").unwrap()).unwrap().payload, b"");
    let changed = credential.replace(|digit: char| digit.is_ascii_digit(), "A");
    for wrong in ["", "MUNGE:", "MUNGE:AAAA:", "MUNGE:A\0A:", changed.as_str()] {
        assert!(matches!(munge.decode(wrong), Err(MungeError::Refused { .. })), "{wrong}");
    }
}

#[test]
fn without_munged_there_is_no_credential() {
    let directory = tempfile::tempdir().unwrap();
    let away = Munge::new(Some(&directory.path().join("socket"))).unwrap();
    let Err(MungeError::Away { reason }) = away.encode(b"a") else { panic!("there is no munged") };
    assert!(reason.contains("socket"), "{reason}");
}
