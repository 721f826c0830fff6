//! Writes the instructions of checked expressions, and evaluates what is constant.

use super::node::{Constant, Form, Node};
use super::regular::pattern;
use site_rules::evaluate::{Evaluator, NothingWritten, Steps, evaluate};
use site_rules::field::{FieldNumber, Fields};
use site_rules::program::{Expression, Instruction, LOOPS, Program, STACK};
use site_rules::scratch::Scratch;
use site_rules::submission::{NoForecasts, Request, Submission, User};
use site_rules::value::Value;
use std::collections::HashMap;

/// Collects the expressions of a set of rules.
#[derive(Debug, Default)]
pub struct Emitter {
    program: Program,
    patterns: HashMap<String, u16>,
}

impl Emitter {
    /// Begins a program with the tables that its expressions look things up in.
    #[must_use]
    pub fn new(tables: Vec<site_rules::table::Table>) -> Self {
        Emitter { program: Program { tables, ..Program::default() }, patterns: HashMap::new() }
    }

    /// The program with all expressions that were added.
    #[must_use]
    pub fn finish(self) -> Program {
        self.program
    }

    /// The expressions that were added so far.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Adds an expression; returns its number.
    ///
    /// # Errors
    /// Says which bound of a program it exceeds, or what is wrong with a regular expression.
    pub fn add(&mut self, node: &Node) -> Result<u16, String> {
        let begin = self.here()?;
        self.emit(node, Depth { stack: 0, loops: 0 })?;
        let end = self.here()?;
        self.program.expressions.push(Expression { begin, end, kind: node.kind });
        number(self.program.expressions.len() - 1)
    }

    /// Adds a constant text; returns its number.
    ///
    /// # Errors
    /// Says that there are too many.
    pub fn text(&mut self, text: &str) -> Result<u16, String> {
        place_of(&mut self.program.texts, text.into())
    }

    fn here(&self) -> Result<u32, String> {
        /// Far more than rules need, and few enough to be checked at each load.
        const MOST: usize = 1 << 20;
        u32::try_from(self.program.code.len())
            .ok()
            .filter(|length| usize::try_from(*length).is_ok_and(|length| length < MOST))
            .ok_or_else(|| "the rules are too large".to_owned())
    }

    fn push(&mut self, instruction: Instruction) {
        self.program.code.push(instruction);
    }

    /// Puts an instruction whose place is kept until it is known where it leads.
    fn placeholder(&mut self) -> usize {
        self.push(Instruction::Truth(false));
        self.program.code.len() - 1
    }

    fn patch(&mut self, place: usize, instruction: Instruction) {
        if let Some(placeholder) = self.program.code.get_mut(place) {
            *placeholder = instruction;
        }
    }

