//! Accounts and users, their shares, and what they have used.

use std::collections::{BTreeMap, BTreeSet};

use job_types::number::UserId;

use crate::engine::Job;

/// The place of an association in its tree.
pub type AssociationIndex = usize;

/// One account, or one user in one account.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Association {
    pub(super) parent: Option<AssociationIndex>,
    /// None: `parent`, which Slurm calls to use those of the account.
    pub(super) shares: Option<u32>,
    pub(super) is_user: bool,
    pub(super) children: Vec<AssociationIndex>,
    /// Shares of all children together.
    children_shares: u32,
    /// Processor-seconds, decayed, of all below it.
    pub(super) usage: f64,
}

/// The tree of accounts and users below the root, as `sshare` shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Associations {
    pub(super) tree: Vec<Association>,
    /// The association of each group and user of a job.
    users: BTreeMap<(u32, UserId), AssociationIndex>,
}

/// The root of every tree.
pub(super) const ROOT: AssociationIndex = 0;

impl Default for Associations {
    fn default() -> Self {
        let root = Association { parent: None, shares: Some(1), is_user: false, children: Vec::new(), children_shares: 0, usage: 0.0 };
        Self { tree: vec![root], users: BTreeMap::new() }
    }
}

impl Associations {
    /// All users of a workload side by side, with one share each, whatever their groups.
    #[must_use]
    pub fn of_users(jobs: &[Job]) -> Self {
        let mut associations = Self::default();
        let users: BTreeSet<UserId> = jobs.iter().map(|job| job.user).collect();
        let places: BTreeMap<UserId, AssociationIndex> =
            users.into_iter().map(|user| (user, associations.add(ROOT, Some(1), true))).collect();
        associations.users = jobs.iter().filter_map(|job| Some(((job.group, job.user), *places.get(&job.user)?))).collect();
        associations
    }

    /// Adds an account, below another or below the root.
    pub fn account(&mut self, parent: Option<AssociationIndex>, shares: u32) -> AssociationIndex {
        self.add(parent.unwrap_or(ROOT), Some(shares), false)
    }

    /// Adds a user of an account, or one directly below the root, as the user of the jobs of this
    /// group and user. Without shares of their own (`FairShare=parent`) they are first in their
    /// account.
    pub fn user(&mut self, account: Option<AssociationIndex>, shares: Option<u32>, group: u32, user: UserId) -> AssociationIndex {
        let place = self.add(account.unwrap_or(ROOT), shares, true);
        self.users.insert((group, user), place);
        place
    }

    /// The association that a job is charged to; `None` for a user who is not known.
    #[must_use]
    pub fn of(&self, job: &Job) -> Option<AssociationIndex> {
        self.users.get(&(job.group, job.user)).copied()
    }

    /// Charges an association, its account, and so on up to the root.
    pub fn charge(&mut self, place: AssociationIndex, processor_seconds: f64) {
        let mut next = Some(place);
        while let Some(association) = next.and_then(|place| self.tree.get_mut(place)) {
            association.usage += processor_seconds;
            next = association.parent;
        }
    }

    /// Forgets a part of what was used: keeps `kept` of it.
    pub(super) fn decay(&mut self, kept: f64) {
        for association in &mut self.tree {
            association.usage *= kept;
        }
    }

    /// The association's part of its siblings' shares; that of its account where it has none of its
    /// own.
    pub(super) fn share(&self, place: AssociationIndex) -> f64 {
        let Some(association) = self.tree.get(place) else { return 0.0 };
        let Some(parent) = association.parent.and_then(|parent| self.tree.get(parent)) else { return 1.0 };
        match association.shares {
            None => association.parent.map_or(0.0, |parent| self.share(parent)),
            Some(shares) => {
                let all = parent.children_shares;
                if all == 0 { 0.0 } else { f64::from(shares) / f64::from(all) }
            }
        }
    }

    fn add(&mut self, parent: AssociationIndex, shares: Option<u32>, is_user: bool) -> AssociationIndex {
        let place = self.tree.len();
        self.tree.push(Association { parent: Some(parent), shares, is_user, children: Vec::new(), children_shares: 0, usage: 0.0 });
        if let Some(parent) = self.tree.get_mut(parent) {
            parent.children.push(place);
            parent.children_shares += shares.unwrap_or(0);
        }
        place
    }
}
