//! Evaluation of a compiled expression: one instruction after the other, with a stack of fixed
//! size, a bounded number of steps, and no memory but what it is given.

use crate::calendar::part_of;
use crate::fault::Fault;
use crate::field::{FieldNumber, Name};
use crate::operators::{self, Binary, Unary};
use crate::program::{Expression, Instruction, LOOPS, Program, Quantifier, ResourcePart, STACK, Scope};
use crate::scratch::Scratch;
pub use crate::steps::Steps;
use crate::submission::Submission;
use crate::value::{Resource, Texts, Value};
use arrayvec::ArrayVec;
use job_types::time::Seconds;

/// How many steps it is taken to find a variable in an environment, which is a list.
const VARIABLE: u32 = 64;

/// How many steps it is taken to compute what follows from other fields.
const DERIVED: u32 = 8;

/// What rules have written so far, which those behind them read in the place of what the user asked
/// for.
pub trait Written<'a> {
    /// What was written into a field, or follows from what was: nothing, that it is absent, or a
    /// value.
    ///
    /// # Errors
    /// [`Fault::TextsTooLong`] if there is no room for what follows, [`Fault::Budget`] if it takes
    /// more steps than are left.
    #[allow(clippy::option_option)]
    fn written(&self, field: FieldNumber, scratch: &mut Scratch<'a>, steps: &mut Steps) -> Result<Option<Option<Value<'a>>>, Fault>;
}

/// Where nothing was written.
#[derive(Clone, Copy, Debug)]
pub struct NothingWritten;

impl<'a> Written<'a> for NothingWritten {
    fn written(&self, _: FieldNumber, _: &mut Scratch<'a>, _: &mut Steps) -> Result<Option<Option<Value<'a>>>, Fault> {
        Ok(None)
    }
}

/// What an expression is evaluated with.
pub struct Evaluator<'a, 'e> {
    /// The program that it belongs to.
    pub program: &'a Program,
    /// What it reads.
    pub submission: &'e Submission<'a>,
    /// What rules have written so far.
    pub written: &'e dyn Written<'a>,
    /// Memory for the texts that it makes.
    pub scratch: &'e mut Scratch<'a>,
    /// How many steps it may take.
    pub steps: &'e mut Steps,
}

/// A value, or the reason why there is none.
type Outcome<'a> = Result<Value<'a>, Fault>;

/// A list that is gone through.
#[derive(Clone, Copy)]
enum Listing<'a> {
    Texts(Texts<'a>),
    Resources(crate::value::Resources<'a>),
    /// What should have been a list.
    Fault(Fault),
}

struct Loop<'a> {
    list: Listing<'a>,
    cursor: usize,
    element: Option<Element<'a>>,
}

#[derive(Clone, Copy)]
enum Element<'a> {
    Text(&'a str),
    Resource(Resource<'a>),
}

/// Evaluates an expression of a program that was verified.
///
/// # Errors
/// The [`Fault`] because of which it has no value.
pub fn evaluate<'a>(evaluator: Evaluator<'a, '_>, expression: Expression) -> Outcome<'a> {
    let mut run = Run { evaluator, stack: ArrayVec::new(), loops: ArrayVec::new(), at: expression.begin };
    while run.at < expression.end {
        let instruction = usize::try_from(run.at).ok().and_then(|at| run.evaluator.program.code.get(at)).ok_or(Fault::Program)?;
        run.at = run.at.saturating_add(1);
        run.evaluator.steps.take(1)?;
        run.follow(*instruction)?;
    }
    run.pop()?
}

struct Run<'a, 'e> {
    evaluator: Evaluator<'a, 'e>,
    stack: ArrayVec<Outcome<'a>, STACK>,
    loops: ArrayVec<Loop<'a>, LOOPS>,
    at: u32,
}

impl<'a> Run<'a, '_> {
    fn push(&mut self, outcome: Outcome<'a>) -> Result<(), Fault> {
        match outcome {
            Err(fault) if !fault.can_be_absorbed() => Err(fault),
            _ => self.stack.try_push(outcome).map_err(|_| Fault::Program),
        }
    }

    fn pop(&mut self) -> Result<Outcome<'a>, Fault> {
        self.stack.pop().ok_or(Fault::Program)
    }

    fn pop_truth(&mut self) -> Result<Result<bool, Fault>, Fault> {
        match self.pop()? {
            Ok(Value::Truth(truth)) => Ok(Ok(truth)),
            Err(fault) => Ok(Err(fault)),
            Ok(_) => Err(Fault::Program),
        }
    }

