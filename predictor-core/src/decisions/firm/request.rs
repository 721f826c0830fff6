//! Whether there may be a firm slot for a request, before any slot is looked at.

use job_types::firm::FirmPolicy;
use job_types::time::{Seconds, UnixTime};
use job_types::window::{FARTHEST_AHEAD, NearestWindow, Window, WindowNeeds, WindowRefused};
use std::fmt;

const HOUR_SECONDS: u64 = 3_600;

/// A firm slot that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirmRequest {
    /// How many nodes it has, at least one.
    pub nodes: u32,
    /// How long it is: the time limit of the job.
    pub duration: Seconds,
    /// Where it may lie.
    pub window: Window,
    /// How long before its start it is to move no more, if its user says so.
    pub notice: Option<Seconds>,
}

/// What stands when a firm slot is asked for. Slots count that are granted and have not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirmStanding {
    /// How many slots the user has.
    pub of_user: u32,
    /// How many the account has.
    pub of_account: u32,
    /// How many there are.
    pub of_site: u32,
    /// Node-seconds that the account was charged for firm slots in the last seven days.
    pub charged_node_seconds: u64,
    /// How many nodes the partition has.
    pub partition_nodes: u32,
    /// The partition's longest time limit (`MaxTime`); `None` is unlimited.
    pub partition_longest: Option<Seconds>,
}

/// Who says how long a slot may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongestBy {
    /// The policy.
    Policy,
    /// The partition.
    Partition,
    /// Nobody: no slot is longer.
    Everywhere,
}

/// Who says how many nodes a slot may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MostNodesBy {
    /// The policy.
    Policy,
    /// The share of the partition's nodes that firm slots may have together.
    Share,
    /// The partition has no more.
    Partition,
}

/// Whose slots are too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The user's.
    User,
    /// The account's.
    Account,
    /// Everybody's.
    Site,
}

/// Why there is no firm slot for a request, wherever in its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirmRefusal {
    /// No policy of the site holds for who asks.
    NotOffered,
    /// The slot is too long.
    TooLong {
        /// How long it is.
        duration: Seconds,
        /// The longest.
        longest: Seconds,
        /// Who says so.
        by: LongestBy,
    },
    /// The slot has too many nodes.
    TooManyNodes {
        /// How many it has.
        nodes: u32,
        /// The most.
        most: u32,
        /// Who says so.
        by: MostNodesBy,
    },
    /// There are as many slots as there may be.
    TooManyActive {
        /// Whose.
        whose: Whose,
        /// How many there may be.
        most: u32,
    },
    /// The account would be charged too much.
    NodeHours {
        /// Node-seconds of the slot.
        needed_node_seconds: u64,
        /// Node-seconds that the account has left.
        left_node_seconds: u64,
        /// The most node-hours in seven days.
        most_node_hours: u64,
    },
    /// No slot fits into the window.
    Window(WindowRefused),
}

impl FirmRefusal {
    /// Returns the nearest window in which the request would not be refused, where the window is
    /// what is wrong with it.
    #[must_use]
    pub fn nearest(&self) -> Option<NearestWindow> {
        match self {
            FirmRefusal::Window(refused) => refused.nearest,
            _ => None,
        }
    }
}

impl fmt::Display for FirmRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FirmRefusal::NotOffered => f.write_str(
                "the site gives no firm slots to this user, account and quality of service in this partition; \
                 ask for nodes with a probability, by --reserve-at",
            ),
            FirmRefusal::TooLong { duration, longest, by } => {
                let whose = match by {
                    LongestBy::Policy => "the longest that the site gives",
                    LongestBy::Partition => "the partition's longest time limit",
                    LongestBy::Everywhere => "the longest of all",
                };
                write!(f, "the slot is {} too long: {whose} is {longest}; give a shorter --time", *duration - *longest)
            }
            FirmRefusal::TooManyNodes { nodes, most: 0, .. } => {
                write!(f, "{nodes} nodes are too many: firm slots get none of this partition's nodes; choose another partition")
            }
            FirmRefusal::TooManyNodes { nodes, most, by } => {
                let who = match by {
                    MostNodesBy::Policy => "the site gives a slot at most",
                    MostNodesBy::Share => "the part of the partition that firm slots may have is",
                    MostNodesBy::Partition => "the partition has",
                };
                write!(f, "{nodes} nodes are too many: {who} {most}; ask for fewer")
            }
            FirmRefusal::TooManyActive { whose, most } => {
                let (who, then) = match whose {
                    Whose::User => ("a user", "cancel one of yours, or ask again when one has ended"),
                    Whose::Account => ("an account", "ask again when one of the account's has ended"),
                    Whose::Site => ("everybody together", "ask again when one has ended"),
                };
                write!(f, "{who} may have {most} firm slots at a time, which is as many as there are; {then}")
            }
            FirmRefusal::NodeHours { needed_node_seconds, left_node_seconds, most_node_hours } => {
                // In tenths, rounded so that what is too much reads as too much.
                let tenth = HOUR_SECONDS / 10;
                let [needed, left] = [needed_node_seconds.div_ceil(tenth), left_node_seconds / tenth].map(|tenths| tenths as f64 / 10.0);
                write!(
                    f,
                    "the slot takes {needed} node-hours, and of the {most_node_hours} that the account may be charged in seven days {left} \
                     are left; ask for fewer nodes or less time, or when earlier slots are a week ago",
                )
            }
            FirmRefusal::Window(refused) => write!(f, "{refused}"),
        }
    }
}

