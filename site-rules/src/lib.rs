//! The site's own rules about submissions, as they run where a job is submitted: what they can read
//! of a job ([`field`]) and the values that they read ([`value`]).
//!
//! Nothing is parsed here: rules are compiled where they are loaded, and what is left to do at a
//! submission is flat, bounded in steps, and allocates nothing for a rule that does not match.

pub mod field;
pub mod value;
