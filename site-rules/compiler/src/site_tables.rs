//! Tables that a site does not write itself: qualities of service, associations and users, as
//! slurmctld has them of slurmdbd, and its partitions. Their columns are always the same, and their
//! rows are given by the daemon, or by a test.
//!
//! A column in which not every row has a value is a table of its own in what is compiled, with the
//! rows that have one: that a value is absent is then the same as that a key is.

use crate::document::{Entry, Section};
use crate::expression::check::{SparseColumn, TableNames};
use crate::literal;
use crate::problem::suggestion;
use serde::{Deserialize, Serialize};
use site_rules::field::{FieldNumber, Name};
use site_rules::program::{Instruction, Program, Scope};
use site_rules::rules::RuleSet;
use site_rules::submission::Surrounding;
use site_rules::table::{Column, Table};
use site_rules::value::Kind;
use std::collections::BTreeMap;
use toml::de::DeValue;

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
    /// Partitions by their names.
    pub partitions: BTreeMap<String, PartitionRow>,
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

/// A partition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartitionRow {
    /// Whether jobs that name no partition go there.
    pub is_default: bool,
    /// `UP`, `DOWN`, `DRAIN` or `INACTIVE`.
    pub state: String,
    /// The longest time limit in seconds (`MaxTime`); `None` is none.
    pub max_time: Option<i64>,
    /// The time limit in seconds of jobs that give none (`DefaultTime`); `None` is `max_time`.
    pub default_time: Option<i64>,
    /// The most nodes of a job (`MaxNodes`); `None` is no limit.
    pub max_nodes: Option<i64>,
    /// The fewest nodes of a job (`MinNodes`).
    pub min_nodes: i64,
    /// The most CPUs of a job on each node (`MaxCPUsPerNode`); `None` is no limit.
    pub max_cpus_per_node: Option<i64>,
    /// The CPUs of all nodes.
    pub total_cpus: i64,
    /// The number of nodes.
    pub total_nodes: i64,
    /// The partition's quality of service.
    pub qos: Option<String>,
    /// The accounts that may use it (`AllowAccounts`); `None` is all.
    pub allow_accounts: Option<Vec<String>>,
    /// The groups that may use it (`AllowGroups`); `None` is all.
    pub allow_groups: Option<Vec<String>>,
    /// The qualities of service that may be used there (`AllowQos`); `None` is all.
    pub allow_qos: Option<Vec<String>>,
    /// The hosts from which jobs may be submitted (`AllocNodes`), as slurmctld writes them; `None`
    /// is all.
    pub alloc_nodes: Option<String>,
    /// The accounts that may not use it (`DenyAccounts`).
    pub deny_accounts: Option<Vec<String>>,
    /// The qualities of service that may not be used there (`DenyQos`).
    pub deny_qos: Option<Vec<String>>,
    /// What all nodes together have, as `cpu=64,mem=512G,node=4,gres/gpu=8`.
    pub tres: Option<String>,
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Truth(bool),
    Integer(i64),
    Duration(i64),
    Text(String),
    List(Vec<String>),
    Resources(String),
}

/// What a column is called and holds, and whether each row has a value in it.
#[derive(Clone, Copy)]
struct Definition {
    name: &'static str,
    kind: Kind,
    is_always_there: bool,
    /// Whether its numbers are bytes, which are written as `64G`.
    is_amount: bool,
    /// Whether its texts are names that Slurm compares without regard to case, in small letters.
    is_caseless: bool,
}

/// A column of a typed row.
struct TypedColumn<R> {
    definition: Definition,
    value: fn(&R) -> Option<Cell>,
}

const fn sparse(name: &'static str, kind: Kind) -> Definition {
    Definition { name, kind, is_always_there: false, is_amount: false, is_caseless: false }
}

/// Defines a column of names of accounts or qualities of service.
const fn names(name: &'static str, kind: Kind) -> Definition {
    Definition { is_caseless: true, ..sparse(name, kind) }
}

