//! Fair-share factors from usage and shares.

use super::associations::{AssociationIndex, Associations, ROOT};

/// Each association's factor under Fair Tree, Slurm's default since 19.05
/// (src/plugins/priority/multifactor/fair_tree.c): users are ranked by a walk through the tree that
/// goes, at each level, from the greatest ratio of share to usage to the smallest; the factor is
/// the rank over the number of users. Accounts have none.
///
/// Users of one account with the same ratio have the same rank, and so have a user and the first
/// user of an account beside it with the same ratio. Slurm means to merge accounts with the same
/// ratio as well, but its count of them (`_count_tied_accounts`) stops at the first account, so
/// that it does not: the second account's first user has the rank of the first account's last, and
/// this is done here too.
pub(super) fn fair_tree(associations: &Associations) -> Vec<f64> {
    let users = associations.tree.iter().filter(|association| association.is_user).count();
    let mut walk = Walk { associations, users, rank: users, next_rank: users, factors: vec![0.0; associations.tree.len()] };
    walk.below(ROOT, false);
    walk.factors
}

struct Walk<'a> {
    associations: &'a Associations,
    users: usize,
    rank: usize,
    /// The rank of the next user that is not tied.
    next_rank: usize,
    factors: Vec<f64>,
}

impl Walk<'_> {
    fn below(&mut self, parent: AssociationIndex, parent_is_tied: bool) {
        let Some(above) = self.associations.tree.get(parent) else { return };
        let mut children: Vec<(f64, bool, AssociationIndex)> = above
            .children
            .iter()
            .filter_map(|&place| Some((self.level_ratio(place, above.usage), self.associations.tree.get(place)?.is_user, place)))
            .collect();
        // Among equals, users come before accounts.
        children.sort_by(|(ratio, is_user, _), (other, other_is_user, _)| other.total_cmp(ratio).then(other_is_user.cmp(is_user)));
        let mut before = None;
        for (ratio, is_user, place) in children {
            let is_tied = before.map_or(parent_is_tied, |before| before == ratio);
            before = Some(ratio);
            if !is_user {
                self.below(place, is_tied);
                continue;
            }
            if !is_tied {
                self.rank = self.next_rank;
            }
            if let Some(factor) = self.factors.get_mut(place) {
                *factor = self.rank as f64 / self.users as f64;
            }
            self.next_rank = self.next_rank.saturating_sub(1);
        }
    }

    /// Slurm's level fairshare: the share among the siblings over the part of the account's usage.
    fn level_ratio(&self, place: AssociationIndex, account_usage: f64) -> f64 {
        let Some(association) = self.associations.tree.get(place) else { return 0.0 };
        if association.shares.is_none() {
            return f64::INFINITY;
        }
        let share = self.associations.share(place);
        let usage = if account_usage > 0.0 { association.usage / account_usage } else { 0.0 };
        match (share > 0.0, usage > 0.0) {
            (false, _) => 0.0,
            (true, false) => f64::INFINITY,
            (true, true) => share / usage,
        }
    }
}

