//! Forecasts are held against the past of a log, and wrong questions are answered as such.

mod common;

use std::fs;
use std::path::PathBuf;

use common::{Said, Site, said};
use serde_json::Value;
use simulator::lublin::{self, Options};
use simulator::swf::{self, Record};

/// A folder with a made-up log of 400 jobs.
struct Logs(Site);

impl Logs {
    fn new() -> Self {
        let logs = Self(Site::empty());
        logs.write("model.swf", |_| ());
        logs
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes the log again under another name, with each job changed.
    fn write(&self, name: &str, change: impl Fn(&mut Record)) {
        let mut log = lublin::workload(&Options { jobs: 400, processors: 64, users: 8, ..Options::default() }).unwrap();
        log.records.iter_mut().for_each(change);
        swf::write(fs::File::create(self.path(name)).unwrap(), &log.header, &log.records).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Said {
        said(self.0.command(&[&["evaluate"], arguments].concat()).current_dir(self.0.path()))
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let said = self.run(&[arguments, &["--format=json"]].concat());
        assert_eq!(said.status, 0, "{}", said.error);
        serde_json::from_str(&said.output).unwrap()
    }
}

/// The jobs that are forecast.
const PART: [&str; 2] = ["--from=301", "--to=400"];

fn error(said: &Said) -> &str {
    assert_eq!((said.status, said.output.as_str()), (2, ""), "{}", said.error);
    &said.error
}

#[test]
fn a_log_without_waits_is_no_ground_for_forecasts_of_waits() {
    let logs = Logs::new();
    logs.write("nowaits.swf", |job| job.wait_time_seconds = None);
    let said = logs.run(&["waits", "nowaits.swf", PART[0], PART[1]]);
    assert!(error(&said).contains("nowaits.swf: none of its 400 jobs says how long it waited"), "{}", said.error);
}

#[test]
fn a_log_that_cannot_be_read_is_named() {
    let logs = Logs::new();
    assert!(error(&logs.run(&["waits", "absent.swf"])).contains("absent.swf"));
    fs::write(logs.path("text.swf"), "these are words\n").unwrap();
    assert!(error(&logs.run(&["waits", "text.swf"])).contains("text.swf: line 1"));
    fs::write(logs.path("empty.swf"), "; no jobs\n").unwrap();
    assert!(error(&logs.run(&["waits", "empty.swf"])).contains("there are no jobs in it"));
}

#[test]
fn wrong_usage_is_said_before_the_work() {
    let logs = Logs::new();
    error(&logs.run(&[]));
    error(&logs.run(&["waits"]));
    error(&logs.run(&["waits", "model.swf", "--from=0"]));
    assert!(error(&logs.run(&["waits", "model.swf", "--from=9", "--to=8"])).contains("--from 9 lies behind --to 8"));
    assert!(error(&logs.run(&["waits", "model.swf"])).contains("choose a smaller --from"));
    assert!(error(&logs.run(&["waits", "model.swf", "--plot=waits.png"])).contains(".svg"));
    let said = logs.run(&["waits", "model.swf", PART[0], "--plot=absent/waits.svg"]);
    assert!(error(&said).contains("there is no folder absent"), "{}", said.error);
}
