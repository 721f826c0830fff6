//! Binds the headers of the Slurm that is installed, so that every layout is that Slurm's own.

#![allow(clippy::expect_used)] // a build script reports by panicking

use std::path::{Path, PathBuf};
use std::process::exit;
use std::{env, fs};

/// First and last release, as year and month, whose headers this crate was built against.
const KNOWN: ((u32, u32), (u32, u32)) = ((22, 5), (26, 5));

fn main() {
    println!("cargo::rerun-if-changed=wrapper.h");
    println!("cargo::rerun-if-env-changed=SLURM_INCLUDE_DIR");
    let include = env::var("SLURM_INCLUDE_DIR").unwrap_or_else(|_| "/usr/include".into());
    let version_header = PathBuf::from(&include).join("slurm/slurm_version.h");
    println!("cargo::rerun-if-changed={}", version_header.display());
    let Some((major, minor, micro)) = version(&version_header) else {
        let header = version_header.display();
        fail(&format!(
            "{header} is not there or names no version: install Slurm's development files (Debian: libslurm-dev) or set SLURM_INCLUDE_DIR"
        ));
    };
    let (first, last) = KNOWN;
    let known = format!("known are {}.{:02} to {}.{:02}", first.0, first.1, last.0, last.1);
    let found = format!("Slurm {major}.{minor:02}.{micro} ({include})");
    if (major, minor) < first {
        fail(&format!("{found} is too old: {known}"));
    }
    if (major, minor) > last {
        println!("cargo::warning={found} is newer than what this was tried with ({known}): where its headers differ, the build fails");
    }
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
        .unwrap_or_else(|error| fail(&format!("{found} lacks what wrapper.h takes from it ({known}): {}", one_line(&error.to_string()))));
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    bindings.write_to_file(out.join("bindings.rs")).expect("OUT_DIR is writable");

    // Programs link libslurm; the plugins do not, as the daemon that loads them provides the symbols.
    // The crate's own tests are programs.
    println!("cargo::rustc-link-arg-tests=-lslurm");
}

/// Major, minor and micro version that the header's `SLURM_VERSION_NUMBER` stands for.
fn version(header: &Path) -> Option<(u32, u32, u32)> {
    let text = fs::read_to_string(header).ok()?;
    let number = text.lines().find_map(|line| line.strip_prefix("#define SLURM_VERSION_NUMBER "))?;
    let number = u32::from_str_radix(number.trim().trim_start_matches("0x"), 16).ok()?;
    Some((number >> 16, number >> 8 & 0xff, number & 0xff))
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

/// Ends the build with one line.
fn fail(line: &str) -> ! {
    println!("cargo::error={line}");
    exit(1)
}
