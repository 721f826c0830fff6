//! What the shipped decision would give a job that asks for its nodes at a time, before it is
//! submitted: what `queuecast reserve` shows, and chooses from for a joint reservation.

use job_types::options::SuccessProbability;
use job_types::promise::Promise;
use job_types::record::Record as PromiseRecord;
use job_types::time::UnixTime;
use predictor_core::decisions::{Reservation, probabilities_to_ask};

use super::super::learnt_waits::ReservationGiven;
use super::{Decided, Shipped};
use crate::engine::{Cluster, Job, JobIndex, Submitted};

/// A reservation that is to be had where it is asked for with a probability.
#[derive(Debug, Clone)]
pub(in super::super) struct Offer {
    /// The probability.
    pub(in super::super) wanted: f64,
    /// What is given for it.
    pub(in super::super) reservation: Reservation,
    /// The record of the job that takes it.
    record: PromiseRecord,
}

impl Shipped {
    /// What is to be had for each of the [`probabilities_to_ask`]; nothing is noted of it. The job
    /// asks for the time that the wish says.
    pub(in super::super) fn offers(&mut self, asked: &Job, cluster: &Cluster) -> Vec<Offer> {
        let now = cluster.now();
        let named = self.arriving(asked, cluster);
        let mut submission = self.submission(&named, now);
        let mut reservation = |wanted: SuccessProbability| {
            submission.asked.success_probability = Some(wanted);
            let Decided { decision, record, .. } = self.decided(&submission, now)?;
            decision.reservation?.ok().zip(record)
        };
        let Some((best, _)) = reservation(SuccessProbability::Best) else { return Vec::new() };
        let offer = |wanted| {
            let (reservation, record) = reservation(SuccessProbability::AtLeast(wanted))?;
            Some(Offer { wanted, reservation, record })
        };
        probabilities_to_ask(best.point.probability).filter_map(offer).collect()
    }

    /// The job is submitted now with an offer that was made to it now, by which it follows the
    /// queue from then on.
    pub(in super::super) fn take(&mut self, index: JobIndex, asked: &Job, offer: &Offer, now: UnixTime) -> Submitted {
        let Offer { reservation, record, .. } = offer;
        let job = self.in_partition(asked);
        let promise = Promise::given(record).and_then(Promise::reservation);
        self.given.add(index, &job, reservation.at, record.clone(), now);
        self.reserved = promise.map(|promise| ReservationGiven { promise, own_limit: job.estimate });
        let job = Job { estimate: reservation.point.padded_limit, ..*asked };
        Submitted { job, eligible: reservation.point.begin, hold_until: Some(reservation.at) }
    }
}
