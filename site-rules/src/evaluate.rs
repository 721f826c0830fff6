//! Evaluation of a compiled expression: one instruction after the other, with a stack of fixed
//! size, a bounded number of steps, and no memory but what it is given.

use crate::calendar::part_of;
use crate::derived;
use crate::fault::Fault;
use crate::field::{FieldNumber, Fields, Name};
use crate::operators::{self, Binary, Ternary, Unary};
use crate::program::{Counted, Expression, Instruction, LOOPS, Program, Quantifier, ResourcePart, STACK, Scope};
use crate::scratch::{Collected, Scratch};
pub use crate::steps::Steps;
use crate::submission::{Request, Submission, Surrounding};
use crate::value::{END, Kind, Resource, Resources, Texts, Value};
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

    /// The job with all that was written; `None` where nothing was.
    fn job(&self) -> Option<&dyn Fields> {
        None
    }

    /// What was written into a variable of the environment: nothing, that it is absent, or a value.
    #[allow(clippy::option_option)]
    fn written_variable(&self, _: &str) -> Option<Option<&'a str>> {
        None
    }
}

/// A [`Written`] in which nothing was written.
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
    Resources(Resources<'a>),
    /// What should have been a list.
    Fault(Fault),
    /// No list, but one value that has a name, or the reason why it has none.
    Bound(Outcome<'a>),
}

impl<'a> Listing<'a> {
    /// The element at a cursor, and how many bytes were gone through for it.
    fn next(self, cursor: &mut usize) -> (Option<Element<'a>>, usize) {
        let before = *cursor;
        match self {
            Listing::Texts(texts) => {
                let text = texts.next(cursor);
                let bytes = if matches!(texts, Texts::Listed(_)) { text.map_or(0, str::len) } else { cursor.saturating_sub(before) };
                (text.map(Element::Text), bytes)
            }
            Listing::Resources(resources) => {
                let resource = resources.next(cursor).map(Element::Resource);
                (resource, cursor.saturating_sub(before))
            }
            Listing::Fault(_) | Listing::Bound(_) => (None, 0),
        }
    }

    /// What stands behind each element that is collected of it.
    fn end(self) -> char {
        if matches!(self, Listing::Resources(_)) { ',' } else { END }
    }
}

struct Loop<'a> {
    list: Listing<'a>,
    cursor: usize,
    element: Option<Element<'a>>,
    /// Whether there was an element.
    has_begun: bool,
    collected: Collected<'a>,
}

