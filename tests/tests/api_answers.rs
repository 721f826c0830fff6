//! The API of a real daemon beside the commands whose answers it gives.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::time::Duration;

use end_to_end::{Cluster, Options, wait_for};
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(120);
const CONFIGURATION: &str = "[snapshot]\ninterval = \"2s\"\n[metrics]\nlisten = \"off\"\n[policy]\nmode = \"enforce\"\n";

/// What the API answers to a request, which has a body where something is posted;
/// `None` while the daemon does not answer.
fn asked(cluster: &Cluster, path: &str, body: &[&str]) -> Option<Value> {
    let mut command = cluster.prepare("curl");
    command.args(["--silent", "--unix-socket"]).arg(cluster.state_directory().join("api-socket"));
    let output = command.arg(format!("http://localhost{path}")).args(body).output().unwrap();
    serde_json::from_slice(&output.stdout).ok()
}

/// What a command prints, without what the API leaves out: times as text and names of users.
fn printed(cluster: &Cluster, arguments: &[&str]) -> Value {
    let output = cluster.run("queuecast", arguments);
    let mut value = serde_json::from_slice(&output.stdout).unwrap();
    leave_out(&mut value, &["name", "account", "qos", "submitted"]);
    value
}

fn leave_out(value: &mut Value, keys: &[&str]) {
    match value {
        Value::Object(object) => {
            object.retain(|key, _| !key.ends_with("_text") && !keys.contains(&key.as_str()));
            object.iter_mut().filter(|(key, _)| *key == "user_name").for_each(|(_, name)| *name = Value::Null);
            object.values_mut().for_each(|value| leave_out(value, keys));
        }
        Value::Array(list) => list.iter_mut().for_each(|value| leave_out(value, keys)),
        _ => {}
    }
}

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn the_api_answers_what_the_commands_print() {
    let cluster = Cluster::up(&Options::with_plugins(CONFIGURATION));
    for arguments in [["-N8", "-t60"], ["-N8", "-t30"], ["-N2", "--hold"]] {
        let _ = cluster.output("sbatch", &[&arguments[..], &["--exclusive", "-o/dev/null", "--wrap=sleep 3000"]].concat());
    }
    let _daemon = cluster.start_queuecastd();
    wait_for("a plan with two jobs that wait", PATIENCE, || (asked(&cluster, "/v1/queue", &[])?["pending_jobs"] == 2).then_some(()));
    // Both are asked of the same snapshot, in the same second, sooner or later.
    wait_for("the same queue", PATIENCE, || {
        let (told, listed) = (asked(&cluster, "/v1/queue", &[])?, printed(&cluster, &["queue", "--json"]));
        (told == listed && told["jobs"].as_array().is_some_and(|jobs| jobs.len() == 2)).then_some(())
    });
    let request = "{\"nodes\": 2, \"limit_s\": 300, \"auto_mold\": true}";
    wait_for("the same forecast", PATIENCE, || {
        let mut told = asked(&cluster, "/v1/predict", &["--data", request])?;
        let mut forecast = printed(&cluster, &["predict", "-N2", "-t5", "--exclusive", "--auto-mold", "--json"]);
        // The command tells of options of sbatch as well.
        leave_out(&mut forecast, &["sbatch_options", "notes"]);
        leave_out(&mut told, &["notes"]);
        (told == forecast && told["plan"]["expected_start"].is_i64()).then_some(())
    });
}
