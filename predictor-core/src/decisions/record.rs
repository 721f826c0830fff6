//! A decision in the words of the record that the job carries.

use super::{Candidate, Changes, Decision, DecisionInputs, Submission};
use job_types::options::UserOptions;
use job_types::record::{Affiliation, AskedFor, Forecast, RECORD_VERSION, Record, Written};

impl Decision {
    /// The record of this decision, which was made from snapshot number `generation`.
    #[must_use]
    pub fn record<F>(&self, situation: &DecisionInputs<'_, F>, generation: u64) -> Record {
        let submission = situation.submission;
        let size = submission.size(&situation.partition);
        let limit = submission.limit_in(&situation.partition);
        let changes = self.proposed();
        let reservation = self.reservation.as_ref().and_then(|result| result.as_ref().ok());
        let admitted = self.admission.as_ref().and_then(|result| result.as_ref().ok());
        let slot = self.slot.as_ref().and_then(|result| result.as_ref().ok());
        let written = (!changes.is_empty() || slot.is_some()).then(|| Written {
            nodes: changes.size.map(|(size, _)| size.nodes),
            cpus: changes.size.map(|(size, _)| size.cpus),
            tasks: changes.size.and_then(|(_, tasks)| tasks),
            limit_s: changes.limit.map(|limit| limit.0),
            begin: changes.begin.map(|begin| begin.0),
            reserved_at: reservation.map(|reservation| reservation.at.0),
            hold_until: changes.hold_until.map(|until| until.0),
            own_limit_s: reservation
                .and_then(|_| Some(self.decided.as_ref()?.limit?.0))
                .or(self.given_share.as_ref().map(|given| given.estimate.0)),
            wanted: reservation.map(|reservation| reservation.wanted).or(admitted.and_then(|admitted| admitted.wanted)),
            if_missed: reservation.map(|reservation| reservation.if_missed).unwrap_or_default(),
            admitted_by: admitted.map(|admitted| admitted.by),
            deadline: admitted.map(|admitted| admitted.deadline.0),
            window: slot.map(|slot| (slot.request.window.earliest.0, slot.request.window.latest.0)),
            notice_s: slot.and_then(|slot| slot.request.notice).map(|notice| notice.0),
            if_refused: slot.map(|slot| slot.if_refused).unwrap_or_default(),
        });
        let forecast = self.decided.as_ref().map(|decided| Forecast {
            deadline_probability: admitted.and_then(|admitted| admitted.probability).or(decided.deadline_probability).map(hundredths),
            reservation_probability: reservation.map(|reservation| hundredths(reservation.point.probability)),
            ..forecast_of(decided)
        });
        // A deadline that is taken out of Slurm's field changes nothing about the forecast.
        let is_forecast_anew = !Changes { clears_deadline: false, ..changes }.is_empty();
        let instead_of = self.as_written.as_ref().filter(|_| is_forecast_anew).map(forecast_of);
        let reasons = [
            self.molding.as_ref().and_then(|molding| molding.as_ref().err()).map(|why| format!("not molded: {why}")),
            self.deferral.as_ref().and_then(|deferral| deferral.as_ref().err()).map(|why| format!("not deferred: {why}")),
            self.reservation.as_ref().and_then(|reserved| reserved.as_ref().err()).map(|why| format!("not reserved: {why}")),
            self.slot.as_ref().and_then(|slot| slot.as_ref().err()).map(|why| format!("no firm slot: {why}")),
            self.ignored_window.map(|why| format!("no firm slot by default: {why}")),
            self.admission.as_ref().and_then(|admission| admission.as_ref().err()).map(|why| format!("not admitted: {why}")),
            self.left_to_slurm.map(|left| format!("deadline left to Slurm: {left}")),
        ];
        Record {
            version: RECORD_VERSION,
            generation,
            at: situation.now,
            nonce: None,
            mode: self.mode,
            asked: AskedFor {
                nodes: size.nodes,
                cpus: size.cpus,
                tasks: submission.tasks,
                limit_s: limit.map(|limit| limit.0),
                deadline: submission.deadline.map(|deadline| deadline.0),
                options: options(&submission.asked),
            },
            affiliation: (reservation.is_some() || admitted.is_some() || slot.is_some()).then(|| affiliation(submission)),
            written,
            changed: None,
            forecast,
            instead_of,
            left: reasons.into_iter().flatten().collect(),
        }
    }
}

/// What was forecast for a candidate, as records say it.
fn forecast_of(candidate: &Candidate) -> Forecast {
    let (wait, bound) = candidate.wait.unzip();
    Forecast {
        wait_s: wait.map(|wait| wait.0),
        wait_95_s: bound.flatten().map(|bound| bound.0),
        wait_jobs: candidate.wait_jobs,
        wait_from: candidate.wait_source,
        run_s: candidate.run_time.0,
        run_range_s: (candidate.run_time_range.0.0, candidate.run_time_range.1.0),
        run_jobs: candidate.run_time_jobs,
        reservation_probability: None,
        deadline_probability: candidate.deadline_probability.map(hundredths),
    }
}

fn affiliation(submission: &Submission<'_>) -> Affiliation {
    let owned = |name: Option<&str>| name.map(str::to_owned);
    Affiliation { partition: owned(submission.partition), account: owned(submission.account), qos: owned(submission.qos) }
}

fn hundredths(probability: f64) -> f64 {
    (probability * 100.0).round() / 100.0
}

fn options(asked: &UserOptions) -> Vec<(String, String)> {
    asked.canonical().map(|(variable, value)| (variable.to_owned(), value)).collect()
}
