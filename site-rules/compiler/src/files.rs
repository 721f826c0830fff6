//! The files that a site's rules stand in: `queuecast.toml`, and `rules.d/*.toml` beside it.

use crate::compile::{Compiled, LARGEST_FILE, Source, compile_with};
use crate::problem::{Problem, Severity};
use crate::site_tables::SiteTables;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

/// The folder beside `queuecast.toml` whose files have rules.
pub const FOLDER: &str = "rules.d";

/// The largest file of a table, in bytes.
const LARGEST_TABLE: u64 = 64 << 20;

/// A file as it is, by which it is known whether it was changed since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    path: PathBuf,
    /// `None` where there is no such file, or its folder may not be searched.
    state: Option<State>,
}

/// What changes when a file is written to, or another is put in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    device: u64,
    inode: u64,
    length: u64,
    written: (i64, i64),
    changed: (i64, i64),
}

impl Seen {
    /// Looks at a file.
    #[must_use]
    pub fn now(path: &Path) -> Self {
        let state = fs::metadata(path).ok().map(|metadata| State {
            device: metadata.dev(),
            inode: metadata.ino(),
            length: metadata.len(),
            written: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        });
        Seen { path: path.to_owned(), state }
    }

    /// Looks at the same file again.
    #[must_use]
    pub fn again(&self) -> Self {
        Seen::now(&self.path)
    }

    /// Whether the file is another one now.
    #[must_use]
    pub fn has_changed(&self) -> bool {
        *self != self.again()
    }

    /// Whether nothing was written to it for so long, so that nobody is in the middle of it.
    #[must_use]
    pub fn is_at_rest(&self, for_at_least: Duration) -> bool {
        let Some(State { written: (seconds, nanoseconds), .. }) = self.state else { return true };
        let written = Duration::new(seconds.max(0).unsigned_abs(), u32::try_from(nanoseconds).unwrap_or(0));
        // One that is dated ahead was not written just now.
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH + written).map_or(true, |age| age >= for_at_least)
    }
}

