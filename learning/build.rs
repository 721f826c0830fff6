//! Says of which sources this build is, so that what was learnt by another one is not taken up.
//!
//! What is kept is made of types of this crate, of `predictor-core` and of `job-types`, so that it
//! is the sources of all three.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{fs, io};

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
    let mut found = BTreeMap::new();
    for folder in ["src", "../predictor-core/src", "../job-types/src"] {
        println!("cargo:rerun-if-changed={folder}");
        sources(Path::new(folder), &mut found)?;
    }
    let mut hasher = DefaultHasher::new();
    found.hash(&mut hasher);
    println!("cargo:rustc-env=QUEUECAST_SOURCES={:016x}", hasher.finish());
    Ok(())
}
