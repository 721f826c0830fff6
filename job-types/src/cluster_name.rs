//! Names of clusters.

/// The longest name of a cluster, in bytes.
///
/// slurmdbd begins the names of a cluster's tables with it. MySQL and MariaDB allow 64 characters
/// for the name of a table, and the longest that slurmdbd appends is `_assoc_usage_month_table`,
/// which has 24 (src/plugins/accounting_storage/mysql/accounting_storage_mysql.c). Slurm says the
/// same in slurm.conf(5), `ClusterName`: "40 characters or less".
const MOST_BYTES: usize = 40;

/// Whether a name is one that a cluster can have: at most 40 letters, digits, `_`, `-` and `.`.
///
/// Slurm itself takes any characters that the database takes. Nothing else than these is handed to
/// slurmdbd, which puts names of clusters between quotes into its statements.
#[must_use]
pub fn is_cluster_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    !name.is_empty() && name.len() <= MOST_BYTES && name.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_as_long_as_the_names_of_tables_allow() {
        let longest = "e".repeat(64 - "_assoc_usage_month_table".len());
        assert!(is_cluster_name(&longest) && is_cluster_name("East-2.example_org"));
        assert!(!is_cluster_name(&format!("{longest}e")));
    }

    #[test]
    fn what_could_be_more_than_a_name_is_none() {
        for name in ["", "e\"ast", "east;drop", "e ast", "e/ast", "öst", "e'ast", "e`ast"] {
            assert!(!is_cluster_name(name), "{name}");
        }
    }
}
