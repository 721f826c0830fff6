//! The size of a job: nodes and CPUs, kept apart.

use serde::{Deserialize, Serialize};

/// How much of the machine a job asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Size {
    /// Nodes, at least 1.
    pub nodes: u32,
    /// CPUs over all nodes, at least 1.
    pub cpus: u32,
}

impl Default for Size {
    /// The smallest: one CPU.
    fn default() -> Self {
        Self { nodes: 1, cpus: 1 }
    }
}

/// The unit in which a job's user counts its size: nodes where a node count was given, CPUs where
/// only tasks were.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// The job was written with a node count.
    Nodes,
    /// The job was written with tasks and CPUs per task only.
    Cpus,
}

impl Size {
    /// The size counted in `unit`.
    #[must_use]
    pub fn count(self, unit: Unit) -> u32 {
        match unit {
            Unit::Nodes => self.nodes,
            Unit::Cpus => self.cpus,
        }
    }
}

impl Unit {
    /// Both units.
    pub const ALL: [Unit; 2] = [Unit::Nodes, Unit::Cpus];

    /// The word for `count` of this unit.
    #[must_use]
    pub fn word(self, count: u32) -> &'static str {
        match (self, count) {
            (Unit::Nodes, 1) => "node",
            (Unit::Nodes, _) => "nodes",
            (Unit::Cpus, 1) => "CPU",
            (Unit::Cpus, _) => "CPUs",
        }
    }
}
