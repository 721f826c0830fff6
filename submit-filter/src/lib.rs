//! The job_submit plugin: judges a submission by the site's own rules, reads the snapshot, decides,
//! rewrites.
//!
//! This file holds the symbols that slurmctld looks for (src/interfaces/job_submit.c) and nothing
//! else: each takes C's pointers into safe views, catches a panic, and answers with a code of
//! Slurm's. slurmctld opens and closes a plugin once before it uses it, so that nothing happens
//! before `init`. Several threads are in `job_submit` at a time.

mod claims;
mod counts;
pub mod fields;
pub mod filter;
mod guard;
mod heterogeneous;
mod record_key;
#[cfg(records_when_told)]
mod recorded;
mod request;
mod rewrite;
mod rules;
mod ruling;
mod snapshot;
mod state;
pub mod unconfirmed;
mod uptake;
mod watch;

use site_rules::named_job;

#[allow(unsafe_code)]
pub mod entry {
    //! The C entry points.

    use crate::filter::{self, Answer};
    use crate::guard::caught;
    use crate::state;
    use job_types::number::UserId;
    use predictor_core::decisions::counters::Counter;
    use slurm_sys::bindings::{self, job_desc_msg_t};
    use slurm_sys::job_description::{JobDescription, UserMessage};
    use std::ffi::{c_char, c_int, c_void};

    /// `EAGAIN` of Linux.
    const TRY_AGAIN: c_int = 11;
    const SUCCESS: c_int = bindings::SLURM_SUCCESS as c_int;

    /// Name for people.
    // SAFETY: slurmctld reads the symbol as a NUL-terminated string, which it is.
    #[unsafe(no_mangle)]
    #[allow(non_upper_case_globals)]
    pub static plugin_name: [u8; 42] = *b"queuecast: forecasts and rewrites of jobs\0";

    /// Kind and name, by which slurm.conf calls for the plugin.
    // SAFETY: as above.
    #[unsafe(no_mangle)]
    #[allow(non_upper_case_globals)]
    pub static plugin_type: [u8; 21] = *b"job_submit/queuecast\0";

    /// Version of the Slurm that the plugin was built for; slurmctld refuses it where its own is
    /// another.
    // SAFETY: slurmctld reads the symbol as a 32-bit number, which it is.
    #[unsafe(no_mangle)]
    #[allow(non_upper_case_globals)]
    pub static plugin_version: u32 = bindings::SLURM_VERSION_NUMBER;

    /// Called once the plugin is in use. A failure here would end slurmctld, so that there is none.
    // SAFETY: slurmctld calls it without arguments and takes an int.
    #[unsafe(no_mangle)]
    pub extern "C" fn init() -> c_int {
        caught(state::start);
        SUCCESS
    }

    /// Called before the plugin is unloaded.
    // SAFETY: as above.
    #[unsafe(no_mangle)]
    pub extern "C" fn fini() -> c_int {
        caught(state::stop);
        SUCCESS
    }

    /// Called for each submission.
    ///
    /// # Safety
    /// The pointers are slurmctld's: a job description that this thread alone uses, and a place for
    /// a message.
    // SAFETY: the signature is that of `job_submit` in src/interfaces/job_submit.c.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn job_submit(description: *mut job_desc_msg_t, submit_user: u32, message: *mut *mut c_char) -> c_int {
        let answer = caught(|| {
            // SAFETY: as this function's caller promises.
            let (description, message) = unsafe { (JobDescription::from_raw(description), UserMessage::from_raw(message)) };
            let (Some(mut description), mut message) = (description, message) else { return Answer::Accepted };
            #[cfg(records_when_told)]
            crate::recorded::record(&description);
            filter::submission(state::current(), &mut description, &mut message, UserId(submit_user))
        });
        code(answer)
    }

    fn code(answer: Option<Answer>) -> c_int {
        match answer {
            Some(Answer::Refused) => bindings::ESLURM_RESERVATION_NOT_USABLE as c_int,
            // Slurm itself refuses a time limit that does not fit before a deadline with this
            // error.
            Some(Answer::NotAdmitted) => bindings::ESLURM_INVALID_TIME_LIMIT as c_int,
            // Slurm's clients that wait for their job's number repeat this submission by
            // themselves.
            Some(Answer::Undecided) => TRY_AGAIN,
            Some(Answer::RefusedByRules(number)) => number,
            Some(Answer::Accepted) => SUCCESS,
            None => {
                state::current().count(Counter::Panics);
                slurm_sys::log::error(
                    "job_submit/queuecast: after this error the job goes on as its user and the site's rules have written it",
                );
                SUCCESS
            }
        }
    }

    /// Called for each change of a job by its user or an operator.
    ///
    /// # Safety
    /// As of `job_submit`. The job's own record, which is private to slurmctld, is not used.
    // SAFETY: the signature is that of `job_modify` in src/interfaces/job_submit.c.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn job_modify(
        description: *mut job_desc_msg_t,
        _job: *mut c_void,
        submit_user: u32,
        message: *mut *mut c_char,
    ) -> c_int {
        code(caught(|| {
            // SAFETY: as this function's caller promises.
            let (description, message) = unsafe { (JobDescription::from_raw(description), UserMessage::from_raw(message)) };
            let (Some(mut description), mut message) = (description, message) else { return Answer::Accepted };
            filter::modification(state::current(), &mut description, &mut message, UserId(submit_user))
        }))
    }
}

pub use entry::{fini, init, job_modify, job_submit};
