//! Functions, forecasts, and what is read when rules are loaded.

use super::{Checked, Checker, Result, Variable, is_name, plain, scope_of, table_name, test, text_of};
use crate::expression::caseless::{capital_of_pattern, compared, is_caseless};
use crate::expression::facts::{Fact, Facts};
use crate::expression::node::{Constant, Form, Node};
use crate::expression::regular;
use crate::problem::suggestion;
use crate::{literal, zone};
use cel::common::ast::{CallExpr, Expr, IdedExpr, operators};
use site_rules::calendar::{Part, Zone};
use site_rules::operators::{Binary, Ternary, Unary};
use site_rules::program::{Counted, ResourcePart};
use site_rules::value::Kind;

impl Checker<'_> {
    pub(super) fn forecast(&mut self, at: &IdedExpr, name: &str, arguments: &[IdedExpr], known: &Facts) -> Result<Checked> {
        /// The quantile of a wait if none is given: the wait is as likely longer as shorter.
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
                if let Some(letter) = capital_of_pattern(&source).filter(|_| is_caseless(&text, self.around())) {
                    return self.error(
                        pattern,
                        format!("accounts, QOS and wckeys are read in small letters, in which {letter} is never found: write it small"),
                    );
                }
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
            ("least" | "greatest", Some(target), elements) if is_name(target, "math") => {
                if let [list] = elements
                    && !matches!(&list.expr, Expr::Literal(_) | Expr::Ident(_))
                    && let Ok(checked) = self.reduced(at, if name == "least" { "min" } else { "max" }, list, known)
                {
                    return Ok(checked);
                }
                let binary = if name == "least" { Binary::Least } else { Binary::Greatest };
                return self.of_all(at, binary, elements, known);
            }
            ("sum" | "min" | "max", Some(list), []) => return self.reduced(at, name, list, known),
            ("size", Some(table), []) | ("size", None, [table]) if table_name(table).is_some() => {
                let keys = self.keys(table, table_name(table).unwrap_or_default())?;
                return Ok(plain(Kind::Integer, Form::Unary(Unary::Size, Box::new(keys))));
            }
            ("join", Some(list), []) => {
                let list = self.check(list, known)?.node;
                return self.of_two(at, Binary::Join, list, Node::constant(Constant::Text(String::new())));
            }
            ("split" | "join" | "indexOf" | "lastIndexOf" | "charAt" | "substring", Some(text), [argument]) => {
                let binary = match name {
                    "split" => Binary::Split,
                    "join" => Binary::Join,
                    "indexOf" => Binary::IndexOf,
                    "lastIndexOf" => Binary::LastIndexOf,
                    "charAt" => Binary::CharAt,
                    _ => Binary::From,
                };
                return self.binary(at, binary, text, argument, known);
            }
            ("replace", Some(text), [one, other]) => return self.ternary(at, Ternary::Replace, [text, one, other], known),
            ("substring", Some(text), [one, other]) => return self.ternary(at, Ternary::Substring, [text, one, other], known),
            ("gpuCount" | "licenseCount", Some(target), [argument]) => {
                let Some(scope) = scope_of(target) else {
                    return self.error(at, format!("{name} is of a job, as in job.{name}('NAME')"));
                };
                let counted = if name == "gpuCount" { Counted::GpusOfType } else { Counted::Licenses };
                let argument = self.of_kind(argument, Kind::Text, known)?.node;
                return Ok(plain(Kind::Integer, Form::Count(scope, counted, Box::new(argument))));
            }
            ("withType" | "withCount", Some(target), [argument]) => {
                let part = if name == "withType" { ResourcePart::Type } else { ResourcePart::Count };
                let place = match &target.expr {
                    Expr::Ident(variable) => self.variable(variable),
                    _ => None,
                };
                let Some(place) = place.filter(|place| matches!(self.variables.get(*place), Some((_, Variable::Resource)))) else {
                    return self.error(at, format!("{name} is of a resource, as in job.tres_per_node.map(r, r.{name}(...))"));
                };
                let argument = self.of_kind(argument, part.kind(), known)?.node;
                return Ok(plain(Kind::Text, Form::ResourceWith(place, part, Box::new(argument))));
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
        let is_known = FUNCTIONS.contains(&name);
        let remedy = if is_known { "; it has other arguments".to_owned() } else { suggestion(name, FUNCTIONS.iter().copied()) };
        let shown = if call.target.is_some() { format!("x.{name}") } else { name.to_owned() };
        self.error(at, format!("no function {shown} with {} arguments{remedy}", call.args.len()))
    }

    fn ternary(&mut self, at: &IdedExpr, ternary: Ternary, operands: [&IdedExpr; 3], known: &Facts) -> Result<Checked> {
        let [first, second, third] = operands;
        let operands = [self.check(first, known)?.node, self.check(second, known)?.node, self.check(third, known)?.node];
        let kinds = operands.each_ref().map(|operand| operand.kind);
        let [text, second, third] = operands;
        let operands = match ternary {
            Ternary::Replace => {
                let (text, old) = compared(Binary::IndexOf, text, second, self.around());
                [text, old, third]
            }
            Ternary::Substring => [text, second, third],
        };
        match ternary.result(kinds) {
            Some(kind) => Ok(plain(kind, Form::Ternary(ternary, Box::new(operands)))),
            None => {
                let [first, second, third] = kinds;
                let name = if ternary == Ternary::Replace { "replace" } else { "substring" };
                self.error(at, format!("{name} can't be used with {first}, {second} and {third}"))
            }
        }
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
    "filter",
    "map",
    "sum",
    "min",
    "max",
    "least",
    "greatest",
    "bind",
    "split",
    "join",
    "replace",
    "substring",
    "indexOf",
    "lastIndexOf",
    "charAt",
    "gpuCount",
    "licenseCount",
    "withType",
    "withCount",
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
