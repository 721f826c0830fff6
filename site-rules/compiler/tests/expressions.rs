//! What expressions say of a job, and what is said of those that are wrong.

#![allow(clippy::unwrap_used, clippy::panic)]

use job_types::number::UserId;
use job_types::time::{Seconds, UnixTime};
use rules_compiler::expression::check::{Names, TableNames};
use rules_compiler::expression::emit::Emitter;
use rules_compiler::expression::facts::Facts;
use rules_compiler::expression::{on_large_stack, parse, read};
use rules_compiler::problem::ExpressionError;
use site_rules::evaluate::{Evaluator, NothingWritten, Steps, evaluate};
use site_rules::fault::Fault;
use site_rules::field::{FIELDS, FieldNumber, Fields};
use site_rules::scratch::Scratch;
use site_rules::submission::{NoForecasts, Request, Submission, User};
use site_rules::table::{Column, Table};
use site_rules::value::{Resources, Texts, Value};
use site_rules::verify::verify;

struct Job;

impl Fields for Job {
    fn field(&self, field: FieldNumber) -> Option<Value<'_>> {
        Some(match FIELDS[usize::from(field.0)].name {
            "partition" => Value::Text("GPU-long"),
            "time_limit" => Value::Duration(Seconds(90_000)),
            "min_nodes" => Value::Integer(4),
            "is_batch" => Value::Truth(true),
            "argv" => Value::Texts(Texts::Separated("job.sh --fast -n", ' ')),
            "tres_per_node" => Value::Resources(Resources("gres/gpu:a100:2,gres/shard:4")),
            "begin_time" => Value::Moment(UnixTime(1_795_425_000)),
            _ => return None,
        })
    }

    fn variable(&self, name: &str) -> Option<&str> {
        (name == "HOME").then_some("/home/a")
    }
}

fn tables() -> (Vec<Table>, Vec<TableNames>) {
    let keys = ["GPU-long", "short"].map(Into::into).to_vec();
    let columns = vec![Column::Integers(vec![8, 1]), Column::Texts(["a", "b"].map(Into::into).to_vec())];
    let names = [("nodes".to_owned(), site_rules::value::Kind::Integer), ("owner".to_owned(), site_rules::value::Kind::Text)];
    let wide = TableNames { name: "limits".to_owned(), columns: names.to_vec(), sparse: Vec::new() };
    let narrow = TableNames { name: "nodes".to_owned(), columns: names[..1].to_vec(), sparse: Vec::new() };
    let table = Table { keys: keys.clone(), columns };
    (vec![table.clone(), Table { keys, columns: table.columns[..1].to_vec() }], vec![wide, narrow])
}

fn compiled(text: &str) -> Result<site_rules::program::Program, ExpressionError> {
    let (tables, names) = tables();
    let names = Names { fields: FIELDS, tables: &names };
    on_large_stack(|| {
        let checked = read(text, names, &Facts::default())?;
        let mut emitter = Emitter::new(tables);
        emitter.add(&checked.node).map_err(|message| ExpressionError { offset: 0, message })?;
        Ok(emitter.finish())
    })
    .unwrap()
}

