//! Reads `[[test]]` entries.

use super::{Expected, ExpectedRefusal, RuleTest};
use crate::command_line::{self, NotARelease, Release, Setting};
use crate::described::{DescribedForecasts, DescribedJob, DescribedSubmission, DescribedUser, lower};
use crate::document::{Entry, Section};
use crate::expression::node::Constant;
use crate::literal;
use crate::problem::{line_and_column, suggestion};
use crate::site_tables::{AllRows, TestRows};
use crate::values::constant;
use jiff::tz::TimeZone;
use job_types::number::UserId;
use job_types::time::{Seconds, UnixTime};
use site_rules::data::OwnedValue;
use site_rules::field::{FIELDS, Field, FieldNumber, Name};
use site_rules::rules::{Rule, SLURM_ERRORS};
use site_rules::submission::{Request, UserJobs};
use site_rules::value::Kind;
use std::collections::BTreeMap;

/// The most tests of all files.
const MOST_TESTS: usize = 10_000;

/// When a test submits where it does not say: 2026-01-05 12:00 UTC, a Monday.
const NOW: &str = "2026-01-05T12:00:00Z";

/// The user where a test does not say, and that user's number.
const USER: (&str, u32) = ("user", 1_000);

/// How old what is known of a job is that is to be modified, where a test does not say, in seconds.
const AGE: i64 = 10;

/// The codes with which queuecast itself refuses.
const OWN_CODES: [&str; 2] = ["E_NOT_KNOWN_YET", "E_RULE_FAILED"];

/// The keys of a test.
const KEYS: [&str; 22] = [
    "name",
    "description",
    "command",
    "fields",
    "script",
    "environment",
    "directory",
    "user",
    "uid",
    "groups",
    "operator",
    "root",
    "submissions_last_hour",
    "jobs_pending",
    "jobs_running",
    "slurm",
    "at",
    "kind",
    "current",
    "forecast",
    "tables",
    "expect",
];

/// What can be expected beside the values of fields.
const EXPECTATIONS: [&str; 8] = ["reject", "error", "warn", "rules", "absent", "unchanged", "accept", "nothing"];

/// The tests of a file, which are about these rules; so many tables are the site's own.
pub(crate) fn read(section: Section<'_>, rules: &[Rule], own_tables: usize, tests: &mut Vec<RuleTest>) -> Option<()> {
    for entry in section.get("test")?.list("tests, each under [[test]],")? {
        if tests.len() >= MOST_TESTS {
            return entry.error(format!("there can be {MOST_TESTS} tests"));
        }
        if let Some(test) = entry.section("a test").and_then(|section| test(section, rules, own_tables)) {
            tests.push(test);
        }
    }
    Some(())
}

fn test(section: Section<'_>, rules: &[Rule], own_tables: usize) -> Option<RuleTest> {
    section.knows(&KEYS);
    let text = |key: &str, what: &str| section.get(key).map(|entry| entry.text(what)).map_or(Some(None), |text| text.map(Some));
    let truth = |key: &str| section.get(key).map_or(Some(false), Entry::truth);
    let name = text("name", "a name in quotes")?;
    let request =
        section.get("kind").map_or(Some(Request::Submit), |kind| kind.word(&[("submit", Request::Submit), ("modify", Request::Modify)]))?;
    let (now, zone) = section.get("at").map_or_else(
        || moment(NOW).ok(),
        |entry| moment(entry.text("a time in quotes")?).map_or_else(|message| entry.error(message), Some),
    )?;
    let user = user(section, truth("operator")?, truth("root")?)?;
    let setting = Setting {
        release: section.get("slurm").map_or(Some(Release::LAST), |entry| {
            let text = entry.text("a release in quotes, such as \"24.11\"")?;
            text.parse().map_or_else(|error: NotARelease| entry.error(error.to_string()), Some)
        })?,
        now,
        zone,
        user: user.id,
        directory: text("directory", "a directory in quotes")?.unwrap_or("/home/user").to_owned(),
        environment: section.get("environment").map_or_else(|| Some(BTreeMap::new()), variables)?,
    };
    let (job, described_as) = job(section, &setting, text("script", "the text of the script in quotes")?, request)?;
    let current = match section.get("current") {
        None => None,
        Some(entry) if request == Request::Submit => return entry.error("a job as it is stands beside kind = \"modify\" alone"),
        Some(entry) => Some(current(entry, &setting)?),
    };
    let forecasts = section.get("forecast").map_or_else(|| Some(DescribedForecasts::default()), forecasts)?;
    let rows = match section.get("tables") {
        None => None,
        Some(entry) => Some(TestRows::new(&AllRows::read(entry)?, own_tables)),
    };
    let Some(expected) = section.get("expect") else {
        return section.document.error(section.at, "this test expects nothing: write expect = { ... }, or expect = { accept = true }");
    };
    let expected = expectations(expected, rules)?;
    let (line, _) = line_and_column(section.document.text, section.at);
    Some(RuleTest {
        name: name.map(str::to_owned),
        file: section.document.name.to_owned(),
        line,
        described_as,
        submission: DescribedSubmission { request, now, job, current, user, forecasts },
        rows,
        expected,
    })
}

