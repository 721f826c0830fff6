//! Comments and the documentation are no wider than 100 columns.

// What the tests share is outside of them, and fails as they do.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use end_to_end::project;

/// The most columns of a comment line or a line of the documentation.
const MOST_COLUMNS: usize = 100;

/// Directories in which nothing is written by hand.
const GENERATED: [&str; 2] = ["target", ".git"];

/// All files of the project below `directory`.
fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !path.is_symlink() && !GENERATED.contains(&name.as_str()) {
            files(&path, found);
        } else if path.is_file() {
            found.push(path);
        }
    }
}

/// Whether the comments of a file begin with `#`: scripts, and the files that configure the
/// project.
fn has_hash_comments(path: &Path, text: &str) -> bool {
    let endings = ["sh", "toml", "service", "conf", "spec"];
    text.starts_with("#!") || path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known))
}

/// Whether a line can't be broken: a single word, such as a link.
fn is_one_word(line: &str) -> bool {
    line.trim_start_matches(['/', '!', '#', '-', '*', '>', ' ']).split_whitespace().nth(1).is_none()
}

/// The lines of a page that are running text: not those of tables and of code blocks.
fn running_text(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence && !line.trim_start().starts_with('|')
    })
}

/// The lines of a file that are to be no wider than [`MOST_COLUMNS`], counted from 0.
fn bounded_lines<'a>(path: &Path, text: &'a str) -> Vec<(usize, &'a str)> {
    let comments = |mark: &str| text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with(mark)).collect();
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("rs") => comments("//"),
        Some("md") => running_text(text).collect(),
        _ if has_hash_comments(path, text) => comments("#"),
        _ => Vec::new(),
    }
}

#[test]
fn comments_and_documentation_are_at_most_100_columns_wide() {
    let (mut found, mut checked, mut wide) = (Vec::new(), 0, Vec::new());
    files(&project(), &mut found);
    for path in found {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        for (line, content) in bounded_lines(&path, &text) {
            checked += 1;
            let columns = content.chars().count();
            if columns > MOST_COLUMNS && !is_one_word(content) {
                wide.push(format!("{}:{}: {columns} columns", path.display(), line + 1));
            }
        }
    }
    assert!(checked > 5_000, "only {checked} lines were looked at");
    assert!(wide.is_empty(), "wider than {MOST_COLUMNS} columns:\n{}", wide.join("\n"));
}

#[test]
fn tables_code_and_long_links_may_be_wider() {
    let wide = "x ".repeat(60);
    let page = format!("| {wide} |\n```\n{wide}\n```\nhttps://{}\n", "x".repeat(100));
    assert!(bounded_lines(Path::new("page.md"), &page).iter().all(|(_, line)| is_one_word(line)));
    let script = format!("#!/bin/sh\n# {wide}\necho {wide}\n");
    assert_eq!(bounded_lines(Path::new("script"), &script).len(), 2);
}
