//! What `queuecast status` tells.

use std::collections::BTreeMap;

use anyhow::Context;
use job_types::record::WaitSource;
use serde::Deserialize;
use serde_json::Value;

use crate::private_cluster::PrivateCluster;

/// What the waits of a partition are forecast from, and the reason for that.
#[derive(Debug, Deserialize)]
pub(super) struct WaitForecasts {
    #[serde(rename = "in_force")]
    pub(super) source: WaitSource,
    reason: String,
}

impl WaitForecasts {
    /// Whether there are trees, in force or not.
    pub(super) fn has_trees(&self) -> bool {
        self.reason != "not_trained"
    }
}

#[derive(Debug, Deserialize)]
struct Partition {
    name: String,
    wait_forecasts: Option<WaitForecasts>,
}

/// The report.
#[derive(Debug)]
pub(super) struct Status(pub(super) Value);

impl PrivateCluster {
    /// # Errors
    ///
    /// Where `queuecast status` fails, or a signal has come.
    pub(super) fn status(&self) -> anyhow::Result<Status> {
        Ok(Status(self.report("status")?))
    }
}

impl Status {
    /// The sum of the whole numbers under a key, wherever it stands: over all partitions, or over
    /// the parts of a count.
    pub(super) fn sum_of(&self, key: &str) -> u64 {
        sum_of(&self.0, key)
    }

    /// The number of the snapshot.
    pub(super) fn generation(&self) -> anyhow::Result<u64> {
        self.0["snapshot"]["generation"].as_u64().context("queuecast status tells no generation")
    }

    /// The forecasts of each partition whose waits are forecast, by its name.
    pub(super) fn wait_forecasts(&self) -> anyhow::Result<BTreeMap<String, WaitForecasts>> {
        let partitions = Vec::<Partition>::deserialize(&self.0["partitions"]).context("the partitions of queuecast status")?;
        Ok(partitions.into_iter().filter_map(|Partition { name, wait_forecasts }| Some((name, wait_forecasts?))).collect())
    }
}

fn sum_of(value: &Value, key: &str) -> u64 {
    match value {
        Value::Object(fields) => {
            let own = fields.get(key).and_then(Value::as_u64).unwrap_or(0);
            own + fields.values().map(|field| sum_of(field, key)).sum::<u64>()
        }
        Value::Array(values) => values.iter().map(|value| sum_of(value, key)).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_added_up_wherever_they_stand() {
        let status = Status(json!({
            "partitions": [{"nodes": 3, "queue": {"nodes": 4}}, {"nodes": 5}],
            "nodes": "all",
            "other": 9,
        }));
        assert_eq!(status.sum_of("nodes"), 12);
        assert_eq!(status.sum_of("jobs"), 0);
    }

    #[test]
    fn partitions_without_forecasts_of_waits_are_left_out() {
        let status = Status(json!({"partitions": [
            {"name": "short", "wait_forecasts": {"in_force": "blended", "reason": "calibrated", "jobs_scored": 8}},
            {"name": "long", "wait_forecasts": null},
            {"name": "medium", "wait_forecasts": {"in_force": "none", "reason": "not_trained"}},
        ]}));
        let found = status.wait_forecasts().unwrap();
        let told: Vec<_> = found.iter().map(|(name, forecasts)| (name.as_str(), forecasts.source, forecasts.has_trees())).collect();
        assert_eq!(told, [("medium", WaitSource::Nothing, false), ("short", WaitSource::Blended, true)]);
    }
}