impl std::error::Error for FirmRefusal {}

/// Returns the part of a request's window in which slots are to be looked for: from now on, and no
/// farther ahead than the policy lets slots begin. `policy` is the first that holds for who asks.
///
/// # Errors
/// [`FirmRefusal`] where no slot can be had. What another window would change is said last, so that
/// the nearest window is one in which the request is not refused.
pub fn firm_window(
    policy: Option<&FirmPolicy>,
    request: &FirmRequest,
    standing: &FirmStanding,
    now: UnixTime,
) -> Result<Window, FirmRefusal> {
    let policy = policy.ok_or(FirmRefusal::NotOffered)?;
    check_length(policy, request, standing)?;
    check_nodes(policy, request, standing)?;
    check_active(policy, standing)?;
    check_node_hours(policy, request, standing)?;
    let needs = WindowNeeds { duration: request.duration, notice: request.notice, ahead: policy.ahead };
    request.window.open(&needs, now).map_err(FirmRefusal::Window)
}

fn check_length(policy: &FirmPolicy, request: &FirmRequest, standing: &FirmStanding) -> Result<(), FirmRefusal> {
    let duration = request.duration;
    let limits = [
        (policy.longest, LongestBy::Policy),
        (standing.partition_longest, LongestBy::Partition),
        (Some(FARTHEST_AHEAD), LongestBy::Everywhere),
    ];
    let limits = limits.into_iter().filter_map(|(longest, by)| Some((longest?, by)));
    match limits.min_by_key(|(longest, _)| *longest) {
        Some((longest, by)) if duration > longest => Err(FirmRefusal::TooLong { duration, longest, by }),
        _ => Ok(()),
    }
}

fn check_nodes(policy: &FirmPolicy, request: &FirmRequest, standing: &FirmStanding) -> Result<(), FirmRefusal> {
    let nodes = request.nodes;
    let limits = [
        (Some(standing.partition_nodes), MostNodesBy::Partition),
        (policy.most_nodes, MostNodesBy::Policy),
        (Some(policy.shared_nodes(standing.partition_nodes)), MostNodesBy::Share),
    ];
    let limits = limits.into_iter().filter_map(|(most, by)| Some((most?, by)));
    match limits.min_by_key(|(most, _)| *most) {
        Some((most, by)) if nodes > most => Err(FirmRefusal::TooManyNodes { nodes, most, by }),
        _ => Ok(()),
    }
}

fn check_active(policy: &FirmPolicy, standing: &FirmStanding) -> Result<(), FirmRefusal> {
    let most = policy.most_active;
    let limits = [
        (most.user, standing.of_user, Whose::User),
        (most.account, standing.of_account, Whose::Account),
        (Some(most.site), standing.of_site, Whose::Site),
    ];
    let reached = limits.into_iter().filter_map(|(most, active, whose)| Some((most.filter(|most| active >= *most)?, whose))).next();
    reached.map_or(Ok(()), |(most, whose)| Err(FirmRefusal::TooManyActive { whose, most }))
}

