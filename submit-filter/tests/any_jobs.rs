//! No job description, whatever stands in it, makes the plugin crash while it applies rules, or
//! keep memory.
//!
//! A run has 3,000 submissions and modifications. Another number can be had by the variable
//! `QUEUECAST_FUZZ`, and other jobs by `QUEUECAST_FUZZ_SEED`:
//!
//! ```console
//! $ cargo build --release --workspace
//! $ QUEUECAST_FUZZ=1000000 cargo test --release -p submit-filter --test any_jobs -- --nocapture
//! ```
#![allow(unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::hostile::{fill, fill_raw, free_texts};
use common::{Description, Plugin, put_rules, read};
use job_submit_queuecast::filter::{Answer, State, modification, submission};
use job_types::number::UserId;
use made_up_site::USER;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use site_rules::field::FIELDS;
use site_rules::value::Kind;
use slurm_sys::bindings::{INFINITE, NO_VAL};
use slurm_sys::job_description::{JobDescription, UserMessage};
use std::fmt::Write;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::ptr;
use std::str::FromStr;
use std::sync::OnceLock;
use std::time::Instant;

fn setting<N: FromStr>(name: &str, default: N) -> N {
    let Ok(text) = std::env::var(name) else { return default };
    text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}"))
}

/// Rules that read every field that there is, say what is in it, and write some, and those of a
/// site.
fn rules() -> String {
    let mut rules = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/from-lua/rules.toml")).unwrap();
    for field in FIELDS {
        let name = field.name;
        let test = match field.kind {
            Kind::Truth => format!("job.{name}"),
            Kind::Integer => format!("job.{name} * 3 > 1000"),
            Kind::Real => format!("job.{name} > 0.5"),
            Kind::Text => format!("job.{name}.matches('(gpu|[a-f])+$') || size(job.{name}) > 20"),
            Kind::Duration => format!("job.{name} + duration('1h') > limit('1-0')"),
            Kind::Moment => format!("job.{name} - duration('1h') > now"),
            Kind::Texts => format!("job.{name}.exists(x, x.contains('a'))"),
            Kind::Resources => format!("job.{name}.exists(r, r.count / 2 > 1 || r.type == 'a100')"),
            Kind::Variables => "\"A\" in job.environment && job.environment[\"A\"].contains('a')".to_owned(),
        };
        let test = if field.may_be_absent { format!("has(job.{name}) && ({test})") } else { test };
        let says = match field.kind {
            Kind::Text | Kind::Integer if !field.may_be_absent => format!("warn = '{{job.{name}}}'\n"),
            _ => String::new(),
        };
        write!(
            rules,
            "[[rule]]\nname = \"reads-{name}\"\non = [\"submit\", \"modify\"]\non_error = \"pass\"\nwhen = '''{test}'''\n{says}\
             append = {{ features = \"f{}\" }}\n",
            name.len()
        )
        .unwrap();
    }
    rules
}

/// Bytes of which none is 0: few or thousands, of letters, of what Slurm's lists are written with,
/// or any.
fn bytes(random: &mut SmallRng) -> Vec<u8> {
    const LISTS: &[u8] = b"gpu:a100,gres/=[]()0123456789-%kKmMgGtT&|*+~x ";
    let length = if random.random_ratio(1, 50) { random.random_range(0..5_000) } else { random.random_range(0..40) };
    let is_any = random.random_ratio(1, 3);
    let byte = |random: &mut SmallRng| if is_any { random.random_range(1..=255) } else { LISTS[random.random_range(0..LISTS.len())] };
    (0..length).map(|_| byte(random)).collect()
}

fn number(random: &mut SmallRng) -> u64 {
    const MARKS: [u64; 8] = [u64::MAX, u64::MAX - 1, NO_VAL as u64, INFINITE as u64, 0xfffe, 0xffff, 0xfe, 1 << 63];
    match random.random_range(0..3) {
        0 => random.random(),
        1 => MARKS[random.random_range(0..MARKS.len())],
        _ => random.random_range(0..10_000),
    }
}

/// What may be counted more after the second half of a run, however long it is: pieces that glibc
/// keeps for the next who wants one count as allocated.
const MOST_GROWN: usize = 256 << 10;

