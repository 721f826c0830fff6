//! Verification of a program that was read from a file: no instruction refers to what is not there,
//! and each finds the kinds of values that it takes, whichever way the program goes.

use crate::field::Field;
use crate::operators::{Binary, Unary};
use crate::program::{Expression, Instruction, LOOPS, Program, Quantifier, ResourcePart, STACK, Scope};
use crate::table::Table;
use crate::value::Kind;
use arrayvec::ArrayVec;
use std::collections::HashMap;
use thiserror::Error;

/// Why a program is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the compiled rules are not well formed (instruction {at})")]
pub struct VerificationError {
    /// The instruction at which it was found.
    pub at: u32,
}

/// What is known before an instruction: the kinds of the values on the stack, and for each loop
/// that it is in the kind of the list and the question; without question, the kind of a value that
/// is kept under a name.
#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    stack: ArrayVec<Kind, STACK>,
    loops: ArrayVec<(Kind, Option<Quantifier>), LOOPS>,
}

impl State {
    fn push(&mut self, kind: Kind) -> Option<()> {
        self.stack.try_push(kind).ok()
    }

    fn pop(&mut self, kind: Kind) -> Option<()> {
        (self.stack.pop()? == kind).then_some(())
    }

    fn top_is(&self, kind: Kind) -> Option<()> {
        (*self.stack.last()? == kind).then_some(())
    }
}

/// Verifies all expressions of a program that reads fields of a list.
///
/// # Errors
/// [`VerificationError`] for the first instruction that is wrong.
pub fn verify(program: &Program, fields: &[Field]) -> Result<(), VerificationError> {
    let parts_are_well_formed =
        program.tables.iter().all(Table::is_well_formed) && program.zones.iter().all(crate::calendar::Zone::is_well_formed);
    if !parts_are_well_formed {
        return Err(VerificationError { at: 0 });
    }
    program.expressions.iter().try_for_each(|expression| verify_expression(program, fields, expression))
}

fn verify_expression(program: &Program, fields: &[Field], expression: &Expression) -> Result<(), VerificationError> {
    let (begin, end) = (expression.begin, expression.end);
    let wrong = |at| VerificationError { at };
    let is_in_program = begin < end && usize::try_from(end).is_ok_and(|end| end <= program.code.len());
    if !is_in_program {
        return Err(wrong(begin));
    }
    // What is known before each instruction that a jump leads to, and before the next one.
    let mut known: HashMap<u32, State> = HashMap::new();
    let mut meeting_points: HashMap<u32, (usize, usize)> = HashMap::new();
    let mut next = Some(State::default());
    for at in begin..end {
        let instruction = usize::try_from(at).ok().and_then(|place| program.code.get(place)).ok_or(wrong(at))?;
        let before = match (next.take(), known.get(&at)) {
            (Some(one), Some(other)) if one != *other => return Err(wrong(at)),
            (Some(state), _) => state,
            (None, Some(state)) => state.clone(),
            // Nothing leads here, which no compiler writes.
            (None, None) => return Err(wrong(at)),
        };
        if !meets(&before, meeting_points.get(&at)) {
            return Err(wrong(at));
        }
        if matches!(instruction, Instruction::Next(..)) {
            known.insert(at, before.clone());
        }
        let mut way = Way { program, fields, at, end, state: before, known: &mut known, meeting_points: &mut meeting_points };
        next = way.follow(*instruction).ok_or(wrong(at))?;
    }
    let last = match (next, known.remove(&end)) {
        (Some(one), Some(other)) if one != other => return Err(wrong(end)),
        (Some(state), _) | (None, Some(state)) => state,
        (None, None) => return Err(wrong(end)),
    };
    let is_one_value = last.stack.as_slice() == [expression.kind] && last.loops.is_empty() && meets(&last, meeting_points.get(&end));
    if is_one_value { Ok(()) } else { Err(wrong(end)) }
}

/// Whether an instruction finds as many values and loops as a fault brings that goes on there.
fn meets(state: &State, sizes: Option<&(usize, usize)>) -> bool {
    sizes.is_none_or(|sizes| *sizes == (state.stack.len(), state.loops.len()))
}

