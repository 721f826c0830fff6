//! Expressions: parsed, checked, and compiled to instructions.

pub(crate) mod caseless;
pub mod check;
pub mod cost;
pub mod emit;
pub mod facts;
pub mod node;
pub mod parse;
pub mod regular;

use crate::problem::ExpressionError;
use check::{Checked, Names};
use facts::Facts;

/// Parses and checks an expression where some things are known to be there; to be called on a
/// thread with a stack of [`parse::STACK`].
///
/// # Errors
/// The first thing that is wrong with it.
pub fn read(text: &str, names: Names<'_>, known: &Facts) -> Result<Checked, ExpressionError> {
    let (expression, info) = parse::parse(text)?;
    check::check(&expression, &info, names, known)
}

/// Runs something on a thread whose stack is large enough for the parser.
///
/// # Errors
/// Says that the thread could not be started, or that it panicked.
pub fn on_large_stack<T: Send>(run: impl FnOnce() -> T + Send) -> Result<T, String> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("rules".to_owned()).stack_size(parse::STACK);
        let started = thread.spawn_scoped(scope, run).map_err(|error| format!("no thread can be started: {error}"))?;
        started.join().map_err(|_| "the compiler of rules failed, which is an error of queuecast".to_owned())
    })
}