/// The value in text, or the fault.
fn value(text: &str) -> Result<String, Fault> {
    let program = compiled(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    verify(&program, FIELDS).unwrap_or_else(|error| panic!("{text}: {error} {:?}", program.code));
    let mut memory = [0; 512];
    let user = User {
        name: Some("ann"),
        id: UserId(1_000),
        groups: Some(Texts::Separated("users,physics", ',')),
        is_root: false,
        is_operator: false,
        submissions_last_hour: None,
    };
    let now = UnixTime(1_795_425_000);
    let submission = Submission { request: Request::Submit, now, job: &Job, current: None, user, forecasts: &NoForecasts };
    let value = evaluate(
        Evaluator {
            program: &program,
            submission: &submission,
            written: &NothingWritten,
            scratch: &mut Scratch::within(&mut memory),
            steps: &mut Steps(10_000),
        },
        program.expressions[0],
    )?;
    Ok(match value {
        Value::Truth(truth) => truth.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text.to_owned(),
        Value::Duration(duration) => format!("{}s", duration.0),
        Value::Moment(at) => at.0.to_string(),
        Value::Texts(texts) => texts.iter().collect::<Vec<_>>().join(","),
        Value::Resources(resources) => resources.0.to_owned(),
    })
}

#[test]
fn expressions_say_what_the_language_says() {
    for (text, expected) in [
        ("1 + 2 * 3", "7"),
        ("has(job.time_limit) && job.time_limit > limit('1-0')", "true"),
        ("has(job.time_limit) && job.time_limit > duration('24h') ? 'long' : 'short'", "long"),
        ("!has(job.account) || job.account == 'x'", "true"),
        ("has(job.account) ? job.account : 'none'", "none"),
        ("job.?account.orValue('none')", "none"),
        ("job.?min_nodes.orValue(1) * 2", "8"),
        ("job.?account.hasValue()", "false"),
        ("has(job.partition) && job.partition.startsWith('GPU')", "true"),
        ("job.?partition.orValue('').lowerAscii()", "gpu-long"),
        ("job.?partition.orValue('').matches('^[A-Z]{3}-(long|short)$')", "true"),
        ("job.?partition.orValue('') in ['a', 'GPU-long']", "true"),
        ("job.?min_nodes.orValue(0) in [1, 2, 4]", "true"),
        ("'physics' in user.?groups.orValue([])", "true"),
        ("has(user.name) && user.name + '@' + string(user.uid) == 'ann@1000'", "true"),
        ("job.argv.exists(a, a == '--fast')", "true"),
        ("job.argv.all(a, a.contains('-'))", "false"),
        ("job.argv.exists_one(a, a.startsWith('--'))", "true"),
        ("['-n', '--fast'].all(a, a in job.argv)", "true"),
        ("['x', 'y'].exists(a, ['y', 'z'].exists(b, a == b))", "true"),
        ("has(job.tres_per_node) && job.tres_per_node.exists(r, r.kind == 'gpu' && r.type == 'a100' && r.count == 2)", "true"),
        ("has(job.tres_per_node) && size(job.tres_per_node) == 2", "true"),
        ("job.argv[1]", "--fast"),
        ("'HOME' in job.environment && job.environment['HOME'].startsWith('/home')", "true"),
        ("job.environment[?'TMPDIR'].orValue('/tmp')", "/tmp"),
        ("job.?partition.orValue('') in tables.nodes", "true"),
        ("has(job.partition) && job.partition in tables.nodes ? tables.nodes[job.partition] : 0", "8"),
        ("has(job.partition) && job.partition in tables.limits && tables.limits[job.partition].owner == 'a'", "true"),
        ("tables.limits[?'nowhere'].nodes.orValue(3)", "3"),
        ("bytes('2G') / 1024", "2097152"),
        ("now.getHours('Europe/Berlin')", "10"),
        ("now.getDayOfWeek()", "1"),
        ("(now + duration('24h')).getDate('+01:00')", "24"),
        ("now - timestamp('2026-11-23T09:00:00Z') < duration('1h')", "true"),
        ("kind == 'submit' && !current.known", "true"),
        ("forecast.knows('gpu') && forecast.wait('gpu', 0.9) > duration('1h')", "false"),
        ("1 / 0 == 1 || true", "true"),
        ("true || 1 / 0 == 1", "true"),
        ("['a'].exists(x, 1 / 0 == 1 || x == 'a')", "true"),
        ("['a', 'b'].exists(x, (x == 'a' ? 1 / 0 : 1) == 1)", "true"),
    ] {
        assert_eq!(value(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn what_has_no_value_says_why() {
    for (text, expected) in [
        ("job.min_nodes_unused == 1", None),
        ("1 / 0", Some(Fault::DivisionByZero)),
        ("1 / 0 == 1 && true", Some(Fault::DivisionByZero)),
        ("9223372036854775807 + 1", Some(Fault::Overflow)),
        ("0.0 / 0.0 < 1.0", Some(Fault::NotComparable)),
        ("int('12x')", Some(Fault::Conversion)),
        ("job.argv[7]", Some(Fault::NoSuchElement)),
        ("job.is_batch && has(current.partition)", Some(Fault::CurrentUnknown)),
        (
            "job.argv.all(a, ['1', '2'].all(b, ['1', '2'].all(c, a + b + c + job.argv[0] + job.argv[0] + job.argv[0] + job.argv[0] != '')))",
            Some(Fault::TextsTooLong),
        ),
    ] {
        match expected {
            Some(fault) => assert_eq!(value(text), Err(fault), "{text}"),
            None => drop(compiled(text).unwrap_err()),
        }
    }
}

#[test]
fn errors_say_where_they_are_and_what_was_expected() {
    for (text, offset, part) in [
        ("job.time_limt > duration('1h')", 3, "unknown field job.time_limt; did you mean time_limit?"),
        ("job.time_limit > duration('1h')", 3, "job.time_limit may be absent: test it before, as in has(job.time_limit) && ..."),
        ("has(job.account) || job.account == 'a'", 23, "may be absent"),
        ("partition == 'a'", 0, "did you mean job.partition?"),
        ("user.nme == 'a'", 4, "did you mean name?"),
        ("job.is_batch == 1", 13, "== can't be used with bool and int"),
        ("job.?min_nodes.orValue(1) > 1.5", 26, "write double(...) around the int"),
        ("job.?time_limit.orValue(60)", 24, "this is of type int, where duration is expected"),
        ("job.is_batch && 1", 16, "this is of type int, where bool is expected"),
        ("job.argv.map(a, a + 'x')", 12, "ask by all, exists"),
        ("job.argv.join(',') == ''", 13, "would make a list"),
        ("'x' in tables.nods", 13, "unknown table tables.nods; did you mean nodes?"),
        ("tables.nodes['x']", 12, "may be missing"),
        ("tables.limits['x'] == 1", 13, "which column? tables.limits[key] has nodes, owner"),
        ("job.?partition.orValue('').matches('(')", 35, "can't be used"),
        ("'a'.startWith('b')", 13, "did you mean startsWith?"),
        ("now.getHours('Europe/Berln')", 12, "is not a time zone"),
        ("limit('x') > limit('1')", 5, "is not a duration"),
        ("1u == 1", 0, "no unsigned"),
        ("job.partition ==", 16, "this is no expression"),
        ("job", 0, "what of it?"),
    ] {
        let error = compiled(text).unwrap_err();
        assert!(error.message.contains(part), "{text}: {error}");
        assert_eq!(error.offset, offset, "{text}: {error}");
    }
}

#[test]
fn what_would_take_the_parser_too_much_stack_or_memory_is_refused_before_it() {
    // Of cel's issue 306: 125 bytes of which its parser made 1.1 GB, until it bounded its recovery.
    let memory = "!!(!!!!!!(!!!!(((((!!(!!(!!!!((".repeat(4) + "1";
    let nested = format!("{}1{}", "(".repeat(48), ")".repeat(48));
    let lists = format!("{}1{}", "[".repeat(48), "]".repeat(48));
    let long = format!("'{}' == ''", "x".repeat(parse::LONGEST));
    let choices = "true ? 1 : ".repeat(64) + "1";
    for text in [memory, nested, lists, long, choices] {
        let error = compiled(&text).unwrap_err();
        assert!(!error.message.contains("no expression"), "{error}");
    }
}

#[test]
fn the_deepest_expression_that_is_allowed_is_parsed() {
    let deepest = format!("{}true{}", "(".repeat(parse::DEEPEST), ")".repeat(parse::DEEPEST));
    assert_eq!(value(&deepest).as_deref(), Ok("true"));
    let calls = format!("{}'a'{}", "string(".repeat(parse::DEEPEST), ")".repeat(parse::DEEPEST));
    assert_eq!(value(&calls).as_deref(), Ok("a"));
    let long = "1 + ".repeat(1_000) + "1";
    assert_eq!(value(&long).as_deref(), Ok("1001"));
    let choices = "has(job.account) ? 1 : ".repeat(parse::MOST_CHOICES) + "2";
    assert_eq!(value(&choices).as_deref(), Ok("2"));
}

#[test]
fn the_longest_expressions_are_refused_or_compiled_without_running_out_of_stack() {
    let most = parse::LONGEST;
    for (text, is_right) in [
        ("job".to_owned() + &".b".repeat(most / 2 - 2), false),
        ("job.argv".to_owned() + &"[0]".repeat(most / 3 - 4), false),
        ("job.is_batch && ".repeat(most / 16 - 1) + "true", true),
        ("1+".repeat(most / 2 - 5) + "job.argc", true),
        ("job.argv.exists(a, ".repeat(parse::DEEPEST) + "true" + &")".repeat(parse::DEEPEST), false),
    ] {
        assert_eq!(compiled(&text).map(|_| ()).map_err(|error| error.message).is_ok(), is_right, "{text}");
    }
}
