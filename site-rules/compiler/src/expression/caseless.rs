//! Names that Slurm compares without regard to case: those of accounts, qualities of service and
//! keys of accounting.
//!
//! They are in small letters where rules read them of a job. What is compared with them is put in
//! small letters here, through whatever they go before: parts of a list, names of values, loops.

use super::check::TableNames;
use super::node::{Constant, Form, Node};
use regex_syntax::ast::{self, Ast, Visitor};
use site_rules::field::Name;
use site_rules::operators::{Binary, Ternary, Unary};
use site_rules::program::Quantifier;
use site_rules::value::Kind;

/// What tells which values are such names.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    /// Whether the elements of the loops and the values with names around an expression are, the
    /// outermost first.
    pub(crate) variables: &'a [bool],
    /// All tables.
    pub(crate) tables: &'a [TableNames],
}

/// Whether a value, or each text of a list, is such a name or a part of one.
pub(super) fn is_caseless(node: &Node, around: Around<'_>) -> bool {
    let of = |node: &Node| is_caseless(node, around);
    match &node.form {
        Form::Load(_, field) => field.name().is_some_and(Name::is_caseless),
        Form::LookUp { table, .. } => {
            let mut columns = around.tables.iter().flat_map(|names| &names.sparse);
            columns.any(|column| column.is_caseless && column.table == *table)
        }
        Form::Item(place) => around.variables.get(*place).copied().unwrap_or(false),
        Form::Choose(_, one, other) => of(one) || of(other),
        Form::Unary(Unary::Trim | Unary::LowerAscii, text) => of(text),
        Form::Binary(Binary::Split | Binary::Element | Binary::CharAt | Binary::From, text, _) => of(text),
        Form::Binary(Binary::Add | Binary::Join, one, other) => (of(one) && (of(other) || is_lower(other))) || (is_lower(one) && of(other)),
        Form::Binary(Binary::Least | Binary::Greatest, one, other) => of(one) || of(other),
        Form::Ternary(Ternary::Substring, operands) => of(&operands[0]),
        Form::Ternary(Ternary::Replace, operands) => of(&operands[0]) && is_lower(&operands[2]),
        Form::Loop(Quantifier::Filter, list, _) => of(list),
        Form::Loop(Quantifier::Map | Quantifier::Least(_) | Quantifier::Greatest(_), outer, body) | Form::Bind(outer, body) => {
            let variables = [around.variables, &[of(outer)]].concat();
            is_caseless(body, Around { variables: &variables, ..around })
        }
        _ => false,
    }
}

/// Whether it is a constant without capital letters.
fn is_lower(node: &Node) -> bool {
    matches!(&node.form, Form::Constant(Constant::Text(text)) if !has_capitals(text))
}

