//! Qualities of service, associations, users and partitions as the tables that rules look them up
//! in.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use job_types::number::QosId;
use job_types::tres::Amounts;
use parking_lot::Mutex;
use rules_compiler::in_force;
use rules_compiler::site_tables::{Limits, PartitionRow, SiteTables, UserRow};
use slurm_sys::client::controller::{Accounts, AssociationRecord, Partition};

use crate::known::damaged::keep_aside;
use crate::known::privacy::Privacy;

/// Bytes of a MiB, in which Slurm counts memory.
const MEBIBYTE: u64 = 1 << 20;

/// The tables as slurmctld told them last, and kept for a daemon that is started while slurmctld is
/// away.
#[derive(Clone, Debug)]
pub(crate) struct KnownTables {
    directory: PathBuf,
    privacy: Privacy,
    tables: Arc<Mutex<Option<Arc<SiteTables>>>>,
}

impl KnownTables {
    /// Loads the tables that an earlier daemon has kept.
    pub(crate) fn load(directory: &Path, privacy: Privacy) -> Self {
        let kept = in_force::site_tables(directory).unwrap_or_else(|error| {
            match error.damaged() {
                Some(path) => keep_aside(path, &error),
                None => tracing::warn!(%error, "what was known of qualities of service and associations can't be read"),
            }
            None
        });
        Self { directory: directory.to_owned(), privacy, tables: Arc::new(Mutex::new(kept.map(Arc::new))) }
    }

    /// Takes what slurmctld tells.
    pub(crate) fn take(&self, accounts: &Accounts, partitions: &[Partition]) {
        let tables = of(accounts, partitions);
        let is_same = self.tables.lock().as_deref() == Some(&tables);
        if is_same {
            return;
        }
        if let Err(error) = in_force::put_site_tables(&self.directory, &tables, self.privacy.mode_of_people()) {
            tracing::warn!(%error, "qualities of service and associations are not kept for rules");
        }
        *self.tables.lock() = Some(Arc::new(tables));
    }

    /// What is known; `None` where nothing is.
    pub(crate) fn current(&self) -> Option<Arc<SiteTables>> {
        self.tables.lock().clone()
    }
}

fn of(accounts: &Accounts, partitions: &[Partition]) -> SiteTables {
    let names: HashMap<QosId, &str> = accounts.qos.iter().map(|qos| (qos.id, qos.name.as_str())).collect();
    let qos = accounts.qos.iter().map(|qos| {
        let limits = limits(qos.max_wall_seconds, qos.max_resources, qos.max_resources_per_node, qos.group_resources);
        let least = qos.min_resources;
        (qos.name.clone(), Limits { min_cpus: signed(least.cpus), min_nodes: signed(least.nodes), ..limits })
    });
    let default_qos = accounts.default_qos();
    let associations = accounts.associations.iter().filter_map(|record| {
        let limits = limits(record.max_wall_seconds, record.max_resources, record.max_resources_per_node, record.group_resources);
        let default_qos = default_qos(record).and_then(|id| names.get(&id)).map(|name| (*name).to_owned());
        Some((key(record)?, Limits { default_qos, ..limits }))
    });
    let users = accounts.users.iter().map(|user| {
        let row = UserRow { default_account: user.default_account.clone(), is_operator: user.is_operator };
        (user.name.clone(), row)
    });
    let partitions = partitions.iter().map(|partition| (partition.name.clone(), partition_row(partition)));
    SiteTables { qos: qos.collect(), associations: associations.collect(), users: users.collect(), partitions: partitions.collect() }
}