/// A moment as RFC 3339 has it, and the zone of its offset.
fn moment(text: &str) -> Result<(UnixTime, TimeZone), String> {
    let seconds = literal::moment(text)?;
    let offset = jiff::fmt::temporal::Pieces::parse(text).ok().and_then(|pieces| pieces.to_numeric_offset());
    Ok((UnixTime(seconds), offset.map_or(TimeZone::UTC, TimeZone::fixed)))
}

fn number(entry: Entry<'_>) -> Option<u32> {
    let number = entry.integer("a whole number")?;
    u32::try_from(number).ok().or_else(|| entry.error("a whole number from 0 to 4294967295 is expected here"))
}

fn user(section: Section<'_>, is_operator: bool, is_root: bool) -> Option<DescribedUser> {
    let groups = match section.get("groups") {
        None => Vec::new(),
        Some(entry) => texts(entry, "a list of groups in quotes")?.into_iter().map(Into::into).collect(),
    };
    let default_number = if is_root { 0 } else { USER.1 };
    Some(DescribedUser {
        name: Some(
            section
                .get("user")
                .map_or(Some(if is_root { "root" } else { USER.0 }), |entry| entry.text("a user's name in quotes"))?
                .to_owned(),
        ),
        id: UserId(section.get("uid").map_or(Some(default_number), number)?),
        groups: Some(groups),
        is_root,
        is_operator: is_operator || is_root,
        submissions_last_hour: section.get("submissions_last_hour").map_or(Some(0), number).map(Some)?,
        jobs: Some(UserJobs {
            pending: section.get("jobs_pending").map_or(Some(0), number)?,
            running: section.get("jobs_running").map_or(Some(0), number)?,
        }),
    })
}

fn texts<'d>(entry: Entry<'d>, what: &str) -> Option<Vec<&'d str>> {
    if entry.value.get_ref().is_str() {
        return entry.text(what).map(|text| vec![text]);
    }
    entry.list(what)?.into_iter().map(|entry| entry.text("a text in quotes")).collect()
}

fn variables(entry: Entry<'_>) -> Option<BTreeMap<String, String>> {
    let section = entry.section("variables and their values")?;
    section.entries().map(|(name, _, value)| Some((name.to_owned(), value.text("a value in quotes")?.to_owned()))).collect()
}

/// The job that is submitted, or what is asked to change; and how it was written.
fn job(section: Section<'_>, setting: &Setting, script: Option<&str>, request: Request) -> Option<(DescribedJob, String)> {
    let fields = section.get("fields");
    let (mut job, described_as) = match section.get("command") {
        Some(entry) if request == Request::Modify => {
            return entry.error("a command submits a job: write fields = { ... } for what is asked to change");
        }
        Some(entry) => {
            let line = entry.text("an sbatch command in quotes")?;
            (from_command(entry, line, setting, script)?, line.to_owned())
        }
        None => {
            let Some(entry) = fields else {
                return section.document.error(section.at, "this test submits nothing: write command = \"sbatch ...\" or fields = { ... }");
            };
            let written = section.document.text.get(entry.span()).unwrap_or_default();
            let mut values = BTreeMap::from([(Name::UserId, OwnedValue::Integer(i64::from(setting.user.0)))]);
            if request == Request::Submit {
                let given = entry.section(FIELDS_EXPECTED)?;
                if given.get("het_job_offset").is_some() && given.get("is_batch").is_none() {
                    return entry.error(
                        "say whether it is a component of a batch job, as it has no script itself: is_batch = true, or is_batch = false",
                    );
                }
                values.insert(Name::IsBatch, OwnedValue::Truth(true));
                values.insert(Name::WorkDir, OwnedValue::Text(setting.directory.clone()));
            }
            if let Some(script) = script {
                values.insert(Name::ScriptSize, OwnedValue::Integer(i64::try_from(script.len()).unwrap_or(i64::MAX)));
                values.insert(Name::Script, OwnedValue::Text(script.to_owned()));
            }
            (DescribedJob::new(values, setting.environment.clone()), written.to_owned())
        }
    };
    if let Some(entry) = fields {
        write_fields(entry, &mut job)?;
    }
    Some((job, described_as))
}

