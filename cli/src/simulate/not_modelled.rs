//! What the simulation does not have of a slurm.conf.

use std::fmt;

use serde::Serialize;

use crate::output;

/// A parameter of slurm.conf that the simulation does not have, as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct NotModelled(String);

impl fmt::Display for NotModelled {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl NotModelled {
    /// One of `SchedulerParameters`.
    pub(super) fn of_scheduler(parameter: String) -> Self {
        Self(format!("SchedulerParameters={parameter}"))
    }

    /// A setting of priorities.
    pub(super) fn of_priorities(setting: String) -> Self {
        Self(setting)
    }
}

/// Settings beside the parameters of the scheduler and those of priorities that say who starts
/// when, each with the values by which the simulation goes.
const OTHERS: [(&str, &[&str]); 2] = [("SchedulerType", &["sched/backfill"]), ("PreemptType", &["preempt/none", "(null)", ""])];

/// Such settings of a slurm.conf, or of what `scontrol show config` prints, with other values.
pub(super) fn other_settings(configuration: &str) -> Vec<NotModelled> {
    let settings = configuration.lines().filter_map(|line| line.split('#').next()?.split_once('='));
    let (mut found, known) = (Vec::new(), |key: &str| OTHERS.iter().find(|(other, _)| other.eq_ignore_ascii_case(key)));
    for (key, value) in settings.map(|(key, value)| (key.trim(), value.trim())) {
        if known(key).is_some_and(|(_, values)| !values.contains(&value)) {
            found.push(NotModelled(format!("{key}={value}")));
        }
    }
    found
}

/// Says on standard error what the simulation went without, a line for each.
pub(crate) fn tell(not_modelled: &[NotModelled]) {
    for NotModelled(parameter) in not_modelled {
        output::warn(&format!("the simulation has no {parameter}, and goes without it"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_change_who_starts_when_are_told_unless_they_are_as_in_the_simulation() {
        let as_simulated = "SchedulerType=sched/backfill\nPreemptType = preempt/none\nClusterName=x\n";
        assert!(other_settings(as_simulated).is_empty());
        let found = other_settings("schedulertype=sched/builtin # a note\nPreemptType=preempt/qos\n");
        assert_eq!(found, ["schedulertype=sched/builtin", "PreemptType=preempt/qos"].map(|text| NotModelled(text.to_owned())));
    }
}
