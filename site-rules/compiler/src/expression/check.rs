//! Checks expressions: that names and functions are known, that kinds fit, and that what may be
//! absent is used only where it was found to be there.

use super::emit::folded;
use super::facts::{Fact, Facts};
use super::node::{Constant, Form, Node};
use super::regular;
use crate::problem::{ExpressionError, suggestion};
use crate::{literal, zone};
use cel::common::ast::{CallExpr, ComprehensionExpr, Expr, IdedExpr, LiteralValue, SelectExpr, SourceInfo, operators};
use site_rules::calendar::Part;
use site_rules::field::{Field, FieldNumber};
use site_rules::operators::{Binary, Unary};
use site_rules::program::{Quantifier, ResourcePart, Scope};
use site_rules::submission::Surrounding;
use site_rules::value::Kind;

/// What expressions can name.
#[derive(Clone, Copy, Debug)]
pub struct Names<'n> {
    /// The fields of a job.
    pub fields: &'static [Field],
    /// The tables.
    pub tables: &'n [TableNames],
}

/// What expressions can name of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableNames {
    /// Its name.
    pub name: String,
    /// Its columns beside the key.
    pub columns: Vec<(String, Kind)>,
    /// Columns in which not every row has a value.
    pub sparse: Vec<SparseColumn>,
}

/// A column in which not every row has a value: a table of its own, with one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SparseColumn {
    /// Its name.
    pub name: String,
    /// The kind of its values.
    pub kind: Kind,
    /// Where its table stands.
    pub table: u16,
}

/// An expression that was checked, and what is known where it is true or false.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The expression.
    pub node: Node,
    /// What is there where it is true.
    pub if_true: Facts,
    /// What is there where it is false.
    pub if_false: Facts,
}

type Result<T> = std::result::Result<T, ExpressionError>;

/// Checks an expression where some things are known to be there.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn check(expression: &IdedExpr, info: &SourceInfo, names: Names<'_>, known: &Facts) -> Result<Checked> {
    Checker { info, names, loops: Vec::new() }.check(expression, known)
}

struct Checker<'c> {
    info: &'c SourceInfo,
    names: Names<'c>,
    /// The variables of the loops that an expression is in, and what they go through.
    loops: Vec<(String, Kind)>,
}

impl From<Node> for Checked {
    fn from(node: Node) -> Self {
        Checked { node: folded(node), if_true: Facts::default(), if_false: Facts::default() }
    }
}

/// An expression without a check of its own.
fn plain(kind: Kind, form: Form) -> Checked {
    Node { kind, form }.into()
}

