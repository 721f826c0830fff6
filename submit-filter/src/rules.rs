//! The site's own rules as all submissions share them: those in force, what is known of users and
//! jobs, what is counted of each rule, and how many jobs each user has submitted.

mod counting;
mod store;

pub(crate) use counting::AskedRule;
pub(crate) use store::{InForce, RuleStore};
