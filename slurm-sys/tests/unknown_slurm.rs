//! Building against a Slurm that is not known says so in one clear line.

#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The directory whose headers this crate was built with.
fn headers() -> PathBuf {
    std::env::var_os("SLURM_INCLUDE_DIR").map_or_else(|| "/usr/include".into(), PathBuf::from).join("slurm")
}

/// The newest of this crate's build scripts, each compiled into a directory beside that of what it
/// wrote.
fn build_script() -> PathBuf {
    let builds = Path::new(env!("OUT_DIR")).ancestors().nth(2).unwrap();
    let scripts = fs::read_dir(builds).unwrap().filter_map(|entry| {
        let script = entry.ok()?.path().join("build-script-build");
        let compiled = script.metadata().and_then(|file| file.modified()).ok()?;
        script.parent()?.file_name()?.to_str()?.starts_with("slurm-sys-").then_some((compiled, script))
    });
    scripts.max().expect("this test was built after the build script").1
}

/// Whether nothing can be built where the test runs; says so.
fn cannot_build() -> bool {
    // ci/with-slurm: what it shows of another Debian has programs that run, and no compiler.
    let under_another_debian = std::env::var_os("QUEUECAST_SLURM").is_some();
    if under_another_debian {
        println!("skipped: QUEUECAST_SLURM is set, so that there is no libclang");
    }
    under_another_debian
}

/// What the build script says of a copy of the installed headers in which `change` has changed one
/// file's text; whether it succeeded.
fn build(file: &str, change: impl Fn(&str) -> String) -> (bool, Vec<String>) {
    let directory = tempfile::tempdir().unwrap();
    let copy = directory.path().join("include/slurm");
    fs::create_dir_all(&copy).unwrap();
    for header in fs::read_dir(headers()).unwrap() {
        let header = header.unwrap();
        if header.file_type().unwrap().is_file() {
            fs::copy(header.path(), copy.join(header.file_name())).unwrap();
        }
    }
    let changed = change(&fs::read_to_string(copy.join(file)).unwrap());
    fs::write(copy.join(file), changed).unwrap();
    std::os::unix::fs::symlink("libslurm.so.99.0.0", directory.path().join("libslurm.so")).unwrap();
    let output = Command::new(build_script())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("SLURM_INCLUDE_DIR", directory.path().join("include"))
        .env("SLURM_LIB_DIR", directory.path())
        .env("OUT_DIR", directory.path())
        .env("TARGET", env!("BUILD_TARGET"))
        .env("HOST", env!("BUILD_TARGET"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = said.lines().filter(|line| !line.starts_with("cargo::rerun-if"));
    (output.status.success(), lines.map(str::to_owned).collect())
}

/// The header of versions with another number in it.
fn version(number: &'static str) -> impl Fn(&str) -> String {
    move |text| {
        let lines = text.lines().map(|line| {
            if line.starts_with("#define SLURM_VERSION_NUMBER ") {
                format!("#define SLURM_VERSION_NUMBER {number}")
            } else {
                line.to_owned()
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

#[test]
fn an_older_one_is_refused() {
    if cannot_build() {
        return;
    }
    let (succeeded, said) = build("slurm_version.h", version("0x150805"));
    assert!(!succeeded);
    let [line] = &said[..] else { panic!("{said:?}") };
    assert!(
        line.starts_with("cargo::error=Slurm 21.08.5 (") && line.contains("known are 22.05 to 26.05") && line.ends_with("is too old"),
        "{line}"
    );
}

#[test]
fn a_newer_one_is_warned_of_and_built_where_its_headers_have_all_that_is_needed() {
    if cannot_build() {
        return;
    }
    let (succeeded, said) = build("slurm_version.h", version("0x1b0201"));
    assert!(succeeded, "{said:?}");
    let warning = said.iter().find_map(|line| line.strip_prefix("cargo::warning=")).expect("a warning");
    assert!(warning.starts_with("Slurm 27.02.1 (") && warning.contains("is newer than what this was tried with"), "{warning}");
    assert!(said.contains(&"cargo::rustc-env=QUEUECAST_LIBSLURM=libslurm.so.99".to_owned()), "{said:?}");
}

#[test]
fn one_whose_headers_lack_something_is_refused_with_what_they_lack() {
    if cannot_build() {
        return;
    }
    let (succeeded, said) = build("slurm.h", |text| text.replace("JOB_REQUEUE", "JOB_TRY_AGAIN"));
    assert!(!succeeded);
    let [line] = &said[..] else { panic!("{said:?}") };
    assert!(
        line.starts_with("cargo::error=Slurm ") && line.contains("lacks what wrapper.h takes from it: ") && line.contains("JOB_REQUEUE"),
        "{line}"
    );
}

#[test]
fn none_at_all_is_refused_with_what_to_install() {
    if cannot_build() {
        return;
    }
    let (succeeded, said) = build("slurm_version.h", |_| String::new());
    assert!(!succeeded);
    let [line] = &said[..] else { panic!("{said:?}") };
    assert!(line.contains("install Slurm's development files (Debian: libslurm-dev) or set SLURM_INCLUDE_DIR"), "{line}");
}
