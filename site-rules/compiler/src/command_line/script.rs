//! The words of a command line, and the options in a script.

use super::CommandLineError;
use super::given::{Origin, Word};

/// What a line of options in a script begins with; sbatch still takes the second of them.
const MARKS: [&str; 2] = ["#SBATCH", "#SLURM"];

/// What the lines of other systems begin with that sbatch translates.
const OTHER_MARKS: [&str; 2] = ["#BSUB", "#PBS"];

/// How many lines that are no comments may stand before such a line.
const MOST_OTHER_LINES: usize = 100;

/// The words of a line as a shell splits it: quotation marks and backslashes hold together.
pub(super) fn words(line: &str) -> Result<Vec<String>, CommandLineError> {
    let (mut words, mut word, mut quotation) = (Vec::new(), None::<String>, None);
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (quotation, letter) {
            (Some(mark), letter) if letter == mark => quotation = None,
            (None, '"' | '\'') => {
                quotation = Some(letter);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                let escaped = letters.next().ok_or_else(|| CommandLineError::Quotation(line.to_owned()))?;
                word.get_or_insert_default().push(escaped);
            }
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    if quotation.is_some() {
        return Err(CommandLineError::Quotation(line.to_owned()));
    }
    words.extend(word);
    Ok(words)
}

/// The options in a script: the lines that begin with `#SBATCH`, up to the first line that is a
/// command (`_opt_batch_script` in src/sbatch/opt.c).
pub(super) fn options(script: &str) -> Result<Vec<Word>, CommandLineError> {
    let mut found = Vec::new();
    for (line, place) in script.split('\n').zip(1..) {
        let origin = Origin::Script(place);
        if let Some(options) = options_of(line) {
            let words = arguments(options).map_err(|error| error.at(origin))?;
            found.extend(words.into_iter().map(|text| Word { text, origin }));
        } else if is_command(line) {
            break;
        }
    }
    Ok(found)
}

/// Returns what stands behind the mark in a line of options; `None` for other lines.
fn options_of(line: &str) -> Option<&str> {
    MARKS.iter().find_map(|mark| line.strip_prefix(mark))
}

fn is_command(line: &str) -> bool {
    !matches!(line.trim_ascii_start().chars().next(), None | Some('#'))
}

/// Lines of options in a script that sbatch does not read, because a command stands before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnreadLines {
    /// The number of such lines.
    pub count: usize,
    /// The line of the first command, counted from 1.
    pub first_command: usize,
}

/// The lines of options behind the first command of a script; `None` where there are none.
#[must_use]
pub fn unread_lines(script: &str) -> Option<UnreadLines> {
    let first_command = script.split('\n').position(is_command)?;
    let count = script.split('\n').skip(first_command).filter(|line| options_of(line).is_some()).count();
    (count > 0).then_some(UnreadLines { count, first_command: first_command + 1 })
}

impl std::fmt::Display for UnreadLines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { count, first_command } = self;
        let lines = if *count == 1 { "line behind line {} is" } else { "lines behind line {} are" };
        write!(f, "{count} #SBATCH {} not read, by sbatch neither: a command stands there", lines.replace("{}", &first_command.to_string()))
    }
}

/// The first line of options for another system, counted from 1, which sbatch would translate
/// (`xlate_batch_script` in src/sbatch/xlate.c).
pub(super) fn translated_line(script: &str) -> Option<usize> {
    let mut others = 0;
    for (line, place) in script.split('\n').zip(1..) {
        if OTHER_MARKS.iter().any(|mark| line.starts_with(mark)) {
            return Some(place);
        }
        others += usize::from(!line.starts_with('#'));
        if others > MOST_OTHER_LINES {
            break;
        }
    }
    None
}

