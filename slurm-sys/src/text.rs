//! Strings that Slurm owns: allocated by its allocator, freed by whoever Slurm hands them to.

use crate::bindings;
use std::ffi::{CStr, c_char};
use std::ptr;

/// A string from Slurm's allocator that has not been handed over yet.
#[derive(Debug)]
pub struct SlurmText(*mut c_char);

impl SlurmText {
    /// Copies `text` up to its first NUL; `None` where there is no memory.
    #[must_use]
    pub fn new(text: &str) -> Option<SlurmText> {
        let bytes = text.as_bytes();
        let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        let memory = allocate(length.checked_add(1)?, 1)?.cast::<u8>();
        // SAFETY: the memory is `length + 1` zeroed bytes of our own; `bytes` has at least
        // `length`.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), memory, length) };
        Some(SlurmText(memory.cast()))
    }

    /// The text. It was made of one, so that it is UTF-8.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        // SAFETY: a string of our own that ends with NUL and lives as long as this.
        unsafe { borrow(self.0) }
    }

    /// Hands the string over to a field, whose present string is freed.
    pub(crate) fn put_into(self, field: &mut *mut c_char) {
        let mut old = std::mem::replace(field, self.0).cast();
        std::mem::forget(self);
        // SAFETY: the field held NULL or a string of Slurm's allocator, which nothing refers to any
        // more.
        unsafe { bindings::slurm_xfree(&raw mut old) };
    }
}

impl Drop for SlurmText {
    fn drop(&mut self) {
        let mut memory = self.0.cast();
        // SAFETY: the string came from Slurm's allocator and was not handed over.
        unsafe { bindings::slurm_xfree(&raw mut memory) };
    }
}

/// Frees the string of a field, which is NULL then.
pub(crate) fn free(field: &mut *mut c_char) {
    let mut old = std::mem::replace(field, ptr::null_mut()).cast();
    // SAFETY: the field held NULL or a string of Slurm's allocator, which nothing refers to any
    // more.
    unsafe { bindings::slurm_xfree(&raw mut old) };
}

/// Zeroed memory from Slurm's allocator, which says so instead of ending the process where there is
/// none.
pub(crate) fn allocate(count: usize, size: usize) -> Option<*mut std::ffi::c_void> {
    // SAFETY: xcalloc takes any count and size; the file and function are for its messages only
    // (src/common/xmalloc.c).
    let memory = unsafe { bindings::slurm_xcalloc(count, size, true, true, c"queuecast".as_ptr(), 0, c"allocate".as_ptr()) };
    (!memory.is_null()).then_some(memory)
}

/// A string that C holds, if it is there and is UTF-8.
///
/// # Safety
/// `text` is NULL or points to a string that lives and does not change as long as `'a`.
pub(crate) unsafe fn borrow<'a>(text: *const c_char) -> Option<&'a str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}
