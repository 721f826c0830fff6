//! slurm.conf, read as slurmctld reads it but without libslurm (src/common/parse_config.c): lines
//! that a backslash continues, quotes, comments, `Include`, keys in any case, and text in any
//! encoding. What `scontrol show config` prints is read as well.

mod value;

use std::io;
use std::path::{Path, PathBuf};

pub use value::{Minutes, minutes, truth, whole_number};

/// Files may include each other no deeper than this.
const DEEPEST: usize = 16;

/// The places where Slurm looks if `SLURM_CONF` is not set: the usual place, and where a slurmd or
/// sackd that has no file of its own keeps the controller's.
const PLACES: [&str; 3] = ["/etc/slurm/slurm.conf", "/usr/local/etc/slurm.conf", "/run/slurm/conf/slurm.conf"];

/// How the output of `scontrol show config` begins.
const PRINTED_BY_SCONTROL: &str = "Configuration data as of";

/// What slurm.conf and the files that it includes say of the cluster as a whole. Lines that
/// describe nodes, partitions and switches have keys of their own, which are not kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SlurmSettings {
    /// The settings in the order in which they are read.
    settings: Vec<Setting>,
    /// The hosts of slurmctld, in their order.
    pub controllers: Vec<String>,
    /// The names of the partitions, in their order, without `DEFAULT`.
    pub partitions: Vec<String>,
    /// Included files that could not be read, each with the reason; slurmctld does not start
    /// without them.
    pub problems: Vec<String>,
}

/// A setting as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The setting's key, in the case in which it is written.
    pub key: String,
    /// The setting's value, without quotes and escapes; empty where it says nothing.
    pub value: String,
    /// The line of its file on which the setting begins, counted from 1.
    pub line: usize,
}

impl SlurmSettings {
    /// Reads a file and what it includes.
    ///
    /// # Errors
    /// The file itself can't be read. Included files that can't are among the
    /// [`problems`](Self::problems).
    pub fn read(path: &Path) -> io::Result<Self> {
        Self::read_with(path, &mut |_| {})
    }

    /// Reads as [`read`](Self::read) does, and hands over the contents of each file in the order
    /// in which they are read.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_with(path: &Path, contents: &mut dyn FnMut(&[u8])) -> io::Result<Self> {
        let bytes = std::fs::read(path)?;
        contents(&bytes);
        let mut read = Self::default();
        read.take(&bytes, Some(path), contents, 0);
        Ok(read)
    }

    /// Reads a text. Files that it includes are looked for from the working directory; those that
    /// can't be read are among the [`problems`](Self::problems).
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut read = Self::default();
        read.take(text.as_bytes(), None, &mut |_| {}, 0);
        read
    }

    /// The path of slurm.conf on this host: the file that `SLURM_CONF` names, there or not;
    /// otherwise the first of the usual places that has one.
    #[must_use]
    pub fn usual_path() -> Option<PathBuf> {
        match std::env::var_os("SLURM_CONF").filter(|named| !named.is_empty()) {
            Some(named) => Some(PathBuf::from(named)),
            None => PLACES.iter().map(PathBuf::from).find(|path| path.is_file()),
        }
    }

    /// Where the hosts of slurmctld are reached, in their order: at the address that stands behind
    /// a host's name, or else by the name.
    #[must_use]
    pub fn controller_addresses(&self) -> Vec<&str> {
        let hosts = self.settings.iter().filter(|setting| is_controller(&setting.key));
        hosts.map(|host| host.value.split_once('(').map_or(host.value.as_str(), |(_, address)| address.trim_end_matches(')'))).collect()
    }

    /// The value of a key that stands at most once; of several the last, as for Slurm. `None`
    /// where it is not set, or set to nothing (`(null)`, as scontrol prints it).
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        let setting = self.settings.iter().rfind(|setting| setting.key.eq_ignore_ascii_case(key))?;
        Some(setting.value.as_str()).filter(|value| !is_nothing(value))
    }

    /// The settings that hold: of each key the last, in the order in which they are written.
    pub fn in_force(&self) -> impl Iterator<Item = &Setting> {
        self.settings.iter().enumerate().filter_map(|(place, setting)| {
            let mut later = self.settings.iter().skip(place + 1);
            (!later.any(|other| other.key.eq_ignore_ascii_case(&setting.key))).then_some(setting)
        })
    }

    fn take(&mut self, bytes: &[u8], path: Option<&Path>, contents: &mut dyn FnMut(&[u8]), depth: usize) {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_start_matches('\u{feff}');
        if text.trim_start().starts_with(PRINTED_BY_SCONTROL) {
            return self.take_printed(text);
        }
        for (line, number) in logical_lines(text) {
            match include(&line) {
                Some(included) => self.include(included, path, contents, depth),
                None => self.take_line(&line, number),
            }
        }
    }

    /// Takes what scontrol prints: a setting on each line, whose value is the rest of the line.
    fn take_printed(&mut self, text: &str) {
        for (number, line) in (1..).zip(text.lines()) {
            if let Some((key, value)) = line.split_once('=') {
                self.keep(key.trim(), value.trim(), number);
            }
        }
    }

    fn include(&mut self, included: &str, path: Option<&Path>, contents: &mut dyn FnMut(&[u8]), depth: usize) {
        let cluster = self.get("ClusterName").unwrap_or_default().to_lowercase();
        let included = PathBuf::from(included.replace("%c", &cluster));
        let included = path.map_or_else(|| included.clone(), |path| path.with_file_name(&included));
        let read = if depth < DEEPEST { std::fs::read(&included) } else { Err(io::Error::other("included too deeply")) };
        match read {
            Ok(bytes) => {
                contents(&bytes);
                // The names of files that an included file includes are relative to the first.
                self.take(&bytes, path, contents, depth + 1);
            }
            Err(error) => self.problems.push(format!("{}: {error}", included.display())),
        }
    }

    fn take_line(&mut self, line: &str, number: usize) {
        let pairs = pairs(line);
        match pairs.first().map(|(key, value)| (key.to_ascii_lowercase(), value)) {
            Some((key, value)) if key == "partitionname" => {
                let names = value.split(',').filter(|name| !name.eq_ignore_ascii_case("DEFAULT"));
                self.partitions.extend(names.map(str::to_owned));
            }
            // The other lines that describe something have keys of their own, which say nothing of
            // the cluster.
            Some((key, _)) if ["nodename", "nodeset", "downnodes", "frontendname", "switchname"].contains(&key.as_str()) => {}
            _ => pairs.iter().for_each(|(key, value)| self.keep(key, value, number)),
        }
    }

    fn keep(&mut self, key: &str, value: &str, line: usize) {
        if is_controller(key) {
            // "host(address)"
            self.controllers.push(value.split('(').next().unwrap_or_default().to_owned());
        }
        self.settings.push(Setting { key: key.to_owned(), value: value.to_owned(), line });
    }
}

