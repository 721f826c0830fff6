//! What stands behind `.?` and `[?`, and what holds where it is absent.

use super::{Checked, Checker, Result, plain, table_name, test, text_of};
use crate::expression::facts::{Fact, Facts};
use crate::expression::node::{Form, Node};
use cel::common::ast::{Expr, IdedExpr, SelectExpr, operators};
use site_rules::value::Kind;

impl Checker<'_> {
    /// An expression with `.?` or `[?`: its value where it is there, and the test whether it is.
    pub(super) fn optional(&mut self, expression: &IdedExpr, known: &Facts) -> Result<(Node, Checked)> {
        if let Expr::Call(call) = &expression.expr {
            match (call.func_name.as_str(), call.args.as_slice()) {
                (operators::OPT_SELECT, [of, field]) => {
                    if let (Expr::Ident(_), Some(field)) = (&of.expr, text_of(field)) {
                        return self.both(expression, of, &field, known);
                    }
                    // A column of a row, with ? before the column, before the key, or before both.
                    if let (Expr::Call(row), Some(field)) = (&of.expr, text_of(field))
                        && [operators::INDEX, operators::OPT_INDEX].contains(&row.func_name.as_str())
                        && let [table, key] = row.args.as_slice()
                        && table_name(table).is_some()
                    {
                        return self.optional_element(expression, table, key, Some(&field), known);
                    }
                }
                (operators::OPT_INDEX, [of, index]) => return self.optional_element(expression, of, index, None, known),
                _ => {}
            }
        }
        if let Expr::Select(select) = &expression.expr
            && let Expr::Call(call) = &select.operand.expr
            && call.func_name == operators::OPT_INDEX
            && let [of, index] = call.args.as_slice()
        {
            return self.optional_element(expression, of, index, Some(&select.field), known);
        }
        self.error(expression, "this is always there: orValue and hasValue stand behind job.?field or tables.NAME[?key]")
    }

    /// A name's part, once as a value and once as a test.
    pub(super) fn both(&mut self, at: &IdedExpr, of: &IdedExpr, field: &str, known: &Facts) -> Result<(Node, Checked)> {
        let select = |test| SelectExpr { operand: Box::new(of.clone()), field: field.to_owned(), test };
        let test = self.select(at, &select(true), known)?;
        let value = self.select(at, &select(false), &known.with(&test.if_true))?.node;
        Ok((value, test))
    }

    pub(super) fn optional_element(
        &mut self,
        at: &IdedExpr,
        of: &IdedExpr,
        index: &IdedExpr,
        column: Option<&str>,
        known: &Facts,
    ) -> Result<(Node, Checked)> {
        if let Some(name) = table_name(of) {
            let (node, fact) = self.row(at, name, index, column, known)?;
            let Form::LookUp { table, key, .. } = &node.form else { return self.error(at, "this is no table") };
            let form = Form::HasKey(*table, key.clone());
            return Ok((node, test(form, fact)));
        }
        if let (Some((scope, _)), None) = (self.environment(of), column) {
            let name = self.of_kind(index, Kind::Text, known)?.node;
            let fact = Fact::Variable(scope, name.clone());
            let value = Node { kind: Kind::Text, form: Form::Variable(scope, Box::new(name.clone())) };
            return Ok((value, test(Form::HasVariable(scope, Box::new(name)), fact)));
        }
        self.error(at, "[?...] can be used with tables and the environment")
    }

    pub(super) fn or_value(&mut self, optional: &IdedExpr, otherwise: &IdedExpr, known: &Facts) -> Result<Checked> {
        let (value, test) = self.optional(optional, known)?;
        let otherwise = self.of_kind(otherwise, value.kind, known)?.node;
        let kind = value.kind;
        Ok(plain(kind, Form::Choose(Box::new(test.node), Box::new(value), Box::new(otherwise))))
    }
}
