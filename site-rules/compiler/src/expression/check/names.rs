//! Names and their parts: fields of a job, what surrounds a submission, and the elements of loops.

use super::{Checked, Checker, Result, Variable, plain, scope_of, table_name, test};
use crate::expression::facts::{Fact, Facts};
use crate::expression::node::{Form, Node};
use crate::problem::{of_lua, suggestion};
use cel::common::ast::{Expr, IdedExpr, SelectExpr, operators};
use site_rules::field::{Field, FieldNumber};
use site_rules::program::{ResourcePart, Scope};
use site_rules::submission::Surrounding;
use site_rules::value::Kind;

impl Checker<'_> {
    pub(super) fn name(&self, at: &IdedExpr, name: &str, known: &Facts) -> Result<Checked> {
        if let Some(of) = self.variable(name) {
            return match self.variables.get(of) {
                Some((_, Variable::Text)) => Ok(plain(Kind::Text, Form::Item(of))),
                Some((_, Variable::Value { kind, if_true, if_false })) => {
                    Ok(Checked { node: Node { kind: *kind, form: Form::Item(of) }, if_true: if_true.clone(), if_false: if_false.clone() })
                }
                _ => self.error(at, format!("of a resource only {name}.kind, {name}.type, {name}.count and {name}.text can be used")),
            };
        }
        match name {
            "job" | "current" | "asked" | "user" | "tables" | "forecast" | "site" => {
                self.error(at, format!("what of it? A name such as {name}.{} is expected", self.example(name)))
            }
            _ => match Surrounding::ALL.iter().find(|(_, field)| field.name == name) {
                Some((surrounding, field)) => self.read(at, *surrounding, field, known),
                None => {
                    let mut known: Vec<&str> = vec!["job", "current", "asked", "user", "tables", "forecast", "site", "now", "kind"];
                    known.extend(self.variables.iter().map(|(variable, _)| variable.as_str()));
                    let is_field = self.names.fields.iter().any(|field| field.name == name);
                    let remedy = match of_lua(name) {
                        _ if is_field => format!("; did you mean job.{name}?"),
                        Some(ours) => format!("; rules have it as {ours}"),
                        None => suggestion(name, known.iter().copied()),
                    };
                    self.error(at, format!("unknown name {name}{remedy}"))
                }
            },
        }
    }

    /// The place of a variable, the innermost of its name.
    pub(super) fn variable(&self, name: &str) -> Option<usize> {
        self.variables.iter().rposition(|(variable, _)| variable == name)
    }

    pub(super) fn example(&self, name: &str) -> String {
        match name {
            "user" => "name".to_owned(),
            "tables" => self.names.tables.first().map_or("NAME[key]".to_owned(), |table| format!("{}[key]", table.name)),
            "forecast" => "wait(partition)".to_owned(),
            "site" => "default_partition".to_owned(),
            _ => "partition".to_owned(),
        }
    }

    pub(super) fn read(&self, at: &IdedExpr, surrounding: Surrounding, field: &Field, known: &Facts) -> Result<Checked> {
        if field.may_be_absent && !known.has(&Fact::Surrounding(surrounding)) {
            return self.absent(at, field.name, field.name);
        }
        Ok(plain(field.kind, Form::Read(surrounding)))
    }

    pub(super) fn absent<T>(&self, at: &IdedExpr, what: &str, path: &str) -> Result<T> {
        let optional = path.rsplit_once('.').map_or_else(|| path.to_owned(), |(of, name)| format!("{of}.?{name}"));
        self.error(
            at,
            format!(
                "{what} may be absent: test it before, as in has({path}) && ..., or say what holds then, as in {optional}.orValue(...)"
            ),
        )
    }

    /// A field of a job, by the name in front of the dot and its own.
    pub(super) fn field(&self, at: &IdedExpr, scope: Scope, name: &str) -> Result<(FieldNumber, &'static Field)> {
        match self.names.fields.iter().position(|field| field.name == name) {
            Some(place) => match (u16::try_from(place), self.names.fields.get(place)) {
                (Ok(number), Some(field)) => Ok((FieldNumber(number), field)),
                _ => self.error(at, "too many fields"),
            },
            None => {
                let hint = of_lua(name).map(|ours| format!("; rules have it as {ours}"));
                let closest = hint.unwrap_or_else(|| suggestion(name, self.names.fields.iter().map(|field| field.name)));
                self.error(at, format!("unknown field {scope}.{name}{closest}"))
            }
        }
    }

    pub(super) fn select(&mut self, at: &IdedExpr, select: &SelectExpr, known: &Facts) -> Result<Checked> {
        if let Expr::Ident(of) = &select.operand.expr {
            if let Some(place) = self.variable(of) {
                return self.part_of_element(at, select, place);
            }
            let path = format!("{of}.{}", select.field);
            if let Some((surrounding, field)) = Surrounding::ALL.iter().find(|(_, field)| field.name == path) {
                return self.surrounding(at, select.test, *surrounding, field, known);
            }
            if let Some(scope) = scope_of(&select.operand) {
                return self.field_of(at, select, scope, known);
            }
            match of.as_str() {
                "user" | "forecast" | "site" => {
                    let prefix = format!("{of}.");
                    let names = Surrounding::ALL.iter().filter_map(|(_, field)| field.name.strip_prefix(prefix.as_str()));
                    return self.error(at, format!("unknown name {path}{}", suggestion(&select.field, names)));
                }
                "tables" => {
                    self.table(at, &select.field)?;
                    let name = &select.field;
                    return self.error(
                        at,
                        format!("a table is used as tables.{name}[key], as key in tables.{name}, or tables.{name}.all(key, ...)"),
                    );
                }
                _ => {}
            }
        }
        // A column of a row: tables.NAME[key].column.
        if let Expr::Call(call) = &select.operand.expr
            && call.func_name == operators::INDEX
            && let [table, key] = call.args.as_slice()
            && let Some(name) = table_name(table)
        {
            if select.test {
                let (_, names) = self.table(at, name)?;
                if !names.columns.iter().any(|(column, _)| *column == select.field) && !names.sparse.is_empty() {
                    let (node, fact) = self.row(at, name, key, Some(&select.field), known)?;
                    let Form::LookUp { table, key, .. } = node.form else { return self.error(at, "this is no table") };
                    return Ok(test(Form::HasKey(table, key), fact));
                }
                return self.error(at, format!("each row has all columns: write key in tables.{name}"));
            }
            return self.look_up(at, name, key, Some(&select.field), known);
        }
        let operand = self.check(&select.operand, known)?;
        self.error(at, format!("a value of type {} has no part {}", operand.node.kind, select.field))
    }

    pub(super) fn surrounding(
        &self,
        at: &IdedExpr,
        is_test: bool,
        surrounding: Surrounding,
        field: &Field,
        known: &Facts,
    ) -> Result<Checked> {
        if !is_test {
            return self.read(at, surrounding, field, known);
        }
        if !field.may_be_absent {
            return self.error(at, format!("{} is always there", field.name));
        }
        Ok(test(Form::Knows(surrounding), Fact::Surrounding(surrounding)))
    }

    pub(super) fn field_of(&self, at: &IdedExpr, select: &SelectExpr, scope: Scope, known: &Facts) -> Result<Checked> {
        let (number, field) = self.field(at, scope, &select.field)?;
        let path = format!("{scope}.{}", field.name);
        if field.kind == Kind::Variables {
            return self.error(at, format!("{path} is used as {path}['NAME'], or as 'NAME' in {path}"));
        }
        if select.test {
            return Ok(test(Form::Has(scope, number), Fact::Field(scope, number)));
        }
        if field.may_be_absent && !known.has(&Fact::Field(scope, number)) {
            return self.absent(at, &path, &path);
        }
        Ok(plain(field.kind, Form::Load(scope, number)))
    }

    pub(super) fn part_of_element(&self, at: &IdedExpr, select: &SelectExpr, of: usize) -> Result<Checked> {
        let parts =
            [("kind", ResourcePart::Kind), ("type", ResourcePart::Type), ("count", ResourcePart::Count), ("text", ResourcePart::Text)];
        let part = parts.iter().find(|(name, _)| *name == select.field);
        match (self.variables.get(of), part) {
            (Some((_, Variable::Resource)), Some((_, part))) if !select.test => Ok(plain(part.kind(), Form::ResourceItem(of, *part))),
            (Some((variable, Variable::Resource)), _) => {
                self.error(at, format!("a resource has {variable}.kind, .type, .count and .text, and all of them"))
            }
            (Some((_, Variable::Value { kind, .. })), _) => self.error(at, format!("a value of type {kind} has no part {}", select.field)),
            _ => self.error(at, format!("a text has no part {}", select.field)),
        }
    }
}
