//! The room in which firm slots are made, moved, attached to their jobs and given back.
//!
//! One thread takes what users ask over the API ([`asking`], [`parts`]), finds the jobs whose
//! records ask for a slot ([`jobs`]), and looks at every slot whenever a snapshot is published and
//! whenever something is due. What is wanted of each is said by `upkeep::FirmSlot::wanted`, by what
//! slurmctld has at that moment; [`room`] does it, through the issuer of all changes. Slots are
//! ranked in the thread that answers probes, by the same ranking.
//!
//! Whoever loses a slot is told by mail ([`mail`]), where the job says so.
//!
//! A slot is on the disk ([`ledger`]) before anything is reserved for it, and its reservation has a
//! name that nobody else can make up ([`job_types::slot_name`]): a daemon that was killed at any
//! step finds out from slurmctld how far it had come.

mod asking;
mod deciders;
mod jobs;
mod kept;
mod ledger;
mod listed;
mod mail;
mod observed;
mod observing;
mod parts;
mod placing;
mod room;
mod seen;
mod told;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crossbeam::channel::{Receiver, select};
use job_types::options::Mode;
use job_types::time::UnixTime;
use parking_lot::Mutex;
use slurm_conf::configuration::ClusterSettings;

use crate::api::{Asked, FirmRoom};
use crate::changes::Issuer;
use crate::clock::now;
use crate::known::cluster::Cluster;
use crate::metrics::firm_slots::FirmSlotMetrics;
use crate::worker::Worker;

use ledger::Ledger;
use observed::Observed;
use room::Room;

/// What its thread is called.
pub(crate) const NAME: &str = "firm-slots";

/// How long the room waits at the most for something to happen.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// What one look at all slots rests on.
#[derive(Debug, Clone)]
pub(crate) struct Round {
    pub(crate) cluster: Arc<Cluster>,
    /// How many changes a second may go to slurmctld; 0 is none.
    pub(crate) per_second: u32,
    /// How far the site goes.
    pub(crate) mode: Mode,
    /// How other clusters are asked.
    pub(crate) clusters: BTreeMap<String, ClusterSettings>,
}

/// The thread, as the main thread knows it.
pub(crate) struct FirmThread(Worker<Round>);

impl FirmThread {
    /// An end, and the other one.
    pub(crate) fn new() -> (Self, Receiver<Round>) {
        let (worker, received) = Worker::new();
        (Self(worker), received)
    }

    /// Has the slots looked at, unless the room is still busy with the round before.
    pub(crate) fn ask(&self, round: Option<Round>) {
        round.into_iter().for_each(|round| {
            self.0.tell(round);
        });
    }
}

/// What the room wakes up for.
enum News {
    /// A user asks for something.
    Asked(Asked),
    /// Another cluster has said what it has decided about a part.
    Decided(deciders::Heard),
    /// It is time to look at the slots.
    Time,
}

/// Looks after slots, which are kept in the state directory, until the main thread has dropped its
/// end.
pub(crate) fn run(rounds: &Receiver<Round>, api: FirmRoom, directory: &Path, issuer: &Mutex<Issuer>, metrics: FirmSlotMetrics) {
    let (ledger, observed) = (Ledger::load(directory, UnixTime(now())), Observed::load(directory));
    let mut room = Room::new(api, (ledger, observed), issuer, metrics);
    loop {
        let wait = room.due(UnixTime(now())).map_or(LONGEST_WAIT, |due| {
            let seconds = u64::try_from((due - UnixTime(now())).0).unwrap_or(0);
            Duration::from_secs(seconds.max(1)).min(LONGEST_WAIT)
        });
        let (desk, deciders) = (room.asked(), room.heard());
        let news = select! {
            recv(rounds) -> round => match round {
                Ok(round) => {
                    room.begin_round(round);
                    News::Time
                }
                Err(_) => return,
            },
            recv(desk) -> asked => asked.inspect_err(|_| room.is_left_alone()).map_or(News::Time, News::Asked),
            recv(deciders) -> heard => heard.map_or(News::Time, News::Decided),
            default(wait) => News::Time,
        };
        // A panic costs this look, not the daemon; what was asked is answered as failed.
        let outcome = catch_unwind(AssertUnwindSafe(|| match news {
            News::Asked(asked) => room.answer(asked),
            News::Decided(heard) => room.decided(&heard),
            News::Time => room.look(),
        }));
        if outcome.is_err() {
            tracing::error!("looking at firm slots has panicked: they stay as they are in this round");
        }
        room.keep_and_list();
    }
}

#[cfg(test)]
mod made_up;
