//! `queuecast filter test`: the tests that stand beside rules.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use command_parts::failure::Failure;
use command_parts::output::{self, FormatArguments};
use rules_compiler::Compiled;
use rules_compiler::problem::Severity;
use rules_compiler::rule_test::coverage::Coverage;
use rules_compiler::rule_test::{self, RuleTest, written_in_words};
use rules_compiler::trace::Trace;
use serde::Serialize;
use site_rules::rules::{RuleNumber, RuleSet};

use super::sources::{FilesArguments, ProblemLine, counted, problem_lines};

const EXAMPLES: &str = "\
A test, beside the rules that it is about:
  [[test]]
  name = \"jobs with GPUs go to gpu\"
  command = \"sbatch --gres=gpu:2 job.sh\"
  user = \"ann\"
  expect = { partition = \"gpu\", time_limit = \"1:00:00\" }

  [[test]]
  fields = { partition = \"gpu\" }
  expect = { reject = \"E_GPU_NONE\" }

Examples:
  queuecast filter test
      the tests of queuecast.toml and of rules.d beside it
  queuecast filter test rules.d/50-gpus.toml
      those of one file, with its rules alone
  queuecast filter test --require-coverage
      fails as well if a rule is in force that no test has reached";

/// Run the tests that stand beside rules, under [[test]], and say what they have not reached.
///
/// No cluster is needed. Each failure is shown with what was expected, what there was in its place,
/// and which rules matched. Then come the rules that matched in no test, and the actions and
/// choices of routes that no test has taken.
///
/// Exit status: 0 if all tests pass; 1 if one fails, or the rules have errors; 2 for wrong usage,
/// or files that can't be read.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    files: FilesArguments,

    /// Fail if a rule matched in no test, or an action or a choice was never taken.
    #[arg(long)]
    require_coverage: bool,

    #[command(flatten)]
    format: FormatArguments,
}

/// The answer.
#[derive(Debug, Serialize)]
struct Report {
    files: Vec<String>,
    passed: usize,
    failed: usize,
    tests: Vec<TestLine>,
    coverage: CoverageReport,
    problems: Vec<ProblemLine>,
}

/// A test and what came of it.
#[derive(Debug, Serialize)]
struct TestLine {
    name: Option<String>,
    file: String,
    line: usize,
    submission: String,
    passed: bool,
    differences: Vec<DifferenceLine>,
    matched: Vec<MatchedLine>,
}

#[derive(Debug, Serialize)]
struct DifferenceLine {
    expected: String,
    got: String,
}

/// A rule that matched, and what it did.
#[derive(Debug, Serialize)]
struct MatchedLine {
    rule: String,
    effects: Vec<String>,
}

/// What tests have reached.
#[derive(Debug, Serialize)]
struct CoverageReport {
    rules_matched: usize,
    actions_taken: usize,
    actions: usize,
    rules: Vec<RuleLine>,
}

/// How often a rule was reached.
#[derive(Debug, Serialize)]
struct RuleLine {
    rule: String,
    file: String,
    line: usize,
    matched: usize,
    not_matched: usize,
    /// The rule because of which no submission comes to it.
    ended_by: Option<String>,
    actions: Vec<ActionLine>,
}

/// How often an action had an effect, or a choice was taken.
#[derive(Debug, Serialize)]
struct ActionLine {
    action: String,
    taken: usize,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let sources = arguments.files.read()?;
    let mut coverage = Coverage::default();
    let mut tests = Vec::new();
    if let Some(rules) = &sources.compiled.rules {
        for test in &sources.compiled.tests {
            let outcome = rule_test::run(rules, test);
            coverage.note(&outcome.trace);
            tests.push(test_line(rules, test, outcome));
        }
    }
    let report = Report {
        files: sources.names(),
        passed: tests.iter().filter(|test| test.passed).count(),
        failed: tests.iter().filter(|test| !test.passed).count(),
        tests,
        coverage: coverage_report(&sources.compiled, &coverage),
        problems: sources.problems(),
    };
    let has_errors = sources.count(Severity::Error) > 0;
    output::print(arguments.format, &report, |report| text(report, has_errors))?;
    let is_covered =
        report.coverage.rules_matched == report.coverage.rules.len() && report.coverage.actions_taken == report.coverage.actions;
    let is_good = !has_errors && report.failed == 0 && (is_covered || !arguments.require_coverage);
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn test_line(rules: &RuleSet, test: &RuleTest, outcome: rule_test::TestOutcome) -> TestLine {
    TestLine {
        name: test.name.clone(),
        file: test.file.clone(),
        line: test.line,
        submission: test.described_as.clone(),
        passed: outcome.differences.is_empty(),
        matched: matched(rules, &outcome.trace),
        differences: outcome
            .differences
            .into_iter()
            .map(|difference| DifferenceLine { expected: difference.expected, got: difference.got })
            .collect(),
    }
}

/// The rules that matched, with what each did.
fn matched(rules: &RuleSet, trace: &Trace) -> Vec<MatchedLine> {
    let line = |rule: &rules_compiler::trace::TracedRule| MatchedLine {
        rule: rules.rules.get(usize::from(rule.rule.0)).map_or_else(String::new, |rule| rule.name.to_string()),
        effects: rule
            .writes
            .iter()
            .map(written_in_words)
            .chain(rule.warning.iter().map(|warning| format!("warns {warning:?}")))
            .chain(rule.refusal.iter().map(|refusal| format!("refuses {refusal:?}")))
            .collect(),
    };
    trace.matched().map(line).collect()
}

fn coverage_report(compiled: &Compiled, coverage: &Coverage) -> CoverageReport {
    let mut lines = Vec::new();
    let rules = compiled.rules.as_ref();
    for ((rule, origin), number) in rules.iter().flat_map(|set| &set.rules).zip(&compiled.origins).zip((0..).map(RuleNumber)) {
        let actions = rules.map(|set| coverage.actions(set, number)).unwrap_or_default();
        lines.push(RuleLine {
            rule: rule.name.to_string(),
            file: origin.file.clone(),
            line: origin.line,
            matched: coverage.matched(number),
            not_matched: coverage.not_matched(number),
            ended_by: origin.ended_by.clone(),
            actions: actions.into_iter().map(|action| ActionLine { action: action.described, taken: action.taken }).collect(),
        });
    }
    let actions = || lines.iter().flat_map(|line| &line.actions);
    CoverageReport {
        rules_matched: lines.iter().filter(|line| line.matched > 0).count(),
        actions_taken: actions().filter(|action| action.taken > 0).count(),
        actions: actions().count(),
        rules: lines,
    }
}

fn text(report: &Report, has_errors: bool) -> String {
    let mut text = problem_lines(&report.problems);
    // Writing into a text can't fail.
    if has_errors {
        let _ = writeln!(text, "no test was run: the rules have errors");
        return text;
    }
    for test in report.tests.iter().filter(|test| !test.passed) {
        failure(&mut text, test);
    }
    let verdict = format!("{}: {} passed, {} failed", counted(report.tests.len(), "test"), report.passed, report.failed);
    let style = if report.failed == 0 { output::GOOD } else { output::BAD };
    let _ = writeln!(text, "{style}{verdict}{style:#}");
    coverage_text(&mut text, &report.coverage);
    text
}

fn failure(text: &mut String, test: &TestLine) {
    let TestLine { file, line, name, .. } = test;
    let name = name.as_deref().unwrap_or("test");
    let bad = output::BAD;
    let _ = writeln!(text, "{file}:{line}: {name}: {bad}failed{bad:#}");
    let _ = writeln!(text, "  {}", test.submission.split_whitespace().collect::<Vec<_>>().join(" "));
    for DifferenceLine { expected, got } in &test.differences {
        let _ = writeln!(text, "  expected: {expected}\n  got:      {got}");
    }
    if test.matched.is_empty() {
        let _ = writeln!(text, "  no rule matched");
    }
    for MatchedLine { rule, effects } in &test.matched {
        let effects = if effects.is_empty() { "nothing to write".to_owned() } else { effects.join(", ") };
        let _ = writeln!(text, "  matched:  {rule}: {effects}");
    }
    text.push('\n');
}

fn coverage_text(text: &mut String, coverage: &CoverageReport) {
    let CoverageReport { rules_matched, actions_taken, actions, rules } = coverage;
    let _ = writeln!(
        text,
        "coverage: {rules_matched} of {} matched, {actions_taken} of {} taken",
        counted(rules.len(), "rule"),
        counted(*actions, "action")
    );
    for RuleLine { rule, file, line, matched, ended_by, actions, .. } in rules {
        let place = format!("{file}:{line}: {rule}");
        if let Some(end) = ended_by {
            let _ = writeln!(text, "  {place} can never be reached: {end} before it ends all");
        } else if *matched == 0 {
            let _ = writeln!(text, "  {place} matched in no test");
        } else {
            for ActionLine { action, .. } in actions.iter().filter(|action| action.taken == 0) {
                let _ = writeln!(text, "  {place}: never taken: {action}");
            }
        }
    }
}
