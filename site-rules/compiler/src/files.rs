//! The files that a site's rules stand in: `queuecast.toml`, and `rules.d/*.toml` beside it.

use crate::compile::{Compiled, LARGEST_FILE, Source, compile};
use crate::problem::{Problem, Severity};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The folder beside `queuecast.toml` whose files have rules.
pub const FOLDER: &str = "rules.d";

/// The largest file of a table, in bytes.
const LARGEST_TABLE: u64 = 64 << 20;

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
    let readers: Vec<_> = files
        .iter()
        .map(|file| {
            move |path: &str| {
                let path = file.parent().unwrap_or(Path::new("")).join(path);
                read_text(&path, LARGEST_TABLE).map_err(|error| error.to_string())
            }
        })
        .collect();
    let mut unreadable = Vec::new();
    let mut sources = Vec::new();
    for (file, reader) in files.iter().zip(&readers) {
        let name = file.display().to_string();
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
    let mut compiled = compile(&sources);
    if !unreadable.is_empty() {
        compiled.rules = None;
        compiled.problems.splice(0..0, unreadable);
    }
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
    fn a_site_without_files_has_no_rules() {
        let directory = tempfile::tempdir().unwrap();
        let configuration = directory.path().join("queuecast.toml");
        let files = of_site(&configuration).unwrap();
        assert_eq!(files, Vec::<PathBuf>::new());
        assert_eq!(compile_files(&files, &configuration).rules.unwrap().rules.len(), 0);
    }
}
