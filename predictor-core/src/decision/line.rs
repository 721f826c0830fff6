//! The line that a user reads about a decision. Times are durations from now, which are the same in
//! every time zone.

use super::{Admitted, Changes, Decision, NotAdmitted, NotReserved, Refusal, Reservation, Submission};
use job_types::options::{EarlyStart, IfMissed, Mode};
use job_types::policy::Policy;
use job_types::size::Unit;
use job_types::time::UnixTime;
use std::fmt::Write;

impl Decision {
    /// What to tell the user, without a line end; `None` where there is nothing to tell.
    ///
    /// In `observe` only those hear of it who asked for something.
    #[must_use]
    pub fn line(&self, submission: &Submission<'_>, policy: &Policy, now: UnixTime) -> Option<String> {
        let asked = &submission.asked;
        let asked_for_something = asked.auto_mold || asked.auto_defer || asked.reserve_at.is_some();
        match self.mode {
            Mode::Off => return None,
            Mode::Observe if asked_for_something => {
                return Some("this partition is only observed: the job was submitted as you wrote it".to_owned());
            }
            Mode::Observe => return None,
            Mode::Advise | Mode::Enforce => {}
        }
        if let Some(why) = self.refusal() {
            return Some(refused(&why, now));
        }
        let mut parts = Vec::new();
        self.tell_size(submission, &mut parts);
        self.tell_begin(submission, policy, now, &mut parts);
        self.tell_deadline(submission, policy, now, &mut parts);
        if parts.is_empty() {
            return None;
        }
        let forecasts_wait = |candidate: &Option<super::Candidate>| candidate.as_ref().is_some_and(|candidate| candidate.wait.is_some());
        if let Some(why) = self.fallback.filter(|_| forecasts_wait(&self.decided)) {
            parts.push(format!("waits are forecast from past waits of jobs like it alone: {why}"));
        }
        let line = parts.join("; ");
        let proposes = self.mode == Mode::Advise && !self.proposed().is_empty();
        Some(if proposes { format!("advice, nothing was changed: {line}") } else { line })
    }

    fn tell_size(&self, submission: &Submission<'_>, parts: &mut Vec<String>) {
        let (Some(written), Some(decided)) = (&self.as_written, &self.decided) else { return };
        let unit = submission.unit();
        match &self.molding {
            Some(Ok(())) => {
                let mut part = format!("{} {} instead of {}", decided.count, unit.word(decided.count), written.count);
                if let (Some(tasks), Unit::Nodes) = (decided.tasks, unit) {
                    let _ = write!(part, ", {tasks} tasks");
                }
                if self.reservation.is_none()
                    && let Changes { limit: Some(limit), .. } = self.proposed()
                {
                    let _ = write!(part, ", time limit {limit}");
                }
                let _ = write!(part, ": forecast to be done in about {} instead of {}", decided.response(), written.response());
                parts.push(part);
            }
            Some(Err(why)) if submission.asked.auto_mold => parts.push(format!("not molded: {why}")),
            _ => {}
        }
    }

    fn tell_begin(&self, submission: &Submission<'_>, policy: &Policy, now: UnixTime, parts: &mut Vec<String>) {
        match &self.reservation {
            Some(Ok(reservation)) => {
                let point = reservation.point;
                let then = match reservation.early_start {
                    EarlyStart::Wait => "waits on its nodes if it gets them early",
                    EarlyStart::Run => "runs at once if it gets them early",
                };
                let mut part = format!(
                    "nodes in {} with probability {:.2}: eligible in {}, time limit padded to {}; {then}{}",
                    reservation.at - now,
                    point.probability,
                    point.begin - now,
                    point.padded_limit,
                    cost(reservation),
                );
                if reservation.if_missed == IfMissed::Cancel {
                    part.push_str("; cancelled if it has not started by then");
                }
                parts.push(part);
            }
            // Reached in advice only: enforcing refuses.
            Some(Err(why)) => parts.push(not_reserved(why, now)),
            None => {}
        }
        match &self.deferral {
            Some(Ok(deferral)) => parts.push(format!(
                "begin deferred by {}: forecast to be done in about {} instead of {}",
                deferral.begin - now,
                deferral.response_deferred,
                deferral.response_now,
            )),
            Some(Err(why)) if submission.asked.auto_defer && policy.mode >= Mode::Advise => parts.push(format!("not deferred: {why}")),
            _ => {}
        }
    }

