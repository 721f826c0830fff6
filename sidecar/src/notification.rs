//! What the daemon tells systemd about itself. Without systemd all of this does nothing.

use std::time::{Duration, Instant};

use sd_notify::NotifyState;

/// Tells systemd how the daemon is doing.
pub(crate) struct Notification {
    watchdog: Option<Duration>,
    last_sign: Option<Instant>,
    is_ready: bool,
}

impl Notification {
    /// Asks systemd for nothing yet, but learns how often it wants a sign of life.
    pub(crate) fn new() -> Self {
        Self { watchdog: sd_notify::watchdog_enabled(), last_sign: None, is_ready: false }
    }

    /// How long the daemon may be silent: half of what systemd waits for.
    pub(crate) fn patience(&self) -> Option<Duration> {
        self.watchdog.map(|watchdog| watchdog / 2)
    }

    /// A sign of life from the main loop, if one is due.
    pub(crate) fn alive(&mut self) {
        let Some(patience) = self.patience() else { return };
        if self.last_sign.is_none_or(|last| last.elapsed() >= patience / 2) {
            self.last_sign = Some(Instant::now());
            tell(&[NotifyState::Watchdog]);
        }
    }

    /// A snapshot that can be used is in place. Only the first time counts.
    pub(crate) fn ready(&mut self) {
        if !self.is_ready {
            self.is_ready = true;
            tell(&[NotifyState::Ready]);
        }
    }

    /// The configuration is read again; [`Notification::reloaded`] follows.
    pub(crate) fn reloading(&self) {
        match NotifyState::monotonic_usec_now() {
            Ok(moment) => tell(&[NotifyState::Reloading, moment]),
            Err(_no_clock) => tell(&[NotifyState::Reloading]),
        }
    }

    /// The configuration has been read again.
    pub(crate) fn reloaded(&self) {
        if self.is_ready {
            tell(&[NotifyState::Ready]);
        }
    }

    /// Tells systemd that the daemon is about to end.
    pub(crate) fn stopping(&self) {
        tell(&[NotifyState::Stopping]);
    }

    /// Sets the line that `systemctl status` shows.
    pub(crate) fn status(&self, status: &str) {
        tell(&[NotifyState::Status(status)]);
    }
}

fn tell(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::debug!(%error, "systemd could not be told");
    }
}