fn partition_row(partition: &Partition) -> PartitionRow {
    let list = |list: &Option<String>| {
        list.as_ref().map(|list| list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect())
    };
    // Slurm compares them without regard to case, and rules read a job's in small letters.
    let names = |names: &Option<String>| list(&names.as_ref().map(|names| names.to_ascii_lowercase()));
    let access = &partition.access;
    PartitionRow {
        is_default: partition.is_default,
        state: partition.state.to_owned(),
        max_time: partition.max_time_seconds,
        default_time: partition.default_time_seconds,
        max_nodes: partition.max_nodes.map(i64::from),
        min_nodes: i64::from(partition.min_nodes),
        max_cpus_per_node: partition.max_cpus_per_node.map(i64::from),
        total_cpus: i64::from(partition.total_cpus),
        total_nodes: i64::from(partition.total_nodes),
        qos: partition.qos.as_ref().map(|qos| qos.to_ascii_lowercase()),
        allow_accounts: names(&access.allow_accounts),
        allow_groups: list(&access.allow_groups),
        allow_qos: names(&access.allow_qos),
        alloc_nodes: access.alloc_nodes.clone(),
        deny_accounts: names(&access.deny_accounts),
        deny_qos: names(&access.deny_qos),
        tres: partition.tres.clone(),
    }
}

fn key(record: &AssociationRecord) -> Option<String> {
    match (&record.user, &record.partition) {
        (None, None) if record.is_account => Some(record.account.clone()),
        (Some(user), None) => Some(format!("{}/{user}", record.account)),
        (Some(user), Some(partition)) => Some(format!("{}/{user}/{partition}", record.account)),
        (None, _) => None,
    }
}

fn limits(max_wall: Option<i64>, most: Amounts, per_node: Amounts, group: Amounts) -> Limits {
    Limits {
        max_wall,
        max_cpus: signed(most.cpus),
        max_nodes: signed(most.nodes),
        max_memory: signed(most.memory_mebibytes.map(|mebibytes| mebibytes.saturating_mul(MEBIBYTE))),
        max_cpus_per_node: signed(per_node.cpus),
        group_cpus: signed(group.cpus),
        group_nodes: signed(group.nodes),
        ..Limits::default()
    }
}

