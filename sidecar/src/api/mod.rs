//! The API: HTTP/1.1 with JSON on a socket in the state directory, for whoever is on this host, and
//! where the site wants it by TCP for other hosts ([`network`]).
//!
//! The kernel says who asks, or else munge ([`credentials`]). Everybody may connect, so what one
//! caller takes is bounded in each direction: how many connections ([`places`]), how large a
//! request and how long it may take to arrive, how often and how much is planned ([`callers`]). One
//! thread serves all connections of the socket, one those of other hosts, and another one, of the
//! lowest priority, answers probes ([`probing`]); what takes long besides is made in the
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
mod credentials;
mod desk;
mod firm_room;
mod listener;
mod network;
mod places;
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
use parking_lot::Mutex;
use slurm_conf::configuration::HostPort;
use slurm_conf::state_directory::KILL_SWITCH;
use slurm_sys::munge::Munge;

use callers::Callers;
use credentials::Credentials;
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
    answering: Answering,
    asked: Receiver<Asked>,
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
        let (standing, firm_slots) = (Latest::default(), Latest::default());
        let (desk, asked) = Desk::new();
        let prober = Prober::start(Arc::clone(&standing), Arc::clone(&firm_slots))?;
        let answering = Answering {
            published: Latest::default(),
            sees_file: true,
            switch: path.with_file_name(KILL_SWITCH).into(),
            standing,
            prober,
            firm_slots,
            desk,
            callers: Callers::default(),
        };
        let served = answering.clone();
        let body = move || runtime.block_on(listener::serve(listener, served));
        std::thread::Builder::new().name("api".to_owned()).spawn(body)?;
        Ok(Self { answering, asked })
    }

    /// Answers other hosts as well, which do not see the file of the snapshot, at an address where
    /// they say by this munged who asks.
    ///
    /// # Errors
    /// Where the thread can't be made.
    pub(crate) fn serve_other_hosts(&self, address: HostPort, munge: Munge, cluster: &str) -> io::Result<()> {
        let answering = Answering { sees_file: false, ..self.answering.clone() };
        network::start(address, answering, Credentials::new(munge, cluster))
    }

    /// What the room takes that makes firm slots, and leaves here.
    pub(crate) fn firm_room(&self) -> FirmRoom {
        let Answering { prober, firm_slots, .. } = &self.answering;
        FirmRoom { prober: prober.clone(), asked: self.asked.clone(), firm_slots: Arc::clone(firm_slots) }
    }

    /// Probes are answered from this plan from now on; without one they are refused for now.
    pub(crate) fn set_standing(&self, standing: Option<Standing>) {
        *self.answering.standing.lock() = standing.map(Arc::new);
    }

    /// The queue and forecasts are told from this snapshot from now on, and where users' jobs are
    /// private, users are given what is theirs of it. Bytes that are no snapshot are left.
    pub(crate) fn set_snapshot(&self, bytes: Vec<u8>, hides_jobs: bool) {
        if let Some(published) = Published::new(bytes, hides_jobs) {
            *self.answering.published.lock() = Some(Arc::new(published));
        }
    }
}
