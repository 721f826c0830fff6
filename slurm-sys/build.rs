//! Binds the headers of the Slurm that is installed, so that every layout is that Slurm's own.

#![allow(clippy::expect_used)] // a build script reports by panicking

use std::env;
use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=wrapper.h");
    println!("cargo:rerun-if-env-changed=SLURM_INCLUDE_DIR");
    println!("cargo:rerun-if-env-changed=SLURM_LIB_DIR");
    let include = env::var("SLURM_INCLUDE_DIR").unwrap_or_else(|_| "/usr/include".into());
    let version_header = PathBuf::from(&include).join("slurm/slurm_version.h");
    assert!(
        version_header.exists(),
        "{} not found: install Slurm's development files (Debian: libslurm-dev) or set SLURM_INCLUDE_DIR",
        version_header.display()
    );
    println!("cargo:rerun-if-changed={}", version_header.display());
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    let bindings = bindgen::Builder::default()
        .header("wrapper.h")
        .clang_arg(format!("-I{include}"))
        .allowlist_file(".*/slurm/slurm(db|_errno|_version)?\\.h|wrapper\\.h")
        .allowlist_item("SLURM_VERSION_NUMBER|NO_VAL(8|16|64)?|INFINITE(8|16|64)?")
        .prepend_enum_name(false)
        .derive_default(false)
        .layout_tests(false)
        .generate_comments(false)
        .generate()
        .expect("bindgen reads Slurm's headers");
    bindings.write_to_file(out.join("bindings.rs")).expect("OUT_DIR is writable");

    // Programs link libslurm; the plugins do not, as the daemon that loads them provides the symbols.
    // The crate's own tests are programs.
    println!("cargo:rustc-link-arg-tests=-lslurm");
}
