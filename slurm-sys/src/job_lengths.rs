//! How long the texts and lists of a job description are, found without reading more of them than
//! has to be, and how long those are that slurmctld takes.
//!
//! slurmctld hands a request to its plugins before it looks at the lengths
//! (`_test_job_desc_fields` in src/slurmctld/job_mgr.c, after `job_submit_g_submit` and
//! `job_submit_g_modify`), so that a text arrives with whatever the message had room for, up to a
//! GiB. The lengths that it takes are the same from 22.05 to 26.05, but for two fields.

use crate::bindings::SLURM_VERSION_NUMBER;
use crate::job_description::{JobDescription, ListField};
use crate::job_fields::TextField;
use std::ffi::c_char;

/// 23.02, since when slurmctld looks at the length of `extra`, and no longer at that of `licenses`
/// as they were asked for.
const SINCE_23_02: bool = SLURM_VERSION_NUMBER >= (23 << 16 | 2 << 8);

/// The longest path (`PATH_MAX` and `MAXPATHLEN` of Linux), with which paths are compared.
const PATH: usize = 4096;

/// The longest text that is read where slurmctld itself sets no limit, in bytes.
pub const LONGEST_WITHOUT_LIMIT: usize = 1 << 20;

/// The longest entry of a list that is read, in bytes: the longest that Linux hands to a program,
/// as an argument or as a variable (`MAX_ARG_STRLEN`).
pub const LONGEST_ENTRY: usize = 128 << 10;

/// The most entries of a list that are read. Linux hands no more than 2 MiB of arguments and
/// variables to a program under its usual limits, with a pointer of eight bytes for each.
pub const MOST_ENTRIES: usize = 1 << 18;

/// The most that is read of what SPANK plugins set for prolog and epilog: entries, and bytes of all
/// of them.
const MOST_OF_CONTROL: (usize, usize) = (1 << 12, 64 << 10);

/// What is too long in a job description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLong {
    /// A text that slurmctld refuses the request for, whatever else it says.
    ForSlurm(TextField),
    /// A text that slurmctld sets no limit to, beyond [`LONGEST_WITHOUT_LIMIT`].
    Text(TextField),
    /// A list of more than [`MOST_ENTRIES`].
    List(ListField),
}

impl TextField {
    /// The longest that slurmctld takes, in bytes; `None` where it takes any, and where the
    /// configuration decides (`max_script_size`, `max_submit_line_size`).
    #[must_use]
    pub fn longest(self) -> Option<usize> {
        use TextField::*;
        Some(match self {
            Account | AllocNode | ClusterFeatures | Comment | CpusPerTres | Features | MailUser | McsLabel | MemPerTres | Name
            | Network | Partition | Prefer | Qos | Reservation | TresBind | TresFreq | TresPerJob | TresPerNode | TresPerSocket
            | TresPerTask | Wckey => 1024,
            Extra if SINCE_23_02 => 1024,
            Licenses if !SINCE_23_02 => 1024,
            ArrayInx => 4 << 10,
            BurstBuffer => 8 << 10,
            CpuBind | Dependency | MemBind => 128 << 10,
            StdErr | StdIn | StdOut | WorkDir => PATH,
            _ => return None,
        })
    }

    /// Whether its longest is what slurm.conf says.
    fn is_configured(self) -> bool {
        matches!(self, TextField::Script | TextField::SubmitLine)
    }
}

/// The bytes of a string, but no more than `most`.
///
/// # Safety
/// `text` is NULL or points to a string that ends with NUL or has at least `most` bytes.
unsafe fn length_up_to(text: *const c_char, most: usize) -> usize {
    // SAFETY: strnlen reads up to the NUL and no more than `most` bytes, as the caller promises.
    if text.is_null() { 0 } else { unsafe { libc::strnlen(text, most) } }
}

