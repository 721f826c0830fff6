//! Compiles files of rules to a set.

use crate::document::{Document, Entry, Section};
use crate::expression::check::{Names, TableNames};
use crate::expression::emit::Emitter;
use crate::expression::facts::Facts;
use crate::expression::node::{Constant, Node};
use crate::expression::on_large_stack;
use crate::files::Seen;
use crate::problem::{Problem, Severity, line_and_column, of_lua, suggestion};
use crate::rule_test::{self, RuleTest};
use crate::site_tables::{self, AllRows, SiteTables};
use crate::tables::{ReadFile, table};
use crate::values::Context;
use site_rules::field::{FIELDS, Field, FieldNumber, Name};
use site_rules::rules::{Action, Assignment, Choice, MOST_RULES, Mode, OnError, RefusalTemplate, Rule, RuleSet, SLURM_ERRORS, Template};
use site_rules::table::Table;
use site_rules::value::Kind;
use std::collections::BTreeMap;
use toml::Spanned;
use toml::de::DeTable;

/// The largest file of rules, in bytes.
pub const LARGEST_FILE: usize = 4 << 20;

/// The steps that an expression may take where the site says nothing.
pub const EXPRESSION_STEPS: u32 = 50_000;

/// The steps that all rules together may take for a submission where the site says nothing.
pub const STEPS: u32 = 50_000;

/// A file that has rules.
pub struct Source<'s> {
    /// The file's name, for messages.
    pub name: String,
    /// What stands in the file.
    pub text: String,
    /// Whether the file is `queuecast.toml`, in which other things stand as well.
    pub is_configuration: bool,
    /// Reads the files of tables that the file names.
    pub read_file: &'s ReadFile<'s>,
}

/// What comes of files of rules.
#[derive(Debug)]
pub struct Compiled {
    /// The rules, unless there is an error.
    pub rules: Option<RuleSet>,
    /// The place of each rule, in the order of the rules.
    pub origins: Vec<Origin>,
    /// The tests that stand beside them.
    pub tests: Vec<RuleTest>,
    /// What is wrong, by file and line.
    pub problems: Vec<Problem>,
    /// The files that were read, those of tables among them, as they were before they were read.
    pub seen: Vec<Seen>,
    /// Whether the rules ask for qualities of service, associations, users or partitions, so that
    /// they are as good as the rows that were given of these.
    pub asks_for_site_tables: bool,
    /// Whether the rules ask for the site's default partition, by `job.partitions` or by its name,
    /// so that they are as good as the partitions that were given.
    pub asks_for_default_partition: bool,
}

/// The place of a rule in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file, as it was named.
    pub file: String,
    /// The line at which it begins, from 1.
    pub line: usize,
    /// The rule because of which no submission comes to it.
    pub ended_by: Option<String>,
}

