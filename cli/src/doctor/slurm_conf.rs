//! slurm.conf, read without libslurm: as much of it as the checks need (src/common/parse_config.c,
//! src/common/read_config.c).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

/// Where Slurm looks if `SLURM_CONF` is not set: the usual place, and where a slurmd or sackd that
/// has no file of its own keeps the controller's.
const PLACES: [&str; 3] = ["/etc/slurm/slurm.conf", "/usr/local/etc/slurm.conf", "/run/slurm/conf/slurm.conf"];

/// Files may include each other no deeper than this.
const DEEPEST: usize = 16;

/// What slurm.conf says.
#[derive(Debug, Default)]
pub(super) struct SlurmConf {
    pub(super) path: PathBuf,
    /// By the key in lower case; the last one counts.
    values: BTreeMap<String, String>,
    /// The hosts of slurmctld, in their order.
    pub(super) controllers: Vec<String>,
    pub(super) partitions: Vec<String>,
    /// Of the text of all files, as they are read.
    pub(super) hash: u64,
    /// Files that could not be read.
    pub(super) problems: Vec<String>,
}

impl SlurmConf {
    /// Where slurm.conf is: the file that `SLURM_CONF` names, there or not; otherwise the first of
    /// the usual places that has one.
    pub(super) fn find() -> Option<PathBuf> {
        match std::env::var_os("SLURM_CONF").filter(|named| !named.is_empty()) {
            Some(named) => Some(PathBuf::from(named)),
            None => PLACES.iter().map(PathBuf::from).find(|path| path.is_file()),
        }
    }

    /// Reads a file and what it includes.
    pub(super) fn read(path: &Path) -> Self {
        let mut conf = Self { path: path.to_owned(), ..Self::default() };
        let mut hash = Xxh3::new();
        conf.take(path, &mut hash, 0);
        conf.hash = hash.digest();
        conf
    }

    /// The value of a key that stands at most once.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.values.get(&key.to_lowercase()).map(String::as_str)
    }

    fn take(&mut self, path: &Path, hash: &mut Xxh3, depth: usize) {
        let bytes = match fs::read(path) {
            Ok(bytes) if depth <= DEEPEST => bytes,
            Ok(_) => return self.problems.push(format!("{}: included too deeply", path.display())),
            Err(error) => return self.problems.push(format!("{}: {error}", path.display())),
        };
        hash.update(&bytes);
        for line in logical_lines(&String::from_utf8_lossy(&bytes)) {
            if let Some(included) = include(&line) {
                let cluster = self.get("ClusterName").unwrap_or_default().to_lowercase();
                let included = self.path.with_file_name(included.replace("%c", &cluster));
                self.take(&included, hash, depth + 1);
            } else {
                self.take_line(&line);
            }
        }
    }

    fn take_line(&mut self, line: &str) {
        let mut pairs = pairs(line).into_iter().peekable();
        match pairs.peek() {
            Some((key, value)) if key == "partitionname" => {
                let names = value.split(',').filter(|name| !name.eq_ignore_ascii_case("DEFAULT"));
                self.partitions.extend(names.map(str::to_owned));
            }
            // The other lines that describe something have keys of their own, which say nothing of
            // the cluster.
            Some((key, _)) if matches!(key.as_str(), "nodename" | "nodeset" | "downnodes" | "frontendname" | "switchname") => {}
            _ => {
                for (key, value) in pairs {
                    if matches!(key.as_str(), "slurmctldhost" | "controlmachine" | "backupcontroller") {
                        // "host(address)"
                        self.controllers.push(value.split('(').next().unwrap_or_default().to_owned());
                    }
                    self.values.insert(key, value);
                }
            }
        }
    }
}

/// Lines without comments, those joined that end with a backslash.
fn logical_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for part in text.lines() {
        let part = without_comment(part);
        match part.trim_end().strip_suffix('\\') {
            Some(begin) => line.push_str(begin),
            None => {
                line.push_str(part);
                lines.push(std::mem::take(&mut line));
            }
        }
    }
    lines.push(line);
    lines
}

/// A line up to the first `#` that no backslash stands before.
fn without_comment(line: &str) -> &str {
    let mut escaped = false;
    for (at, character) in line.char_indices() {
        if character == '#' && !escaped {
            return line.get(..at).unwrap_or(line);
        }
        escaped = character == '\\' && !escaped;
    }
    line
}

/// The file that a line includes.
fn include(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    words.next()?.eq_ignore_ascii_case("include").then(|| words.next())?
}

/// The pairs `Key=Value` of a line; keys in lower case, values without quotes.
fn pairs(line: &str) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut rest = line.trim_start();
    while let Some((key, value)) = rest.split_once('=') {
        let key = key.trim().trim_end_matches(['-', '*', '+', '/']).trim_end().to_lowercase();
        let value = value.trim_start();
        let (value, behind) = match value.strip_prefix('"').and_then(|quoted| quoted.split_once('"')) {
            Some(parts) => parts,
            None => value.split_once(char::is_whitespace).unwrap_or((value, "")),
        };
        pairs.push((key, value.replace('\\', "")));
        rest = behind.trim_start();
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, included: &str) -> SlurmConf {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("slurm.conf");
        fs::write(&path, text).unwrap();
        fs::write(directory.path().join("x-more.conf"), included).unwrap();
        SlurmConf::read(&path)
    }

    #[test]
    fn keys_of_all_files_are_found_whatever_their_case_and_the_last_one_counts() {
        let conf = read(
            "ClusterName=X # a comment\nPLUGINDIR = \"/a b:/c\" slurmuser=slurm\ninclude %c-more.conf\nSlurmctldHost=one(10.0.0.1)\n\
             NodeName=n1 SlurmUser=no\nJobSubmitPlugins=lua,\\\nqueuecast\n",
            "PartitionName=DEFAULT MaxTime=1\nPartitionName=batch Nodes=ALL\nSlurmctldHost=two\nSlurmUser=other\n",
        );
        assert_eq!((conf.get("PluginDir"), conf.get("slurmUser")), (Some("/a b:/c"), Some("other")));
        assert_eq!(conf.get("JobSubmitPlugins"), Some("lua,queuecast"));
        assert_eq!((conf.controllers.join(","), conf.partitions.join(",")), ("two,one".to_owned(), "batch".to_owned()));
        assert!(conf.problems.is_empty());
    }

    #[test]
    fn the_hash_is_of_all_files() {
        let hash = |text, included| read(text, included).hash;
        assert_eq!(hash("Include x-more.conf", "A=1"), hash("Include x-more.conf", "A=1"));
        assert_ne!(hash("Include x-more.conf", "A=1"), hash("Include x-more.conf", "A=2"));
        assert!(read("Include nowhere.conf", "").problems[0].contains("nowhere.conf: No such file"));
    }
}
