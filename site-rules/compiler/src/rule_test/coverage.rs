//! Counts the rules, and the actions of each, that tests have reached.

use crate::trace::{RuleOutcome, Trace};
use site_rules::field::FieldNumber;
use site_rules::outcome::Taken;
use site_rules::program::{Expression, Instruction};
use site_rules::rules::{Action, Assignment, Choice, RuleNumber, RuleSet};
use std::collections::BTreeMap;

/// The number of times that each rule and each of its actions was reached.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    matched: BTreeMap<RuleNumber, usize>,
    not_matched: BTreeMap<RuleNumber, usize>,
    taken: BTreeMap<(RuleNumber, Taken), usize>,
}

/// An action of a rule, or a choice of its route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoveredAction {
    /// The place of the action in the rule.
    pub place: Taken,
    /// What it does, as `set partition = "gpu"`.
    pub described: String,
    /// The number of tests in which the action had an effect.
    pub taken: usize,
}

impl Coverage {
    /// Notes what became of rules in a test.
    pub fn note(&mut self, trace: &Trace) {
        for rule in &trace.rules {
            match rule.asked {
                RuleOutcome::Matched => *self.matched.entry(rule.rule).or_default() += 1,
                RuleOutcome::NotMatched => *self.not_matched.entry(rule.rule).or_default() += 1,
                _ => {}
            }
            for taken in &rule.taken {
                *self.taken.entry((rule.rule, *taken)).or_default() += 1;
            }
        }
    }

    /// Returns the number of tests in which a rule matched.
    #[must_use]
    pub fn matched(&self, rule: RuleNumber) -> usize {
        self.matched.get(&rule).copied().unwrap_or(0)
    }

    /// Returns the number of tests in which a rule was asked and did not match.
    #[must_use]
    pub fn not_matched(&self, rule: RuleNumber) -> usize {
        self.not_matched.get(&rule).copied().unwrap_or(0)
    }

    /// The actions of a rule, and how often each had an effect.
    #[must_use]
    pub fn actions(&self, rules: &RuleSet, rule: RuleNumber) -> Vec<CoveredAction> {
        let Some(actions) = rules.rules.get(usize::from(rule.0)).map(|rule| &rule.actions) else { return Vec::new() };
        let mut covered = Vec::new();
        for (action, place) in actions.iter().zip(0..) {
            let mut note = |choice: Option<u16>, described: String| {
                let place = Taken { action: place, choice };
                let taken = self.taken.get(&(rule, place)).copied().unwrap_or(0);
                covered.push(CoveredAction { place, described, taken });
            };
            match action {
                Action::Route(choices) => {
                    for (choice, number) in choices.iter().zip(0..) {
                        note(Some(number), format!("route {}", choice_in_words(rules, choice)));
                    }
                }
                Action::Clear(field) => note(None, format!("clear {}", field_in_words(*field))),
                Action::Set(assignment) => note(None, format!("set {}", assignment_in_words(rules, *assignment))),
                Action::Default(assignment) => note(None, format!("default {}", assignment_in_words(rules, *assignment))),
                Action::Cap(assignment) => note(None, format!("cap {}", assignment_in_words(rules, *assignment))),
                Action::Floor(assignment) => note(None, format!("floor {}", assignment_in_words(rules, *assignment))),
                Action::Append(assignment) => note(None, format!("append {}", assignment_in_words(rules, *assignment))),
            }
        }
        covered
    }
}

fn choice_in_words(rules: &RuleSet, choice: &Choice) -> String {
    choice.assignments.iter().map(|assignment| assignment_in_words(rules, *assignment)).collect::<Vec<_>>().join(", ")
}

fn field_in_words(field: FieldNumber) -> &'static str {
    field.get().map_or("", |field| field.name)
}

/// A field, and its value where that is a text that stands in the rules.
fn assignment_in_words(rules: &RuleSet, assignment: Assignment) -> String {
    let field = field_in_words(assignment.field);
    let program = &rules.program;
    let constant = program.expressions.get(usize::from(assignment.value.0)).and_then(|Expression { begin, end, .. }| {
        let code = program.code.get(usize::try_from(*begin).ok()?..usize::try_from(*end).ok()?)?;
        match code {
            [Instruction::Text(text)] => program.texts.get(usize::from(*text)),
            _ => None,
        }
    });
    constant.map_or_else(|| field.to_owned(), |text| format!("{field} = {text:?}"))
}
