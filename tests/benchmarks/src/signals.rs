//! The signals that ask the program to end.

use std::fs;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use thiserror::Error;

/// A signal has asked the program to end.
#[derive(Debug, Error)]
#[error("ended by signal {0}")]
pub(crate) struct Interrupted(u8);

impl Interrupted {
    /// The exit status by which shells tell that a signal ended a program.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(128 + self.0)
    }
}

/// Notes the signals that would end the program at once, so that it stops and removes its cluster
/// first.
#[derive(Debug)]
pub(crate) struct Signals {
    /// The number of the last of them; 0 if there was none.
    noted: Arc<AtomicUsize>,
}

impl Signals {
    /// Notes them from now on. A signal that the program was started to ignore (by nohup, for
    /// example) stays ignored.
    ///
    /// # Errors
    ///
    /// Where the kernel refuses that.
    pub(crate) fn catch() -> anyhow::Result<Signals> {
        let noted = Arc::new(AtomicUsize::new(0));
        let status = fs::read_to_string("/proc/self/status")?;
        for (signal, number) in [(SIGHUP, 1), (SIGINT, 2), (SIGTERM, 15)] {
            if !is_ignored(&status, number) {
                flag::register_usize(signal, Arc::clone(&noted), number)?;
            }
        }
        Ok(Signals { noted })
    }

    /// # Errors
    ///
    /// [`Interrupted`] where one of them has come.
    pub(crate) fn check(&self) -> Result<(), Interrupted> {
        match u8::try_from(self.noted.load(Ordering::Relaxed)) {
            Ok(0) | Err(_) => Ok(()),
            Ok(signal) => Err(Interrupted(signal)),
        }
    }
}

/// Whether a process ignores the signal of this number, by its /proc/PID/status.
fn is_ignored(status: &str, signal: usize) -> bool {
    let mask = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.is_some_and(|mask| (mask >> (signal - 1)) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_ignored_whose_bit_is_set_in_the_mask() {
        // nohup ignores SIGHUP, the first signal.
        let status = "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000001\nSigCgt:\t0000000000000002\n";
        assert!(is_ignored(status, 1));
        assert!(!is_ignored(status, 2));
        assert!(!is_ignored("Name:\tbenchmark\n", 1));
    }
}
