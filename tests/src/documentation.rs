//! The pages of the documentation, read and run.
//!
//! [`Page`] reads one: its blocks, tables and links. [`Reader`] does on a private cluster what a
//! page says, in order, and looks for what it quotes. [`sources`] finds the texts that programs
//! print, so that the messages that are explained can be held against them.

mod page;
mod reader;
pub mod sources;

pub use page::{Block, Page, Shown, code_of, words_of};
pub use reader::{Reader, SUBSTITUTIONS, Substitution};
