//! A signal that reaches a thread of slurmstepd from whichever process it is given in.
//!
//! slurmstepd calls back in itself, or, where a job has a namespace of its own (`ContainSpank` in
//! job_container.conf), in a process that it makes for the call. A descriptor is the same object in
//! both, whether the two share their memory or not.

use std::io;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use std::os::fd::AsFd;

/// A signal that, once given, stays given.
#[derive(Debug)]
pub(crate) struct Signal {
    event: EventFd,
}

impl Signal {
    /// A signal that was not given yet.
    ///
    /// # Errors
    /// What the kernel says, for want of descriptors.
    pub(crate) fn new() -> io::Result<Signal> {
        let event = EventFd::from_value_and_flags(0, EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
        Ok(Signal { event })
    }

    /// Gives the signal. It neither waits nor takes a lock.
    pub(crate) fn give(&self) {
        // What fails is one too many: the signal was given then.
        let _ = self.event.write(1);
    }

    /// Waits until the signal was given, however long that takes. It takes no lock meanwhile.
    ///
    /// # Errors
    /// What the kernel says, for want of memory.
    pub(crate) fn wait(&self) -> io::Result<()> {
        let mut events = [PollFd::new(self.event.as_fd(), PollFlags::POLLIN)];
        loop {
            match poll(&mut events, PollTimeout::NONE) {
                Ok(_) => return Ok(()),
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