impl<'a> Loop<'a> {
    fn over(list: Listing<'a>) -> Self {
        Loop { list, cursor: 0, element: None, has_begun: false, collected: Collected::default() }
    }
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
        truth_of(self.pop()?)
    }

    /// Makes an outcome of the uppermost value, unless that is a fault.
    fn map(&mut self, make: impl FnOnce(&mut Evaluator<'a, '_>, Value<'a>) -> Outcome<'a>) -> Result<(), Fault> {
        let outcome = self.pop()?.and_then(|value| make(&mut self.evaluator, value));
        self.push(outcome)
    }

    /// Makes an outcome of the uppermost value, which is a text, unless that is a fault.
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
            Instruction::Read(surrounding) => {
                let value = self.surrounding(surrounding);
                self.push(value.ok_or(Fault::Absent))
            }
            Instruction::Knows(surrounding) => {
                let is_known = self.surrounding(surrounding).is_some();
                self.push(Ok(Value::Truth(is_known)))
            }
            Instruction::Variable(scope) => self.map_text(|evaluator, name| {
                evaluator.steps.take(VARIABLE)?;
                variable(evaluator, scope, name)?.map(Value::Text).ok_or(Fault::Absent)
            }),
            Instruction::HasVariable(scope) => self.map_text(|evaluator, name| {
                evaluator.steps.take(VARIABLE)?;
                Ok(Value::Truth(variable(evaluator, scope, name)?.is_some()))
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
            Instruction::Item(level) => {
                let value = match self.innermost(level)? {
                    Loop { list: Listing::Bound(outcome), .. } => *outcome,
                    Loop { element: Some(Element::Text(text)), .. } => Ok(Value::Text(text)),
                    _ => return Err(Fault::Program),
                };
                self.push(value)
            }
            Instruction::ResourceItem(level, part) => match (self.element(level)?, part) {
                (Element::Resource(resource), ResourcePart::Kind) => self.push(Ok(Value::Text(resource.kind))),
                (Element::Resource(resource), ResourcePart::Type) => self.push(Ok(Value::Text(resource.subtype))),
                (Element::Resource(resource), ResourcePart::Count) => self.push(Ok(Value::Integer(resource.count))),
                (Element::Resource(resource), ResourcePart::Text) => self.push(Ok(Value::Text(resource.text))),
                (Element::Text(_), _) => Err(Fault::Program),
            },
            Instruction::Accumulate(quantifier, back_to) => self.accumulate(quantifier, back_to),
            Instruction::End(quantifier) => self.end(quantifier),
            Instruction::Ternary(ternary) => self.ternary(ternary),
            Instruction::Keys(table) => {
                let table = program.tables.get(usize::from(table)).ok_or(Fault::Program)?;
                self.push(Ok(Value::Texts(Texts::Listed(&table.keys))))
            }
            Instruction::Count(scope, counted) => self.map_text(|evaluator, name| {
                let job = match scope {
                    Scope::Job => evaluator.written.job().unwrap_or(evaluator.submission.job),
                    _ => fields(evaluator, scope)?,
                };
                let steps = &mut *evaluator.steps;
                let count = match counted {
                    Counted::GpusOfType => {
                        derived::RESOURCE_FIELDS.iter().try_for_each(|field| charge_reading(job, *field, steps))?;
                        derived::gpus_of_type(job, name)
                    }
                    Counted::Licenses => {
                        let field = FieldNumber::from(Name::Licenses);
                        job.charge(field, steps)?;
                        if let Some(Value::Text(text)) = job.field(field) {
                            operators::charge(&Value::Texts(Texts::Licenses(text)), steps)?;
                        }
                        derived::licenses(job, name)
                    }
                };
                Ok(Value::Integer(count))
            }),
            Instruction::ResourceWith(level, part) => {
                let Element::Resource(resource) = self.element(level)? else { return Err(Fault::Program) };
                self.map(|evaluator, value| {
                    operators::charge(&Value::Text(resource.text), evaluator.steps)?;
                    operators::charge(&value, evaluator.steps)?;
                    let text = match (part, value) {
                        (ResourcePart::Type, Value::Text(subtype)) => resource.with_type(subtype, evaluator.scratch),
                        (ResourcePart::Count, Value::Integer(count)) => resource.with_count(count, evaluator.scratch),
                        _ => Err(Fault::Program),
                    };
                    text.map(Value::Text)
                })
            }
            Instruction::Bind => {
                let outcome = self.pop()?;
                self.loops.try_push(Loop::over(Listing::Bound(outcome))).map_err(|_| Fault::Program)
            }
            Instruction::Unbind => self.loops.pop().map(|_| ()).ok_or(Fault::Program),
        }
    }

    fn ternary(&mut self, ternary: Ternary) -> Result<(), Fault> {
        let third = self.pop()?;
        let second = self.pop()?;
        self.map(|evaluator, first| {
            let operands = [first, second?, third?];
            operands.iter().try_for_each(|operand| operators::charge(operand, evaluator.steps))?;
            if ternary == Ternary::Replace {
                operators::charge_replacing(&operands, evaluator.steps)?;
            }
            let value = ternary.apply(operands, evaluator.scratch)?;
            // What is made may be longer than what it is made of.
            operators::charge(&value, evaluator.steps)?;
            Ok(value)
        })
    }

    /// What a field has: of the job that is submitted, with what rules have written.
    fn field(&mut self, scope: Scope, field: FieldNumber) -> Result<Option<Value<'a>>, Fault> {
        if field.name().is_some_and(Name::is_derived) {
            self.evaluator.steps.take(DERIVED)?;
        }
        if scope == Scope::Job
            && let Some(written) = self.evaluator.written.written(field, self.evaluator.scratch, self.evaluator.steps)?
        {
            return Ok(self.with_default_partition(scope, field, written));
        }
        let fields = fields(&self.evaluator, scope)?;
        fields.charge(field, self.evaluator.steps)?;
        let value = fields.field(field);
        if value.is_none() && !fields.knows(field) {
            return Err(Fault::CurrentUnknown);
        }
        Ok(self.with_default_partition(scope, field, value))
    }

    /// The partitions of a submission that names none are the site's default one.
    fn with_default_partition(&self, scope: Scope, field: FieldNumber, value: Option<Value<'a>>) -> Option<Value<'a>> {
        match value {
            Some(Value::Texts(named))
                if matches!(scope, Scope::Job | Scope::Asked)
                    && field == FieldNumber::from(Name::Partitions)
                    && self.evaluator.submission.request == Request::Submit =>
            {
                let default = self.evaluator.program.default_partition.as_deref().filter(|_| named.iter().next().is_none());
                Some(Value::Texts(default.map_or(named, |default| Texts::Separated(default, ','))))
            }
            value => value,
        }
    }

    fn surrounding(&self, surrounding: Surrounding) -> Option<Value<'a>> {
        match surrounding {
            Surrounding::DefaultPartition => self.evaluator.program.default_partition.as_deref().map(Value::Text),
            _ => surrounding.read(self.evaluator.submission),
        }
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
        let fields = fields(&self.evaluator, scope)?;
        let has = fields.has(field);
        if has || fields.knows(field) { Ok(has) } else { Err(Fault::CurrentUnknown) }
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
        self.loops.try_push(Loop::over(list)).map_err(|_| Fault::Program)?;
        let answer = match (list, quantifier) {
            (Listing::Fault(fault), _) => Err(fault),
            (_, Quantifier::All) => Ok(Value::Truth(true)),
            (_, Quantifier::Exists) => Ok(Value::Truth(false)),
            (_, Quantifier::ExistsOne) => Ok(Value::Integer(0)),
            (Listing::Resources(_), Quantifier::Filter) => Ok(Value::Resources(Resources(""))),
            (_, Quantifier::Filter | Quantifier::Map) => Ok(Value::Texts(Texts::Ended(""))),
            (_, Quantifier::Sum(Kind::Integer)) => Ok(Value::Integer(0)),
            (_, Quantifier::Sum(Kind::Real)) => Ok(Value::Real(0.0)),
            (_, Quantifier::Sum(_)) => Ok(Value::Duration(Seconds(0))),
            // Until there is an element, there is no least or greatest.
            (_, Quantifier::Least(_) | Quantifier::Greatest(_)) => Err(Fault::NoSuchElement),
        };
        self.push(answer)
    }

    fn next(&mut self, quantifier: Quantifier, behind: u32) -> Result<(), Fault> {
        let is_decided = match (self.stack.last().ok_or(Fault::Program)?, quantifier) {
            (Ok(Value::Truth(truth)), Quantifier::All) => !truth,
            (Ok(Value::Truth(truth)), Quantifier::Exists) => *truth,
            (Err(_), Quantifier::All | Quantifier::Exists) => false,
            // One fault is enough.
            (Err(_), _) => self.loops.last().is_some_and(|of| of.has_begun),
            _ => false,
        };
        let innermost = self.loops.last_mut().ok_or(Fault::Program)?;
        let before = innermost.cursor;
        let listed = match innermost.list {
            Listing::Texts(Texts::Listed(list)) => Some(list),
            _ => None,
        };
        if let Some(bytes) = listed.filter(|_| !is_decided).and_then(|list| list.work(before)) {
            operators::charge_element(bytes, self.evaluator.steps)?;
        }
        let (element, bytes) = if is_decided { (None, 0) } else { innermost.list.next(&mut innermost.cursor) };
        innermost.element = element;
        innermost.has_begun |= element.is_some();
        if listed.is_none() {
            operators::charge_element(bytes, self.evaluator.steps)?;
        }
        if element.is_none() {
            return self.go_on_at(behind);
        }
        Ok(())
    }

    fn innermost(&self, level: u8) -> Result<&Loop<'a>, Fault> {
        self.loops.iter().rev().nth(usize::from(level)).ok_or(Fault::Program)
    }

    fn element(&self, level: u8) -> Result<Element<'a>, Fault> {
        self.innermost(level)?.element.ok_or(Fault::Program)
    }

    fn accumulate(&mut self, quantifier: Quantifier, back_to: u32) -> Result<(), Fault> {
        let of_element = self.pop()?;
        let so_far = self.pop()?;
        let answer = match (quantifier, so_far, of_element) {
            (Quantifier::All, so_far, of_element) => and(truth_of(so_far)?, truth_of(of_element)?).map(Value::Truth),
            (Quantifier::Exists, so_far, of_element) => or(truth_of(so_far)?, truth_of(of_element)?).map(Value::Truth),
            (_, _, Err(fault)) => Err(fault),
            (Quantifier::Least(_) | Quantifier::Greatest(_), Err(_), Ok(value)) => Ok(value),
            (_, Err(fault), _) => Err(fault),
            (Quantifier::ExistsOne, Ok(Value::Integer(count)), Ok(Value::Truth(holds))) => {
                Ok(Value::Integer(count.saturating_add(i64::from(holds))))
            }
            (Quantifier::Filter, Ok(so_far), Ok(Value::Truth(holds))) => {
                let element = if holds { self.collect(None) } else { Ok(()) };
                element.map(|()| so_far)
            }
            (Quantifier::Map, Ok(so_far), Ok(Value::Text(text))) => self.collect(Some(text)).map(|()| so_far),
            (Quantifier::Sum(_), Ok(sum), Ok(value)) => Binary::Add.apply(sum, value, self.evaluator.scratch),
            (Quantifier::Least(_) | Quantifier::Greatest(_), Ok(so_far), Ok(value)) => {
                operators::charge(&so_far, self.evaluator.steps)?;
                operators::charge(&value, self.evaluator.steps)?;
                let binary = if matches!(quantifier, Quantifier::Least(_)) { Binary::Least } else { Binary::Greatest };
                binary.apply(so_far, value, self.evaluator.scratch)
            }
            _ => return Err(Fault::Program),
        };
        self.push(answer)?;
        self.go_on_at(back_to)
    }

    /// Puts a text behind those that the innermost loop has collected, or its element where no text
    /// was made of it.
    fn collect(&mut self, made: Option<&'a str>) -> Result<(), Fault> {
        let innermost = self.loops.last_mut().ok_or(Fault::Program)?;
        let (text, end) = match (made, innermost.element) {
            (Some(text), _) => (text, END),
            (None, Some(Element::Text(text))) => (text, innermost.list.end()),
            (None, Some(Element::Resource(resource))) => (resource.text, innermost.list.end()),
            (None, None) => return Err(Fault::Program),
        };
        operators::charge(&Value::Text(text), self.evaluator.steps)?;
        innermost.collected.push(text, u8::try_from(end).map_err(|_| Fault::Program)?, self.evaluator.scratch)
    }

    fn end(&mut self, quantifier: Quantifier) -> Result<(), Fault> {
        let Loop { collected, .. } = self.loops.pop().ok_or(Fault::Program)?;
        match quantifier {
            Quantifier::ExistsOne => self.map(|_, count| match count {
                Value::Integer(count) => Ok(Value::Truth(count == 1)),
                _ => Err(Fault::Program),
            }),
            Quantifier::Filter | Quantifier::Map => {
                let text = collected.finish()?;
                operators::charge(&Value::Text(text), self.evaluator.steps)?;
                self.map(|_, so_far| {
                    Ok(match so_far {
                        Value::Resources(_) => Value::Resources(Resources(text.strip_suffix(',').unwrap_or(text))),
                        _ => Value::Texts(Texts::Ended(text)),
                    })
                })
            }
            _ => Ok(()),
        }
    }
}

