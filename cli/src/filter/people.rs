//! Users, as the daemon knows them for rules, or else as this machine does.

use std::collections::BTreeMap;
use std::ffi::CString;

use job_types::number::UserId;
use nix::unistd::{Group, User, getgrouplist};
use rules_compiler::described::DescribedUser;
use site_rules::data::DataFile;

use crate::installation::Installation;

/// What is known of users, each asked for once.
#[derive(Debug)]
pub(super) struct People {
    /// What the daemon has written for rules, where it can be read.
    data: Option<DataFile>,
    groups: BTreeMap<String, Option<Vec<String>>>,
}

impl People {
    /// Knows people by what the daemon has written into the state directory.
    pub(super) fn of(installation: &Installation) -> Self {
        People { data: installation.rules_data(), groups: BTreeMap::new() }
    }

    /// A user with the groups and the rights that are known.
    pub(super) fn user(&mut self, id: UserId, name: Option<String>) -> DescribedUser {
        let is_root = id == UserId(0);
        let told = self.data.as_ref().and_then(|data| data.user(id)).map(|user| user.groups.iter().map(str::to_owned).collect());
        let groups = told.or_else(|| self.groups(name.as_deref()?));
        let is_operator = is_root || self.data.as_ref().is_some_and(|data| data.is_operator(id));
        DescribedUser { name, id, groups, is_root, is_operator, submissions_last_hour: None, jobs: None }
    }

    fn groups(&mut self, name: &str) -> Option<Vec<String>> {
        self.groups.entry(name.to_owned()).or_insert_with(|| groups_of(name)).clone()
    }
}

/// The names of a user's groups, where this machine knows the user.
fn groups_of(name: &str) -> Option<Vec<String>> {
    let user = User::from_name(name).ok().flatten()?;
    let numbers = getgrouplist(&CString::new(user.name).ok()?, user.gid).ok()?;
    Some(numbers.into_iter().filter_map(|number| Group::from_gid(number).ok().flatten()).map(|group| group.name).collect())
}
