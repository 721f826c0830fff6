//! The line that a user reads about a decision. Times are durations from now, which are the same in
//! every time zone.

use super::firm::AskedSlot;
use super::{Admitted, AlternativeSize, Alternatives, Changes, Decision, NotAdmitted, NotReserved, Refusal, Reservation, Submission};
use job_types::options::{EarlyStart, IfMissed, IfRefused, Mode};
use job_types::policy::Policy;
use job_types::size::Unit;
use job_types::time::{Seconds, UnixTime};
use std::fmt::Write;

impl Decision {
    /// What to tell the user, without a line end; `None` where there is nothing to tell.
    ///
    /// In `observe` only those hear of it who asked for something.
    #[must_use]
    pub fn line(&self, submission: &Submission<'_>, policy: &Policy, now: UnixTime) -> Option<String> {
        let asked = &submission.asked;
        let asked_for_something = asked.auto_mold || asked.auto_defer || asked.reserve_at.is_some() || self.slot.is_some();
        match self.mode {
            Mode::Off => return None,
            Mode::Observe if asked_for_something => {
                return Some("this partition is only observed: the job was submitted as you wrote it".to_owned());
            }
            Mode::Observe => return None,
            Mode::Advise | Mode::Enforce => {}
        }
        if let Some(why) = self.refusal() {
            return Some(refused(&why, submission.unit(), now));
        }
        let mut parts = Vec::new();
        self.tell_size(submission, &mut parts);
        self.tell_begin(submission, policy, now, &mut parts);
        self.tell_deadline(submission, policy, now, &mut parts);
        if parts.is_empty() {
            return None;
        }
        let forecasts_wait = |candidate: &Option<super::Candidate>| candidate.as_ref().is_some_and(|candidate| candidate.wait.is_some());
        if let Some(why) = self.fallback.filter(|_| forecasts_wait(&self.decided) && self.slot.is_none()) {
            parts.push(format!("waits are forecast from past waits of jobs like it alone: {why}"));
        }
        let line = parts.join("; ");
        let proposes = self.mode == Mode::Advise && (!self.proposed().is_empty() || matches!(self.slot, Some(Ok(_))));
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
                let (before, after) = (written.response(), decided.response());
                parts.push(match &self.reservation {
                    // Both sizes begin at the reserved time.
                    Some(Ok(_)) => format!("{part}: forecast to run {} instead of {}", decided.run_time, written.run_time),
                    _ if after < before => format!("{part}: {}", sooner(before, after)),
                    // Another size that is no faster is taken for a deadline alone.
                    _ => format!("{part}: more likely to be done by the deadline"),
                });
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
        match &self.slot {
            Some(Ok(slot)) => parts.push(tell_slot(slot, self.mode, now)),
            // Reached in advice only: enforcing refuses.
            Some(Err(why)) => parts.push(format!("no firm slot: {why}")),
            None => {}
        }
        match &self.deferral {
            Some(Ok(deferral)) => parts.push(format!(
                "begin deferred by {}: {}",
                deferral.begin - now,
                sooner(deferral.response_now, deferral.response_deferred),
            )),
            Some(Err(why)) if submission.asked.auto_defer && policy.mode >= Mode::Advise => parts.push(format!("not deferred: {why}")),
            _ => {}
        }
    }

