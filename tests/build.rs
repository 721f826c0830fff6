//! Builds the library that shifts the clock of a daemon. Here and not in the test, because a test
//! on another release's Slurm sees that release's programs, among which there is no compiler.

#![allow(clippy::expect_used, clippy::panic)] // a build script reports by panicking

use std::env;
use std::path::PathBuf;

fn main() {
    let source = "data/shifted_clock.c";
    println!("cargo::rerun-if-changed={source}");
    let library = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("shifted_clock.so");
    let mut compile = cc::Build::new().get_compiler().to_command();
    let status = compile.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).status();
    if !status.as_ref().is_ok_and(std::process::ExitStatus::success) {
        panic!("{compile:?} failed: {status:?}");
    }
    println!("cargo::rustc-env=SHIFTED_CLOCK={}", library.display());
}
