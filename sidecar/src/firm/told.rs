//! What the record of a job says of its firm slot.

use job_types::record::{Bearer, Changed, Record, SealKey};
use job_types::slot::SlotTold;
use job_types::time::UnixTime;
use slurm_sys::client::controller::QueuedJob;
use upkeep::FirmSlot;

/// The `admin_comment` of a job with what its slot has come to, sealed; `None` where it says that
/// already, or carries no record that is believed.
pub(super) fn told(job: &QueuedJob, slot: &FirmSlot, key: Option<&SealKey>, now: UnixTime) -> Option<String> {
    let (comment, key) = (job.admin_comment.as_deref()?, key?);
    let bearer = Bearer { user: job.user_id, job: job.job_id, submitted: job.submitted.map(UnixTime), is_first_run: job.restarts == 0 };
    let (record, rest) = Record::of_job(comment, key, &bearer)?.ok()?;
    let told = SlotTold { state: slot.state, start: slot.reserved.map(|times| times.start.0), moved: slot.moved, why: slot.why.clone() };
    let changed = record.changed.clone().unwrap_or_default();
    if changed.slot.as_ref() == Some(&told) {
        return None;
    }
    let changed = Changed { count: changed.count.saturating_add(1), at: now, slot: Some(told), ..changed };
    let sealed = Record { changed: Some(changed), ..record }.sealed(key, job.user_id, Some(job.job_id))?;
    Some(format!("{sealed}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::firm::made_up::slot;
    use crate::known::made_up::job;
    use job_types::options::Mode;
    use job_types::slot::SlotState;
    use job_types::time::Seconds;
    use slurm_sys::client::JobState;

    const KEY: SealKey = SealKey::new([7; 16]);

    #[test]
    fn a_job_is_told_what_is_new_of_its_slot_and_keeps_what_others_wrote_behind() {
        let slot = slot();
        let json = format!(
            r#"{{"queuecast":{{"version":1,"generation":7,"at":{},"nonce":5,"mode":"{}","asked":{{"nodes":1,"cpus":4}}}}}}"#,
            slot.asked_at.0,
            Mode::Enforce
        );
        let job = job(41, JobState::Pending, 1);
        let sealed = Record::parse(&json).unwrap().sealed(&KEY, job.user_id, None).unwrap();
        let of = |admin_comment: String| QueuedJob { submitted: Some(slot.asked_at.0), admin_comment: Some(admin_comment), ..job.clone() };
        let first = told(&of(format!("{sealed} a note")), &slot, Some(&KEY), slot.asked_at + Seconds(9)).unwrap();
        assert!(first.ends_with("\"} a note") && first.contains(r#""slot":{"state":"asked"}"#), "{first}");
        assert_eq!(told(&of(first.clone()), &slot, Some(&KEY), slot.asked_at), None, "there is nothing new");
        let mut refused = slot.clone();
        refused.end(SlotState::Refused, Some("no".to_owned()), slot.asked_at);
        let then = told(&of(first.clone()), &refused, Some(&KEY), slot.asked_at).unwrap();
        assert!(then.contains(r#""count":2"#) && then.contains(r#""slot":{"state":"refused","why":"no"}"#), "{then}");
        let forged = first.replace("\"count\":1", "\"count\":3");
        assert_eq!(told(&of(forged), &refused, Some(&KEY), slot.asked_at), None);
        assert_eq!(told(&of(first), &refused, None, slot.asked_at), None);
    }
}
