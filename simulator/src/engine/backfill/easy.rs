//! EASY backfilling.

mod beside_blocks;

use job_types::time::{Seconds, UnixTime};

use super::in_order::start_heads;
use super::{Backfill, Cluster, Event};

/// The order in which the jobs behind the head are tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Candidates {
    /// The order of the queue.
    #[default]
    InOrder,
    /// The shortest expected run time first: the backfilling order of EASY++ (D. Tsafrir, Y. Etsion
    /// and D. Feitelson, "Backfilling Using System-Generated Predictions Rather Than User Runtime
    /// Estimates", IEEE TPDS 18(6), 2007).
    ShortestFirst,
}

/// EASY: the head of the queue has a reservation at the earliest moment at which enough processors
/// are expected to be free, and a later job may start now if it fits and does not delay that (D.
/// Lifka, "The ANL/IBM SP Scheduling System", JSSPP 1995; A. Mu'alem and D. Feitelson,
/// "Utilization, Predictability, Workloads, and User Runtime Estimates in Scheduling the IBM SP2
/// with Backfilling", IEEE TPDS 12(6), 2001).
///
/// Between two ends of running jobs, neither the head's reservation nor the fate of those that were
/// tried can change: time only shortens what is left until the reservation. So a job that comes
/// into the queue is the only one that is tried then.
#[derive(Debug, Clone, Copy, Default)]
pub struct Easy {
    candidates: Candidates,
    /// What was promised to the head, as long as it holds.
    reservation: Option<Reservation>,
}

/// When the head is expected to start.
#[derive(Debug, Clone, Copy)]
struct Reservation {
    at: UnixTime,
    /// Processors that are then free beside it.
    left_over: i64,
}

impl Easy {
    /// EASY that tries the jobs behind the head in this order.
    #[must_use]
    pub fn new(candidates: Candidates) -> Self {
        Self { candidates, reservation: None }
    }

    /// Starts the job at a position if it fits and does not delay the head.
    fn try_one(cluster: &mut Cluster, position: usize, free: &mut i64, reservation: &mut Reservation) {
        let Some(&entry) = cluster.waiting().get(position) else { return };
        let processors = i64::from(entry.processors);
        if processors > *free {
            return;
        }
        if cluster.now() + entry.expected > reservation.at {
            if processors > reservation.left_over {
                return;
            }
            reservation.left_over -= processors;
        }
        cluster.start(position);
        *free -= processors;
    }

    fn backfill(&self, cluster: &mut Cluster, head: usize, reservation: &mut Reservation) {
        let mut free = cluster.free();
        match self.candidates {
            Candidates::InOrder => {
                let mut position = head + 1;
                while free > 0 && position < cluster.waiting().len() {
                    position += skip(cluster, position, free, reservation);
                    Self::try_one(cluster, position, &mut free, reservation);
                    position += 1;
                }
            }
            Candidates::ShortestFirst => {
                let waiting = cluster.waiting();
                let mut fitting: Vec<usize> =
                    (head + 1..waiting.len()).filter(|&place| i64::from(waiting[place].processors) <= free).collect();
                fitting.sort_by_key(|&place| waiting[place].expected);
                for position in fitting {
                    Self::try_one(cluster, position, &mut free, reservation);
                }
            }
        }
    }
}

/// How many of the queue's jobs from a position on are too large or too long in a row.
fn skip(cluster: &Cluster, position: usize, free: i64, reservation: &Reservation) -> usize {
    let until = reservation.at - cluster.now();
    let beside = free.min(reservation.left_over);
    let may = |processors: u32, expected: Seconds| {
        let processors = i64::from(processors);
        processors <= beside || (processors <= free && expected <= until)
    };
    let rest = cluster.waiting().get(position..).unwrap_or_default();
    rest.iter().position(|entry| may(entry.processors, entry.expected)).unwrap_or(rest.len())
}

impl Backfill for Easy {
    fn pass(&mut self, event: Event, cluster: &mut Cluster) {
        if !cluster.machine().blocks.is_empty() {
            return beside_blocks::pass(cluster, self.candidates);
        }
        if let (Event::Queued { position, .. }, Some(mut reservation)) = (event, self.reservation)
            && position > 0
            && cluster.ending_now() == 0
        {
            let mut free = cluster.free();
            Self::try_one(cluster, position, &mut free, &mut reservation);
            self.reservation = Some(reservation);
            return;
        }
        self.reservation = None;
        let head = start_heads(cluster);
        let Some(wanted) = cluster.waiting().get(head).map(|entry| i64::from(entry.processors)) else { return };
        let mut reservation = reserve(cluster, wanted);
        self.backfill(cluster, head, &mut reservation);
        self.reservation = (cluster.ending_now() == 0).then_some(reservation);
    }
}

/// The earliest moment at which so many processors are expected to be free.
fn reserve(cluster: &Cluster, wanted: i64) -> Reservation {
    let now = cluster.now();
    let mut free = cluster.free() - cluster.ending_now();
    let mut at = now;
    for (end, processors, _) in cluster.running().by_expected_end() {
        if free >= wanted && end > at {
            break;
        }
        at = end.max(now);
        free += i64::from(processors);
    }
    Reservation { at, left_over: free - wanted }
}