fn check_node_hours(policy: &FirmPolicy, request: &FirmRequest, standing: &FirmStanding) -> Result<(), FirmRefusal> {
    let Some(most_node_hours) = policy.most_node_hours else { return Ok(()) };
    let seconds = u64::try_from(request.duration.0).unwrap_or(0);
    let needed_node_seconds = u64::from(request.nodes).saturating_mul(seconds);
    let left_node_seconds = most_node_hours.saturating_mul(HOUR_SECONDS).saturating_sub(standing.charged_node_seconds);
    if needed_node_seconds > left_node_seconds {
        return Err(FirmRefusal::NodeHours { needed_node_seconds, left_node_seconds, most_node_hours });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::firm::MostActive;

    const HOUR: i64 = 3_600;
    const NOW: UnixTime = UnixTime(1_774_618_220);

    /// Four nodes for two hours, within the six that begin in an hour.
    const REQUEST: FirmRequest = FirmRequest {
        nodes: 4,
        duration: Seconds(2 * HOUR),
        window: Window { earliest: UnixTime(NOW.0 + HOUR), latest: UnixTime(NOW.0 + 7 * HOUR) },
        notice: None,
    };

    /// A partition of twenty nodes in which nothing stands.
    const STANDING: FirmStanding = FirmStanding {
        of_user: 0,
        of_account: 0,
        of_site: 0,
        charged_node_seconds: 0,
        partition_nodes: 20,
        partition_longest: Some(Seconds(24 * HOUR)),
    };

    fn told(policy: &FirmPolicy, request: &FirmRequest, standing: &FirmStanding) -> String {
        firm_window(Some(policy), request, standing, NOW).map_or_else(|refusal| refusal.to_string(), |_| "open".to_owned())
    }

    #[test]
    fn a_request_that_nothing_forbids_is_looked_for_in_its_window() {
        let policy = FirmPolicy::default();
        assert_eq!(firm_window(Some(&policy), &REQUEST, &STANDING, NOW), Ok(REQUEST.window));
        let later = NOW + Seconds(2 * HOUR);
        let rest = Window { earliest: later, ..REQUEST.window };
        assert_eq!(firm_window(Some(&policy), &REQUEST, &STANDING, later), Ok(rest));
        let ahead = FirmPolicy { ahead: Seconds(3 * HOUR), ..policy };
        let first_hours = Window { latest: NOW + Seconds(5 * HOUR), ..REQUEST.window };
        assert_eq!(firm_window(Some(&ahead), &REQUEST, &STANDING, NOW), Ok(first_hours));
    }

    #[test]
    fn without_a_policy_there_is_no_slot() {
        let refused = firm_window(None, &REQUEST, &STANDING, NOW).unwrap_err();
        assert_eq!(refused, FirmRefusal::NotOffered);
        assert!(refused.to_string().starts_with("the site gives no firm slots to this user"), "{refused}");
    }

    #[test]
    fn a_slot_is_no_longer_than_the_site_and_the_partition_allow() {
        let policy = FirmPolicy { longest: Some(Seconds(HOUR)), ..FirmPolicy::default() };
        assert_eq!(
            told(&policy, &REQUEST, &STANDING),
            "the slot is 1 h too long: the longest that the site gives is 1 h; give a shorter --time"
        );
        assert_eq!(told(&FirmPolicy { longest: Some(Seconds(2 * HOUR)), ..policy }, &REQUEST, &STANDING), "open");
        let partition = FirmStanding { partition_longest: Some(Seconds(HOUR)), ..STANDING };
        let by_partition = told(&FirmPolicy::default(), &REQUEST, &partition);
        assert!(by_partition.contains("the partition's longest time limit is 1 h"), "{by_partition}");
        let endless = FirmRequest { duration: Seconds(i64::MAX), ..REQUEST };
        let unlimited = FirmStanding { partition_longest: None, ..STANDING };
        let by_all = told(&FirmPolicy::default(), &endless, &unlimited);
        assert!(by_all.contains("the longest of all is 366 d"), "{by_all}");
    }

    #[test]
    fn a_slot_has_no_more_nodes_than_the_site_its_share_and_the_partition_allow() {
        let policy = |most_nodes, share| FirmPolicy { most_nodes, share, ..FirmPolicy::default() };
        let told = |policy: &FirmPolicy, nodes| told(policy, &FirmRequest { nodes, ..REQUEST }, &STANDING);
        assert_eq!(told(&policy(Some(3), 1.0), 4), "4 nodes are too many: the site gives a slot at most 3; ask for fewer");
        assert_eq!(told(&policy(Some(4), 1.0), 4), "open");
        let share = told(&policy(Some(4), 0.15), 4);
        assert!(share.contains("the part of the partition that firm slots may have is 3;"), "{share}");
        assert_eq!(told(&policy(None, 0.2), 4), "open");
        let partition = told(&policy(None, 1.0), 21);
        assert!(partition.contains("the partition has 20;"), "{partition}");
        let none = told(&policy(None, 0.01), 1);
        assert!(none.contains("firm slots get none of this partition's nodes"), "{none}");
    }

    #[test]
    fn a_user_an_account_and_the_site_have_no_more_slots_than_they_may() {
        let policy = FirmPolicy { most_active: MostActive { user: Some(2), account: Some(4), site: 8 }, ..FirmPolicy::default() };
        let told = |of_user, of_account, of_site| told(&policy, &REQUEST, &FirmStanding { of_user, of_account, of_site, ..STANDING });
        assert_eq!(told(1, 3, 7), "open");
        let user =
            "a user may have 2 firm slots at a time, which is as many as there are; cancel one of yours, or ask again when one has ended";
        assert_eq!(told(2, 3, 7), user);
        assert!(told(1, 4, 7).starts_with("an account may have 4 firm slots"), "{}", told(1, 4, 7));
        assert!(told(1, 3, 8).starts_with("everybody together may have 8 firm slots"), "{}", told(1, 3, 8));
        let unlimited = FirmPolicy { most_active: MostActive { site: u32::MAX, ..MostActive::default() }, ..policy.clone() };
        let many = FirmStanding { of_user: 1_000, of_account: 1_000, of_site: 1_000, ..STANDING };
        assert!(firm_window(Some(&unlimited), &REQUEST, &many, NOW).is_ok());
    }

    #[test]
    fn an_account_is_charged_no_more_node_hours_than_it_may_be() {
        let policy = FirmPolicy { most_node_hours: Some(10), ..FirmPolicy::default() };
        let told = |charged_node_seconds| told(&policy, &REQUEST, &FirmStanding { charged_node_seconds, ..STANDING });
        // The slot takes 8 node-hours.
        assert_eq!(told(2 * 3_600), "open");
        let beyond = told(2 * 3_600 + 1);
        assert!(beyond.starts_with("the slot takes 8 node-hours, and of the 10 that the account may be charged"), "{beyond}");
        assert!(beyond.contains("in seven days 7.9 are left; "), "{beyond}");
        assert!(told(u64::MAX).contains("in seven days 0 are left; "), "{}", told(u64::MAX));
    }

    #[test]
    fn a_window_is_held_against_the_time_limit_the_notice_and_how_far_ahead_slots_are_given() {
        let policy = FirmPolicy { ahead: Seconds(HOUR / 2), ..FirmPolicy::default() };
        let far = firm_window(Some(&policy), &REQUEST, &STANDING, NOW).unwrap_err();
        assert!(far.to_string().starts_with("the window begins 30 min too late: a slot may begin at most 30 min from now"), "{far}");
        assert_eq!(far.nearest().map(|nearest| nearest.to_string()).as_deref(), Some("now+30minutes,now+150minutes"));
        let longer = FirmRequest { duration: Seconds(7 * HOUR), ..REQUEST };
        let short = told(&FirmPolicy::default(), &longer, &STANDING);
        assert!(short.contains("is 1 h too short for the time limit of 7 h; "), "{short}");
        let noticed = FirmRequest { notice: Some(Seconds(7 * HOUR)), ..REQUEST };
        let notice = told(&FirmPolicy::default(), &noticed, &STANDING);
        assert!(notice.contains("the notice of 7 h is 1 h longer"), "{notice}");
        let over = told(&FirmPolicy::default(), &FirmRequest { window: Window { latest: NOW, ..REQUEST.window }, ..REQUEST }, &STANDING);
        assert!(over.starts_with("the window has already ended"), "{over}");
    }

    #[test]
    fn a_notice_of_the_sites_own_refuses_no_window() {
        let policy = FirmPolicy { notice: Seconds(24 * HOUR), ..FirmPolicy::default() };
        assert_eq!(told(&policy, &REQUEST, &STANDING), "open");
    }

    #[test]
    fn what_no_window_would_change_is_said_first() {
        let over = FirmRequest { nodes: 21, window: Window { latest: NOW, ..REQUEST.window }, ..REQUEST };
        let refused = firm_window(Some(&FirmPolicy::default()), &over, &STANDING, NOW).unwrap_err();
        assert!(matches!(refused, FirmRefusal::TooManyNodes { .. }) && refused.nearest().is_none(), "{refused}");
    }
}