struct Way<'v> {
    program: &'v Program,
    fields: &'v [Field],
    at: u32,
    end: u32,
    state: State,
    known: &'v mut HashMap<u32, State>,
    /// How many values and loops there are where the ways of [`Instruction::Choose`] meet.
    meeting_points: &'v mut HashMap<u32, (usize, usize)>,
}

impl Way<'_> {
    /// Follows an instruction: `None` if it is wrong; else what is known before the one behind it,
    /// if it goes on there.
    #[allow(clippy::option_option)]
    fn follow(&mut self, instruction: Instruction) -> Option<Option<State>> {
        let goes_on = !matches!(instruction, Instruction::Jump(_) | Instruction::Accumulate(..));
        match instruction {
            Instruction::Truth(_) => self.state.push(Kind::Truth)?,
            Instruction::Integer(_) => self.state.push(Kind::Integer)?,
            Instruction::Real(_) => self.state.push(Kind::Real)?,
            Instruction::Duration(_) => self.state.push(Kind::Duration)?,
            Instruction::Moment(_) => self.state.push(Kind::Moment)?,
            Instruction::Text(text) => {
                self.program.texts.get(usize::from(text))?;
                self.state.push(Kind::Text)?;
            }
            Instruction::Texts(list) => {
                self.program.lists.get(usize::from(list))?;
                self.state.push(Kind::Texts)?;
            }
            Instruction::Load(_, field) => {
                let kind = self.fields.get(usize::from(field.0))?.kind;
                (kind != Kind::Variables).then_some(())?;
                self.state.push(kind)?;
            }
            Instruction::Has(_, field) => {
                self.fields.get(usize::from(field.0))?;
                self.state.push(Kind::Truth)?;
            }
            Instruction::Read(surrounding) => self.state.push(surrounding.field()?.kind)?,
            Instruction::Knows(_) => self.state.push(Kind::Truth)?,
            Instruction::Variable(Scope::Job | Scope::Current | Scope::Asked) => self.takes(&[Kind::Text], Kind::Text)?,
            Instruction::HasVariable(_) | Instruction::HasWait => self.takes(&[Kind::Text], Kind::Truth)?,
            Instruction::LookUp { table, column } => {
                let column = self.program.tables.get(usize::from(table))?.columns.get(usize::from(column))?;
                self.takes(&[Kind::Text], column.kind())?;
            }
            Instruction::HasKey(table) => {
                self.program.tables.get(usize::from(table))?;
                self.takes(&[Kind::Text], Kind::Truth)?;
            }
            Instruction::Wait => self.takes(&[Kind::Text, Kind::Real], Kind::Duration)?,
            Instruction::Unary(unary) => self.unary(unary)?,
            Instruction::Binary(binary) => self.binary(binary)?,
            Instruction::Part(_, zone) => {
                self.program.zones.get(usize::from(zone))?;
                self.takes(&[Kind::Moment], Kind::Integer)?;
            }
            Instruction::Matches(pattern) => {
                self.program.patterns.get(usize::from(pattern))?;
                self.takes(&[Kind::Text], Kind::Truth)?;
            }
            Instruction::Jump(to) => self.leads_to(to, self.state.clone())?,
            Instruction::JumpIfTrue(to) | Instruction::JumpIfFalse(to) => {
                self.state.top_is(Kind::Truth)?;
                self.leads_to(to, self.state.clone())?;
            }
            Instruction::And | Instruction::Or => self.takes(&[Kind::Truth, Kind::Truth], Kind::Truth)?,
            Instruction::Choose { otherwise, end } => {
                self.state.pop(Kind::Truth)?;
                // If the truth is a fault, evaluation goes on where both ways meet, with a value of
                // whatever kind: what is known there comes from the ways themselves.
                (otherwise < end && end <= self.end).then_some(())?;
                let sizes = (self.state.stack.len().saturating_add(1), self.state.loops.len());
                (*self.meeting_points.entry(end).or_insert(sizes) == sizes).then_some(())?;
                self.leads_to(otherwise, self.state.clone())?;
            }
            Instruction::Begin(quantifier) => {
                let kind = self.state.stack.pop()?;
                matches!(kind, Kind::Texts | Kind::Resources).then_some(())?;
                quantifier.of_element()?;
                self.state.loops.try_push((kind, Some(quantifier))).ok()?;
                self.state.push(quantifier.so_far(kind))?;
            }
            Instruction::Next(quantifier, behind) => {
                self.answers(quantifier)?;
                self.leads_to(behind, self.state.clone())?;
            }
            Instruction::Item(level) => match self.loop_over(level)? {
                (Kind::Texts, Some(_)) => self.state.push(Kind::Text)?,
                (kind, None) => self.state.push(kind)?,
                (_, Some(_)) => return None,
            },
            Instruction::ResourceItem(level, part) => {
                self.is_over_resources(level)?;
                self.state.push(part.kind())?;
            }
            Instruction::ResourceWith(level, part) => {
                self.is_over_resources(level)?;
                matches!(part, ResourcePart::Type | ResourcePart::Count).then_some(())?;
                self.takes(&[part.kind()], Kind::Text)?;
            }
            Instruction::Accumulate(quantifier, back_to) => {
                self.state.pop(quantifier.of_element()?)?;
                self.answers(quantifier)?;
                let is_back = back_to < self.at && matches!(self.program.code.get(usize::try_from(back_to).ok()?)?, Instruction::Next(..));
                (is_back && self.known.get(&back_to)? == &self.state).then_some(())?;
            }
            Instruction::End(quantifier) => {
                self.answers(quantifier)?;
                let (list, _) = self.state.loops.pop()?;
                self.takes(&[quantifier.so_far(list)], quantifier.result(list))?;
            }
            Instruction::Ternary(ternary) => {
                let third = self.state.stack.pop()?;
                let second = self.state.stack.pop()?;
                let first = self.state.stack.pop()?;
                self.state.push(ternary.result([first, second, third])?)?;
            }
            Instruction::Keys(table) => {
                self.program.tables.get(usize::from(table))?;
                self.state.push(Kind::Texts)?;
            }
            Instruction::Count(..) => self.takes(&[Kind::Text], Kind::Integer)?,
            Instruction::Bind => {
                let kind = self.state.stack.pop()?;
                self.state.loops.try_push((kind, None)).ok()?;
            }
            Instruction::Unbind => {
                self.state.loops.pop()?.1.is_none().then_some(())?;
            }
        }
        Some(goes_on.then(|| self.state.clone()))
    }

    /// It takes values, the last of them from the top, and leaves one.
    fn takes(&mut self, kinds: &[Kind], result: Kind) -> Option<()> {
        kinds.iter().rev().try_for_each(|kind| self.state.pop(*kind))?;
        self.state.push(result)
    }

    fn unary(&mut self, unary: Unary) -> Option<()> {
        let operand = self.state.stack.pop()?;
        self.state.push(unary.result(operand)?)
    }

    fn binary(&mut self, binary: Binary) -> Option<()> {
        let right = self.state.stack.pop()?;
        let left = self.state.stack.pop()?;
        self.state.push(binary.result(left, right)?)
    }

    fn loop_over(&self, level: u8) -> Option<(Kind, Option<Quantifier>)> {
        self.state.loops.iter().rev().nth(usize::from(level)).copied()
    }

    fn is_over_resources(&self, level: u8) -> Option<()> {
        matches!(self.loop_over(level)?, (Kind::Resources, Some(_))).then_some(())
    }

    /// The innermost loop has this question, and its answer so far is the uppermost value.
    fn answers(&self, quantifier: Quantifier) -> Option<()> {
        let (list, question) = *self.state.loops.last()?;
        (question == Some(quantifier)).then_some(())?;
        self.state.top_is(quantifier.so_far(list))
    }

    /// A way leads forward to an instruction, with what is known there.
    fn leads_to(&mut self, to: u32, state: State) -> Option<()> {
        (to > self.at && to <= self.end).then_some(())?;
        match self.known.get(&to) {
            Some(other) => (*other == state).then_some(()),
            None => {
                self.known.insert(to, state);
                Some(())
            }
        }
    }
}
