//! The thread that waits for signals.

use std::thread;

use crossbeam::channel::Sender;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;

use crate::failure::Failure;
use crate::message::Message;

/// Tells the main thread of each signal, until that thread has ended.
///
/// # Errors
/// The system takes no handler, or gives no thread.
pub(crate) fn listen(sender: Sender<Message>) -> Result<(), Failure> {
    let mut signals =
        Signals::new([SIGHUP, SIGINT, SIGTERM, SIGUSR1]).map_err(|source| Failure::System { what: "wait for signals", source })?;
    let wait = move || {
        for signal in signals.forever() {
            let told = sender.send(match signal {
                SIGHUP => Message::Reload,
                SIGUSR1 => Message::Publish,
                _ => Message::Stop,
            });
            if told.is_err() {
                return;
            }
        }
    };
    let thread = thread::Builder::new().name("signals".to_owned()).spawn(wait);
    thread.map(drop).map_err(|source| Failure::System { what: "start a thread", source })
}