/// The words of a line of options, up to a `#` that begins a comment (`get_argument` in
/// src/sbatch/opt.c). A backslash takes the next character as it stands, between quotation marks of
/// either kind as well, and nothing between quotation marks ends the line. Releases before 24.05
/// end a word at a blank behind a backslash; here it belongs to the word.
fn arguments(line: &str) -> Result<Vec<String>, CommandLineError> {
    let mut words = Vec::new();
    let mut rest = line.chars().peekable();
    loop {
        while rest.next_if(char::is_ascii_whitespace).is_some() {}
        if rest.peek() == Some(&':') {
            return Err(CommandLineError::NotEvaluated("a colon separates components of a heterogeneous job"));
        }
        let (mut word, mut quotation, mut is_comment) = (String::new(), None, false);
        while let Some(letter) = rest.next_if(|letter| quotation.is_some() || !letter.is_ascii_whitespace()) {
            match letter {
                '\\' => word.extend(rest.next()),
                letter if quotation == Some(letter) => quotation = None,
                '"' | '\'' if quotation.is_none() => quotation = Some(letter),
                '#' if quotation.is_none() => {
                    is_comment = true;
                    break;
                }
                letter => word.push(letter),
            }
        }
        if quotation.is_some() {
            return Err(CommandLineError::Quotation(line.to_owned()));
        }
        if ["hetjob", "packjob"].iter().any(|mark| words.is_empty() && word.eq_ignore_ascii_case(mark)) {
            return Err(CommandLineError::NotEvaluated(super::HETEROGENEOUS));
        }
        let is_last = word.is_empty() || is_comment;
        words.extend(Some(word).filter(|word| !word.is_empty()));
        if is_last {
            return Ok(words);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_held_together_as_by_a_shell() {
        for (line, split) in [
            ("sbatch  -p gpu\tjob.sh", &["sbatch", "-p", "gpu", "job.sh"][..]),
            ("sbatch --wrap='a b' -J \"x \\\" y\"", &["sbatch", "--wrap=a b", "-J", "x \" y"]),
            ("a\\ b ''", &["a b", ""]),
        ] {
            assert_eq!(words(line).unwrap(), split, "{line}");
        }
        words("sbatch 'x").unwrap_err();
        words("sbatch \\").unwrap_err();
    }

    fn read(script: &str) -> Vec<(String, usize)> {
        let line = |word: Word| match word.origin {
            Origin::Script(line) => (word.text, line),
            other => panic!("{other:?}"),
        };
        options(script).unwrap().into_iter().map(line).collect()
    }

    #[test]
    fn options_of_a_script_end_at_its_first_command() {
        let script = "#!/bin/sh\n#SBATCH -p gpu # why not\n\n# note\n#SBATCH --comment=\"a # b\"\n  #SBATCH -n 1\n#SLURM -H\nhostname\n#SBATCH -t 5\n";
        let expected = [("-p", 2), ("gpu", 2), ("--comment=a # b", 5), ("-H", 7)].map(|(word, line)| (word.to_owned(), line));
        assert_eq!(read(script), expected);
        assert_eq!(read("#sbatch -n 1\n#SBATCH-n 2\n# SBATCH -n 3"), [("-n", 2), ("2", 2)].map(|(word, line)| (word.to_owned(), line)));
        for heterogeneous in ["#SBATCH hetjob\n", "#SBATCH PackJob", "#SBATCH -n 1 : -n 2"] {
            options(heterogeneous).unwrap_err();
        }
    }

    #[test]
    fn options_behind_the_first_command_are_counted() {
        let told = |script: &str| unread_lines(script).map(|lines| lines.to_string());
        let script = "#!/bin/bash\nset -euo pipefail\n#SBATCH -N 4\n#SBATCH -t 5\nsleep 1\n";
        assert_eq!(told(script).as_deref(), Some("2 #SBATCH lines behind line 2 are not read, by sbatch neither: a command stands there"));
        let one = "#!/bin/bash\n#SBATCH -N 4\n\ncd /\n#SBATCH -t 5\n";
        assert_eq!(told(one).as_deref(), Some("1 #SBATCH line behind line 4 is not read, by sbatch neither: a command stands there"));
        assert_eq!([told("#!/bin/bash\n#SBATCH -N 4\nsleep 1\n# SBATCH\n"), told("#SBATCH -N 4"), told("")], [None, None, None]);
    }

    #[test]
    fn words_of_a_script_are_held_together_as_sbatch_does() {
        for (line, split) in [
            ("--wrap='a \\' b' x", &["--wrap=a ' b", "x"][..]),
            ("-J a\\ b\\#c#d e", &["-J", "a b#c"]),
            ("-J \"\" -n 2", &["-J"]),
            ("", &[]),
        ] {
            assert_eq!(arguments(line).unwrap(), split, "{line}");
        }
        assert_eq!(
            options("\n#SBATCH -J 'a").unwrap_err().to_string(),
            "line 2 of the script: a quotation mark is not closed in \" -J 'a\""
        );
    }

    #[test]
    fn lines_for_other_systems_are_found_between_commands() {
        assert_eq!(translated_line("#!/bin/sh\n#SBATCH -n 1\nhostname\n#PBS -l nodes=2\n"), Some(4));
        assert_eq!(translated_line("#BSUB -n 2"), Some(1));
        assert_eq!(translated_line(&format!("#!/bin/sh\n{}#PBS -l nodes=2", "true\n".repeat(101))), None);
    }
}
