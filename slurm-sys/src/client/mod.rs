//! What a program asks of slurmdbd and slurmctld, through libslurm.
//!
//! * [`AccountingConnection`] reads records of ended jobs from slurmdbd.
//! * [`controller`] reads jobs, nodes and partitions from slurmctld.
//! * [`site()`] says what the site's slurm.conf says of both.
//!
//! [`library`] loads libslurm when it is first needed. Plugins leave this module alone: the program
//! that loads them has what they call.
//!
//! Everything that libslurm hands over may be a null pointer, one of its sentinels (`NO_VAL`,
//! `INFINITE`) or bytes that are not UTF-8. All of that ends here: what is not set is `None`,
//! minutes become seconds, and text is converted lossily.
//!
//! Every call may block: a connection that is refused comes back at once, one that is dropped on
//! the way waits for `MessageTimeout` of slurm.conf, and slurmdbd is given up to 15 minutes for one
//! answer (src/plugins/accounting_storage/slurmdbd/dbd_conn.c, `SLURMDBD_TIMEOUT`). A program that
//! has something else to do makes these calls on a thread of their own.

mod accounting;
pub mod controller;
mod error;
pub(crate) mod last_error;
pub mod library;
pub(crate) mod list;
mod local;
pub(crate) mod start;
mod state;
mod symbols;
pub(crate) mod value;

pub use accounting::{AccountingConnection, ArrayTask, EndedJobRecord, RecordedReservation, RecordedRun, WindowWidth};
pub use error::ClientError;
pub use local::{LocalConfiguration, local_configuration};
pub use start::{PrivateData, Site, initialise, site};
pub use state::JobState;
pub use value::array_task_count;
