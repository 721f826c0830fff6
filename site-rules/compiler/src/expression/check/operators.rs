//! Operators: those of logic, from which follows what is known where they are true or false, those
//! of two values, brackets, and `in`.

use super::{Checked, Checker, Result, is_name, plain, scope_of, table_name, test, text_of};
use crate::expression::caseless::{compared, is_caseless};
use crate::expression::emit::folded;
use crate::expression::facts::{Fact, Facts};
use crate::expression::node::{Form, Node};
use cel::common::ast::{CallExpr, Expr, IdedExpr, operators};
use site_rules::operators::{Binary, Unary};
use site_rules::program::{Quantifier, Scope};
use site_rules::value::Kind;

impl Checker<'_> {
    pub(super) fn call(&mut self, at: &IdedExpr, call: &CallExpr, known: &Facts) -> Result<Checked> {
        let name = call.func_name.as_str();
        match (name, call.target.as_deref(), call.args.as_slice()) {
            (operators::LOGICAL_AND, None, [left, right]) => self.and(left, right, known),
            (operators::LOGICAL_OR, None, [left, right]) => self.or(left, right, known),
            (operators::LOGICAL_NOT, None, [operand]) => {
                let Checked { node, if_true, if_false } = self.of_kind(operand, Kind::Truth, known)?;
                let node = folded(Node { kind: Kind::Truth, form: Form::Unary(Unary::Not, Box::new(node)) });
                Ok(Checked { node, if_true: if_false, if_false: if_true })
            }
            (operators::CONDITIONAL, None, [condition, one, other]) => self.choose(at, condition, one, other, known),
            (operators::INDEX, None, [of, index]) => self.index(at, of, index, known),
            (operators::IN, None, [what, of]) => self.is_in(at, what, of, known),
            (operators::OPT_SELECT | operators::OPT_INDEX, None, _) => {
                self.error(at, "what holds where it is absent? Write .orValue(...) or .hasValue() behind it")
            }
            ("orValue", Some(optional), [otherwise]) => self.or_value(optional, otherwise, known),
            ("hasValue", Some(optional), []) => {
                let (_, test) = self.optional(optional, known)?;
                Ok(test)
            }
            ("bind", Some(target), arguments) if is_name(target, "cel") => self.bind(at, arguments, known),
            ("wait" | "knows", Some(target), arguments) if is_name(target, "forecast") => self.forecast(at, name, arguments, known),
            _ => match binary_of(name) {
                Some(binary) if call.target.is_none() && call.args.len() == 2 => {
                    self.binary(at, binary, &call.args[0], &call.args[1], known)
                }
                _ => self.function(at, call, known),
            },
        }
    }

    pub(super) fn and(&mut self, left: &IdedExpr, right: &IdedExpr, known: &Facts) -> Result<Checked> {
        let left = self.of_kind(left, Kind::Truth, known)?;
        let right = self.of_kind(right, Kind::Truth, &known.with(&left.if_true))?;
        Ok(Checked {
            node: folded(Node { kind: Kind::Truth, form: Form::And(Box::new(left.node), Box::new(right.node)) }),
            if_true: left.if_true.with(&right.if_true),
            if_false: left.if_false.common(&right.if_false),
        })
    }

    pub(super) fn or(&mut self, left: &IdedExpr, right: &IdedExpr, known: &Facts) -> Result<Checked> {
        let left = self.of_kind(left, Kind::Truth, known)?;
        let right = self.of_kind(right, Kind::Truth, &known.with(&left.if_false))?;
        Ok(Checked {
            node: folded(Node { kind: Kind::Truth, form: Form::Or(Box::new(left.node), Box::new(right.node)) }),
            if_true: left.if_true.common(&right.if_true),
            if_false: left.if_false.with(&right.if_false),
        })
    }

    pub(super) fn choose(
        &mut self,
        at: &IdedExpr,
        condition: &IdedExpr,
        one: &IdedExpr,
        other: &IdedExpr,
        known: &Facts,
    ) -> Result<Checked> {
        let condition = self.of_kind(condition, Kind::Truth, known)?;
        let one = self.check(one, &known.with(&condition.if_true))?;
        let other = self.check(other, &known.with(&condition.if_false))?;
        if one.node.kind != other.node.kind {
            let kinds = (one.node.kind, other.node.kind);
            return self.error(at, format!("one side is of type {}, the other of type {}", kinds.0, kinds.1));
        }
        let (with, without) = (&condition.if_true, &condition.if_false);
        Ok(Checked {
            if_true: with.with(&one.if_true).common(&without.with(&other.if_true)),
            if_false: with.with(&one.if_false).common(&without.with(&other.if_false)),
            node: folded(Node {
                kind: one.node.kind,
                form: Form::Choose(Box::new(condition.node), Box::new(one.node), Box::new(other.node)),
            }),
        })
    }

    pub(super) fn binary(&mut self, at: &IdedExpr, binary: Binary, left: &IdedExpr, right: &IdedExpr, known: &Facts) -> Result<Checked> {
        let left = self.check(left, known)?.node;
        let right = self.check(right, known)?.node;
        self.of_two(at, binary, left, right)
    }

    /// An operation on two values that were checked.
    pub(super) fn of_two(&self, at: &IdedExpr, binary: Binary, left: Node, right: Node) -> Result<Checked> {
        let Some(kind) = binary.result(left.kind, right.kind) else {
            let remedy = match (left.kind, right.kind) {
                (Kind::Integer, Kind::Real) | (Kind::Real, Kind::Integer) => ": write double(...) around the int",
                (Kind::Integer, Kind::Duration) | (Kind::Duration, Kind::Integer) if binary != Binary::Divide => {
                    ": write a duration as duration('1h30m') or limit('1-12:00:00')"
                }
                (Kind::Integer, Kind::Text) | (Kind::Text, Kind::Integer) => ": write memory as bytes('64G'), and a number without quotes",
                (Kind::Texts | Kind::Resources, _) => {
                    ": a list is asked by size(...), in, all or exists, and joined to a text by join(...)"
                }
                _ => "",
            };
            let symbol = symbol(binary);
            return self.error(at, format!("{symbol} can't be used with {} and {}{remedy}", left.kind, right.kind));
        };
        if binary == Binary::In && self.is_other_list(&left, &right) {
            return Ok(plain(kind, self.among_other_names(left, right)));
        }
        let (left, right) = compared(binary, left, right, self.around());
        Ok(plain(kind, Form::Binary(binary, Box::new(left), Box::new(right))))
    }

    /// Whether a name that Slurm compares without regard to case is looked for in a list that may
    /// have capital letters, as a column of a table.
    fn is_other_list(&self, name: &Node, list: &Node) -> bool {
        is_caseless(name, self.around()) && !is_caseless(list, self.around()) && list.as_constant().is_none()
    }

    /// Compares each text of a list with such a name.
    fn among_other_names(&self, name: Node, list: Node) -> Form {
        let element = Node { kind: Kind::Text, form: Form::Item(self.variables.len()) };
        let element = Node { kind: Kind::Text, form: Form::Unary(Unary::LowerAscii, Box::new(element)) };
        let is_same = Form::Binary(Binary::Equal, Box::new(element), Box::new(name));
        Form::Loop(Quantifier::Exists, Box::new(list), Box::new(Node { kind: Kind::Truth, form: is_same }))
    }

    pub(super) fn index(&mut self, at: &IdedExpr, of: &IdedExpr, index: &IdedExpr, known: &Facts) -> Result<Checked> {
        if let Some(name) = table_name(of) {
            return self.look_up(at, name, index, None, known);
        }
        if let Some((scope, field)) = self.environment(of) {
            let name = self.of_kind(index, Kind::Text, known)?.node;
            if !known.has(&Fact::Variable(scope, name.clone())) {
                let path = format!("{scope}.{field}");
                return self.error(
                    at,
                    format!(
                        "the variable may be missing: test it before, as in 'NAME' in {path} && ..., or say what holds then, as in {path}[?'NAME'].orValue('')"
                    ),
                );
            }
            return Ok(plain(Kind::Text, Form::Variable(scope, Box::new(name))));
        }
        let list = self.check(of, known)?.node;
        let index = self.check(index, known)?.node;
        match Binary::Element.result(list.kind, index.kind) {
            Some(kind) => Ok(plain(kind, Form::Binary(Binary::Element, Box::new(list), Box::new(index)))),
            None => self.error(at, format!("[...] can't be used with {} and {}", list.kind, index.kind)),
        }
    }

    /// Whether an expression is the environment of a job.
    pub(super) fn environment(&self, expression: &IdedExpr) -> Option<(Scope, &'static str)> {
        let Expr::Select(select) = &expression.expr else { return None };
        let scope = scope_of(&select.operand)?;
        let field = self.names.fields.iter().find(|field| field.name == select.field && field.kind == Kind::Variables)?;
        (!select.test).then_some((scope, field.name))
    }

    pub(super) fn is_in(&mut self, at: &IdedExpr, what: &IdedExpr, of: &IdedExpr, known: &Facts) -> Result<Checked> {
        if let Expr::Select(select) = &of.expr
            && is_name(&select.operand, "tables")
        {
            let (table, _) = self.table(of, &select.field)?;
            let key = self.key(&select.field, what, known)?;
            let fact = Fact::Key(table, key.clone());
            return Ok(test(Form::HasKey(table, Box::new(key)), fact));
        }
        if let Some((scope, _)) = self.environment(of) {
            let name = self.of_kind(what, Kind::Text, known)?.node;
            let fact = Fact::Variable(scope, name.clone());
            return Ok(test(Form::HasVariable(scope, Box::new(name)), fact));
        }
        if let Expr::List(list) = &of.expr
            && list.optional_indices.is_empty()
            && list.elements.iter().any(|element| text_of(element).is_none())
        {
            return self.is_among(at, what, &list.elements, known);
        }
        self.binary(at, Binary::In, what, of, known)
    }

    /// Whether a value is one of those that are listed.
    pub(super) fn is_among(&mut self, at: &IdedExpr, what: &IdedExpr, elements: &[IdedExpr], known: &Facts) -> Result<Checked> {
        /// Above it a table is easier to read, and quicker.
        const MOST: usize = 64;
        if elements.len() > MOST {
            return self.error(at, format!("a list has at most {MOST} elements: use a table"));
        }
        // A list of which an element has no value has none itself.
        let mut have_values = true;
        for element in elements {
            have_values &= self.check(element, known)?.node.as_constant().is_some();
        }
        let mut answer: Option<Node> = None;
        for element in elements {
            let Checked { node, .. } = self.binary(at, Binary::Equal, what, element, known)?;
            answer = Some(match answer {
                None => node,
                Some(before) if have_values => folded(Node { kind: Kind::Truth, form: Form::Or(Box::new(before), Box::new(node)) }),
                Some(before) => folded(Node { kind: Kind::Truth, form: Form::Binary(Binary::Either, Box::new(before), Box::new(node)) }),
            });
        }
        match answer {
            Some(node) => Ok(node.into()),
            None => self.error(at, "a list without elements"),
        }
    }
}

