//! What files of rules do to a submission, and what is said of those that are wrong.

#![allow(clippy::unwrap_used, clippy::panic)]

use job_types::number::UserId;
use job_types::time::{Seconds, UnixTime};
use rules_compiler::problem::{Problem, Severity};
use rules_compiler::{Compiled, Source, compile};
use site_rules::apply::apply;
use site_rules::data::{KnownJob, OwnedValue};
use site_rules::fault::Fault;
use site_rules::field::{FieldNumber, Fields, Name};
use site_rules::file::{FileError, decode, encode};
use site_rules::outcome::{Observer, Report, Verdict};
use site_rules::rules::RuleSet;
use site_rules::scratch::Memory;
use site_rules::steps::Steps;
use site_rules::submission::{Current, NoForecasts, Request, Submission, User};
use site_rules::value::{Resources, Value};
use std::collections::BTreeMap;

/// A job with the fields that a test gives it.
#[derive(Clone, Default)]
struct Job(BTreeMap<&'static str, Value<'static>>);

impl Job {
    fn with(mut self, name: &'static str, value: Value<'static>) -> Self {
        assert!(FieldNumber::of(name).is_some(), "{name}");
        self.0.insert(name, value);
        self
    }
}

impl Fields for Job {
    fn field(&self, field: FieldNumber) -> Option<Value<'_>> {
        let name = field.name().unwrap();
        if name.is_derived() {
            return site_rules::derived::value(name, self);
        }
        self.0.get(field.get().unwrap().name).copied()
    }

    fn variable(&self, _: &str) -> Option<&str> {
        None
    }
}

fn compiled(text: &str) -> Compiled {
    let read_file = |path: &str| match path {
        "limits.csv" => Ok("partition,nodes,longest\ngpu,8,1-0\nshort,1,60\n".to_owned()),
        _ => Err("no such file".to_owned()),
    };
    compile(&[Source { name: "rules.toml".to_owned(), text: text.to_owned(), is_configuration: false, read_file: &read_file }])
}

fn rules(text: &str) -> RuleSet {
    let compiled = compiled(text);
    let problems: Vec<String> = compiled.problems.iter().map(ToString::to_string).collect();
    let rules = compiled.rules.unwrap_or_else(|| panic!("{problems:#?}"));
    assert!(compiled.problems.is_empty(), "{problems:#?}");
    // What is tested is what a plugin reads.
    decode(&encode(&rules).unwrap()).unwrap()
}

#[derive(Default)]
struct Matches(Vec<String>);

impl Observer for Matches {
    fn rule(&mut self, report: &Report<'_, '_>) {
        match report.verdict {
            Verdict::NotMatched => {}
            Verdict::Matched => self.0.push(format!("{}", report.rule.0)),
            Verdict::Failed(fault) => self.0.push(format!("{}: {fault}", report.rule.0)),
        }
    }
}

/// What rules do, in one line for each effect.
fn effects_for(rules: &RuleSet, request: Request, user: User<'_>, job: &Job) -> Vec<String> {
    let mut memory = Memory::default();
    let now = UnixTime(1_795_425_000);
    let submission = Submission { request, now, job, asked: job, current: None, user, forecasts: &NoForecasts };
    let mut matches = Matches::default();
    let outcome = apply(rules, &submission, &mut memory, &mut matches);
    let mut effects: Vec<String> = Vec::new();
    for write in &outcome.writes {
        let name = write.field.get().unwrap().name;
        effects.push(match write.value {
            None => format!("no {name}"),
            Some(Value::Text(text) | Value::Resources(Resources(text))) => format!("{name}={text}"),
            Some(Value::Integer(number)) => format!("{name}={number}"),
            Some(Value::Duration(Seconds(seconds))) => format!("{name}={seconds}s"),
            Some(other) => format!("{name}={other:?}"),
        });
    }
    effects.extend(outcome.warnings.iter().map(|warning| format!("warning: {}", warning.message)));
    effects.extend(outcome.refusal.iter().map(|refusal| format!("refused: {} {:?}", refusal.message, refusal.error)));
    effects
}

const ANN: User<'static> = User {
    name: Some("ann"),
    id: UserId(1_000),
    groups: None,
    is_root: false,
    is_operator: false,
    submissions_last_hour: None,
    jobs: None,
};

