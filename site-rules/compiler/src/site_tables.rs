//! Tables that a site does not write itself: qualities of service, associations and users, as
//! slurmctld has them of slurmdbd. Their columns are always the same, and their rows are given by
//! the daemon.
//!
//! A column in which not every row has a value is a table of its own in what is compiled, with the
//! rows that have one: that a value is absent is then the same as that a key is.

use crate::expression::check::{SparseColumn, TableNames};
use serde::{Deserialize, Serialize};
use site_rules::program::{Instruction, Program};
use site_rules::table::{Column, Table};
use site_rules::value::Kind;
use std::collections::BTreeMap;

/// The rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SiteTables {
    /// Qualities of service by their names.
    pub qos: BTreeMap<String, Limits>,
    /// Associations by `ACCOUNT` for an account's, `ACCOUNT/USER` for a user's, and
    /// `ACCOUNT/USER/PARTITION` for one in a partition alone.
    pub associations: BTreeMap<String, Limits>,
    /// Users by their names.
    pub users: BTreeMap<String, UserRow>,
}

/// What a quality of service or an association allows each job. `None` is no limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// The longest time limit, in seconds (`MaxWall`).
    pub max_wall: Option<i64>,
    /// The most CPUs of a job (`MaxTRES`).
    pub max_cpus: Option<i64>,
    /// The most nodes of a job.
    pub max_nodes: Option<i64>,
    /// The most memory of a job, in bytes.
    pub max_memory: Option<i64>,
    /// The most CPUs of a job on each node (`MaxTRESPerNode`).
    pub max_cpus_per_node: Option<i64>,
    /// The fewest CPUs of a job (`MinTRES`); of qualities of service alone.
    pub min_cpus: Option<i64>,
    /// The fewest nodes of a job; of qualities of service alone.
    pub min_nodes: Option<i64>,
    /// The most CPUs that all jobs together have (`GrpTRES`).
    pub group_cpus: Option<i64>,
    /// The most nodes that all jobs together have.
    pub group_nodes: Option<i64>,
    /// The name of the default quality of service; of associations alone.
    pub default_qos: Option<String>,
}

/// A user with an association.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UserRow {
    /// The account of jobs that name none.
    pub default_account: Option<String>,
    /// Whether the user is an operator or administrator.
    pub is_operator: bool,
}

/// A value of a row.
enum Cell<'r> {
    Integer(i64),
    Duration(i64),
    Text(&'r str),
}

/// A column in which not every row has a value.
struct Sparse<R> {
    name: &'static str,
    kind: Kind,
    value: fn(&R) -> Option<Cell<'_>>,
}

const LIMITS: &[Sparse<Limits>] = &[
    Sparse { name: "max_wall", kind: Kind::Duration, value: |row| row.max_wall.map(Cell::Duration) },
    Sparse { name: "max_cpus", kind: Kind::Integer, value: |row| row.max_cpus.map(Cell::Integer) },
    Sparse { name: "max_nodes", kind: Kind::Integer, value: |row| row.max_nodes.map(Cell::Integer) },
    Sparse { name: "max_memory", kind: Kind::Integer, value: |row| row.max_memory.map(Cell::Integer) },
    Sparse { name: "max_cpus_per_node", kind: Kind::Integer, value: |row| row.max_cpus_per_node.map(Cell::Integer) },
    Sparse { name: "min_cpus", kind: Kind::Integer, value: |row| row.min_cpus.map(Cell::Integer) },
    Sparse { name: "min_nodes", kind: Kind::Integer, value: |row| row.min_nodes.map(Cell::Integer) },
    Sparse { name: "group_cpus", kind: Kind::Integer, value: |row| row.group_cpus.map(Cell::Integer) },
    Sparse { name: "group_nodes", kind: Kind::Integer, value: |row| row.group_nodes.map(Cell::Integer) },
    Sparse { name: "default_qos", kind: Kind::Text, value: |row| row.default_qos.as_deref().map(Cell::Text) },
];

const USERS: &[Sparse<UserRow>] =
    &[Sparse { name: "default_account", kind: Kind::Text, value: |row| row.default_account.as_deref().map(Cell::Text) }];

/// The names of these tables, which a site can't give to its own.
pub const NAMES: [&str; 3] = ["qos", "associations", "users"];

/// Puts the tables behind those of the site, and their names behind theirs.
pub(crate) fn add(rows: &SiteTables, tables: &mut Vec<Table>, names: &mut Vec<TableNames>) {
    let of_users = rows.users.values().map(|user| user.is_operator).collect();
    let [qos, associations, users] = NAMES;
    tables.push(keys(&rows.qos, Vec::new()));
    tables.push(keys(&rows.associations, Vec::new()));
    tables.push(keys(&rows.users, vec![Column::Truths(of_users)]));
    let is_operator = ("is_operator".to_owned(), Kind::Truth);
    let of_qos = add_sparse(&rows.qos, LIMITS, tables);
    let of_associations = add_sparse(&rows.associations, LIMITS, tables);
    let of_users = add_sparse(&rows.users, USERS, tables);
    names.push(TableNames { name: qos.to_owned(), columns: Vec::new(), sparse: of_qos });
    names.push(TableNames { name: associations.to_owned(), columns: Vec::new(), sparse: of_associations });
    names.push(TableNames { name: users.to_owned(), columns: vec![is_operator], sparse: of_users });
}

