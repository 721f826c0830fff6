//! The manual page of a command.
//!
//! Name, synopsis, description, options and commands are rendered by `clap_mangen`. What stands
//! behind a command's options in its long help becomes sections of the page, one for each paragraph
//! with a heading (a first line that ends with a colon), in the lines in which it is written.

use std::io;

use clap::Command;
use clap_mangen::Man;
use roff::{Roff, roman};

/// What the paragraph on exit statuses begins with.
const EXIT_STATUS: &str = "Exit status:";

/// A page that can be written.
pub(super) struct Page<'a> {
    command: &'a Command,
    section: u8,
    /// The command that says what exit statuses mean where this one does not.
    first: Option<&'a Command>,
    also: &'a [String],
}

/// The name under which a command has its page.
pub(super) fn name(command: &Command) -> String {
    command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned()
}

impl<'a> Page<'a> {
    /// The page of a command that has been built, in a section of the manual; `also` are other
    /// pages.
    pub(super) fn new(command: &'a Command, section: u8, first: Option<&'a Command>, also: &'a [String]) -> Self {
        Self { command, section, first, also }
    }

    /// The page in the language of man(7).
    ///
    /// # Errors
    /// None but those of `clap_mangen`, which writes into memory.
    pub(super) fn text(&self) -> io::Result<Vec<u8>> {
        let (about, exit_status) = split_exit_status(&long_about(self.command));
        let exit_status = exit_status.or_else(|| self.first.and_then(|first| split_exit_status(&long_about(first)).1));
        let man = Man::new(self.command.clone().long_about(about));
        let mut text = title(&name(self.command), self.section).into_bytes();
        man.render_name_section(&mut text)?;
        man.render_synopsis_section(&mut text)?;
        man.render_description_section(&mut text)?;
        man.render_options_section(&mut text)?;
        if self.command.get_subcommands().any(|below| !below.is_hide_set()) {
            man.render_subcommands_section(&mut text)?;
        }
        let mut rest = Roff::new();
        if let Some(exit_status) = exit_status {
            rest.control("SH", ["EXIT STATUS"]);
            rest.text([roman(exit_status)]);
        }
        let help = self.command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        paragraphs(&help, &mut rest);
        rest.control("SH", ["SEE ALSO"]);
        rest.text([roman(self.also.join(", "))]);
        rest.to_writer(&mut text)?;
        Ok(text)
    }
}

/// The first line of a page. It has no date: the version says as much, and the same source makes
/// the same page.
pub(super) fn title(name: &str, section: u8) -> String {
    format!(".TH {name} {section} \"\" \"queuecast {}\" queuecast\n", env!("CARGO_PKG_VERSION"))
}

fn long_about(command: &Command) -> String {
    command.get_long_about().or_else(|| command.get_about()).map(ToString::to_string).unwrap_or_default()
}

/// A description without its paragraph on exit statuses, and what that says.
fn split_exit_status(about: &str) -> (String, Option<String>) {
    let (exit_status, rest): (Vec<&str>, Vec<&str>) = about.split("\n\n").partition(|paragraph| paragraph.starts_with(EXIT_STATUS));
    let exit_status = exit_status.first().and_then(|paragraph| paragraph.strip_prefix(EXIT_STATUS)).map(|text| capitalised(text.trim()));
    (rest.join("\n\n"), exit_status)
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

/// The paragraphs of a help text: under their headings, as they are written; those without one as
/// running text.
fn paragraphs(help: &str, page: &mut Roff) {
    for paragraph in help.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        let Some((heading, body)) = heading(paragraph) else {
            page.control("PP", []);
            page.text([roman(paragraph.trim())]);
            continue;
        };
        // What a heading adds in parentheses or behind a comma is no part of the section's name.
        let cut = [heading.find(", "), heading.find(" (")].into_iter().flatten().min();
        let (title, more) = heading.split_at(cut.unwrap_or(heading.len()));
        page.control("SH", [shouted(title).as_str()]);
        let more = more.trim_start_matches([',', ' ']);
        let more = more.strip_prefix('(').and_then(|more| more.strip_suffix(')')).unwrap_or(more);
        if !more.is_empty() {
            page.text([roman(format!("{}.", capitalised(more)))]);
            page.control("PP", []);
        }
        page.control("nf", []);
        let indent = body.lines().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
        for line in body.lines() {
            page.text([roman(line.get(indent..).unwrap_or(line))]);
        }
        page.control("fi", []);
    }
}

/// The heading of a paragraph, of one line or of two, without its colon; and the rest, which stands
/// under it indented.
fn heading(paragraph: &str) -> Option<(String, &str)> {
    let end = paragraph.find(":\n")?;
    let (heading, body) = (paragraph.get(..end)?, paragraph.get(end + 2..)?);
    let is_heading = heading.lines().count() <= 2 && heading.lines().all(|line| !line.starts_with(' ')) && body.starts_with("  ");
    is_heading.then(|| (heading.replace('\n', " "), body))
}

/// Writes a title in capitals, but for options.
fn shouted(title: &str) -> String {
    let words = title.split(' ').map(|word| if word.starts_with('-') { word.to_owned() } else { word.to_uppercase() });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_with_a_heading_becomes_a_section_as_it_is_written() {
        let mut page = Roff::new();
        paragraphs("Keys of --format json (times in seconds,\nnull where not known):\n  a   one\n  bc  two\n\nAnd more.", &mut page);
        let text = page.to_roff();
        assert!(
            text.contains(".SH \"KEYS OF --format JSON\"\nTimes in seconds, null where not known.\n.PP\n.nf\na   one\nbc  two\n.fi\n"),
            "{text}"
        );
        assert!(text.ends_with(".PP\nAnd more.\n"), "{text}");
    }

    #[test]
    fn the_exit_status_is_taken_out_of_the_description() {
        let (about, exit_status) = split_exit_status("Does it.\n\nExit status: 0 done; 2 wrong usage.\n\nMore.");
        assert_eq!((about.as_str(), exit_status.as_deref()), ("Does it.\n\nMore.", Some("0 done; 2 wrong usage.")));
    }
}