fn effects(text: &str, job: &Job) -> Vec<String> {
    effects_for(&rules(text), Request::Submit, ANN, job)
}

fn gpu_job() -> Job {
    Job::default().with("tres_per_node", Value::Resources(Resources("gres/gpu:a100:2"))).with("min_nodes", Value::Integer(1))
}

#[test]
fn rules_write_what_they_say_and_see_what_those_before_wrote() {
    let text = r#"
        [[rule]]
        name = "route"
        when = '!has(job.partition)'
        route = [{ partition = "gpu", when = 'job.gpus > 0' }, { partition = "short" }]

        [[rule]]
        name = "limits"
        default = { time_limit = "1:00:00" }
        cap = { time_limit = "2-00:00:00" }

        [[rule]]
        name = "features"
        when = 'has(job.partition) && job.partition == "gpu"'
        append = { features = "ssd", admin_comment = { cel = '"by " + job.partition' } }
        warn = "{job.partition} has {job.gpus} GPUs of {{yours}}"
    "#;
    assert_eq!(
        effects(text, &gpu_job().with("features", Value::Text("big"))),
        ["partition=gpu", "time_limit=3600s", "admin_comment=by gpu", "features=big&ssd", "warning: gpu has 2 GPUs of {yours}"]
    );
    let long = Job::default().with("time_limit", Value::Duration(Seconds(864_000)));
    assert_eq!(effects(text, &long), ["partition=short", "time_limit=172800s"]);
    let chosen = gpu_job().with("partition", Value::Text("gpu")).with("features", Value::Text("ssd&big"));
    assert_eq!(effects(text, &chosen), ["time_limit=3600s", "admin_comment=by gpu", "warning: gpu has 2 GPUs of {yours}"]);
}

#[test]
fn nobody_goes_past_a_cap_by_asking_for_all_there_is_and_a_default_leaves_what_is_said_otherwise() {
    let text = r#"
        [[rule]]
        name = "bounds"
        default = { time_limit = "1:00:00", memory_per_node = "4G" }
        cap = { time_limit = "2-00:00:00", memory_per_node = "64G" }
        floor = { memory_per_node = "1G" }
    "#;
    let unlimited = Job::default().with("time_limit_is_unlimited", Value::Truth(true)).with("mem_is_zero", Value::Truth(true));
    assert_eq!(effects(text, &unlimited), ["memory_per_node=68719476736", "time_limit=172800s"]);
    let limited = Job::default().with("time_limit_is_unlimited", Value::Truth(false)).with("mem_is_zero", Value::Truth(false));
    assert_eq!(effects(text, &limited), ["memory_per_node=4294967296", "time_limit=3600s"]);
    let of_cpus = limited.with("memory_per_cpu", Value::Integer(1 << 30));
    assert_eq!(effects(text, &of_cpus), ["time_limit=3600s"]);
}

#[test]
fn what_follows_from_fields_follows_from_those_that_rules_wrote() {
    let text = r#"
        [[rule]]
        name = "gpu"
        set = { tres_per_node = "gres/gpu:h100:4", memory_per_node = "64G" }

        [[rule]]
        name = "told"
        when = 'has(job.memory) && job.gpus == 4 && "h100" in job.gpu_types && !has(job.memory_per_cpu) && !job.mem_is_zero'
        warn = "{job.memory}"
    "#;
    let job = gpu_job().with("memory_per_cpu", Value::Integer(1 << 30)).with("mem_is_zero", Value::Truth(true));
    assert_eq!(effects(text, &job), ["memory_per_node=68719476736", "tres_per_node=gres/gpu:h100:4", "warning: 68719476736"]);
}

