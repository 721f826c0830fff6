//! What changes where one set of rules takes the place of another.

use site_rules::program::{Instruction, Program};
use site_rules::rules::{Action, Assignment, ExpressionNumber, Piece, Rule, RuleSet, Template};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Debug, Write as _};
use xxhash_rust::xxh3::xxh3_64;

/// What changes, by the names of the rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// The rules that the new set has and the old one has not.
    pub added: Vec<String>,
    /// The rules that the old set has and the new one has not.
    pub removed: Vec<String>,
    /// The rules of both sets that ask or do something else, also because a table has changed that
    /// they look into.
    pub changed: Vec<String>,
    /// Whether the rules of both sets stand in another order.
    pub is_reordered: bool,
    /// Whether a setting of the whole set has changed: where remedies are written, or how much may
    /// be spent on a submission.
    pub has_other_settings: bool,
}

impl Difference {
    /// What changes from one set to another.
    #[must_use]
    pub fn between(before: &RuleSet, after: &RuleSet) -> Self {
        let (old, new) = (described(before), described(after));
        let names = |rules: &[(&str, String)]| rules.iter().map(|(name, _)| (*name).to_owned()).collect::<BTreeSet<_>>();
        let (old_names, new_names) = (names(&old), names(&new));
        let of_both = |rules: &[(&str, String)]| {
            let of_both = rules.iter().filter(|(name, _)| old_names.contains(*name) && new_names.contains(*name));
            of_both.map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>()
        };
        let before_by_name: BTreeMap<&str, &str> = old.iter().map(|(name, rule)| (*name, rule.as_str())).collect();
        let is_other = |name: &str, rule: &str| before_by_name.get(name).is_some_and(|before| *before != rule);
        Difference {
            added: new.iter().filter(|(name, _)| !old_names.contains(*name)).map(|(name, _)| (*name).to_owned()).collect(),
            removed: old.iter().filter(|(name, _)| !new_names.contains(*name)).map(|(name, _)| (*name).to_owned()).collect(),
            changed: new.iter().filter(|(name, rule)| is_other(name, rule)).map(|(name, _)| (*name).to_owned()).collect(),
            is_reordered: of_both(&old) != of_both(&new),
            has_other_settings: !old.is_empty() && !new.is_empty() && settings(before) != settings(after),
        }
    }

    /// Whether nothing changes.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Difference::default()
    }
}

fn settings(rules: &RuleSet) -> (Option<&str>, u32, u32) {
    (rules.help.as_deref(), rules.expression_steps, rules.steps)
}

/// Returns each rule by its name, in words that do not depend on what other rules there are.
fn described(rules: &RuleSet) -> Vec<(&str, String)> {
    let numbers = Contents {
        tables: rules.program.tables.iter().map(number).collect(),
        patterns: rules.program.patterns.iter().map(number).collect(),
        zones: rules.program.zones.iter().map(number).collect(),
    };
    let description = |rule| Description { program: &rules.program, contents: &numbers, text: String::new() }.of(rule);
    rules.rules.iter().map(|rule| (&*rule.name, description(rule))).collect()
}

/// A number of what something holds, by which it is told from others.
fn number(content: &impl serde::Serialize) -> u64 {
    postcard::to_allocvec(content).map_or(0, |bytes| xxh3_64(&bytes))
}

/// Numbers of what is large, by their places in a program.
struct Contents {
    tables: Vec<u64>,
    patterns: Vec<u64>,
    zones: Vec<u64>,
}

struct Description<'p> {
    program: &'p Program,
    contents: &'p Contents,
    text: String,
}

