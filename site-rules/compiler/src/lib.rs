//! Compiles the site's rules.

pub mod expression;
pub mod literal;
pub mod problem;
pub mod zone;