#[test]
fn a_refusal_has_its_code_its_page_and_the_error_of_slurm() {
    let text = r#"
        [rules]
        help = "https://site/rules"

        [tables.limits]
        file = "limits.csv"
        kinds = { nodes = "int", longest = "duration" }

        [[rule]]
        name = "before"
        set = { qos = "low" }

        [[rule]]
        name = "nodes"
        when = '''
            has(job.partition) && job.partition in tables.limits && has(job.min_nodes) &&
            job.min_nodes > tables.limits[job.partition].nodes'''
        reject = { code = "E_NODES", error = "ESLURM_INVALID_NODE_COUNT", message = "{job.partition} gives at most {tables.limits[job.partition].nodes} nodes for {tables.limits[job.partition].longest}" }
    "#;
    let job = Job::default().with("partition", Value::Text("gpu")).with("min_nodes", Value::Integer(9));
    assert_eq!(
        effects(text, &job),
        ["refused: E_NODES: gpu gives at most 8 nodes for 1-00:00:00 (see https://site/rules#E_NODES) Some(\"ESLURM_INVALID_NODE_COUNT\")"]
    );
    assert_eq!(effects(text, &job.with("min_nodes", Value::Integer(8))), ["qos=low"]);
}

#[test]
fn modes_bypasses_and_stops_are_kept() {
    let text = r#"
        [[rule]]
        name = "observed"
        mode = "observe"
        set = { qos = "x" }
        reject = "never"

        [[rule]]
        name = "warned"
        mode = "warn"
        reject = "soon"

        [[rule]]
        name = "operators"
        bypass = ["operators"]
        set = { account = "a" }

        [[rule]]
        name = "modified"
        on = ["modify"]
        set = { comment = "m" }

        [[rule]]
        name = "end"
        when = 'has(job.partition)'
        stop = true

        [[rule]]
        name = "behind"
        set = { wckey = "w" }
    "#;
    let rules = rules(text);
    let job = Job::default();
    assert_eq!(effects_for(&rules, Request::Submit, ANN, &job), ["account=a", "wckey=w", "warning: soon"]);
    let operator = User { is_operator: true, ..ANN };
    assert_eq!(effects_for(&rules, Request::Submit, operator, &job), ["wckey=w", "warning: soon"]);
    assert_eq!(effects_for(&rules, Request::Modify, ANN, &job), ["comment=m"]);
    let stopped = job.with("partition", Value::Text("p"));
    assert_eq!(effects_for(&rules, Request::Submit, ANN, &stopped), ["account=a", "warning: soon"]);
}

#[test]
fn a_rule_that_fails_refuses_or_passes_as_it_says() {
    let failing = |on_error: &str| {
        format!(
            r#"
            [[rule]]
            name = "share"
            on_error = "{on_error}"
            when = 'has(job.min_nodes) && 100 / (job.min_nodes - 1) > 0'
            set = {{ qos = "x" }}
            "#
        )
    };
    let job = Job::default().with("min_nodes", Value::Integer(1));
    assert_eq!(
        effects(&failing("refuse"), &job),
        ["refused: E_RULE_FAILED: the rule share can't be evaluated: a division by zero Some(\"ESLURM_DISABLED\")"]
    );
    assert_eq!(effects(&failing("pass"), &job), [""; 0]);
}

#[test]
fn a_rule_that_takes_more_than_the_budget_fails() {
    let text = r#"
        [rules]
        steps = 100

        [[rule]]
        name = "first"
        when = 'has(job.script) && job.script.contains("srun")'
        set = { qos = "x" }
    "#;
    let script: &'static str = Box::leak("x".repeat(10_000).into_boxed_str());
    let job = Job::default().with("script", Value::Text(script));
    assert_eq!(
        effects(text, &job),
        ["refused: E_RULE_FAILED: the rule first can't be evaluated: more steps than the budget allows Some(\"ESLURM_DISABLED\")"]
    );
}

