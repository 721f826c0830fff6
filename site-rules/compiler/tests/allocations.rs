//! Rules that do not match allocate nothing, and evaluation takes little stack.

#![allow(clippy::unwrap_used)]
// An allocator can't be replaced otherwise.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

mod fifty;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: each call is handed to the system's allocator as it came, and nothing else is done but to
// count in a variable that is no allocation itself.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps what `GlobalAlloc` asks, and it is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above; `place` came from the same allocator.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn rules_that_do_not_match_allocate_nothing() {
    let rules = fifty::rules();
    let mut memory = site_rules::scratch::Memory::default();
    assert_eq!(fifty::apply_to_plain_job(&rules, &mut memory), (0, 0));
    let before = ALLOCATIONS.get();
    fifty::apply_to_plain_job(&rules, &mut memory);
    assert_eq!(ALLOCATIONS.get() - before, 0);
    // So that the count is one: those that match allocate what they write and say.
    assert_eq!(fifty::apply_to_gpu_job(&rules, &mut memory), (4, 1));
    assert!(ALLOCATIONS.get() > before);
}

#[test]
fn rules_are_applied_in_64_kib_of_stack() {
    let rules = fifty::rules();
    let thread = std::thread::Builder::new().stack_size(64 << 10);
    let applied = thread.spawn(move || {
        let mut memory = site_rules::scratch::Memory::default();
        fifty::apply_to_gpu_job(&rules, &mut memory)
    });
    assert_eq!(applied.unwrap().join().unwrap(), (4, 1));
}