/// Whether a text has capital letters, as names that Slurm compares without regard to case have
/// none.
pub(crate) fn has_capitals(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// Puts both sides of a comparison as such names are compared, where one of them is such a name.
pub(super) fn compared(binary: Binary, left: Node, right: Node, around: Around<'_>) -> (Node, Node) {
    use Binary::{
        Contains, EndsWith, Equal, Greater, GreaterOrEqual, In, IndexOf, LastIndexOf, Less, LessOrEqual, NotEqual, Split, StartsWith,
    };
    let are_compared = matches!(binary, Equal | NotEqual | Less | LessOrEqual | Greater | GreaterOrEqual | In);
    let is_search = matches!(binary, StartsWith | EndsWith | Contains | IndexOf | LastIndexOf | Split);
    if !(are_compared || is_search) || !(is_caseless(&left, around) || is_caseless(&right, around)) {
        return (left, right);
    }
    // A long text such as a script, in which such a name is looked for, is left as it is.
    (lowered(left, are_compared, around), lowered(right, true, around))
}

/// A text in small letters: a constant when rules are loaded, and another one that is no such name
/// wherever it is read, if that is wanted. Of lists only constants are.
fn lowered(node: Node, also_values: bool, around: Around<'_>) -> Node {
    let is_done = is_caseless(&node, around) || !also_values || node.kind != Kind::Text;
    let Node { kind, form } = node;
    match form {
        Form::Constant(Constant::Text(text)) => Node::constant(Constant::Text(text.to_ascii_lowercase())),
        Form::Constant(Constant::Texts(texts)) => {
            Node::constant(Constant::Texts(texts.iter().map(|text| text.to_ascii_lowercase()).collect()))
        }
        Form::Choose(condition, one, other) => {
            let side = |node: Box<Node>| Box::new(lowered(*node, also_values, around));
            Node { kind, form: Form::Choose(condition, side(one), side(other)) }
        }
        form if is_done => Node { kind, form },
        form => Node { kind, form: Form::Unary(Unary::LowerAscii, Box::new(Node { kind, form })) },
    }
}

/// The tables whose keys are looked for by such a name.
pub(crate) fn tables_looked_up(node: &Node, tables: &[TableNames]) -> Vec<u16> {
    let mut found = Vec::new();
    look(node, tables, &mut Vec::new(), &mut found);
    found
}

fn look(node: &Node, tables: &[TableNames], variables: &mut Vec<bool>, found: &mut Vec<u16>) {
    if let Form::LookUp { table, key, .. } | Form::HasKey(table, key) = &node.form
        && is_caseless(key, Around { variables, tables })
        && !found.contains(table)
    {
        found.push(*table);
    }
    if let Form::Loop(_, outer, body) | Form::Bind(outer, body) = &node.form {
        look(outer, tables, variables, found);
        variables.push(is_caseless(outer, Around { variables, tables }));
        look(body, tables, variables, found);
        variables.pop();
        return;
    }
    node.parts().into_iter().for_each(|part| look(part, tables, variables, found));
}

/// A capital letter of a regular expression that is found in no such name; `None` where there is
/// none, or where it looks at letters without regard to case.
pub(super) fn capital_of_pattern(source: &str) -> Option<char> {
    let parsed = ast::parse::Parser::new().parse(source).ok()?;
    ast::visit(&parsed, Capitals::default()).ok()?
}

#[derive(Default)]
struct Capitals {
    first: Option<char>,
    ignores_case: bool,
    /// The letters of the brackets that it is in, and whether all others are meant.
    brackets: Option<(Vec<(char, char)>, bool)>,
}

impl Capitals {
    fn note(&mut self, letter: char) {
        if letter.is_ascii_uppercase() && self.first.is_none() {
            self.first = Some(letter);
        }
    }

    fn flags(&mut self, flags: &ast::Flags) {
        self.ignores_case |= flags.flag_state(ast::Flag::CaseInsensitive) == Some(true);
    }
}

impl Visitor for Capitals {
    type Output = Option<char>;
    type Err = ();

    fn finish(self) -> Result<Option<char>, ()> {
        Ok(self.first.filter(|_| !self.ignores_case))
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), ()> {
        match ast {
            Ast::Literal(literal) => self.note(literal.c),
            Ast::Flags(set) => self.flags(&set.flags),
            Ast::Group(group) => {
                if let Some(flags) = group.flags() {
                    self.flags(flags);
                }
            }
            Ast::ClassBracketed(class) => self.brackets = Some((Vec::new(), class.negated)),
            _ => {}
        }
        Ok(())
    }

    fn visit_post(&mut self, ast: &Ast) -> Result<(), ()> {
        if let (Ast::ClassBracketed(_), Some((ranges, false))) = (ast, self.brackets.take()) {
            let has = |letter: char| ranges.iter().any(|(start, end)| (*start..=*end).contains(&letter));
            // `[A-Za-z]` has the small ones too.
            if let Some(letter) = ('A'..='Z').find(|letter| has(*letter) && !has(letter.to_ascii_lowercase())) {
                self.note(letter);
            }
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ast::ClassSetItem) -> Result<(), ()> {
        let Some((ranges, _)) = &mut self.brackets else { return Ok(()) };
        match item {
            ast::ClassSetItem::Literal(literal) => ranges.push((literal.c, literal.c)),
            ast::ClassSetItem::Range(range) => ranges.push((range.start.c, range.end.c)),
            // It is not known here what these classes hold, so that nothing is said of the
            // brackets.
            ast::ClassSetItem::Ascii(_) | ast::ClassSetItem::Unicode(_) | ast::ClassSetItem::Perl(_) | ast::ClassSetItem::Bracketed(_) => {
                ranges.push(('a', 'z'))
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitals_of_a_pattern_are_those_that_no_small_letter_stands_for() {
        for (source, capital) in [
            ("^Express$", Some('E')),
            ("a|B+", Some('B')),
            ("[A-Z]+", Some('A')),
            ("[gG]p[uU]", None),
            ("[A-Za-z0-9]", None),
            ("[^A]", None),
            (r"\S\W\D\p{Lu}", None),
            (r"[\S]", None),
            ("(?i)Express", None),
            ("(?i:Ex)press", None),
            ("express", None),
            ("(", None),
        ] {
            assert_eq!(capital_of_pattern(source), capital, "{source}");
        }
    }
}
