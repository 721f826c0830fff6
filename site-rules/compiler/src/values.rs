//! Values of fields as they are written in rules.

use crate::document::Entry;
use crate::expression::caseless::{has_capitals, tables_looked_up};
use crate::expression::check::Names;
use crate::expression::emit::Emitter;
use crate::expression::facts::Facts;
use crate::expression::node::{Constant, Form, Node};
use crate::expression::parse::parse;
use crate::expression::{cost, read};
use crate::literal;
use crate::site_tables;
use crate::words::AMOUNTS;
use site_rules::field::{Field, FieldNumber, Name};
use site_rules::operators::Binary;
use site_rules::rules::ExpressionNumber;
use site_rules::value::Kind;
use toml::de::DeValue;

/// What expressions and values are compiled with.
pub(crate) struct Context<'c> {
    pub(crate) names: Names<'c>,
    pub(crate) emitter: Emitter,
    /// The most steps that an expression may take.
    pub(crate) budget: u32,
}

impl Context<'_> {
    /// Adds an expression to the program.
    pub(crate) fn add(&mut self, entry: Entry<'_>, node: &Node) -> Option<ExpressionNumber> {
        let steps = cost::estimate(node);
        if steps > self.budget {
            let budget = self.budget;
            return entry.error(format!("this expression may take {steps} steps, more than the {budget} of rules.expression_steps"));
        }
        for table in tables_looked_up(node, self.names.tables) {
            self.warn_of_capitals(entry, table);
        }
        match self.emitter.add(node) {
            Ok(number) => Some(ExpressionNumber(number)),
            Err(message) => entry.error(message),
        }
    }

    /// Warns of a key of a site's own table that no account, QOS or wckey is ever equal to.
    fn warn_of_capitals(&self, entry: Entry<'_>, table: u16) {
        let place = usize::from(table);
        let Some(names) = self.names.tables.get(place).filter(|names| !site_tables::NAMES.contains(&names.name.as_str())) else { return };
        let keys = self.emitter.program().tables.get(place).map_or(&[][..], |table| &table.keys);
        if let Some(key) = keys.iter().find(|key| has_capitals(key)) {
            let name = &names.name;
            entry.document.warn(
                entry.at(),
                format!("accounts, QOS and wckeys are read in small letters: the key {key:?} of tables.{name} is never found by one"),
            );
        }
    }

    /// An expression of a kind, in text.
    pub(crate) fn expression(&self, entry: Entry<'_>, kind: Kind, known: &Facts) -> Option<(Node, Facts)> {
        let text = entry.text("an expression in quotes")?;
        match read(text, self.names, known) {
            Ok(checked) if checked.node.kind == kind => Some((checked.node, checked.if_true)),
            Ok(checked) => entry.error(format!("this expression is of type {}, where {kind} is expected", checked.node.kind)),
            Err(error) => entry.document.error(entry.place_in_text(error.offset), error.message),
        }
    }

    /// A condition, with what is there where it holds.
    pub(crate) fn condition(&mut self, entry: Entry<'_>, known: &Facts) -> Option<(ExpressionNumber, Node, Facts)> {
        let (node, if_true) = self.expression(entry, Kind::Truth, known)?;
        Some((self.add(entry, &node)?, node, known.with(&if_true)))
    }

    /// `NAME=value`, of a variable's value that is a text or an expression in `{ cel = '...' }`.
    pub(crate) fn variable(&mut self, name: &str, entry: Entry<'_>, known: &Facts) -> Option<ExpressionNumber> {
        let begin = format!("{name}=");
        let node = match entry.value.get_ref() {
            DeValue::Table(_) => {
                let value = self.cel(entry, Kind::Text, known)?;
                let begin = Node::constant(Constant::Text(begin));
                Node { kind: Kind::Text, form: Form::Binary(Binary::Add, Box::new(begin), Box::new(value)) }
            }
            _ => {
                let value = entry.text("a value in quotes, or { cel = '...' }")?;
                if value.contains('\0') {
                    return entry.error(format!("{name} can't have a zero byte"));
                }
                Node::constant(Constant::Text(begin + value))
            }
        };
        self.add(entry, &node)
    }

    /// The expression in `{ cel = '...' }`.
    fn cel(&self, entry: Entry<'_>, kind: Kind, known: &Facts) -> Option<Node> {
        let section = entry.section("a value")?;
        section.knows(&["cel"]);
        let Some(expression) = section.get("cel") else {
            return entry.error("an expression is expected here, as in { cel = 'job.min_nodes * 2' }");
        };
        Some(self.expression(expression, kind, known)?.0)
    }

    /// The value of a field: written as such, or an expression in `{ cel = '...' }`.
    pub(crate) fn value(&mut self, entry: Entry<'_>, field: &Field, known: &Facts) -> Option<ExpressionNumber> {
        let node = match entry.value.get_ref() {
            DeValue::Table(_) => self.cel(entry, if field.kind == Kind::Resources { Kind::Text } else { field.kind }, known)?,
            _ => {
                let constant = constant(entry, field)?;
                if let Constant::Text(text) = &constant
                    && looks_like_an_expression(text)
                {
                    entry.document.warn(entry.at(), format!("this is the text itself; for its value write {{ cel = '{text}' }}"));
                }
                Node::constant(constant)
            }
        };
        self.add(entry, &node)
    }
}

