//! Slurm's linked list, owned or borrowed, without its sharp edges.

use std::ffi::{CString, c_void};
use std::marker::PhantomData;
use std::ptr;

use super::error::ClientError;
use super::library::libslurm;
use crate::bindings;

/// A list that libslurm made and this side frees. What it holds is freed with it where libslurm
/// gave it a destructor.
pub(crate) struct OwnedList(*mut bindings::xlist);

impl OwnedList {
    /// Takes over a list that libslurm returned. `None` for a null pointer.
    ///
    /// # Safety
    /// `list` is null or a list that nothing else frees or changes from now on.
    pub(crate) unsafe fn adopt(list: *mut bindings::xlist) -> Option<Self> {
        if list.is_null() { None } else { Some(Self(list)) }
    }

    /// The list, for a C structure that borrows it. It stays owned here.
    pub(crate) fn as_ptr(&self) -> *mut bindings::xlist {
        self.0
    }

    /// Whether it holds nothing.
    pub(crate) fn is_empty(&self) -> bool {
        // SAFETY: the list is valid for as long as self is.
        unsafe { libslurm().slurm_list_count(self.0) <= 0 }
    }

    /// Calls `each` with every element, in the list's order. Elements may be null.
    pub(crate) fn for_each(&self, each: impl FnMut(*mut c_void)) {
        // SAFETY: the list is valid for as long as self is.
        unsafe { BorrowedList::new(self.0) }.for_each(each);
    }

    /// Shows every record to `show`, in the list's order.
    ///
    /// # Safety
    /// Each element is null or a valid record of type `T`.
    pub(crate) unsafe fn for_each_record<T>(&self, mut show: impl FnMut(&T)) {
        self.for_each(|element| {
            // SAFETY: the caller's promise; the record lives as long as the list.
            if let Some(record) = unsafe { element.cast::<T>().as_ref() } {
                show(record);
            }
        });
    }

    /// A list without elements or destructor: it frees nothing of what is put into it.
    fn lending() -> Self {
        // SAFETY: the list is ours from here. libslurm ends the process rather than return null.
        Self(unsafe { libslurm().slurm_list_create(None) })
    }

    fn push(&mut self, element: *mut c_void) {
        // SAFETY: the list is valid for as long as self is, and takes any pointer.
        unsafe { libslurm().slurm_list_append(self.0, element) };
    }
}

impl Drop for OwnedList {
    fn drop(&mut self) {
        // SAFETY: owned, and freed once.
        unsafe { libslurm().slurm_list_destroy(self.0) }
    }
}

/// A list that belongs to something else, or none, which holds nothing.
pub(crate) struct BorrowedList(*mut bindings::xlist);

impl BorrowedList {
    /// # Safety
    /// `list` is null, or a list that nothing frees or changes for as long as this is used.
    pub(crate) unsafe fn new(list: *mut bindings::xlist) -> Self {
        Self(list)
    }

    /// Calls `each` with every element, in the list's order. Elements may be null.
    pub(crate) fn for_each(&self, mut each: impl FnMut(*mut c_void)) {
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

/// A list of records of this side, for a call that only reads them.
pub(crate) struct RecordList<'a, T> {
    list: OwnedList,
    _records: PhantomData<&'a mut [T]>,
}

impl<'a, T> RecordList<'a, T> {
    /// A list of these records.
    pub(crate) fn of(records: &'a mut [T]) -> Self {
        let mut list = OwnedList::lending();
        records.iter_mut().for_each(|record| list.push(ptr::from_mut(record).cast()));
        Self { list, _records: PhantomData }
    }

    /// The list, for a C structure or call that borrows it.
    pub(crate) fn as_ptr(&self) -> *mut bindings::xlist {
        self.list.as_ptr()
    }
}

/// A list of texts for a condition, of which libslurm only reads.
pub(crate) struct TextList {
    list: OwnedList,
    _texts: Vec<CString>,
}

impl TextList {
    /// A list of these texts.
    ///
    /// # Errors
    /// [`ClientError::Text`] for one with a null byte.
    pub(crate) fn of(texts: &[&str]) -> Result<Self, ClientError> {
        let texts = texts.iter().map(|text| c_text(text)).collect::<Result<Vec<_>, _>>()?;
        let mut list = OwnedList::lending();
        // A text's buffer stays where it is while `texts` is kept beside the list.
        texts.iter().for_each(|text| list.push(text.as_ptr().cast_mut().cast()));
        Ok(Self { list, _texts: texts })
    }

    /// The list, for a condition that borrows it.
    pub(crate) fn as_ptr(&self) -> *mut bindings::xlist {
        self.list.as_ptr()
    }
}

/// A text as C takes it.
///
/// # Errors
/// [`ClientError::Text`] for one with a null byte.
pub(crate) fn c_text(text: &str) -> Result<CString, ClientError> {
    CString::new(text).map_err(|_null| ClientError::Text { text: text.to_owned() })
}