/// Takes what it is to read a field of a job, and to go through it.
fn charge_reading(job: &dyn Fields, field: Name, steps: &mut Steps) -> Result<(), Fault> {
    let field = FieldNumber::from(field);
    job.charge(field, steps)?;
    job.field(field).map_or(Ok(()), |value| operators::charge(&value, steps))
}

/// What should be a truth, or the reason why there is none.
fn truth_of(outcome: Outcome<'_>) -> Result<Result<bool, Fault>, Fault> {
    match outcome {
        Ok(Value::Truth(truth)) => Ok(Ok(truth)),
        Err(fault) => Ok(Err(fault)),
        Ok(_) => Err(Fault::Program),
    }
}

fn fields<'a>(evaluator: &Evaluator<'a, '_>, scope: Scope) -> Result<&'a dyn Fields, Fault> {
    match scope {
        Scope::Job => Ok(evaluator.submission.job),
        Scope::Asked => Ok(evaluator.submission.asked),
        Scope::Current => evaluator.submission.current.map(|current| current.fields).ok_or(Fault::CurrentUnknown),
    }
}

fn variable<'a>(evaluator: &mut Evaluator<'a, '_>, scope: Scope, name: &str) -> Result<Option<&'a str>, Fault> {
    match evaluator.written.written_variable(name).filter(|_| scope == Scope::Job) {
        Some(written) => Ok(written),
        None => {
            let fields = fields(evaluator, scope)?;
            fields.charge_variable(name, evaluator.steps)?;
            Ok(fields.variable(name))
        }
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
