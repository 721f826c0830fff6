//! When what a job runs has begun, by its own clock.

use crate::now;
use std::fmt;

/// A command line that prints when it begins, and then how late a shell and a program that are
/// started right after that are.
pub const TELLS_BEGIN: &str = "date '+began at %s.%N'; sh -c 'date \"+control at %s.%N\"'";

/// What [`TELLS_BEGIN`] has printed on one node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Began {
    /// When the command line began, in Unix seconds by the clock of what ran it.
    pub at: f64,
    /// How many seconds it takes there and then to start a shell and a program.
    pub start_takes_s: f64,
}

impl Began {
    /// Reads from what was printed when each run of [`TELLS_BEGIN`] began. The lines of several
    /// nodes may be in any order.
    #[must_use]
    pub fn all_of(printed: &str) -> Vec<Began> {
        let moments = |prefix: &str| -> Vec<f64> { printed.lines().filter_map(|line| line.strip_prefix(prefix)?.parse().ok()).collect() };
        let (began, controls) = (moments("began at "), moments("control at "));
        // If there are several nodes, the fastest control counts.
        let control = |at: f64| controls.iter().map(|control| control - at).filter(|takes| *takes >= 0.0).fold(f64::INFINITY, f64::min);
        began.iter().map(|at| Began { at: *at, start_takes_s: control(*at) }).filter(|began| began.start_takes_s.is_finite()).collect()
    }

    /// Reads when a command that was run once began.
    ///
    /// # Panics
    /// Where it was not run, or not to its end, or more than once.
    #[must_use]
    pub fn of(printed: &str) -> Began {
        match Began::all_of(printed)[..] {
            [began] => began,
            _ => panic!("it did not begin once: {printed}"),
        }
    }

    /// Whether it began at a time in Unix seconds, or within a second after that. What a machine
    /// that is busy with other work needs to start a program comes on top.
    #[must_use]
    pub fn is_at(&self, time: i64) -> bool {
        let late = self.at - time as f64;
        (0.0..=1.0 + self.start_takes_s).contains(&late)
    }

    /// Whether it began before a time in Unix seconds.
    #[must_use]
    pub fn is_before(&self, time: i64) -> bool {
        self.at < time as f64
    }
}

impl fmt::Display for Began {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "began at {:.3} (now {}), where a program takes {:.3} s to start", self.at, now(), self.start_takes_s)
    }
}
