//! Loops over lists: questions about all elements, lists that are made of them, and sums; and names
//! for values, which are kept as the element of a loop.

use super::{Checked, Checker, Result, Variable, plain, table_name};
use crate::expression::caseless::is_caseless;
use crate::expression::facts::{Fact, Facts};
use crate::expression::node::{Form, Node};
use cel::common::ast::{CallExpr, ComprehensionExpr, Expr, IdedExpr, LiteralValue, operators};
use site_rules::operators::Binary;
use site_rules::program::Quantifier;
use site_rules::value::Kind;

/// What a macro of the parser asks for.
enum Macro<'e> {
    Question(Quantifier, &'e IdedExpr),
    /// A list of what is made of the elements for which a condition holds.
    Map(Option<&'e IdedExpr>, &'e IdedExpr),
}

/// Names that can't be given to an element or a value.
const OWN_NAMES: [&str; 9] = ["job", "current", "asked", "user", "tables", "forecast", "site", "now", "kind"];

impl Checker<'_> {
    pub(super) fn comprehension(&mut self, at: &IdedExpr, loop_over: &ComprehensionExpr, known: &Facts) -> Result<Checked> {
        match asked(loop_over) {
            Some(Macro::Question(quantifier, body)) => {
                let list = self.list(&loop_over.iter_range, known)?;
                let body = self.of_elements(at, &loop_over.iter_var, &list, known, |checker, known| {
                    checker.of_kind(body, Kind::Truth, known).map(|body| body.node)
                })?;
                Ok(plain(Kind::Truth, Form::Loop(quantifier, Box::new(list), Box::new(body))))
            }
            Some(Macro::Map(condition, value)) => {
                let (list, body) = self.mapped(at, loop_over, condition, value, known)?;
                let Some(body) = body else { return Ok(list.into()) };
                if body.kind != Kind::Text {
                    let kind = body.kind;
                    return self.error(
                        value,
                        format!("this is of type {kind}, and lists are of texts: write string(...), or make one value by map(...).sum(), min() or max()"),
                    );
                }
                Ok(plain(Kind::Texts, Form::Loop(Quantifier::Map, Box::new(list), Box::new(body))))
            }
            None => self.error(at, "this loop can't be used: ask by all, exists or exists_one, or make a list by filter or map"),
        }
    }

    /// The list of those elements for which a condition holds, and what is made of each; nothing
    /// where that is the element itself.
    fn mapped(
        &mut self,
        at: &IdedExpr,
        loop_over: &ComprehensionExpr,
        condition: Option<&IdedExpr>,
        value: &IdedExpr,
        known: &Facts,
    ) -> Result<(Node, Option<Node>)> {
        let variable = loop_over.iter_var.as_str();
        let mut list = self.list(&loop_over.iter_range, known)?;
        let mut facts = known.clone();
        if let Some(condition) = condition {
            let condition =
                self.of_elements(at, variable, &list, known, |checker, known| checker.of_kind(condition, Kind::Truth, known))?;
            facts = known.with(&condition.if_true);
            list = Node { kind: list.kind, form: Form::Loop(Quantifier::Filter, Box::new(list), Box::new(condition.node)) };
        }
        if condition.is_some() && matches!(&value.expr, Expr::Ident(name) if name == variable) {
            return Ok((list, None));
        }
        let body = self.of_elements(at, variable, &list, &facts, |checker, known| checker.check(value, known).map(|body| body.node))?;
        Ok((list, Some(body)))
    }

    /// `sum()`, `min()` and `max()` of a list that is made by map, or that stands there.
    pub(super) fn reduced(&mut self, at: &IdedExpr, name: &str, of: &IdedExpr, known: &Facts) -> Result<Checked> {
        if let Expr::List(list) = &of.expr
            && list.optional_indices.is_empty()
            && !list.elements.is_empty()
        {
            let binary = match name {
                "sum" => Binary::Add,
                "min" => Binary::Least,
                _ => Binary::Greatest,
            };
            return self.of_all(at, binary, &list.elements, known);
        }
        let (list, body) = match &of.expr {
            Expr::Comprehension(loop_over) => match asked(loop_over) {
                Some(Macro::Map(condition, value)) => self.mapped(at, loop_over, condition, value, known)?,
                _ => (self.list(of, known)?, None),
            },
            _ => (self.list(of, known)?, None),
        };
        let body = match body {
            Some(body) => body,
            None if list.kind == Kind::Texts => Node { kind: Kind::Text, form: Form::Item(self.variables.len()) },
            None => return self.error(at, format!("{name} of resources? Write map(r, r.count).{name}()")),
        };
        let kind = body.kind;
        let quantifier = match name {
            "sum" => Quantifier::Sum(kind),
            "min" => Quantifier::Least(kind),
            _ => Quantifier::Greatest(kind),
        };
        if quantifier.of_element() != Some(kind) {
            return self.error(at, format!("{name} can't be used with values of type {kind}"));
        }
        Ok(plain(kind, Form::Loop(quantifier, Box::new(list), Box::new(body))))
    }

    /// One value of several, two by two: `math.least(a, b, c)`, `[a, b, c].sum()`.
    pub(super) fn of_all(&mut self, at: &IdedExpr, binary: Binary, elements: &[IdedExpr], known: &Facts) -> Result<Checked> {
        let mut answer: Option<Node> = None;
        for element in elements {
            let element = self.check(element, known)?.node;
            answer = Some(match answer {
                None => element,
                Some(before) => self.of_two(at, binary, before, element)?.node,
            });
        }
        match answer {
            Some(node) if binary.result(node.kind, node.kind) == Some(node.kind) => Ok(node.into()),
            Some(node) => self.error(at, format!("these are of type {}, of which there is no sum and no order", node.kind)),
            None => self.error(at, "of what? Values are expected in the brackets"),
        }
    }

    /// `cel.bind(NAME, VALUE, EXPRESSION)`.
    pub(super) fn bind(&mut self, at: &IdedExpr, arguments: &[IdedExpr], known: &Facts) -> Result<Checked> {
        let [name, value, body] = arguments else {
            return self
                .error(at, "a name, its value and an expression with it are expected, as in cel.bind(n, job.tasks * 2, n > 8 && n < 64)");
        };
        let Expr::Ident(name) = &name.expr else { return self.error(name, "a name is expected here") };
        self.is_free(at, name)?;
        let Checked { node, if_true, if_false } = self.check(value, known)?;
        let place = self.variables.len();
        self.caseless.push(is_caseless(&node, self.around()));
        self.variables.push((name.clone(), Variable::Value { kind: node.kind, if_true, if_false }));
        let body = self.check(body, known);
        self.variables.pop();
        self.caseless.pop();
        let body = body?;
        let kind = body.node.kind;
        Ok(Checked {
            node: Node { kind, form: Form::Bind(Box::new(node), Box::new(body.node)) },
            if_true: body.if_true.outside(place),
            if_false: body.if_false.outside(place),
        })
    }

    /// A list that is gone through: of a table its keys.
    fn list(&mut self, range: &IdedExpr, known: &Facts) -> Result<Node> {
        if let Some(name) = table_name(range) {
            return self.keys(range, name);
        }
        let list = self.check(range, known)?.node;
        if !matches!(list.kind, Kind::Texts | Kind::Resources) {
            return self.error(range, format!("this is of type {}, where a list is expected", list.kind));
        }
        Ok(list)
    }

    /// The keys of a table.
    pub(super) fn keys(&self, at: &IdedExpr, name: &str) -> Result<Node> {
        let (table, _) = self.table(at, name)?;
        Ok(Node { kind: Kind::Texts, form: Form::Keys(table) })
    }

    /// Checks what is about an element of a list.
    fn of_elements<T>(
        &mut self,
        at: &IdedExpr,
        name: &str,
        list: &Node,
        known: &Facts,
        check: impl FnOnce(&mut Self, &Facts) -> Result<T>,
    ) -> Result<T> {
        self.is_free(at, name)?;
        let place = self.variables.len();
        let variable = if list.kind == Kind::Resources { Variable::Resource } else { Variable::Text };
        let key = keys_of(list).map(|table| Fact::Key(table, Node { kind: Kind::Text, form: Form::Item(place) }));
        let known = key.map_or_else(|| known.clone(), |fact| known.with(&Facts::from(fact)));
        self.caseless.push(is_caseless(list, self.around()));
        self.variables.push((name.to_owned(), variable));
        let checked = check(self, &known);
        self.variables.pop();
        self.caseless.pop();
        checked
    }

    /// Whether an element or a value can have a name.
    fn is_free(&self, at: &IdedExpr, name: &str) -> Result<()> {
        if OWN_NAMES.contains(&name) {
            return self.error(at, format!("{name} is a name of its own: choose another one"));
        }
        Ok(())
    }
}

