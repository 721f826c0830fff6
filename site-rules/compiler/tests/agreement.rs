//! Our evaluation of expressions is held against the interpreter of the crate `cel`: on any
//! expression of right types and any values, both have the same value, or both have none.

#![allow(clippy::unwrap_used, clippy::panic)]

mod well_typed;

use chrono::{DateTime, TimeDelta};
use job_types::number::UserId;
use job_types::time::{Seconds, UnixTime};
use proptest::prelude::*;
use rules_compiler::expression::check::Names;
use rules_compiler::expression::emit::Emitter;
use rules_compiler::expression::facts::Facts;
use rules_compiler::expression::{on_large_stack, read};
use site_rules::evaluate::{Evaluator, NothingWritten, Steps, evaluate};
use site_rules::fault::Fault;
use site_rules::field::{FIELDS, FieldNumber, Fields};
use site_rules::program::Program;
use site_rules::scratch::Scratch;
use site_rules::submission::{NoForecasts, Request, Submission, User};
use site_rules::value::{Kind, Resources, Texts, Value};
use site_rules::verify::verify;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use well_typed::{Choices, expression};

/// What a job has in the fields that expressions are made of.
#[derive(Clone, Debug)]
struct Job {
    partition: Option<String>,
    min_nodes: Option<i64>,
    time_limit: Option<i64>,
    begin_time: Option<i64>,
    is_batch: bool,
    argv: Vec<String>,
    separated: String,
}

impl Fields for Job {
    fn field(&self, field: FieldNumber) -> Option<Value<'_>> {
        match FIELDS[usize::from(field.0)].name {
            "partition" => self.partition.as_deref().map(Value::Text),
            "min_nodes" => self.min_nodes.map(Value::Integer),
            "time_limit" => self.time_limit.map(|seconds| Value::Duration(Seconds(seconds))),
            "begin_time" => self.begin_time.map(|at| Value::Moment(UnixTime(at))),
            "is_batch" => Some(Value::Truth(self.is_batch)),
            "argv" => Some(Value::Texts(Texts::Separated(&self.separated, ' '))),
            "licenses" => Some(Value::Text("a:2,ab")),
            "tres_per_node" => Some(Value::Resources(Resources("gres/gpu:a:2,gpu:1"))),
            _ => None,
        }
    }

    fn variable(&self, _: &str) -> Option<&str> {
        None
    }
}

/// A value that both can be compared by.
#[derive(Debug, PartialEq)]
enum Outcome {
    Value(String),
    None,
}

/// The language with its extension for texts.
static LANGUAGE: LazyLock<Arc<cel::Env>> = LazyLock::new(|| {
    let mut language = cel::Env::stdlib();
    language.add_extension(cel::extensions::strings).unwrap();
    Arc::new(language)
});