/// Each association's factor under `PriorityFlags=NO_FAIR_TREE`, 2^(-U / S / D): with S its share
/// of the machine, U its effective usage, which takes a part of what its account used for its own,
/// and D `FairShareDampeningFactor` (priority_multifactor.c, `_set_usage_efctv` and
/// `priority_p_calc_fs_factor`).
pub(super) fn classic(associations: &Associations, dampening: f64) -> Vec<f64> {
    let all = associations.tree.get(ROOT).map_or(0.0, |root| root.usage);
    let mut shares = vec![1.0; associations.tree.len()];
    let mut usages = vec![1.0; associations.tree.len()];
    let mut factors = vec![0.0; associations.tree.len()];
    // Parents come before their children.
    for (place, association) in associations.tree.iter().enumerate().skip(1) {
        let parent = association.parent.unwrap_or(ROOT);
        let usage = if all > 0.0 { (association.usage / all).min(1.0) } else { 0.0 };
        if association.shares.is_none() {
            (shares[place], usages[place]) = (shares[parent], usages[parent]);
        } else {
            let share = associations.share(place);
            shares[place] = shares[parent] * share;
            usages[place] = if parent == ROOT { usage } else { usage + (usages[parent] - usage) * share };
        }
        if shares[place] > 0.0 {
            factors[place] = (-(usages[place] / shares[place]) / dampening).exp2();
        }
    }
    factors
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_1_SQRT_2;

    use super::{classic, fair_tree};
    use crate::engine::order::Associations;
    use job_types::number::UserId;

    /// Physics, with 2 shares, has games and man; chemistry, with 3, has mail and nobody; each user
    /// has one share.
    fn tree() -> (Associations, [usize; 4]) {
        let mut tree = Associations::default();
        let physics = tree.account(None, 2);
        let chemistry = tree.account(None, 3);
        let users = [
            tree.user(Some(physics), Some(1), 1, UserId(1)),
            tree.user(Some(physics), Some(1), 1, UserId(2)),
            tree.user(Some(chemistry), Some(1), 2, UserId(3)),
            tree.user(Some(chemistry), Some(1), 2, UserId(4)),
        ];
        (tree, users)
    }

    fn of(factors: &[f64], users: [usize; 4]) -> [f64; 4] {
        users.map(|user| factors[user])
    }

    #[test]
    fn users_are_ranked_account_by_account() {
        let (mut tree, users) = tree();
        // Out of 100, physics has 30 (level ratio 0.4 / 0.3 = 1.33) and chemistry 70 (0.6 / 0.7 =
        // 0.86). Within physics, games has 20 (0.5 / 0.667 = 0.75) and man 10 (1.5). Within
        // chemistry, mail has 70 and nobody none.
        tree.charge(users[0], 20.0);
        tree.charge(users[1], 10.0);
        tree.charge(users[2], 70.0);
        assert_eq!(of(&fair_tree(&tree), users), [0.75, 1.0, 0.25, 0.5]);
    }

    #[test]
    fn equal_users_share_a_rank() {
        let (mut tree, users) = tree();
        tree.charge(users[0], 10.0);
        tree.charge(users[1], 10.0);
        // Chemistry comes first, both of its users tied, then both of physics.
        assert_eq!(of(&fair_tree(&tree), users), [0.5, 0.5, 1.0, 1.0]);
    }

    #[test]
    fn where_nobody_has_used_anything_all_are_first() {
        let (tree, users) = tree();
        assert_eq!(of(&fair_tree(&tree), users), [1.0; 4]);
    }

    #[test]
    fn a_user_without_shares_of_their_own_is_first_in_the_account() {
        let mut tree = Associations::default();
        let physics = tree.account(None, 1);
        let own = tree.user(Some(physics), Some(1), 1, UserId(1));
        let parents = tree.user(Some(physics), None, 1, UserId(2));
        tree.charge(parents, 10.0);
        tree.charge(own, 1.0);
        let factors = fair_tree(&tree);
        assert_eq!((factors[parents], factors[own]), (1.0, 0.5));
    }

    #[test]
    fn the_classic_factor_halves_with_each_share_used() {
        let mut tree = Associations::default();
        let first = tree.user(None, Some(1), 1, UserId(1));
        let second = tree.user(None, Some(1), 1, UserId(2));
        tree.charge(first, 75.0);
        tree.charge(second, 25.0);
        // Shares of one half: 2^-1.5 and 2^-0.5.
        let factors = classic(&tree, 1.0);
        assert!((factors[first] - 0.353_553).abs() < 1e-6 && (factors[second] - FRAC_1_SQRT_2).abs() < 1e-6, "{factors:?}");
        // Dampening of 3: 2^-0.5 for the first.
        assert!((classic(&tree, 3.0)[first] - FRAC_1_SQRT_2).abs() < 1e-6);
    }

    #[test]
    fn in_an_account_the_classic_factor_takes_a_part_of_the_accounts_usage() {
        let (mut tree, users) = tree();
        tree.charge(users[0], 40.0);
        tree.charge(users[2], 60.0);
        // man has used nothing of its own, and half of its account's 0.4; its share is 0.4 / 2:
        // 2^-(0.2 / 0.2).
        assert!((classic(&tree, 1.0)[users[1]] - 0.5).abs() < 1e-12);
        // games: 0.4 + (0.4 - 0.4) / 2 = 0.4, over 0.2: 2^-2.
        assert!((classic(&tree, 1.0)[users[0]] - 0.25).abs() < 1e-12);
    }
}