    /// Makes an outcome of the uppermost value, unless that is a fault.
    fn map(&mut self, make: impl FnOnce(&mut Evaluator<'a, '_>, Value<'a>) -> Outcome<'a>) -> Result<(), Fault> {
        let outcome = self.pop()?.and_then(|value| make(&mut self.evaluator, value));
        self.push(outcome)
    }

    /// The same with a text.
    fn map_text(&mut self, make: impl FnOnce(&mut Evaluator<'a, '_>, &'a str) -> Outcome<'a>) -> Result<(), Fault> {
        self.map(|evaluator, value| match value {
            Value::Text(text) => make(evaluator, text),
            _ => Err(Fault::Program),
        })
    }

    fn follow(&mut self, instruction: Instruction) -> Result<(), Fault> {
        let program = self.evaluator.program;
        match instruction {
            Instruction::Truth(truth) => self.push(Ok(Value::Truth(truth))),
            Instruction::Integer(number) => self.push(Ok(Value::Integer(number))),
            Instruction::Real(number) => self.push(Ok(Value::Real(number))),
            Instruction::Duration(seconds) => self.push(Ok(Value::Duration(Seconds(seconds)))),
            Instruction::Moment(at) => self.push(Ok(Value::Moment(job_types::time::UnixTime(at)))),
            Instruction::Text(text) => {
                let text = program.texts.get(usize::from(text)).ok_or(Fault::Program)?;
                self.push(Ok(Value::Text(text)))
            }
            Instruction::Texts(list) => {
                let list = program.lists.get(usize::from(list)).ok_or(Fault::Program)?;
                self.push(Ok(Value::Texts(Texts::Listed(list))))
            }
            Instruction::Load(scope, field) => {
                let outcome = self.field(scope, field).and_then(|value| value.ok_or(Fault::Absent));
                self.push(outcome)
            }
            Instruction::Has(scope, field) => {
                let outcome = self.has(scope, field).map(Value::Truth);
                self.push(outcome)
            }
            Instruction::Read(surrounding) => self.push(surrounding.read(self.evaluator.submission).ok_or(Fault::Absent)),
            Instruction::Knows(surrounding) => {
                let is_known = surrounding.read(self.evaluator.submission).is_some();
                self.push(Ok(Value::Truth(is_known)))
            }
            Instruction::Variable(scope) => self.map_text(|evaluator, name| {
                evaluator.steps.take(VARIABLE)?;
                let fields = fields(evaluator, scope)?;
                fields.charge_variable(name, evaluator.steps)?;
                fields.variable(name).map(Value::Text).ok_or(Fault::Absent)
            }),
            Instruction::HasVariable(scope) => self.map_text(|evaluator, name| {
                evaluator.steps.take(VARIABLE)?;
                let fields = fields(evaluator, scope)?;
                fields.charge_variable(name, evaluator.steps)?;
                Ok(Value::Truth(fields.variable(name).is_some()))
            }),
            Instruction::LookUp { table, column } => self.map_text(|evaluator, key| {
                let table = evaluator.program.tables.get(usize::from(table)).ok_or(Fault::Program)?;
                table.value(key, column).ok_or(Fault::NoSuchElement)
            }),
            Instruction::HasKey(table) => self.map_text(|evaluator, key| {
                let table = evaluator.program.tables.get(usize::from(table)).ok_or(Fault::Program)?;
                Ok(Value::Truth(table.has(key)))
            }),
            Instruction::Wait => {
                let quantile = self.pop()?;
                self.map_text(|evaluator, partition| {
                    let Value::Real(quantile) = quantile? else { return Err(Fault::Program) };
                    let wait = evaluator.submission.forecasts.wait(partition, quantile);
                    wait.map(Value::Duration).ok_or(Fault::Absent)
                })
            }
            Instruction::HasWait => self.map_text(|evaluator, partition| {
                /// Any: where there is a forecast, there is one for each quantile.
                const QUANTILE: f64 = 0.5;
                Ok(Value::Truth(evaluator.submission.forecasts.wait(partition, QUANTILE).is_some()))
            }),
            Instruction::Unary(unary) => self.unary(unary),
            Instruction::Binary(binary) => self.binary(binary),
            Instruction::Part(part, zone) => self.map(|evaluator, value| {
                let zone = evaluator.program.zones.get(usize::from(zone)).ok_or(Fault::Program)?;
                let Value::Moment(at) = value else { return Err(Fault::Program) };
                Ok(Value::Integer(part_of(at, zone, part)))
            }),
            Instruction::Matches(pattern) => self.map_text(|evaluator, text| {
                evaluator.steps.take_for(text.len())?;
                let pattern = evaluator.program.patterns.get(usize::from(pattern)).ok_or(Fault::Program)?;
                Ok(Value::Truth(pattern.is_in(text)))
            }),
            Instruction::Jump(to) => self.go_on_at(to),
            Instruction::JumpIfTrue(to) => self.jump_if(true, to),
            Instruction::JumpIfFalse(to) => self.jump_if(false, to),
            Instruction::And | Instruction::Or => {
                let right = self.pop_truth()?;
                let left = self.pop_truth()?;
                let outcome = if instruction == Instruction::And { and(left, right) } else { or(left, right) };
                self.push(outcome.map(Value::Truth))
            }
            Instruction::Choose { otherwise, end } => match self.pop_truth()? {
                Ok(true) => Ok(()),
                Ok(false) => self.go_on_at(otherwise),
                Err(fault) => {
                    self.push(Err(fault))?;
                    self.go_on_at(end)
                }
            },
            Instruction::Begin(quantifier) => self.begin(quantifier),
            Instruction::Next(quantifier, behind) => self.next(quantifier, behind),
            Instruction::Item(level) => match self.element(level)? {
                Element::Text(text) => self.push(Ok(Value::Text(text))),
                Element::Resource(_) => Err(Fault::Program),
            },
            Instruction::ResourceItem(level, part) => match (self.element(level)?, part) {
                (Element::Resource(resource), ResourcePart::Kind) => self.push(Ok(Value::Text(resource.kind))),
                (Element::Resource(resource), ResourcePart::Type) => self.push(Ok(Value::Text(resource.subtype))),
                (Element::Resource(resource), ResourcePart::Count) => self.push(Ok(Value::Integer(resource.count))),
                (Element::Text(_), _) => Err(Fault::Program),
            },
            Instruction::Accumulate(quantifier, back_to) => self.accumulate(quantifier, back_to),
            Instruction::End(quantifier) => self.end(quantifier),
        }
    }

    /// What a field has: of the job that is submitted, with what rules have written.
    fn field(&mut self, scope: Scope, field: FieldNumber) -> Result<Option<Value<'a>>, Fault> {
        if field.name().is_some_and(Name::is_derived) {
            self.evaluator.steps.take(DERIVED)?;
        }
        if scope == Scope::Job
            && let Some(written) = self.evaluator.written.written(field, self.evaluator.scratch, self.evaluator.steps)?
        {
            return Ok(written);
        }
        let fields = fields(&self.evaluator, scope)?;
        fields.charge(field, self.evaluator.steps)?;
        Ok(fields.field(field))
    }

    /// Whether there is something in a field. A text is not read for that.
    fn has(&mut self, scope: Scope, field: FieldNumber) -> Result<bool, Fault> {
        if field.name().is_some_and(Name::is_derived) {
            return self.field(scope, field).map(|value| value.is_some());
        }
        if scope == Scope::Job
            && let Some(written) = self.evaluator.written.written(field, self.evaluator.scratch, self.evaluator.steps)?
        {
            return Ok(written.is_some());
        }
        Ok(fields(&self.evaluator, scope)?.has(field))
    }

    fn unary(&mut self, unary: Unary) -> Result<(), Fault> {
        self.map(|evaluator, value| {
            operators::charge(&value, evaluator.steps)?;
            unary.apply(value, evaluator.scratch)
        })
    }

    fn binary(&mut self, binary: Binary) -> Result<(), Fault> {
        let right = self.pop()?;
        self.map(|evaluator, left| {
            let right = right?;
            operators::charge(&left, evaluator.steps)?;
            operators::charge(&right, evaluator.steps)?;
            binary.apply(left, right, evaluator.scratch)
        })
    }

    fn go_on_at(&mut self, to: u32) -> Result<(), Fault> {
        self.at = to;
        Ok(())
    }

    fn jump_if(&mut self, expected: bool, to: u32) -> Result<(), Fault> {
        match self.stack.last().ok_or(Fault::Program)? {
            Ok(Value::Truth(truth)) if *truth == expected => self.go_on_at(to),
            _ => Ok(()),
        }
    }

    fn begin(&mut self, quantifier: Quantifier) -> Result<(), Fault> {
        let list = match self.pop()? {
            Ok(Value::Texts(texts)) => Listing::Texts(texts),
            Ok(Value::Resources(resources)) => Listing::Resources(resources),
            Err(fault) => Listing::Fault(fault),
            Ok(_) => return Err(Fault::Program),
        };
        self.loops.try_push(Loop { list, cursor: 0, element: None }).map_err(|_| Fault::Program)?;
        let answer = match (list, quantifier) {
            (Listing::Fault(fault), _) => Err(fault),
            (_, Quantifier::All) => Ok(Value::Truth(true)),
            (_, Quantifier::Exists) => Ok(Value::Truth(false)),
            (_, Quantifier::ExistsOne) => Ok(Value::Integer(0)),
        };
        self.push(answer)
    }

    fn next(&mut self, quantifier: Quantifier, behind: u32) -> Result<(), Fault> {
        let is_decided = match (self.stack.last().ok_or(Fault::Program)?, quantifier) {
            (Ok(Value::Truth(truth)), Quantifier::All) => !truth,
            (Ok(Value::Truth(truth)), Quantifier::Exists) => *truth,
            // One fault is enough.
            (Err(_), Quantifier::ExistsOne) => true,
            _ => false,
        };
        let innermost = self.loops.last_mut().ok_or(Fault::Program)?;
        let before = innermost.cursor;
        if let (false, Listing::Texts(Texts::Listed(list))) = (is_decided, innermost.list)
            && let Some(bytes) = list.work(before)
        {
            operators::charge_element(bytes, self.evaluator.steps)?;
        }
        innermost.element = match innermost.list {
            _ if is_decided => None,
            Listing::Texts(texts) => texts.next(&mut innermost.cursor).map(Element::Text),
            Listing::Resources(resources) => resources.next(&mut innermost.cursor).map(Element::Resource),
            Listing::Fault(_) => None,
        };
        if let Listing::Texts(Texts::Separated(..)) | Listing::Resources(_) = innermost.list {
            operators::charge_element(innermost.cursor.saturating_sub(before), self.evaluator.steps)?;
        }
        if innermost.element.is_none() {
            return self.go_on_at(behind);
        }
        Ok(())
    }

    fn element(&self, level: u8) -> Result<Element<'a>, Fault> {
        self.loops.iter().rev().nth(usize::from(level)).and_then(|of| of.element).ok_or(Fault::Program)
    }

