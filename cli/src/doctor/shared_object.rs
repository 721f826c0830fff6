//! What a plugin's file says of itself, read without loading it.

use std::fs;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection, ObjectSymbol};
use slurm_sys::version::Version;

/// Slurm's own plugins, of which at least one is in every installation.
const SLURM_OWN: [&str; 4] = ["auth_munge.so", "auth_slurm.so", "priority_basic.so", "cred_munge.so"];

/// A plugin's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PluginFile {
    pub(super) path: PathBuf,
    /// The Slurm that it was built for.
    pub(super) version: Version,
    /// Kind and name, such as `job_submit/queuecast`, or `spank`.
    pub(super) kind: String,
}

impl PluginFile {
    /// Reads the symbols that Slurm compares before it uses a plugin (`_verify_syms` in
    /// src/common/plugin.c).
    ///
    /// # Errors
    /// In words: the file can't be read, or is no plugin of Slurm's.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let bytes = fs::read(path).map_err(|error| error.to_string())?;
        let file = object::File::parse(bytes.as_slice()).map_err(|error| format!("not a shared object: {error}"))?;
        let lacks = |name: &str| format!("not a plugin of Slurm's: it has no symbol {name}");
        symbol(&file, "plugin_name").ok_or_else(|| lacks("plugin_name"))?;
        let kind = symbol(&file, "plugin_type").and_then(text).ok_or_else(|| lacks("plugin_type"))?;
        let number = symbol(&file, "plugin_version").and_then(|bytes| bytes.first_chunk()).ok_or_else(|| lacks("plugin_version"))?;
        let number = if file.is_little_endian() { u32::from_le_bytes(*number) } else { u32::from_be_bytes(*number) };
        Ok(Self { path: path.to_owned(), version: Version::from_number(number), kind })
    }
}

/// The version of the Slurm whose own plugins are in one of these directories. Hosts without
/// daemons have no other sign of it that needs no configuration.
pub(super) fn version_of_slurm(directories: &[PathBuf]) -> Option<(PathBuf, Version)> {
    let known = directories.iter().flat_map(|directory| SLURM_OWN.iter().map(move |name| directory.join(name)));
    known.into_iter().find_map(|path| PluginFile::read(&path).ok().map(|plugin| (plugin.path, plugin.version)))
}

/// The directory beside which a program of Slurm's was built to find its libraries: that of its
/// plugins.
pub(super) fn plugin_directory_of(program: &Path) -> Option<PathBuf> {
    let bytes = fs::read(program).ok()?;
    let file = object::File::parse(bytes.as_slice()).ok()?;
    // The path stands in the table of strings as it is. It is told from other paths by the plugins
    // that it holds.
    let strings = file.section_by_name(".dynstr")?.data().ok()?.to_vec();
    let mut paths = strings.split(|&byte| byte == 0).filter(|text| text.first() == Some(&b'/'));
    let mut directories = paths.by_ref().flat_map(|text| text.split(|&byte| byte == b':'));
    let has_plugins = |directory: &PathBuf| SLURM_OWN.iter().any(|name| directory.join(name).is_file());
    directories.find_map(|text| std::str::from_utf8(text).ok().map(PathBuf::from).filter(has_plugins))
}

/// What lies at a symbol that the file defines, up to the end of its section.
fn symbol<'data>(file: &object::File<'data>, name: &str) -> Option<&'data [u8]> {
    let symbol = file.dynamic_symbols().find(|symbol| symbol.is_definition() && symbol.name() == Ok(name))?;
    let section = file.section_by_index(symbol.section_index()?).ok()?;
    let offset = usize::try_from(symbol.address().checked_sub(section.address())?).ok()?;
    section.data().ok()?.get(offset..)
}

fn text(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().position(|&byte| byte == 0)?;
    Some(String::from_utf8_lossy(bytes.get(..end)?).into_owned())
}