    fn tell_deadline(&self, submission: &Submission<'_>, policy: &Policy, now: UnixTime, parts: &mut Vec<String>) {
        match &self.admission {
            Some(Ok(admitted)) => return parts.push(tell_admitted(admitted, now)),
            // Reached in advice only: enforcing refuses.
            Some(Err(why)) => return parts.push(not_admitted(why, now)),
            None => {}
        }
        let (Some(deadline), Some(decided)) = (submission.deadline, &self.decided) else { return };
        let Some(probability) = decided.deadline_probability else {
            parts.push("nothing is known of waits here, so not whether the deadline will be met".to_owned());
            return;
        };
        let mut part = format!("done by the deadline in {} with probability {probability:.2}", deadline - now);
        if let Some(holds) = self.deadline_that_holds {
            let _ = write!(part, "; a deadline in {} would be met with {:.2}", holds - now, policy.deadline_probability);
        }
        parts.push(part);
    }
}

/// Why a submission is refused, with what could be had.
fn refused(why: &Refusal, now: UnixTime) -> String {
    match why {
        Refusal::NotReserved(why) => not_reserved(why, now),
        Refusal::NotAdmitted(why) => not_admitted(why, now),
    }
}

fn tell_admitted(admitted: &Admitted, now: UnixTime) -> String {
    let ahead = admitted.deadline - now;
    match admitted.probability {
        Some(probability) => format!("admitted: done by the deadline in {ahead} with probability {probability:.2}"),
        None => format!("admitted with the deadline in {ahead}"),
    }
}

fn not_admitted(why: &NotAdmitted, now: UnixTime) -> String {
    let mut line = format!("not admitted: {why}");
    let alternatives = why.alternatives();
    let mut options = Vec::new();
    if let Some(ahead) = alternatives.deadline.map(|deadline| deadline - now) {
        options
            .push(format!("the earliest deadline that can be kept is in {ahead} (--deadline=now+{}minutes)", ahead.minutes_rounded_up()));
    }
    if let Some(size) = alternatives.size {
        options.push(format!("--nodes={} would keep this one", size.nodes));
    }
    if let Some(limit) = alternatives.limit {
        options.push(format!("--time={} would keep this one", limit.minutes_rounded_up()));
    }
    if !options.is_empty() {
        let _ = write!(line, "; {}", options.join("; or "));
    }
    line
}

fn not_reserved(why: &NotReserved, now: UnixTime) -> String {
    let mut line = format!("no reservation: {why}");
    if let NotReserved::SetAside { from, until, later } = why {
        let begin = if *from > now { format!("in {}", *from - now) } else { "before now".to_owned() };
        let _ = write!(line, "; what is in the way begins {begin} and ends in {}", *until - now);
        if let Some(ahead) = later.map(|later| later - now) {
            let _ = write!(line, "; there is room in {ahead} (--reserve-at=now+{}minutes)", ahead.minutes_rounded_up());
        }
    }
    if let NotReserved::Crowded { wanted, later: Some(later), .. } = why {
        let ahead = *later - now;
        let _ = write!(line, "; {wanted} can be had in {ahead} (--reserve-at=now+{}minutes)", ahead.minutes_rounded_up());
    }
    if let NotReserved::Unlikely { best, wanted, later, .. } = why {
        if let Some(ahead) = later.map(|later| later - now) {
            let _ = write!(line, "; {wanted} can be had in {ahead} (--reserve-at=now+{}minutes)", ahead.minutes_rounded_up());
        }
        if let Some(best) = best.filter(|best| best.point.probability >= 0.01) {
            let _ = write!(line, "; or accept --success-probability={:.2}{}", best.point.probability, cost(&best));
        }
    }
    line
}

/// What a reservation costs beyond the job, as the end of a clause; empty where it costs nothing.
fn cost(reservation: &Reservation) -> String {
    let cost = reservation.cost();
    if cost.most_node_seconds == 0 {
        return String::new();
    }
    format!(
        ", at most {} node-hours beyond the job, {} expected",
        in_few_digits(cost.most_node_hours()),
        in_few_digits(cost.expected_node_hours())
    )
}

/// Node-hours with as many digits as matter to somebody who pays for them.
fn in_few_digits(node_hours: f64) -> String {
    let decimals = match node_hours {
        10.0.. => 0,
        1.0.. => 1,
        _ => 2,
    };
    format!("{node_hours:.decimals$}")
}
