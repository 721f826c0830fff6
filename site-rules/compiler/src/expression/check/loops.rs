//! Loops over lists: `all`, `exists` and `exists_one`.

use super::{Checked, Checker, Result, plain};
use crate::expression::facts::Facts;
use crate::expression::node::Form;
use cel::common::ast::{ComprehensionExpr, Expr, IdedExpr, LiteralValue, operators};
use site_rules::program::Quantifier;
use site_rules::value::Kind;

impl Checker<'_> {
    pub(super) fn comprehension(&mut self, at: &IdedExpr, loop_over: &ComprehensionExpr, known: &Facts) -> Result<Checked> {
        let Expr::Call(step) = &loop_over.loop_step.expr else {
            return self.error(at, "this loop can't be used: ask by all, exists or exists_one");
        };
        // The macros of the parser leave these forms, and nothing else does.
        let (quantifier, body) = match (&loop_over.accu_init.expr, step.func_name.as_str(), step.args.as_slice()) {
            (Expr::Literal(LiteralValue::Boolean(_)), operators::LOGICAL_AND, [_, body]) => (Quantifier::All, body),
            (Expr::Literal(LiteralValue::Boolean(_)), operators::LOGICAL_OR, [_, body]) => (Quantifier::Exists, body),
            (Expr::Literal(LiteralValue::Int(_)), operators::CONDITIONAL, [body, _, _]) => (Quantifier::ExistsOne, body),
            _ => return self.error(at, "map and filter would make a list: ask by all, exists, exists_one, in or size instead"),
        };
        let list = self.check(&loop_over.iter_range, known)?.node;
        if !matches!(list.kind, Kind::Texts | Kind::Resources) {
            return self.error(&loop_over.iter_range, format!("this is of type {}, where a list is expected", list.kind));
        }
        if matches!(loop_over.iter_var.as_str(), "job" | "current" | "user" | "tables" | "forecast" | "now" | "kind") {
            return self.error(at, format!("{} is a name of its own: call the element otherwise", loop_over.iter_var));
        }
        self.loops.push((loop_over.iter_var.clone(), list.kind));
        let body = self.of_kind(body, Kind::Truth, known);
        self.loops.pop();
        Ok(plain(Kind::Truth, Form::Loop(quantifier, Box::new(list), Box::new(body?.node))))
    }
}
