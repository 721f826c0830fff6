//! Who asks, by the names that Slurm has for user, account and quality of service.

use std::time::Duration;

use axum::http::StatusCode;
use daemon_api::Probe;
use job_types::firm::Applicant;
use job_types::number::UserId;
use nix::unistd::{Uid, User, geteuid};
use predictor_core::decisions::limits::{AssociationLimits, Qos};

use super::Standing;
use super::refused::Refused;

/// The names of who asks; what has none is not named.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    user: Option<String>,
    pub(super) account: Option<String>,
    pub(super) qos: Option<String>,
}

/// Whether a user sees what is everybody's: root, and the user that the daemon runs as.
pub(super) fn is_operator(user: UserId) -> bool {
    user == UserId(0) || user == UserId(geteuid().as_raw())
}

/// The name of a user; `None` where this machine knows none.
fn name_of(user: UserId) -> Result<Option<String>, Refused> {
    let found = User::from_uid(Uid::from_raw(user.0)).map_err(|error| {
        tracing::debug!(%error, user = user.0, "the name of a user can't be found out");
        Refused::for_now(StatusCode::SERVICE_UNAVAILABLE, "your name can't be found out at the moment", Duration::from_secs(30))
    })?;
    Ok(found.map(|user| user.name))
}

impl Named {
    /// Completes what a request says by the user's default account and its quality of service. The
    /// user's own name is this machine's, which is asked for where some policy names users.
    ///
    /// # Errors
    /// The user has no association, where others have; the account is none of the user's, or the
    /// quality of service none that the account may use; the user's name can't be found out now.
    pub(super) fn of(user: UserId, wanted: &Probe, standing: &Standing) -> Result<Self, Refused> {
        let name = if standing.policies.iter().any(|policy| policy.users.is_some()) { name_of(user)? } else { None };
        if standing.is_stranger(user) {
            return Err(Refused::wrong("account", "an account of yours, and you have none on this cluster".to_owned()));
        }
        let accounting = &standing.accounting;
        let own: Vec<&AssociationLimits> = accounting.associations.iter().filter(|association| association.user == Some(user)).collect();
        let is_wanted = |association: &&&AssociationLimits| match &wanted.account {
            Some(account) => association.account.eq_ignore_ascii_case(account),
            None => association.is_default,
        };
        let association = own.iter().find(is_wanted);
        if let (Some(_), None, false) = (&wanted.account, association, own.is_empty()) {
            let mut accounts: Vec<&str> = own.iter().map(|association| association.account.as_str()).collect();
            accounts.sort_unstable();
            accounts.dedup();
            return Err(Refused::wrong("account", format!("one of your accounts: {}", accounts.join(", "))));
        }
        if let Some(asked) = &wanted.qos {
            let may_use = |qos: &&Qos| association.is_none_or(|association| association.may_use(qos.id));
            let allowed: Vec<&str> = accounting.qos.iter().filter(may_use).map(|qos| qos.name.as_str()).collect();
            if !accounting.qos.is_empty() && !allowed.iter().any(|name| name.eq_ignore_ascii_case(asked)) {
                return Err(Refused::wrong("qos", format!("a quality of service that you may use: {}", allowed.join(", "))));
            }
        }
        let default_qos = association.and_then(|association| association.default_qos);
        let qos = default_qos.and_then(|id| accounting.qos.iter().find(|qos| qos.id == id)).map(|qos| qos.name.clone());
        Ok(Self {
            user: name,
            account: association.map(|association| association.account.clone()).or_else(|| wanted.account.clone()),
            qos: wanted.qos.clone().or(qos),
        })
    }

    /// Who asks in a partition.
    pub(super) fn on<'a>(&'a self, partition: &'a str) -> Applicant<'a> {
        let text = |name: &'a Option<String>| name.as_deref().unwrap_or_default();
        Applicant { partition, user: text(&self.user), account: text(&self.account), qos: text(&self.qos) }
    }
}
