//! What the site allows those who ask for a firm slot, a real reservation of Slurm's inside a
//! window that a user gives: one `[[firm]]` table of the configuration.

use crate::time::Seconds;
use crate::window::FARTHEST_AHEAD;

/// Whose firm slots a policy is about, and what it allows them. A limit that is `None` is not set.
#[derive(Clone, Debug, PartialEq)]
pub struct FirmPolicy {
    /// The partitions that it holds in; `None` is all.
    pub partitions: Option<Vec<String>>,
    /// The users that it holds for; `None` is all.
    pub users: Option<Vec<String>>,
    /// The accounts that it holds for; `None` is all.
    pub accounts: Option<Vec<String>>,
    /// The qualities of service that it holds for; `None` is all.
    pub qos: Option<Vec<String>>,
    /// How far ahead a slot may begin, at most [`FARTHEST_AHEAD`].
    pub ahead: Seconds,
    /// The longest slot.
    pub longest: Option<Seconds>,
    /// The most nodes of a slot.
    pub most_nodes: Option<u32>,
    /// How many slots there may be at a time.
    pub most_active: MostActive,
    /// The part of a partition's nodes, above 0 up to 1, that firm slots may have at any moment.
    pub share: f64,
    /// The most node-hours that an account may be charged for firm slots in seven days.
    pub most_node_hours: Option<u64>,
    /// How well a slot has to be to be had, 0 to 1, as it is ranked (Röblitz and Rzadca 2006,
    /// equation 4).
    pub least_availability: f64,
    /// The most jobs that a slot may delay.
    pub most_delayed_jobs: Option<u32>,
    /// The most that a slot may delay any one job.
    pub most_delay: Option<Seconds>,
    /// How long before its start a slot no longer moves, where its user does not say.
    pub notice: Seconds,
    /// After how long a slot is given back that nobody uses.
    pub idle: Seconds,
    /// How many starts inside a window are tried at the most.
    pub slots: u32,
    /// The least time between two starts that are tried.
    pub gap: Seconds,
}

/// How many firm slots there may be at a time that are granted and have not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MostActive {
    /// Of a user.
    pub user: Option<u32>,
    /// Of an account.
    pub account: Option<u32>,
    /// Of all users together.
    pub site: u32,
}

impl Default for MostActive {
    fn default() -> MostActive {
        MostActive { user: None, account: None, site: 64 }
    }
}

impl Default for FirmPolicy {
    fn default() -> FirmPolicy {
        FirmPolicy {
            partitions: None,
            users: None,
            accounts: None,
            qos: None,
            ahead: FARTHEST_AHEAD,
            longest: None,
            most_nodes: None,
            most_active: MostActive::default(),
            share: 1.0,
            most_node_hours: None,
            least_availability: 0.0,
            most_delayed_jobs: None,
            most_delay: None,
            // Time to come back to a terminal; each minute more keeps a slot from moving.
            notice: Seconds(600),
            idle: Seconds(600),
            slots: 20,
            gap: Seconds(300),
        }
    }
}

/// Who asks for a firm slot and where, by the names that Slurm has for them; the empty name is that
/// of nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Applicant<'a> {
    /// The partition.
    pub partition: &'a str,
    /// The user.
    pub user: &'a str,
    /// The account that the job is charged to, the user's default one if the job names none.
    pub account: &'a str,
    /// The quality of service, likewise.
    pub qos: &'a str,
}

/// Returns the first policy that holds for those who ask; without one they get no firm slot.
#[must_use]
pub fn first_that_holds<'a>(policies: &'a [FirmPolicy], applicant: &Applicant<'_>) -> Option<&'a FirmPolicy> {
    policies.iter().find(|policy| policy.holds_for(applicant))
}

impl FirmPolicy {
    /// Whether the policy is about those who ask. Names of accounts and of qualities of service are
    /// compared whatever their case, as slurmctld does (src/common/assoc_mgr.c, `_find_assoc_rec`
    /// and `_list_find_qos`), others as they are written (src/slurmctld/partition_mgr.c,
    /// `list_find_part`; a user is known by a number there).
    #[must_use]
    pub fn holds_for(&self, applicant: &Applicant<'_>) -> bool {
        let has = |names: &Option<Vec<String>>, is_asked: &dyn Fn(&str) -> bool| {
            names.as_ref().is_none_or(|names| names.iter().any(|name| is_asked(name)))
        };
        has(&self.partitions, &|name| name == applicant.partition)
            && has(&self.users, &|name| name == applicant.user)
            && has(&self.accounts, &|name| name.eq_ignore_ascii_case(applicant.account))
            && has(&self.qos, &|name| name.eq_ignore_ascii_case(applicant.qos))
    }

