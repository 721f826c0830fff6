//! Says of which sources this build is, so that what was learnt by another one is not taken up.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

/// The text of every source file, in order of their names.
fn sources(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            sources(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.insert(path.clone(), fs::read(&path)?);
        }
    }
    Ok(())
}

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=src");
    let mut found = BTreeMap::new();
    sources(Path::new("src"), &mut found)?;
    let mut hasher = DefaultHasher::new();
    found.hash(&mut hasher);
    println!("cargo:rustc-env=QUEUECAST_SOURCES={:016x}", hasher.finish());
    Ok(())
}
