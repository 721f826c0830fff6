//! The ways in which the simulation departs from a slurm.conf as it is written.

use std::fmt;

use command_parts::output;
use serde::{Serialize, Serializer};
use simulator::engine::Departure;
use slurm_conf::SlurmSettings;

/// Something in a slurm.conf by which the simulation does not go as it is written. In JSON it is
/// the setting as it is written where the simulation does not have it, and a sentence otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotModelled(Departure);

impl Serialize for NotModelled {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (Departure::NotModelled(text) | Departure::NotTaken(text)) = &self.0;
        serializer.serialize_str(text)
    }
}

impl fmt::Display for NotModelled {
    /// The whole sentence, without its stop.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Departure::NotModelled(setting) => write!(formatter, "the simulation has no {setting}, and goes without it"),
            Departure::NotTaken(what) => formatter.write_str(what),
        }
    }
}

impl From<Departure> for NotModelled {
    fn from(departure: Departure) -> Self {
        Self(departure)
    }
}

/// Settings beside the parameters of the scheduler and those of priorities that say who starts
/// when, each with the value by which the simulation goes.
const OTHERS: [(&str, &str); 2] = [("SchedulerType", "sched/backfill"), ("PreemptType", "preempt/none")];

/// Returns those settings of [`OTHERS`] to which a slurm.conf gives other values, and the included
/// files that could not be read.
pub(super) fn other_settings(site: &SlurmSettings) -> Vec<NotModelled> {
    let unread = site.problems.iter().map(|problem| {
        Departure::NotTaken(format!("{problem}: what this included file says is not known, and the simulation goes without it"))
    });
    let is_other = |key: &str, value: &str| OTHERS.iter().any(|(other, simulated)| other.eq_ignore_ascii_case(key) && *simulated != value);
    let others = site.in_force().filter(|setting| site.get(&setting.key).is_some() && is_other(&setting.key, &setting.value));
    let others = others.map(|setting| Departure::NotModelled(format!("{}={}", setting.key, setting.value)));
    unread.chain(others).map(NotModelled).collect()
}

/// Says on standard error what the simulation went without, a line for each.
pub fn tell(not_modelled: &[NotModelled]) {
    for departure in not_modelled {
        output::warn(&departure.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_change_who_starts_when_are_told_unless_they_are_as_in_the_simulation() {
        let others = |text: &str| other_settings(&SlurmSettings::parse(text));
        for as_simulated in ["SchedulerType=\"sched/backfill\"\nPreemptType = preempt/none\nClusterName=x\n", "PreemptType = (null)\n"] {
            assert!(others(as_simulated).is_empty(), "{as_simulated}");
        }
        let found = others("schedulertype=sched/builtin # a note\nPreemptType=preempt/qos\n");
        let expected = ["schedulertype=sched/builtin", "PreemptType=preempt/qos"];
        assert_eq!(found, expected.map(|text| NotModelled(Departure::NotModelled(text.to_owned()))));
    }

    #[test]
    fn an_included_file_that_is_not_there_is_told() {
        let told = other_settings(&SlurmSettings::parse("Include /nowhere/more.conf\n"));
        let [told] = told.as_slice() else { panic!("{told:?}") };
        assert!(told.to_string().starts_with("/nowhere/more.conf: No such file or directory"), "{told}");
    }
}