/// Compiles files to a set of rules, in the order in which they are given, without rows of
/// qualities of service, associations, users and partitions.
#[must_use]
pub fn compile(sources: &[Source<'_>]) -> Compiled {
    compile_with(sources, None)
}

/// Compiles files as [`compile`] does, with rows of qualities of service, associations, users and
/// partitions.
#[must_use]
pub fn compile_with(sources: &[Source<'_>], rows: Option<&SiteTables>) -> Compiled {
    let none = SiteTables::default();
    match on_large_stack(|| compile_here(sources, rows.unwrap_or(&none))) {
        Ok(compiled) => compiled,
        Err(message) => {
            let file = sources.first().map_or_else(String::new, |source| source.name.clone());
            Compiled {
                rules: None,
                origins: Vec::new(),
                tests: Vec::new(),
                problems: vec![Problem { severity: Severity::Error, file, line: 1, column: 1, message }],
                seen: Vec::new(),
                asks_for_site_tables: false,
                asks_for_default_partition: false,
            }
        }
    }
}

/// What stands in `[rules]`.
#[derive(Default)]
struct Settings {
    help: Option<Box<str>>,
    mode: Option<Mode>,
    on_error: Option<OnError>,
    expression_steps: Option<u32>,
    steps: Option<u32>,
}

fn compile_here(sources: &[Source<'_>], rows: &SiteTables) -> Compiled {
    let documents: Vec<Document<'_>> = sources.iter().map(|source| Document::new(&source.name, &source.text)).collect();
    let parsed: Vec<Option<Spanned<DeTable<'_>>>> = documents.iter().map(parse).collect();
    let mut sections = Vec::new();
    for ((source, document), parsed) in sources.iter().zip(&documents).zip(&parsed) {
        if let Some(parsed) = parsed {
            let section = Section { document, table: parsed.get_ref(), at: 0 };
            if !source.is_configuration {
                section.knows(&["rule", "rules", "tables", "test"]);
            }
            sections.push((source, section));
        }
    }
    let mut settings = Settings::default();
    let mut tables: Vec<Table> = Vec::new();
    let mut names: Vec<TableNames> = Vec::new();
    for (source, section) in &sections {
        read_settings(*section, &mut settings);
        read_tables(*section, source.read_file, &mut tables, &mut names);
    }
    let own_tables = tables.len();
    let rows = AllRows::from(rows);
    rows.add(&mut tables, &mut names);
    let budget = settings.expression_steps.unwrap_or(EXPRESSION_STEPS);
    let names = Names { fields: FIELDS, tables: &names };
    let mut compiler = Compiler {
        context: Context { names, emitter: Emitter::new(tables), budget },
        settings: &settings,
        rules: Vec::new(),
        origins: Vec::new(),
        ends: Vec::new(),
        places: BTreeMap::new(),
    };
    for (_, section) in &sections {
        compiler.read_rules(*section);
    }
    let Compiler { context, rules, origins, .. } = compiler;
    let mut tests = Vec::new();
    for (_, section) in &sections {
        rule_test::read::read(*section, &rules, own_tables, &mut tests);
    }
    let mut program = context.emitter.finish();
    let asks_for_site_tables = site_tables::leave_out_unused(&mut program, own_tables);
    let asks_for_default_partition = site_tables::asks_for_default_partition(&program);
    if asks_for_default_partition {
        program.default_partition = rows.default_partition();
    }
    let set = RuleSet { program, rules, help: settings.help, expression_steps: budget, steps: settings.steps.unwrap_or(STEPS) };
    drop(sections);
    drop(parsed);
    let problems: Vec<Problem> = documents.into_iter().flat_map(Document::into_problems).collect();
    let has_errors = problems.iter().any(|problem| problem.severity == Severity::Error);
    let rules = (!has_errors).then_some(set);
    Compiled { rules, origins, tests, problems, seen: Vec::new(), asks_for_site_tables, asks_for_default_partition }
}

fn parse<'d>(document: &Document<'d>) -> Option<Spanned<DeTable<'d>>> {
    if document.text.len() > LARGEST_FILE {
        return document.error(0, format!("a file of rules has at most {LARGEST_FILE} bytes"));
    }
    match DeTable::parse(document.text) {
        Ok(parsed) => Some(parsed),
        Err(error) => {
            let span = error.span().unwrap_or_default();
            // The message leaves out which key it is.
            let key = document.text.get(span.clone()).filter(|key| error.message() == "duplicate key" && !key.is_empty());
            document.error(span.start, key.map_or_else(|| error.message().to_owned(), |key| format!("the key {key} stands here twice")))
        }
    }
}

const MODES: [(&str, Mode); 3] = [("enforce", Mode::Enforce), ("warn", Mode::Warn), ("observe", Mode::Observe)];

const ON_ERROR: [(&str, OnError); 2] = [("refuse", OnError::Refuse), ("pass", OnError::Pass)];

fn read_settings(section: Section<'_>, settings: &mut Settings) -> Option<()> {
    let section = section.get("rules")?.section("a table of settings")?;
    section.knows(&["help", "mode", "on_error", "expression_steps", "steps"]);
    for (key, at, entry) in section.entries() {
        let steps = || {
            let steps = entry.integer("a number of steps")?;
            u32::try_from(steps).ok().filter(|steps| *steps > 0).or_else(|| entry.error("a number from 1 to 4294967295 is expected here"))
        };
        let is_again = match key {
            "help" => settings.help.replace(entry.text("an address in quotes")?.into()).is_some(),
            "mode" => settings.mode.replace(entry.word(&MODES)?).is_some(),
            "on_error" => settings.on_error.replace(entry.word(&ON_ERROR)?).is_some(),
            "expression_steps" => settings.expression_steps.replace(steps()?).is_some(),
            "steps" => settings.steps.replace(steps()?).is_some(),
            _ => false,
        };
        if is_again {
            section.document.error::<()>(at, format!("rules.{key} is set in another file already"));
        }
    }
    Some(())
}

fn read_tables(section: Section<'_>, read_file: &ReadFile<'_>, tables: &mut Vec<Table>, names: &mut Vec<TableNames>) -> Option<()> {
    for (name, at, entry) in section.get("tables")?.section("tables by their names")?.entries() {
        if !is_identifier(name) {
            section.document.error::<()>(at, "the name of a table has letters, digits and _ alone");
            continue;
        }
        if site_tables::NAMES.contains(&name) {
            section.document.error::<()>(at, format!("tables.{name} is made by queuecastd: give yours another name"));
            continue;
        }
        if names.iter().any(|other| other.name == name) {
            section.document.error::<()>(at, format!("tables.{name} is in another file already"));
            continue;
        }
        if let Some((table, table_names)) = table(name, entry, read_file) {
            tables.push(table);
            names.push(table_names);
        }
    }
    Some(())
}

fn is_identifier(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|character: char| character.is_ascii_digit())
        && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

/// A rule behind which no other is asked for some requests.
struct End {
    name: String,
    on_submit: bool,
    on_modify: bool,
}

struct Compiler<'c> {
    context: Context<'c>,
    settings: &'c Settings,
    rules: Vec<Rule>,
    origins: Vec<Origin>,
    ends: Vec<End>,
    /// The file and line of each name.
    places: BTreeMap<String, String>,
}

