//! The longest time of one call of `job_submit`, through its C entry point, for submissions whose
//! texts and lists are as long as slurmctld takes them, and longer, with rules that go over each of
//! them again and again. No other submission waits longer for one of these than the last column
//! says.
#![allow(missing_docs, unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../tests/common/mod.rs"]
mod common;

use common::hostile::{free_texts, view};
use common::{Description, Site, free, now, publish, put_rules, snapshot_bytes};
use criterion::{BatchSize, Criterion};
use made_up_site::enforcing;
use slurm_sys::bindings;
use slurm_sys::job_fields::TextField;
use slurm_sys::job_lengths::{LONGEST_WITHOUT_LIMIT, MOST_ENTRIES};
use std::ffi::{c_char, c_int};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// The longest that a call may take.
const LONGEST: Duration = Duration::from_millis(2);

/// Calls per row of the table.
const CALLS: usize = 200;

/// Calls where only to look that each row still measures what it says: `cargo bench` gives
/// `--bench`, `cargo test` does not.
const FEW_CALLS: usize = 2;

/// The longest script that slurmctld takes where slurm.conf says nothing.
const LONGEST_SCRIPT: usize = 4 << 20;

/// Rules that go over all there is, and go on where one of them can't be evaluated, so that they
/// take all the steps that there are: some that apply, and as many that are observed.
fn rules() -> String {
    let texts = [
        "account",
        "array_inx",
        "burst_buffer",
        "comment",
        "container",
        "cpu_bind",
        "dependency",
        "exc_nodes",
        "features",
        "mem_bind",
        "name",
        "partition",
        "qos",
        "req_nodes",
        "script",
        "submit_line",
        "wckey",
        "work_dir",
    ];
    let mut conditions: Vec<String> = Vec::new();
    for _ in 0..4 {
        for name in texts {
            conditions.push(format!("job.?{name}.orValue(\"\").matches(\"(a|b)+[cd]?(ab|ba)+x\")"));
            conditions.push(format!("job.?{name}.orValue(\"\").contains(\"aaaaaaab\")"));
            conditions.push(format!("size(job.?{name}.orValue(\"\")) == 17"));
        }
        conditions.extend(
            [
                "job.gpus > 100000",
                "job.cpus > 10000000 && has(job.memory) && job.memory > 1",
                "job.has_untyped_gpus && job.gpu_types.exists(x, x == \"none\")",
                "has(job.tres_per_node) && job.tres_per_node.exists(x, x.count == 77)",
                "job.argv.exists(x, x.contains(\"aaaaaaab\"))",
                "\"nothing\" in job.argv",
                "size(job.argv) == 17",
                "job.spank_job_env.exists(x, x.startsWith(\"Y\"))",
                "job.environment[?\"NOTHING\"].orValue(\"\") == \"1\"",
                "job.environment[?\"LAST\"].orValue(\"\").contains(\"aaaaaaab\")",
                "has(job.script_size) && job.script_size == 17",
                "job.partitions.exists(x, x == \"none\")",
                "has(job.array_size) && job.array_size == 17",
                "size(job.?exc_nodes.orValue(\"\").split(\",\")) == 17",
                "\"none\" in job.?exc_nodes.orValue(\"\").split(\",\")",
                "size(job.?container.orValue(\"\").split(\"ab\")) == 17",
                "size(job.?container.orValue(\"\").split(\"\")) == 17",
                "job.?container.orValue(\"\").split(\"ab\").exists(x, x == \"none\")",
                "job.?req_nodes.orValue(\"\").replace(\",\", \"+\") == \"none\"",
                "job.?req_nodes.orValue(\"\").replace(\"\", \"+\") == \"none\"",
                "job.?req_nodes.orValue(\"\").indexOf(\"aaaaaaab\") == 17",
                "job.?req_nodes.orValue(\"\").lastIndexOf(\"baaaaaaa\") == 17",
                "job.licenseCount(\"a\") == 77777",
                "size(job.license_names) == 17",
            ]
            .map(str::to_owned),
        );
    }
    let mut rules = String::new();
    for (number, condition) in conditions.iter().enumerate() {
        for (kind, more) in [("applied", ""), ("observed", "mode = \"observe\"\n")] {
            let condition = condition.replace('\'', "\"");
            write!(rules, "[[rule]]\nname = \"{kind}-{number}\"\n{more}on_error = \"pass\"\nwhen = '{condition}'\nreject = \"it is\"\n")
                .unwrap();
        }
    }
    // What is derived is derived again after something that it depends on was written.
    for number in 0..20 {
        write!(
            rules,
            "[[rule]]\nname = \"write-{number}\"\non_error = \"pass\"\nwhen = 'job.gpus > {number} && size(job.gpu_types) >= 0'\nset = {{ \
             num_tasks = {} }}\nappend = {{ features = \"f{number}\", exc_nodes = \"n{number}\" }}\n",
            number + 1
        )
        .unwrap();
    }
    rules
}