    fn tell_deadline(&self, submission: &Submission<'_>, policy: &Policy, now: UnixTime, parts: &mut Vec<String>) {
        match &self.admission {
            Some(Ok(admitted)) => return parts.push(tell_admitted(admitted, now)),
            // Reached in advice only: enforcing refuses.
            Some(Err(why)) => return parts.push(not_admitted(why, submission.unit(), now)),
            None => {}
        }
        if let Some(left) = self.left_to_slurm {
            parts.push(format!("the deadline is left to Slurm: {left}"));
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

/// What is gained: both responses, or the difference where they read the same, as two of more than
/// a day do that differ by minutes.
fn sooner(before: Seconds, after: Seconds) -> String {
    let [told_before, told_after] = [before, after].map(|response| response.to_string());
    if told_before == told_after {
        return format!("forecast to be done about {} sooner, in {told_before}", before - after);
    }
    format!("forecast to be done in about {told_after} instead of {told_before}")
}

/// Why a submission is refused, with what could be had.
fn refused(why: &Refusal, unit: Unit, now: UnixTime) -> String {
    match why {
        Refusal::NotReserved(why) => not_reserved(why, now),
        Refusal::NoSlot(why) => format!("no firm slot: {why}"),
        Refusal::NotAdmitted(why) => not_admitted(why, unit, now),
    }
}

/// Says which slot is asked for, or would be in a mode that writes.
fn tell_slot(slot: &AskedSlot, mode: Mode, now: UnixTime) -> String {
    let nodes = slot.request.nodes;
    let nodes = format!("{nodes} {} for {}", Unit::Nodes.word(nodes), slot.request.duration);
    let earliest = slot.begin.map_or_else(|| "now".to_owned(), |begin| (begin - now).to_string());
    let latest = slot.request.window.latest - now;
    if mode < Mode::Enforce {
        return format!("{nodes} would be asked for, between {earliest} and {latest} from now");
    }
    let if_refused = match slot.if_refused {
        IfRefused::Run => "",
        IfRefused::Cancel => "; the job is cancelled if there is none",
    };
    format!(
        "asked for {nodes} between {earliest} and {latest} from now; queuecastd looks for the slot, see `queuecast reservations`{if_refused}"
    )
}

fn tell_admitted(admitted: &Admitted, now: UnixTime) -> String {
    let ahead = admitted.deadline - now;
    match admitted.probability {
        Some(probability) => format!("admitted: done by the deadline in {ahead} with probability {probability:.2}"),
        None => format!("admitted with the deadline in {ahead}"),
    }
}

/// Why a job is not admitted, and what could be had, as options that can be copied.
fn not_admitted(why: &NotAdmitted, unit: Unit, now: UnixTime) -> String {
    let Alternatives { deadline, size, limit } = why.alternatives();
    let deadline = deadline.map(|deadline| {
        let ahead = deadline - now;
        format!("the earliest deadline that can be kept is in {ahead} (--deadline=now+{})", in_whole_units(ahead))
    });
    let size = size.map(|AlternativeSize { count, tasks, limit }| {
        let mut options = match unit {
            Unit::Nodes => format!("--nodes={count}"),
            Unit::Cpus => format!("--ntasks={}", tasks.unwrap_or(count)),
        };
        if let (Some(tasks), Unit::Nodes) = (tasks, unit) {
            let _ = write!(options, " --ntasks={tasks}");
        }
        if let Some(limit) = limit {
            let _ = write!(options, " --time={}", as_time_limit(limit));
        }
        format!("{options} would keep this one")
    });
    let limit = limit.map(|limit| format!("--time={} would keep this one", as_time_limit(limit)));
    let could_be_had: Vec<String> = [deadline, size, limit].into_iter().flatten().collect();
    if could_be_had.is_empty() {
        return format!("not admitted: {why}");
    }
    format!("not admitted: {why}; {}", could_be_had.join("; or "))
}

/// A duration as sbatch reads it behind `now+` (src/common/parse_time.c, `_get_delta`), rounded up:
/// minutes, or hours beyond a day.
fn in_whole_units(ahead: Seconds) -> String {
    match ahead.minutes_rounded_up() {
        minutes if minutes > 24 * 60 || minutes % 60 == 0 => format!("{}hours", minutes.div_euclid(60) + i64::from(minutes % 60 > 0)),
        minutes => format!("{minutes}minutes"),
    }
}

/// A time limit as sbatch reads it, in whole minutes: `1:30:00`.
fn as_time_limit(limit: Seconds) -> String {
    let minutes = limit.minutes_rounded_up();
    format!("{}:{:02}:00", minutes / 60, minutes % 60)
}

fn not_reserved(why: &NotReserved, now: UnixTime) -> String {
    let mut line = format!("no reservation: {why}");
    if let NotReserved::SlurmReservation { from, until, later } = why {
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
