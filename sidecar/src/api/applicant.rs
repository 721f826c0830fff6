//! Who asks, by the names that Slurm has for user, account and quality of service.

use axum::http::StatusCode;
use daemon_api::{Probe, Refusal};
use job_types::firm::Applicant;
use job_types::number::UserId;
use nix::unistd::{Uid, User};
use predictor_core::decisions::limits::AssociationLimits;

use super::Standing;
use super::refused::Refused;

/// The names of who asks; what has none is not named.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    user: Option<String>,
    pub(super) account: Option<String>,
    pub(super) qos: Option<String>,
}

impl Named {
    /// Completes what a request says by the user's default account and its quality of service. The
    /// user's own name is this machine's.
    ///
    /// # Errors
    /// The account is none of the user's.
    pub(super) fn of(user: UserId, wanted: &Probe, standing: &Standing) -> Result<Self, Refused> {
        let name = User::from_uid(Uid::from_raw(user.0)).ok().flatten().map(|user| user.name);
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
            let allowed = format!("one of your accounts: {}", accounts.join(", "));
            return Err(Refused(StatusCode::BAD_REQUEST, Refusal::of_key("account", allowed)));
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
