//! Asking the filter about a job, over a state directory with rules.

use super::{Description, free, put_rules, read, text};
use job_submit_queuecast::filter::{Answer, State, submission};
use job_types::number::UserId;
use made_up_site::USER;
use slurm_sys::error_number;
use slurm_sys::job_description::{JobDescription, UserMessage};
use std::ptr;
use tempfile::TempDir;

pub const ACCEPTED: Answer = Answer::Accepted;

/// A state directory with rules, and a plugin's state over it.
pub fn with_rules(rules: &str) -> (TempDir, State) {
    let directory = tempfile::tempdir().unwrap();
    put_rules(directory.path(), rules);
    let state = State::over(directory.path());
    (directory, state)
}

pub type Filter = fn(&State, &mut JobDescription<'_>, &mut UserMessage<'_>, UserId) -> Answer;

pub fn ask(filter: Filter, state: &State, job: &mut Description, user: u32) -> (Answer, String) {
    ask_after("", filter, state, job, user)
}

/// Asks the filter after another plugin has said something to the user.
pub fn ask_after(before: &str, filter: Filter, state: &State, job: &mut Description, user: u32) -> (Answer, String) {
    let mut message = if before.is_empty() { ptr::null_mut() } else { text(before) };
    let answer = {
        // SAFETY: a description of our own, which nobody else uses meanwhile.
        let mut description = unsafe { JobDescription::from_raw(&raw mut *job.0) }.unwrap();
        // SAFETY: a place for a message of our own.
        let mut place = unsafe { UserMessage::from_raw(&raw mut message) };
        filter(state, &mut description, &mut place, UserId(user))
    };
    let said = read(message).unwrap_or_default();
    free(&mut message);
    (answer, said)
}

pub fn submit(state: &State, job: &mut Description) -> (Answer, String) {
    ask(submission, state, job, USER)
}

pub fn refused(error: &str) -> Answer {
    Answer::RefusedByRules(error_number::of(error).unwrap())
}

/// Frees the texts that rules have written and [`Description`] does not free.
pub fn free_texts(job: &mut Description) {
    for field in [&mut job.0.account, &mut job.0.comment, &mut job.0.features, &mut job.0.licenses, &mut job.0.qos] {
        free(field);
    }
}

/// Sets the number of the job that is to be modified.
pub fn set_job_id(job: &mut Description, number: Option<u32>) {
    // SAFETY: a description of our own.
    let mut description = unsafe { JobDescription::from_raw(&raw mut *job.0) }.unwrap();
    description.set_job_id(number);
}
