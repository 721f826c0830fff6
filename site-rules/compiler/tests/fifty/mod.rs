//! Fifty rules of five kinds, of which five match one job and none another.

#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use job_types::number::UserId;
use job_types::time::{Seconds, UnixTime};
use rules_compiler::{Source, compile};
use site_rules::apply::apply;
use site_rules::field::{FieldNumber, Fields, Name};
use site_rules::outcome::NoObserver;
use site_rules::rules::RuleSet;
use site_rules::scratch::Memory;
use site_rules::submission::{NoForecasts, Request, Submission, User};
use site_rules::value::{Resources, Texts, Value};
use std::fmt::Write as _;

/// A job of GPUs, or of none.
struct Job {
    has_gpus: bool,
}

impl Fields for Job {
    fn field(&self, field: FieldNumber) -> Option<Value<'_>> {
        let name = field.name()?;
        if name.is_derived() {
            return site_rules::derived::value(name, self);
        }
        Some(match name {
            Name::Partition => Value::Text(if self.has_gpus { "gpu3" } else { "short" }),
            Name::TimeLimit => Value::Duration(Seconds(if self.has_gpus { 4 * 86_400 } else { 3_600 })),
            Name::MinNodes => Value::Integer(if self.has_gpus { 3 } else { 1 }),
            Name::NumTasks => Value::Integer(4),
            Name::CpusPerTask => Value::Integer(8),
            Name::TresPerNode if self.has_gpus => Value::Resources(Resources("gres/gpu:a100:2,gres/shard:4")),
            Name::MemoryPerNode => Value::Integer(64 << 30),
            Name::JobName => Value::Text("simulation-of-proteins"),
            Name::Account => Value::Text("physics"),
            Name::WorkDir => Value::Text("/scratch/physics/ann/run-17"),
            Name::IsBatch => Value::Truth(true),
            _ => return None,
        })
    }

    fn variable(&self, _: &str) -> Option<&str> {
        None
    }
}

/// Ten rules each that bound a time limit, look at GPUs, match a name, ask for a group, and look
/// something up.
pub(crate) fn text() -> String {
    let mut text = "[tables.nodes]\nrows = { gpu1 = 1, gpu2 = 2, gpu3 = 2, gpu4 = 4, gpu5 = 5 }\n".to_owned();
    for number in 0..10 {
        let name = format!("gpu{number}");
        write!(
            text,
            r#"
            [[rule]]
            name = "time-{number}"
            when = 'has(job.partition) && job.partition == "{name}" && has(job.time_limit) && job.time_limit > limit("3-0")'
            cap = {{ time_limit = "3-00:00:00" }}

            [[rule]]
            name = "gpus-{number}"
            when = 'has(job.partition) && job.partition == "{name}" && has(job.tres_per_node) && job.tres_per_node.exists(r, r.kind == "gpu" && r.type == "a100" && r.count >= 2)'
            append = {{ features = "nvlink" }}

            [[rule]]
            name = "name-{number}"
            when = 'job.gpus > 0 && job.?name.orValue("").matches("^(simulation|training)-.*{}$")'
            set = {{ comment = "name {number}" }}

            [[rule]]
            name = "group-{number}"
            when = 'job.gpus > 0 && has(user.groups) && "group{number}" in user.groups && has(job.work_dir) && job.work_dir.startsWith("/scratch")'
            set = {{ qos = "q{number}" }}

            [[rule]]
            name = "nodes-{number}"
            when = 'has(job.partition) && job.partition.endsWith("{number}") && job.partition in tables.nodes && has(job.min_nodes) && job.min_nodes > tables.nodes[job.partition]'
            warn = "{{job.partition}} gives at most {{tables.nodes[job.partition]}} nodes"
            "#,
            if number == 3 { "proteins" } else { "atoms" },
        )
        .unwrap();
    }
    text
}

/// Compiles them.
pub(crate) fn compiled(text: &str) -> RuleSet {
    let read_file = |_: &str| Err("no file".to_owned());
    let compiled =
        compile(&[Source { name: "rules.toml".to_owned(), text: text.to_owned(), is_configuration: false, read_file: &read_file }]);
    let problems = compiled.problems;
    compiled.rules.unwrap_or_else(|| panic!("{problems:?}"))
}

/// The rules as a plugin reads them.
pub(crate) fn rules() -> RuleSet {
    site_rules::file::decode(&site_rules::file::encode(&compiled(&text())).unwrap()).unwrap()
}

/// How many fields are written and warnings given.
fn apply_to(job: &Job, rules: &RuleSet, memory: &mut Memory) -> (usize, usize) {
    let user = User {
        name: Some("ann"),
        id: UserId(1_000),
        groups: Some(Texts::Separated("users,physics,group3", ',')),
        is_root: false,
        is_operator: false,
        submissions_last_hour: None,
        jobs: None,
    };
    let now = UnixTime(1_795_425_000);
    let submission = Submission { request: Request::Submit, now, job, asked: job, current: None, user, forecasts: &NoForecasts };
    let outcome = apply(rules, &submission, memory, &mut NoObserver);
    (outcome.writes.len(), outcome.warnings.len())
}

/// Applies the rules to both submissions, whatever they make of them.
pub(crate) fn apply_any(rules: &RuleSet, memory: &mut Memory) {
    apply_to_gpu_job(rules, memory);
    apply_to_plain_job(rules, memory);
}

/// A submission that five rules match.
pub(crate) fn apply_to_gpu_job(rules: &RuleSet, memory: &mut Memory) -> (usize, usize) {
    apply_to(&Job { has_gpus: true }, rules, memory)
}

/// A submission that none matches.
pub(crate) fn apply_to_plain_job(rules: &RuleSet, memory: &mut Memory) -> (usize, usize) {
    apply_to(&Job { has_gpus: false }, rules, memory)
}
