//! No file of rules, no expression and no job makes the compiler or the evaluation crash, or take
//! memory that is not given back.
//!
//! A run has 12,000 evaluations of a set of rules for a job. Another number can be had by the
//! variable `QUEUECAST_FUZZ`, and other jobs, files and expressions by `QUEUECAST_FUZZ_SEED`:
//!
//! ```console
//! $ QUEUECAST_FUZZ=1000000 cargo test --release -p rules-compiler --test fuzz -- --nocapture
//! ```

#![allow(clippy::unwrap_used, clippy::panic)]
// An allocator can't be replaced otherwise.
#![allow(unsafe_code)]

#[path = "../fifty/mod.rs"]
mod fifty;
mod jobs;
mod texts;
#[path = "../well_typed/mod.rs"]
mod well_typed;

use job_types::number::UserId;
use job_types::time::{Seconds, UnixTime};
use jobs::AnyJob;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rules_compiler::{Source, compile};
use site_rules::apply::apply;
use site_rules::file::{decode, encode};
use site_rules::outcome::{Observer, Report, Verdict};
use site_rules::rules::RuleSet;
use site_rules::scratch::Memory;
use site_rules::submission::{Current, Forecasts, Request, Submission, User, UserJobs};
use site_rules::value::{Kind, Texts};
use std::alloc::{GlobalAlloc, Layout, System};
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Bytes that are allocated now.
static LIVE: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: each call is handed to the system's allocator as it came, and nothing else is done but to
// count in a variable that is no allocation itself.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps what `GlobalAlloc` asks, and it is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above; `place` came from the same allocator.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A number in the environment.
fn setting<N: FromStr>(name: &str, default: N) -> N {
    let Ok(text) = std::env::var(name) else { return default };
    text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}"))
}

/// What was evaluated, and what came of it.
#[derive(Debug, Default)]
struct Counts {
    evaluations: u64,
    rules: u64,
    matched: u64,
    failed: u64,
    refused: u64,
    writes: u64,
    most_steps: u32,
}

impl Observer for Counts {
    fn rule(&mut self, report: &Report<'_, '_>) {
        self.rules += 1;
        self.matched += u64::from(report.verdict == Verdict::Matched);
        self.failed += u64::from(matches!(report.verdict, Verdict::Failed(_)));
        self.refused += u64::from(report.refusal.is_some());
        self.writes += report.writes.len() as u64;
        self.most_steps = self.most_steps.max(report.steps);
    }
}

struct AnyForecasts(i64);

impl Forecasts for AnyForecasts {
    fn wait(&self, partition: &str, quantile: f64) -> Option<Seconds> {
        (!partition.len().is_multiple_of(3) && quantile > 0.1).then_some(Seconds(self.0))
    }

    fn soonest_partition(&self) -> Option<&str> {
        (self.0 % 2 == 0).then_some("long")
    }
}

/// Applies rules to a job, on a stack as small as those of slurmctld's threads.
fn evaluate(rules: &RuleSet, random: &mut SmallRng, memory: &mut Memory, counts: &mut Counts) {
    let (job, before) = (AnyJob::new(random), AnyJob::new(random));
    let request = if random.random() { Request::Submit } else { Request::Modify };
    let current = random.random_bool(0.7).then_some(Current { fields: &before, age: Seconds(random.random_range(-10..100)) });
    let user = User {
        name: random.random_bool(0.7).then_some("ann"),
        id: UserId(random.random()),
        groups: random.random_bool(0.7).then_some(Texts::Separated("users,physics,group3,,", ',')),
        is_root: random.random_bool(0.1),
        is_operator: random.random_bool(0.1),
        submissions_last_hour: random.random_bool(0.7).then(|| random.random()),
        jobs: random.random_bool(0.7).then(|| UserJobs { pending: random.random(), running: random.random() }),
    };
    let now = UnixTime(if random.random_bool(0.9) { random.random_range(0..4_000_000_000) } else { random.random() });
    let submission = Submission { request, now, job: &job, asked: &job, current, user, forecasts: &AnyForecasts(random.random()) };
    let outcome = apply(rules, &submission, memory, counts);
    assert!(outcome.refusal.is_none() || outcome.writes.is_empty(), "what is refused is not changed");
    counts.evaluations += 1;
}

/// The number of evaluations of each set of rules that is made.
const JOBS: u64 = 8;

