//! How many steps an expression may take, before it is ever evaluated.

use super::node::{Constant, Form, Node};
use site_rules::field::Name;
use site_rules::value::Kind;

/// How many elements a list is taken to have where it is not known.
const ELEMENTS: u32 = 64;

/// How many elements a list of a table is taken to have, and one of partitions or of types of GPUs.
const FEW_ELEMENTS: u32 = 16;

/// How many steps it is taken to go through a text that is not known, or to make one.
const TEXT: u32 = 8;

/// An estimate of the most steps that an expression takes, with texts and lists of ordinary length.
/// A longer one, such as a script, takes more: the budget at a submission is what holds.
#[must_use]
pub fn estimate(node: &Node) -> u32 {
    let of = |parts: &[&Node]| parts.iter().fold(1_u32, |sum, part| sum.saturating_add(estimate(part)));
    let goes_through = |node: &Node| match node.kind {
        Kind::Text => TEXT,
        Kind::Texts | Kind::Resources => elements(node),
        _ => 0,
    };
    match &node.form {
        Form::Constant(_)
        | Form::Load(..)
        | Form::Has(..)
        | Form::Read(_)
        | Form::Knows(_)
        | Form::Item(_)
        | Form::ResourceItem(..)
        | Form::Keys(_) => 1,
        Form::Variable(_, part)
        | Form::HasVariable(_, part)
        | Form::LookUp { key: part, .. }
        | Form::HasKey(_, part)
        | Form::HasWait(part)
        | Form::Part(_, _, part) => of(&[part]),
        Form::ResourceWith(_, _, part) | Form::Count(_, _, part) => of(&[part]).saturating_add(TEXT).saturating_add(goes_through(part)),
        Form::Ternary(_, parts) => {
            let texts = parts.iter().fold(TEXT, |sum, part| sum.saturating_add(goes_through(part)));
            of(&parts.each_ref()).saturating_add(texts)
        }
        Form::Bind(value, body) => of(&[value, body]).saturating_add(1),
        Form::Unary(_, part) | Form::Matches(_, part) => of(&[part]).saturating_add(goes_through(part)),
        Form::Binary(_, left, right) => of(&[left, right]).saturating_add(goes_through(left)).saturating_add(goes_through(right)),
        Form::Wait(left, right) | Form::And(left, right) | Form::Or(left, right) => of(&[left, right]).saturating_add(1),
        Form::Choose(condition, one, other) => estimate(condition).saturating_add(2).saturating_add(estimate(one).max(estimate(other))),
        Form::Loop(_, list, body) => {
            let of_bodies = estimate(body).saturating_add(2).saturating_mul(elements(list));
            estimate(list).saturating_add(of_bodies).saturating_add(3)
        }
    }
}

/// How many elements a list is taken to have.
fn elements(list: &Node) -> u32 {
    let few = [Name::Partitions, Name::QosNames, Name::GpuTypes];
    match &list.form {
        Form::Constant(Constant::Texts(texts)) => u32::try_from(texts.len()).unwrap_or(u32::MAX),
        Form::LookUp { .. } => FEW_ELEMENTS,
        Form::Load(_, field) if field.name().is_some_and(|name| few.contains(&name)) => FEW_ELEMENTS,
        _ => ELEMENTS,
    }
}
