//! Tests and benchmarks of the plugin are programs, which link libslurm; the plugin itself does
//! not.

#![allow(clippy::expect_used)] // a build script reports by panicking

fn main() {
    // Set where the same source is built for tests (panicking/build.rs).
    println!("cargo:rustc-check-cfg=cfg(panics_when_told, records_when_told)");
    // What it needs of a C library newer than this machine's is there where it runs.
    let library = std::env::var("DEP_SLURM_LIBRARY").expect("slurm-sys names the library");
    for argument in [library.as_str(), "-Wl,--allow-shlib-undefined"] {
        println!("cargo:rustc-link-arg-tests={argument}");
        println!("cargo:rustc-link-arg-benches={argument}");
    }
}