/// The files of a site's rules in the order in which they apply: `queuecast.toml`, then those of
/// `rules.d` that end with `.toml`, in the order of their names.
///
/// # Errors
/// Whatever keeps the folder from being read; that there is none is no error.
pub fn of_site(configuration: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    if configuration.try_exists()? {
        files.push(configuration.to_owned());
    }
    match configuration.with_file_name(FOLDER).read_dir() {
        Ok(entries) => {
            let mut rules = entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
            rules.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
            rules.sort();
            files.extend(rules);
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    Ok(files)
}

/// Compiles files in their order. Files of tables that they name are looked for from where they
/// stand. Beside rules, `configuration` has settings, and so has a file that is called
/// `queuecast.toml`; they are not looked at here.
#[must_use]
pub fn compile_files(files: &[PathBuf], configuration: &Path) -> Compiled {
    compile_files_with(files, configuration, None)
}

/// Compiles files with rows of qualities of service, associations, users and partitions.
#[must_use]
pub fn compile_files_with(files: &[PathBuf], configuration: &Path, rows: Option<&SiteTables>) -> Compiled {
    let seen = Mutex::new(Vec::new());
    let note = |path: &Path| {
        let file = Seen::now(path);
        if let Ok(mut seen) = seen.lock() {
            seen.push(file);
        }
    };
    let note = &note;
    let readers: Vec<_> = files
        .iter()
        .map(|file| {
            move |path: &str| {
                let path = file.parent().unwrap_or(Path::new("")).join(path);
                note(&path);
                read_text(&path, LARGEST_TABLE).map_err(|error| error.to_string())
            }
        })
        .collect();
    let mut unreadable = Vec::new();
    let mut sources = Vec::new();
    for (file, reader) in files.iter().zip(&readers) {
        let name = file.display().to_string();
        note(file);
        match read_text(file, u64::try_from(LARGEST_FILE).unwrap_or(u64::MAX)) {
            Ok(text) => {
                let is_configuration = file == configuration || file.file_name().is_some_and(|name| name == "queuecast.toml");
                sources.push(Source { name, text, is_configuration, read_file: reader });
            }
            Err(error) => {
                let message = format!("this file can't be read: {error}");
                unreadable.push(Problem { severity: Severity::Error, file: name, line: 1, column: 1, message });
            }
        }
    }
    let mut compiled = compile_with(&sources, rows);
    if !unreadable.is_empty() {
        compiled.rules = None;
        compiled.problems.splice(0..0, unreadable);
    }
    compiled.seen = seen.lock().map(|mut seen| std::mem::take(&mut *seen)).unwrap_or_default();
    compiled
}

/// Reads a text that must not be longer.
fn read_text(path: &Path, most_bytes: u64) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(most_bytes.saturating_add(1)).read_to_string(&mut text)?;
    let is_too_long = u64::try_from(text.len()).unwrap_or(u64::MAX) > most_bytes;
    if is_too_long { Err(io::Error::other(format!("it has more than {most_bytes} bytes"))) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_files_of_a_site_are_compiled_in_their_order_with_tables_beside_them() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
        std::fs::create_dir(directory.path().join(FOLDER)).unwrap();
        write("site.toml", "state_directory = \"/x\"\n[[rule]]\nname = \"first\"\nset = { qos = \"a\" }\n");
        write("rules.d/20-b.toml", "[[rule]]\nname = \"third\"\nset = { qos = \"c\" }\n");
        write(
            "rules.d/10-a.toml",
            "[tables.t]\nfile = \"t.csv\"\n[[rule]]\nname = \"second\"\nwhen = '\"x\" in tables.t'\nset = { qos = \"b\" }\n",
        );
        write("rules.d/t.csv", "key,value\nx,y\n");
        write("rules.d/notes.txt", "no rules");
        let configuration = directory.path().join("site.toml");
        let files = of_site(&configuration).unwrap();
        let compiled = compile_files(&files, &configuration);
        assert_eq!(compiled.problems, []);
        let names: Vec<String> = compiled.rules.unwrap().rules.iter().map(|rule| rule.name.to_string()).collect();
        assert_eq!(names, ["first", "second", "third"]);
        let missing = compile_files(&[directory.path().join("none.toml")], &configuration);
        assert!(missing.rules.is_none() && missing.problems[0].message.contains("can't be read"));
    }

    #[test]
    fn a_change_of_a_file_or_of_a_table_that_it_names_is_seen() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
        let rules = "[tables.t]\nfile = \"t.csv\"\n[[rule]]\nname = \"a\"\nwhen = '\"x\" in tables.t'\nset = { qos = \"b\" }\n";
        write("queuecast.toml", rules);
        write("t.csv", "key,value\nx,y\n");
        let configuration = directory.path().join("queuecast.toml");
        let compile = || compile_files(std::slice::from_ref(&configuration), &configuration).seen;
        let changed = |seen: &[Seen]| seen.iter().filter(|file| file.has_changed()).count();
        let seen = compile();
        assert_eq!((seen.len(), changed(&seen)), (2, 0));
        write("t.csv", "key,value\nx,yy\n");
        assert_eq!((changed(&seen), changed(&compile())), (1, 0));
        std::fs::remove_file(directory.path().join("t.csv")).unwrap();
        assert_eq!(changed(&seen), 1);
        let without = compile();
        assert_eq!((without.len(), changed(&without)), (2, 0), "that it is missing is seen, too");
        write("t.csv", "key,value\nx,y\n");
        assert_eq!(changed(&without), 1);
    }

    #[test]
    fn a_file_that_was_written_to_just_now_is_not_at_rest() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.toml");
        let file = File::create(&path).unwrap();
        let long = Duration::from_secs(3_600);
        assert!(!Seen::now(&path).is_at_rest(long));
        file.set_modified(SystemTime::now() - 2 * long).unwrap();
        assert!(Seen::now(&path).is_at_rest(long) && Seen::now(&directory.path().join("none")).is_at_rest(long));
    }

    #[test]
    fn a_site_without_files_has_no_rules() {
        let directory = tempfile::tempdir().unwrap();
        let configuration = directory.path().join("queuecast.toml");
        let files = of_site(&configuration).unwrap();
        assert_eq!(files, Vec::<PathBuf>::new());
        assert_eq!(compile_files(&files, &configuration).rules.unwrap().rules.len(), 0);
    }
}