fn from_command(entry: Entry<'_>, line: &str, setting: &Setting, script: Option<&str>) -> Option<DescribedJob> {
    match command_line::parse(line, setting, |_| script.map(str::to_owned)) {
        Ok(job) => Some(job),
        Err(error) => {
            let place = line.find(error.option().unwrap_or_default()).unwrap_or(0);
            entry.document.error(entry.place_in_text(place), error.to_string())
        }
    }
}

/// A job as it is: a command that submitted it, or its fields, with the age of what is known.
fn current(entry: Entry<'_>, setting: &Setting) -> Option<(DescribedJob, Seconds)> {
    /// How long ago the job was read: no field of a job.
    const AGE_KEY: &str = "age";
    if entry.value.get_ref().is_str() {
        let line = entry.text("an sbatch command in quotes")?;
        return Some((from_command(entry, line, setting, None)?, Seconds(AGE)));
    }
    let section = entry.section("the fields of a job, as in { time_limit = \"1:00:00\" }")?;
    let mut job = DescribedJob::default();
    let mut age = Seconds(AGE);
    for (key, at, value) in section.entries() {
        if key == AGE_KEY {
            age = Seconds(literal::limit(value.text("a duration in quotes")?).map_or_else(|message| value.error(message), Some)?);
        } else {
            let (name, owned) = field_value(key, at, value, true)?;
            job.write(name, Some(owned));
        }
    }
    Some((job, age))
}

/// What stands in the place of `fields`.
const FIELDS_EXPECTED: &str = "fields and their values, as in { partition = \"gpu\" }";

fn write_fields(entry: Entry<'_>, job: &mut DescribedJob) -> Option<()> {
    for (key, at, value) in entry.section(FIELDS_EXPECTED)?.entries() {
        let (name, owned) = field_value(key, at, value, true)?;
        job.write(name, Some(owned));
    }
    Some(())
}

/// A field that is named with its value; `is_given` where it is given to a job, so that it must
/// be none that follows from others.
fn field_value(key: &str, at: usize, value: Entry<'_>, is_given: bool) -> Option<(Name, OwnedValue)> {
    let Some((name, field)) = field(key) else {
        let known = FIELDS.iter().map(|field| field.name).chain(if is_given { &[][..] } else { &EXPECTATIONS }.iter().copied());
        return value.document.error(at, format!("unknown field {key}{}", suggestion(key, known)));
    };
    if is_given && name.is_derived() {
        return value.document.error(at, format!("{key} follows from other fields: give those, or an sbatch command"));
    }
    if let (Kind::Text | Kind::Resources, Some("")) = (field.kind, value.value.get_ref().as_str()) {
        let empty = if field.kind == Kind::Text { OwnedValue::Text } else { OwnedValue::Resources };
        return if is_given {
            Some((name, empty(String::new())))
        } else {
            value.error(format!("an empty {key} is none: expect absent = [\"{key}\"]"))
        };
    }
    let mut owned = match (field.kind, constant(value, field)?) {
        (Kind::Resources, Constant::Text(text)) => OwnedValue::Resources(text),
        (_, Constant::Truth(truth)) => OwnedValue::Truth(truth),
        (_, Constant::Integer(number)) => OwnedValue::Integer(number),
        (_, Constant::Real(number)) => OwnedValue::Real(number),
        (_, Constant::Text(text)) => OwnedValue::Text(text),
        (_, Constant::Texts(texts)) => OwnedValue::Texts(texts),
        (_, Constant::Duration(seconds)) => OwnedValue::Duration(Seconds(seconds)),
        (_, Constant::Moment(seconds)) => OwnedValue::Moment(UnixTime(seconds)),
    };
    lower(name, &mut owned);
    Some((name, owned))
}

fn field(name: &str) -> Option<(Name, &'static Field)> {
    let number = FieldNumber::of(name)?;
    Some((number.name()?, number.get()?))
}

fn forecasts(entry: Entry<'_>) -> Option<DescribedForecasts> {
    let section = entry.section("forecasts, as in { soonest_partition = \"short\", waits = { short = \"1:00:00\" } }")?;
    section.knows(&["soonest_partition", "waits"]);
    let mut forecasts = DescribedForecasts::default();
    if let Some(entry) = section.get("soonest_partition") {
        forecasts.soonest_partition = Some(entry.text("a partition in quotes")?.to_owned());
    }
    if let Some(entry) = section.get("waits") {
        for (partition, _, wait) in entry.section("waits by partition, as in { short = \"1:00:00\" }")?.entries() {
            let seconds = literal::limit(wait.text("a duration in quotes")?).map_or_else(|message| wait.error(message), Some)?;
            forecasts.waits.insert(partition.to_owned(), Seconds(seconds));
        }
    }
    Some(forecasts)
}

