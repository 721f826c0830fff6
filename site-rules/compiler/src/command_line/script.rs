//! The words of a command line, and the options in a script.

use super::CommandLineError;

/// What a line of options in a script begins with.
const MARK: &str = "#SBATCH";

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
pub(super) fn options(script: &str) -> Result<Vec<String>, CommandLineError> {
    let mut found = Vec::new();
    for line in script.lines() {
        if let Some(options) = line.strip_prefix(MARK) {
            let first = options.split_whitespace().next().unwrap_or_default();
            if ["hetjob", "packjob"].iter().any(|mark| first.eq_ignore_ascii_case(mark)) {
                return Err(CommandLineError::NotEvaluated("components of a heterogeneous job are not evaluated here"));
            }
            found.extend(words(without_comment(options))?);
        } else if !(line.trim_start().is_empty() || line.trim_start().starts_with('#')) {
            break;
        }
    }
    Ok(found)
}

/// A line up to a `#` that stands outside quotation marks.
fn without_comment(line: &str) -> &str {
    let mut quotation = None;
    let mut is_escaped = false;
    for (place, letter) in line.char_indices() {
        match (quotation, letter) {
            _ if is_escaped => is_escaped = false,
            (_, '\\') => is_escaped = true,
            (Some(mark), letter) if letter == mark => quotation = None,
            (None, '"' | '\'') => quotation = Some(letter),
            (None, '#') => return &line[..place],
            _ => {}
        }
    }
    line
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

    #[test]
    fn options_of_a_script_end_at_its_first_command() {
        let script = "#!/bin/sh\n#SBATCH -p gpu # why not\n\n# note\n#SBATCH --comment=\"a # b\"\n  #SBATCH -n 1\nhostname\n#SBATCH -t 5\n";
        assert_eq!(options(script).unwrap(), ["-p", "gpu", "--comment=a # b"]);
        options("#SBATCH hetjob\n").unwrap_err();
    }
}
