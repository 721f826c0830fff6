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
use site_rules::submission::{NoForecasts, Request, Submission, User, UserJobs};
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
            "licenses" => Value::Text("matlab:2,ansys@db,matlab"),
            "license_names" => return site_rules::derived::value(site_rules::field::Name::LicenseNames, self),
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
    value_and_steps(text, &mut [0; 512]).0
}

/// How many steps an expression takes.
fn steps_of(text: &str) -> u32 {
    let (value, steps) = value_and_steps(text, &mut vec![0; 1 << 20]);
    value.unwrap_or_else(|fault| panic!("{text}: {fault}"));
    steps
}

fn value_and_steps(text: &str, memory: &mut [u8]) -> (Result<String, Fault>, u32) {
    let program = compiled(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    verify(&program, FIELDS).unwrap_or_else(|error| panic!("{text}: {error} {:?}", program.code));
    const MOST: u32 = 50_000;
    let mut steps = Steps(MOST);
    let user = User {
        name: Some("ann"),
        id: UserId(1_000),
        groups: Some(Texts::Separated("users,physics", ',')),
        is_root: false,
        is_operator: false,
        submissions_last_hour: None,
        jobs: Some(UserJobs { pending: 3, running: 2 }),
    };
    let now = UnixTime(1_795_425_000);
    let submission = Submission { request: Request::Submit, now, job: &Job, asked: &Job, current: None, user, forecasts: &NoForecasts };
    let value = evaluate(
        Evaluator {
            program: &program,
            submission: &submission,
            written: &NothingWritten,
            scratch: &mut Scratch::within(memory),
            steps: &mut steps,
        },
        program.expressions[0],
    );
    let taken = MOST - steps.0;
    (value.map(in_text), taken)
}

fn in_text(value: Value<'_>) -> String {
    match value {
        Value::Truth(truth) => truth.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text.to_owned(),
        Value::Duration(duration) => format!("{}s", duration.0),
        Value::Moment(at) => at.0.to_string(),
        Value::Texts(texts) => texts.iter().collect::<Vec<_>>().join(","),
        Value::Resources(resources) => resources.0.to_owned(),
    }
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
        ("tables.limits.exists(k, k == job.argv[0])", "false"),
        ("1 / 0 == 1 || true", "true"),
        ("true || 1 / 0 == 1", "true"),
        ("['a'].exists(x, 1 / 0 == 1 || x == 'a')", "true"),
        ("['a', 'b'].exists(x, (x == 'a' ? 1 / 0 : 1) == 1)", "true"),
    ] {
        assert_eq!(value(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn sub_expressions_have_names() {
    for (text, expected) in [
        ("cel.bind(n, job.?min_nodes.orValue(1) * 2, n > 4 && n < 10)", "true"),
        ("cel.bind(a, 'x', cel.bind(b, a + 'y', b + a))", "xyx"),
        ("cel.bind(a, 1, cel.bind(a, a + 1, a + 1))", "3"),
        ("cel.bind(l, job.argv.filter(a, a.startsWith('-')), size(l) == 2 && l[0] == '--fast')", "true"),
        ("cel.bind(r, job.?tres_per_node.orValue([]), true)", ""),
        ("has(job.tres_per_node) && cel.bind(r, job.tres_per_node, r.exists(x, x.kind == 'shard'))", "true"),
        ("job.argv.all(a, cel.bind(n, size(a), n > 1 && n < 9))", "true"),
        ("cel.bind(p, job.?partition.orValue(''), p in tables.nodes ? tables.nodes[p] : 0)", "8"),
        ("cel.bind(known, has(job.time_limit), known && job.time_limit > limit('1-0'))", "true"),
        ("cel.bind(n, 2, has(job.min_nodes) && job.min_nodes > n) && job.min_nodes < 9", "true"),
        // A value that is not needed is not asked for.
        ("cel.bind(n, 1 / 0, true)", "true"),
        ("cel.bind(n, 1 / 0, n == 1 || true)", "true"),
        ("(job.is_batch ? cel.bind(a, 1, a) : cel.bind(b, 2, b)) + 1", "2"),
    ] {
        if expected.is_empty() {
            compiled(text).unwrap_err();
        } else {
            assert_eq!(value(text).as_deref(), Ok(expected), "{text}");
        }
    }
}

#[test]
fn lists_are_filtered_mapped_and_joined() {
    for (text, expected) in [
        ("job.argv.filter(a, a.startsWith('-'))", "--fast,-n"),
        ("job.argv.filter(a, a.startsWith('-')).join(' ')", "--fast -n"),
        ("job.argv.filter(a, false).join(' ')", ""),
        ("size(job.argv.filter(a, a == 'x'))", "0"),
        ("job.argv.map(a, a.upperAscii() + '!').join()", "JOB.SH!--FAST!-N!"),
        ("job.argv.map(a, size(a) > 2, a + a)[0]", "job.shjob.sh"),
        ("job.argv.map(a, a.substring(0, 1)).filter(a, a != '-').join(',')", "j"),
        ("['a', '', 'b'].filter(a, true).join('-')", "a--b"),
        ("size(['', ''].map(a, ''))", "2"),
        ("'x' in job.argv.map(a, 'x')", "true"),
        ("job.argv.filter(a, job.argv.filter(b, b == a).size() == 1).join(',')", "job.sh,--fast,-n"),
        ("job.argv.exists(a, ['--fast'].filter(b, b == a).size() > 0)", "true"),
        ("has(job.tres_per_node) ? job.tres_per_node.filter(r, r.kind != 'shard').join(',') : ''", "gres/gpu:a100:2"),
        ("has(job.tres_per_node) ? size(job.tres_per_node.filter(r, r.count > 1)) : 0", "2"),
        (
            "has(job.tres_per_node) ? job.tres_per_node.map(r, r.kind == 'gpu' ? r.withType('h100') : r.text).join(',') : ''",
            "gres/gpu:h100:2,gres/shard:4",
        ),
        (
            "has(job.tres_per_node) ? job.tres_per_node.map(r, r.kind == 'shard' ? r.withCount(r.count * 2) : r.text).join(',') : ''",
            "gres/gpu:a100:2,gres/shard:8",
        ),
        ("tables.limits.map(k, k).join(',')", "GPU-long,short"),
        ("tables.limits.filter(k, tables.limits[k].nodes > 4).map(k, tables.limits[k].owner).join(',')", "a"),
        ("tables.limits.all(k, tables.limits[k].nodes > 0) && size(tables.limits) == 2 && tables.limits.size() == 2", "true"),
    ] {
        assert_eq!(value(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn sums_and_extremes_are_of_lists_and_of_values() {
    for (text, expected) in [
        ("job.argv.map(a, size(a)).sum()", "14"),
        ("job.argv.map(a, size(a)).max() - job.argv.map(a, size(a)).min()", "4"),
        ("job.argv.map(a, size(a) > 2, size(a)).sum()", "12"),
        ("job.argv.map(a, 1.5).sum()", "4.5"),
        ("job.argv.map(a, duration('1m')).sum()", "180s"),
        ("job.argv.filter(a, false).map(a, 1).sum()", "0"),
        ("job.argv.min()", "--fast"),
        ("job.argv.filter(a, a != 'job.sh').max()", "-n"),
        ("has(job.tres_per_node) ? job.tres_per_node.map(r, r.count).sum() : 0", "6"),
        ("tables.limits.map(k, tables.limits[k].nodes).max()", "8"),
        ("[1, job.?min_nodes.orValue(0), 3].max()", "4"),
        ("[1, 2, 3].sum()", "6"),
        ("['b', 'a'].min()", "a"),
        ("math.least(3, job.?min_nodes.orValue(0), 9)", "3"),
        ("math.greatest(1.5, 2.5)", "2.5"),
        ("math.greatest(['b', 'c'])", "c"),
        ("math.greatest(job.argv.map(a, size(a)))", "6"),
        ("math.least(duration('1h'), has(job.time_limit) ? job.time_limit : duration('2h'))", "3600s"),
    ] {
        assert_eq!(value(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn texts_are_taken_apart_and_changed() {
    for (text, expected) in [
        ("'a,b,,c'.split(',')[3]", "c"),
        ("size('a,b,,c'.split(','))", "4"),
        ("size(''.split(','))", "1"),
        ("'äöü'.split('').join('-')", "ä-ö-ü"),
        ("'a=1;b=2'.split(';').exists(p, p.split('=')[1] == '2')", "true"),
        ("'a.b.c'.replace('.', '::')", "a::b::c"),
        ("'abc'.replace('', '-')", "-a-b-c-"),
        ("'abc'.replace('x', 'y') + 'abc'.replace('b', '')", "abcac"),
        ("'häuser'.substring(1)", "äuser"),
        ("'häuser'.substring(1, 3)", "äu"),
        ("'abc'.substring(3) + 'abc'.substring(2, 2)", ""),
        ("'häuser'.charAt(1) + 'a'.charAt(1)", "ä"),
        ("'häuserä'.indexOf('ä') * 10 + 'häuserä'.lastIndexOf('ä')", "16"),
        ("'abc'.indexOf('') + 'abc'.lastIndexOf('') + 'abc'.indexOf('x')", "2"),
        ("job.?partition.orValue('').split('-').map(p, p.lowerAscii()).join('_')", "gpu_long"),
    ] {
        assert_eq!(value(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn durations_are_multiplied_and_divided() {
    for (text, expected) in [
        ("duration('1h') * 2", "7200s"),
        ("3 * duration('90s')", "270s"),
        ("duration('1h') * 1.5", "5400s"),
        ("0.1 * duration('1m')", "6s"),
        ("duration('1h') / 7", "514s"),
        ("duration('-1m') / 0.7", "-85s"),
        ("(has(job.time_limit) ? job.time_limit : duration('0')) * 2 > limit('2-0')", "true"),
    ] {
        assert_eq!(value(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn gpus_are_counted_by_type_and_licences_by_name() {
    for (text, expected) in [
        ("job.gpuCount('a100')", "8"),
        ("job.gpuCount('h100') + job.gpuCount('')", "0"),
        ("job.licenseCount('matlab') * 10 + job.licenseCount('ansys@db')", "31"),
        ("job.license_names.join(' ')", "matlab ansys@db matlab"),
        ("job.license_names.exists(l, l.startsWith('ansys') && job.licenseCount(l) == 1)", "true"),
        ("asked.gpuCount('a100')", "8"),
        ("has(asked.partition) && asked.partition == job.?partition.orValue('')", "true"),
        ("'HOME' in asked.environment && asked.environment['HOME'] == '/home/a'", "true"),
        ("has(user.jobs_pending) && has(user.jobs_running) && user.jobs_pending * 10 + user.jobs_running == 32", "true"),
    ] {
        assert_eq!(value(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn what_is_made_costs_steps_by_its_length() {
    let steps = |text: &str, length: usize| {
        let text = text.replace("TEXT", &"x".repeat(length));
        steps_of(&text)
    };
    for text in [
        "job.argv.map(a, 'TEXT' + a).size() > 9",
        "job.argv.map(a, a + 'TEXT').join(',') == ''",
        "(job.argv[0] + 'TEXT').replace('x', 'yy') == ''",
        "(job.argv[0] + 'TEXT').split('.').all(p, p != '')",
        "(job.argv[0] + 'TEXT').substring(2, 4) == ''",
        "job.argv.filter(a, a + 'TEXT' != '').size() > 9",
        "job.argv.map(a, a + 'TEXT').max() == ''",
    ] {
        let (short, long) = (steps(text, 1), steps(text, 3_200));
        assert!(long >= short + 50, "{text}: {short} steps, and {long} of a long text");
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
        ("cel.bind(n, 1 / 0, n + 1) == 2", Some(Fault::DivisionByZero)),
        ("job.argv.filter(a, 1 / 0 == 1).size() == 0", Some(Fault::DivisionByZero)),
        ("job.argv.map(a, a == '-n' ? 1 / 0 : 1).sum() == 0", Some(Fault::DivisionByZero)),
        ("job.argv.filter(a, false).map(a, 1).max() == 0", Some(Fault::NoSuchElement)),
        ("job.argv.map(a, 9223372036854775807).sum() == 0", Some(Fault::Overflow)),
        ("'abc'.substring(4) == ''", Some(Fault::NoSuchElement)),
        ("'abc'.substring(-1) == ''", Some(Fault::NoSuchElement)),
        ("'abc'.substring(2, 1) == ''", Some(Fault::NoSuchElement)),
        ("'abc'.charAt(4) == ''", Some(Fault::NoSuchElement)),
        ("duration('1h') / 0 == duration('0')", Some(Fault::DivisionByZero)),
        ("duration('2562047h') * 2 == duration('0')", Some(Fault::Overflow)),
        ("duration('1h') / 0.0 == duration('0')", Some(Fault::Overflow)),
        ("has(job.tres_per_node) && job.tres_per_node.map(r, r.withType('a,b')).join('') == ''", Some(Fault::Conversion)),
        ("job.argv.map(a, job.argv.map(b, job.argv.map(c, job.argv.join(a)).join(b)).join(a)).join('') == ''", Some(Fault::TextsTooLong)),
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
        ("job.argv.map(a, size(a))", 20, "lists are of texts: write string(...), or make one value by map(...).sum()"),
        ("job.argv.map(job, 'x')", 12, "job is a name of its own"),
        ("cel.bind(user, 1, user == 1)", 8, "user is a name of its own"),
        ("cel.bind(n, 1)", 8, "a name, its value and an expression with it are expected"),
        ("job.argv.sum() == ''", 12, "sum can't be used with values of type string"),
        ("job.is_batch.sum() == 1", 3, "this is of type bool, where a list is expected"),
        ("'a'.replace(1, 'b')", 11, "replace can't be used with string, int and string"),
        ("'a'.gpuCount('b')", 12, "gpuCount is of a job"),
        ("'a'.withType('b')", 12, "withType is of a resource"),
        ("tables.limits.filter(k, true).map(k, tables.nodes[k])", 49, "the key may be missing"),
        ("asked.time_limit > duration('1h')", 5, "asked.time_limit may be absent"),
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
    // The text is that of cel's issue 306: 125 bytes of which its parser made 1.1 GB, until it
    // bounded its recovery.
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
