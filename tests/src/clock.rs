//! A clock that is set while a program runs, without that of the machine.

use crate::Cluster;
use std::path::{Path, PathBuf};

/// The clock of the programs that are started with its variables.
#[derive(Debug)]
pub struct ShiftedClock {
    /// Holds by how many seconds it is ahead.
    file: PathBuf,
}

impl Cluster {
    /// A clock that goes right, until it is set.
    #[must_use]
    pub fn shifted_clock(&self) -> ShiftedClock {
        let clock = ShiftedClock { file: self.path("shift") };
        clock.set_ahead(0);
        clock
    }
}

impl ShiftedClock {
    /// What is in the environment of a program that goes by it: the library with the functions that
    /// read the clock and sleep by it (`data/shifted_clock.c`), and where it finds the shift.
    #[must_use]
    pub fn variables(&self) -> [(&'static str, &Path); 2] {
        [("LD_PRELOAD", Path::new(env!("SHIFTED_CLOCK"))), ("SHIFTED_CLOCK", &self.file)]
    }

    /// Sets it so many seconds ahead of the machine's, or behind where there are fewer than none.
    ///
    /// # Panics
    /// Where the cluster's directory can't be written.
    pub fn set_ahead(&self, seconds: i64) {
        // Put in place whole.
        let new = self.file.with_extension("new");
        std::fs::write(&new, seconds.to_string()).expect("the directory is ours");
        std::fs::rename(new, &self.file).expect("the directory is ours");
    }
}