/// Whether a key names a host of slurmctld.
fn is_controller(key: &str) -> bool {
    ["slurmctldhost", "controlmachine", "backupcontroller"].contains(&key.to_ascii_lowercase().as_str())
}

/// Where munged listens, by the value of `AuthInfo` of slurm.conf: the `socket=` in it; `None` for
/// munge's usual place (src/plugins/auth/munge/auth_munge.c).
#[must_use]
pub fn munge_socket(auth_info: &str) -> Option<PathBuf> {
    let named = auth_info.split(',').find_map(|option| option.trim().strip_prefix("socket="));
    named.filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Whether a value says nothing.
#[must_use]
pub fn is_nothing(value: &str) -> bool {
    value.is_empty() || value.eq_ignore_ascii_case("(null)")
}

/// Lines without comments, those joined that end with a backslash; each with the number of its
/// first line, counted from 1.
fn logical_lines(text: &str) -> Vec<(String, usize)> {
    let mut lines = Vec::new();
    let (mut line, mut first) = (String::new(), 1);
    for (number, part) in (1..).zip(text.split('\n')) {
        if line.is_empty() {
            first = number;
        }
        let part = without_comment(part);
        match continued(part) {
            Some(begin) => line.push_str(begin),
            None => {
                line.push_str(part);
                lines.push((std::mem::take(&mut line), first));
            }
        }
    }
    lines.push((line, first));
    lines
}

/// What stands before the backslash that continues a line on the next; `None` where none does.
/// White space may stand behind it; of two backslashes one escapes the other.
fn continued(part: &str) -> Option<&str> {
    let trimmed = part.trim_end();
    let backslashes = trimmed.bytes().rev().take_while(|byte| *byte == b'\\').count();
    if backslashes % 2 == 1 { trimmed.strip_suffix('\\') } else { None }
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

/// A text without its escapes: what stands behind a backslash stands for itself.
fn without_escapes(text: &str) -> String {
    let (mut unescaped, mut characters) = (String::with_capacity(text.len()), text.chars());
    while let Some(character) = characters.next() {
        unescaped.extend(if character == '\\' { characters.next() } else { Some(character) });
    }
    unescaped
}

/// The file that a line includes.
fn include(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    words.next()?.eq_ignore_ascii_case("include").then(|| words.next())?
}

/// The pairs `Key=Value` of a line; values without quotes.
fn pairs(line: &str) -> Vec<(String, String)> {
    let line = without_escapes(line);
    let mut pairs = Vec::new();
    let mut rest = line.trim_start();
    while let Some((key, value)) = rest.split_once('=') {
        let key = key.trim().trim_end_matches(['-', '*', '+', '/']).trim_end().to_owned();
        let value = value.trim_start();
        let quoted = value.strip_prefix('"').and_then(|quoted| quoted.split_once('"'));
        let (value, behind) = match quoted {
            // What goes on behind the second mark is no quotation.
            Some((value, behind)) if behind.is_empty() || behind.starts_with(char::is_whitespace) => (value, behind),
            _ => value.split_once(char::is_whitespace).unwrap_or((value, "")),
        };
        pairs.push((key, value.to_owned()));
        rest = behind.trim_start();
    }
    pairs
}

#[cfg(test)]
mod tests;
