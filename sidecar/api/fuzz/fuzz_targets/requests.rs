//! Bytes that anybody may send are read as each request of the API. None may make a reader panic,
//! and what a reader takes has to be the same when it is written and read again.

#![no_main]

use std::fmt::Debug;

use daemon_api::{Cancel, Confirm, MOST_REQUEST_BYTES, Predict, Probe, Question, Refusal, Reserve};
use libfuzzer_sys::fuzz_target;
use serde::Serialize;

fuzz_target!(|bytes: &[u8]| {
    if bytes.len() > MOST_REQUEST_BYTES {
        return;
    }
    check(bytes, Probe::read);
    check(bytes, Reserve::read);
    check(bytes, Confirm::read);
    check(bytes, Question::read);
    check(bytes, Cancel::read);
    check(bytes, Predict::read);
});

fn check<R: Serialize + PartialEq + Debug>(bytes: &[u8], read: fn(&[u8]) -> Result<R, Refusal>) {
    match read(bytes) {
        Ok(request) => {
            let written = serde_json::to_vec(&request).expect("a request can be written");
            assert_eq!(read(&written).as_ref(), Ok(&request));
        }
        Err(refusal) => {
            assert_eq!(refusal.key.is_some(), refusal.allowed.is_some(), "{refusal:?}");
            let told = serde_json::to_vec(&refusal).expect("a refusal can be written");
            assert!(told.len() < 4_096, "a refusal of {} bytes", told.len());
        }
    }
}
