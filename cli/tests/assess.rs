//! A past is assessed: the report as text, JSON and HTML, and what is no past is told.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::{Said, Site, said};
use serde_json::Value;
use simulator::{lublin, swf};

/// A partition whose name would be a script in a page that does not escape it.
const HOSTILE: &str = "<script>alert(1)</script>";

/// A folder with a made-up log of so many jobs in two partitions, one with a hostile name.
fn site(jobs: u64) -> Site {
    let site = Site::empty();
    let mut log = lublin::workload(&lublin::Options { jobs, processors: 64, users: 8, ..Default::default() }).unwrap();
    log.header.push("Partition", &format!("1 {HOSTILE}"));
    for job in &mut log.records {
        (job.queue, job.partition) = (None, Some(1 + job.job_number % 2));
    }
    swf::write(fs::File::create(site.path().join("past.swf")).unwrap(), &log.header, &log.records).unwrap();
    site
}

fn assessed(site: &Site, arguments: &[&str]) -> Said {
    said(site.command(&[&["assess"], arguments].concat()).current_dir(site.path()))
}

#[test]
fn a_report_has_its_verdict_first_and_all_that_it_rests_on_in_one_page() {
    let site = site(150);
    let text = assessed(&site, &["past.swf", "--html", "report.html", "--name", "Beehive"]);
    assert_eq!(text.status, 0, "{}", text.error);
    let heads = [
        "Would queuecast pay on Beehive?",
        "Whether it would pay can't be said from this past.",
        "What limits this answer",
        "What was read",
        "How long who waits",
        "How well waits and run times would have been forecast",
        "What molding would do, and its price",
        "What other settings and schedulers would do",
        "What can't be said from this past, and why",
    ];
    let places: Vec<Option<usize>> = heads.iter().map(|head| text.output.find(head)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} in {}", text.output);

    let page = fs::read_to_string(site.path().join("report.html")).unwrap();
    for head in heads {
        assert!(page.contains(&head.replace('\'', "&#39;")), "{head}");
    }
    assert!(page.matches("<svg").count() >= 4, "pictures");
    assert!(page.contains("&lt;script&gt;alert(1)") && !page.to_lowercase().contains("<script"));
    for loaded in ["http:", "https:", "src=", "url(", "@import"] {
        let namespace = page.replace("http://www.w3.org/", "");
        assert!(!namespace.contains(loaded), "{loaded}");
    }

    let json: Value = serde_json::from_str(&assessed(&site, &["past.swf", "--format", "json"]).output).unwrap();
    assert_eq!((&json["past_of"], &json["verdict"]["answer"]), (&"past".into(), &"cannot-be-said".into()));
    assert_eq!(json["past"]["by_queue"].as_array().unwrap().len(), 2);
    for part in ["forecasts", "molding", "schedulers"] {
        assert!(json[part]["jobs"].as_u64().unwrap() > 0, "{part}");
    }
    assert!(json["not_said"].as_array().unwrap().iter().any(|item| item["about"] == "partitions"), "{}", json["not_said"]);
}

#[test]
fn the_sites_own_settings_are_what_others_are_held_against() {
    let site = site(80);
    let conf = "SchedulerParameters=bf_window=10080,bf_max_job_test=50\nPriorityType=priority/multifactor\nPriorityWeightAge=1000\n";
    fs::write(site.path().join("slurm.conf"), conf).unwrap();
    let said = assessed(&site, &["past.swf", "--slurm-conf", "slurm.conf", "--format", "json"]);
    let json: Value = serde_json::from_str(&said.output).unwrap();
    let schedules = json["schedulers"]["schedules"].as_array().unwrap();
    assert_eq!(schedules[0]["name"], "as the site has it");
    assert!(schedules.iter().any(|schedule| schedule["name"] == "bf_max_job_test=500"), "{schedules:?}");
    fs::write(site.path().join("slurm.conf"), "Include gone.conf\nSchedulerParameters=bf_window=86400\n").unwrap();
    let said = assessed(&site, &["past.swf", "--slurm-conf", "slurm.conf", "--format", "json"]);
    let json: Value = serde_json::from_str(&said.output).unwrap();
    assert_eq!(json["schedulers"]["schedules"][0]["name"], "as far as slurm.conf could be read");
    assert!(said.error.contains("gone.conf: No such file") && said.error.contains("bf_window=86400"), "{}", said.error);
}

#[test]
fn what_is_no_past_is_told() {
    let site = site(60);
    let error = |arguments: &[&str]| {
        let said = assessed(&site, arguments);
        assert_eq!((said.status, said.output.as_str()), (2, ""), "{}", said.error);
        said.error
    };
    error(&[]);
    assert!(error(&["absent.swf"]).contains("absent.swf"));
    assert!(error(&["past.swf", "--html", "absent/report.html"]).contains("there is no folder absent"));
    fs::write(site.path().join("empty.swf"), "; MaxProcs: 8\n").unwrap();
    assert!(error(&["empty.swf"]).contains("empty.swf: none of the 0 jobs"));
}
