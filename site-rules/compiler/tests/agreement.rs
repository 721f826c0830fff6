//! Our evaluation of expressions is held against the interpreter of the crate `cel`: on any
//! expression of right types and any values, both have the same value, or both have none.

#![allow(clippy::unwrap_used, clippy::panic)]

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
use site_rules::value::{Kind, Texts, Value};
use site_rules::verify::verify;
use std::collections::HashMap;
use std::sync::Arc;

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
            name => panic!("{name}"),
        }
    }

    fn variable(&self, _: &str) -> Option<&str> {
        None
    }
}

/// Choices that are made one after the other, all 0 behind the last.
struct Choices<'c>(std::slice::Iter<'c, u16>);

impl Choices<'_> {
    fn of(&mut self, count: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or(0)) % count
    }

    fn one<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.of(texts.len())]
    }
}

/// The text of an expression of a kind; `elements` are the variables of the loops that it is in.
fn expression(kind: Kind, depth: usize, elements: &[String], choices: &mut Choices<'_>) -> String {
    if depth == 0 {
        return atom(kind, elements, choices);
    }
    let choice = choices.of(12);
    if choice == 1 {
        return atom(kind, elements, choices);
    }
    let mut of = |kind: Kind| expression(kind, depth - 1, elements, choices);
    if choice == 0 {
        return format!("({} ? {} : {})", of(Kind::Truth), of(kind), of(kind));
    }
    match kind {
        Kind::Truth => match choice {
            2 => format!("({} && {})", of(Kind::Truth), of(Kind::Truth)),
            3 => format!("({} || {})", of(Kind::Truth), of(Kind::Truth)),
            4 => format!("(!{})", of(Kind::Truth)),
            5 => {
                let kinds = [Kind::Integer, Kind::Real, Kind::Text, Kind::Duration, Kind::Moment, Kind::Truth];
                let kind = kinds[choices.of(kinds.len())];
                let operator = choices.one(&["==", "!=", "<", "<=", ">", ">="]);
                let mut of = |kind| expression(kind, depth - 1, elements, choices);
                format!("({} {operator} {})", of(kind), of(kind))
            }
            6 => {
                let function = choices.one(&["startsWith", "endsWith", "contains"]);
                let mut of = |kind| expression(kind, depth - 1, elements, choices);
                format!("{}.{function}({})", of(Kind::Text), of(Kind::Text))
            }
            7 => {
                let pattern = choices.one(&["^a", "b$", "[a-c]+", "^(x|ab)*$", "", "é", "."]);
                format!("{}.matches('{pattern}')", expression(Kind::Text, depth - 1, elements, choices))
            }
            8 | 9 => {
                let function = choices.one(&["all", "exists", "exists_one"]);
                let list = texts(choices);
                let variable = format!("v{}", elements.len());
                let mut within = elements.to_vec();
                within.push(variable.clone());
                format!("{list}.{function}({variable}, {})", expression(Kind::Truth, depth - 1, &within, choices))
            }
            10 => {
                let list = texts(choices);
                format!("({} in {list})", expression(Kind::Text, depth - 1, elements, choices))
            }
            _ => format!("({} in [1, {}, 4])", of(Kind::Integer), of(Kind::Integer)),
        },
        Kind::Integer => match choice {
            2..=5 => {
                let operator = choices.one(&["+", "-", "*", "/", "%"]);
                let mut of = |kind| expression(kind, depth - 1, elements, choices);
                format!("({} {operator} {})", of(kind), of(kind))
            }
            6 => format!("(-{})", of(Kind::Integer)),
            7 => format!("size({})", of(Kind::Text)),
            8 => format!("int({})", of(Kind::Real)),
            9 => format!("int({})", of(Kind::Text)),
            10 => {
                let part = choices.one(&[
                    "getFullYear",
                    "getMonth",
                    "getDate",
                    "getDayOfMonth",
                    "getDayOfWeek",
                    "getDayOfYear",
                    "getHours",
                    "getMinutes",
                    "getSeconds",
                    "getMilliseconds",
                ]);
                let zone = choices.one(&["", "'UTC'", "'Europe/Berlin'", "'+05:30'", "'-08:00'"]);
                // Changes of clocks are put down from 1970 to 2100 alone.
                let depth = if zone.contains("Berlin") { 0 } else { depth - 1 };
                format!("{}.{part}({zone})", expression(Kind::Moment, depth, elements, choices))
            }
            _ => {
                let part = choices.one(&["getHours", "getMinutes", "getSeconds"]);
                format!("{}.{part}()", expression(Kind::Duration, depth - 1, elements, choices))
            }
        },
        Kind::Real => match choice {
            2..=7 => {
                let operator = choices.one(&["+", "-", "*", "/"]);
                let mut of = |kind| expression(kind, depth - 1, elements, choices);
                format!("({} {operator} {})", of(kind), of(kind))
            }
            8 => format!("(-{})", of(Kind::Real)),
            9 => format!("double({})", of(Kind::Text)),
            _ => format!("double({})", of(Kind::Integer)),
        },
        Kind::Text => match choice {
            2..=5 => format!("({} + {})", of(Kind::Text), of(Kind::Text)),
            6 => format!("string({})", of(Kind::Integer)),
            7 => format!("string({})", of(Kind::Truth)),
            8 => format!("string({})", of(Kind::Duration)),
            9 => format!("string({})", of(Kind::Moment)),
            10 => format!("string({})", of(Kind::Real)),
            _ => format!("job.argv[{}]", of(Kind::Integer)),
        },
        Kind::Duration => match choice {
            2..=5 => format!("({} + {})", of(kind), of(kind)),
            6..=8 => format!("({} - {})", of(kind), of(kind)),
            _ => format!("({} - {})", of(Kind::Moment), of(Kind::Moment)),
        },
        Kind::Moment => match choice {
            2..=5 => format!("({} + {})", of(kind), of(Kind::Duration)),
            6..=8 => format!("({} - {})", of(kind), of(Kind::Duration)),
            _ => format!("({} + {})", of(Kind::Duration), of(kind)),
        },
        _ => texts(choices),
    }
}