fn keys<R>(rows: &BTreeMap<String, R>, columns: Vec<Column>) -> Table {
    Table { keys: rows.keys().map(|key| key.as_str().into()).collect(), columns }
}

/// A table for each column; returns where they stand.
fn add_sparse<R>(rows: &BTreeMap<String, R>, columns: &[Sparse<R>], tables: &mut Vec<Table>) -> Vec<SparseColumn> {
    let mut named = Vec::new();
    for column in columns {
        let present: Vec<(&str, Cell<'_>)> = rows.iter().filter_map(|(key, row)| Some((key.as_str(), (column.value)(row)?))).collect();
        let numbers =
            || present.iter().map(|(_, cell)| if let Cell::Integer(number) | Cell::Duration(number) = cell { *number } else { 0 });
        let values = match column.kind {
            Kind::Duration => Column::Durations(numbers().collect()),
            Kind::Integer => Column::Integers(numbers().collect()),
            _ => Column::Texts(present.iter().map(|(_, cell)| if let Cell::Text(text) = cell { *text } else { "" }.into()).collect()),
        };
        // There are some dozens of tables in all.
        let table = u16::try_from(tables.len()).unwrap_or(u16::MAX);
        tables.push(Table { keys: present.iter().map(|(key, _)| (*key).into()).collect(), columns: vec![values] });
        named.push(SparseColumn { name: column.name.to_owned(), kind: column.kind, table });
    }
    named
}

/// Takes out of a program what it does not use of the tables from a place on. Returns whether it
/// uses any.
pub(crate) fn leave_out_unused(program: &mut Program, from: usize) -> bool {
    let mut used = vec![false; program.tables.len()];
    for instruction in &program.code {
        if let Instruction::LookUp { table, .. } | Instruction::HasKey(table) = instruction
            && let Some(used) = used.get_mut(usize::from(*table))
        {
            *used = true;
        }
    }
    for (table, _) in program.tables.iter_mut().zip(&used).skip(from).filter(|(_, used)| !**used) {
        *table = Table::default();
    }
    let last = used.iter().skip(from).rposition(|used| *used);
    program.tables.truncate(from + last.map_or(0, |last| last + 1));
    last.is_some()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::compile::compile_with;
    use crate::{Compiled, Source};

    fn compiled(rows: Option<&SiteTables>, text: &str) -> Compiled {
        let none = |_: &str| Err("there are no files".to_owned());
        let source = Source { name: "rules.toml".to_owned(), text: text.to_owned(), is_configuration: false, read_file: &none };
        compile_with(&[source], rows)
    }

    fn problem(when: &str) -> String {
        let text = format!("[[rule]]\nname = \"r\"\nwhen = '{when}'\nreject = \"no\"\n");
        let compiled = compiled(None, &text);
        compiled.problems.first().map(|problem| problem.message.clone()).unwrap_or_default()
    }

    #[test]
    fn columns_are_typed_without_rows_and_absent_values_have_to_be_tested() {
        let wall =
            "has(job.qos) && has(job.time_limit) && has(tables.qos[job.qos].max_wall) && job.time_limit > tables.qos[job.qos].max_wall";
        assert_eq!(problem(wall), "");
        assert_eq!(problem("has(job.qos) && !(job.qos in tables.qos)"), "");
        assert_eq!(problem("has(job.min_nodes) && job.min_nodes > tables.qos[?\"high\"].max_nodes.orValue(8)"), "");
        assert_eq!(problem("has(user.name) && user.name in tables.users && tables.users[user.name].is_operator"), "");
        let own = "has(user.name) && has(job.account) && job.account + \"/\" + user.name in tables.associations";
        assert_eq!(problem(own), "");
        let untested = problem("has(job.qos) && job.qos in tables.qos && tables.qos[job.qos].max_nodes > 4");
        assert!(untested.contains("has(tables.qos[key].max_nodes)"), "{untested}");
        assert!(problem("has(tables.qos[\"a\"].max_wal)").contains("did you mean max_wall?"));
        assert!(problem("has(tables.qos[\"a\"].max_wall) && tables.qos[\"a\"].max_wall > 4").contains("duration"));
        assert!(problem("tables.qos[\"a\"] == 4").contains("which column? tables.qos[key] has max_wall, "));
    }

    #[test]
    fn a_site_s_own_table_has_another_name() {
        let compiled = compiled(None, "[tables.qos.rows]\na = 1\n");
        assert!(compiled.problems[0].message.contains("tables.qos is made by queuecastd"), "{:?}", compiled.problems);
    }

    #[test]
    fn rows_are_kept_only_of_what_rules_ask_for() {
        let limits = Limits { max_wall: Some(60), ..Limits::default() };
        let rows = SiteTables { qos: [("a".to_owned(), limits), ("b".to_owned(), Limits::default())].into(), ..SiteTables::default() };
        let asks = "[tables.own.rows]\nx = 1\n[[rule]]\nname = \"r\"\nwhen = 'has(tables.qos[\"a\"].max_wall)'\nreject = \"no\"\n";
        let with = compiled(Some(&rows), asks);
        assert!(with.asks_for_site_tables);
        let tables = with.rules.unwrap().program.tables;
        assert_eq!(tables.iter().map(|table| table.keys.len()).collect::<Vec<_>>(), [1, 0, 0, 0, 1]);
        let other = "[[rule]]\nname = \"r\"\nreject = \"no\"\n";
        let without = compiled(Some(&rows), other);
        assert!(!without.asks_for_site_tables && without.rules.unwrap().program.tables.is_empty());
    }
}
