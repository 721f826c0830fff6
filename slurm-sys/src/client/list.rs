//! Slurm's linked list, owned or borrowed, without its sharp edges.

use std::ffi::{CString, c_void};
use std::ptr;

use super::library::libslurm;
use crate::bindings;

/// A list that libslurm made and this side frees. What it holds is freed with it where libslurm
/// gave it a destructor.
pub(super) struct OwnedList(*mut bindings::xlist);

impl OwnedList {
    /// Takes over a list that libslurm returned. `None` for a null pointer.
    ///
    /// # Safety
    /// `list` is null or a list that nothing else frees or changes from now on.
    pub(super) unsafe fn adopt(list: *mut bindings::xlist) -> Option<Self> {
        if list.is_null() { None } else { Some(Self(list)) }
    }

    /// The list, for a C structure that borrows it. It stays owned here.
    pub(super) fn as_ptr(&self) -> *mut bindings::xlist {
        self.0
    }

    /// Whether it holds nothing.
    pub(super) fn is_empty(&self) -> bool {
        // SAFETY: the list is valid for as long as self is.
        unsafe { libslurm().slurm_list_count(self.0) <= 0 }
    }

    /// Calls `each` with every element, in the list's order. Elements may be null.
    pub(super) fn for_each(&self, each: impl FnMut(*mut c_void)) {
        // SAFETY: the list is valid for as long as self is.
        unsafe { BorrowedList::new(self.0) }.for_each(each);
    }
}

impl Drop for OwnedList {
    fn drop(&mut self) {
        // SAFETY: owned, and freed once.
        unsafe { libslurm().slurm_list_destroy(self.0) }
    }
}

/// A list that belongs to something else, or none, which holds nothing.
pub(super) struct BorrowedList(*mut bindings::xlist);

impl BorrowedList {
    /// # Safety
    /// `list` is null, or a list that nothing frees or changes for as long as this is used.
    pub(super) unsafe fn new(list: *mut bindings::xlist) -> Self {
        Self(list)
    }

    /// Calls `each` with every element, in the list's order. Elements may be null.
    pub(super) fn for_each(&self, mut each: impl FnMut(*mut c_void)) {
        /// Frees the iterator also where `each` panics.
        struct Iterator(*mut bindings::listIterator);
        impl Drop for Iterator {
            fn drop(&mut self) {
                // SAFETY: made by slurm_list_iterator_create below, freed once, while its list
                // still lives.
                unsafe { libslurm().slurm_list_iterator_destroy(self.0) }
            }
        }
        if self.0.is_null() {
            return;
        }
        // SAFETY: not null, and valid for as long as self is.
        let remaining = usize::try_from(unsafe { libslurm().slurm_list_count(self.0) }).unwrap_or(0);
        // SAFETY: as above; libslurm never returns null here (it ends the process when memory is
        // out).
        let iterator = Iterator(unsafe { libslurm().slurm_list_iterator_create(self.0) });
        for _ in 0..remaining {
            // SAFETY: the iterator belongs to this list, and nothing changes the list meanwhile.
            each(unsafe { libslurm().slurm_list_next(iterator.0) });
        }
    }
}

/// A list of texts for a condition. The texts are this side's own memory, so the list has no
/// destructor.
pub(super) struct TextList {
    list: OwnedList,
    _texts: Vec<CString>,
}

impl TextList {
    /// A list of these texts. `None` only if libslurm makes no list.
    pub(super) fn new(texts: Vec<CString>) -> Option<Self> {
        // SAFETY: no destructor, so that libslurm frees none of our memory; the list is ours from
        // here.
        let list = unsafe { OwnedList::adopt(libslurm().slurm_list_create(None)) }?;
        for text in &texts {
            // SAFETY: the list is valid; the text's buffer does not move while `texts` is kept
            // beside the list, and libslurm only reads from conditions.
            unsafe { libslurm().slurm_list_append(list.as_ptr(), text.as_ptr().cast_mut().cast()) };
        }
        Some(Self { list, _texts: texts })
    }

    /// The list, for a condition that borrows it.
    pub(super) fn as_ptr(&self) -> *mut bindings::xlist {
        self.list.as_ptr()
    }
}

/// The list of a [`TextList`] that may be absent: null is "no condition".
pub(super) fn pointer_or_null(list: Option<&TextList>) -> *mut bindings::xlist {
    list.map_or(ptr::null_mut(), TextList::as_ptr)
}