const BINARIES: [(&str, Binary, &str); 11] = [
    (operators::ADD, Binary::Add, "+"),
    (operators::SUBSTRACT, Binary::Subtract, "-"),
    (operators::MULTIPLY, Binary::Multiply, "*"),
    (operators::DIVIDE, Binary::Divide, "/"),
    (operators::MODULO, Binary::Remainder, "%"),
    (operators::EQUALS, Binary::Equal, "=="),
    (operators::NOT_EQUALS, Binary::NotEqual, "!="),
    (operators::LESS, Binary::Less, "<"),
    (operators::LESS_EQUALS, Binary::LessOrEqual, "<="),
    (operators::GREATER, Binary::Greater, ">"),
    (operators::GREATER_EQUALS, Binary::GreaterOrEqual, ">="),
];

fn binary_of(name: &str) -> Option<Binary> {
    BINARIES.iter().find(|(function, ..)| *function == name).map(|(_, binary, _)| *binary)
}

fn symbol(binary: Binary) -> &'static str {
    match binary {
        Binary::StartsWith => "startsWith",
        Binary::EndsWith => "endsWith",
        Binary::Contains => "contains",
        Binary::Least => "least",
        Binary::Greatest => "greatest",
        Binary::Split => "split",
        Binary::Join => "join",
        Binary::IndexOf => "indexOf",
        Binary::LastIndexOf => "lastIndexOf",
        Binary::CharAt => "charAt",
        Binary::From => "substring",
        Binary::In | Binary::Either => "in",
        _ => BINARIES.iter().find(|(_, other, _)| *other == binary).map_or("[...]", |(.., symbol)| *symbol),
    }
}