/// The table whose keys are in a list, as far as that is known.
fn keys_of(list: &Node) -> Option<u16> {
    match &list.form {
        Form::Keys(table) => Some(*table),
        Form::Loop(Quantifier::Filter, list, _) => keys_of(list),
        _ => None,
    }
}

/// What a loop asks for. The macros of the parser leave these forms, and nothing else does.
fn asked(loop_over: &ComprehensionExpr) -> Option<Macro<'_>> {
    let Expr::Call(step) = &loop_over.loop_step.expr else { return None };
    Some(match (&loop_over.accu_init.expr, step.func_name.as_str(), step.args.as_slice()) {
        (Expr::Literal(LiteralValue::Boolean(_)), operators::LOGICAL_AND, [_, body]) => Macro::Question(Quantifier::All, body),
        (Expr::Literal(LiteralValue::Boolean(_)), operators::LOGICAL_OR, [_, body]) => Macro::Question(Quantifier::Exists, body),
        (Expr::Literal(LiteralValue::Int(_)), operators::CONDITIONAL, [body, _, _]) => Macro::Question(Quantifier::ExistsOne, body),
        (Expr::List(_), operators::ADD, _) => Macro::Map(None, added(step)?),
        (Expr::List(_), operators::CONDITIONAL, [condition, more, _]) => {
            let Expr::Call(more) = &more.expr else { return None };
            Macro::Map(Some(condition), added(more)?)
        }
        _ => return None,
    })
}

/// What is added to a list: the only element of the list behind `+`.
fn added(sum: &CallExpr) -> Option<&IdedExpr> {
    let [_, list] = sum.args.as_slice() else { return None };
    let Expr::List(list) = &list.expr else { return None };
    match list.elements.as_slice() {
        [element] => Some(element),
        _ => None,
    }
}
