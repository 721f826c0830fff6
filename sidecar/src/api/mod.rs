//! The API: HTTP/1.1 with JSON on a socket in the state directory, for whoever is on this host.
//!
//! The kernel says who asks. Everybody may connect, so what one caller takes is bounded in each
//! direction: how many connections, how large a request and how long it may take to arrive, how
//! often and how much is planned ([`callers`]). One thread serves all connections, and another one,
//! of the lowest priority, answers probes ([`probing`]); what takes long besides is made in the
//! [`background`]. None of them is waited for by the main thread, which leaves them what there is
//! to answer from: [`Api::set_standing`], [`Api::set_snapshot`], [`FirmRoom::list`].
//!
//! * `POST /v1/probe`: where inside a window nodes can be reserved.
//! * `POST /v1/reserve`, `POST /v1/cancel`: nodes are reserved inside a window, and given back. The
//!   room that does it takes them from [`Api::firm_room`].
//! * `GET /v1/reservations`: the caller's firm slots, or everybody's for an operator.
//! * `GET /v1/queue`: the jobs that wait.
//! * `POST /v1/predict`: what is forecast of a described job.
//! * `GET /v1/snapshot`: where users' jobs are private, the snapshot with what is the caller's.

mod active;
mod applicant;
mod background;
mod callers;
mod desk;
mod firm_room;
mod listener;
mod probing;
mod published;
mod refused;
mod routes;
mod standing;
#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;

use crossbeam::channel::Receiver;
use daemon_api::FirmSlot;
use parking_lot::Mutex;
use slurm_conf::state_directory::KILL_SWITCH;

use callers::Callers;
pub(crate) use desk::Asked;
use desk::Desk;
pub(crate) use firm_room::FirmRoom;
pub(crate) use probing::{Own, Prober, Ranked};
use published::Published;
pub(crate) use refused::Refused;
use routes::Answering;
pub(crate) use standing::Standing;

/// What is put in place by the main thread, and taken by whoever answers.
type Latest<T> = Arc<Mutex<Option<Arc<T>>>>;

/// What is answered from.
#[derive(Debug)]
pub(crate) struct Api {
    standing: Latest<Standing>,
    published: Latest<Published>,
    firm_slots: Latest<Vec<FirmSlot>>,
    asked: Receiver<Asked>,
    prober: Prober,
}

impl Api {
    /// Listens at a path, in threads that live as long as the process.
    ///
    /// # Errors
    /// Where the socket or a thread can't be made.
    pub(crate) fn start(path: &Path) -> io::Result<Self> {
        let _ = fs::remove_file(path);
        let listener = UnixListener::bind(path)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o666))?;
        listener.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(background::MOST_THREADS)
            .on_thread_start(background::lower_priority)
            .build()?;
        let listener = {
            let _context = runtime.enter();
            tokio::net::UnixListener::from_std(listener)?
        };
        let (standing, published, firm_slots) = (Latest::default(), Latest::default(), Latest::default());
        let (desk, asked) = Desk::new();
        let prober = Prober::start(Arc::clone(&standing), Arc::clone(&firm_slots))?;
        let answering = Answering {
            published: Arc::clone(&published),
            switch: path.with_file_name(KILL_SWITCH).into(),
            standing: Arc::clone(&standing),
            prober: prober.clone(),
            firm_slots: Arc::clone(&firm_slots),
            desk,
            callers: Callers::default(),
        };
        let body = move || runtime.block_on(listener::serve(listener, answering));
        std::thread::Builder::new().name("api".to_owned()).spawn(body)?;
        Ok(Self { standing, published, firm_slots, asked, prober })
    }

    /// What the room takes that makes firm slots, and leaves here.
    pub(crate) fn firm_room(&self) -> FirmRoom {
        FirmRoom { prober: self.prober.clone(), asked: self.asked.clone(), firm_slots: Arc::clone(&self.firm_slots) }
    }

    /// Probes are answered from this plan from now on; without one they are refused for now.
    pub(crate) fn set_standing(&self, standing: Option<Standing>) {
        *self.standing.lock() = standing.map(Arc::new);
    }

    /// The queue and forecasts are told from this snapshot from now on, and where users' jobs are
    /// private, users are given what is theirs of it. Bytes that are no snapshot are left.
    pub(crate) fn set_snapshot(&self, bytes: Vec<u8>, hides_jobs: bool) {
        if let Some(published) = Published::new(bytes, hides_jobs) {
            *self.published.lock() = Some(Arc::new(published));
        }
    }
}