    fn emit(&mut self, node: &Node, depth: Depth) -> Result<(), String> {
        let depth = depth.pushed()?;
        // What is evaluated while one value is on the stack already.
        let behind = || depth;
        let before = Depth { stack: depth.stack - 1, ..depth };
        match &node.form {
            Form::Constant(constant) => self.constant(constant)?,
            Form::Load(scope, field) => self.push(Instruction::Load(*scope, *field)),
            Form::Has(scope, field) => self.push(Instruction::Has(*scope, *field)),
            Form::Read(surrounding) => self.push(Instruction::Read(*surrounding)),
            Form::Knows(surrounding) => self.push(Instruction::Knows(*surrounding)),
            Form::Variable(scope, name) => {
                self.emit(name, before)?;
                self.push(Instruction::Variable(*scope));
            }
            Form::HasVariable(scope, name) => {
                self.emit(name, before)?;
                self.push(Instruction::HasVariable(*scope));
            }
            Form::LookUp { table, column, key } => {
                self.emit(key, before)?;
                self.push(Instruction::LookUp { table: *table, column: *column });
            }
            Form::HasKey(table, key) => {
                self.emit(key, before)?;
                self.push(Instruction::HasKey(*table));
            }
            Form::Wait(partition, quantile) => {
                self.emit(partition, before)?;
                self.emit(quantile, behind())?;
                self.push(Instruction::Wait);
            }
            Form::HasWait(partition) => {
                self.emit(partition, before)?;
                self.push(Instruction::HasWait);
            }
            Form::Unary(unary, operand) => {
                self.emit(operand, before)?;
                self.push(Instruction::Unary(*unary));
            }
            Form::Binary(binary, left, right) => {
                self.emit(left, before)?;
                self.emit(right, behind())?;
                self.push(Instruction::Binary(*binary));
            }
            Form::Part(part, zone, moment) => {
                self.emit(moment, before)?;
                let zone = place_of(&mut self.program.zones, zone.clone())?;
                self.push(Instruction::Part(*part, zone));
            }
            Form::Matches(pattern, text) => {
                self.emit(text, before)?;
                let pattern = self.pattern(pattern)?;
                self.push(Instruction::Matches(pattern));
            }
            Form::And(left, right) | Form::Or(left, right) => {
                let is_and = matches!(node.form, Form::And(..));
                self.emit(left, before)?;
                let jump = self.placeholder();
                self.emit(right, behind())?;
                self.push(if is_and { Instruction::And } else { Instruction::Or });
                let end = self.here()?;
                self.patch(jump, if is_and { Instruction::JumpIfFalse(end) } else { Instruction::JumpIfTrue(end) });
            }
            Form::Choose(condition, one, other) => {
                self.emit(condition, before)?;
                let choose = self.placeholder();
                self.emit(one, before)?;
                let jump = self.placeholder();
                let otherwise = self.here()?;
                self.emit(other, before)?;
                let end = self.here()?;
                self.patch(choose, Instruction::Choose { otherwise, end });
                self.patch(jump, Instruction::Jump(end));
            }
            Form::Loop(quantifier, list, body) => {
                self.emit(list, before)?;
                self.push(Instruction::Begin(*quantifier));
                let next = self.placeholder();
                let back_to = u32::try_from(next).map_err(|_| "the rules are too large".to_owned())?;
                self.emit(body, behind().within_loop()?)?;
                self.push(Instruction::Accumulate(*quantifier, back_to));
                let end = self.here()?;
                self.patch(next, Instruction::Next(*quantifier, end));
                self.push(Instruction::End(*quantifier));
            }
            Form::Item(of) => self.push(Instruction::Item(depth.level(*of)?)),
            Form::ResourceItem(of, part) => self.push(Instruction::ResourceItem(depth.level(*of)?, *part)),
            Form::ResourceWith(of, part, value) => {
                self.emit(value, before)?;
                self.push(Instruction::ResourceWith(depth.level(*of)?, *part));
            }
            Form::Ternary(ternary, operands) => {
                let mut depth = before;
                for operand in operands.iter() {
                    self.emit(operand, depth)?;
                    depth = depth.pushed()?;
                }
                self.push(Instruction::Ternary(*ternary));
            }
            Form::Keys(table) => self.push(Instruction::Keys(*table)),
            Form::Count(scope, counted, name) => {
                self.emit(name, before)?;
                self.push(Instruction::Count(*scope, *counted));
            }
            Form::Bind(value, body) => {
                self.emit(value, before)?;
                self.push(Instruction::Bind);
                self.emit(body, before.within_loop()?)?;
                self.push(Instruction::Unbind);
            }
        }
        self.here().map(|_| ())
    }

    fn constant(&mut self, constant: &Constant) -> Result<(), String> {
        let instruction = match constant {
            Constant::Truth(truth) => Instruction::Truth(*truth),
            Constant::Integer(number) => Instruction::Integer(*number),
            Constant::Real(number) => Instruction::Real(*number),
            Constant::Duration(seconds) => Instruction::Duration(*seconds),
            Constant::Moment(at) => Instruction::Moment(*at),
            Constant::Text(text) => Instruction::Text(self.text(text)?),
            Constant::Texts(texts) => {
                let list: Vec<Box<str>> = texts.iter().map(|text| text.as_str().into()).collect();
                Instruction::Texts(place_of(&mut self.program.lists, list)?)
            }
        };
        self.push(instruction);
        Ok(())
    }

    fn pattern(&mut self, source: &str) -> Result<u16, String> {
        if let Some(place) = self.patterns.get(source) {
            return Ok(*place);
        }
        self.program.patterns.push(pattern(source)?);
        let place = number(self.program.patterns.len() - 1)?;
        self.patterns.insert(source.to_owned(), place);
        Ok(place)
    }
}