#[test]
fn errors_in_files_have_their_line_and_column() {
    for (text, line, column, message) in [
        ("[[rule]]\nnam = \"x\"", 2, 1, "unknown key nam; did you mean name?"),
        ("[[rule]]\nname = \"x\"\nset = { time_limt = \"1:00\" }", 3, 9, "unknown field time_limt; did you mean time_limit?"),
        ("[[rule]]\nname = \"x\"\nset = { time_limit = 60 }", 3, 22, "a duration in quotes"),
        ("[[rule]]\nname = \"x\"\nset = { memory_per_node = 64 }", 3, 27, "an amount of memory in quotes"),
        ("[[rule]]\nname = \"x\"\nset = { gpus = 1 }", 3, 9, "gpus can be read, and not written"),
        ("[[rule]]\nname = \"x\"\nset = { shared = \"all\" }", 3, 18, "shared is one of none, ok"),
        ("[[rule]]\nname = \"x\"\ncap = { partition = \"a\" }", 3, 9, "cap can't be used with partition"),
        ("[[rule]]\nname = \"x\"\nwhen = 'job.gpus > 0 && job.time_limt == 1'", 3, 28, "unknown field job.time_limt"),
        ("[[rule]]\nname = \"x\"\nwhen = '''\n  job.gpus > 0 &&\n  job.nam == 'a' '''", 5, 6, "unknown field job.nam"),
        ("[[rule]]\nname = \"x\"\nwarn = \"up to {job.time_limit}\"", 3, 19, "job.time_limit may be absent"),
        ("[[rule]]\nname = \"x\"\nwarn = \"up to {\"", 3, 15, "this { has no }"),
        ("[[rule]]\nname = \"x\"\nreject = { code = \"e\", message = \"m\" }", 3, 19, "a code has capital letters"),
        (
            "[[rule]]\nname = \"x\"\nreject = { message = \"m\", error = \"ESLURM_INVALID_NODECOUNT\" }",
            3,
            35,
            "did you mean ESLURM_INVALID_NODE_COUNT?",
        ),
        ("[[rule]]\nname = \"x\"\nset = { qos = \"a\" }\nclear = [\"qos\"]", 1, 1, "qos is written by set and clear"),
        ("[[rule]]\nname = \"x\"\non = [\"requeue\"]", 3, 7, "\"submit\" or \"modify\" is expected"),
        (
            "[[rule]]\nname = \"x\"\nstop = true\n[[rule]]\nname = \"x\"\nstop = true",
            5,
            8,
            "the rule at rules.toml:2 has this name already",
        ),
        ("[tables.t]\nfile = \"none.csv\"", 2, 8, "none.csv can't be read: no such file"),
        ("[rule]\nname = \"x\"", 1, 1, "rules, each under [[rule]], is expected"),
        ("[[rule]\nname = \"x\"", 1, 8, "unclosed"),
        ("rules.steps = 0", 1, 15, "a number from 1"),
    ] {
        let compiled = compiled(text);
        assert!(compiled.rules.is_none(), "{text}");
        let problems: Vec<String> = compiled.problems.iter().map(ToString::to_string).collect();
        let is_it = |problem: &Problem| {
            problem.severity == Severity::Error && problem.message.contains(message) && (problem.line, problem.column) == (line, column)
        };
        assert!(compiled.problems.iter().any(is_it), "{text}: {message}: {problems:#?}");
    }
}

#[test]
fn what_can_never_be_is_warned_of() {
    for (text, message) in [
        (
            "[[rule]]\nname = \"a\"\nstop = true\n[[rule]]\nname = \"b\"\nset = { qos = \"x\" }",
            "b can never be reached: the rule a before it",
        ),
        ("[[rule]]\nname = \"a\"\nwhen = '1 > 2'\nstop = true", "this condition never holds"),
        ("[[rule]]\nname = \"a\"", "the rule a does nothing"),
        ("[[rule]]\nname = \"a\"\non = [\"modify\"]\ndefault = { qos = \"x\" }", "on modify, a default is written whenever"),
        ("[[rule]]\nname = \"a\"\nroute = [{ qos = \"x\" }, { qos = \"y\" }]", "are never taken"),
    ] {
        let compiled = compiled(text);
        assert!(compiled.rules.is_some(), "{text}: {:?}", compiled.problems);
        assert!(compiled.problems.iter().any(|problem| problem.message.contains(message)), "{text}: {:?}", compiled.problems);
    }
    let for_others = "[[rule]]\nname = \"a\"\nbypass = [\"operators\"]\nreject = \"no\"\n[[rule]]\nname = \"b\"\nset = { qos = \"x\" }";
    assert_eq!(compiled(for_others).problems, []);
}

#[test]
fn a_file_that_was_changed_is_not_read() {
    let bytes = encode(&rules("[[rule]]\nname = \"a\"\nset = { qos = \"x\" }")).unwrap();
    decode(&bytes).unwrap();
    assert!(matches!(decode(&bytes[..20]), Err(FileError::NoRules)));
    for (place, is_expected) in [
        (0, (|error| matches!(error, FileError::NoRules)) as fn(&FileError) -> bool),
        (8, |error| matches!(error, FileError::Layout(_))),
        (16, |error| matches!(error, FileError::Fields)),
        (40, |error| matches!(error, FileError::Checksum)),
    ] {
        let mut changed = bytes.clone();
        changed[place] ^= 1;
        assert!(is_expected(&decode(&changed).unwrap_err()), "{place}");
    }
}

