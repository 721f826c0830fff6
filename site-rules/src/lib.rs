//! The site's own rules about submissions, as they run where a job is submitted.
//!
//! Nothing is parsed here: rules are compiled where they are loaded, by `rules-compiler`, and what
//! is left to do at a submission is flat, bounded in steps and in memory, and allocates nothing for
//! a rule that does not match. It can't be made to panic by what a user writes or by a file: a
//! program is verified once when it is read ([`verify`]), and evaluated with checks all the same.
//!
//! - What rules read: fields of a job ([`field`]), what follows from several of them ([`derived`]),
//!   generic resources in all forms that Slurm takes ([`resources`]), what surrounds the job
//!   ([`submission`]), tables ([`table`]), and the values of all these ([`value`]).
//! - Expressions: compiled to instructions with jumps ([`program`]), the operators that compiler,
//!   verification and evaluation share ([`operators`]), regular expressions as automata
//!   ([`pattern`]), parts of moments ([`calendar`]), and evaluation ([`mod@evaluate`]).
//! - Rules: what they ask and do ([`rules`]), how they are applied in their order to a job and what
//!   those before have written into it ([`mod@apply`], [`overlay`]), what comes of it
//!   ([`outcome`]), values in words for users ([`words`]), the file that they are kept in
//!   ([`file`]), and what is counted of each ([`counts`]).
//! - What the daemon knows about users and jobs, in a file of its own ([`data`]), which job a
//!   modification names ([`named_job`]), and how many jobs each user has submitted of late
//!   ([`throttle`]).
//!
//! # Faults are values
//!
//! The Common Expression Language lets `&&` and `||` have a value although one side has none: `1 /
//! 0 == 1 || true` is true. So a [`fault::Fault`] is kept on the stack in the place of a value, and
//! each instruction but those two hands it on. What bounds evaluation itself, its steps and its
//! memory, ends it at once.
//!
//! # Where this departs from the Common Expression Language
//!
//! Durations and timestamps are whole seconds, as everywhere in Slurm. Numbers are `int` and
//! `double`; there is no `uint`, no `bytes`, no `null`, and no map but tables and the environment.
//! Lists are of texts or of generic resources.

pub mod apply;
pub mod asked;
pub mod calendar;
pub mod counts;
pub mod data;
pub mod derived;
pub mod evaluate;
pub mod fault;
pub mod field;
pub mod file;
pub mod let_through;
pub mod licenses;
pub mod named_job;
pub mod operators;
pub mod outcome;
pub mod overlay;
pub mod pattern;
pub mod program;
pub mod refusal_log;
pub mod resources;
pub mod rules;
pub mod scratch;
mod slurm_errors;
pub mod steps;
pub mod submission;
pub mod table;
pub mod throttle;
pub mod value;
pub mod verify;
pub mod words;
