//! Compiles the site's rules, which are written in TOML with expressions in the Common Expression
//! Language, to what `site-rules` evaluates at a submission.
//!
//! [`compile()`] reads files in their order and says of each problem where it is and what was
//! expected ([`problem`]). Expressions are parsed by the crate `cel`, and then checked and compiled
//! by our own ([`expression`]): the crate's interpreter checks no types, has no budget, compiles a
//! regular expression whenever it meets it, and evaluates in a context that two threads can't
//! share. A property test holds our evaluation against its.
//!
//! # What is checked
//!
//! - Names, functions and types: an unknown one is an error, with what was perhaps meant.
//! - Absence: what may be absent can be used only where it was found to be there, by `has(...)` or
//!   by `in`, through `&&`, `||`, `!` and `?:`, or with `.?field.orValue(...)`. So no rule fails at
//!   a submission because a field is absent. The one exception is `current`, the job that is to be
//!   modified: where the daemon does not know it, each use of it fails, and the rule does what its
//!   `on_error` says.
//! - Cost: an estimate against the budget of an expression, with lists and texts of ordinary
//!   length.
//! - Reach: a rule behind one that always ends is a warning.
//!
//! # Where evaluation departs from that of `cel`
//!
//! - Parts of a moment without a zone are those in UTC, as the language has it, also where the
//!   moment was written with an offset.
//! - A named time zone has the changes of its clocks from 1970 to 2100. Before, its clocks stand as
//!   they did in 1970.
//! - `\b` in a regular expression counts letters of ASCII alone, as automata can't know words of
//!   Unicode.
//! - A text that grows beyond the memory that evaluation has, and a budget that is used up, end
//!   evaluation, also within `&&` and `||`.
//!
//! # What becomes of the rules
//!
//! [`in_force`] puts them into the state directory, where the plugin finds them, and says beside
//! them what became of the files when they were last compiled; [`difference`] says what changes
//! with them, and [`counted`] keeps what was counted of each.
//!
//! # What runs outside of slurmctld
//!
//! Submissions can be described ([`described`]): by an sbatch command line ([`command_line`]), by a
//! test that stands beside the rules ([`rule_test`]), or by a record. [`trace`](mod@trace) applies
//! rules to them and says what each rule did.
//!
//! # What is done once
//!
//! Constants are folded, by the evaluation that runs at a submission. Regular expressions become
//! automata, time zones the moments at which their clocks change, and tables sorted rows.

pub mod command_line;
pub mod compile;
pub mod counted;
pub mod described;
pub mod difference;
mod document;
pub mod expression;
pub mod files;
pub mod in_force;
pub mod literal;
pub mod modification;
pub mod problem;
pub mod rule_test;
pub mod site_tables;
mod tables;
mod template;
pub mod trace;
mod values;
pub mod words;
pub mod zone;

pub use compile::{Compiled, Origin, Source, compile, compile_with};
pub use tables::ReadFile;
