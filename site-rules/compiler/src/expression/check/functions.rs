//! Functions, forecasts, and what is read when rules are loaded.

use super::{Checked, Checker, Result, plain, test, text_of};
use crate::expression::facts::{Fact, Facts};
use crate::expression::node::{Constant, Form, Node};
use crate::expression::regular;
use crate::problem::suggestion;
use crate::{literal, zone};
use cel::common::ast::{CallExpr, IdedExpr, operators};
use site_rules::calendar::{Part, Zone};
use site_rules::operators::{Binary, Unary};
use site_rules::value::Kind;

impl Checker<'_> {
    pub(super) fn forecast(&mut self, at: &IdedExpr, name: &str, arguments: &[IdedExpr], known: &Facts) -> Result<Checked> {
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

    pub(super) fn function(&mut self, at: &IdedExpr, call: &CallExpr, known: &Facts) -> Result<Checked> {
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

    pub(super) fn unary(&mut self, at: &IdedExpr, name: &str, unary: Unary, operand: &IdedExpr, known: &Facts) -> Result<Checked> {
        let operand = self.check(operand, known)?.node;
        if let Some(part) = part_of_moment(name)
            && operand.kind == Kind::Moment
        {
            return Ok(plain(Kind::Integer, Form::Part(part, Zone::default(), Box::new(operand))));
        }
        match unary.result(operand.kind) {
            Some(kind) => Ok(plain(kind, Form::Unary(unary, Box::new(operand)))),
            None => self.error(at, format!("{} can't be used with {}", if name == operators::NEGATE { "-" } else { name }, operand.kind)),
        }
    }

    pub(super) fn part_of_moment(
        &mut self,
        at: &IdedExpr,
        part: Part,
        moment: &IdedExpr,
        arguments: &[IdedExpr],
        known: &Facts,
    ) -> Result<Checked> {
        let moment = self.of_kind(moment, Kind::Moment, known)?.node;
        let zone = match arguments {
            [] => Zone::default(),
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
    pub(super) fn written_literal(&self, at: &IdedExpr, name: &str, argument: &IdedExpr) -> Result<Checked> {
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