impl JobDescription<'_> {
    /// The first text or list that is longer than what is taken. Of the texts whose longest
    /// slurm.conf says nothing is told; who reads them asks for their lengths.
    #[must_use]
    pub fn too_long(&self) -> Option<TooLong> {
        let of_text = |field: TextField| match field.longest() {
            _ if field.is_configured() => None,
            Some(most) => (self.text_length(field, most + 1) > most).then_some(TooLong::ForSlurm(field)),
            None => (self.text_length(field, LONGEST_WITHOUT_LIMIT + 1) > LONGEST_WITHOUT_LIMIT).then_some(TooLong::Text(field)),
        };
        // What slurmctld refuses goes before what is refused here.
        let mut too_long = None;
        for found in TextField::ALL.iter().copied().filter_map(of_text) {
            if matches!(found, TooLong::ForSlurm(_)) {
                return Some(found);
            }
            too_long = too_long.or(Some(found));
        }
        let lists = [ListField::Argv, ListField::Environment, ListField::SpankJobEnv].into_iter();
        too_long.or_else(|| lists.filter(|list| self.entries(*list) > MOST_ENTRIES).map(TooLong::List).next())
    }

    /// Whether what SPANK plugins set for prolog and epilog is too long to be gone through.
    #[must_use]
    pub fn has_long_control(&self) -> bool {
        let (most_entries, most_bytes) = MOST_OF_CONTROL;
        let entries = self.list_of(ListField::SpankJobEnv);
        let mut bytes = 0_usize;
        entries.len() > most_entries
            || entries.iter().any(|entry| {
                // SAFETY: entries of a list are NULL or strings that live as long as it.
                bytes += unsafe { length_up_to(*entry, most_bytes + 1) };
                bytes > most_bytes
            })
    }

    /// The bytes of a text, but no more than `most`; 0 where it is not set.
    #[must_use]
    #[inline]
    pub fn text_length(&self, field: TextField, most: usize) -> usize {
        // SAFETY: texts of the description are NULL or strings, and live while it is borrowed.
        unsafe { length_up_to(self.text_place(field), most) }
    }

    /// The beginning of a text, no more than `most` bytes of it; empty where it is not set. What
    /// lies behind is not read.
    #[must_use]
    pub fn text_start(&self, field: TextField, most: usize) -> &[u8] {
        let text = self.text_place(field);
        let length = self.text_length(field, most);
        if text.is_null() {
            return &[];
        }
        // SAFETY: the string has so many bytes before its end, and lives and stays as it is while
        // the description is borrowed.
        unsafe { std::slice::from_raw_parts(text.cast(), length) }
    }

    /// The bytes of an entry of a list, but no more than one above [`LONGEST_ENTRY`]; `None` behind
    /// the last.
    #[must_use]
    pub fn entry_length(&self, list: ListField, place: usize) -> Option<usize> {
        let entry = *self.list_of(list).get(place)?;
        // SAFETY: entries of a list are NULL or strings that live as long as it.
        Some(unsafe { length_up_to(entry, LONGEST_ENTRY + 1) })
    }

    /// Writes the names of account, quality of service and key of accounting in small letters, as
    /// slurmctld itself does with account and key right after its plugins were asked
    /// (`validate_job_create_req`), and as slurmdbd keeps all of them. They are compared without
    /// regard to case (`assoc_mgr_fill_in_assoc`, `assoc_mgr_fill_in_qos`,
    /// `assoc_mgr_fill_in_wckey` in src/common/assoc_mgr.c), those of partitions, reservations,
    /// features, licences and generic resources letter by letter.
    pub fn lower_names(&mut self) {
        for field in [TextField::Account, TextField::Qos, TextField::Wckey] {
            let length = self.text_length(field, field.longest().unwrap_or(0));
            let Some(slot) = self.text_slot(field).filter(|slot| !slot.is_null()) else { continue };
            // SAFETY: the string is the description's, which is borrowed mutably, and has so many
            // bytes before its end.
            let name = unsafe { std::slice::from_raw_parts_mut(slot.cast::<u8>(), length) };
            name.make_ascii_lowercase();
        }
    }
}
