//! Users, by name or number.

use anyhow::{Context, anyhow};
use job_types::number::UserId;
use nix::unistd::{Uid, User};

/// Number and name of a user who is given by either; the caller where none is given. Numbers need
/// no account.
pub(crate) fn find(given: Option<&str>) -> anyhow::Result<(UserId, Option<String>)> {
    let Some(given) = given else {
        let number = UserId(Uid::current().as_raw());
        return Ok((number, name(number)));
    };
    if let Ok(number) = given.parse().map(UserId) {
        return Ok((number, name(number)));
    }
    let found = User::from_name(given).context("--user")?;
    let user = found.ok_or_else(|| anyhow!("--user: this machine knows no user {given:?}; give a user number, which needs no account"))?;
    Ok((UserId(user.uid.as_raw()), Some(user.name)))
}

/// The name of a user, where this machine knows it.
pub(crate) fn name(number: UserId) -> Option<String> {
    User::from_uid(Uid::from_raw(number.0)).ok().flatten().map(|user| user.name)
}
