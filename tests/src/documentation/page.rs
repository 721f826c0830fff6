//! A page of the documentation.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::project;

/// A page of the documentation.
#[derive(Debug, Clone)]
pub struct Page {
    /// The page's path in the project, such as `docs/users.md`.
    pub name: String,
    /// What is in the page.
    pub text: String,
}

/// A fenced block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// Commands, with what they print.
    Console(Vec<Shown>),
    /// Another block, by its language.
    Other {
        /// Empty where it has none.
        language: String,
        /// What is in it.
        text: String,
    },
}

/// A command that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// What a reader types.
    pub command: String,
    /// Whether root types it.
    pub as_root: bool,
    /// Lines of its output, `...` for what is left out.
    pub quoted: Vec<String>,
}

impl Page {
    /// Reads a page.
    ///
    /// # Panics
    /// Where there is none.
    #[must_use]
    pub fn read(name: &str) -> Page {
        let text = std::fs::read_to_string(project().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        Page { name: name.to_owned(), text }
    }

    /// README.md and all pages of docs.
    ///
    /// # Panics
    /// Where the directory can't be read.
    #[must_use]
    pub fn all() -> Vec<Page> {
        let entries = std::fs::read_dir(project().join("docs")).expect("docs");
        let files = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = files.filter(|file| file.ends_with(".md")).map(|file| format!("docs/{file}")).collect();
        names.push("README.md".to_owned());
        names.sort_unstable();
        names.iter().map(|name| Page::read(name)).collect()
    }

    fn parser(&self) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
        Parser::new_ext(&self.text, Options::ENABLE_TABLES).into_offset_iter()
    }

    /// The fenced blocks, in order.
    #[must_use]
    pub fn blocks(&self) -> Vec<Block> {
        let mut inside: Option<(String, String)> = None;
        let mut blocks = Vec::new();
        for (event, _) in self.parser() {
            match event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => inside = Some((language.into_string(), String::new())),
                Event::Text(part) => {
                    if let Some((_, text)) = &mut inside {
                        text.push_str(&part);
                    }
                }
                Event::End(TagEnd::CodeBlock) => blocks.extend(inside.take().map(|(language, text)| match language.as_str() {
                    "console" => Block::Console(self.shown(&text)),
                    _ => Block::Other { language, text },
                })),
                _ => {}
            }
        }
        blocks
    }

    fn shown(&self, text: &str) -> Vec<Shown> {
        let mut all: Vec<Shown> = Vec::new();
        for line in text.lines() {
            let command =
                line.strip_prefix("$ ").map(|command| (command, false)).or_else(|| line.strip_prefix("# ").map(|command| (command, true)));
            match (command, all.last_mut()) {
                (Some((command, as_root)), _) => all.push(Shown { command: command.to_owned(), as_root, quoted: Vec::new() }),
                (None, Some(last)) => last.quoted.push(line.to_owned()),
                (None, None) => panic!("{}: a block of commands begins with {line:?}; it needs a prompt, $ or #", self.name),
            }
        }
        all
    }

    /// The rows of all tables, each with the heading that it stands under and its cells as they are
    /// written; headers are left out.
    #[must_use]
    pub fn rows(&self) -> Vec<(String, Vec<String>)> {
        let (mut heading, mut cells) = (String::new(), Vec::new());
        let mut rows = Vec::new();
        for (event, place) in self.parser() {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = self.heading(place),
                Event::Start(Tag::TableHead | Tag::TableRow) => cells.clear(),
                Event::Start(Tag::TableCell) => cells.push(self.text[place].trim_matches(['|', ' ']).replace("\\|", "|")),
                Event::End(TagEnd::TableRow) => rows.push((heading.clone(), std::mem::take(&mut cells))),
                _ => {}
            }
        }
        rows
    }

    /// The targets of its links and pictures.
    #[must_use]
    pub fn links(&self) -> Vec<String> {
        let target = |event| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some(dest_url.into_string()),
            _ => None,
        };
        self.parser().filter_map(|(event, _)| target(event)).collect()
    }

    /// The anchors of its headings, as a link names them.
    #[must_use]
    pub fn anchors(&self) -> Vec<String> {
        let headings = self.parser().filter(|(event, _)| matches!(event, Event::Start(Tag::Heading { .. })));
        let kept = |character: &char| character.is_alphanumeric() || matches!(character, ' ' | '-' | '_');
        let anchor = |heading: String| heading.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-");
        headings.map(|(_, place)| anchor(self.heading(place))).collect()
    }

    /// The heading in a place of the page, as it is written.
    fn heading(&self, place: Range<usize>) -> String {
        self.text[place].trim_matches(['#', ' ', '\n']).to_owned()
    }
}

/// The texts that are marked as code in a cell or a line, however many marks stand around each.
#[must_use]
pub fn code_of(text: &str) -> Vec<String> {
    let code = |event| match event {
        Event::Code(code) => Some(code.into_string()),
        _ => None,
    };
    Parser::new(text).filter_map(code).collect()
}

/// The words of a text without numbers and units of time: those of the documentation are of one
/// run.
pub fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|character: char| !character.is_ascii_alphabetic());
    words.filter(|word| !["", "s", "min", "h", "d"].contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Page {
        Page { name: "a.md".to_owned(), text: text.to_owned() }
    }

    #[test]
    fn blocks_have_commands_with_what_they_print() {
        let blocks = page("a\n```console\n$ one 1\nprinted\n...\n# two\n```\nb\n```toml\nk = 1\n```\n").blocks();
        let one = Shown { command: "one 1".to_owned(), as_root: false, quoted: vec!["printed".to_owned(), "...".to_owned()] };
        let two = Shown { command: "two".to_owned(), as_root: true, quoted: Vec::new() };
        let other = Block::Other { language: "toml".to_owned(), text: "k = 1\n".to_owned() };
        assert_eq!(blocks, [Block::Console(vec![one, two]), other]);
    }

    #[test]
    fn tables_are_read_without_their_headers() {
        let rows = page("## A b\n| x | y |\n|---|---|\n| `1\\|2` | three |\n\n```\n| no | row |\n```\n").rows();
        assert_eq!(rows, [("A b".to_owned(), vec!["`1|2`".to_owned(), "three".to_owned()])]);
    }

    #[test]
    fn code_has_one_mark_around_it_or_two() {
        assert_eq!(code_of("`a|b`, ``c `d` e`` (f), `g`"), ["a|b", "c `d` e", "g"]);
    }

    #[test]
    fn anchors_are_made_of_headings() {
        assert_eq!(page("# In the job's output\n## `queuecast status`\n").anchors(), ["in-the-jobs-output", "queuecast-status"]);
    }
}
