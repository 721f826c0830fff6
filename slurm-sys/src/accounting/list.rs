//! Slurm's linked list: made here over memory of this side, or received from libslurm.

use std::ffi::c_void;

use crate::bindings;
use crate::client::library::libslurm;

/// A list that borrows what it holds: libslurm reads from it, and frees none of it.
pub(super) struct List(*mut bindings::xlist);

impl List {
    pub(super) fn new() -> Self {
        // SAFETY: no destructor, so that the list frees none of its elements. libslurm ends the
        // process rather than return null.
        Self(unsafe { libslurm().slurm_list_create(None) })
    }

    /// A list of these records, which have to stay where they are while the list is used.
    pub(super) fn of<T>(records: &mut [T]) -> Self {
        let mut list = Self::new();
        records.iter_mut().for_each(|record| list.push((&raw mut *record).cast()));
        list
    }

    pub(super) fn push(&mut self, element: *mut c_void) {
        // SAFETY: the list is valid, and takes any pointer.
        unsafe { libslurm().slurm_list_append(self.0, element) };
    }

    pub(super) fn as_ptr(&self) -> *mut bindings::xlist {
        self.0
    }
}

impl Drop for List {
    fn drop(&mut self) {
        // SAFETY: made in `new`, freed once.
        unsafe { libslurm().slurm_list_destroy(self.0) }
    }
}

/// A list that libslurm made, with all that is in it.
pub(super) struct Received(*mut bindings::xlist);

impl Received {
    /// Takes over a list; `None` for null.
    ///
    /// # Safety
    ///
    /// Nothing else frees or changes the list from now on.
    pub(super) unsafe fn adopt(list: *mut bindings::xlist) -> Option<Self> {
        // Not `then_some`, which would make one of null too, and drop it.
        if list.is_null() { None } else { Some(Self(list)) }
    }

    /// Shows every element, which must be of the type that the call which made the list says.
    pub(super) fn for_each<T>(&self, mut show: impl FnMut(&T)) {
        // SAFETY: the list is valid, the iterator is used on it alone and freed before it, and each
        // element is null or a record of type T that lives as long as the list.
        unsafe {
            let iterator = libslurm().slurm_list_iterator_create(self.0);
            for _ in 0..libslurm().slurm_list_count(self.0) {
                if let Some(element) = libslurm().slurm_list_next(iterator).cast::<T>().as_ref() {
                    show(element);
                }
            }
            libslurm().slurm_list_iterator_destroy(iterator);
        }
    }
}

impl Drop for Received {
    fn drop(&mut self) {
        // SAFETY: adopted, freed once; libslurm gave the list the destructor of its elements.
        unsafe { libslurm().slurm_list_destroy(self.0) }
    }
}
