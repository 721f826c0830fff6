//! What probes are answered from.

use std::collections::HashSet;
use std::sync::Arc;

use job_types::firm::FirmPolicy;
use job_types::number::UserId;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::MOST_AHEAD;
use predictor_core::decisions::limits::AccountingLimits;

use crate::plan::Question;

/// Stands for all users without an association, where others have one.
const STRANGER: UserId = UserId(u32::MAX);

/// The plan that stands.
#[derive(Debug)]
pub(crate) struct Standing {
    /// The number of the snapshot that has it.
    pub(super) generation: u64,
    /// The question that it answers, with the cluster in it.
    pub(super) question: Arc<Question>,
    /// What accounting says of associations.
    pub(super) accounting: Arc<AccountingLimits>,
    /// To whom the site gives firm slots.
    pub(super) policies: Vec<FirmPolicy>,
    /// How old a plan may be that is answered from.
    maximum_age: Seconds,
    /// The users who have an association.
    users: HashSet<UserId>,
}

impl Standing {
    /// What is answered from, until it is too old.
    pub(crate) fn new(
        generation: u64,
        question: Arc<Question>,
        accounting: Arc<AccountingLimits>,
        policies: Vec<FirmPolicy>,
        maximum_age: Seconds,
    ) -> Self {
        let users = accounting.associations.iter().filter_map(|association| association.user).collect();
        Self { generation, question, accounting, policies, maximum_age, users }
    }

    /// Whether its plan is of a queue that is no longer that.
    pub(super) fn is_outdated(&self, now: UnixTime) -> bool {
        let age = now - self.question.state.now;
        age > self.maximum_age || age < Seconds(-MOST_AHEAD.0)
    }

    /// Whether accounting has associations of users at all, and none of this one's.
    pub(super) fn is_stranger(&self, user: UserId) -> bool {
        !self.users.is_empty() && !self.users.contains(&user)
    }

    /// By whom a caller is counted. Whoever has subordinate user ids (subuid(5)) has thousands of
    /// them: users without an association count as one.
    pub(super) fn counted_as(&self, user: UserId) -> UserId {
        if self.is_stranger(user) && user != UserId(0) { STRANGER } else { user }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use predictor_core::decisions::limits::AssociationLimits;

    fn standing(users: &[u32]) -> Standing {
        let association = |user: &u32| AssociationLimits { user: Some(UserId(*user)), ..AssociationLimits::default() };
        let accounting = AccountingLimits { associations: users.iter().map(association).collect(), ..AccountingLimits::default() };
        Standing::new(1, Arc::default(), Arc::new(accounting), Vec::new(), Seconds(600))
    }

    #[test]
    fn users_without_an_association_count_as_one_where_others_have_one() {
        let some = standing(&[7]);
        assert_eq!([7, 0].map(|user| some.counted_as(UserId(user))), [7, 0].map(UserId));
        assert_eq!([100_000, 100_001].map(|user| some.counted_as(UserId(user))), [STRANGER; 2]);
        assert_eq!(standing(&[]).counted_as(UserId(100_000)), UserId(100_000));
    }

    #[test]
    fn a_plan_is_answered_from_until_it_is_too_old() {
        let standing = standing(&[]);
        assert!(!standing.is_outdated(UnixTime(600)) && standing.is_outdated(UnixTime(601)));
        assert!(standing.is_outdated(UnixTime(-MOST_AHEAD.0 - 1)), "it is dated ahead");
    }
}