#[test]
fn what_was_asked_for_is_known_after_rules_have_written_the_field() {
    let text = r#"
        [[rule]]
        name = "move"
        set = { partition = "gpu", min_nodes = 4, licenses = "a:3,b" }
        [[rule]]
        name = "types"
        set = { tres_per_node = { cel = """
          job.?tres_per_node.orValue("").split(",").map(g, g.replace("a100", "h100")).join(",")""" } }
        when = "false || job.gpus > 0"

        [[rule]]
        name = "say"
        when = 'has(asked.partition) && has(job.partition) && asked.partition != job.partition'
        warn = "{asked.partition} is {job.partition}; {asked.gpuCount('a100')} and {job.gpuCount('a100')}; {job.licenseCount('a')}"
    "#;
    // A list of resources is no text.
    let problems = compiled(text).problems;
    assert!(
        problems.iter().any(|problem| problem.message.contains("this is of type string, where list(resource) is expected")),
        "{problems:?}"
    );
    let text = text.replace(
        r#"job.?tres_per_node.orValue("").split(",").map(g, g.replace("a100", "h100")).join(",")"#,
        r#"has(job.tres_per_node) ? job.tres_per_node.map(r, r.kind == "gpu" ? r.withType("h100") : r.text).join(",") : """#,
    );
    let job = gpu_job().with("partition", Value::Text("short"));
    assert_eq!(
        effects(&text, &job),
        ["licenses=a:3,b", "min_nodes=4", "partition=gpu", "tres_per_node=gres/gpu:h100:2", "warning: short is gpu; 2 and 0; 3",]
    );
}

/// The numbers of the rules that match.
fn matches(rules: &RuleSet, user: User<'_>) -> Vec<String> {
    let mut memory = Memory::default();
    let job = Job::default();
    let now = UnixTime(1_795_425_000);
    let submission = Submission { request: Request::Submit, now, job: &job, asked: &job, current: None, user, forecasts: &NoForecasts };
    let mut matches = Matches::default();
    apply(rules, &submission, &mut memory, &mut matches);
    matches.0
}

#[test]
fn observed_rules_end_the_observed_ones_behind_them_as_they_would_if_they_were_enforced() {
    let rules = |mode: &str, first: &str| {
        rules(&format!(
            "[rules]\nmode = '{mode}'\n[[rule]]\nname = 'first'\nwhen = 'user.is_operator'\nmode = 'observe'\n{first}\n\
             [[rule]]\nname = 'second'\nmode = 'observe'\nset = {{ comment = 'x' }}\n\
             [[rule]]\nname = 'third'\nset = {{ account = 'a' }}\n"
        ))
    };
    let operator = User { is_operator: true, ..ANN };
    for first in ["stop = true", "reject = 'no'"] {
        // What is enforced is enforced all the same.
        assert_eq!(matches(&rules("enforce", first), operator), ["0", "2"], "{first}");
        assert_eq!(matches(&rules("observe", first), operator), ["0"], "{first}");
        assert_eq!(matches(&rules("observe", first), ANN), ["1", "2"], "{first}");
    }
    // A refusal that would only warn ends nothing.
    let warns = self::rules(
        "[rules]\nmode = 'observe'\n[[rule]]\nname = 'a'\nmode = 'warn'\nreject = 'no'\n[[rule]]\nname = 'b'\nset = { comment = 'x' }\n",
    );
    assert_eq!(matches(&warns, ANN), ["0", "1"]);
}

/// A job whose environment costs 100 steps to look through.
struct LargeEnvironment;

impl Fields for LargeEnvironment {
    fn field(&self, _: FieldNumber) -> Option<Value<'_>> {
        None
    }

    fn variable(&self, _: &str) -> Option<&str> {
        None
    }

    fn charge_variable(&self, _: &str, steps: &mut Steps) -> Result<(), Fault> {
        steps.take(100)
    }
}

