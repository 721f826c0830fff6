//! Compiled expressions: instructions in one row, with jumps, and what they refer to.

use crate::calendar::{Part, Zone};
use crate::field::FieldNumber;
use crate::operators::{Binary, Ternary, Unary};
use crate::pattern::Pattern;
use crate::submission::Surrounding;
use crate::table::Table;
use crate::value::Kind;
use serde::{Deserialize, Serialize};

/// The most values that an expression has in hand at once.
pub const STACK: usize = 32;

/// The most loops and names of values that may be within each other.
pub const LOOPS: usize = 8;

/// The job of which a field is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::Display, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum Scope {
    /// What is submitted, or asked to change, with what rules have written so far.
    Job,
    /// The job that is to be modified, as it is.
    Current,
    /// What was submitted, or asked to change, whatever rules have written.
    Asked,
}

/// What is made of all elements of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Quantifier {
    /// Whether it is true of all elements.
    All,
    /// Whether it is true of any.
    Exists,
    /// Whether it is true of exactly one.
    ExistsOne,
    /// A list of those elements of which it is true.
    Filter,
    /// A list of the texts that are made of them.
    Map,
    /// The sum of the values of this kind that are made of them; 0 of none.
    Sum(Kind),
    /// The least of these values; of none there is none.
    Least(Kind),
    /// The greatest of these values; of none there is none.
    Greatest(Kind),
}

impl Quantifier {
    /// The kind of what is made of an element, in a loop over a list of a kind; `None` where there
    /// is no such loop.
    #[must_use]
    pub fn of_element(self) -> Option<Kind> {
        match self {
            Quantifier::All | Quantifier::Exists | Quantifier::ExistsOne | Quantifier::Filter => Some(Kind::Truth),
            Quantifier::Map => Some(Kind::Text),
            Quantifier::Sum(kind) => Some(kind).filter(|kind| matches!(kind, Kind::Integer | Kind::Real | Kind::Duration)),
            Quantifier::Least(kind) | Quantifier::Greatest(kind) => Binary::Least.result(kind, kind),
        }
    }

    /// The kind of what the loop results in.
    #[must_use]
    pub fn result(self, list: Kind) -> Kind {
        match self {
            Quantifier::All | Quantifier::Exists | Quantifier::ExistsOne => Kind::Truth,
            Quantifier::Filter => list,
            Quantifier::Map => Kind::Texts,
            Quantifier::Sum(kind) | Quantifier::Least(kind) | Quantifier::Greatest(kind) => kind,
        }
    }

    /// The kind of the answer so far, which a loop has on the stack while it goes on.
    #[must_use]
    pub fn so_far(self, list: Kind) -> Kind {
        if self == Quantifier::ExistsOne { Kind::Integer } else { self.result(list) }
    }
}

/// What is counted of a job by a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Counted {
    /// The fewest GPUs of a type that it can run with.
    GpusOfType,
    /// The licences of a name.
    Licenses,
}

/// What is read of a generic resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResourcePart {
    /// What the resource is, such as `gpu`.
    Kind,
    /// The type of the resource, such as `a100`; empty where none is asked for.
    Type,
    /// How many of the resource are asked for.
    Count,
    /// The whole resource as it stands in the list.
    Text,
}

impl ResourcePart {
    /// The kind of its value.
    #[must_use]
    pub fn kind(self) -> Kind {
        if self == ResourcePart::Count { Kind::Integer } else { Kind::Text }
    }
}

