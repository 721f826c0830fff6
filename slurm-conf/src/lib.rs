//! What the site says: queuecast.toml, the names of the files in its state directory, and the text
//! formats of Slurm.

pub mod configuration;
pub mod duration;
pub mod moment;
pub mod state_directory;

pub use configuration::{Configuration, ConfigurationError};

/// The beginning of a text, for a message: no message grows with what was given.
fn shortened(text: &str) -> String {
    const MOST_CHARACTERS: usize = 48;
    let mut characters = text.chars();
    let mut start: String = characters.by_ref().take(MOST_CHARACTERS).collect();
    if characters.next().is_some() {
        start.push('…');
    }
    start
}
