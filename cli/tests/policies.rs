//! Molding and deferral are replayed on a made-up log, and wrong questions are answered as such.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::{Said, Site, said};
use serde_json::Value;
use simulator::lublin::{self, Options};
use simulator::swf;

/// A folder with a made-up log of 400 jobs, under the name of one of the paper's.
fn logs() -> Site {
    let site = Site::empty();
    let log = lublin::workload(&Options { jobs: 400, processors: 64, users: 6, ..Options::default() }).unwrap();
    swf::write(fs::File::create(site.path().join("SDSC-SP2-1998.swf")).unwrap(), &log.header, &log.records).unwrap();
    site
}

fn run(site: &Site, arguments: &[&str]) -> Said {
    said(site.command(&[&["evaluate"], arguments].concat()).current_dir(site.path()))
}

fn json(site: &Site, arguments: &[&str]) -> Value {
    let said = run(site, &[arguments, &["--from=151", "--format=json"]].concat());
    assert_eq!(said.status, 0, "{}", said.error);
    serde_json::from_str(&said.output).unwrap()
}

#[test]
fn the_reports_have_the_keys_of_the_contract_whatever_the_threads() {
    let site = logs();
    for (what, protocol, published) in [("molding", "paper", 331.0), ("molding", "work-conserving", 331.0), ("deferral", "paper", 342.0)] {
        let protocol = format!("--protocol={protocol}");
        let arguments = [what, "SDSC-SP2-1998.swf", &protocol, "--policy=best", "--threads=1"];
        let report = json(&site, &arguments);
        for outcome in ["baseline", "ours"] {
            for key in ["mean_wait_s", "mean_run_s", "mean_response_s", "p95_response_s", "utilisation"] {
                assert!(report[outcome][key].is_number(), "no {key} in {report}");
            }
        }
        assert_eq!(report["published"]["baseline"]["mean_response_s"], published * 60.0);
        assert_eq!((&report["from"], &report["to"]), (&151.into(), &400.into()));
        let more_threads = json(&site, &[what, "SDSC-SP2-1998.swf", &protocol, "--policy=best", "--threads=2"]);
        assert_eq!(report, more_threads);
    }
}

#[test]
fn both_protocols_stand_side_by_side_with_a_picture() {
    let site = logs();
    let arguments = ["deferral", "SDSC-SP2-1998.swf", "--policy=paper,begin-time,best", "--from=151", "--plot=deferral.svg"];
    let said = run(&site, &arguments);
    assert_eq!(said.status, 0, "{}", said.error);
    for text in ["Protocol paper", "Protocol work-conserving", "none, published", "begin-time", "table IX", "cut by limit"] {
        assert!(said.output.contains(text), "{text}: {}", said.output);
    }
    assert!(fs::read_to_string(site.path().join("deferral.svg")).unwrap().contains("protocol work-conserving"));
}

#[test]
fn a_wrong_question_is_answered_as_such() {
    let site = logs();
    let error = |arguments: &[&str]| {
        let said = run(&site, arguments);
        assert_eq!((said.status, said.output.as_str()), (2, ""), "{}", said.error);
        said.error
    };
    assert!(error(&["molding", "SDSC-SP2-1998.swf"]).contains("choose a smaller --from"));
    assert!(error(&["molding", "SDSC-SP2-1998.swf", "--from=9", "--to=8"]).contains("--from 9 lies behind --to 8"));
    assert!(error(&["molding", "absent.swf"]).contains("absent.swf"));
    assert!(error(&["deferral", "SDSC-SP2-1998.swf", "--adoption=2"]).contains("between 0 and 1"));
}
