//! Expressions that were checked: each part with its kind.

use site_rules::calendar::{Part, Zone};
use site_rules::field::FieldNumber;
use site_rules::operators::{Binary, Ternary, Unary};
use site_rules::program::{Counted, Quantifier, ResourcePart, Scope};
use site_rules::submission::Surrounding;
use site_rules::value::Kind;

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// `bool`.
    Truth(bool),
    /// `int`.
    Integer(i64),
    /// `double`.
    Real(f64),
    /// `string`.
    Text(String),
    /// `list(string)`.
    Texts(Vec<String>),
    /// `duration` in seconds.
    Duration(i64),
    /// `timestamp` in Unix seconds.
    Moment(i64),
}

impl Constant {
    /// The kind of the constant.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Constant::Truth(_) => Kind::Truth,
            Constant::Integer(_) => Kind::Integer,
            Constant::Real(_) => Kind::Real,
            Constant::Text(_) => Kind::Text,
            Constant::Texts(_) => Kind::Texts,
            Constant::Duration(_) => Kind::Duration,
            Constant::Moment(_) => Kind::Moment,
        }
    }
}

/// An expression with its kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The kind of its value.
    pub kind: Kind,
    /// What it is made of.
    pub form: Form,
}

/// What an expression is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// A constant.
    Constant(Constant),
    /// A field of a job.
    Load(Scope, FieldNumber),
    /// Whether a field of a job is there.
    Has(Scope, FieldNumber),
    /// What surrounds the job.
    Read(Surrounding),
    /// Whether what surrounds the job is known.
    Knows(Surrounding),
    /// A variable of the environment, by name.
    Variable(Scope, Box<Node>),
    /// Whether a variable of the environment is there.
    HasVariable(Scope, Box<Node>),
    /// A value of a table, by its key.
    LookUp {
        /// The table.
        table: u16,
        /// The column.
        column: u16,
        /// The key.
        key: Box<Node>,
    },
    /// Whether a table has a key.
    HasKey(u16, Box<Node>),
    /// The forecast wait in a partition, with a probability.
    Wait(Box<Node>, Box<Node>),
    /// Whether there is such a forecast.
    HasWait(Box<Node>),
    /// An operation on one value.
    Unary(Unary, Box<Node>),
    /// An operation on two values.
    Binary(Binary, Box<Node>, Box<Node>),
    /// A part of a moment in a zone.
    Part(Part, Zone, Box<Node>),
    /// Whether a regular expression is found.
    Matches(String, Box<Node>),
    /// `a && b`.
    And(Box<Node>, Box<Node>),
    /// `a || b`.
    Or(Box<Node>, Box<Node>),
    /// `a ? b : c`.
    Choose(Box<Node>, Box<Node>, Box<Node>),
    /// What is made of all elements of a list.
    Loop(Quantifier, Box<Node>, Box<Node>),
    /// The element of a loop, or a value that has a name; loops and names are counted from the
    /// outermost.
    Item(usize),
    /// A part of a resource that is the element of a loop.
    ResourceItem(usize, ResourcePart),
    /// A resource that is the element of a loop, with another type or number.
    ResourceWith(usize, ResourcePart, Box<Node>),
    /// An operation on three values.
    Ternary(Ternary, Box<[Node; 3]>),
    /// The keys of a table.
    Keys(u16),
    /// What a job asks for under a name.
    Count(Scope, Counted, Box<Node>),
    /// A value that gets a name, and the expression in which it has it.
    Bind(Box<Node>, Box<Node>),
}

impl Node {
    /// A constant.
    #[must_use]
    pub fn constant(constant: Constant) -> Self {
        Node { kind: constant.kind(), form: Form::Constant(constant) }
    }

    /// Whether it has the element of a loop, or the value of a name, that is counted so or deeper.
    #[must_use]
    pub fn depends_on(&self, variable: usize) -> bool {
        let of_itself = match &self.form {
            Form::Item(of) | Form::ResourceItem(of, _) | Form::ResourceWith(of, ..) => *of >= variable,
            _ => false,
        };
        of_itself || self.parts().iter().any(|part| part.depends_on(variable))
    }

    /// The expressions that it is made of, in their order.
    #[must_use]
    pub fn parts(&self) -> Vec<&Node> {
        match &self.form {
            Form::Constant(_)
            | Form::Load(..)
            | Form::Has(..)
            | Form::Read(_)
            | Form::Knows(_)
            | Form::Keys(_)
            | Form::Item(_)
            | Form::ResourceItem(..) => Vec::new(),
            Form::Variable(_, node)
            | Form::HasVariable(_, node)
            | Form::LookUp { key: node, .. }
            | Form::HasKey(_, node)
            | Form::HasWait(node)
            | Form::Unary(_, node)
            | Form::Part(_, _, node)
            | Form::Matches(_, node)
            | Form::ResourceWith(_, _, node)
            | Form::Count(_, _, node) => vec![node],
            Form::Wait(one, other)
            | Form::Binary(_, one, other)
            | Form::And(one, other)
            | Form::Or(one, other)
            | Form::Loop(_, one, other)
            | Form::Bind(one, other) => vec![one, other],
            Form::Choose(one, other, third) => vec![one, other, third],
            Form::Ternary(_, nodes) => nodes.iter().collect(),
        }
    }

    /// The constant that it is, if it is one.
    #[must_use]
    pub fn as_constant(&self) -> Option<&Constant> {
        match &self.form {
            Form::Constant(constant) => Some(constant),
            _ => None,
        }
    }
}
