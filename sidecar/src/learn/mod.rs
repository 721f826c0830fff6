//! What is learnt of waits and run times, and how it is kept over a restart.

pub(crate) mod checkpoint;
pub(crate) mod learner;