/// Standard error as it was, while libslurm writes its lines to nowhere: one for each modification
/// that rules refuse.
static STANDARD_ERROR: OnceLock<OwnedFd> = OnceLock::new();

fn silence_libslurm() {
    let kept = io::stderr().as_fd().try_clone_to_owned().unwrap();
    assert!(STANDARD_ERROR.set(kept).is_ok());
    put_in_place_of_standard_error(&File::options().write(true).open("/dev/null").unwrap());
    // A panic is told where it can be read.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let_libslurm_speak();
        hook(panic);
    }));
}

fn let_libslurm_speak() {
    if let Some(kept) = STANDARD_ERROR.get() {
        put_in_place_of_standard_error(kept);
    }
}

fn put_in_place_of_standard_error(file: &impl AsRawFd) {
    // SAFETY: both descriptors are open; the second is left open, on another file.
    assert!(unsafe { libc::dup2(file.as_raw_fd(), libc::STDERR_FILENO) } >= 0);
}

/// What is allocated now, by Rust, by libslurm and by the library of C alike.
fn allocated() -> usize {
    // SAFETY: it takes nothing, and only reads what the allocator counts.
    let found = unsafe { libc::mallinfo2() };
    found.uordblks + found.hblkhd
}

/// What is kept of requests that were let through: their fields, and the records of the jobs and
/// users that they are of.
fn kept(state: &State) -> usize {
    state.unconfirmed_bytes() * 2
}

#[test]
fn no_job_description_makes_the_plugin_crash_under_rules_or_keep_memory() {
    let calls: u64 = setting("QUEUECAST_FUZZ", 3_000);
    let random = &mut SmallRng::seed_from_u64(setting("QUEUECAST_FUZZ_SEED", 1));
    // Loads libslurm, whose allocator descriptions need.
    std::mem::forget(Plugin::open());
    let directory = tempfile::tempdir().unwrap();
    put_rules(directory.path(), &rules());
    let state = State::over(directory.path());
    silence_libslurm();
    let begin = Instant::now();
    let (mut refused, mut changed, mut told) = (0_u64, 0_u64, 0_u64);
    let mut after_tenths = [0; 10];
    for (tenth, allocated_then) in after_tenths.iter_mut().enumerate() {
        let until = calls * (tenth as u64 + 1) / 10;
        let from = calls * tenth as u64 / 10;
        for _ in from..until {
            let mut job = Description::unset();
            let numbers: Vec<i64> = (0..60).map(|_| number(random) as i64).collect();
            let texts = bytes(random);
            fill(&mut job, &numbers, &texts);
            fill_raw(&mut job, &(0..60).map(|_| number(random)).collect::<Vec<_>>());
            job.0.argc = 0;
            job.environment(&["A=abc", "B="]);
            let filter = if random.random() { submission } else { modification };
            let mut message = ptr::null_mut();
            let answer = {
                // SAFETY: a description of our own, which nobody else uses meanwhile.
                let mut description = unsafe { JobDescription::from_raw(&raw mut *job.0) }.unwrap();
                // SAFETY: a place for a message of our own.
                let mut place = unsafe { UserMessage::from_raw(&raw mut message) };
                filter(&state, &mut description, &mut place, UserId(USER + random.random_range(0..50)))
            };
            refused += u64::from(answer != Answer::Accepted);
            told += u64::from(!message.is_null());
            changed += u64::from(read(job.0.features).is_some_and(|features| features.as_bytes() != texts));
            common::free(&mut message);
            job.0.argc = 0;
            free_texts(&mut job);
        }
        // What was let through is kept until the queue is read, within bounds of its own.
        *allocated_then = allocated().saturating_sub(kept(&state));
    }
    let_libslurm_speak();
    println!(
        "{calls} calls, {refused} refused, {changed} changed, {told} told, {:.1?}, allocated after each tenth: {after_tenths:?}",
        begin.elapsed()
    );
    assert!(refused > 0 && refused < calls && changed > 0 && told > 0);
    assert!(after_tenths[9] <= after_tenths[4] + MOST_GROWN, "memory is given back: {after_tenths:?}");
}
