//! Checks expressions: that names and functions are known, that kinds fit, and that what may be
//! absent is used only where it was found to be there.
//!
//! Each file beside this one has the checks of one kind of expression.

mod functions;
mod loops;
mod names;
mod operators;
mod optional;
mod tables;

use super::caseless::Around;
use super::emit::folded;
use super::facts::{Fact, Facts};
use super::node::{Constant, Form, Node};
use crate::problem::ExpressionError;
use cel::common::ast::{Expr, IdedExpr, LiteralValue, SourceInfo};
use site_rules::field::Field;
use site_rules::program::Scope;
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
    /// The table's name.
    pub name: String,
    /// The table's columns beside the key.
    pub columns: Vec<(String, Kind)>,
    /// Columns in which not every row has a value.
    pub sparse: Vec<SparseColumn>,
}

/// A column in which not every row has a value: a table of its own, with one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SparseColumn {
    /// The column's name.
    pub name: String,
    /// The kind of the column's values.
    pub kind: Kind,
    /// The place of the column's table among the tables.
    pub table: u16,
    /// Whether the column's values are names that Slurm compares without regard to case, in small
    /// letters.
    pub is_caseless: bool,
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
    Checker { info, names, variables: Vec::new(), caseless: Vec::new() }.check(expression, known)
}

struct Checker<'c> {
    info: &'c SourceInfo,
    names: Names<'c>,
    /// The variables of the loops that an expression is in, and the names of values.
    variables: Vec<(String, Variable)>,
    /// Whether each of these is a name that Slurm compares without regard to case.
    caseless: Vec<bool>,
}

/// What a name within an expression is.
#[derive(Clone, Debug)]
enum Variable {
    /// The element of a list of texts.
    Text,
    /// The element of a list of generic resources.
    Resource,
    /// A value of a kind, and what is there where it is true or false.
    Value { kind: Kind, if_true: Facts, if_false: Facts },
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
    /// What tells which values are names that Slurm compares without regard to case.
    fn around(&self) -> Around<'_> {
        Around { variables: &self.caseless, tables: self.names.tables }
    }

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
}

/// A test whether something is there.
fn test(form: Form, fact: Fact) -> Checked {
    Checked { node: Node { kind: Kind::Truth, form }, if_true: Facts::from(fact), if_false: Facts::default() }
}

/// The job that a name stands for.
fn scope_of(expression: &IdedExpr) -> Option<Scope> {
    let Expr::Ident(name) = &expression.expr else { return None };
    name.parse().ok()
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