#[test]
fn to_look_for_a_variable_before_a_default_is_written_costs_steps() {
    let mut rules = rules("[[rule]]\nname = \"r\"\ndefault = { environment = { OMP_NUM_THREADS = \"1\" } }\n");
    let job = LargeEnvironment;
    let mut left = |steps: u32| {
        rules.steps = steps;
        let now = UnixTime(1_795_425_000);
        let submission =
            Submission { request: Request::Submit, now, job: &job, asked: &job, current: None, user: ANN, forecasts: &NoForecasts };
        let mut memory = Memory::default();
        let outcome = apply(&rules, &submission, &mut memory, &mut Matches::default());
        (outcome.writes.len(), outcome.refusal.map(|refusal| refusal.message), outcome.steps_left.0)
    };
    let (writes, refusal, rest) = left(200);
    assert!((writes, &refusal) == (1, &None) && rest < 100, "{rest} of 200 steps are left");
    assert!(left(90).1.is_some_and(|message| message.contains("more steps")));
}

#[test]
fn what_is_appended_costs_steps_for_each_part_that_it_is_compared_with() {
    let rules = rules("[[rule]]\nname = \"r\"\nappend = { exc_nodes = \"n1,n2\" }\n");
    let steps = |nodes: &'static str| {
        let job = Job::default().with("exc_nodes", Value::Text(nodes));
        let now = UnixTime(1_795_425_000);
        let submission =
            Submission { request: Request::Submit, now, job: &job, asked: &job, current: None, user: ANN, forecasts: &NoForecasts };
        let mut memory = Memory::default();
        let outcome = apply(&rules, &submission, &mut memory, &mut Matches::default());
        rules.steps - outcome.steps_left.0
    };
    let (few, many) = ("a".repeat(400).leak(), "a,".repeat(200).leak());
    assert!(steps(many) > steps(few) + 2 * 4 * 199, "{} and {}", steps(few), steps(many));
}

#[test]
fn what_slurm_fills_in_is_not_known_of_a_job_that_was_not_read() {
    let rule = |when: &str| format!("[[rule]]\nname = \"r\"\non = [\"modify\"]\nwhen = '{when}'\nreject = \"larger\"\n");
    let asked: Vec<(FieldNumber, OwnedValue)> = vec![
        (Name::NumTasks.into(), OwnedValue::Integer(4)),
        (Name::TimeLimitIsUnlimited.into(), OwnedValue::Truth(false)),
        (Name::Reboot.into(), OwnedValue::Truth(false)),
    ];
    let unlimited = [(Name::TimeLimitIsUnlimited.into(), Some(OwnedValue::Truth(true)))];
    let submitted = KnownJob::submitted(UnixTime(1_795_425_000), &asked);
    let without_limit = submitted.changed(&unlimited);
    let errors = |when: &str, current: &KnownJob<'_>| {
        let rules = rules(&rule(when));
        let job = Job::default().with("min_nodes", Value::Integer(8)).with("time_limit", Value::Duration(Seconds(600)));
        let current = Some(Current { fields: current, age: Seconds(3) });
        let now = UnixTime(1_795_425_003);
        let submission = Submission { request: Request::Modify, now, job: &job, asked: &job, current, user: ANN, forecasts: &NoForecasts };
        let mut memory = Memory::default();
        apply(&rules, &submission, &mut memory, &mut Matches::default()).refusal.map(|refusal| refusal.code.map(str::to_owned))
    };
    let not_known_yet = Some(Some("E_NOT_KNOWN_YET".to_owned()));
    for when in [
        "has(current.min_nodes) && has(job.min_nodes) && job.min_nodes > current.min_nodes",
        "job.?min_nodes.orValue(1) > current.?min_nodes.orValue(100)",
        "has(current.time_limit) && job.?time_limit.orValue(limit(\"1\")) > current.time_limit",
        "has(job.min_nodes) && current.is_batch",
    ] {
        assert_eq!(errors(when, &submitted), not_known_yet, "{when}");
    }
    assert_eq!(errors("has(current.reservation) || current.reboot || current.?num_tasks.orValue(0) > 4", &submitted), None);
    assert_eq!(errors("has(current.time_limit)", &without_limit), None, "it is known to have none");
}
