//! What a log is called.

use std::path::Path;

/// Endings that are no part of a name: of packed files, and of the forms of logs.
const ENDINGS: [&str; 5] = [".gz", ".xz", ".zst", ".swf", ".txt"];

/// The file's name without folder and endings.
pub fn name(path: &Path) -> String {
    let file_name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name = ENDINGS.iter().fold(file_name.as_str(), |name, ending| name.strip_suffix(ending).unwrap_or(name));
    if matches!(name, "" | "-") { "standard input".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_called_by_its_file_without_folder_and_endings() {
        for (path, called) in [
            ("/logs/KTH-SP2-1996-2.1-cln.swf.xz", "KTH-SP2-1996-2.1-cln"),
            ("past.txt.gz", "past"),
            ("past", "past"),
            (".swf", "standard input"),
            ("-", "standard input"),
        ] {
            assert_eq!(name(Path::new(path)), called);
        }
    }
}
