//! The thread that reads the queue, the partitions, the nodes and the reservations from slurmctld.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender};
use job_types::time::UnixTime;
use predictor_core::decisions::limits::AccountingLimits;
use slurm_sys::client::ClientError;
use slurm_sys::client::controller::{self, Priorities, UserRecord};

use crate::clock::controller_ahead;
use crate::clock::now;
use crate::known::cluster::Cluster;
use crate::known::genuine::Genuine;
use crate::known::privacy::Privacy;
use crate::message::Message;
use crate::read::conversion::{Answers, Conversion};
use crate::read::limits;
use crate::read::queue_reader;
use crate::rules::site_data;
use crate::rules::site_tables::KnownTables;

/// Reads at each request, until the main thread has dropped its end.
pub(crate) fn run(
    requests: &Receiver<()>,
    sender: &Sender<Message>,
    site_data: &site_data::Rounds,
    tables: &KnownTables,
    privacy: &Privacy,
    mut genuine: Genuine,
) {
    let mut conversion = Conversion::default();
    let mut rules = KnownRules::default();
    for () in requests {
        let answer = read(&mut conversion, &mut rules, site_data, tables, privacy, &mut genuine).map(Arc::new);
        if sender.send(Message::Controller(answer)).is_err() {
            return;
        }
    }
}

/// How long what changes rarely is taken to hold before it is asked for again: for limits of
/// accounting slurmctld packs every association for an answer.
const RULES_AGE: Duration = Duration::from_secs(60);

/// The limits of accounting, how priorities are made, and who the users are.
#[derive(Clone)]
struct Rules {
    limits: Arc<AccountingLimits>,
    priorities: Arc<Priorities>,
    users: Arc<[UserRecord]>,
}

/// These rules as they were read last.
#[derive(Default)]
struct KnownRules {
    read: Option<(Instant, Rules)>,
}

impl KnownRules {
    fn current(&mut self, tables: &KnownTables) -> Result<Rules, ClientError> {
        match &self.read {
            Some((at, rules)) if at.elapsed() < RULES_AGE => Ok(rules.clone()),
            _ => {
                let accounts = controller::accounts()?;
                tables.take(&accounts, &controller::partitions()?);
                let limits = Arc::new(limits::accounting(&accounts));
                let priorities = Arc::new(controller::priorities()?);
                tracing::debug!(qos = limits.qos.len(), associations = limits.associations.len(), ?priorities, "read limits");
                let rules = Rules { limits, priorities, users: accounts.users.into() };
                self.read = Some((Instant::now(), rules.clone()));
                Ok(rules)
            }
        }
    }
}

fn read(
    conversion: &mut Conversion,
    rules: &mut KnownRules,
    site_data: &site_data::Rounds,
    tables: &KnownTables,
    privacy: &Privacy,
    genuine: &mut Genuine,
) -> Result<Cluster, ClientError> {
    // This comes before anything that could be private is written, because a reconfiguration may
    // have changed it.
    privacy.set(controller::private_data()?);
    let Rules { limits, priorities, users } = rules.current(tables)?;
    let partitions = controller::partitions()?;
    let nodes = controller::nodes(&partitions)?;
    let reservations = controller::reservations()?;
    let read_at = UnixTime(now());
    let is_wanted = site_data.are_wanted();
    let (controller::Queue { jobs: mut queue, answered_at }, described) = queue_reader::queue(is_wanted)?;
    if is_wanted {
        // What was submitted up to the answer is in it, by the controller's own clock.
        let counted_before = answered_at.map_or(read_at, |answered_at| read_at.min(UnixTime(answered_at)));
        let counts = site_data::Counts::of(&queue, counted_before);
        site_data.hand_over(site_data::Round { read_at, users, jobs: described, counts });
    }
    let controller_ahead = controller_ahead(read_at, answered_at.map(UnixTime), UnixTime(now()));
    genuine.keep_in_queue(&mut queue);
    Ok(conversion.cluster(Answers {
        read_at,
        controller_ahead,
        partitions,
        nodes,
        reservations,
        queue,
        limits,
        priorities,
        record_key: genuine.key(),
    }))
}
