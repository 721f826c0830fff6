//! Molding and deferral are replayed on a made-up log, and wrong questions are answered as such.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::{evaluated, evaluated_json, site_with_log};

/// The made-up log has the name of one for which Hariharan et al. 2020 have published figures.
const LOG: &str = "SDSC-SP2-1998.swf";

#[test]
fn the_reports_have_the_keys_of_the_contract_whatever_the_threads() {
    let site = site_with_log(LOG);
    for (what, protocol, published) in [("molding", "paper", 331.0), ("molding", "work-conserving", 331.0), ("deferral", "paper", 342.0)] {
        let protocol = format!("--protocol={protocol}");
        let arguments = [what, LOG, &protocol, "--policy=best", "--threads=1"];
        let report = evaluated_json(&site, &arguments);
        for outcome in ["baseline", "ours"] {
            for key in ["mean_wait_s", "mean_run_s", "mean_response_s", "p95_response_s", "utilisation"] {
                assert!(report[outcome][key].is_number(), "no {key} in {report}");
            }
        }
        assert_eq!(report["published"]["baseline"]["mean_response_s"], published * 60.0);
        assert_eq!((&report["from"], &report["to"]), (&151.into(), &400.into()));
        let more_threads = evaluated_json(&site, &[what, LOG, &protocol, "--policy=best", "--threads=2"]);
        assert_eq!(report, more_threads);
    }
}

#[test]
fn both_protocols_stand_side_by_side_with_a_picture() {
    let site = site_with_log(LOG);
    let arguments = ["deferral", LOG, "--policy=paper,begin-time,best", "--from=151", "--plot=deferral.svg"];
    let said = evaluated(&site, &arguments);
    assert_eq!(said.status, 0, "{}", said.error);
    for text in ["Protocol paper", "Protocol work-conserving", "none, published", "begin-time", "table IX", "cut by limit"] {
        assert!(said.output.contains(text), "{text}: {}", said.output);
    }
    assert!(fs::read_to_string(site.path().join("deferral.svg")).unwrap().contains("protocol work-conserving"));
}

#[test]
fn a_wrong_question_is_answered_as_such() {
    let site = site_with_log(LOG);
    let error = |arguments: &[&str]| {
        let said = evaluated(&site, arguments);
        assert_eq!((said.status, said.output.as_str()), (2, ""), "{}", said.error);
        said.error
    };
    assert!(error(&["molding", LOG, "--from=20001"]).contains("choose a smaller --from"));
    assert!(error(&["molding", LOG, "--from=9", "--to=8"]).contains("--from 9 lies behind --to 8"));
    assert!(error(&["molding", "absent.swf"]).contains("absent.swf"));
    assert!(error(&["deferral", LOG, "--adoption=2"]).contains("between 0 and 1"));
}