const fn always(name: &'static str, kind: Kind) -> Definition {
    Definition { is_always_there: true, ..sparse(name, kind) }
}

const LIMITS: &[TypedColumn<Limits>] = &[
    TypedColumn { definition: sparse("max_wall", Kind::Duration), value: |row| row.max_wall.map(Cell::Duration) },
    TypedColumn { definition: sparse("max_cpus", Kind::Integer), value: |row| row.max_cpus.map(Cell::Integer) },
    TypedColumn { definition: sparse("max_nodes", Kind::Integer), value: |row| row.max_nodes.map(Cell::Integer) },
    TypedColumn {
        definition: Definition { is_amount: true, ..sparse("max_memory", Kind::Integer) },
        value: |row| row.max_memory.map(Cell::Integer),
    },
    TypedColumn { definition: sparse("max_cpus_per_node", Kind::Integer), value: |row| row.max_cpus_per_node.map(Cell::Integer) },
    TypedColumn { definition: sparse("min_cpus", Kind::Integer), value: |row| row.min_cpus.map(Cell::Integer) },
    TypedColumn { definition: sparse("min_nodes", Kind::Integer), value: |row| row.min_nodes.map(Cell::Integer) },
    TypedColumn { definition: sparse("group_cpus", Kind::Integer), value: |row| row.group_cpus.map(Cell::Integer) },
    TypedColumn { definition: sparse("group_nodes", Kind::Integer), value: |row| row.group_nodes.map(Cell::Integer) },
    TypedColumn { definition: names("default_qos", Kind::Text), value: |row| row.default_qos.clone().map(Cell::Text) },
];

const USERS: &[TypedColumn<UserRow>] = &[
    TypedColumn { definition: always("is_operator", Kind::Truth), value: |row| Some(Cell::Truth(row.is_operator)) },
    TypedColumn { definition: names("default_account", Kind::Text), value: |row| row.default_account.clone().map(Cell::Text) },
];

const PARTITIONS: &[TypedColumn<PartitionRow>] = &[
    TypedColumn { definition: always("is_default", Kind::Truth), value: |row| Some(Cell::Truth(row.is_default)) },
    TypedColumn { definition: always("state", Kind::Text), value: |row| Some(Cell::Text(row.state.clone())) },
    TypedColumn { definition: sparse("max_time", Kind::Duration), value: |row| row.max_time.map(Cell::Duration) },
    TypedColumn { definition: sparse("default_time", Kind::Duration), value: |row| row.default_time.map(Cell::Duration) },
    TypedColumn { definition: sparse("max_nodes", Kind::Integer), value: |row| row.max_nodes.map(Cell::Integer) },
    TypedColumn { definition: always("min_nodes", Kind::Integer), value: |row| Some(Cell::Integer(row.min_nodes)) },
    TypedColumn { definition: sparse("max_cpus_per_node", Kind::Integer), value: |row| row.max_cpus_per_node.map(Cell::Integer) },
    TypedColumn { definition: always("total_cpus", Kind::Integer), value: |row| Some(Cell::Integer(row.total_cpus)) },
    TypedColumn { definition: always("total_nodes", Kind::Integer), value: |row| Some(Cell::Integer(row.total_nodes)) },
    TypedColumn { definition: names("qos", Kind::Text), value: |row| row.qos.clone().map(Cell::Text) },
    TypedColumn { definition: names("allow_accounts", Kind::Texts), value: |row| row.allow_accounts.clone().map(Cell::List) },
    TypedColumn { definition: sparse("allow_groups", Kind::Texts), value: |row| row.allow_groups.clone().map(Cell::List) },
    TypedColumn { definition: names("allow_qos", Kind::Texts), value: |row| row.allow_qos.clone().map(Cell::List) },
    TypedColumn { definition: sparse("alloc_nodes", Kind::Text), value: |row| row.alloc_nodes.clone().map(Cell::Text) },
    TypedColumn { definition: names("deny_accounts", Kind::Texts), value: |row| row.deny_accounts.clone().map(Cell::List) },
    TypedColumn { definition: names("deny_qos", Kind::Texts), value: |row| row.deny_qos.clone().map(Cell::List) },
    TypedColumn { definition: sparse("tres", Kind::Resources), value: |row| row.tres.clone().map(Cell::Resources) },
];

