//! How slurmctld makes the priorities of jobs.

use super::Answer;
use crate::bindings;
use crate::client::error::ClientError;
use crate::client::value;

/// How slurmctld makes the priorities of jobs (`PriorityType` and `PriorityFlags`), and what it
/// holds them to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Priorities {
    /// The plugin, such as `priority/multifactor`.
    pub plugin: String,
    /// Whether a job's priority never becomes lower (`INCR_ONLY`).
    pub only_grows: bool,
    /// The plugin that sets the factor of the site itself (`PrioritySiteFactorPlugin`), where there
    /// is one.
    pub site_factor_plugin: Option<String>,
    /// Whether jobs are held to the limits of qualities of service and associations
    /// (`AccountingStorageEnforce` has `limits`).
    pub enforces_limits: bool,
}

/// `ACCOUNTING_ENFORCE_LIMITS` of src/common/read_config.h, which Slurm does not install. It is the
/// same in 22.05, 24.11 and later.
const ENFORCE_LIMITS: u32 = 0x0002;

impl Priorities {
    /// Why a factor of the site has no lasting effect on priorities; `None` where it has one.
    ///
    /// priority/basic gives each job a priority as it comes and never asks for factors again
    /// (`set_job_prio` in src/slurmctld/job_mgr.c).
    #[must_use]
    pub fn why_site_factors_do_nothing(&self) -> Option<String> {
        if self.plugin != "priority/multifactor" {
            return Some(format!("PriorityType is {}, and only priority/multifactor has factors", self.plugin));
        }
        if self.only_grows {
            return Some("PriorityFlags has INCR_ONLY, with which no priority becomes lower".to_owned());
        }
        self.site_factor_plugin.as_ref().map(|plugin| format!("PrioritySiteFactorPlugin is {plugin}, which sets the factors itself"))
    }
}

/// How slurmctld makes the priorities of jobs.
///
/// # Errors
/// As [`super::jobs`].
pub fn priorities() -> Result<Priorities, ClientError> {
    let answer = Answer::configuration()?;
    let message = answer.message;
    // SAFETY: not null (checked by `ask`); the texts are null or null-terminated, and copied.
    unsafe {
        Ok(Priorities {
            plugin: value::owned_text((*message).priority_type).unwrap_or_default(),
            only_grows: u32::from((*message).priority_flags) & bindings::FLAG_PRIORITY_ONLY_GROWS != 0,
            // Some releases show that there is none as a plugin of that name.
            site_factor_plugin: value::owned_text((*message).site_factor_plugin).filter(|plugin| !plugin.contains("none")),
            enforces_limits: u32::from((*message).accounting_storage_enforce) & ENFORCE_LIMITS != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_count_with_multifactor_alone_and_where_priorities_may_become_lower() {
        let multifactor =
            Priorities { plugin: "priority/multifactor".to_owned(), only_grows: false, site_factor_plugin: None, enforces_limits: true };
        assert_eq!(multifactor.why_site_factors_do_nothing(), None);
        let why = |priorities: Priorities| priorities.why_site_factors_do_nothing().unwrap();
        assert!(why(Priorities { plugin: "priority/basic".to_owned(), ..multifactor.clone() }).contains("priority/basic"));
        assert!(why(Priorities { only_grows: true, ..multifactor.clone() }).contains("INCR_ONLY"));
        assert!(why(Priorities { site_factor_plugin: Some("site_factor/ours".to_owned()), ..multifactor }).contains("site_factor/ours"));
    }
}