/// How many values and loops there are where an instruction stands.
#[derive(Clone, Copy)]
struct Depth {
    stack: usize,
    loops: usize,
}

impl Depth {
    fn pushed(self) -> Result<Self, String> {
        let stack = self.stack + 1;
        if stack > STACK {
            return Err("this expression nests too deeply: divide the rule".to_owned());
        }
        Ok(Depth { stack, ..self })
    }

    fn within_loop(self) -> Result<Self, String> {
        let loops = self.loops + 1;
        if loops > LOOPS {
            return Err(format!("all, exists, filter, map, cel.bind and the like can be within each other {LOOPS} times"));
        }
        Ok(Depth { loops, ..self })
    }

    /// The level of a loop as instructions have it, which count from the innermost.
    fn level(self, of: usize) -> Result<u8, String> {
        self.loops.checked_sub(of + 1).and_then(|level| u8::try_from(level).ok()).ok_or_else(|| "a name outside of its loop".to_owned())
    }
}

fn number(place: usize) -> Result<u16, String> {
    u16::try_from(place).map_err(|_| "the rules have too many expressions or constants".to_owned())
}

/// The place of a value in a list, which it is added to if it is not there.
fn place_of<T: PartialEq>(list: &mut Vec<T>, value: T) -> Result<u16, String> {
    let place = list.iter().position(|other| *other == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    });
    number(place)
}

/// A job that has nothing, for what is constant.
struct NoJob;

impl Fields for NoJob {
    fn field(&self, _: FieldNumber) -> Option<Value<'_>> {
        None
    }

    fn variable(&self, _: &str) -> Option<&str> {
        None
    }
}

/// Puts its value in the place of a constant expression, by the evaluation that runs at a
/// submission. What always fails is left as it is, and fails where it is evaluated.
#[must_use]
pub fn folded(node: Node) -> Node {
    let is_constant = |node: &Node| node.as_constant().is_some();
    let folds = match &node.form {
        Form::Unary(_, operand) | Form::Matches(_, operand) | Form::Part(_, _, operand) => is_constant(operand),
        Form::Binary(_, left, right) => is_constant(left) && is_constant(right),
        Form::And(left, right) | Form::Or(left, right) => {
            let decides = Some(&Constant::Truth(matches!(node.form, Form::Or(..))));
            let decided = left.as_constant() == decides || right.as_constant() == decides;
            if decided {
                return Node::constant(Constant::Truth(matches!(node.form, Form::Or(..))));
            }
            is_constant(left) && is_constant(right)
        }
        Form::Ternary(_, operands) => operands.iter().all(is_constant),
        Form::Choose(condition, one, other) => match condition.as_constant() {
            Some(Constant::Truth(true)) => return (**one).clone(),
            Some(Constant::Truth(false)) => return (**other).clone(),
            _ => false,
        },
        _ => false,
    };
    if folds { value_of(&node).map_or(node, Node::constant) } else { node }
}

fn value_of(node: &Node) -> Option<Constant> {
    let mut emitter = Emitter::default();
    emitter.add(node).ok()?;
    let program = emitter.finish();
    let mut memory = vec![0; 4 * super::parse::LONGEST];
    let mut scratch = Scratch::within(&mut memory);
    let mut steps = Steps(u32::MAX);
    let user = User {
        name: None,
        id: job_types::number::UserId(0),
        groups: None,
        is_root: false,
        is_operator: false,
        submissions_last_hour: None,
        jobs: None,
    };
    let now = job_types::time::UnixTime(0);
    let submission = Submission { request: Request::Submit, now, job: &NoJob, asked: &NoJob, current: None, user, forecasts: &NoForecasts };
    let evaluator =
        Evaluator { program: &program, submission: &submission, written: &NothingWritten, scratch: &mut scratch, steps: &mut steps };
    Some(match evaluate(evaluator, *program.expressions.first()?).ok()? {
        Value::Truth(truth) => Constant::Truth(truth),
        Value::Integer(number) => Constant::Integer(number),
        Value::Real(number) => Constant::Real(number),
        Value::Text(text) => Constant::Text(text.to_owned()),
        Value::Duration(duration) => Constant::Duration(duration.0),
        Value::Moment(at) => Constant::Moment(at.0),
        Value::Texts(_) | Value::Resources(_) => return None,
    })
}
