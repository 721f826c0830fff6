//! The commands that the README shows to users work as it says.

use end_to_end::{Cluster, LARGE_WAIT, Options, enforcing, project, skipped};
use std::os::unix::fs::PermissionsExt;

#[test]
fn what_the_readme_types_works_and_what_it_quotes_is_printed() {
    if skipped() {
        return;
    }
    let readme = std::fs::read_to_string(project().join("README.md")).unwrap();
    let block = readme.split("```console\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of commands");
    let cluster = Cluster::up(&Options::with_plugins(""));
    cluster.publish(enforcing(), &LARGE_WAIT, &[]);
    let script = cluster.path("log/job.sh");
    std::fs::write(&script, "#!/bin/sh\n#SBATCH -N8 -n16 -t10 --exclusive\nsrun true\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut commands = 0;
    for shown in block.split("$ ").filter(|shown| !shown.trim().is_empty()) {
        let (command, quoted) = shown.split_once('\n').unwrap_or((shown, ""));
        let words: Vec<&str> = command.split_whitespace().collect();
        let (program, arguments) = words.split_first().expect("a command");
        let output = cluster.run(program, arguments);
        let printed = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        assert!(output.status.success(), "{command}: {printed}");
        for line in quoted.lines().filter(|line| !line.is_empty()) {
            let missing: Vec<&str> = words_of(line).filter(|word| !words_of(&printed).any(|printed| printed == *word)).collect();
            assert!(missing.is_empty(), "{command} does not print {missing:?}: {printed}");
        }
        commands += 1;
    }
    assert!(commands >= 8, "only {commands} commands were found");
}

/// The words of a text without numbers and units of time: those of the README are of one run.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|character: char| !character.is_ascii_alphabetic());
    words.filter(|word| !["", "s", "min", "h", "d"].contains(word))
}
