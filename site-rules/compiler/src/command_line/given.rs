//! Options as they were given: on the command line, in the environment, or in the script.

use super::known::{Named, PluginOption, Program, Says, Takes, by_name};
use super::{CommandLineError, Release};

/// The place at which an option was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A line of the script, counted from 1.
    Script(usize),
    /// A variable of the environment, by its name.
    Environment(&'static str),
    /// The command line.
    CommandLine,
}

/// An option as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The option's long name.
    pub name: String,
    /// The option as its user wrote it.
    pub(super) written: String,
    /// The option's value; `None` where it was given none.
    pub value: Option<String>,
    /// The place at which the option was given.
    pub origin: Origin,
    /// What the option says; `None` where it is an option of a plugin.
    pub(super) says: Option<Says>,
}

impl Given {
    /// Whether it is an option of a plugin of sbatch.
    #[must_use]
    pub fn is_of_plugin(&self) -> bool {
        self.says.is_none()
    }
}

/// A word of a command line or of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) origin: Origin,
}

impl Word {
    /// The words of a command line.
    pub(super) fn typed(words: &[String]) -> Vec<Word> {
        words.iter().map(|text| Word { text: text.clone(), origin: Origin::CommandLine }).collect()
    }
}

/// The options at the beginning of some words, and the words behind them.
pub(super) fn split<'w>(
    program: Program,
    release: Release,
    plugins: &[PluginOption],
    words: &'w [Word],
) -> Result<(Vec<Given>, &'w [Word]), CommandLineError> {
    let mut splitting = Splitting { program, release, plugins, given: Vec::new() };
    let mut rest = words;
    while let Some((word, behind)) = rest.split_first() {
        if word.text == "--" {
            return Ok((splitting.given, behind));
        }
        let taken = if let Some(long) = word.text.strip_prefix("--") {
            splitting.long(long, word.origin, behind)
        } else if let Some(letters) = word.text.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            splitting.letters(letters, word.origin, behind)
        } else {
            break;
        };
        rest = taken.map_err(|error| error.at(word.origin))?;
    }
    Ok((splitting.given, rest))
}

struct Splitting<'p> {
    program: Program,
    release: Release,
    plugins: &'p [PluginOption],
    given: Vec<Given>,
}

impl Splitting<'_> {
    /// Takes an option by its long name, such as `nodes=4`; returns the words behind.
    fn long<'w>(&mut self, long: &str, origin: Origin, behind: &'w [Word]) -> Result<&'w [Word], CommandLineError> {
        let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value.to_owned())));
        let option = by_name(self.program, self.release, self.plugins, name)?;
        self.take(option, format!("--{}", option.name()), origin, value, behind)
    }

    /// Takes the options of one word such as `-Hn4`.
    fn letters<'w>(&mut self, letters: &str, origin: Origin, behind: &'w [Word]) -> Result<&'w [Word], CommandLineError> {
        for (place, letter) in letters.char_indices() {
            let written = format!("-{letter}");
            let known = self.program.options(self.release).find(|known| known.letter == Some(letter));
            let unknown = || CommandLineError::UnknownOption { option: written.clone(), nearest: None };
            let option = Named::Known(known.ok_or_else(unknown)?);
            if option.takes() == Takes::Nothing {
                self.take(option, written, origin, None, behind)?;
                continue;
            }
            let attached = &letters[place + letter.len_utf8()..];
            return self.take(option, written, origin, (!attached.is_empty()).then(|| attached.to_owned()), behind);
        }
        Ok(behind)
    }

    /// Takes an option with its value, which may be the next word; returns the words behind.
    fn take<'w>(
        &mut self,
        option: Named<'_>,
        written: String,
        origin: Origin,
        value: Option<String>,
        behind: &'w [Word],
    ) -> Result<&'w [Word], CommandLineError> {
        let (value, behind) = match (option.takes(), value) {
            (Takes::Nothing, Some(_)) => return Err(CommandLineError::TakesNoValue(written)),
            (Takes::Value, None) => {
                let (next, behind) = behind.split_first().ok_or_else(|| CommandLineError::NoValue(written.clone()))?;
                (Some(next.text.clone()), behind)
            }
            (_, value) => (value, behind),
        };
        let says = match option {
            Named::Known(known) => Some(known.says),
            Named::Plugin(_) => None,
        };
        self.given.push(Given { name: option.name().to_owned(), written, value, origin, says });
        Ok(behind)
    }
}
