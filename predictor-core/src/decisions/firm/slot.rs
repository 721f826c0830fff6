//! Whether the site's policy allows a slot, by what it does to the jobs that wait.

use job_types::firm::FirmPolicy;
use job_types::time::{Seconds, UnixTime};
use std::fmt;

/// A slot as it is ranked, and what it would do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatedSlot {
    /// When it begins.
    pub start: UnixTime,
    /// How many nodes it has.
    pub nodes: u32,
    /// How well it is to be had, 0 to 1 (Röblitz and Rzadca 2006, equation 4); 0 where something
    /// else has the nodes.
    pub availability: f64,
    /// How many jobs it delays.
    pub delayed_jobs: u32,
    /// The most that it delays any one of them.
    pub most_delay: Seconds,
    /// The most nodes of the partition that other firm slots have at any moment of it, as
    /// [`most_reserved`](super::most_reserved) counts them.
    pub reserved_nodes: u32,
}

/// Why a slot can't be had.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SlotRefusal {
    /// Something else has the nodes, whatever the policy.
    NotFree,
    /// It begins too far ahead.
    TooFar {
        /// How much later it begins than it may.
        by: Seconds,
        /// How far ahead a slot may begin.
        ahead: Seconds,
    },
    /// Firm slots would have too much of the partition.
    Share {
        /// How many nodes they would have together.
        nodes: u32,
        /// How many they may have.
        most: u32,
    },
    /// It is ranked too low.
    Availability {
        /// Its availability.
        availability: f64,
        /// The lowest that is allowed.
        least: f64,
    },
    /// It delays too many jobs.
    DelayedJobs {
        /// How many.
        jobs: u32,
        /// How many it may delay.
        most: u32,
    },
    /// It delays some job too much.
    Delay {
        /// How much more it delays a job than it may.
        by: Seconds,
        /// How much it may.
        most: Seconds,
    },
}

impl fmt::Display for SlotRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SlotRefusal::NotFree => f.write_str("running jobs, the first that waits or another reservation have the nodes then"),
            SlotRefusal::TooFar { by, ahead } => write!(f, "it begins {by} too late: a slot may begin at most {ahead} from now"),
            SlotRefusal::Share { nodes, most } => {
                write!(f, "firm slots would have {nodes} of the partition's nodes at a time, and may have {most}")
            }
            SlotRefusal::Availability { availability, least } => {
                // Rounded down, so that what is too little reads as too little.
                write!(f, "its availability is {}, and the site wants {least}", (availability * 1_000.0).floor() / 1_000.0)
            }
            SlotRefusal::DelayedJobs { jobs, most } => write!(f, "it would delay {jobs} jobs, and may delay {most}"),
            SlotRefusal::Delay { by, most } => write!(f, "it would delay a job by {by} more than the {most} that the site allows"),
        }
    }
}

impl std::error::Error for SlotRefusal {}

/// Says whether a slot in a partition with so many nodes can be had under a policy.
///
/// # Errors
/// [`SlotRefusal`] is the first reason for which it can't.
pub fn check_slot(policy: &FirmPolicy, slot: &RatedSlot, partition_nodes: u32, now: UnixTime) -> Result<(), SlotRefusal> {
    let least = policy.least_availability;
    // What is no number is no better than 0.
    if slot.availability.is_nan() || slot.availability <= 0.0 {
        return Err(SlotRefusal::NotFree);
    }
    let last_start = now + policy.ahead;
    if slot.start > last_start {
        return Err(SlotRefusal::TooFar { by: slot.start - last_start, ahead: policy.ahead });
    }
    let (nodes, most) = (slot.reserved_nodes.saturating_add(slot.nodes), policy.shared_nodes(partition_nodes));
    if nodes > most {
        return Err(SlotRefusal::Share { nodes, most });
    }
    if slot.availability < least {
        return Err(SlotRefusal::Availability { availability: slot.availability, least });
    }
    if let Some(most) = policy.most_delayed_jobs.filter(|most| slot.delayed_jobs > *most) {
        return Err(SlotRefusal::DelayedJobs { jobs: slot.delayed_jobs, most });
    }
    if let Some(most) = policy.most_delay.filter(|most| slot.most_delay > *most) {
        return Err(SlotRefusal::Delay { by: slot.most_delay - most, most });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600;
    const NOW: UnixTime = UnixTime(1_774_618_220);

    const SLOT: RatedSlot = RatedSlot {
        start: UnixTime(NOW.0 + HOUR),
        nodes: 4,
        availability: 0.9,
        delayed_jobs: 10,
        most_delay: Seconds(2 * HOUR),
        reserved_nodes: 6,
    };

    fn told(policy: &FirmPolicy, slot: &RatedSlot) -> String {
        check_slot(policy, slot, 20, NOW).map_or_else(|refusal| refusal.to_string(), |()| "allowed".to_owned())
    }

    /// What is said of the slot under the default policy with one change.
    fn under(change: impl FnOnce(&mut FirmPolicy)) -> String {
        let mut policy = FirmPolicy::default();
        change(&mut policy);
        told(&policy, &SLOT)
    }

    #[test]
    fn without_limits_any_slot_that_is_free_is_allowed() {
        assert_eq!(under(|_| ()), "allowed");
        for availability in [0.0, -1.0, f64::NAN] {
            let taken = told(&FirmPolicy::default(), &RatedSlot { availability, ..SLOT });
            assert_eq!(taken, "running jobs, the first that waits or another reservation have the nodes then");
        }
    }

    #[test]
    fn a_slot_begins_no_farther_ahead_than_the_site_says() {
        assert_eq!(under(|policy| policy.ahead = Seconds(HOUR)), "allowed");
        let told = under(|policy| policy.ahead = Seconds(HOUR - 60));
        assert_eq!(told, "it begins 1 min too late: a slot may begin at most 59 min from now");
    }

    #[test]
    fn firm_slots_have_no_more_of_a_partition_than_their_share_at_any_moment() {
        assert_eq!(under(|policy| policy.share = 0.5), "allowed");
        let told = under(|policy| policy.share = 0.45);
        assert_eq!(told, "firm slots would have 10 of the partition's nodes at a time, and may have 9");
    }

    #[test]
    fn a_slot_is_ranked_no_lower_than_the_site_wants() {
        assert_eq!(under(|policy| policy.least_availability = 0.9), "allowed");
        assert_eq!(under(|policy| policy.least_availability = 0.95), "its availability is 0.9, and the site wants 0.95");
    }

    #[test]
    fn a_slot_delays_no_more_jobs_than_the_site_allows() {
        assert_eq!(under(|policy| policy.most_delayed_jobs = Some(10)), "allowed");
        assert_eq!(under(|policy| policy.most_delayed_jobs = Some(9)), "it would delay 10 jobs, and may delay 9");
    }

    #[test]
    fn a_slot_delays_no_job_by_more_than_the_site_allows() {
        assert_eq!(under(|policy| policy.most_delay = Some(Seconds(2 * HOUR))), "allowed");
        let told = under(|policy| policy.most_delay = Some(Seconds(HOUR)));
        assert_eq!(told, "it would delay a job by 1 h more than the 1 h that the site allows");
    }
}
