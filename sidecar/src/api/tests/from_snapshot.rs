//! The queue and forecasts over the API's socket.

use job_types::number::{JobId, PartitionIndex, UserId};
use job_types::size::Size;
use made_up_site::{USER, ended_job};
use predictor_core::forecasts::queue_plan::{ExpectedStart, PlanObstacle, PlannedJob, PlannedPartition, QueuePlan};
use serde_json::Value;

use super::super::callers::MOST_QUESTIONS;
use super::*;

/// A site at a moment, with a past of [`USER`], where a job of that user waits, and one of another
/// user is held.
pub(in crate::api) fn site(at: UnixTime) -> MadeUpSite {
    let job = PlannedJob {
        job: JobId(7),
        user: UserId(USER),
        partition: PartitionIndex(0),
        size: Size { nodes: 2, cpus: 8 },
        tasks: 1,
        limit: Some(Seconds(600)),
        priority: 100,
        start: Ok(ExpectedStart { lower: at + Seconds(10), expected: at + Seconds(20), upper: at + Seconds(30) }),
    };
    let held = PlannedJob { job: JobId(5), user: UserId(USER + 1), start: Err(PlanObstacle::Held), ..job };
    let start = ExpectedStart { lower: at, expected: at, upper: at };
    let partition = PlannedPartition {
        index: PartitionIndex(0),
        cpus_per_node: 4,
        free: vec![(at, 256)],
        cpus: vec![8],
        limits: vec![Seconds(3_600)],
        starts: vec![Some(start)],
        ..PlannedPartition::default()
    };
    let queue =
        QueuePlan { at, pending_jobs: 2, is_complete: true, jobs: vec![job, held], partitions: vec![partition], promised: Vec::new() };
    let past = (0..200).map(|number| ended_job(UserId(USER), at - Seconds(90_000 - number * 400), 2, 3_600, 60, 900));
    MadeUpSite::new(at).partition(batch(enforcing())).ended_jobs(past).queue(&queue)
}

impl Served {
    fn get(&self, path: &str) -> (u16, String) {
        let answer = self.sent(format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes());
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        (status, answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
    }
}

#[test]
fn the_queue_is_told_from_the_snapshot_that_is_published() {
    let served = served();
    let (status, body) = served.get("/v1/queue");
    assert!(status == 503 && body.contains("retry_after_s"), "{body}");
    served.api.set_snapshot(site(UnixTime(now())).bytes(), false);
    let (status, body) = served.get("/v1/queue");
    assert_eq!(status, 200, "{body}");
    let queue: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((queue["generation"].as_u64(), queue["cluster"].as_str(), queue["pending_jobs"].as_u64()), (Some(7), Some("test"), Some(2)));
    let jobs = queue["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), 2);
    assert_eq!((jobs[0]["job_id"].as_u64(), jobs[1]["obstacle"].as_str()), (Some(7), Some("held")));
    assert!(jobs[1]["expected_start"].is_null() && jobs[0]["user_name"].is_null());
    assert_eq!(served.post("/v1/queue", b"{}").0, 405);
}

#[test]
fn a_forecast_is_told_of_the_job_that_is_described() {
    let served = served();
    let wanted = br#"{"nodes": 2, "limit_s": 600, "auto_mold": true}"#;
    assert_eq!(served.post("/v1/predict", wanted).0, 503);
    served.api.set_snapshot(site(UnixTime(now())).bytes(), false);
    let (status, body) = served.post("/v1/predict", wanted);
    assert_eq!(status, 200, "{body}");
    let told: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((told["job"]["partition"].as_str(), told["job"]["limit_s"].as_i64()), (Some("batch"), Some(600)));
    assert!(told["run_time"].is_object() && told["plan"]["expected_start"].is_i64(), "{body}");
    assert!(told["filter"]["record"].is_object(), "{body}");
    fs::write(served.path.with_file_name(KILL_SWITCH), "").unwrap();
    assert!(served.post("/v1/predict", wanted).1.contains("switched off by"));
    for (request, key) in [
        (&b"{}"[..], "nodes"),
        (b"{\"nodes\": 1, \"user\": 0}", "user"),
        (b"{\"nodes\": 1, \"partition\": \"none\"}", "partition"),
        (b"{\"nodes\": 1, \"deadline\": 5}", "deadline"),
    ] {
        let (status, body) = served.post("/v1/predict", request);
        assert!(status == 400 && body.contains(&format!("\"key\":\"{key}\"")), "{body}");
    }
    assert_eq!(served.post("/v1/predict", &vec![b' '; daemon_api::MOST_REQUEST_BYTES + 1]).0, 413);
    assert_eq!(served.get("/v1/predict").0, 405);
}

#[test]
fn a_user_asks_the_snapshot_so_often_a_minute_and_probes_count_for_themselves() {
    let served = served();
    served.api.set_standing(Some(standing()));
    served.api.set_snapshot(site(UnixTime(now())).bytes(), false);
    let ask = |round: usize| if round.is_multiple_of(2) { served.get("/v1/queue") } else { served.post("/v1/predict", b"{\"nodes\": 1}") };
    // A place is free again once the answer before is sent, which its reader may be ahead of.
    let asked = |round| {
        let once = ask(round);
        if once.0 == 429 {
            std::thread::sleep(Duration::from_millis(50))
        };
        if once.0 == 429 { ask(round) } else { once }
    };
    let statuses: Vec<u16> = (0..MOST_QUESTIONS).map(|round| asked(round).0).collect();
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
    let (status, body) = asked(0);
    assert!(status == 429 && body.contains("sixty times a minute"), "{body}");
    assert_eq!(served.probed(&probe()).0, 200);
}