    fn accumulate(&mut self, quantifier: Quantifier, back_to: u32) -> Result<(), Fault> {
        let of_element = self.pop_truth()?;
        let answer = match quantifier {
            Quantifier::All => and(self.pop_truth()?, of_element).map(Value::Truth),
            Quantifier::Exists => or(self.pop_truth()?, of_element).map(Value::Truth),
            Quantifier::ExistsOne => match (self.pop()?, of_element) {
                (Ok(Value::Integer(count)), Ok(holds)) => Ok(Value::Integer(count.saturating_add(i64::from(holds)))),
                (Err(fault), _) | (_, Err(fault)) => Err(fault),
                _ => return Err(Fault::Program),
            },
        };
        self.push(answer)?;
        self.go_on_at(back_to)
    }

    fn end(&mut self, quantifier: Quantifier) -> Result<(), Fault> {
        self.loops.pop().ok_or(Fault::Program)?;
        match quantifier {
            Quantifier::All | Quantifier::Exists => Ok(()),
            Quantifier::ExistsOne => self.map(|_, count| match count {
                Value::Integer(count) => Ok(Value::Truth(count == 1)),
                _ => Err(Fault::Program),
            }),
        }
    }
}

fn fields<'a>(evaluator: &Evaluator<'a, '_>, scope: Scope) -> Result<&'a dyn crate::field::Fields, Fault> {
    match scope {
        Scope::Job => Ok(evaluator.submission.job),
        Scope::Current => evaluator.submission.current.map(|current| current.fields).ok_or(Fault::CurrentUnknown),
    }
}

/// `a && b`: false if either is, whatever the other.
fn and(left: Result<bool, Fault>, right: Result<bool, Fault>) -> Result<bool, Fault> {
    match (left, right) {
        (Ok(false), _) | (_, Ok(false)) => Ok(false),
        (Err(fault), _) | (_, Err(fault)) => Err(fault),
        (Ok(true), Ok(true)) => Ok(true),
    }
}

/// `a || b`: true if either is, whatever the other.
fn or(left: Result<bool, Fault>, right: Result<bool, Fault>) -> Result<bool, Fault> {
    match (left, right) {
        (Ok(true), _) | (_, Ok(true)) => Ok(true),
        (Err(fault), _) | (_, Err(fault)) => Err(fault),
        (Ok(false), Ok(false)) => Ok(false),
    }
}