/// The keys of a rule.
const RULE_KEYS: [&str; 17] = [
    "name",
    "description",
    "on",
    "when",
    "mode",
    "on_error",
    "bypass",
    "set",
    "default",
    "cap",
    "floor",
    "append",
    "clear",
    "route",
    "warn",
    "reject",
    "stop",
];

impl Compiler<'_> {
    fn read_rules(&mut self, section: Section<'_>) -> Option<()> {
        for entry in section.get("rule")?.list("rules, each under [[rule]],")? {
            if self.rules.len() >= MOST_RULES {
                return entry.error(format!("there can be {MOST_RULES} rules"));
            }
            let Some(rule) = entry.section("a rule").and_then(|section| self.rule(section)) else { continue };
            self.rules.push(rule);
        }
        Some(())
    }

    fn rule(&mut self, section: Section<'_>) -> Option<Rule> {
        section.knows(&RULE_KEYS);
        let name = self.name(section)?;
        let requests = section.get("on").map_or(Some((true, false)), requests)?;
        let bypass = section.get("bypass").map_or(Some((false, false)), bypass)?;
        let mode = section.get("mode").map_or(Some(Mode::Enforce), |entry| entry.word(&MODES))?;
        let on_error = section.get("on_error").map_or(Some(OnError::Refuse), |entry| entry.word(&ON_ERROR));
        let on_error = if section.get("on_error").is_none() { self.settings.on_error.or(on_error) } else { on_error };
        let when = section.get("when").map(|entry| (entry, self.context.condition(entry, &Facts::default())));
        let mut known = Facts::default();
        let mut is_unconditional = true;
        let mut number = None;
        if let Some((entry, condition)) = when {
            let (expression, node, facts) = condition?;
            number = Some(expression);
            known = facts;
            is_unconditional = node.as_constant() == Some(&Constant::Truth(true));
            if node.as_constant() == Some(&Constant::Truth(false)) {
                entry.document.warn(entry.at(), "this condition never holds");
            }
        }
        let actions = self.actions(section, &known, requests.1);
        let warning = section.get("warn").map(|entry| self.context.template(entry, &known));
        let refusal = section.get("reject").map(|entry| self.refusal(entry, &known));
        let stops = section.get("stop").map_or(Some(false), Entry::truth)?;
        let rule = Rule {
            name: name.as_str().into(),
            on_submit: requests.0,
            on_modify: requests.1,
            bypassed_by_root: bypass.0,
            bypassed_by_operators: bypass.1,
            when: number,
            only_warns: mode == Mode::Warn || (mode == Mode::Enforce && self.settings.mode == Some(Mode::Warn)),
            mode: weaker(mode, self.settings.mode.unwrap_or(Mode::Enforce)),
            on_error: on_error?,
            actions: actions?,
            warning: flattened(warning)?,
            refusal: flattened(refusal)?,
            stops,
        };
        if rule.actions.is_empty() && rule.warning.is_none() && rule.refusal.is_none() && !stops {
            section.document.warn(section.at, format!("the rule {name} does nothing"));
        }
        let ended_by = self.check_reach(section, &rule, is_unconditional);
        let (line, _) = line_and_column(section.document.text, section.at);
        self.origins.push(Origin { file: section.document.name.to_owned(), line, ended_by });
        Some(rule)
    }

    fn name(&mut self, section: Section<'_>) -> Option<String> {
        /// Names are labels of metrics as well.
        const LONGEST: usize = 64;
        let Some(entry) = section.get("name") else {
            return section.document.error(section.at, "this rule has no name: write name = \"...\"");
        };
        let name = entry.text("a name in quotes")?;
        let is_plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
        if name.is_empty() || name.len() > LONGEST || !name.chars().all(is_plain) {
            return entry.error(format!("a name has letters, digits, -, _ and . alone, and at most {LONGEST} of them"));
        }
        let (line, _) = line_and_column(section.document.text, entry.at());
        let place = format!("{}:{line}", section.document.name);
        match self.places.insert(name.to_owned(), place) {
            None => Some(name.to_owned()),
            Some(other) => entry.error(format!("the rule at {other} has this name already")),
        }
    }

    /// Warns of a rule that no submission comes to, and notes one behind which none comes. Returns
    /// the rule because of which none comes to this one.
    fn check_reach(&mut self, section: Section<'_>, rule: &Rule, is_unconditional: bool) -> Option<String> {
        let ended_by = |is_for: bool, ends: fn(&End) -> bool| {
            (!is_for).then_some("").or_else(|| self.ends.iter().find(|end| ends(end)).map(|end| end.name.as_str()))
        };
        let by = (ended_by(rule.on_submit, |end| end.on_submit), ended_by(rule.on_modify, |end| end.on_modify));
        let mut ended_by_rule = None;
        if let (Some(one), Some(other)) = by {
            let end = if one.is_empty() { other } else { one };
            section.document.warn(section.at, format!("the rule {} can never be reached: the rule {end} before it ends all", rule.name));
            ended_by_rule = Some(end.to_owned());
        }
        let refuses = rule.refusal.is_some() && rule.mode == Mode::Enforce;
        let stops = rule.stops && rule.mode != Mode::Observe;
        let is_for_all = !rule.bypassed_by_root && !rule.bypassed_by_operators;
        if is_unconditional && is_for_all && (refuses || stops) {
            self.ends.push(End { name: rule.name.to_string(), on_submit: rule.on_submit, on_modify: rule.on_modify });
        }
        ended_by_rule
    }

    fn actions(&mut self, section: Section<'_>, known: &Facts, is_for_modify: bool) -> Option<Vec<Action>> {
        type Make = fn(Assignment) -> Action;
        let kinds: [(&str, Make); 5] = [
            ("set", Action::Set),
            ("default", Action::Default),
            ("cap", Action::Cap),
            ("floor", Action::Floor),
            ("append", Action::Append),
        ];
        let mut actions = Vec::new();
        let mut is_right = true;
        // The actions that write a field, by the field's name.
        let mut writers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (key, make) in kinds {
            let Some(entry) = section.get(key) else { continue };
            let Some(fields) = entry.section("fields and their values, as in { partition = \"long\" }") else {
                is_right = false;
                continue;
            };
            if key == "default" && is_for_modify {
                section.document.warn(entry.at(), "on modify, a default is written whenever the change does not name the field");
            }
            for (name, at, value) in fields.entries() {
                if name == ENVIRONMENT {
                    is_right &= self.variables(key, make, at, value, known, &mut actions).is_some();
                    continue;
                }
                writers.entry(name).or_default().push(key);
                match self.assignment(key, name, at, value, known) {
                    Some(assignment) => actions.push(make(assignment)),
                    None => is_right = false,
                }
            }
        }
        if let Some(entry) = section.get("clear") {
            for entry in entry.list("fields in quotes, as in [\"reservation\"]")? {
                let name = entry.text("a field in quotes")?;
                if let Some(variable) = name.strip_prefix(ENVIRONMENT).filter(|variable| !variable.is_empty()) {
                    actions.push(self.unset(entry, variable)?);
                    continue;
                }
                let (number, field) = writable(entry.document, entry.at(), name)?;
                if !field.may_be_absent {
                    return entry.error(format!("{name} is always there"));
                }
                writers.entry(field.name).or_default().push("clear");
                actions.push(Action::Clear(number));
            }
        }
        if let Some(entry) = section.get("route") {
            actions.push(self.route(entry, known, &mut writers)?);
        }
        let conflict = writers.iter().find(|(_, keys)| keys.len() > 1 && !keys.iter().all(|key| ["default", "cap", "floor"].contains(key)));
        if let Some((field, keys)) = conflict {
            return section.document.error(section.at, format!("{field} is written by {} of one rule: make it two", keys.join(" and ")));
        }
        is_right.then_some(actions)
    }

    /// Writes variables of the environment.
    fn variables(
        &mut self,
        key: &str,
        make: fn(Assignment) -> Action,
        at: usize,
        entry: Entry<'_>,
        known: &Facts,
        actions: &mut Vec<Action>,
    ) -> Option<()> {
        if !["set", "default"].contains(&key) {
            return entry.document.error(at, format!("{key} can't be used with {ENVIRONMENT}: write set or default"));
        }
        let section = entry.section("variables and their values, as in { OMP_NUM_THREADS = \"8\" }")?;
        for (name, at, value) in section.entries() {
            if !is_variable(name) {
                return entry.document.error(at, "the name of a variable has letters, digits and _ alone");
            }
            let value = self.context.variable(name, value, known)?;
            actions.push(make(Assignment { field: FieldNumber::from(Name::Environment), value }));
        }
        Some(())
    }

    /// Takes a variable out of the environment, which is named in brackets.
    fn unset(&mut self, entry: Entry<'_>, bracketed: &str) -> Option<Action> {
        let name = bracketed.strip_prefix('[').and_then(|name| name.strip_suffix(']')).filter(|name| is_variable(name));
        let Some(name) = name else {
            return entry.error(format!("a variable is named as in \"{ENVIRONMENT}[NAME]\""));
        };
        let value = self.context.add(entry, &Node::constant(Constant::Text(name.to_owned())))?;
        Some(Action::Set(Assignment { field: FieldNumber::from(Name::Environment), value }))
    }

    fn assignment(&mut self, key: &str, name: &str, at: usize, value: Entry<'_>, known: &Facts) -> Option<Assignment> {
        let (number, field) = writable(value.document, at, name)?;
        let fits = match key {
            "cap" | "floor" => matches!(field.kind, Kind::Integer | Kind::Real | Kind::Duration | Kind::Moment),
            "append" => matches!(field.kind, Kind::Text | Kind::Resources) && field.words.is_empty(),
            "default" => field.may_be_absent,
            _ => true,
        };
        if !fits {
            let reason = if key == "default" { "it is always there".to_owned() } else { format!("it is of type {}", field.kind) };
            return value.document.error(at, format!("{key} can't be used with {name}: {reason}"));
        }
        Some(Assignment { field: number, value: self.context.value(value, field, known)? })
    }

    fn route<'d>(&mut self, entry: Entry<'d>, known: &Facts, writers: &mut BTreeMap<&'d str, Vec<&'d str>>) -> Option<Action> {
        let mut choices = Vec::new();
        let entries = entry.list("choices, as in [{ partition = \"gpu\", when = 'job.gpus > 0' }]")?;
        let mut routed: Vec<&str> = Vec::new();
        let count = entries.len();
        for (place, entry) in entries.into_iter().enumerate() {
            let section = entry.section("a choice, as in { partition = \"gpu\", when = 'job.gpus > 0' }")?;
            let (when, known) = match section.get("when") {
                Some(condition) => {
                    let (number, _, facts) = self.context.condition(condition, known)?;
                    (Some(number), facts)
                }
                None => (None, known.clone()),
            };
            if when.is_none() && place + 1 < count {
                entry.document.warn(entry.at(), "the choices behind this one are never taken: it has no when");
            }
            let mut assignments = Vec::new();
            for (name, at, value) in section.entries().filter(|(name, ..)| *name != "when") {
                assignments.push(self.assignment("route", name, at, value, &known)?);
                if !routed.contains(&name) {
                    routed.push(name);
                }
            }
            if assignments.is_empty() {
                return entry.error("a choice writes something, as in { partition = \"gpu\", when = 'job.gpus > 0' }");
            }
            choices.push(Choice { when, assignments });
        }
        for name in routed {
            writers.entry(name).or_default().push("route");
        }
        Some(Action::Route(choices))
    }

    fn refusal(&mut self, entry: Entry<'_>, known: &Facts) -> Option<RefusalTemplate> {
        if entry.value.get_ref().is_str() {
            return Some(RefusalTemplate { code: None, message: self.context.template(entry, known)?, error: None });
        }
        let section = entry.section("a message in quotes, or { code = \"...\", message = \"...\", error = \"...\" }")?;
        section.knows(&["code", "message", "error"]);
        let Some(message) = section.get("message") else { return entry.error("a refusal has a message: write message = \"...\"") };
        let message: Template = self.context.template(message, known)?;
        let mut code = None;
        if let Some(entry) = section.get("code") {
            let text = entry.text("a code in quotes, such as \"E_GPU_CORES\",")?;
            let is_code = text.len() <= 64 && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
            if !is_code || text.is_empty() {
                return entry.error("a code has capital letters, digits and _ alone, as in E_GPU_CORES");
            }
            code = Some(text.into());
        }
        let mut error = None;
        if let Some(entry) = section.get("error") {
            let text = entry.text("the name of an error of Slurm in quotes")?;
            if !SLURM_ERRORS.contains(&text) {
                return entry.error(format!("unknown error of Slurm {text}{}", suggestion(text, SLURM_ERRORS.iter().copied())));
            }
            error = Some(text.into());
        }
        Some(RefusalTemplate { code, message, error })
    }
}

