//! Compiled expressions: instructions in one row, with jumps, and what they refer to.

use crate::calendar::{Part, Zone};
use crate::field::FieldNumber;
use crate::operators::{Binary, Unary};
use crate::pattern::Pattern;
use crate::submission::Surrounding;
use crate::table::Table;
use crate::value::Kind;
use serde::{Deserialize, Serialize};

/// The most values that an expression has in hand at once.
pub const STACK: usize = 32;

/// The most loops that may be within each other.
pub const LOOPS: usize = 4;

/// Which job a field is read of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Scope {
    /// What is submitted, or asked to change, with what rules have written so far.
    Job,
    /// The job that is to be modified, as it is.
    Current,
}

/// Which question a loop over a list answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Quantifier {
    /// Whether it is true of all elements.
    All,
    /// Whether it is true of any.
    Exists,
    /// Whether it is true of exactly one.
    ExistsOne,
}

/// What is read of a generic resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResourcePart {
    /// What it is, such as `gpu`.
    Kind,
    /// Its type, such as `a100`; empty where none is asked for.
    Type,
    /// How many.
    Count,
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
    /// Whether that is present.
    Knows(Surrounding),
    /// Takes a name, and reads the variable of the job's environment.
    Variable(Scope),
    /// Takes a name; whether there is such a variable.
    HasVariable(Scope),
    /// Takes a key, and reads the value of a column.
    LookUp {
        /// Of [`Program::tables`].
        table: u16,
        /// Of the table's columns.
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
        /// Where it goes on if it is false.
        otherwise: u32,
        /// Where both ways meet.
        end: u32,
    },
    /// Takes a list, and begins a loop over it, with its answer so far.
    Begin(Quantifier),
    /// Goes on with the next element of the innermost loop, or behind the loop.
    Next(Quantifier, u32),
    /// The element of a loop over texts; 0 is the innermost loop.
    Item(u8),
    /// A part of the element of a loop over generic resources; 0 is the innermost loop.
    ResourceItem(u8, ResourcePart),
    /// Takes what is true of the element, adds it to the answer so far, and goes back.
    Accumulate(Quantifier, u32),
    /// Ends the innermost loop with its answer.
    End(Quantifier),
}

/// Where an expression stands in a program, and what it results in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expression {
    /// Its first instruction.
    pub begin: u32,
    /// Behind its last instruction.
    pub end: u32,
    /// The kind of its value.
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
}