/// The names of these tables, which a site can't give to its own.
pub const NAMES: [&str; 4] = ["qos", "associations", "users", "partitions"];

/// A key of one of these tables as its rows have it: the names of accounts and qualities of service
/// in small letters. Of another table it is left as it is.
pub(crate) fn key(table: &str, key: &str) -> String {
    match (table, key.split_once('/')) {
        ("qos", _) | ("associations", None) => key.to_ascii_lowercase(),
        ("associations", Some((account, user))) => format!("{}/{user}", account.to_ascii_lowercase()),
        _ => key.to_owned(),
    }
}

/// A value of a column, in small letters where it is one of such names.
fn in_its_letters(definition: &Definition, cell: Cell) -> Cell {
    match cell {
        Cell::Text(text) if definition.is_caseless => Cell::Text(text.to_ascii_lowercase()),
        Cell::List(texts) if definition.is_caseless => Cell::List(texts.iter().map(|text| text.to_ascii_lowercase()).collect()),
        cell => cell,
    }
}

/// The columns of each table, in the order of [`NAMES`].
fn definitions() -> [Vec<Definition>; NAMES.len()] {
    fn of<R>(columns: &[TypedColumn<R>]) -> Vec<Definition> {
        columns.iter().map(|column| column.definition).collect()
    }
    [of(LIMITS), of(LIMITS), of(USERS), of(PARTITIONS)]
}

/// Rows by their keys, each with its cells by column.
type Rows = BTreeMap<String, BTreeMap<&'static str, Cell>>;

fn rows<R>(table: &str, typed: &BTreeMap<String, R>, columns: &[TypedColumn<R>]) -> Rows {
    let cell = |column: &TypedColumn<R>, row: &R| Some(in_its_letters(&column.definition, (column.value)(row)?));
    let cells = |row: &R| columns.iter().filter_map(|column| Some((column.definition.name, cell(column, row)?))).collect();
    typed.iter().map(|(name, row)| (key(table, name), cells(row))).collect()
}

/// The rows of all tables, in the order of [`NAMES`].
#[derive(Clone, Debug, Default)]
pub(crate) struct AllRows([Rows; NAMES.len()]);

impl From<&SiteTables> for AllRows {
    fn from(tables: &SiteTables) -> AllRows {
        let SiteTables { qos, associations, users, partitions } = tables;
        let [of_qos, of_associations, of_users, of_partitions] = NAMES;
        AllRows([
            rows(of_qos, qos, LIMITS),
            rows(of_associations, associations, LIMITS),
            rows(of_users, users, USERS),
            rows(of_partitions, partitions, PARTITIONS),
        ])
    }
}

impl AllRows {
    /// Reads the tables that a test gives in the place of the site's, as
    /// `{ partitions = { gpu = { max_time = "1-0" } } }`.
    pub(crate) fn read(entry: Entry<'_>) -> Option<AllRows> {
        let section = entry.section("tables and their rows, as in { partitions = { batch = { is_default = true } } }")?;
        section.knows(&NAMES);
        let mut all = AllRows::default();
        for ((name, columns), rows) in NAMES.iter().zip(definitions()).zip(&mut all.0) {
            let Some(table) = section.get(name) else { continue };
            for (written, at, row) in table.section("rows by their keys")?.entries() {
                let cells = read_row(name, &columns, row.section("a row, as in { max_nodes = 4 }")?)?;
                if let Some((other, _)) = rows.iter().find(|(_, other)| is_default(&cells) && is_default(other)) {
                    return section.document.error(at, format!("{other} is the default partition already, and there is one"));
                }
                rows.insert(key(name, written), cells);
            }
        }
        Some(all)
    }

