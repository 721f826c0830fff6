//! What is put in place for filter and commands: the snapshot, and the other files of the state
//! directory.

pub(crate) mod descriptor_reserve;
pub(crate) mod publisher;
pub(crate) mod refusals;
pub(crate) mod shared_memory;
pub(crate) mod state_directory;