fn texts(choices: &mut Choices<'_>) -> String {
    choices.one(&["job.argv", "['a']", "['ab', 'b', '']", "['1', 'x', 'x']"]).to_owned()
}

fn atom(kind: Kind, elements: &[String], choices: &mut Choices<'_>) -> String {
    let literal = match kind {
        Kind::Truth => {
            choices.one(&["job.is_batch", "true", "false", "has(job.partition)", "has(job.min_nodes)", "(!has(job.time_limit))"])
        }
        Kind::Integer => choices.one(&["0", "1", "2", "3", "7", "100", "9223372036854775807", "(has(job.min_nodes) ? job.min_nodes : 5)"]),
        Kind::Real => choices.one(&["0.0", "1.0", "0.5", "2.25", "1e18", "1e300", "0.1"]),
        Kind::Text => match (choices.of(9), elements.last()) {
            (0 | 1, Some(element)) => element,
            (2 | 3, _) => "(has(job.partition) ? job.partition : 'none')",
            (other, _) => ["''", "'a'", "'ab'", "'12'", "'-7'", "'1.5'", "'é'", "'x'", "'b'"][other],
        },
        Kind::Duration => choices.one(&[
            "duration('1h30m')",
            "duration('-90s')",
            "duration('0')",
            "duration('2562047h')",
            "(has(job.time_limit) ? job.time_limit : duration('1m'))",
        ]),
        Kind::Moment => choices.one(&[
            "timestamp('2026-11-23T09:10:00Z')",
            "timestamp('2026-03-29T01:30:00Z')",
            "timestamp('1999-12-31T23:59:59Z')",
            "timestamp('2000-02-29T12:00:00Z')",
            "(has(job.begin_time) ? job.begin_time : timestamp('2024-07-01T00:00:00Z'))",
        ]),
        _ => return texts(choices),
    };
    literal.to_owned()
}

/// A value that both can be compared by.
#[derive(Debug, PartialEq)]
enum Outcome {
    Value(String),
    None,
}

fn by_cel(text: &str, job: &Job) -> Outcome {
    let program = cel::Program::compile(text).unwrap_or_else(|error| panic!("{text}: {error}"));
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
    let mut context = cel::Context::default();
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
    let user = User { name: None, id: UserId(0), groups: None, is_root: false, is_operator: false, submissions_last_hour: None };
    let submission = Submission { request: Request::Submit, now: UnixTime(0), job, current: None, user, forecasts: &NoForecasts };
    let evaluator = Evaluator {
        program,
        submission: &submission,
        written: &NothingWritten,
        scratch: &mut Scratch::new(&mut memory),
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
        let text = expression(KINDS[kind], depth, &[], &mut Choices(choices.iter()));
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
        let text = expression(Kind::Truth, depth, &[], &mut Choices(choices.iter()));
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
