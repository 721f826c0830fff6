//! Values of tables, whose keys and columns must be known to be there.

use super::{Checked, Checker, Result, TableNames};
use crate::expression::facts::{Fact, Facts};
use crate::expression::node::{Constant, Form, Node};
use crate::problem::suggestion;
use crate::site_tables;
use cel::common::ast::IdedExpr;
use site_rules::value::Kind;

impl Checker<'_> {
    pub(super) fn table(&self, at: &IdedExpr, name: &str) -> Result<(u16, &TableNames)> {
        match self.names.tables.iter().position(|table| table.name == name) {
            Some(place) => match (u16::try_from(place), self.names.tables.get(place)) {
                (Ok(number), Some(table)) => Ok((number, table)),
                _ => self.error(at, "too many tables"),
            },
            None => {
                let closest = suggestion(name, self.names.tables.iter().map(|table| table.name.as_str()));
                self.error(at, format!("unknown table tables.{name}{closest}"))
            }
        }
    }

    /// A key of a table. Where it is a constant it is written as the daemon writes those of its own
    /// tables.
    pub(super) fn key(&mut self, table: &str, key: &IdedExpr, known: &Facts) -> Result<Node> {
        let node = self.of_kind(key, Kind::Text, known)?.node;
        Ok(match node.as_constant() {
            Some(Constant::Text(text)) => Node::constant(Constant::Text(site_tables::key(table, text))),
            _ => node,
        })
    }

    /// A value of a table, whose key must be known to be in it.
    pub(super) fn look_up(&mut self, at: &IdedExpr, name: &str, key: &IdedExpr, column: Option<&str>, known: &Facts) -> Result<Checked> {
        let (node, fact) = self.row(at, name, key, column, known)?;
        if !known.has(&fact) {
            let (_, names) = self.table(at, name)?;
            if let Some(sparse) = names.sparse.iter().find(|sparse| Some(sparse.name.as_str()) == column) {
                let column = &sparse.name;
                return self.error(
                    at,
                    format!(
                        "there may be no {column}: test it before, as in has(tables.{name}[key].{column}) && ..., or say what holds then, as in tables.{name}[?key].{column}.orValue(...)"
                    ),
                );
            }
            return self.error(
                at,
                format!(
                    "the key may be missing in tables.{name}: test it before, as in key in tables.{name} && ..., or say what holds then, as in tables.{name}[?key].orValue(...)"
                ),
            );
        }
        Ok(node.into())
    }

    pub(super) fn row(&mut self, at: &IdedExpr, name: &str, key: &IdedExpr, column: Option<&str>, known: &Facts) -> Result<(Node, Fact)> {
        let (table, names) = self.table(at, name)?;
        let (columns, sparse) = (names.columns.clone(), names.sparse.clone());
        let all = || columns.iter().map(|(name, _)| name.as_str()).chain(sparse.iter().map(|column| column.name.as_str()));
        if let Some(found) = sparse.iter().find(|sparse| Some(sparse.name.as_str()) == column) {
            let key = self.key(name, key, known)?;
            let fact = Fact::Key(found.table, key.clone());
            return Ok((Node { kind: found.kind, form: Form::LookUp { table: found.table, column: 0, key: Box::new(key) } }, fact));
        }
        let place = match (column, columns.as_slice()) {
            (None, [_]) if sparse.is_empty() => 0,
            (None, _) => {
                let list: Vec<&str> = all().collect();
                return self.error(at, format!("which column? tables.{name}[key] has {}", list.join(", ")));
            }
            (Some(column), _) => match columns.iter().position(|(name, _)| name == column) {
                Some(place) => place,
                None => {
                    let closest = suggestion(column, all());
                    return self.error(at, format!("tables.{name} has no column {column}{closest}"));
                }
            },
        };
        let key = self.key(name, key, known)?;
        let (Ok(number), Some((_, kind))) = (u16::try_from(place), columns.get(place)) else {
            return self.error(at, "too many columns");
        };
        let fact = Fact::Key(table, key.clone());
        Ok((Node { kind: *kind, form: Form::LookUp { table, column: number, key: Box::new(key) } }, fact))
    }
}