/// An amount as rules have it; `None` where there is none, or one beyond all that can be asked for.
fn signed(amount: Option<u64>) -> Option<i64> {
    amount.and_then(|amount| i64::try_from(amount).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::number::UserId;
    use slurm_sys::client::controller::{Access, QosRecord, Sharing, UserRecord};

    fn qos(id: u32, name: &str, max_resources: Amounts, min_resources: Amounts) -> QosRecord {
        QosRecord {
            id: QosId(id),
            name: name.to_owned(),
            over_partition_qos: false,
            over_partition_time: false,
            over_partition_max_nodes: false,
            over_partition_min_nodes: false,
            limit_factor: None,
            max_wall_seconds: Some(3_600),
            group_wall_seconds: None,
            max_resources,
            max_resources_per_node: Amounts::default(),
            max_resource_minutes: Amounts::default(),
            min_resources,
            group_resources: Amounts::default(),
            group_resource_minutes: Default::default(),
            member_resources: Default::default(),
            member_resource_minutes: Default::default(),
        }
    }

    fn association(account: &str, user: Option<&str>, partition: Option<&str>, default_qos: Option<u32>) -> AssociationRecord {
        AssociationRecord {
            id: 1,
            parent: 0,
            user_id: user.map(|_| UserId(7)),
            user: user.map(str::to_owned),
            is_account: user.is_none(),
            account: account.to_owned(),
            partition: partition.map(str::to_owned),
            is_default: true,
            default_qos: default_qos.map(QosId),
            allowed_qos: Vec::new(),
            max_wall_seconds: None,
            group_wall_seconds: None,
            max_resources: Amounts::read("1=64"),
            max_resources_per_node: Amounts::default(),
            max_resource_minutes: Amounts::default(),
            max_running_minutes: Amounts::default(),
            group_resources: Amounts::read("4=10"),
            group_resource_minutes: Default::default(),
        }
    }

    fn partition() -> Partition {
        Partition {
            name: "gpu".to_owned(),
            total_cpus: 64,
            total_nodes: 4,
            max_time_seconds: Some(86_400),
            default_time_seconds: None,
            max_nodes: None,
            min_nodes: 1,
            max_cpus_per_node: None,
            qos: None,
            is_default: true,
            is_up: false,
            sharing: Sharing::Cpus,
            priority_tier: 1,
            node_ranges: vec![(0, 3)],
            state: "DRAIN",
            access: Access { allow_accounts: Some("physics,chemistry".to_owned()), ..Access::default() },
            tres: Some("cpu=64,gres/gpu=8".to_owned()),
        }
    }

    fn accounts() -> Accounts {
        Accounts {
            qos: vec![
                qos(1, "normal", Amounts::read("1=16,2=1024,4=4"), Amounts::read("4=2")),
                qos(2, "relative", Amounts::read("1=50").as_percentages(), Amounts::read("4=2").as_percentages()),
            ],
            associations: vec![
                association("physics", None, None, None),
                association("physics", Some("anna"), None, Some(2)),
                association("physics", Some("anna"), Some("gpu"), None),
            ],
            users: vec![UserRecord {
                id: Some(UserId(7)),
                name: "anna".to_owned(),
                is_operator: true,
                default_account: Some("physics".to_owned()),
            }],
        }
    }

    #[test]
    fn tables_have_the_limits_that_slurmctld_tells() {
        let tables = of(&accounts(), &[partition()]);
        let normal = &tables.qos["normal"];
        assert_eq!((normal.max_wall, normal.max_cpus, normal.max_nodes), (Some(3_600), Some(16), Some(4)));
        assert_eq!((normal.max_memory, normal.min_nodes, normal.group_cpus), (Some(1 << 30), Some(2), None));
        assert_eq!((tables.qos["relative"].max_cpus, tables.qos["relative"].min_nodes), (None, None), "percentages are no amounts");
        let keys: Vec<&str> = tables.associations.keys().map(String::as_str).collect();
        assert_eq!(keys, ["physics", "physics/anna", "physics/anna/gpu"]);
        assert_eq!(tables.associations["physics/anna"].default_qos.as_deref(), Some("relative"), "as it is set there");
        assert_eq!(tables.associations["physics"].default_qos.as_deref(), Some("normal"), "as slurmctld gives it where none is set");
        assert_eq!((tables.associations["physics"].max_cpus, tables.associations["physics"].group_nodes), (Some(64), Some(10)));
        let gpu = &tables.partitions["gpu"];
        assert_eq!((gpu.is_default, gpu.state.as_str(), gpu.max_time, gpu.default_time), (true, "DRAIN", Some(86_400), None));
        assert_eq!(gpu.allow_accounts.as_deref(), Some(&["physics".to_owned(), "chemistry".to_owned()][..]));
        assert_eq!((&gpu.allow_groups, gpu.tres.as_deref()), (&None, Some("cpu=64,gres/gpu=8")));
        assert!(tables.users["anna"].is_operator && tables.users["anna"].default_account.as_deref() == Some("physics"));
    }

    #[test]
    fn names_that_slurm_compares_without_regard_to_case_are_in_small_letters() {
        let some = |text: &str| Some(text.to_owned());
        let access = Access {
            allow_accounts: some("Physics,CHEM"),
            allow_qos: some("Express"),
            deny_accounts: some("Guests"),
            deny_qos: some("Long"),
            allow_groups: some("Staff"),
            ..Access::default()
        };
        let row = partition_row(&Partition { qos: some("Part"), access, ..partition() });
        let list = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!((row.allow_accounts, row.allow_qos), (list(&["physics", "chem"]), list(&["express"])));
        assert_eq!((row.deny_accounts, row.deny_qos), (list(&["guests"]), list(&["long"])));
        assert_eq!((row.qos, row.allow_groups), (some("part"), list(&["Staff"])), "groups are the system's");
    }

    #[test]
    fn damaged_tables_are_kept_aside_and_begun_anew() {
        let directory = tempfile::tempdir().unwrap();
        let known = KnownTables::load(directory.path(), Privacy::default());
        known.take(&accounts(), &[partition()]);
        let path = directory.path().join("rules-tables");
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        assert!(KnownTables::load(directory.path(), Privacy::default()).current().is_none());
        assert!(!path.exists() && directory.path().join("rules-tables.damaged").exists());
    }

    #[test]
    fn tables_are_known_over_a_restart() {
        let directory = tempfile::tempdir().unwrap();
        let known = KnownTables::load(directory.path(), Privacy::default());
        assert!(known.current().is_none());
        known.take(&accounts(), &[partition()]);
        let again = KnownTables::load(directory.path(), Privacy::default());
        assert_eq!(again.current(), known.current());
        assert!(again.current().is_some());
    }
}
