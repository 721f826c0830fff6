//! What the site says: queuecast.toml, and the text formats of Slurm.
