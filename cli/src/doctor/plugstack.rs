//! plugstack.conf: which SPANK plugins are loaded (src/common/plugstack.c, since 25.11
//! src/common/spank.c).

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

/// Files may include each other no deeper than this.
const DEEPEST: usize = 16;

/// A line that names a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) file: PathBuf,
    /// The number of the line, counted from 1.
    pub(super) number: usize,
    /// Whether what fails in the plugin fails the job, and drains the node.
    pub(super) required: bool,
    /// The plugin as the line names it: a path, or a name that is looked for in PluginDir.
    pub(super) plugin: String,
}

/// What plugstack.conf and what it includes say.
#[derive(Debug, Default)]
pub(super) struct Plugstack {
    /// The lines that name plugins, in their order.
    pub(super) lines: Vec<Line>,
    /// What can't be read or understood.
    pub(super) problems: Vec<String>,
    /// Hash over the contents of plugstack.conf and every included file, in reading order. `None`
    /// if there is no plugstack.conf.
    pub(super) hash: Option<u64>,
}

impl Plugstack {
    /// Reads a file and what it includes. To Slurm a file that is absent is an empty one.
    pub(super) fn read(path: &Path) -> Self {
        let mut stack = Self::default();
        let mut hash = Xxh3::new();
        if stack.take(path, &mut hash, 0) {
            stack.hash = Some(hash.digest());
        }
        stack
    }

    /// Returns whether the file is there.
    fn take(&mut self, path: &Path, hash: &mut Xxh3, depth: usize) -> bool {
        let bytes = match fs::read(path) {
            Ok(bytes) if depth <= DEEPEST => bytes,
            Ok(_) => {
                self.problems.push(format!("{}: included too deeply", path.display()));
                return true;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => return false,
            Err(error) => {
                self.problems.push(format!("{}: {error}", path.display()));
                return true;
            }
        };
        hash.update(&bytes);
        for (place, line) in String::from_utf8_lossy(&bytes).lines().enumerate() {
            let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
            let Some(kind) = words.next() else { continue };
            let number = place + 1;
            match (kind, words.next()) {
                ("include", Some(pattern)) => self.include(path, pattern, hash, depth),
                ("required" | "optional", Some(plugin)) => {
                    let required = kind == "required";
                    self.lines.push(Line { file: path.to_owned(), number, required, plugin: plugin.to_owned() });
                }
                _ => self.problems.push(format!("{}:{number}: Slurm ignores this line: {:?}", path.display(), line.trim())),
            }
        }
        true
    }

    /// Reads all files of a pattern; one that is relative begins at the directory of the file that
    /// it stands in.
    fn include(&mut self, from: &Path, pattern: &str, hash: &mut Xxh3, depth: usize) {
        let pattern = from.with_file_name(pattern);
        // glob(3) gives them sorted, and so does this.
        match glob::glob(&pattern.to_string_lossy()) {
            Ok(found) => found.flatten().for_each(|file| {
                self.take(&file, hash, depth + 1);
            }),
            Err(error) => self.problems.push(format!("{}: include {}: {error}", from.display(), pattern.display())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn included_files_are_read_where_they_stand() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("plugstack.conf");
        fs::create_dir(directory.path().join("plugstack.conf.d")).unwrap();
        fs::write(&path, "required a.so x=1 # first\n\nsometimes b.so\ninclude plugstack.conf.d/*.conf\noptional /lib/z.so\n").unwrap();
        for name in ["2.conf", "1.conf", "other"] {
            fs::write(directory.path().join("plugstack.conf.d").join(name), format!("# {name}\noptional {name}.so")).unwrap();
        }
        let stack = Plugstack::read(&path);
        let lines: Vec<(bool, usize, &str)> = stack.lines.iter().map(|line| (line.required, line.number, line.plugin.as_str())).collect();
        assert_eq!(lines, [(true, 1, "a.so"), (false, 2, "1.conf.so"), (false, 2, "2.conf.so"), (false, 5, "/lib/z.so")]);
        assert_eq!(stack.problems.len(), 1, "{:?}", stack.problems);
        assert!(stack.problems[0].contains("plugstack.conf:3: ") && stack.hash.is_some());
    }

    #[test]
    fn an_absent_file_is_an_empty_one() {
        let stack = Plugstack::read(Path::new("/nonexistent/plugstack.conf"));
        assert!(stack.lines.is_empty() && stack.problems.is_empty() && stack.hash.is_none());
    }
}
