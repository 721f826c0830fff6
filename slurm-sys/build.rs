//! Binds the headers of a Slurm, so that every layout is that Slurm's own, and finds its libslurm,
//! which programs load.
//!
//! SLURM_INCLUDE_DIR is where `slurm/slurm.h` lies (/usr/include); SLURM_LIB_DIR where libslurm.so
//! lies (beside the headers: lib/<triplet>, lib64 or lib of the directory above). What the releases
//! have in different forms is decided here from the headers and from the library, never from the
//! version's number.

#![allow(clippy::expect_used)] // a build script reports by panicking

use std::path::{Path, PathBuf};
use std::process::exit;
use std::{env, fs};

/// First and last release, as year and month, whose headers this crate was built against.
const KNOWN: ((u32, u32), (u32, u32)) = ((22, 5), (26, 5));

/// What programs call in libslurm, which is loaded at run time. Plugins find what they need in the
/// program that loads them.
const LIBSLURM: &[&str] = &[
    "slurm_bit_set_count",
    "slurm_free_((ctl_)?conf|assoc_mgr_info_msg|job_info_msg|node_info_msg|partition_info_msg|reservation_info_msg)",
    "slurm_(create|delete|update)_reservation",
    "slurm_hostlist_(count|create|destroy)",
    "slurm_init",
    "slurm_init_(job|resv)_desc_msg",
    "slurm_kill_job2",
    "slurm_list_(append|count|create|destroy|iterator_create|iterator_destroy|next)",
    "slurm_load_(assoc_mgr_info|ctl_conf|job|jobs|node|partitions|reservations)",
    "slurm_ping",
    "slurm_strerror",
    "slurm_update_job",
    "slurm_xfree",
    "slurmdb_(accounts|associations|users)_(add|get)",
    "slurmdb_archive_load",
    "slurmdb_(clusters|jobs|qos|reservations)_get",
    "slurmdb_connection_(close|commit|get)",
    "slurmdb_init_(assoc_rec|cluster_cond)",
];

/// Fields of a job description that some of the known releases lack.
const NOT_IN_ALL_DESCRIPTIONS: [&str; 8] = [
    "container_id",
    "container_type",
    "job_size_str",
    "mem_update_delay",
    "mem_update_margin",
    "oom_kill_step",
    "resv_port_cnt",
    "segment_size",
];

fn main() {
    println!("cargo::rerun-if-changed=wrapper.h");
    println!("cargo::rerun-if-env-changed=SLURM_INCLUDE_DIR");
    println!("cargo::rerun-if-env-changed=SLURM_LIB_DIR");
    let include = PathBuf::from(env::var_os("SLURM_INCLUDE_DIR").unwrap_or_else(|| "/usr/include".into()));
    let found = check_version(&include);
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));

    let lacks = |error: bindgen::BindgenError| -> ! {
        fail(&format!("{found} lacks what wrapper.h takes from it: {}", one_line(&error.to_string())))
    };
    let bindings = builder(&include)
        .allowlist_file(".*/slurm/slurm(db|_errno|_version)?\\.h|wrapper\\.h")
        .allowlist_item("SLURM_VERSION_NUMBER|NO_VAL(8|16|64)?|INFINITE(8|16|64)?")
        .blocklist_item("slurm_conf")
        .generate()
        .unwrap_or_else(|error| lacks(error));
    let bindings = bindings.to_string();
    fs::write(out.join("bindings.rs"), &bindings).expect("OUT_DIR is writable");
    fs::write(out.join("error_numbers.rs"), error_numbers(&found, &bindings)).expect("OUT_DIR is writable");
    fs::write(out.join("pending_reasons.rs"), pending_reasons(&found, &bindings)).expect("OUT_DIR is writable");

    let functions = LIBSLURM.iter().fold(builder(&include), |builder, names| builder.allowlist_function(names));
    let functions = functions
        .allowlist_var("slurm_conf")
        .allowlist_recursively(false)
        .dynamic_library_name("Libslurm")
        .dynamic_link_require_all(true)
        .wrap_unsafe_ops(true)
        .generate()
        .unwrap_or_else(|error| lacks(error));
    functions.write_to_file(out.join("libslurm.rs")).expect("OUT_DIR is writable");

    let header = fs::read_to_string(include.join("slurm/slurm.h")).unwrap_or_default();
    tell_reservations(&found, &header);
    // 26.05 has given it another name.
    println!("cargo::rustc-check-cfg=cfg(slurm_free_conf)");
    if header.contains("slurm_free_conf(") {
        println!("cargo::rustc-cfg=slurm_free_conf");
    }
    // From 25.11 on a job description has the identifier of a step in the place of a job's number.
    println!("cargo::rustc-check-cfg=cfg(job_id_in_step_id)");
    let description = header.split_once("job_descriptor").map_or("", |(_, rest)| rest);
    let description = description.split_once("} job_desc_msg_t").map_or("", |(fields, _)| fields);
    if !description.contains("uint32_t job_id;") {
        println!("cargo::rustc-cfg=job_id_in_step_id");
    }
    // What only some releases have in it.
    let values = NOT_IN_ALL_DESCRIPTIONS.map(|field| format!("{field:?}")).join(", ");
    println!("cargo::rustc-check-cfg=cfg(job_has, values({values}))");
    for field in NOT_IN_ALL_DESCRIPTIONS.iter().filter(|field| description.contains(&format!("{field};"))) {
        println!("cargo::rustc-cfg=job_has={field:?}");
    }

    let Some((library, name)) = library(&include) else {
        fail(&format!("{found} has no libslurm.so beside it: install Slurm's development files, or set SLURM_LIB_DIR to its directory"));
    };
    println!("cargo::rustc-env=QUEUECAST_LIBSLURM={name}");
    // For tests: tests of this program run it again, and tests of the plugins take the place of the
    // program that loads them.
    println!("cargo::rustc-env=BUILD_TARGET={}", env::var("TARGET").unwrap_or_default());
    println!("cargo::metadata=library={}", library.display());
}