/// An instruction. Those that take values take them from the top of the stack, and put their result
/// there. Where a value is a fault, their result is the same fault, but for [`Instruction::And`],
/// [`Instruction::Or`] and [`Instruction::Accumulate`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Instruction {
    /// A constant.
    Truth(bool),
    /// A constant.
    Integer(i64),
    /// A constant.
    Real(f64),
    /// A constant of [`Program::texts`].
    Text(u16),
    /// A constant of [`Program::lists`].
    Texts(u16),
    /// A constant in seconds.
    Duration(i64),
    /// A constant in Unix seconds.
    Moment(i64),
    /// Reads a field.
    Load(Scope, FieldNumber),
    /// Whether a field is present.
    Has(Scope, FieldNumber),
    /// Reads what surrounds the job.
    Read(Surrounding),
    /// Whether what surrounds the job is known.
    Knows(Surrounding),
    /// Takes a name, and reads the variable of the job's environment.
    Variable(Scope),
    /// Takes a name; whether there is such a variable.
    HasVariable(Scope),
    /// Takes a key, and reads the value of a column.
    LookUp {
        /// The table's place in [`Program::tables`].
        table: u16,
        /// The column's place among the table's columns.
        column: u16,
    },
    /// Takes a key; whether a table has it.
    HasKey(u16),
    /// Takes a partition and a quantile, and reads the forecast of the job's wait.
    Wait,
    /// Takes a partition; whether there is a forecast for it.
    HasWait,
    /// Makes one value of one.
    Unary(Unary),
    /// Makes one value of two.
    Binary(Binary),
    /// Takes a moment, and reads a part of it in a zone of [`Program::zones`].
    Part(Part, u16),
    /// Takes a text; whether a pattern of [`Program::patterns`] is found in it.
    Matches(u16),
    /// Goes on at another instruction, which is behind this one.
    Jump(u32),
    /// Goes on behind this one if the value is true; takes none.
    JumpIfTrue(u32),
    /// Goes on behind this one if the value is false; takes none.
    JumpIfFalse(u32),
    /// Takes two truths; false if one is, whatever the other.
    And,
    /// Takes two truths; true if one is, whatever the other.
    Or,
    /// Takes a truth: goes on at the next instruction if it is true, and else at another; leaves a
    /// fault, and goes on behind both.
    Choose {
        /// The instruction at which evaluation goes on if the truth is false.
        otherwise: u32,
        /// The instruction at which both ways meet.
        end: u32,
    },
    /// Takes a list, and begins a loop over it, with its answer so far.
    Begin(Quantifier),
    /// Goes on with the next element of the innermost loop, or behind the loop.
    Next(Quantifier, u32),
    /// The element of a loop over texts, or the value that is kept; 0 is the innermost loop.
    Item(u8),
    /// A part of the element of a loop over generic resources; 0 is the innermost loop.
    ResourceItem(u8, ResourcePart),
    /// Takes what is true of the element, adds it to the answer so far, and goes back.
    Accumulate(Quantifier, u32),
    /// Ends the innermost loop with its answer.
    End(Quantifier),
    /// Makes one value of three.
    Ternary(Ternary),
    /// The keys of a table.
    Keys(u16),
    /// Takes a name, and counts what a job asks for under it.
    Count(Scope, Counted),
    /// Takes a type or a number, and writes the element of a loop over generic resources with it;
    /// 0 is the innermost loop.
    ResourceWith(u8, ResourcePart),
    /// Takes a value, or the reason why there is none, and keeps it as the element of a loop that
    /// is gone through once.
    Bind,
    /// Ends the innermost loop, which keeps a value.
    Unbind,
}

/// The place of an expression in a program, and the kind that it results in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expression {
    /// The place of the expression's first instruction.
    pub begin: u32,
    /// The place behind the expression's last instruction.
    pub end: u32,
    /// The kind of the expression's value.
    pub kind: Kind,
}

/// The expressions of a set of rules, with what they share.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Program {
    /// The instructions of all expressions.
    pub code: Vec<Instruction>,
    /// All expressions.
    pub expressions: Vec<Expression>,
    /// Constants.
    pub texts: Vec<Box<str>>,
    /// Constants that are lists of texts.
    pub lists: Vec<Vec<Box<str>>>,
    /// Regular expressions.
    pub patterns: Vec<Pattern>,
    /// Tables to look things up in.
    pub tables: Vec<Table>,
    /// Time zones.
    pub zones: Vec<Zone>,
    /// The partition of jobs that name none, where an expression asks for it and it is known.
    pub default_partition: Option<Box<str>>,
}
