//! Bindings to the installed Slurm, and safe views of what they describe.
#![allow(unsafe_code)]

#[allow(
    missing_docs,
    unreachable_pub,
    non_camel_case_types,
    non_upper_case_globals,
    non_snake_case,
    unnecessary_transmutes,
    // With Debian 13's libclang bindgen writes bit fields whose unsafe functions have no blocks of
    // their own; its `wrap_unsafe_ops` does not reach them.
    unsafe_op_in_unsafe_fn,
    clippy::all,
    clippy::undocumented_unsafe_blocks
)]
pub mod bindings {
    //! Generated from the installed headers.
    include!(concat!(env!("OUT_DIR"), "/bindings.rs"));
}

pub mod accounting;
pub mod allocation;
pub mod client;
mod errno;
pub mod error_number;
pub mod job_description;
pub mod job_fields;
pub mod job_lengths;
mod job_number;
pub mod log;
pub mod memory;
pub mod munge;
pub mod process;
pub mod record_key;
mod sentinel;
pub mod text;
pub mod version;