impl Description<'_> {
    fn of(mut self, rule: &Rule) -> String {
        let Rule { name: _, on_submit, on_modify, bypassed_by_root, bypassed_by_operators, when, mode, on_error, .. } = rule;
        let Rule { actions, warning, refusal, stops, .. } = rule;
        self.write(&(on_submit, on_modify, bypassed_by_root, bypassed_by_operators, mode, on_error, stops));
        self.expression(*when);
        for action in actions {
            self.action(action);
        }
        self.template(warning.as_ref());
        if let Some(refusal) = refusal {
            self.write(&(&refusal.code, &refusal.error));
            self.template(Some(&refusal.message));
        }
        self.text
    }

    fn write(&mut self, value: &dyn Debug) {
        // Writing into a text can't fail.
        let _: fmt::Result = writeln!(self.text, "{value:?}");
    }

    fn action(&mut self, action: &Action) {
        let (word, assignment) = match action {
            Action::Set(assignment) => ("set", assignment),
            Action::Default(assignment) => ("default", assignment),
            Action::Cap(assignment) => ("cap", assignment),
            Action::Floor(assignment) => ("floor", assignment),
            Action::Append(assignment) => ("append", assignment),
            Action::Clear(field) => return self.write(&("clear", field)),
            Action::Route(choices) => {
                for choice in choices {
                    self.write(&"route");
                    self.expression(choice.when);
                    choice.assignments.iter().for_each(|assignment| self.assignment(assignment));
                }
                return;
            }
        };
        self.write(&word);
        self.assignment(assignment);
    }

    fn assignment(&mut self, assignment: &Assignment) {
        self.write(&assignment.field);
        self.expression(Some(assignment.value));
    }

    fn template(&mut self, template: Option<&Template>) {
        for piece in template.map_or(&[][..], |template| &template.0) {
            match piece {
                Piece::Text(text) => self.write(&self.program.texts.get(usize::from(*text))),
                Piece::Value(value) => self.expression(Some(*value)),
            }
        }
        self.write(&"end");
    }

    fn expression(&mut self, expression: Option<ExpressionNumber>) {
        let place = expression.and_then(|expression| self.program.expressions.get(usize::from(expression.0)));
        let Some(place) = place else { return self.write(&"none") };
        let index = |place: u32| usize::try_from(place).unwrap_or(usize::MAX);
        let code = self.program.code.get(index(place.begin)..index(place.end)).unwrap_or_default();
        self.write(&place.kind);
        for instruction in code {
            self.instruction(*instruction, place.begin);
        }
    }

    /// An instruction with what it refers to, and with jumps counted from the expression's begin.
    fn instruction(&mut self, instruction: Instruction, begin: u32) {
        let at = |place: u32| place.wrapping_sub(begin);
        let place = |number: u16| usize::from(number);
        let (program, contents) = (self.program, self.contents);
        match instruction {
            Instruction::Text(text) => self.write(&("text", program.texts.get(place(text)))),
            Instruction::Texts(list) => self.write(&("texts", program.lists.get(place(list)))),
            Instruction::LookUp { table, column } => self.write(&("look up", contents.tables.get(place(table)), column)),
            Instruction::HasKey(table) => self.write(&("has key", contents.tables.get(place(table)))),
            Instruction::Part(part, zone) => self.write(&(part, contents.zones.get(place(zone)))),
            Instruction::Matches(pattern) => self.write(&("matches", contents.patterns.get(place(pattern)))),
            Instruction::Jump(to) => self.write(&Instruction::Jump(at(to))),
            Instruction::JumpIfTrue(to) => self.write(&Instruction::JumpIfTrue(at(to))),
            Instruction::JumpIfFalse(to) => self.write(&Instruction::JumpIfFalse(at(to))),
            Instruction::Choose { otherwise, end } => self.write(&Instruction::Choose { otherwise: at(otherwise), end: at(end) }),
            Instruction::Next(quantifier, to) => self.write(&Instruction::Next(quantifier, at(to))),
            Instruction::Accumulate(quantifier, to) => self.write(&Instruction::Accumulate(quantifier, at(to))),
            other => self.write(&other),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::{Source, compile};

    fn rules(text: &str) -> RuleSet {
        let none = |_: &str| Err("there are no files".to_owned());
        let source = Source { name: "rules.toml".to_owned(), text: text.to_owned(), is_configuration: false, read_file: &none };
        let compiled = compile(&[source]);
        assert_eq!(compiled.problems, []);
        compiled.rules.unwrap()
    }

    fn rule(name: &str, rest: &str) -> String {
        format!("[[rule]]\nname = \"{name}\"\n{rest}\n")
    }

    const LOOK_UP: &str =
        "when = 'has(job.partition) && (job.partition in tables.t || job.partition.matches(\"^g\"))'\nwarn = \"{kind} x\"";

    #[test]
    fn a_rule_is_the_same_whatever_stands_before_it() {
        let table = "[tables.t.rows]\na = 1\n";
        let routed = rule("routed", "route = [{ qos = \"high\", when = 'has(job.min_cpus) && job.min_cpus > 4' }, { qos = \"low\" }]");
        let before = rules(&format!("{table}{}{routed}", rule("same", LOOK_UP)));
        let first = rule("first", "when = '(has(job.qos) ? job.qos : \"q\").matches(\"z\")'\nreject = 'no {job.?qos.orValue(\"none\")}'");
        let after = rules(&format!("[tables.s.rows]\nb = 2\n{table}{first}{}{routed}", rule("same", LOOK_UP)));
        let difference = Difference::between(&before, &after);
        assert_eq!(difference, Difference { added: vec!["first".to_owned()], ..Difference::default() });
        assert_eq!(Difference::between(&after, &before).removed, ["first"]);
        assert!(Difference::between(&after, &after).is_nothing());
    }

    #[test]
    fn a_rule_changes_with_each_part_of_it_and_with_its_table() {
        let with = |table: &str, rest: &str| rules(&format!("[tables.t.rows]\na = {table}\n{}", rule("r", rest)));
        let before = with("1", LOOK_UP);
        let others = [
            with("2", LOOK_UP),
            with("1", &LOOK_UP.replace("\"^g\"", "\"^h\"")),
            with("1", &LOOK_UP.replace("kind} x", "kind} y")),
            with("1", &LOOK_UP.replace(" || ", " && ")),
            with("1", &format!("{LOOK_UP}\nstop = true")),
            with("1", &format!("{LOOK_UP}\nset = {{ qos = \"a\" }}")),
            with("1", &format!("{LOOK_UP}\nreject = \"no\"")),
        ];
        for (number, after) in others.iter().enumerate() {
            assert_eq!(Difference::between(&before, after).changed, ["r"], "{number}");
        }
    }

    #[test]
    fn another_order_and_other_settings_are_told() {
        let (one, other) = (rule("one", "set = { qos = \"a\" }"), rule("other", "set = { account = \"b\" }"));
        let before = rules(&format!("{one}{other}"));
        let after = rules(&format!("[rules]\nsteps = 5000\n{other}{one}"));
        let difference = Difference::between(&before, &after);
        assert_eq!(difference, Difference { is_reordered: true, has_other_settings: true, ..Difference::default() });
    }
}
