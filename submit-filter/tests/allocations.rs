//! What can't be seen from outside the plugin: what is allocated.
#![allow(unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Description, Plugin, now, publish, put_rules, snapshot_bytes, text};
use job_submit_queuecast::fields::JobFields;
use job_submit_queuecast::filter::{Answer, State, submission};
use job_types::number::UserId;
use made_up_site::enforcing;
use site_rules::field::{FieldNumber, Fields, Name};
use site_rules::value::Value;
use slurm_sys::job_description::{JobDescription, UserMessage};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is handed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn site() -> (tempfile::TempDir, State) {
    let directory = tempfile::tempdir().unwrap();
    publish(directory.path(), &snapshot_bytes(enforcing(), 400, now(), 1));
    let state = State::over(directory.path());
    (directory, state)
}

#[test]
fn a_job_that_is_left_alone_costs_no_allocation() {
    let (_directory, state) = site();
    let mut job = Description::batch(16, 64).with_control(&["_SLURM_SPANK_OPTION_other_option=(null)", "OTHER=1"]);
    let mut message = ptr::null_mut();
    let mut leave_alone = || {
        // SAFETY: a description and a place for a message of our own.
        let mut description = unsafe { JobDescription::from_raw(&raw mut *job.0) }.unwrap();
        // SAFETY: as above.
        let mut place = unsafe { UserMessage::from_raw(&raw mut message) };
        let before = ALLOCATIONS.get();
        assert_eq!(submission(&state, &mut description, &mut place, UserId(1)), Answer::Accepted);
        ALLOCATIONS.get() - before
    };
    // The first submission takes the snapshot up.
    leave_alone();
    assert_eq!((0..100).map(|_| leave_alone()).sum::<usize>(), 0);
}

#[test]
fn rules_that_do_not_match_cost_no_allocation() {
    let (directory, state) = site();
    let rule = |number: u32| {
        format!(
            "[[rule]]\nname = 'rule-{number}'\nwhen = \"\"\"has(job.partition) && job.partition.matches('^no{number}[a-z]+$') || \
             job.gpus > {number} && user.?name.orValue('').startsWith('x') || job.?script_size.orValue(0) > 100000\"\"\"\n\
             set = {{ comment = 'seen' }}\nreject = '{{job.gpus}} are too many'\n"
        )
    };
    put_rules(directory.path(), &(0..50).map(rule).collect::<String>());
    let mut job = Description::batch(16, 64).with_control(&["OTHER=1"]);
    let mut message = ptr::null_mut();
    let mut let_through = || {
        // SAFETY: a description and a place for a message of our own.
        let mut description = unsafe { JobDescription::from_raw(&raw mut *job.0) }.unwrap();
        // SAFETY: as above.
        let mut place = unsafe { UserMessage::from_raw(&raw mut message) };
        let before = ALLOCATIONS.get();
        assert_eq!(submission(&state, &mut description, &mut place, UserId(1)), Answer::Accepted);
        ALLOCATIONS.get() - before
    };
    assert!(let_through() > 0, "the first submission takes the rules up");
    // A directory that has just changed is looked into until its time tells changes apart.
    while let_through() > 0 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!((0..100).map(|_| let_through()).sum::<usize>(), 0);
}

#[test]
fn the_fields_of_a_job_are_read_without_an_allocation() {
    let _slurm = Plugin::open();
    let mut job = Description::batch(2, 8).with_control(&["OTHER=1"]);
    job.0.tres_per_node = text("gres/gpu:a100:2,gres/gpu:v100:1");
    job.0.array_inx = text("0-9%2");
    job.0.mail_type = 3;
    // SAFETY: a description of our own.
    let description = unsafe { JobDescription::from_raw(&raw mut *job.0) }.unwrap();
    let before = ALLOCATIONS.get();
    let fields = JobFields::from(&description);
    for name in Name::ALL {
        if let Some(Value::Texts(texts)) = fields.field(FieldNumber::from(*name)) {
            assert!(texts.iter().count() < 10);
        }
    }
    assert_eq!((fields.variable("HOME"), ALLOCATIONS.get() - before), (Some("/root"), 0));
    common::free(&mut job.0.tres_per_node);
}