/// `length` bytes of this, which need not be UTF-8, as a string of Slurm's.
fn repeated(part: &[u8], length: usize) -> *mut c_char {
    // SAFETY: xcalloc takes any count and size; what it gives has `length + 1` zeroed bytes.
    unsafe {
        let memory = bindings::slurm_xcalloc(length + 1, 1, true, false, c"".as_ptr(), 0, c"".as_ptr()).cast::<u8>();
        let bytes = std::slice::from_raw_parts_mut(memory, length);
        bytes.iter_mut().zip(part.iter().cycle()).for_each(|(byte, of)| *byte = *of);
        memory.cast()
    }
}

fn put_text(job: &mut Description, field: TextField, part: &[u8], length: usize) {
    let place = {
        let mut description = view(job);
        description.set_text(field, slurm_sys::text::SlurmText::new("x"));
        description.text(field).map(|text| text.as_ptr().cast_mut())
    };
    // This Slurm may lack the field.
    let Some(place) = place else { return };
    let long = repeated(part, length);
    for slot in slots(job) {
        if *slot == place {
            let mut old = std::mem::replace(slot, long);
            free(&mut old);
            return;
        }
    }
    panic!("{field:?} has a place in the description");
}

/// The places of all pointers of a description, among which are those of its texts.
fn slots(job: &mut Description) -> &mut [*mut c_char] {
    let pointers = size_of_val(&*job.0) / size_of::<*mut c_char>();
    // SAFETY: the description is aligned as its pointers are, and is written here only where one
    // stands.
    unsafe { std::slice::from_raw_parts_mut((&raw mut *job.0).cast(), pointers) }
}

/// Fills all texts to what is taken, with repetitions of this.
fn all_texts(part: &[u8], script: usize) -> Description {
    let mut job = Description::batch(16, 64);
    for field in TextField::ALL.iter().copied() {
        let length = match field {
            TextField::Script => script,
            TextField::SubmitLine => LONGEST_WITHOUT_LIMIT,
            // Which an ordinary user can't set, and which names a job.
            TextField::AdminComment | TextField::JobIdStr => continue,
            field => field.longest().unwrap_or(LONGEST_WITHOUT_LIMIT),
        };
        put_text(&mut job, field, part, length);
    }
    job
}

/// A list of so many entries of so many bytes each, and one more.
fn lists(entries: usize, part: &[u8], length: usize) -> Description {
    let mut job = Description::batch(16, 64);
    job.free_environment();
    let list = || {
        let names = vec!["x"; entries - 1];
        let (list, count) = common::list(&[&names[..], &["LAST=1"]].concat());
        for place in 0..entries - 1 {
            // SAFETY: the list has so many entries, of Slurm's allocator.
            let slot = unsafe { &mut *list.add(place) };
            free(slot);
            *slot = repeated(part, length);
        }
        (list, count)
    };
    (job.0.environment, job.0.env_size) = list();
    (job.0.argv, job.0.argc) = list();
    job
}

/// Lists of resources as long as slurmctld takes them.
fn resources(part: &[u8]) -> Description {
    let mut job = Description::batch(16, 64);
    for field in [
        TextField::TresPerJob,
        TextField::TresPerNode,
        TextField::TresPerSocket,
        TextField::TresPerTask,
        TextField::CpusPerTres,
        TextField::MemPerTres,
    ] {
        put_text(&mut job, field, part, field.longest().unwrap());
    }
    job
}

fn of_text(field: TextField, part: &[u8], length: usize) -> Description {
    let mut job = Description::batch(16, 64);
    put_text(&mut job, field, part, length);
    job
}

fn call(job: &mut Description, message: &mut *mut c_char) -> c_int {
    // SAFETY: a description and a place for a message of our own.
    unsafe { job_submit_queuecast::job_submit(&raw mut *job.0, 0, message) }
}

fn drop_job(mut job: Description) {
    let (argv, argc) = (job.0.argv, job.0.argc);
    job.0.argv = std::ptr::null_mut();
    job.0.argc = 0;
    // An environment is freed with its description.
    job.free_environment();
    (job.0.environment, job.0.env_size) = (argv, argc);
    free_texts(&mut job);
}