fn expectations(entry: Entry<'_>, rules: &[Rule]) -> Option<Expected> {
    let section = entry.section("what is expected, as in { partition = \"gpu\" } or { reject = \"E_GPU\" }")?;
    let mut expected = Expected::default();
    let mut has_any = false;
    for (key, at, value) in section.entries() {
        has_any = true;
        match key {
            "reject" => expected.refusal = Some(refusal(value, rules)?),
            "error" => {
                let error = value.text("the name of an error of Slurm in quotes")?;
                if !SLURM_ERRORS.contains(&error) {
                    return value.error(format!("unknown error of Slurm {error}{}", suggestion(error, SLURM_ERRORS.iter().copied())));
                }
                expected.error = Some(error.to_owned());
            }
            "warn" if value.value.get_ref().as_bool() == Some(false) => expected.warnings = Some(Vec::new()),
            "warn" => {
                expected.warnings =
                    Some(texts(value, "a text in quotes that stands in a warning, or false")?.into_iter().map(str::to_owned).collect());
            }
            "rules" => expected.rules = Some(names_of_rules(value, rules)?),
            "absent" => {
                let (variables, fields) = absent(value)?;
                expected.variables.extend(variables);
                expected.absent = fields;
            }
            "environment" => expected.variables.extend(variables(value)?.into_iter().map(|(name, value)| (name, Some(value)))),
            "unchanged" => expected.unchanged = names_of_fields(value)?,
            "accept" | "nothing" => {
                if !value.truth()? {
                    return value.error(format!("write {key} = true, or reject = \"...\" for a refusal"));
                }
                expected.is_nothing |= key == "nothing";
            }
            _ => expected.fields.push(field_value(key, at, value, false)?),
        }
    }
    let says_more = expected.fields.len() + expected.absent.len() + expected.variables.len() > 0
        || expected.is_nothing
        || section.get("accept").is_some();
    if !has_any {
        return entry.error("nothing is expected: write accept = true where it is to be accepted");
    }
    if expected.refusal.is_some() && says_more {
        return entry.error("what is refused is not changed: expect a refusal, or what becomes of the job");
    }
    if expected.error.is_some() && expected.refusal.is_none() {
        return entry.error("an error of Slurm stands beside reject");
    }
    Some(expected)
}

fn refusal(entry: Entry<'_>, rules: &[Rule]) -> Option<ExpectedRefusal> {
    if entry.value.get_ref().as_bool() == Some(true) {
        return Some(ExpectedRefusal::Any);
    }
    let text = entry.text("the code of a refusal, a part of its message, or true")?;
    let codes = || rules.iter().filter_map(|rule| rule.refusal.as_ref()?.code.as_deref()).chain(OWN_CODES);
    let is_code = !text.is_empty() && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    if !is_code {
        return Some(ExpectedRefusal::Message(text.to_owned()));
    }
    if codes().any(|code| code == text) {
        return Some(ExpectedRefusal::Code(text.to_owned()));
    }
    entry.error(format!("no rule refuses with {text}{}", suggestion(text, codes())))
}

fn names_of_rules(entry: Entry<'_>, rules: &[Rule]) -> Option<Vec<String>> {
    let known = || rules.iter().map(|rule| &*rule.name);
    let mut names = Vec::new();
    for entry in entry.list("the names of the rules that match, in quotes")? {
        let name = entry.text("the name of a rule in quotes")?;
        if !known().any(|other| other == name) {
            return entry.error(format!("there is no rule {name}{}", suggestion(name, known())));
        }
        names.push(name.to_owned());
    }
    Some(names)
}

/// Variables of the environment, as `environment[NAME]`, and fields, that are expected to be
/// absent.
type Absent = (Vec<(String, Option<String>)>, Vec<Name>);

fn absent(entry: Entry<'_>) -> Option<Absent> {
    let variable = |entry: &Entry<'_>| {
        let name = entry.value.get_ref().as_str()?.strip_prefix("environment[")?.strip_suffix(']')?;
        Some((name.to_owned(), None))
    };
    let entries = entry.list("names of fields in quotes")?;
    let variables = entries.iter().filter_map(variable).collect();
    let fields = entries.into_iter().filter(|entry| variable(entry).is_none()).map(name_of_field).collect::<Option<Vec<Name>>>()?;
    Some((variables, fields))
}

fn names_of_fields(entry: Entry<'_>) -> Option<Vec<Name>> {
    entry.list("names of fields in quotes")?.into_iter().map(name_of_field).collect()
}

fn name_of_field(entry: Entry<'_>) -> Option<Name> {
    let name = entry.text("the name of a field in quotes")?;
    match field(name) {
        Some((name, _)) => Some(name),
        None => entry.error(format!("unknown field {name}{}", suggestion(name, FIELDS.iter().map(|field| field.name)))),
    }
}
