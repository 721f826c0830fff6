//! Files of the state directory that can't be used: they are kept aside, and that is told once.

use std::fmt::Display;
use std::path::Path;

use slurm_conf::trusted::set_aside;

/// Keeps what lies at a path aside, whatever it is, and says so. What it held is begun anew.
pub(crate) fn keep_aside(path: &Path, reason: &dyn Display) {
    let file = path.display();
    match set_aside(path) {
        Ok(aside) => tracing::warn!(%file, %reason, aside = %aside.display(), "a file is damaged: it is kept aside, and begun anew"),
        Err(error) => tracing::warn!(%file, %reason, %error, "a file is damaged and can't be kept aside: it is begun anew"),
    }
}