    /// Puts the tables behind those of the site, and their names behind theirs.
    pub(crate) fn add(&self, tables: &mut Vec<Table>, names: &mut Vec<TableNames>) {
        // The tables of the keys come first, as their numbers are those of the names.
        let definitions = definitions();
        for (rows, columns) in self.0.iter().zip(&definitions) {
            let columns = columns.iter().filter(|column| column.is_always_there);
            let columns = columns.map(|column| values(column.kind, rows.values().map(|row| row.get(column.name)))).collect();
            tables.push(Table { keys: rows.keys().map(|key| key.as_str().into()).collect(), columns });
        }
        for ((name, rows), columns) in NAMES.iter().zip(&self.0).zip(&definitions) {
            let (always, sparse): (Vec<Definition>, Vec<Definition>) = columns.iter().copied().partition(|column| column.is_always_there);
            let sparse = sparse.into_iter().map(|column| add_sparse(rows, column, tables)).collect();
            let columns = always.into_iter().map(|column| (column.name.to_owned(), column.kind)).collect();
            names.push(TableNames { name: (*name).to_owned(), columns, sparse });
        }
    }

    /// The partition of jobs that name none. One at most is marked: slurmctld takes the mark from
    /// the one before where it marks another, and a test can't mark two.
    pub(crate) fn default_partition(&self) -> Option<Box<str>> {
        let [.., partitions] = &self.0;
        partitions.iter().find(|(_, row)| is_default(row)).map(|(name, _)| name.as_str().into())
    }
}

/// Whether a row is the one of the default partition.
fn is_default(row: &BTreeMap<&'static str, Cell>) -> bool {
    row.get("is_default") == Some(&Cell::Truth(true))
}

/// The rows of a test, as compiled rules have them.
#[derive(Clone, Debug)]
pub struct TestRows {
    /// The place of the first of the tables among those of the rules.
    from: usize,
    tables: Vec<Table>,
    default_partition: Option<Box<str>>,
}

impl TestRows {
    /// Compiles rows for rules that have so many tables of their own.
    pub(crate) fn new(rows: &AllRows, own_tables: usize) -> TestRows {
        let mut tables = vec![Table::default(); own_tables];
        rows.add(&mut tables, &mut Vec::new());
        TestRows { from: own_tables, tables: tables.split_off(own_tables), default_partition: rows.default_partition() }
    }

    /// The rules with these rows in the place of the site's.
    #[must_use]
    pub fn put_into(&self, rules: &RuleSet) -> RuleSet {
        let mut rules = rules.clone();
        rules.program.tables.truncate(self.from);
        rules.program.tables.extend(self.tables.iter().cloned());
        rules.program.default_partition.clone_from(&self.default_partition);
        rules
    }
}

