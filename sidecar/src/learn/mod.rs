//! What is learnt of waits and run times.

pub(crate) mod learner;
