//! What holds of the scripts in `ci`: they say what they do without doing it, and `ci/with-slurm`
//! leaves nothing mounted in a root directory that it could not finish.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use end_to_end::{built, project};
use object::{File, Object, ObjectSymbol};

/// Mounts as debootstrap does, and is killed before it could unmount.
const KILLED_DEBOOTSTRAP: &str = r#"#!/bin/sh
for root; do :; done
mkdir -p "$root/proc" && mount -t proc proc "$root/proc" && kill -KILL $$
"#;

/// Has a root directory made by a debootstrap that is killed, after `before` (of a shell, with the
/// root directory to be as `$new`), and prints what is mounted below it afterwards.
///
/// All of this is in a namespace of mounts that ends with it, so that a test that fails leaves
/// nothing mounted either.
fn interrupted(before: &str) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let debootstrap = directory.path().join("debootstrap");
    fs::write(&debootstrap, KILLED_DEBOOTSTRAP).unwrap();
    fs::set_permissions(&debootstrap, fs::Permissions::from_mode(0o755)).unwrap();
    let script = r#"
        . ci/lib/mount-namespace.sh
        choose_mount_namespace
        export directory=$1 new=$1/roots/24.11.new
        export QUEUECAST_SLURM_ROOTS=$1/roots PATH=$1:$PATH
        exec unshare "${mount_namespace[@]}" bash -euc "$2"'
            status=0
            ci/with-slurm 24.11 --root || status=$?
            findmnt --list --noheadings --output TARGET | grep "^$directory/" || true
            exit "$status"'"#;
    Command::new("bash").args(["-euc", script, "-"]).arg(directory.path()).arg(before).current_dir(project()).output().unwrap()
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_killed_debootstrap_leaves_nothing_mounted() {
    let output = interrupted("");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{said}");
    assert!(said.contains("debootstrap could not make it"), "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "is still mounted");
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn what_an_earlier_debootstrap_left_mounted_is_unmounted_and_named() {
    let output = interrupted(
        r#"mkdir -p "$new/proc/deep"; mount -t tmpfs tmpfs "$new/proc"; mkdir "$new/proc/deep"; mount -t tmpfs tmpfs "$new/proc/deep";"#,
    );
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{said}");
    let inner = said.find("24.11.new/proc/deep, which an interrupted debootstrap left");
    let outer = said.find("24.11.new/proc, which an interrupted debootstrap left");
    assert!(inner.is_some() && inner < outer, "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "is still mounted");
}

#[test]
fn every_script_says_what_it_does_and_builds_nothing_for_that() {
    // No cargo is found here, nor what installs packages.
    let programs = tempfile::tempdir().unwrap();
    for name in ["bash", "dirname", "sed", "env"] {
        std::os::unix::fs::symlink(format!("/usr/bin/{name}"), programs.path().join(name)).unwrap();
    }
    let files = fs::read_dir(project().join("ci")).unwrap().map(|file| file.unwrap().path()).filter(|path| path.is_file());
    for script in files {
        let name = format!("ci/{}", script.file_name().unwrap().to_string_lossy());
        let output = Command::new(&script).arg("--help").env("PATH", programs.path()).output().unwrap();
        let help = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && help.contains(&name), "{name} --help: {output:?}");
    }
}

#[test]
fn plugins_are_installed_without_symbols_unless_they_are_wanted() {
    let directory = tempfile::tempdir().unwrap();
    let install = |options: &[&str]| {
        let output = end_to_end::install_plugins(directory.path()).args(options).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        let plugins = ["job_submit_queuecast.so", "spank_queuecast.so"].map(|name| {
            let path = directory.path().join(name);
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o755);
            fs::read(path).unwrap()
        });
        (said, plugins)
    };
    let has = |plugin: &[u8], section: &str| File::parse(plugin).unwrap().section_by_name(section).is_some();
    let (said, whole) = install(&["--with-symbols"]);
    assert_eq!(said, "");
    assert!(whole.iter().all(|plugin| has(plugin, ".symtab")));
    let (said, stripped) = install(&[]);
    if Command::new("strip").arg("--version").output().is_err() {
        assert!(said.contains("there is no 'strip' (package binutils)"), "{said}");
        assert_eq!(stripped, whole);
        return;
    }
    let symbols = built().join("lib*_queuecast.so");
    assert!(said.contains("installed without symbols") && said.contains(&symbols.display().to_string()), "{said}");
    for (stripped, whole) in stripped.iter().zip(&whole) {
        assert!(!has(stripped, ".symtab") && !has(stripped, ".debug_line") && stripped.len() < whole.len());
        // What Slurm looks for is still there.
        assert!(File::parse(&**stripped).unwrap().dynamic_symbols().any(|symbol| symbol.name() == Ok("plugin_version")));
    }
}
