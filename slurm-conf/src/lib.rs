//! What the site says: queuecast.toml, slurm.conf, the names of the files in its state directory
//! and how these are opened, and the text formats of Slurm.

pub mod configuration;
pub mod duration;
pub mod envelope;
pub mod moment;
pub mod printed;
pub mod slurm_settings;
pub mod state_directory;
pub mod time_format;
pub mod trusted;
pub mod window;

pub use configuration::{Configuration, ConfigurationError};
pub use slurm_settings::SlurmSettings;