/// A value that is written in a field's own form.
pub(crate) fn constant(entry: Entry<'_>, field: &Field) -> Option<Constant> {
    let name = field.name;
    let read = |result: Result<Constant, String>| result.map_or_else(|message| entry.error(format!("{name}: {message}")), Some);
    let name_of = FieldNumber::of(name).and_then(FieldNumber::name);
    let is_amount = name_of.is_some_and(|name| AMOUNTS.contains(&name));
    match field.kind {
        Kind::Truth => entry.truth().map(Constant::Truth),
        Kind::Integer if is_amount => {
            read(literal::bytes(entry.text("an amount of memory in quotes, such as \"64G\",")?).map(Constant::Integer))
        }
        Kind::Integer => entry.integer("a whole number").map(Constant::Integer),
        Kind::Real => match entry.value.get_ref().as_float() {
            Some(number) => number.as_str().parse().ok().map(Constant::Real).or_else(|| entry.error("this is no number")),
            None => entry.expected("a number with a decimal point"),
        },
        Kind::Duration => {
            read(literal::limit(entry.text("a duration in quotes, such as \"1-12:00:00\" or \"90m\",")?).map(Constant::Duration))
        }
        Kind::Moment => {
            read(literal::moment(entry.text("a time in quotes, such as \"2026-11-23T09:00:00+01:00\",")?).map(Constant::Moment))
        }
        Kind::Text | Kind::Resources => {
            let text = match entry.value.get_ref() {
                DeValue::Array(_) => {
                    let separator = field.separator.unwrap_or(',').to_string();
                    let parts: Option<Vec<&str>> = entry.list("a text")?.into_iter().map(|part| part.text("a text in quotes")).collect();
                    parts?.join(&separator)
                }
                _ => entry.text("a text in quotes")?.to_owned(),
            };
            if text.contains('\0') {
                return entry.error(format!("{name} can't have a zero byte"));
            }
            if text.is_empty() {
                return entry.error(format!("an empty {name} is none: write clear = [\"{name}\"]"));
            }
            if !field.words.is_empty() && !field.words.contains(&text.as_str()) {
                return entry.error(format!("{name} is one of {}, not {text:?}", field.words.join(", ")));
            }
            if name_of == Some(Name::MemPerTres) {
                return read(in_mebibytes(&text).map(Constant::Text));
            }
            Some(Constant::Text(text))
        }
        Kind::Texts => {
            let texts: Option<Vec<&str>> = entry.list("a list of texts")?.into_iter().map(|text| text.text("a text in quotes")).collect();
            let texts = texts?;
            if let Some(text) = texts.iter().find(|text| !field.words.is_empty() && !field.words.contains(text)) {
                return entry.error(format!("{name} has words of {}, not {text:?}", field.words.join(", ")));
            }
            Some(Constant::Texts(texts.into_iter().map(str::to_owned).collect()))
        }
        Kind::Variables => entry.error(format!("{name} can't be written")),
    }
}

/// Resources with an amount of memory for each, as Slurm counts it there: `gpu:16G` is `gpu:16384`.
fn in_mebibytes(list: &str) -> Result<String, String> {
    let part = |part: &str| match part.rsplit_once([':', '=']) {
        Some((resource, amount)) if amount.starts_with(|digit: char| digit.is_ascii_digit()) => {
            // The byte between them is one of the two.
            let separator = &part[resource.len()..=resource.len()];
            literal::bytes(amount).map(|bytes| format!("{resource}{separator}{}", (bytes >> 20).max(i64::from(bytes > 0))))
        }
        _ => Err(format!("{part:?} has no amount of memory, as in gpu:16G")),
    };
    list.split(',').filter(|part| !part.is_empty()).map(part).collect::<Result<Vec<_>, _>>().map(|parts| parts.join(","))
}

/// Whether a text is an expression about what rules can read, as nobody would call a partition or
/// an account.
fn looks_like_an_expression(text: &str) -> bool {
    let names = ["job.", "asked.", "current.", "user.", "tables.", "forecast.", "site."];
    let is_name = |place: usize| !text[..place].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.' || c == '/');
    let is_read = names.iter().any(|name| text.match_indices(name).any(|(place, _)| is_name(place)));
    // A text such as `job.sh` or `tables.txt` is none: it has no other sign of an expression, and
    // no field of that name.
    let has_sign = text.contains(['[', '(', '+', '?', '"', '\'']);
    let is_field = text.strip_prefix("job.").is_some_and(|name| FieldNumber::of(name).is_some());
    is_read && (has_sign || is_field || text.starts_with("user.")) && parse(text).is_ok()
}
