//! The options that plugins add to this site's sbatch.

use std::process::Command;
use std::time::Duration;

use elsewhere::process;
use job_types::options::OPTIONS;
use rules_compiler::command_line::{PluginOption, Takes};

/// How long `sbatch --help` may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// What stands before the options of plugins in the help of sbatch (`spank_print_options` in
/// src/common/spank.c).
const HEADING: &str = "provided by plugins:";

/// Returns the plugin options of queuecast.
pub(super) fn own() -> Vec<PluginOption> {
    let takes = |placeholder: Option<&str>| if placeholder.is_some() { Takes::Value } else { Takes::Nothing };
    OPTIONS.iter().map(|option| PluginOption { name: option.name.to_owned(), takes: takes(option.placeholder) }).collect()
}

/// Returns the other plugin options that sbatch itself names. There are none if sbatch can't be run
/// on this machine.
pub(super) fn others() -> Vec<PluginOption> {
    let own = own();
    let listed = help().map(|text| listed(&text)).unwrap_or_default();
    listed.into_iter().filter(|option| own.iter().all(|own| own.name != option.name)).collect()
}

fn help() -> Option<String> {
    process::run(Command::new("sbatch").arg("--help"), PATIENCE).ok().map(|said| said.output)
}

/// The options in the part of the help that is about plugins.
fn listed(help: &str) -> Vec<PluginOption> {
    let of_plugins = help.lines().skip_while(|line| !line.contains(HEADING)).skip(1);
    let option = |line: &str| {
        let word = line.split_whitespace().find(|word| word.starts_with("--"))?.trim_start_matches("--");
        let end = word.find(['=', '[']).unwrap_or(word.len());
        let (name, value) = word.split_at(end);
        let takes = match value.as_bytes() {
            [] => Takes::Nothing,
            [b'[', ..] => Takes::Perhaps,
            _ => Takes::Value,
        };
        (!name.is_empty()).then(|| PluginOption { name: name.to_owned(), takes })
    };
    of_plugins.take_while(|line| line.trim().is_empty() || line.starts_with(' ')).filter_map(option).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_of_plugins_are_read_from_the_help_of_sbatch() {
        let help = "Usage: sbatch [OPTIONS(0)...]\n\nParallel run options:\n  -a, --array=indexes         job array\n\nOptions provided by plugins:\n      \
                    --auto-mold             run on\n      --container-image=[USER@]IMAGE\n                              the image\n      --trace[=LEVEL]\n\n\
                    Help options:\n  -h, --help\n";
        let read: Vec<(String, Takes)> = listed(help).into_iter().map(|option| (option.name, option.takes)).collect();
        let expected = [("auto-mold", Takes::Nothing), ("container-image", Takes::Value), ("trace", Takes::Perhaps)];
        assert_eq!(read, expected.map(|(name, takes)| (name.to_owned(), takes)));
        assert!(listed("Usage: sbatch\n  --array=x\n").is_empty());
    }
}
