//! Whether a text stands on standard input.

use std::fs::File;
use std::io::{self, Seek};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;

use nix::poll::{PollFd, PollFlags, poll};

/// Whether a text stands on standard input, or comes there within so many milliseconds: in a file,
/// a pipe or a socket, from which nothing is read. A terminal and `/dev/null` have none.
///
/// # Errors
/// Standard input can't be looked at.
pub(super) fn text_waits(milliseconds: u16) -> io::Result<bool> {
    // A closed standard input has none either.
    let Ok(descriptor) = io::stdin().as_fd().try_clone_to_owned() else { return Ok(false) };
    let mut file = File::from(descriptor);
    let metadata = file.metadata()?;
    if metadata.is_file() {
        return Ok(file.stream_position()? < metadata.len());
    }
    if !metadata.file_type().is_fifo() && !metadata.file_type().is_socket() {
        return Ok(false);
    }
    let mut polled = [PollFd::new(file.as_fd(), PollFlags::POLLIN)];
    poll(&mut polled, milliseconds)?;
    let [polled] = polled;
    Ok(polled.revents().is_some_and(|events| events.contains(PollFlags::POLLIN)))
}