fn main() {
    let site = Site::new();
    publish(site.path(), &snapshot_bytes(enforcing(), 12_000, now(), 1));
    put_rules(site.path(), &rules());
    assert_eq!(job_submit_queuecast::init(), 0);
    let long = MOST_ENTRIES;
    type Make = Box<dyn Fn() -> Description>;
    let mold = |job: Description| job.with_control(&["QUEUECAST_AUTO_MOLD=1"]);
    let case = |make: fn() -> Description| -> Make { Box::new(make) };
    let cases: Vec<(&str, Make)> = vec![
        ("ordinary", case(|| Description::batch(16, 64))),
        ("all texts, ASCII", case(|| all_texts(b"aaaaaaba", LONGEST_SCRIPT))),
        ("all texts, names between commas", case(|| all_texts(b"a,", LONGEST_SCRIPT))),
        ("all texts, of many bytes a letter", case(|| all_texts("ä€".as_bytes(), LONGEST_SCRIPT))),
        ("all texts, no UTF-8", case(|| all_texts(b"\xff", LONGEST_SCRIPT))),
        ("script of 256 KiB", case(|| of_text(TextField::Script, b"aaaaaaba", 256 << 10))),
        ("script of 256 KiB, no UTF-8", case(|| of_text(TextField::Script, b"a\xff", 256 << 10))),
        ("script of 64 MiB", case(|| of_text(TextField::Script, b"aaaaaaba", 64 << 20))),
        ("dependency of 128 KiB, no UTF-8", case(|| of_text(TextField::Dependency, b"\xff", 128 << 10))),
        ("GPUs", case(|| resources(b"gres/gpu:1,"))),
        ("GPUs of many types", case(|| resources(b"gpu:a,gpu:b,gpu:c:2,"))),
        ("commas", case(|| resources(b","))),
        ("molded, GPUs", Box::new(move || mold(resources(b"gpu:a,")))),
        ("licences", case(|| of_text(TextField::Licenses, b"a,", TextField::Licenses.longest().unwrap_or(1024)))),
        ("nodes between commas, 16 KiB", case(|| of_text(TextField::ExcNodes, b"a,", 16 << 10))),
        ("nodes between commas, 256 KiB", case(|| of_text(TextField::ExcNodes, b"a,", 256 << 10))),
        ("container to be split, 16 KiB", case(|| of_text(TextField::Container, b"ab", 16 << 10))),
        ("container to be split, 256 KiB", case(|| of_text(TextField::Container, b"ab", 256 << 10))),
        ("nodes to be replaced, 16 KiB", case(|| of_text(TextField::ReqNodes, b"a,", 16 << 10))),
        ("nodes to be looked through, 256 KiB", case(|| of_text(TextField::ReqNodes, b"aaaaaaa,", 256 << 10))),
        ("most variables and arguments", Box::new(move || lists(long, b"A=1", 3))),
        ("50,000 variables and arguments", case(|| lists(50_000, b"LAST=1", 6))),
        ("5,000 of them, no UTF-8", case(|| lists(5_000, b"A=\xff", 300))),
        ("20 of 128 KiB", case(|| lists(20, b"aaaaaaba", 128 << 10))),
        ("more variables than are read", Box::new(move || lists(2 * long, b"A=1", 3))),
        ("GPUs, too long for Slurm", case(|| of_text(TextField::TresPerNode, b"gres/gpu:1,", 64 << 20))),
        ("comment, too long for Slurm", case(|| of_text(TextField::Comment, b"\xff", 64 << 20))),
        ("container, too long", case(|| of_text(TextField::Container, b"\xff", 64 << 20))),
    ];
    let is_measured = std::env::args().any(|argument| argument == "--bench");
    let calls = if is_measured { CALLS } else { FEW_CALLS };
    println!("{:<40} {:>12} {:>12} {:>12}", "one submission", "median us", "p99 us", "longest us");
    let mut too_long = Vec::new();
    for (name, make) in &cases {
        let mut times: Vec<Duration> = (0..calls)
            .map(|_| {
                let (mut job, mut message) = (make(), std::ptr::null_mut());
                let begin = Instant::now();
                call(&mut job, &mut message);
                let time = begin.elapsed();
                free(&mut message);
                drop_job(job);
                time
            })
            .collect();
        times.sort_unstable();
        let row = [times[calls / 2], times[calls * 99 / 100], times[calls - 1]];
        println!("{name:<40} {}", row.map(|time| format!("{:>12.2}", time.as_secs_f64() * 1e6)).join(" "));
        // What others on the machine take away shows in single calls; the work does in all.
        if is_measured && row[0] > LONGEST {
            too_long.push(*name);
        }
    }
    assert!(too_long.is_empty(), "longer than {LONGEST:?}: {too_long:?}");
    let mut criterion = Criterion::default().configure_from_args();
    for (name, make) in &cases[..2] {
        criterion.bench_function(name, |bencher| {
            bencher.iter_batched(
                make,
                |mut job| {
                    let mut message = std::ptr::null_mut();
                    call(&mut job, &mut message);
                    free(&mut message);
                    drop_job(job);
                },
                BatchSize::PerIteration,
            );
        });
    }
    criterion.final_summary();
}
