//! slurm.conf on this host, with the hash by which its copies on other hosts are compared.

use std::path::Path;

use slurm_conf::SlurmSettings;
use xxhash_rust::xxh3::Xxh3;

/// Reads a slurm.conf with what it includes, and hashes the contents of all files in the order in
/// which they are read. A file that can't be read says nothing but why.
pub(super) fn read(path: &Path) -> (SlurmSettings, u64) {
    let mut hash = Xxh3::new();
    let settings = SlurmSettings::read_with(path, &mut |contents| hash.update(contents)).unwrap_or_else(|error| {
        let mut nothing = SlurmSettings::default();
        nothing.problems.push(format!("{}: {error}", path.display()));
        nothing
    });
    (settings, hash.digest())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_hash_is_of_all_files() {
        let hash = |included: &str| {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("slurm.conf");
            fs::write(&path, "Include x-more.conf").unwrap();
            fs::write(directory.path().join("x-more.conf"), included).unwrap();
            read(&path).1
        };
        assert_eq!(hash("A=1"), hash("A=1"));
        assert_ne!(hash("A=1"), hash("A=2"));
    }

    #[test]
    fn a_file_that_is_not_there_is_told() {
        assert!(read(Path::new("/nowhere/slurm.conf")).0.problems[0].contains("/nowhere/slurm.conf: No such file"));
    }
}