/// Compiles a text. What compiles is read as a plugin reads it, and evaluated.
fn compiled_and_evaluated(text: String, random: &mut SmallRng, memory: &mut Memory, counts: &mut Counts) -> bool {
    let read_file = |_: &str| Ok("key,nodes\na,1\n".to_owned());
    let shown = text.clone();
    let compiled = compile(&[Source { name: "rules.toml".to_owned(), text, is_configuration: false, read_file: &read_file }]);
    let Some(rules) = compiled.rules else {
        assert!(!compiled.problems.is_empty(), "no rules, and no word of why: {shown}");
        return false;
    };
    let bytes = encode(&rules).unwrap_or_else(|error| panic!("{error}: {shown}"));
    let rules = decode(&bytes).unwrap_or_else(|error| panic!("{error}: {shown}"));
    for _ in 0..JOBS {
        evaluate(&rules, random, memory, counts);
    }
    true
}

/// Makes and evaluates rules until there are so many evaluations. Returns how many bytes were
/// allocated at the end of each tenth of them.
fn run(what: &str, until: u64, mut once: impl FnMut(&mut Counts) -> bool) -> [usize; 10] {
    let (begin, mut counts, mut made, mut given) = (Instant::now(), Counts::default(), 0_u64, 0_u64);
    let live = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(|tenth| {
        while counts.evaluations * 10 < until * tenth {
            given += 1;
            made += u64::from(once(&mut counts));
        }
        LIVE.load(Ordering::Relaxed)
    });
    println!("{what}: {made} of {given} compiled, {counts:?}, {:.1?}, bytes allocated after each tenth: {live:?}", begin.elapsed());
    assert!(counts.matched > 0 && counts.matched < counts.rules && counts.writes > 0, "{what}: {counts:?}");
    live
}

/// What the parser of `cel` may add to the states that it keeps between expressions, in the second
/// half of a run. It keeps them for the whole process, as parsers that ANTLR makes do, and finds
/// ever fewer that are new.
const MOST_GROWN: usize = 256 << 10;

#[test]
fn no_file_no_expression_and_no_job_makes_rules_crash_or_keep_memory() {
    let evaluations: u64 = setting("QUEUECAST_FUZZ", 12_000);
    let random = &mut SmallRng::seed_from_u64(setting("QUEUECAST_FUZZ_SEED", 1));
    let memory = &mut Memory::default();

    let fifty = fifty::rules();
    let live = run("jobs", evaluations * 8 / 10, |counts| {
        evaluate(&fifty, random, memory, counts);
        true
    });
    assert!(live.iter().all(|bytes| *bytes == live[0]), "evaluation gives all of its memory back: {live:?}");

    let files = rule_files();
    let of_files = run("files", evaluations / 10, |counts| {
        let [text, other] = [0; 2].map(|_| &files[random.random_range(0..files.len())]);
        let text = texts::changed(text, other, random);
        compiled_and_evaluated(text, random, memory, counts)
    });

    let of_expressions = run("expressions", evaluations / 10, |counts| {
        let text = any_expression(random);
        let rule = format!(
            "[[rule]]\nname = \"r\"\non = [\"submit\", \"modify\"]\nwhen = '''{text}'''\nset = {{ comment = 'c' }}\n\
             [[rule]]\nname = \"s\"\nwhen = '''!({text})'''\nreject = {{ message = 'no' }}\n"
        );
        compiled_and_evaluated(rule, random, memory, counts)
    });
    for live in [of_files, of_expressions] {
        assert!(live[9] <= live[4] + MOST_GROWN, "compiling gives its memory back: {live:?}");
    }
}

/// Returns an expression of right types, one after some changes, or tokens in any order.
fn any_expression(random: &mut SmallRng) -> String {
    let choices: Vec<u16> = (0..random.random_range(0..120)).map(|_| random.random()).collect();
    let depth = random.random_range(1..5);
    let typed = well_typed::expression(Kind::Truth, depth, &[], &mut well_typed::Choices(choices.iter(), true));
    match random.random_range(0..4) {
        0 | 1 => typed,
        2 => texts::changed(&typed, "job.time_limit > limit('1-0') && user.name in ['a']", random),
        _ => texts::soup(random),
    }
}

/// The rules of the pages, and a part of the fifty.
fn rule_files() -> Vec<String> {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rules.md")).unwrap();
    let blocks = page.split("```toml\n").skip(1).map(|block| block.split("```").next().unwrap().to_owned());
    let mut files: Vec<String> = blocks.collect();
    let fifty = fifty::text();
    let (tables, rules) = fifty.split_once("[[rule]]").unwrap();
    files.extend(rules.split("[[rule]]").take(10).map(|rule| format!("{tables}[[rule]]{rule}")));
    files
}