/// The field whose variables are written one by one.
const ENVIRONMENT: &str = "environment";

/// Whether a shell takes it for the name of a variable.
fn is_variable(name: &str) -> bool {
    !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A field that rules may write.
fn writable(document: &Document<'_>, at: usize, name: &str) -> Option<(FieldNumber, &'static Field)> {
    let number = FieldNumber::of(name);
    match number.and_then(|number| Some((number, number.get()?))) {
        None => {
            let writable = FIELDS.iter().filter(|field| field.is_writable).map(|field| field.name);
            let hint = of_lua(name).map(|ours| format!("; rules have it as {ours}"));
            document.error(at, format!("unknown field {name}{}", hint.unwrap_or_else(|| suggestion(name, writable))))
        }
        Some((_, field)) if !field.is_writable => {
            let reason = field.why_not.unwrap_or("it follows from other fields");
            document.error(at, format!("{name} can be read, and not written: {reason}"))
        }
        Some((_, field)) if field.kind == Kind::Variables => {
            document.error(at, format!("write {name} = {{ NAME = \"value\" }} under set or default, or \"{name}[NAME]\" under clear"))
        }
        Some(found) => Some(found),
    }
}

/// Whether a rule is for submissions, and whether it is for modifications.
fn requests(entry: Entry<'_>) -> Option<(bool, bool)> {
    let mut requests = (false, false);
    for entry in entry.list("[\"submit\"], [\"modify\"] or both")? {
        if entry.word(&[("submit", true), ("modify", false)])? {
            requests.0 = true;
        } else {
            requests.1 = true;
        }
    }
    if requests == (false, false) { entry.error("\"submit\", \"modify\" or both are expected here") } else { Some(requests) }
}

/// Whether root is exempt, and whether operators are.
fn bypass(entry: Entry<'_>) -> Option<(bool, bool)> {
    let mut bypass = (false, false);
    for entry in entry.list("[\"root\"], [\"operators\"] or both")? {
        if entry.word(&[("root", true), ("operators", false)])? {
            bypass.0 = true;
        } else {
            bypass.1 = true;
        }
    }
    Some(bypass)
}

/// The mode that does less.
fn weaker(one: Mode, other: Mode) -> Mode {
    match (one, other) {
        (Mode::Observe, _) | (_, Mode::Observe) => Mode::Observe,
        (Mode::Warn, _) | (_, Mode::Warn) => Mode::Warn,
        (Mode::Enforce, Mode::Enforce) => Mode::Enforce,
    }
}

/// Nothing, or what could be made of it.
#[allow(clippy::option_option)]
fn flattened<T>(made: Option<Option<T>>) -> Option<Option<T>> {
    match made {
        None => Some(None),
        Some(Some(made)) => Some(Some(made)),
        Some(None) => None,
    }
}
