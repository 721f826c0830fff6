//! Lists of trackable resources (TRES) with their amounts, as Slurm writes them.
//!
//! slurmctld and sacct name resources (`cpu=4,mem=1G,node=2`); slurmdbd, and slurmctld in limits of
//! accounting, use the numbers of the database (`1=4,2=1024,4=2`).

/// The number of CPUs among trackable resources (src/common/slurmdb_defs.h, `tres_types_t`).
pub const CPU: u32 = 1;
/// The number of memory, which is counted in MiB.
pub const MEMORY: u32 = 2;
/// The number of nodes.
pub const NODE: u32 = 4;

/// The entries of a list: the name or number of each resource, and its amount. The amount is empty
/// where an entry has none.
pub fn entries(list: &str) -> impl Iterator<Item = (&str, &str)> {
    let entries = list.split(',').filter(|entry| !entry.is_empty());
    entries.map(|entry| {
        let (resource, amount) = entry.split_once('=').unwrap_or((entry, ""));
        (resource.trim(), amount.trim())
    })
}

/// The amount of a resource in a list of names, as it is written there; `None` where the list does
/// not name it.
///
/// ```
/// assert_eq!(job_types::tres::amount("cpu=4,mem=1G,node=2", "mem"), Some("1G"));
/// ```
#[must_use]
pub fn amount<'a>(list: &'a str, name: &str) -> Option<&'a str> {
    entries(list).find(|(resource, _)| *resource == name).map(|(_, amount)| amount)
}

/// The amount of a resource in a list of numbers; `None` where the list has none that is a whole
/// number (src/common/slurmdb_defs.c, `slurmdb_find_tres_count_in_string`).
///
/// ```
/// use job_types::tres::{NODE, amount_of_number};
///
/// assert_eq!(amount_of_number("1=16,4=2", NODE), Some(2));
/// ```
#[must_use]
pub fn amount_of_number(list: &str, number: u32) -> Option<u64> {
    entries(list).find_map(|(resource, amount)| if resource.parse() == Ok(number) { amount.parse().ok() } else { None })
}

/// What a limit says of each resource, from a list of numbers. `None` is no limit.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Amounts {
    /// The amount of CPUs.
    pub cpus: Option<u64>,
    /// The amount of nodes.
    pub nodes: Option<u64>,
    /// The amount of memory in MiB.
    pub memory_mebibytes: Option<u64>,
    /// Whether there is an amount of something else, or one that is not understood.
    pub others: bool,
}

impl Amounts {
    /// Reads a list such as `1=16,2=64000,4=2`; an empty one has no limit.
    #[must_use]
    pub fn read(list: &str) -> Amounts {
        let mut amounts = Amounts::default();
        for (resource, amount) in entries(list) {
            match (resource.parse(), amount.parse()) {
                (Ok(CPU), Ok(count)) => amounts.cpus = Some(count),
                (Ok(NODE), Ok(count)) => amounts.nodes = Some(count),
                (Ok(MEMORY), Ok(count)) => amounts.memory_mebibytes = Some(count),
                // If a limit is not understood, it is only known that there is one.
                _ => amounts.others = true,
            }
        }
        amounts
    }

    /// Keeps, of amounts that are percentages of what the cluster has, only whether there are some.
    #[must_use]
    pub fn as_percentages(self) -> Amounts {
        Amounts { others: self.cpus.is_some() || self.nodes.is_some() || self.has_others(), ..Amounts::default() }
    }

    /// Whether there is an amount of something else than CPUs and nodes.
    #[must_use]
    pub fn has_others(&self) -> bool {
        self.memory_mebibytes.is_some() || self.others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_resources_tells_the_amount_of_one() {
        // The first list is in the database's numbers, as slurmdbd keeps what sacct shows with
        // --format=AllocTRES.
        let list = "1=16,2=64000,4=2,5=16";
        assert_eq!([CPU, MEMORY, NODE, 7].map(|number| amount_of_number(list, number)), [Some(16), Some(64_000), Some(2), None]);
        let named = "billing=16,cpu=16,gres/gpu=2,mem=62.5G,node=2";
        assert_eq!(["cpu", "mem", "gres/gpu", "gpu"].map(|name| amount(named, name)), [Some("16"), Some("62.5G"), Some("2"), None]);
    }

    #[test]
    fn a_resource_that_is_not_listed_or_not_a_number_has_no_amount() {
        for list in ["", ",", "4", "=", "1=", "1=x", "11=3", "1=-2", "1=99999999999999999999999"] {
            assert_eq!(amount_of_number(list, CPU), None, "{list:?}");
        }
        assert_eq!(amount("cpus=4,ncpu=3", "cpu"), None);
    }

    #[test]
    fn a_limit_is_read_as_cpus_nodes_memory_and_others() {
        assert_eq!(Amounts::read(""), Amounts::default());
        assert_eq!(Amounts::read("1=16,4=2"), Amounts { cpus: Some(16), nodes: Some(2), ..Amounts::default() });
        let memory = Amounts::read("2=1000");
        assert!(memory.memory_mebibytes == Some(1_000) && memory.has_others() && !memory.others);
        assert!(["1=many", "5=3", "1"].iter().all(|list| Amounts::read(list).others), "it is a limit all the same");
    }

    #[test]
    fn of_percentages_only_that_there_are_some_is_known() {
        for list in ["1=50", "2=50", "4=50", "5=50"] {
            assert_eq!(Amounts::read(list).as_percentages(), Amounts { others: true, ..Amounts::default() }, "{list}");
        }
        assert_eq!(Amounts::default().as_percentages(), Amounts::default());
    }
}