    /// Whether the policy is about everybody everywhere, so that none behind it is ever asked.
    #[must_use]
    pub fn holds_for_everybody(&self) -> bool {
        [&self.partitions, &self.users, &self.accounts, &self.qos].into_iter().all(Option::is_none)
    }

    /// Returns how many nodes of a partition with so many firm slots may have at any moment.
    #[must_use]
    pub fn shared_nodes(&self, partition_nodes: u32) -> u32 {
        // 0.29 of 100 nodes are 28.999999999999996 as they are multiplied.
        (self.share * f64::from(partition_nodes) + 1e-6).floor() as u32
    }

    /// Returns how long before its start a slot no longer moves, by what its user says.
    #[must_use]
    pub fn notice_of(&self, asked: Option<Seconds>) -> Seconds {
        asked.unwrap_or(self.notice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALICE: Applicant<'_> = Applicant { partition: "batch", user: "alice", account: "physics", qos: "normal" };

    fn names(names: &[&str]) -> Option<Vec<String>> {
        Some(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn a_policy_without_names_holds_for_everybody() {
        assert!(FirmPolicy::default().holds_for(&ALICE) && FirmPolicy::default().holds_for_everybody());
    }

    #[test]
    fn every_kind_of_name_has_to_be_one_of_those_listed() {
        let of_all = |matching: &str| FirmPolicy {
            partitions: names(&["long", if matching == "partition" { "other" } else { "batch" }]),
            users: names(&["bob", if matching == "user" { "other" } else { "alice" }]),
            accounts: names(&["maths", if matching == "account" { "other" } else { "physics" }]),
            qos: names(&["high", if matching == "qos" { "other" } else { "normal" }]),
            ..FirmPolicy::default()
        };
        assert!(of_all("").holds_for(&ALICE) && !of_all("").holds_for_everybody());
        for other in ["partition", "user", "account", "qos"] {
            assert!(!of_all(other).holds_for(&ALICE), "{other}");
        }
    }

    #[test]
    fn names_are_compared_as_slurmctld_compares_them() {
        let policy = FirmPolicy {
            partitions: names(&["batch"]),
            users: names(&["alice"]),
            accounts: names(&["physics"]),
            qos: names(&["normal"]),
            ..FirmPolicy::default()
        };
        assert!(policy.holds_for(&Applicant { account: "Physics", qos: "NORMAL", ..ALICE }));
        assert!(!policy.holds_for(&Applicant { partition: "Batch", ..ALICE }));
        assert!(!policy.holds_for(&Applicant { user: "Alice", ..ALICE }));
        assert!(!policy.holds_for(&Applicant { account: "", ..ALICE }), "a job without an account");
    }

    #[test]
    fn the_first_policy_that_holds_counts() {
        let of = |users: Option<Vec<String>>, slots| FirmPolicy { users, slots, ..FirmPolicy::default() };
        let policies = [of(names(&["bob"]), 1), of(names(&["alice"]), 2), of(None, 3)];
        let slots = |user| first_that_holds(&policies, &Applicant { user, ..ALICE }).map(|policy| policy.slots);
        assert_eq!([slots("bob"), slots("alice"), slots("carol")], [Some(1), Some(2), Some(3)]);
        assert_eq!(first_that_holds(&policies[..1], &ALICE), None);
    }

    #[test]
    fn a_share_is_of_whole_nodes() {
        let nodes = |share, partition_nodes| FirmPolicy { share, ..FirmPolicy::default() }.shared_nodes(partition_nodes);
        assert_eq!([nodes(0.29, 100), nodes(0.1, 19), nodes(0.1, 9), nodes(1.0, u32::MAX)], [29, 1, 0, u32::MAX]);
    }

    #[test]
    fn the_user_says_how_long_a_slot_stays_or_the_site_does() {
        let policy = FirmPolicy::default();
        assert_eq!([policy.notice_of(None), policy.notice_of(Some(Seconds(60)))], [Seconds(600), Seconds(60)]);
    }
}