fn read_row(table: &str, columns: &[Definition], section: Section<'_>) -> Option<BTreeMap<&'static str, Cell>> {
    let mut cells = BTreeMap::new();
    for (name, at, value) in section.entries() {
        let Some(column) = columns.iter().find(|column| column.name == name) else {
            let closest = suggestion(name, columns.iter().map(|column| column.name));
            return section.document.error(at, format!("tables.{table} has no column {name}{closest}"));
        };
        cells.insert(column.name, in_its_letters(column, read_cell(column, value)?));
    }
    Some(cells)
}

fn read_cell(column: &Definition, value: Entry<'_>) -> Option<Cell> {
    let read = |result: Result<i64, String>| result.map_or_else(|message| value.error(message), Some);
    Some(match column.kind {
        Kind::Truth => Cell::Truth(value.truth()?),
        Kind::Integer if column.is_amount => {
            Cell::Integer(read(literal::bytes(value.text("an amount of memory in quotes, such as \"64G\",")?))?)
        }
        Kind::Integer => Cell::Integer(value.integer("a whole number")?),
        Kind::Duration => Cell::Duration(read(literal::limit(value.text("a duration in quotes, such as \"1-12:00:00\" or \"90m\",")?))?),
        Kind::Texts => Cell::List(read_list(value)?),
        Kind::Resources => Cell::Resources(value.text("resources in quotes, such as \"cpu=64,gres/gpu=8\",")?.to_owned()),
        _ => Cell::Text(value.text("a text in quotes")?.to_owned()),
    })
}

/// A list of texts, or one text that is divided at commas.
fn read_list(value: Entry<'_>) -> Option<Vec<String>> {
    match value.value.get_ref() {
        DeValue::Array(_) => {
            value.list("a list of texts")?.into_iter().map(|text| Some(text.text("a text in quotes")?.to_owned())).collect()
        }
        _ => Some(divided(value.text("a list of texts in quotes")?)),
    }
}

/// The parts between commas.
pub(crate) fn divided(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// A column of values, of which those that are not given are false, 0 or empty.
fn values<'c>(kind: Kind, cells: impl Iterator<Item = Option<&'c Cell>>) -> Column {
    let number = |cell: Option<&Cell>| match cell {
        Some(Cell::Integer(number) | Cell::Duration(number)) => *number,
        _ => 0,
    };
    let text = |cell: Option<&Cell>| -> Box<str> {
        match cell {
            Some(Cell::Text(text) | Cell::Resources(text)) => text.as_str().into(),
            _ => "".into(),
        }
    };
    let list = |cell: Option<&Cell>| match cell {
        Some(Cell::List(list)) => list.iter().map(|text| text.as_str().into()).collect(),
        _ => Vec::new(),
    };
    match kind {
        Kind::Truth => Column::Truths(cells.map(|cell| cell == Some(&Cell::Truth(true))).collect()),
        Kind::Duration => Column::Durations(cells.map(number).collect()),
        Kind::Integer => Column::Integers(cells.map(number).collect()),
        Kind::Texts => Column::Lists(cells.map(list).collect()),
        Kind::Resources => Column::Resources(cells.map(text).collect()),
        _ => Column::Texts(cells.map(text).collect()),
    }
}

/// A table of a column, with the rows that have a value in it; returns where it stands.
fn add_sparse(rows: &Rows, column: Definition, tables: &mut Vec<Table>) -> SparseColumn {
    let present = || rows.iter().filter_map(|(key, row)| Some((key, row.get(column.name)?)));
    let values = values(column.kind, present().map(|(_, cell)| Some(cell)));
    // There are some dozens of tables in all.
    let table = u16::try_from(tables.len()).unwrap_or(u16::MAX);
    tables.push(Table { keys: present().map(|(key, _)| key.as_str().into()).collect(), columns: vec![values] });
    SparseColumn { name: column.name.to_owned(), kind: column.kind, table, is_caseless: column.is_caseless }
}

/// Whether a program asks for the partition of jobs that name none.
pub(crate) fn asks_for_default_partition(program: &Program) -> bool {
    let partitions = FieldNumber::from(Name::Partitions);
    program.code.iter().any(|instruction| match instruction {
        Instruction::Load(Scope::Job | Scope::Asked, field) => *field == partitions,
        Instruction::Read(surrounding) | Instruction::Knows(surrounding) => *surrounding == Surrounding::DefaultPartition,
        _ => false,
    })
}

/// Takes out of a program what it does not use of the tables from a place on. Returns whether it
/// uses any.
pub(crate) fn leave_out_unused(program: &mut Program, from: usize) -> bool {
    let mut used = vec![false; program.tables.len()];
    for instruction in &program.code {
        if let Instruction::LookUp { table, .. } | Instruction::HasKey(table) | Instruction::Keys(table) = instruction
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
        assert_eq!(tables.iter().map(|table| table.keys.len()).collect::<Vec<_>>(), [1, 0, 0, 0, 0, 1]);
        let other = "[[rule]]\nname = \"r\"\nreject = \"no\"\n";
        let without = compiled(Some(&rows), other);
        assert!(!without.asks_for_site_tables && without.rules.unwrap().program.tables.is_empty());
    }
}
