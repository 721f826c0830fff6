//! What would have been reserved for jobs that asked for a firm slot in a mode that makes none, as
//! `queuecastd` keeps it.

use command_parts::output;
use slurm_conf::state_directory::OBSERVED_SLOTS;
use slurm_conf::trusted::{present, read_owned};
use upkeep::ObservedSlots;

use crate::installation::Installation;

/// What the state directory has of them; `None` where that is nothing, or can't be used.
pub(super) fn read(installation: &Installation) -> Option<ObservedSlots> {
    let path = installation.directory.join(OBSERVED_SLOTS);
    let read = present(read_owned(&path, ObservedSlots::MOST_BYTES)).map_err(|error| error.to_string());
    let checked = read.and_then(|bytes| {
        let Some(bytes) = bytes else { return Ok(None) };
        let slots = serde_json::from_slice::<ObservedSlots>(&bytes).map_err(|error| error.to_string())?;
        match slots.other_version() {
            Some(version) => Err(format!("it is of version {version}")),
            None => Ok(Some(slots)),
        }
    });
    checked.unwrap_or_else(|reason| {
        output::warn(&format!("{}: {reason}; nothing is known here of slots that would have been reserved", path.display()));
        None
    })
}