/// Decides what differs between releases in descriptions of reservations and in what makes them.
fn tell_reservations(found: &str, header: &str) {
    let description = header.split_once("struct resv_desc_msg {").map_or("", |(_, rest)| rest);
    let description = description.split_once("} resv_desc_msg_t").map_or("", |(fields, _)| fields);
    // Up to 23.02 the count of nodes is an array of counts.
    println!("cargo::rustc-check-cfg=cfg(reservation_counts_are_lists)");
    if description.contains("uint32_t *node_cnt;") {
        println!("cargo::rustc-cfg=reservation_counts_are_lists");
    }
    // From 23.02 on there is a comment, both in a description and in what is shown.
    println!("cargo::rustc-check-cfg=cfg(reservation_has_comment)");
    if description.contains("char *comment;") {
        println!("cargo::rustc-cfg=reservation_has_comment");
    }
    // How the name is freed that a new reservation comes back with, only the comment above the
    // function tells: its type stayed as it was when 26.05 changed from strdup to xstrdup.
    let about = header.split_once("extern char *slurm_create_reservation(").map_or("", |(before, _)| before);
    let about = about.rsplit_once("/*").map_or("", |(_, comment)| comment);
    println!("cargo::rustc-check-cfg=cfg(reservation_name_is_xfreed)");
    match (about.contains("must xfree"), about.contains("must free")) {
        (true, false) => println!("cargo::rustc-cfg=reservation_name_is_xfreed"),
        (false, true) => {}
        _ => fail(&format!("{found} does not say how the name is freed that slurm_create_reservation returns")),
    }
}

/// The numbers of slurm/slurm_errno.h by their names, as a list in the order of the names.
fn error_numbers(found: &str, bindings: &str) -> String {
    let mut numbers: Vec<(&str, i32)> = constants(bindings).filter(|(name, _)| name.starts_with("ESLURM_")).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.is_empty() {
        fail(&format!("{found} lacks what wrapper.h takes from it: the numbers of errors"));
    }
    format!("&{numbers:?}")
}

