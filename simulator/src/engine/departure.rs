//! The ways in which a simulation departs from a site's configuration as it is written.

/// Something in a site's configuration by which the simulation does not go as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Departure {
    /// The model does not have it and goes without it: the setting as it is written.
    NotModelled(String),
    /// Slurm does not go by it either: what Slurm does, as a sentence without its stop.
    NotTaken(String),
}