fn by_cel(text: &str, job: &Job) -> Outcome {
    let program = LANGUAGE.compile(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut fields: HashMap<String, cel::Value> = HashMap::new();
    fields.insert("is_batch".into(), job.is_batch.into());
    fields.insert("argv".into(), job.argv.clone().into());
    if let Some(partition) = &job.partition {
        fields.insert("partition".into(), cel::Value::String(Arc::new(partition.clone())));
    }
    if let Some(number) = job.min_nodes {
        fields.insert("min_nodes".into(), cel::Value::Int(number));
    }
    if let Some(seconds) = job.time_limit {
        fields.insert("time_limit".into(), cel::Value::Duration(TimeDelta::seconds(seconds)));
    }
    if let Some(at) = job.begin_time {
        fields.insert("begin_time".into(), cel::Value::Timestamp(DateTime::from_timestamp(at, 0).unwrap().fixed_offset()));
    }
    let mut context = cel::Context::with_env(Arc::clone(&LANGUAGE));
    context.add_variable_from_value("job", fields);
    match program.execute(&context) {
        Err(_) => Outcome::None,
        Ok(value) => Outcome::Value(match value {
            cel::Value::Bool(truth) => truth.to_string(),
            cel::Value::Int(number) => number.to_string(),
            cel::Value::Float(number) => format!("{number:?}"),
            cel::Value::String(text) => text.to_string(),
            cel::Value::Duration(duration) => format!("{}s", duration.num_seconds()),
            cel::Value::Timestamp(at) => format!("@{}", at.timestamp()),
            other => panic!("{text}: {other:?}"),
        }),
    }
}

fn compiled(text: &str) -> Result<Program, String> {
    let names = Names { fields: FIELDS, tables: &[] };
    let checked = read(text, names, &Facts::default()).map_err(|error| error.to_string())?;
    let mut emitter = Emitter::default();
    emitter.add(&checked.node)?;
    Ok(emitter.finish())
}

fn by_ours(program: &Program, job: &Job) -> Result<String, Fault> {
    let mut memory = vec![0; 64 << 10];
    let user =
        User { name: None, id: UserId(0), groups: None, is_root: false, is_operator: false, submissions_last_hour: None, jobs: None };
    let submission =
        Submission { request: Request::Submit, now: UnixTime(0), job, asked: job, current: None, user, forecasts: &NoForecasts };
    let evaluator = Evaluator {
        program,
        submission: &submission,
        written: &NothingWritten,
        scratch: &mut Scratch::within(&mut memory),
        steps: &mut Steps(1_000_000),
    };
    Ok(match evaluate(evaluator, program.expressions[0])? {
        Value::Truth(truth) => truth.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => format!("{number:?}"),
        Value::Text(text) => text.to_owned(),
        Value::Duration(duration) => format!("{}s", duration.0),
        Value::Moment(at) => format!("@{}", at.0),
        other => panic!("{other:?}"),
    })
}

fn jobs() -> impl Strategy<Value = Job> {
    let text = "[abx12é-]{0,4}";
    let number = prop_oneof![-3..10_i64, any::<i64>()];
    // From 1970 to 2100, for which changes of clocks are put down.
    let moment = 0..4_000_000_000_i64;
    let duration = prop_oneof![-100_000..1_000_000_i64, -9_223_372_036..9_223_372_036_i64];
    (
        proptest::option::of(text),
        proptest::option::of(number),
        proptest::option::of(duration),
        proptest::option::of(moment),
        any::<bool>(),
        proptest::collection::vec("[abx12-]{1,3}", 0..4),
    )
        .prop_map(|(partition, min_nodes, time_limit, begin_time, is_batch, argv)| {
            let separated = argv.join(" ");
            Job { partition, min_nodes, time_limit, begin_time, is_batch, argv, separated }
        })
}

const KINDS: [Kind; 6] = [Kind::Truth, Kind::Integer, Kind::Real, Kind::Text, Kind::Duration, Kind::Moment];

proptest! {
    #![proptest_config(ProptestConfig { cases: 768, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_evaluations_agree(
        kind in 0..KINDS.len(),
        depth in 1..5_usize,
        choices in proptest::collection::vec(any::<u16>(), 0..200),
        job in jobs(),
    ) {
        let text = expression(KINDS[kind], depth, &[], &mut Choices(choices.iter(), false));
        let (ours, theirs) = on_large_stack(|| {
            let ours = compiled(&text).map(|program| {
                verify(&program, FIELDS).unwrap();
                by_ours(&program, &job)
            });
            (ours, by_cel(&text, &job))
        }).map_err(TestCaseError::fail)?;
        match ours {
            // Beyond the bounds of an expression there is nothing to agree about.
            Err(message) if message.contains("more than") || message.contains("longer than") => {}
            Err(message) => prop_assert!(false, "{text}: {message}"),
            // Memory and steps are bounded here alone.
            Ok(Err(Fault::TextsTooLong | Fault::Budget)) => {}
            Ok(Err(fault)) => prop_assert_eq!(Outcome::None, theirs, "{}: {}", text, fault),
            Ok(Ok(value)) => prop_assert_eq!(Outcome::Value(value), theirs, "{}", text),
        }
    }

    /// A program that was changed at any place is refused, or evaluates without meeting what it
    /// should not.
    #[test]
    fn a_changed_program_is_refused_or_evaluated(
        depth in 1..4_usize,
        choices in proptest::collection::vec(any::<u16>(), 0..100),
        job in jobs(),
        changes in proptest::collection::vec((any::<u16>(), any::<u16>()), 1..4),
    ) {
        let text = expression(Kind::Truth, depth, &[], &mut Choices(choices.iter(), true));
        let Ok(Ok(mut program)) = on_large_stack(|| compiled(&text)) else { return Ok(()) };
        for (from, to) in changes {
            let length = program.code.len();
            let other = program.code[usize::from(from) % length];
            program.code[usize::from(to) % length] = other;
        }
        if verify(&program, FIELDS).is_ok() {
            prop_assert_ne!(by_ours(&program, &job), Err(Fault::Program), "{:?}", program.code);
        }
    }
}