impl Checker<'_> {
    fn error<T>(&self, at: &IdedExpr, message: impl Into<String>) -> Result<T> {
        let offset = self.info.offset_for(at.id).map_or(0, |(start, _)| usize::try_from(start).unwrap_or(0));
        // The parser counts characters.
        let offset = self.info.source.char_indices().nth(offset).map_or(0, |(byte, _)| byte);
        Err(ExpressionError { offset, message: message.into() })
    }

    fn check(&mut self, expression: &IdedExpr, known: &Facts) -> Result<Checked> {
        match &expression.expr {
            Expr::Literal(literal) => self.literal(expression, literal),
            Expr::Ident(name) => self.name(expression, name, known),
            Expr::Select(select) => self.select(expression, select, known),
            Expr::Call(call) => self.call(expression, call, known),
            Expr::Comprehension(comprehension) => self.comprehension(expression, comprehension, known),
            Expr::List(list) => {
                if !list.optional_indices.is_empty() {
                    return self.error(expression, "a list can't have optional elements");
                }
                let texts: Option<Vec<String>> = list.elements.iter().map(text_of).collect();
                match texts {
                    Some(texts) => Ok(Node::constant(Constant::Texts(texts)).into()),
                    None => self.error(
                        expression,
                        "a list can have other elements than texts in quotes only where something is looked for in it, as in job.min_nodes in [1, 2, 4]",
                    ),
                }
            }
            Expr::Map(_) => self.error(expression, "a map can't be written in an expression: put it into a table ([tables.NAME])"),
            Expr::Struct(_) => self.error(expression, "a message can't be made in an expression"),
            Expr::Unspecified => self.error(expression, "this is no expression"),
        }
    }

    /// Checks an expression that must be of a kind.
    fn of_kind(&mut self, expression: &IdedExpr, kind: Kind, known: &Facts) -> Result<Checked> {
        let checked = self.check(expression, known)?;
        if checked.node.kind != kind {
            return self.error(expression, format!("this is of type {}, where {kind} is expected", checked.node.kind));
        }
        Ok(checked)
    }

    fn literal(&self, at: &IdedExpr, literal: &LiteralValue) -> Result<Checked> {
        let constant = match literal {
            LiteralValue::Boolean(truth) => Constant::Truth(*truth.inner()),
            LiteralValue::Int(number) => Constant::Integer(*number.inner()),
            LiteralValue::Double(number) => Constant::Real(*number.inner()),
            LiteralValue::String(text) => Constant::Text(text.inner().to_owned()),
            LiteralValue::UInt(_) => return self.error(at, "there are no unsigned integers: write the number without u"),
            LiteralValue::Bytes(_) => return self.error(at, "there are no byte strings: write the text without b"),
            LiteralValue::Null => return self.error(at, "nothing is null: test by has(...) whether a field is there"),
        };
        Ok(Node::constant(constant).into())
    }

    fn name(&self, at: &IdedExpr, name: &str, known: &Facts) -> Result<Checked> {
        if let Some(of) = self.loops.iter().rposition(|(variable, _)| variable == name) {
            return match self.loops.get(of) {
                Some((_, Kind::Texts)) => Ok(plain(Kind::Text, Form::Item(of))),
                _ => self.error(at, format!("of a resource only {name}.kind, {name}.type and {name}.count can be used")),
            };
        }
        match name {
            "job" | "current" | "user" | "tables" | "forecast" => {
                self.error(at, format!("what of it? A name such as {name}.{} is expected", self.example(name)))
            }
            _ => match Surrounding::ALL.iter().find(|(_, field)| field.name == name) {
                Some((surrounding, field)) => self.read(at, *surrounding, field, known),
                None => {
                    let mut known: Vec<&str> = vec!["job", "current", "user", "tables", "forecast", "now", "kind"];
                    known.extend(self.loops.iter().map(|(variable, _)| variable.as_str()));
                    let is_field = self.names.fields.iter().any(|field| field.name == name);
                    let remedy = if is_field { format!("; did you mean job.{name}?") } else { suggestion(name, known.iter().copied()) };
                    self.error(at, format!("unknown name {name}{remedy}"))
                }
            },
        }
    }

    fn example(&self, name: &str) -> String {
        match name {
            "user" => "name".to_owned(),
            "tables" => self.names.tables.first().map_or("NAME[key]".to_owned(), |table| format!("{}[key]", table.name)),
            "forecast" => "wait(partition)".to_owned(),
            _ => "partition".to_owned(),
        }
    }

    fn read(&self, at: &IdedExpr, surrounding: Surrounding, field: &Field, known: &Facts) -> Result<Checked> {
        if field.may_be_absent && !known.has(&Fact::Surrounding(surrounding)) {
            return self.absent(at, field.name, field.name);
        }
        Ok(plain(field.kind, Form::Read(surrounding)))
    }

    fn absent<T>(&self, at: &IdedExpr, what: &str, path: &str) -> Result<T> {
        let optional = path.rsplit_once('.').map_or_else(|| path.to_owned(), |(of, name)| format!("{of}.?{name}"));
        self.error(
            at,
            format!(
                "{what} may be absent: test it before, as in has({path}) && ..., or say what holds then, as in {optional}.orValue(...)"
            ),
        )
    }

    /// A field of a job, by the name in front of the dot and its own.
    fn field(&self, at: &IdedExpr, scope: Scope, name: &str) -> Result<(FieldNumber, &'static Field)> {
        let prefix = scope_name(scope);
        match self.names.fields.iter().position(|field| field.name == name) {
            Some(place) => match (u16::try_from(place), self.names.fields.get(place)) {
                (Ok(number), Some(field)) => Ok((FieldNumber(number), field)),
                _ => self.error(at, "too many fields"),
            },
            None => {
                let closest = suggestion(name, self.names.fields.iter().map(|field| field.name));
                self.error(at, format!("unknown field {prefix}.{name}{closest}"))
            }
        }
    }

    fn select(&mut self, at: &IdedExpr, select: &SelectExpr, known: &Facts) -> Result<Checked> {
        if let Expr::Ident(of) = &select.operand.expr {
            if let Some(place) = self.loops.iter().rposition(|(variable, _)| variable == of) {
                return self.part_of_element(at, select, place);
            }
            let path = format!("{of}.{}", select.field);
            if let Some((surrounding, field)) = Surrounding::ALL.iter().find(|(_, field)| field.name == path) {
                return self.surrounding(at, select.test, *surrounding, field, known);
            }
            match of.as_str() {
                "job" => return self.field_of(at, select, Scope::Job, known),
                "current" => return self.field_of(at, select, Scope::Current, known),
                "user" | "forecast" => {
                    let prefix = format!("{of}.");
                    let names = Surrounding::ALL.iter().filter_map(|(_, field)| field.name.strip_prefix(prefix.as_str()));
                    return self.error(at, format!("unknown name {path}{}", suggestion(&select.field, names)));
                }
                "tables" => {
                    self.table(at, &select.field)?;
                    let name = &select.field;
                    return self.error(at, format!("a table is used as tables.{name}[key], or as key in tables.{name}"));
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

    fn surrounding(&self, at: &IdedExpr, is_test: bool, surrounding: Surrounding, field: &Field, known: &Facts) -> Result<Checked> {
        if !is_test {
            return self.read(at, surrounding, field, known);
        }
        if !field.may_be_absent {
            return self.error(at, format!("{} is always there", field.name));
        }
        Ok(test(Form::Knows(surrounding), Fact::Surrounding(surrounding)))
    }

    fn field_of(&self, at: &IdedExpr, select: &SelectExpr, scope: Scope, known: &Facts) -> Result<Checked> {
        let (number, field) = self.field(at, scope, &select.field)?;
        let path = format!("{}.{}", scope_name(scope), field.name);
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

    fn part_of_element(&self, at: &IdedExpr, select: &SelectExpr, of: usize) -> Result<Checked> {
        let parts = [("kind", ResourcePart::Kind), ("type", ResourcePart::Type), ("count", ResourcePart::Count)];
        let part = parts.iter().find(|(name, _)| *name == select.field);
        match (self.loops.get(of), part) {
            (Some((_, Kind::Resources)), Some((_, part))) if !select.test => {
                let kind = if *part == ResourcePart::Count { Kind::Integer } else { Kind::Text };
                Ok(plain(kind, Form::ResourceItem(of, *part)))
            }
            (Some((variable, Kind::Resources)), _) => {
                self.error(at, format!("a resource has {variable}.kind, {variable}.type and {variable}.count, and all of them"))
            }
            _ => self.error(at, format!("a text has no part {}", select.field)),
        }
    }

    fn table(&self, at: &IdedExpr, name: &str) -> Result<(u16, &TableNames)> {
        match self.names.tables.iter().position(|table| table.name == name) {
            Some(place) => match (u16::try_from(place), self.names.tables.get(place)) {
                (Ok(number), Some(table)) => Ok((number, table)),
                _ => self.error(at, "too many tables"),
            },
            None => {
                let closest = suggestion(name, self.names.tables.iter().map(|table| table.name.as_str()));
                self.error(at, format!("unknown table tables.{name}{closest}"))
            }
        }
    }

    /// A value of a table, whose key must be known to be in it.
    fn look_up(&mut self, at: &IdedExpr, name: &str, key: &IdedExpr, column: Option<&str>, known: &Facts) -> Result<Checked> {
        let (node, fact) = self.row(at, name, key, column, known)?;
        if !known.has(&fact) {
            let (_, names) = self.table(at, name)?;
            if let Some(sparse) = names.sparse.iter().find(|sparse| Some(sparse.name.as_str()) == column) {
                let column = &sparse.name;
                return self.error(
                    at,
                    format!(
                        "there may be no {column}: test it before, as in has(tables.{name}[key].{column}) && ..., or say what holds then, as in tables.{name}[?key].{column}.orValue(...)"
                    ),
                );
            }
            return self.error(
                at,
                format!(
                    "the key may be missing in tables.{name}: test it before, as in key in tables.{name} && ..., or say what holds then, as in tables.{name}[?key].orValue(...)"
                ),
            );
        }
        Ok(node.into())
    }

    fn row(&mut self, at: &IdedExpr, name: &str, key: &IdedExpr, column: Option<&str>, known: &Facts) -> Result<(Node, Fact)> {
        let (table, names) = self.table(at, name)?;
        let (columns, sparse) = (names.columns.clone(), names.sparse.clone());
        let all = || columns.iter().map(|(name, _)| name.as_str()).chain(sparse.iter().map(|column| column.name.as_str()));
        if let Some(found) = sparse.iter().find(|sparse| Some(sparse.name.as_str()) == column) {
            let key = self.of_kind(key, Kind::Text, known)?.node;
            let fact = Fact::Key(found.table, key.clone());
            return Ok((Node { kind: found.kind, form: Form::LookUp { table: found.table, column: 0, key: Box::new(key) } }, fact));
        }
        let place = match (column, columns.as_slice()) {
            (None, [_]) if sparse.is_empty() => 0,
            (None, _) => {
                let list: Vec<&str> = all().collect();
                return self.error(at, format!("which column? tables.{name}[key] has {}", list.join(", ")));
            }
            (Some(column), _) => match columns.iter().position(|(name, _)| name == column) {
                Some(place) => place,
                None => {
                    let closest = suggestion(column, all());
                    return self.error(at, format!("tables.{name} has no column {column}{closest}"));
                }
            },
        };
        let key = self.of_kind(key, Kind::Text, known)?.node;
        let (Ok(number), Some((_, kind))) = (u16::try_from(place), columns.get(place)) else {
            return self.error(at, "too many columns");
        };
        let fact = Fact::Key(table, key.clone());
        Ok((Node { kind: *kind, form: Form::LookUp { table, column: number, key: Box::new(key) } }, fact))
    }

    fn call(&mut self, at: &IdedExpr, call: &CallExpr, known: &Facts) -> Result<Checked> {
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
            ("orValue", Some(optional), [otherwise]) => self.or_value(at, optional, otherwise, known),
            ("hasValue", Some(optional), []) => {
                let (_, test) = self.optional(optional, known)?;
                Ok(test)
            }
            ("wait" | "knows", Some(target), arguments) if is_name(target, "forecast") => self.forecast(at, name, arguments, known),
            _ => match binary_of(name) {
                Some(binary) if call.target.is_none() && call.args.len() == 2 => {
                    self.binary(at, binary, &call.args[0], &call.args[1], known)
                }
                _ => self.function(at, call, known),
            },
        }
    }

    fn and(&mut self, left: &IdedExpr, right: &IdedExpr, known: &Facts) -> Result<Checked> {
        let left = self.of_kind(left, Kind::Truth, known)?;
        let right = self.of_kind(right, Kind::Truth, &known.with(&left.if_true))?;
        Ok(Checked {
            node: folded(Node { kind: Kind::Truth, form: Form::And(Box::new(left.node), Box::new(right.node)) }),
            if_true: left.if_true.with(&right.if_true),
            if_false: left.if_false.common(&right.if_false),
        })
    }

    fn or(&mut self, left: &IdedExpr, right: &IdedExpr, known: &Facts) -> Result<Checked> {
        let left = self.of_kind(left, Kind::Truth, known)?;
        let right = self.of_kind(right, Kind::Truth, &known.with(&left.if_false))?;
        Ok(Checked {
            node: folded(Node { kind: Kind::Truth, form: Form::Or(Box::new(left.node), Box::new(right.node)) }),
            if_true: left.if_true.common(&right.if_true),
            if_false: left.if_false.with(&right.if_false),
        })
    }

    fn choose(&mut self, at: &IdedExpr, condition: &IdedExpr, one: &IdedExpr, other: &IdedExpr, known: &Facts) -> Result<Checked> {
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

    fn binary(&mut self, at: &IdedExpr, binary: Binary, left: &IdedExpr, right: &IdedExpr, known: &Facts) -> Result<Checked> {
        let left = self.check(left, known)?.node;
        let right = self.check(right, known)?.node;
        let Some(kind) = binary.result(left.kind, right.kind) else {
            let remedy = match (left.kind, right.kind) {
                (Kind::Integer, Kind::Real) | (Kind::Real, Kind::Integer) => ": write double(...) around the int",
                (Kind::Integer, Kind::Duration) | (Kind::Duration, Kind::Integer) => {
                    ": write a duration as duration('1h30m') or limit('1-12:00:00')"
                }
                (Kind::Integer, Kind::Text) | (Kind::Text, Kind::Integer) => ": write memory as bytes('64G'), and a number without quotes",
                (Kind::Texts | Kind::Resources, _) => ": a list is asked by size(...), in, all or exists",
                _ => "",
            };
            let symbol = symbol(binary);
            return self.error(at, format!("{symbol} can't be used with {} and {}{remedy}", left.kind, right.kind));
        };
        Ok(plain(kind, Form::Binary(binary, Box::new(left), Box::new(right))))
    }

    fn index(&mut self, at: &IdedExpr, of: &IdedExpr, index: &IdedExpr, known: &Facts) -> Result<Checked> {
        if let Some(name) = table_name(of) {
            return self.look_up(at, name, index, None, known);
        }
        if let Some((scope, field)) = self.environment(of) {
            let name = self.of_kind(index, Kind::Text, known)?.node;
            if !known.has(&Fact::Variable(scope, name.clone())) {
                let path = format!("{}.{field}", scope_name(scope));
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
    fn environment(&self, expression: &IdedExpr) -> Option<(Scope, &'static str)> {
        let Expr::Select(select) = &expression.expr else { return None };
        let scope = if is_name(&select.operand, "job") {
            Scope::Job
        } else if is_name(&select.operand, "current") {
            Scope::Current
        } else {
            return None;
        };
        let field = self.names.fields.iter().find(|field| field.name == select.field && field.kind == Kind::Variables)?;
        (!select.test).then_some((scope, field.name))
    }

    fn is_in(&mut self, at: &IdedExpr, what: &IdedExpr, of: &IdedExpr, known: &Facts) -> Result<Checked> {
        if let Expr::Select(select) = &of.expr
            && is_name(&select.operand, "tables")
        {
            let (table, _) = self.table(of, &select.field)?;
            let key = self.of_kind(what, Kind::Text, known)?.node;
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
    fn is_among(&mut self, at: &IdedExpr, what: &IdedExpr, elements: &[IdedExpr], known: &Facts) -> Result<Checked> {
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

    /// An expression with `.?` or `[?`: its value where it is there, and the test whether it is.
    fn optional(&mut self, expression: &IdedExpr, known: &Facts) -> Result<(Node, Checked)> {
        if let Expr::Call(call) = &expression.expr {
            match (call.func_name.as_str(), call.args.as_slice()) {
                (operators::OPT_SELECT, [of, field]) => {
                    if let (Expr::Ident(_), Some(field)) = (&of.expr, text_of(field)) {
                        return self.both(expression, of, &field, known);
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
    fn both(&mut self, at: &IdedExpr, of: &IdedExpr, field: &str, known: &Facts) -> Result<(Node, Checked)> {
        let select = |test| SelectExpr { operand: Box::new(of.clone()), field: field.to_owned(), test };
        let test = self.select(at, &select(true), known)?;
        let value = self.select(at, &select(false), &known.with(&test.if_true))?.node;
        Ok((value, test))
    }

    fn optional_element(
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

    fn or_value(&mut self, at: &IdedExpr, optional: &IdedExpr, otherwise: &IdedExpr, known: &Facts) -> Result<Checked> {
        let (value, test) = self.optional(optional, known)?;
        let otherwise = self.of_kind(otherwise, value.kind, known)?.node;
        let kind = value.kind;
        let _ = at;
        Ok(plain(kind, Form::Choose(Box::new(test.node), Box::new(value), Box::new(otherwise))))
    }

    fn forecast(&mut self, at: &IdedExpr, name: &str, arguments: &[IdedExpr], known: &Facts) -> Result<Checked> {
        /// Of the wait, where none is given: as likely longer as shorter.
        const QUANTILE: f64 = 0.5;
        let (partition, quantile) = match arguments {
            [partition] => (partition, None),
            [partition, quantile] if name == "wait" => (partition, Some(quantile)),
            _ => return self.error(at, "forecast.wait(partition), forecast.wait(partition, 0.9) or forecast.knows(partition) is expected"),
        };
        let partition = self.of_kind(partition, Kind::Text, known)?.node;
        let fact = Fact::Forecast(partition.clone());
        if name == "knows" {
            return Ok(test(Form::HasWait(Box::new(partition)), fact));
        }
        if !known.has(&fact) {
            return self.error(at, "there may be no forecast: test it before, as in forecast.knows(partition) && ...");
        }
        let quantile = match quantile {
            Some(quantile) => self.of_kind(quantile, Kind::Real, known)?.node,
            None => Node::constant(Constant::Real(QUANTILE)),
        };
        Ok(plain(Kind::Duration, Form::Wait(Box::new(partition), Box::new(quantile))))
    }

    fn function(&mut self, at: &IdedExpr, call: &CallExpr, known: &Facts) -> Result<Checked> {
        let name = call.func_name.as_str();
        match (name, call.target.as_deref(), call.args.as_slice()) {
            ("duration" | "limit" | "bytes" | "timestamp", None, [argument]) => return self.written_literal(at, name, argument),
            ("matches", Some(text), [pattern]) | ("matches", None, [text, pattern]) => {
                let Some(source) = text_of(pattern) else {
                    return self
                        .error(pattern, "the regular expression must stand here in quotes, as it is compiled when rules are loaded");
                };
                if let Err(message) = regular::pattern(&source) {
                    return self.error(pattern, message);
                }
                let text = self.of_kind(text, Kind::Text, known)?.node;
                return Ok(plain(Kind::Truth, Form::Matches(source, Box::new(text))));
            }
            ("startsWith" | "endsWith" | "contains", Some(text), [part]) => {
                let binary = match name {
                    "startsWith" => Binary::StartsWith,
                    "endsWith" => Binary::EndsWith,
                    _ => Binary::Contains,
                };
                return self.binary(at, binary, text, part, known);
            }
            _ => {}
        }
        if let Some(operand) = operand_of(call)
            && let Some(unaries) = unary_of(name, call.target.is_some())
        {
            return self.unary(at, name, unaries, operand, known);
        }
        if let (Some(part), Some(moment)) = (part_of_moment(name), call.target.as_deref()) {
            return self.part_of_moment(at, part, moment, &call.args, known);
        }
        if matches!(name, "map" | "filter" | "sort" | "sortBy" | "join" | "split") {
            return self.error(at, format!("{name} would make a list: ask by all, exists, exists_one, in or size instead"));
        }
        let is_known = FUNCTIONS.contains(&name);
        let remedy = if is_known { "; it has other arguments".to_owned() } else { suggestion(name, FUNCTIONS.iter().copied()) };
        let shown = if call.target.is_some() { format!("x.{name}") } else { name.to_owned() };
        self.error(at, format!("no function {shown} with {} arguments{remedy}", call.args.len()))
    }

    fn unary(&mut self, at: &IdedExpr, name: &str, unary: Unary, operand: &IdedExpr, known: &Facts) -> Result<Checked> {
        let operand = self.check(operand, known)?.node;
        if let Some(part) = part_of_moment(name)
            && operand.kind == Kind::Moment
        {
            return Ok(plain(Kind::Integer, Form::Part(part, site_rules::calendar::Zone::default(), Box::new(operand))));
        }
        match unary.result(operand.kind) {
            Some(kind) => Ok(plain(kind, Form::Unary(unary, Box::new(operand)))),
            None => self.error(at, format!("{} can't be used with {}", if name == operators::NEGATE { "-" } else { name }, operand.kind)),
        }
    }

    fn part_of_moment(&mut self, at: &IdedExpr, part: Part, moment: &IdedExpr, arguments: &[IdedExpr], known: &Facts) -> Result<Checked> {
        let moment = self.of_kind(moment, Kind::Moment, known)?.node;
        let zone = match arguments {
            [] => site_rules::calendar::Zone::default(),
            [zone] => match text_of(zone).map(|name| zone::named(&name)) {
                Some(Ok(zone)) => zone,
                Some(Err(message)) => return self.error(at, message),
                None => return self.error(at, "the time zone must stand here in quotes, as in now.getHours('Europe/Berlin')"),
            },
            _ => return self.error(at, "one time zone is expected, as in now.getHours('Europe/Berlin')"),
        };
        Ok(plain(Kind::Integer, Form::Part(part, zone, Box::new(moment))))
    }

    /// `duration('1h')`, `limit('1-0')`, `bytes('64G')`, `timestamp('...')`.
    fn written_literal(&self, at: &IdedExpr, name: &str, argument: &IdedExpr) -> Result<Checked> {
        let Some(text) = text_of(argument) else {
            return self.error(argument, format!("a text in quotes is expected, as {name}(...) is read when rules are loaded"));
        };
        let constant = match name {
            "duration" => literal::duration(&text).map(Constant::Duration),
            "limit" => literal::limit(&text).map(Constant::Duration),
            "bytes" => literal::bytes(&text).map(Constant::Integer),
            _ => literal::moment(&text).map(Constant::Moment),
        };
        match constant {
            Ok(constant) => Ok(Node::constant(constant).into()),
            Err(message) => self.error(at, message),
        }
    }

    fn comprehension(&mut self, at: &IdedExpr, loop_over: &ComprehensionExpr, known: &Facts) -> Result<Checked> {
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

/// A test whether something is there.
fn test(form: Form, fact: Fact) -> Checked {
    Checked { node: Node { kind: Kind::Truth, form }, if_true: Facts::of(fact), if_false: Facts::default() }
}

fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Job => "job",
        Scope::Current => "current",
    }
}

fn is_name(expression: &IdedExpr, name: &str) -> bool {
    matches!(&expression.expr, Expr::Ident(other) if other == name)
}

/// The name of a table in `tables.NAME`.
fn table_name(expression: &IdedExpr) -> Option<&str> {
    match &expression.expr {
        Expr::Select(select) if !select.test && is_name(&select.operand, "tables") => Some(&select.field),
        _ => None,
    }
}

/// The text that stands there in quotes.
fn text_of(expression: &IdedExpr) -> Option<String> {
    match &expression.expr {
        Expr::Literal(LiteralValue::String(text)) => Some(text.inner().to_owned()),
        _ => None,
    }
}

/// The only value that a call is about: what stands before the dot, or in brackets.
fn operand_of(call: &CallExpr) -> Option<&IdedExpr> {
    match (call.target.as_deref(), call.args.as_slice()) {
        (Some(target), []) => Some(target),
        (None, [argument]) => Some(argument),
        _ => None,
    }
}

/// All functions, to suggest one of them.
const FUNCTIONS: &[&str] = &[
    "size",
    "int",
    "double",
    "string",
    "lowerAscii",
    "upperAscii",
    "trim",
    "startsWith",
    "endsWith",
    "contains",
    "matches",
    "duration",
    "limit",
    "bytes",
    "timestamp",
    "has",
    "all",
    "exists",
    "exists_one",
    "orValue",
    "hasValue",
    "getFullYear",
    "getMonth",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getHours",
    "getMinutes",
    "getSeconds",
    "getMilliseconds",
];

fn unary_of(name: &str, is_member: bool) -> Option<Unary> {
    Some(match (name, is_member) {
        (operators::NEGATE, false) => Unary::Negate,
        ("size", _) => Unary::Size,
        ("int", false) => Unary::ToInteger,
        ("double", false) => Unary::ToReal,
        ("string", false) => Unary::ToText,
        ("lowerAscii", true) => Unary::LowerAscii,
        ("upperAscii", true) => Unary::UpperAscii,
        ("trim", true) => Unary::Trim,
        ("getHours", true) => Unary::WholeHours,
        ("getMinutes", true) => Unary::WholeMinutes,
        ("getSeconds", true) => Unary::WholeSeconds,
        ("getMilliseconds", true) => Unary::Milliseconds,
        _ => return None,
    })
}

fn part_of_moment(name: &str) -> Option<Part> {
    Some(match name {
        "getFullYear" => Part::Year,
        "getMonth" => Part::Month,
        "getDate" => Part::Date,
        "getDayOfMonth" => Part::DayOfMonth,
        "getDayOfWeek" => Part::DayOfWeek,
        "getDayOfYear" => Part::DayOfYear,
        "getHours" => Part::Hours,
        "getMinutes" => Part::Minutes,
        "getSeconds" => Part::Seconds,
        "getMilliseconds" => Part::Milliseconds,
        _ => return None,
    })
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
        Binary::In | Binary::Either => "in",
        _ => BINARIES.iter().find(|(_, other, _)| *other == binary).map_or("[...]", |(.., symbol)| *symbol),
    }
}