/// The names of the reasons for which jobs wait (`enum job_state_reason` of slurm/slurm.h) by their
/// numbers, as a list in the order of the numbers.
fn pending_reasons(found: &str, bindings: &str) -> String {
    let of_reasons = bindings.lines().filter(|line| line.contains(": job_state_reason ")).collect::<Vec<_>>().join("\n");
    let is_reason = |name: &str| ["WAIT_", "FAIL_"].iter().any(|begin| name.starts_with(begin));
    let mut names: Vec<(i32, &str)> =
        constants(&of_reasons).filter(|(name, _)| is_reason(name)).map(|(name, number)| (number, name)).collect();
    names.sort_unstable();
    if names.is_empty() {
        fail(&format!("{found} lacks what wrapper.h takes from it: the reasons for which jobs wait"));
    }
    format!("&{names:?}")
}

/// The constants of the bindings that are numbers, in their order.
fn constants(bindings: &str) -> impl Iterator<Item = (&str, i32)> {
    bindings.lines().filter_map(|line| {
        let (name, rest) = line.trim().strip_prefix("pub const ")?.split_once(':')?;
        let number = rest.split_once('=')?.1.trim().trim_end_matches(';');
        Some((name, number.parse().ok()?))
    })
}

fn builder(include: &Path) -> bindgen::Builder {
    bindgen::Builder::default()
        .header("wrapper.h")
        .clang_arg(format!("-I{}", include.display()))
        .prepend_enum_name(false)
        .derive_default(false)
        .layout_tests(false)
        .generate_comments(false)
}

/// What was found, in words. Ends the build where the headers are not there or of a release before
/// the first known, and warns where they are of one after the last: most releases change nothing of
/// what is used here, and where one does, the build fails at the field or function that differs.
fn check_version(include: &Path) -> String {
    let header = include.join("slurm/slurm_version.h");
    println!("cargo::rerun-if-changed={}", header.display());
    let Some((major, minor, micro)) = version(&header) else {
        let header = header.display();
        fail(&format!(
            "{header} is not there or names no version: install Slurm's development files (Debian: libslurm-dev) or set SLURM_INCLUDE_DIR"
        ));
    };
    let (first, last) = KNOWN;
    let known = format!("known are {}.{:02} to {}.{:02}", first.0, first.1, last.0, last.1);
    let found = format!("Slurm {major}.{minor:02}.{micro} ({}; {known})", include.display());
    if (major, minor) < first {
        fail(&format!("{found} is too old"));
    }
    if (major, minor) > last {
        println!("cargo::warning={found} is newer than what this was tried with: where its headers differ, the build fails");
    }
    found
}

/// Major, minor and micro version that the header's `SLURM_VERSION_NUMBER` stands for.
fn version(header: &Path) -> Option<(u32, u32, u32)> {
    let text = fs::read_to_string(header).ok()?;
    let number = text.lines().find_map(|line| line.strip_prefix("#define SLURM_VERSION_NUMBER "))?;
    let number = u32::from_str_radix(number.trim().trim_start_matches("0x"), 16).ok()?;
    Some((number >> 16, number >> 8 & 0xff, number & 0xff))
}

/// The library for linking, and the name under which the dynamic linker knows it, such as
/// `libslurm.so.42`, from where `libslurm.so` leads.
fn library(include: &Path) -> Option<(PathBuf, String)> {
    let directories = env::var_os("SLURM_LIB_DIR").map_or_else(|| beside(include), |directory| vec![directory.into()]);
    let mut libraries = directories.iter().map(|directory: &PathBuf| directory.join("libslurm.so"));
    let (library, target) = libraries.find_map(|library| fs::read_link(&library).ok().map(|target| (library, target)))?;
    let target = target.file_name()?.to_str()?.to_owned();
    let number: String = target.strip_prefix("libslurm.so.")?.chars().take_while(char::is_ascii_digit).collect();
    (!number.is_empty()).then(|| (library, format!("libslurm.so.{number}")))
}

/// Returns the directories in which a distribution or a site's own prefix keeps libraries that
/// belong to headers in `<prefix>/include`.
fn beside(include: &Path) -> Vec<PathBuf> {
    let prefix = include.parent().unwrap_or(include);
    let part = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let triplet = format!("{}-{}-{}", part("ARCH"), part("OS"), part("ENV"));
    ["lib64".to_owned(), format!("lib/{triplet}"), "lib".to_owned()].map(|directory| prefix.join(directory)).into()
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

/// Ends the build with one line.
fn fail(line: &str) -> ! {
    println!("cargo::error={line}");
    exit(1)
}
