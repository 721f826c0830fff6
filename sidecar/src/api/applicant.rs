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
    /// Completes what a request in a partition says by the user's default account and its quality
    /// of service there. The user's own name is this machine's, which is asked for where some
    /// policy names users.
    ///
    /// # Errors
    /// The user has no association, where others have; the account is none of the user's in the
    /// partition, or the quality of service none that the account may use; the user's name can't be
    /// found out now.
    pub(super) fn of(user: UserId, wanted: &Probe, partition: &str, standing: &Standing) -> Result<Self, Refused> {
        let name = if standing.policies.iter().any(|policy| policy.users.is_some()) { name_of(user)? } else { None };
        if standing.is_stranger(user) {
            return Err(Refused::wrong("account", "an account of yours, and you have none on this cluster".to_owned()));
        }
        let accounting = &standing.accounting;
        let own: Vec<&AssociationLimits> = accounting.associations.iter().filter(|association| association.user == Some(user)).collect();
        let default_account = || own.iter().find(|association| association.is_default).map(|association| association.account.as_str());
        let account = wanted.account.as_deref().or_else(default_account);
        let there: Vec<_> = own.iter().filter(|association| association.partition.as_deref().is_none_or(|of| of == partition)).collect();
        let is_wanted =
            |association: &&&&AssociationLimits| account.is_some_and(|account| association.account.eq_ignore_ascii_case(account));
        // What is said of one partition goes before what is said of all.
        let association = there.iter().filter(is_wanted).max_by_key(|association| association.partition.is_some());
        if let (Some(_), None, false) = (account, association, own.is_empty()) {
            if there.is_empty() {
                return Err(Refused::wrong("account", format!("an account of yours in partition {partition}, and you have none there")));
            }
            let mut accounts: Vec<&str> = there.iter().map(|association| association.account.as_str()).collect();
            accounts.sort_unstable();
            accounts.dedup();
            return Err(Refused::wrong("account", format!("one of your accounts in partition {partition}: {}", accounts.join(", "))));
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

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::number::QosId;
    use job_types::time::Seconds;
    use predictor_core::decisions::limits::AccountingLimits;
    use std::sync::Arc;

    const USER: UserId = UserId(7);

    fn association(account: &str, partition: Option<&str>, qos: u32) -> AssociationLimits {
        AssociationLimits {
            user: Some(USER),
            account: account.to_owned(),
            partition: partition.map(str::to_owned),
            is_default: account == "physics",
            default_qos: Some(QosId(qos)),
            allowed_qos: vec![QosId(qos)],
            ..AssociationLimits::default()
        }
    }

    fn qos(id: u32, name: &str) -> Qos {
        Qos { id: QosId(id), name: name.to_owned(), ..Qos::default() }
    }

    /// What is made of a request, or what its refusal says is allowed.
    fn named(associations: Vec<AssociationLimits>, (account, partition): (Option<&str>, &str)) -> Result<Named, String> {
        let accounting = AccountingLimits { associations, qos: vec![qos(1, "normal"), qos(2, "urgent")] };
        let standing = Standing::new(1, Arc::default(), Arc::new(accounting), Vec::new(), Seconds(600));
        let mut wanted = Probe::read(br#"{"nodes": 1, "earliest": 5, "latest": 6}"#).unwrap();
        wanted.account = account.map(str::to_owned);
        Named::of(USER, &wanted, partition, &standing).map_err(|Refused(_, refusal)| refusal.allowed.unwrap_or_default())
    }

    fn of(account: &str, qos: &str) -> Result<Named, String> {
        Ok(Named { user: None, account: Some(account.to_owned()), qos: Some(qos.to_owned()) })
    }

    #[test]
    fn the_association_of_the_partition_goes_before_that_of_all_and_none_of_another_counts() {
        let everywhere =
            || vec![association("physics", Some("debug"), 2), association("physics", None, 1), association("biology", None, 1)];
        assert_eq!(named(everywhere(), (None, "batch")), of("physics", "normal"));
        assert_eq!(named(everywhere(), (None, "debug")), of("physics", "urgent"));
        assert_eq!(named(everywhere(), (Some("Biology"), "debug")), of("biology", "normal"));
        let elsewhere = vec![association("physics", Some("debug"), 2), association("biology", None, 1)];
        assert_eq!(named(elsewhere, (None, "batch")), Err("one of your accounts in partition batch: biology".to_owned()));
        let nowhere = vec![association("physics", Some("debug"), 2)];
        assert!(named(nowhere, (Some("physics"), "batch")).is_err_and(|said| said.ends_with("you have none there")));
        assert_eq!(named(Vec::new(), (Some("chemistry"), "batch")).unwrap().account.as_deref(), Some("chemistry"));
    }
}
